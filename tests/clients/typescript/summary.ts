// Reads a stream from standard input and prints a summary of it: how a consumer narrows by the
// discriminators, folds deltas, and lets pass what it does not know.
//
//   node summary.js quipu|senpi|dreb|session

import { readFileSync } from "node:fs";
import { isAgentMessage, isAssistantContent, isQuipuEvent } from "./quipu.js";
import type { AgentMessage, AssistantMessage, QuipuEvent } from "./quipu.js";
import { isSenpiEvent } from "./senpi.js";
import type { SenpiEvent } from "./senpi.js";
import { isDrebEvent } from "./dreb.js";
import type { DrebEvent } from "./dreb.js";
import { isSessionEntry } from "./session.js";
import type { SessionEntry } from "./session.js";

class Summary {
  counts: { [type: string]: number } = {};
  unknown = 0;
  deltas: { [type: string]: number } = {};
  roles: { [role: string]: number } = {};
  stopReasons: { [reason: string]: number } = {};
  sources: { [source: string]: number } = {};
  messages: { folded: string; whole: string }[] = [];
}

const summary = new Summary();
let blocks: string[] = [];

function count(table: { [key: string]: number }, key: string): void {
  table[key] = (table[key] ?? 0) + 1;
}

function text(message: AssistantMessage): string {
  return message.content
    .filter(isAssistantContent)
    .map((block) => (block.type === "text" ? block.text : ""))
    .join("");
}

function finished(message: AgentMessage): void {
  count(summary.roles, isAgentMessage(message) ? message.role : "?");
  if (message.role === "assistant") {
    count(summary.stopReasons, message.stopReason);
    summary.messages.push({ folded: blocks.join(""), whole: text(message) });
  }
}

function event(event: QuipuEvent | SenpiEvent | DrebEvent): void {
  count(summary.counts, event.type);
  switch (event.type) {
    case "message_start":
      if (event.message.role === "assistant") blocks = [];
      break;
    case "message_update": {
      const delta = event.assistantMessageEvent;
      switch (delta.type) {
        case "text_delta":
          count(summary.deltas, delta.type);
          blocks[delta.contentIndex] = (blocks[delta.contentIndex] ?? "") + delta.delta;
          break;
        case "toolcall_end":
          count(summary.deltas, delta.type);
          if (typeof delta.toolCall.arguments !== "object") throw new Error("no arguments");
          break;
        default:
          // Also a delta of a later version.
          count(summary.deltas, "?");
      }
      break;
    }
    case "message_end":
      finished(event.message);
      break;
    case "summarization_retry_attempt_start":
      if (event.source === "compaction") count(summary.sources, event.reason);
      else count(summary.sources, "?");
      break;
    default:
      break;
  }
}

function entry(entry: SessionEntry): void {
  count(summary.counts, entry.type);
  if (entry.type === "message") {
    const role = isAgentMessage(entry.message) ? entry.message.role : "?";
    count(summary.roles, role);
    if (entry.message.role === "assistant") count(summary.stopReasons, entry.message.stopReason);
  }
}

const wire = process.argv[2];
for (const line of readFileSync(0, "utf8").split("\n")) {
  if (line === "") continue;
  const value: unknown = JSON.parse(line);
  if (wire === "quipu" && isQuipuEvent(value)) event(value);
  else if (wire === "senpi" && isSenpiEvent(value)) event(value);
  else if (wire === "dreb" && isDrebEvent(value)) event(value);
  else if (wire === "session" && isSessionEntry(value)) entry(value);
  else summary.unknown += 1;
}
process.stdout.write(JSON.stringify(summary));
