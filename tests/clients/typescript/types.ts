// What the compiler has to refuse: each comment is an error where the next line is none.

import { ASSISTANT_MESSAGE_EVENT_TYPES, QUIPU_EVENT_TYPES, SCHEMA_VERSION } from "./quipu.js";
import type {
  AssistantMessageEvent, DispatchRoute, QuipuEvent, StopReason, StreamError, SubagentArbitrationEvent, TextContent, ThinkingContent,
  ToolExecutionStartEvent, UserContent,
} from "./quipu.js";

// The lists have the discriminators of the unions, and no others.
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
export const events: Same<(typeof QUIPU_EVENT_TYPES)[number], QuipuEvent["type"]> = true;
export const deltas: Same<(typeof ASSISTANT_MESSAGE_EVENT_TYPES)[number], AssistantMessageEvent["type"]> = true;
export const version: string = SCHEMA_VERSION;

// A discriminator is a literal; other strings may have values that are not known yet.
export const text: TextContent = { type: "text", text: "" };
// @ts-expect-error: another type
export const other: TextContent = { type: "image", text: "" };
export const known: StopReason = "toolUse";
export const later: StopReason = "dreaming";
// @ts-expect-error: no string
export const no: StopReason = 1;

// Optional is absent, and nothing else; the one nullable field is always there.
// @ts-expect-error: undefined
export const signed: TextContent = { type: "text", text: "", textSignature: undefined };
// @ts-expect-error: null
export const nulled: TextContent = { type: "text", text: "", textSignature: null };
export const redacted: ThinkingContent = { type: "thinking", thinking: "", redacted: true };
// @ts-expect-error: absent or true
export const unredacted: ThinkingContent = { type: "thinking", thinking: "", redacted: false };
export function route(event: SubagentArbitrationEvent): DispatchRoute {
  // @ts-expect-error: may be null
  const final: DispatchRoute = event.final;
  return event.final ?? final;
}

// Payloads are unknown until they are looked at.
export function args(event: ToolExecutionStartEvent): unknown {
  // @ts-expect-error: unknown
  return event.args.command;
}

export function content(content: UserContent): number {
  return typeof content === "string" ? content.length : content.map((block) => block.type).length;
}

// A union narrows by its discriminator, also by the second one.
export function narrow(event: QuipuEvent): StreamError | string | undefined {
  // @ts-expect-error: not every event has one
  event.outcome;
  switch (event.type) {
    case "stream_end":
      return event.error;
    case "summarization_retry_attempt_start":
      // @ts-expect-error: only those of compactions have one
      event.reason;
      return event.source === "compaction" ? event.reason : event.source;
    case "message_update":
      // For readers only.
      return event.assistantMessageEvent.type === "done" ? event.assistantMessageEvent.reason : undefined;
    // @ts-expect-error: no such event
    case "nothing":
      return undefined;
    default:
      return undefined;
  }
}
