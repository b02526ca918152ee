// `node main.mjs MODEL.gguf [PORT]`: the server on loopback. Its first line says where it listens.

import { load } from "./engine.mjs";
import { serve } from "./server.mjs";

const MODEL = "smollm2-135m";
const [file, port = "0"] = process.argv.slice(2);

let answer = null;
const engine = {
  model: MODEL,
  isReady: () => answer !== null,
  answer: (question) => answer(question),
};
const server = serve(engine);
server.listen(Number(port), "127.0.0.1", () => {
  const { address, port } = server.address();
  console.log(JSON.stringify({ listening: `http://${address}:${port}` }));
});
process.once("SIGTERM", () => process.exit(0));
answer = await load(file);
