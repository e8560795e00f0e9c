// Made from the schema by `quipu schema generate typescript --wire session`; do not edit.

/*
 * A reader of JSON Lines parses each line and keeps what it knows:
 *
 *   const value: unknown = JSON.parse(line);
 *   if (isSessionEntry(value)) {
 *     switch (value.type) { … }
 *   }
 *
 * A later version may add members to a union, fields to an object, and values to a string that
 * is typed with `(string & {})`. So a `switch` over a nested union needs a `default` that lets the
 * rest pass, although the compiler takes it for `never`; the `is…` functions below tell what is
 * known. Fields with `?` are absent, never null, where they have nothing to say.
 */

/** Version of the schema that this was made from. */
export const SCHEMA_VERSION = "1.0.0";

function tagIsIn(value: unknown, tag: string, known: readonly string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  const found = (value as { [key: string]: unknown })[tag];
  return typeof found === "string" && known.includes(found);
}

/**
 * One line of a session file, told apart by `type`: the header on the first line, an entry on every
 * other. Entries form a tree by `parentId`; the last entry of the file is where the session goes
 * on. Readers skip a line whose `type` they do not know.
 */
export type SessionEntry =
  | StoredSessionHeader
  | MessageEntry
  | ModelChangeEntry
  | ThinkingLevelChangeEntry
  | CompactionEntry
  | BranchSummaryEntry
  | CustomEntry
  | CustomMessageEntry
  | LabelEntry
  | SessionInfoEntry;

/** Every `type` of {@link SessionEntry} that this module knows. */
export const SESSION_ENTRY_TYPES = [
  "session",
  "message",
  "model_change",
  "thinking_level_change",
  "compaction",
  "branch_summary",
  "custom",
  "custom_message",
  "label",
  "session_info",
] as const;

/**
 * Whether `value` is an object with a `type` that this module knows; the rest of it is taken on
 * trust.
 */
export function isSessionEntry(value: unknown): value is SessionEntry {
  return tagIsIn(value, "type", SESSION_ENTRY_TYPES);
}

/** The first line of every session file. */
export interface StoredSessionHeader {
  /** Kind of line; always `session`. */
  type: "session";
  /** Version of the session format; always 3. */
  version: 3;
  /** Id of the session, a UUID unless the user chose one. */
  id: string;
  /** When the session was made: ISO 8601 in UTC, with milliseconds and `Z`. */
  timestamp: string;
  /** Absolute path of the working directory of the session. */
  cwd: string;
  /** Path of the session file that this one was forked or spawned from. Absent otherwise. */
  parentSession?: string;
  /** Name of the agent definition of a background agent's own session. Absent otherwise. */
  agentType?: string;
}

/**
 * A message of the conversation, stored before the line that announces its end is written. A
 * message of the host or of a hook is a `custom_message` entry instead.
 */
export interface MessageEntry {
  /** Kind of entry; always `message`. */
  type: "message";
  /** Id of the entry, unique in its file; usually 8 hex digits. */
  id: string;
  /**
   * Id of the entry that this one follows; null when it follows none, as the first entry of a file.
   */
  parentId: string | null;
  /** When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`. */
  timestamp: string;
  /** The whole message. */
  message: AgentMessage;
}

/** The model that answers from here on. A fresh session begins with one. */
export interface ModelChangeEntry {
  /** Kind of entry; always `model_change`. */
  type: "model_change";
  /** Id of the entry, unique in its file; usually 8 hex digits. */
  id: string;
  /**
   * Id of the entry that this one follows; null when it follows none, as the first entry of a file.
   */
  parentId: string | null;
  /** When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`. */
  timestamp: string;
  /** Provider of the model. */
  provider: string;
  /** Id of the model at its provider. */
  modelId: string;
  /** Why the model changed, if not because somebody chose it. Absent otherwise. */
  reason?: ModelChangeReason;
  /** Provider of the model that the session should have. Absent unless another stands in for it. */
  originalProvider?: string;
  /** Id of the model that the session should have. Absent unless another stands in for it. */
  originalModelId?: string;
}

/** How much the model thinks from here on. A fresh session stores one after its model. */
export interface ThinkingLevelChangeEntry {
  /** Kind of entry; always `thinking_level_change`. */
  type: "thinking_level_change";
  /** Id of the entry, unique in its file; usually 8 hex digits. */
  id: string;
  /**
   * Id of the entry that this one follows; null when it follows none, as the first entry of a file.
   */
  parentId: string | null;
  /** When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`. */
  timestamp: string;
  /** The level now. */
  thinkingLevel: ThinkingLevel;
  /**
   * How the level was chosen, in the shape of the program that stored it. Kept as read; absent in
   * entries of Quipu.
   */
  thinkingSelection?: unknown;
}

/** A summary that takes the place of the messages before `firstKeptEntryId`. */
export interface CompactionEntry {
  /** Kind of entry; always `compaction`. */
  type: "compaction";
  /** Id of the entry, unique in its file; usually 8 hex digits. */
  id: string;
  /**
   * Id of the entry that this one follows; null when it follows none, as the first entry of a file.
   */
  parentId: string | null;
  /** When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`. */
  timestamp: string;
  /** The summary, in Markdown. */
  summary: string;
  /** Id of the first entry that stays in the context as it is. */
  firstKeptEntryId: string;
  /** Tokens in the context before the compaction. */
  tokensBefore: number;
  /**
   * Further data on the summary, by default `readFiles` and `modifiedFiles`, two lists of paths.
   * Absent when there is none.
   */
  details?: unknown;
  /**
   * Tokens and cost of the summary requests. Absent when no model wrote the summary, or its usage
   * is not known.
   */
  usage?: Usage;
  /** True when a hook or an extension wrote the summary. Absent when it is not known. */
  fromHook?: boolean;
}

/** A summary of a branch that was left, at the place where another begins. */
export interface BranchSummaryEntry {
  /** Kind of entry; always `branch_summary`. */
  type: "branch_summary";
  /** Id of the entry, unique in its file; usually 8 hex digits. */
  id: string;
  /**
   * Id of the entry that this one follows; null when it follows none, as the first entry of a file.
   */
  parentId: string | null;
  /** When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`. */
  timestamp: string;
  /** Id of the entry where the branch that was left ended, or `root`. */
  fromId: string;
  /** What happened on that branch, in Markdown. */
  summary: string;
  /**
   * Further data on the summary, by default `readFiles` and `modifiedFiles`, two lists of paths.
   * Absent when there is none.
   */
  details?: unknown;
  /**
   * Tokens and cost of the summary requests. Absent when no model wrote the summary, or its usage
   * is not known.
   */
  usage?: Usage;
  /** True when a hook or an extension wrote the summary. Absent when it is not known. */
  fromHook?: boolean;
}

/** Data that the program or an extension keeps with the session. The model never sees it. */
export interface CustomEntry {
  /** Kind of entry; always `custom`. */
  type: "custom";
  /** Name of the kind of data, chosen by whoever stored it. */
  customType: string;
  /** The data, in the shape of its kind. Absent when there is none. */
  data?: unknown;
  /** Id of the entry, unique in its file; usually 8 hex digits. */
  id: string;
  /**
   * Id of the entry that this one follows; null when it follows none, as the first entry of a file.
   */
  parentId: string | null;
  /** When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`. */
  timestamp: string;
}

/**
 * A message put into the session by the host, a hook or an extension. The model reads it like a
 * user's message.
 */
export interface CustomMessageEntry {
  /** Kind of entry; always `custom_message`. */
  type: "custom_message";
  /** Name of the kind of message, chosen by whoever put it in. */
  customType: string;
  /** What it says: a string or blocks. */
  content: UserContent;
  /** True when it is meant to be shown to people too. */
  display: boolean;
  /**
   * Further data in the sender's own shape; the model does not see it. Absent when there is none.
   */
  details?: unknown;
  /** Id of the entry, unique in its file; usually 8 hex digits. */
  id: string;
  /**
   * Id of the entry that this one follows; null when it follows none, as the first entry of a file.
   */
  parentId: string | null;
  /** When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`. */
  timestamp: string;
}

/** A name that somebody gave to an entry, to find it again. */
export interface LabelEntry {
  /** Kind of entry; always `label`. */
  type: "label";
  /** Id of the entry, unique in its file; usually 8 hex digits. */
  id: string;
  /**
   * Id of the entry that this one follows; null when it follows none, as the first entry of a file.
   */
  parentId: string | null;
  /** When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`. */
  timestamp: string;
  /** Id of the entry that is named. */
  targetId: string;
  /** The name. Absent when the entry loses its name. */
  label?: string;
}

/** The name of the session. The last such entry of a file counts. */
export interface SessionInfoEntry {
  /** Kind of entry; always `session_info`. */
  type: "session_info";
  /** Id of the entry, unique in its file; usually 8 hex digits. */
  id: string;
  /**
   * Id of the entry that this one follows; null when it follows none, as the first entry of a file.
   */
  parentId: string | null;
  /** When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`. */
  timestamp: string;
  /** The name, on one line; empty when the session loses its name. */
  name: string;
}

/**
 * A message of the session, told apart by `role`. Only `user`, `assistant`, `toolResult` and
 * `custom` messages get message events.
 */
export type AgentMessage =
  | UserMessage
  | AssistantMessage
  | ToolResultMessage
  | BashExecutionMessage
  | CustomMessage
  | BranchSummaryMessage
  | CompactionSummaryMessage;

/** Every `role` of {@link AgentMessage} that this module knows. */
export const AGENT_MESSAGE_ROLES = [
  "user",
  "assistant",
  "toolResult",
  "bashExecution",
  "custom",
  "branchSummary",
  "compactionSummary",
] as const;

/**
 * Whether `value` is an object with a `role` that this module knows; the rest of it is taken on
 * trust.
 */
export function isAgentMessage(value: unknown): value is AgentMessage {
  return tagIsIn(value, "role", AGENT_MESSAGE_ROLES);
}

/**
 * Why the model of a session changed without being chosen: `fallback` when another stands in for
 * one that fails, `fallback-revert` when that one is back. Known values: `fallback`,
 * `fallback-revert`; a later version may add more.
 */
export type ModelChangeReason =
  | "fallback"
  | "fallback-revert"
  | (string & {});

/**
 * How much the model may reason before it answers, from `off` (not at all) upwards to `max`. A
 * level that a model does not offer is replaced by one that it does, which thinking_level_clamped
 * tells. Known values: `off`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`; a later version
 * may add more.
 */
export type ThinkingLevel =
  | "off"
  | "minimal"
  | "low"
  | "medium"
  | "high"
  | "xhigh"
  | "max"
  | (string & {});

/**
 * Tokens and cost of one request, or of all requests where a line says so. All zero until the
 * service has reported something.
 */
export interface Usage {
  /** Input tokens that were neither read from nor written to a cache. */
  input: number;
  /** Output tokens, reasoning included. */
  output: number;
  /** Input tokens served from the cache. */
  cacheRead: number;
  /** Input tokens written to the cache. */
  cacheWrite: number;
  /**
   * Tokens of `cacheWrite` that are kept for an hour. Absent when the service does not tell them
   * apart.
   */
  cacheWrite1h?: number;
  /** Tokens of `output` spent on reasoning. Absent when the service does not report them. */
  reasoning?: number;
  /**
   * Tokens altogether, as the service reports them, else the sum of input, output, cacheRead and
   * cacheWrite.
   */
  totalTokens: number;
  /** The cost in US dollars at the model's prices. */
  cost: Cost;
}

/**
 * What a user or custom message says: a plain string, or an array of blocks. Prompts are written as
 * blocks; a string comes from a session file or a hook.
 * A string: The whole content as one text.
 * An array: The blocks in order.
 */
export type UserContent = string | InputContent[];

/**
 * What the user said: a prompt, a steered or queued message, or the result of a background agent
 * handed to the model.
 */
export interface UserMessage {
  /** Role of the message; always `user`. */
  role: "user";
  /** What was said: a string or blocks. */
  content: UserContent;
  /** When the message was made, in ms since the Unix epoch. */
  timestamp: number;
}

/**
 * An answer of the model. While it is being written its `stopReason` is `pending` (on the dreb wire
 * `stop`); message_end carries the final one.
 */
export interface AssistantMessage {
  /** Role of the message; always `assistant`. */
  role: "assistant";
  /** The blocks, in the order of their `contentIndex`; empty in a fresh message. */
  content: AssistantContent[];
  /** Protocol that was spoken with the service, such as `anthropic-messages`. */
  api: string;
  /**
   * Key of the provider in the model list; `offline` for the built-in model that needs no network.
   */
  provider: string;
  /** Id of the model that was asked. */
  model: string;
  /** Tokens and cost of this request; zero in a fresh message. */
  usage: Usage;
  /** Why the message ended, or `pending`. */
  stopReason: StopReason;
  /** When the request was made, in ms since the Unix epoch. */
  timestamp: number;
  /**
   * Id that the service gave the answer. Absent in a fresh message and when the service gives none.
   */
  responseId?: string;
  /** Id of the model that really answered. Absent when it is the one that was asked. */
  responseModel?: string;
  /** What went wrong. Absent unless `stopReason` is `error` or `aborted`. */
  errorMessage?: string;
  /** Time from the request to the end of the answer, in ms. Absent in a fresh message. */
  durationMs?: number;
}

/** The result of one tool call as it goes back to the model. */
export interface ToolResultMessage {
  /** Role of the message; always `toolResult`. */
  role: "toolResult";
  /** Id of the call that this answers. */
  toolCallId: string;
  /** Name of the tool that ran, or the name that the model asked for when there is no such tool. */
  toolName: string;
  /** The blocks that the model reads. */
  content: InputContent[];
  /**
   * What the tool reports to programs, in the tool's own shape; the model does not see it. Absent
   * when the tool gives none.
   */
  details?: unknown;
  /**
   * True when the tool failed or was not run; for a command, also when it exited with another code
   * than 0.
   */
  isError: boolean;
  /** When the result was made, in ms since the Unix epoch. */
  timestamp: number;
}

/**
 * A command that the user, not the model, ran in the session. It is part of the state and of
 * session files; no message event is ever written for it.
 */
export interface BashExecutionMessage {
  /** Role of the message; always `bashExecution`. */
  role: "bashExecution";
  /** The command line. */
  command: string;
  /** What the command printed, possibly only the end of it. */
  output: string;
  /** Exit code of the command. Absent when it was killed or never started. */
  exitCode?: number;
  /** True when the command was stopped before its end. */
  cancelled: boolean;
  /** True when `output` is not all that was printed. */
  truncated: boolean;
  /** Path of a file with the whole output. Absent when nothing was cut off. */
  fullOutputPath?: string;
  /** When the command ended, in ms since the Unix epoch. */
  timestamp: number;
  /** True when the model does not get to see the command. Absent when it does. */
  excludeFromContext?: boolean;
}

/**
 * A message put into the session by the host, a hook or an extension. The model reads it like a
 * user's message.
 */
export interface CustomMessage {
  /** Role of the message; always `custom`. */
  role: "custom";
  /** Name of the kind of message, chosen by whoever put it in. */
  customType: string;
  /** What it says: a string or blocks. */
  content: UserContent;
  /** True when it is meant to be shown to people too. */
  display: boolean;
  /**
   * Further data in the sender's own shape; the model does not see it. Absent when there is none.
   */
  details?: unknown;
  /** When the message was made, in ms since the Unix epoch. */
  timestamp: number;
}

/**
 * The summary of a branch of the session that was left. It is part of the state; no message event
 * is ever written for it.
 */
export interface BranchSummaryMessage {
  /** Role of the message; always `branchSummary`. */
  role: "branchSummary";
  /** What happened on that branch, in Markdown. */
  summary: string;
  /** Id of the session entry where the branch ended, or `root`. */
  fromId: string;
  /** When the summary was made, in ms since the Unix epoch. */
  timestamp: number;
}

/**
 * The summary that stands for older messages after a compaction. It is part of the state; no
 * message event is ever written for it.
 */
export interface CompactionSummaryMessage {
  /** Role of the message; always `compactionSummary`. */
  role: "compactionSummary";
  /** The summary, in Markdown. */
  summary: string;
  /** Tokens in the context before the compaction. */
  tokensBefore: number;
  /**
   * Further data on the compaction, in the shape of the result's `details`. Absent when there is
   * none.
   */
  details?: unknown;
  /** When the summary was made, in ms since the Unix epoch. */
  timestamp: number;
}

/**
 * What a request cost, in US dollars, by kind of token. Zero where the model's price is unknown or
 * free.
 */
export interface Cost {
  /** US dollars for uncached input tokens. */
  input: number;
  /** US dollars for output tokens, reasoning included. */
  output: number;
  /** US dollars for input tokens served from the cache. */
  cacheRead: number;
  /** US dollars for input tokens written to the cache. */
  cacheWrite: number;
  /** US dollars altogether: the sum of the other four. */
  total: number;
}

/** A block of a user, custom or tool-result message, told apart by `type`. */
export type InputContent =
  | TextContent
  | ImageContent;

/** Every `type` of {@link InputContent} that this module knows. */
export const INPUT_CONTENT_TYPES = [
  "text",
  "image",
] as const;

/**
 * Whether `value` is an object with a `type` that this module knows; the rest of it is taken on
 * trust.
 */
export function isInputContent(value: unknown): value is InputContent {
  return tagIsIn(value, "type", INPUT_CONTENT_TYPES);
}

/** A block of an assistant message, told apart by `type`. */
export type AssistantContent =
  | TextContent
  | ThinkingContent
  | ToolCall;

/** Every `type` of {@link AssistantContent} that this module knows. */
export const ASSISTANT_CONTENT_TYPES = [
  "text",
  "thinking",
  "toolCall",
] as const;

/**
 * Whether `value` is an object with a `type` that this module knows; the rest of it is taken on
 * trust.
 */
export function isAssistantContent(value: unknown): value is AssistantContent {
  return tagIsIn(value, "type", ASSISTANT_CONTENT_TYPES);
}

/**
 * Why an assistant message stands where it stands: `pending` (still being written, only before its
 * message_end, never on the dreb wire), `stop` (the model finished), `length` (cut at the output
 * limit), `toolUse` (the model waits for tool results), `error` (the request or the answer failed),
 * `aborted` (stopped from our side). Known values: `pending`, `stop`, `length`, `toolUse`, `error`,
 * `aborted`; a later version may add more.
 */
export type StopReason =
  | "pending"
  | "stop"
  | "length"
  | "toolUse"
  | "error"
  | "aborted"
  | (string & {});

/** A block of text in a message. */
export interface TextContent {
  /** Kind of block; always `text`. */
  type: "text";
  /** The text; may be empty. */
  text: string;
  /**
   * Opaque token of the service that must be sent back with the block. Absent when the service gave
   * none.
   */
  textSignature?: string;
}

/** An image in a user, custom or tool-result message. */
export interface ImageContent {
  /** Kind of block; always `image`. */
  type: "image";
  /** The bytes of the image in standard base64. */
  data: string;
  /** Media type, such as `image/png`. */
  mimeType: string;
}

/** A block of the model's reasoning in an assistant message. */
export interface ThinkingContent {
  /** Kind of block; always `thinking`. */
  type: "thinking";
  /** The reasoning as text; a placeholder when the block is redacted. */
  thinking: string;
  /**
   * Opaque token of the service that must be sent back with the block; holds the encrypted
   * reasoning of a redacted block. Absent when the service gave none.
   */
  thinkingSignature?: string;
  /** Always true: the service withheld the reasoning. Absent for a readable block. */
  redacted?: true;
}

/** A block in which the model asks for a tool to be run. */
export interface ToolCall {
  /** Kind of block; always `toolCall`. */
  type: "toolCall";
  /** Id of the call, by which its execution and its result refer to it; unique within a message. */
  id: string;
  /** Name of the tool as the model wrote it. */
  name: string;
  /** The arguments; for a call that never became whole, the best-effort reading of what arrived. */
  arguments: { [key: string]: unknown };
  /**
   * Opaque token of the service that must be sent back with the call. Absent when the service gave
   * none.
   */
  thoughtSignature?: string;
  /**
   * Always true: the arguments never became whole JSON, so the call is not executed. Absent for a
   * whole call.
   */
  incomplete?: true;
  /** What was wrong with the arguments. Absent for a whole call. */
  errorMessage?: string;
}
