// The model itself: a GGUF file, run by llama.cpp on one thread of the processor.

import { LlamaChatSession, getLlama } from "node-llama-cpp";
import { toGrammar } from "./schema.mjs";
import { ApiError } from "./server.mjs";

const CONTEXT_TOKENS = 8192;
const ROLES = { system: "system", developer: "system", user: "user" };

/** Loads the model, and answers by it. */
export async function load(modelPath) {
  const llama = await getLlama({ gpu: false, build: "never", logLevel: "error" });
  const model = await llama.loadModel({ modelPath });
  // Threads of llama.cpp wait for each other by spinning: where somebody else computes, too, one
  // takes seconds and two take minutes.
  const context = await model.createContext({ contextSize: CONTEXT_TOKENS, threads: 1 });
  // What two questions begin with alike is computed once; else nothing of one is left for the next.
  const contextSequence = context.getSequence();

  return async function answer({ messages, schema, maxTokens, temperature, signal }) {
    const grammar = schema && (await llama.createGrammarForJsonSchema(toGrammar(schema)));
    const history = messages.slice(0, -1).map(said);
    const prompt = messages.at(-1).content;
    const session = new LlamaChatSession({ contextSequence, autoDisposeSequence: false });
    try {
      const whole = [...history, { type: "user", text: prompt }, { type: "model", response: [] }];
      const { contextText } = session.chatWrapper.generateContextState({ chatHistory: whole });
      const tokensIn = contextText.tokenize(model.tokenizer).length;
      if (tokensIn + maxTokens > CONTEXT_TOKENS)
        throw new ApiError(400, "context_length_exceeded", "the question is too long");
      session.setChatHistory(history);
      const limits = { maxTokens, temperature, signal };
      const before = contextSequence.tokenMeter.getState();
      const { responseText, stopReason } = await session.promptWithMeta(prompt, {
        ...limits,
        ...(grammar && { grammar, trimWhitespaceSuffix: true }),
      });
      const tokensOut = contextSequence.tokenMeter.diff(before).usedOutputTokens;
      const finish = stopReason === "maxTokens" ? "length" : "stop";
      return { text: responseText, finish, tokensIn, tokensOut };
    } finally {
      session.dispose({ disposeSequence: false });
    }
  };
}

function said({ role, content }) {
  if (role === "assistant") return { type: "model", response: [content] };
  if (Object.hasOwn(ROLES, role)) return { type: ROLES[role], text: content };
  throw new ApiError(400, "invalid_value", "a message's `role` is not understood here");
}
