// Chat Completions over HTTP, as much of it as fencepost speaks, before an engine that answers one
// question at a time. Nothing of a question or an answer is logged or kept.

import { createServer } from "node:http";
import { SchemaError } from "./schema.mjs";

const BODY_BYTES_MAX = 1_048_576;
const WAITING_MAX = 64;
const CALLS_MAX = 10_000;
const TOKENS_DEFAULT = 512;
/** Longer than clients keep a connection: one that is closed as a question is sent loses it. */
const IDLE_MS = 600_000;
/** No answer has it: whoever asked is gone. */
const NOBODY_WAITS = 499;

/** What a caller is told instead of an answer. */
export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    Object.assign(this, { status, code });
  }
}

/**
 * A server that does not listen yet. `engine.model` names the model; `engine.answer({messages,
 * schema, maxTokens, temperature, signal})` gives `{text, finish, tokensIn, tokensOut}`, where
 * `finish` is "stop" or "length"; `engine.isReady()` says whether it can.
 */
export function serve(engine) {
  const calls = [];
  const queue = inTurn();
  return createServer({ keepAliveTimeout: IDLE_MS }, async (request, response) => {
    try {
      const path = request.url.split("?")[0];
      if (request.method === "GET" && path === "/calls") return send(response, 200, { calls });
      const isCall = request.method === "POST" && path === "/v1/chat/completions";
      const isList = request.method === "GET" && path === "/v1/models";
      if (!isCall && !isList) throw new ApiError(404, "not_found", "there is nothing here");
      if (!engine.isReady()) throw new ApiError(503, "unavailable_error", "Loading model");
      if (isList) {
        const model = { id: engine.model, object: "model", created: 0, owned_by: "local" };
        return send(response, 200, { object: "list", data: [model] });
      }
      const key = request.headers["idempotency-key"] ?? null;
      const call = { key, status: 0, since: Date.now() };
      calls.push(call);
      if (calls.length > CALLS_MAX) calls.shift();
      await complete(engine, queue, request, response, call);
    } catch (error) {
      fail(response, error);
    }
  });
}

async function complete(engine, queue, request, response, call) {
  const gone = new AbortController();
  response.on("close", () => {
    if (response.writableEnded) return;
    call.status = NOBODY_WAITS;
    gone.abort();
  });
  try {
    const question = read(await body(request), engine.model);
    const answer = await queue(() => {
      gone.signal.throwIfAborted();
      return engine.answer({ ...question, signal: gone.signal });
    });
    call.status = 200;
    call.finish = answer.finish;
    const usage = {
      prompt_tokens: answer.tokensIn,
      completion_tokens: answer.tokensOut,
      total_tokens: answer.tokensIn + answer.tokensOut,
    };
    const message = { role: "assistant", content: answer.text, refusal: null };
    const choice = { index: 0, finish_reason: answer.finish, logprobs: null, message };
    const head = { id: `chatcmpl-${crypto.randomUUID()}`, object: "chat.completion" };
    const created = Math.floor(call.since / 1000);
    send(response, 200, { ...head, created, model: engine.model, choices: [choice], usage });
  } catch (error) {
    if (!gone.signal.aborted) call.status = told(error).status;
    throw error;
  } finally {
    call.milliseconds = Date.now() - call.since;
  }
}

/** One after the other, and no more than so many. */
function inTurn() {
  let waiting = 0;
  let last = Promise.resolve();
  return (task) => {
    if (waiting >= WAITING_MAX) throw new ApiError(503, "unavailable_error", "too many wait");
    waiting += 1;
    const turn = last.then(task).finally(() => (waiting -= 1));
    last = turn.catch(() => {});
    return turn;
  };
}

async function body(request) {
  if (!(request.headers["content-type"] ?? "").startsWith("application/json"))
    throw new ApiError(415, "unsupported_media_type", "a question is application/json");
  const chunks = [];
  let length = 0;
  // Not destroyed where it is given up: an answer is still to be written.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) throw new ApiError(413, "too_large", "the question is too long");
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks));
  } catch {
    throw invalid("invalid_json", "the body is no JSON");
  }
}

function read(asked, model) {
  if (asked?.model !== model) throw new ApiError(404, "model_not_found", `only ${model} is here`);
  if (asked.stream) throw invalid("unsupported_parameter", "`stream` is not understood here");
  const messages = asked.messages;
  const isMessage = (it) => typeof it?.role === "string" && typeof it.content === "string";
  if (!Array.isArray(messages) || !messages.every(isMessage) || messages.at(-1)?.role !== "user")
    throw invalid("invalid_value", "`messages` has to be texts, and to end with the user's");
  const maxTokens = asked.max_completion_tokens ?? asked.max_tokens ?? TOKENS_DEFAULT;
  if (!Number.isInteger(maxTokens) || maxTokens < 1)
    throw invalid("invalid_value", "`max_tokens` has to be a number from 1");
  const temperature = asked.temperature ?? 0;
  if (typeof temperature !== "number" || temperature < 0 || temperature > 2)
    throw invalid("invalid_value", "`temperature` has to be a number from 0 to 2");
  return { messages, schema: schemaOf(asked.response_format), maxTokens, temperature };
}

function schemaOf(format) {
  const type = format?.type ?? "text";
  if (type === "text") return null;
  if (type === "json_schema" && format.json_schema?.schema) return format.json_schema.schema;
  throw invalid("invalid_value", "`response_format` has to be a json_schema");
}

function invalid(code, message) {
  return new ApiError(400, code, message);
}

function told(error) {
  if (error instanceof ApiError) return error;
  if (error instanceof SchemaError) return invalid("invalid_json_schema", error.message);
  return new ApiError(500, "server_error", "the engine failed");
}

function fail(response, error) {
  const { status, code, message } = told(error);
  if (status === 500 && error.name !== "AbortError") console.error(error.name, error.stack);
  const type = status < 500 ? "invalid_request_error" : "server_error";
  // The rest of a body that is too long is not waited for.
  if (status === 413 || status === 415) response.setHeader("connection", "close");
  send(response, status, { error: { message, type, param: null, code } });
}

function send(response, status, document) {
  if (response.destroyed) return;
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(document));
}
