import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { SchemaError, toGrammar } from "./schema.mjs";

const inside = (member) => toGrammar({ type: "object", properties: { m: member } }).properties.m;

test("the shipped schema is taken, without its bounds", async () => {
  const file = new URL("../../backend/schemas/moderation-v3.json", import.meta.url);
  const { $schema, ...schema } = JSON.parse(await readFile(file, "utf8"));
  assert.deepEqual(toGrammar(schema), {
    type: "object",
    properties: {
      category: { enum: ["abuse", "spam", "self_harm", "other"] },
      confidence: { type: "number" },
      needsHumanReview: { type: "boolean" },
    },
    additionalProperties: false,
  });
});

test("what a grammar knows by another name is said by that name", () => {
  const nullable = [{ type: "string", maxLength: 9 }, { type: "null" }];
  for (const [given, taken] of [
    [{ anyOf: [{ const: 1 }, { type: "null" }] }, { oneOf: [{ const: 1 }, { type: "null" }] }],
    [{ type: ["string", "null"], maxLength: 9, pattern: "^a$" }, { oneOf: nullable }],
    [{ type: "string", format: "uuid" }, { type: "string" }],
    [{ type: "string", format: "date" }, { type: "string", format: "date" }],
    [{ enum: ["a", null], type: ["string", "null"] }, { enum: ["a", null] }],
    [{ properties: {} }, { type: "object", properties: {} }],
    [
      { items: { type: "integer", minimum: 1 }, minItems: 1 },
      { type: "array", items: { type: "integer" }, minItems: 1 },
    ],
    [
      { type: "object", additionalProperties: { type: "null", title: "t" } },
      { type: "object", additionalProperties: { type: "null" } },
    ],
  ]) {
    assert.deepEqual(inside(given), taken);
  }
  const a = { type: "array", items: { $ref: "#/$defs/a" } };
  const schema = { $ref: "#/$defs/a", $defs: { a } };
  assert.deepEqual(toGrammar(schema), schema);
});

test("what no grammar says is refused by its place", () => {
  for (const [member, place] of [
    [true, ""],
    [{}, ""],
    [{ description: "anything" }, ""],
    [{ type: "text" }, "/type"],
    [{ allOf: [] }, "/allOf"],
    [{ type: "string", items: {} }, "/items"],
    [{ anyOf: [{ type: "null" }], type: "null" }, "/type"],
    [{ anyOf: [] }, "/anyOf"],
    [{ anyOf: [{ type: "null" }, {}] }, "/anyOf/1"],
    [{ $ref: "#" }, "/$ref"],
    [{ $ref: "#/definitions/a" }, "/$ref"],
    [{ enum: [{}] }, "/enum"],
    [{ type: "object", $defs: {} }, "/$defs"],
  ]) {
    const told = new RegExp(`^the schema at /properties/m${place.replace("$", "\\$")} `);
    assert.throws(() => inside(member), { constructor: SchemaError, message: told });
  }
  assert.throws(() => toGrammar({ type: "object", definitions: {} }), SchemaError);
});
