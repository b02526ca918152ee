import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { SchemaError } from "./schema.mjs";
import { ApiError, serve } from "./server.mjs";

const QUESTION = {
  model: "m",
  messages: [
    { role: "system", content: "Classify." },
    { role: "user", content: "{}" },
  ],
  max_tokens: 9,
};
const ANSWER = { text: "{}", finish: "stop", tokensIn: 3, tokensOut: 2 };

/** A server before this engine, and how to ask it. */
async function start(context, engine) {
  const server = serve({ model: "m", isReady: () => true, ...engine });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${server.address().port}`;
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const read = async (response) => ({ status: response.status, body: await response.json() });
  const headers = { "content-type": "application/json", "idempotency-key": "k" };
  return {
    get: async (path) => read(await fetch(url + path)),
    post: async (body, more = {}) =>
      read(
        await fetch(`${url}/v1/chat/completions`, {
          method: "POST",
          headers: { ...headers, ...more.headers },
          body: typeof body === "string" ? body : JSON.stringify(body),
          signal: more.signal,
        }),
      ),
  };
}

test("a question is answered in the form of Chat Completions", async (context) => {
  const asked = [];
  const answer = async ({ signal, ...question }) => (asked.push(question), ANSWER);
  const server = await start(context, { answer });
  const schema = { type: "object" };
  const response_format = { type: "json_schema", json_schema: { name: "a", schema } };
  const { status, body } = await server.post({ ...QUESTION, response_format });
  assert.equal(status, 200);
  assert.deepEqual(asked, [{ messages: QUESTION.messages, schema, maxTokens: 9, temperature: 0 }]);
  assert.equal(body.model, "m");
  assert.equal(body.choices[0].finish_reason, "stop");
  assert.deepEqual(body.choices[0].message, { role: "assistant", content: "{}", refusal: null });
  assert.deepEqual(body.usage, { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 });
  assert.equal((await server.get("/v1/models")).body.data[0].id, "m");
});

test("an answer that was cut off says so", async (context) => {
  const server = await start(context, { answer: async () => ({ ...ANSWER, finish: "length" }) });
  const { body } = await server.post(QUESTION);
  assert.equal(body.choices[0].finish_reason, "length");
});

test("what can't be asked is refused in the interface's form", async (context) => {
  const server = await start(context, { answer: async () => ANSWER });
  const form = (type) => ({ response_format: { type } });
  for (const [body, status, code] of [
    ["{", 400, "invalid_json"],
    ["null", 404, "model_not_found"],
    [{ ...QUESTION, model: "other" }, 404, "model_not_found"],
    [{ ...QUESTION, stream: true }, 400, "unsupported_parameter"],
    [{ ...QUESTION, messages: [] }, 400, "invalid_value"],
    [{ ...QUESTION, messages: [{ role: "user", content: [] }] }, 400, "invalid_value"],
    [{ ...QUESTION, max_tokens: 0 }, 400, "invalid_value"],
    [{ ...QUESTION, temperature: 3 }, 400, "invalid_value"],
    [{ ...QUESTION, ...form("json_schema") }, 400, "invalid_value"],
    [{ ...QUESTION, ...form("json_object") }, 400, "invalid_value"],
    ["x".repeat(1_048_577), 413, "too_large"],
  ]) {
    const answer = await server.post(body);
    assert.deepEqual([answer.status, answer.body.error.code], [status, code]);
    assert.equal(answer.body.error.type, "invalid_request_error");
  }
  const plain = await server.post(QUESTION, { headers: { "content-type": "text/plain" } });
  assert.equal(plain.status, 415);
  assert.equal((await server.get("/v1/other")).status, 404);
});

test("what an engine can't do is told apart from what it failed at", async (context) => {
  const errors = [
    new ApiError(400, "context_length_exceeded", "the question is too long"),
    new SchemaError("the schema at /a is not understood here"),
    new Error("canary"),
  ];
  context.mock.method(console, "error", () => {});
  const server = await start(context, {
    answer: async () => {
      throw errors.shift();
    },
  });
  const codes = [];
  for (let asked = 0; asked < 3; asked++) {
    const { status, body } = await server.post(QUESTION);
    codes.push([status, body.error.code]);
    assert.ok(!JSON.stringify(body).includes("canary"));
  }
  assert.deepEqual(codes, [
    [400, "context_length_exceeded"],
    [400, "invalid_json_schema"],
    [500, "server_error"],
  ]);
});

test("while the model loads, callers are asked to come again", async (context) => {
  const server = await start(context, { isReady: () => false });
  for (const { status, body } of [await server.get("/v1/models"), await server.post(QUESTION)]) {
    assert.deepEqual([status, body.error.code], [503, "unavailable_error"]);
  }
  assert.deepEqual((await server.get("/calls")).body.calls, []);
});

test("one is answered at a time, and what nobody waits for is not", async (context) => {
  const begun = [];
  let open;
  const gate = new Promise((resolve) => (open = resolve));
  let arrived;
  const first = new Promise((resolve) => (arrived = resolve));
  const answer = async ({ messages }) => {
    begun.push(messages[0].content);
    arrived();
    await gate;
    return ANSWER;
  };
  const server = await start(context, { answer });
  const ask = (content, more) =>
    server.post({ ...QUESTION, messages: [{ role: "user", content }] }, more);
  const one = ask("1");
  await first;
  const gone = new AbortController();
  const two = ask("2", { signal: gone.signal });
  const three = ask("3");
  const calls = async () => (await server.get("/calls")).body.calls;
  while ((await calls()).length < 3);
  gone.abort();
  await assert.rejects(two);
  while ((await calls())[1].status !== 499);
  open();
  assert.deepEqual([(await one).status, (await three).status], [200, 200]);
  assert.deepEqual(begun, ["1", "3"]);
  assert.deepEqual((await calls()).map((call) => call.key), ["k", "k", "k"]);
});
