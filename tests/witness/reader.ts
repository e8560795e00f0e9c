// Reads a stream with the types that json-schema-to-typescript makes; types.sh fills in the wire.
import type { UNION } from "./WIRE.js";

declare const process: { argv: string[]; getBuiltinModule(name: "node:fs"): { readFileSync(path: string, encoding: "utf8"): string } };
declare const console: { log(text: string): void };

const { readFileSync } = process.getBuiltinModule("node:fs");
const lines = readFileSync(process.argv[2] ?? "", "utf8").trimEnd().split("\n");
let text = "";
let tokens = 0;
for (const line of lines) {
  const event = JSON.parse(line) as UNION;
  switch (event.type) {
    case "message_update": {
      const delta = event.assistantMessageEvent;
      if (delta.type === "text_delta") text += delta.delta;
      break;
    }
    case "message_end":
      if (event.message.role === "assistant") tokens += event.message.usage.totalTokens;
      break;
  }
}
if (text === "" || tokens === 0) throw new Error("nothing was read");
console.log(`WIRE: ${lines.length} lines read in TypeScript, ${tokens} tokens`);
