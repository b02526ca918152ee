// A JSON Schema in the words of node-llama-cpp's grammar, which knows less than JSON Schema and
// takes what it does not know for something else. What can't be said in a grammar is refused by its
// place; bounds of numbers and patterns are left to whoever judges the answer.

/** A schema that can't be held to. */
export class SchemaError extends Error {}

// They rule nothing, or no grammar can hold them. Listed members are always written, so `required`
// says nothing more.
const LEFT_OUT = new Set([
  "$comment", "$schema", "default", "deprecated", "description", "examples", "title",
  "exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf", "pattern",
  "maxProperties", "minProperties", "required", "uniqueItems",
]);
const OF_TYPE = {
  object: ["properties", "additionalProperties"],
  array: ["items", "prefixItems", "minItems", "maxItems"],
  string: ["minLength", "maxLength", "format"],
  number: [], integer: [], boolean: [], null: [],
};
const KNOWN = ["$ref", "anyOf", "const", "enum", "oneOf", "type", ...Object.values(OF_TYPE).flat()];
const FORMATS = ["date", "date-time", "time"];

/** The schema for `createGrammarForJsonSchema`. Throws a SchemaError. */
export function toGrammar(schema) {
  const { $defs, ...rest } = object(schema, "");
  const defs = $defs === undefined ? {} : { $defs: each($defs, "/$defs", translate) };
  return { ...translate(rest, ""), ...defs };
}

function translate(schema, place) {
  const rules = Object.keys(object(schema, place)).filter((name) => !LEFT_OUT.has(name));
  const only = (...known) => {
    const strange = rules.find((name) => !known.includes(name));
    if (strange !== undefined) refuse(`${place}/${strange}`, "is not understood here");
  };
  only(...KNOWN);
  for (const choice of ["anyOf", "oneOf"]) {
    if (rules.includes(choice)) {
      only(choice);
      return { oneOf: several(schema[choice], `${place}/${choice}`) };
    }
  }
  if (rules.includes("$ref")) {
    only("$ref");
    if (!/^#\/\$defs\/[^/]+$/.test(schema.$ref)) refuse(`${place}/$ref`, "leads not into `$defs`");
    return { $ref: schema.$ref };
  }
  if (rules.includes("const")) {
    only("const", "type");
    return { const: plain(schema.const, `${place}/const`) };
  }
  if (rules.includes("enum")) {
    only("enum", "type");
    return { enum: list(schema.enum, `${place}/enum`).map((it) => plain(it, `${place}/enum`)) };
  }
  const types = [schema.type ?? typeOf(rules, place)].flat();
  only("type", ...types.flatMap((type) => OF_TYPE[type] ?? refuse(`${place}/type`, "is none")));
  const translated = types.map((type) => ofType(type, schema, place));
  return translated.length === 1 ? translated[0] : { oneOf: translated };
}

function ofType(type, schema, place) {
  const at = (name) => `${place}/${name}`;
  const out = { type };
  for (const name of OF_TYPE[type].filter((name) => schema[name] !== undefined)) {
    const value = schema[name];
    if (name === "properties") out[name] = each(value, at(name), translate);
    else if (name === "prefixItems") out[name] = several(value, at(name));
    else if (name === "items") out[name] = translate(value, at(name));
    else if (name === "additionalProperties" && typeof value !== "boolean")
      out[name] = translate(value, at(name));
    else if (name !== "format" || FORMATS.includes(value)) out[name] = value;
  }
  return out;
}

function typeOf(rules, place) {
  const type = ["object", "array"].find((type) => OF_TYPE[type].some((it) => rules.includes(it)));
  return type ?? refuse(place, "says not of which type it is");
}

function each(schemas, place, translate) {
  const entries = Object.entries(object(schemas, place));
  return Object.fromEntries(entries.map(([k, v]) => [k, translate(v, `${place}/${k}`)]));
}

function several(schemas, place) {
  return list(schemas, place).map((schema, index) => translate(schema, `${place}/${index}`));
}

function object(value, place) {
  const is = typeof value === "object" && value !== null && !Array.isArray(value);
  return is ? value : refuse(place, "is no object");
}

function list(value, place) {
  return Array.isArray(value) && value.length > 0 ? value : refuse(place, "is no list");
}

function plain(value, place) {
  const is = typeof value !== "object" || value === null;
  return is ? value : refuse(place, "holds no plain value");
}

function refuse(place, why) {
  throw new SchemaError(`the schema at ${place || "its top level"} ${why}`);
}
