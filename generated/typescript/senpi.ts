// Made from the schema by `quipu schema generate typescript --wire senpi`; do not edit.

/*
 * A reader of JSON Lines parses each line and keeps what it knows:
 *
 *   const value: unknown = JSON.parse(line);
 *   if (isSenpiEvent(value)) {
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
 * One line of a stream in the senpi form, told apart by `type`. The header comes first; there is no
 * terminal line, the stream ends with the last run or with the retry or compaction line that closes
 * after it. The order is in grammar.json. Readers skip a line whose `type` they do not know.
 */
export type SenpiEvent =
  | SenpiSessionHeader
  | SenpiAgentStartEvent
  | TurnStartEvent
  | MessageStartEvent
  | MessageUpdateEvent
  | MessageEndEvent
  | ToolExecutionStartEvent
  | ToolExecutionUpdateEvent
  | ToolExecutionEndEvent
  | ToolHookStatusEvent
  | TurnEndEvent
  | AgentEndEvent
  | AutoRetryStartEvent
  | AutoRetryEndEvent
  | SenpiCompactionStartEvent
  | CompactionProgressEvent
  | SenpiCompactionEndEvent
  | SummarizationRetryScheduledEvent
  | SummarizationRetryAttemptStartEvent
  | SummarizationRetryFinishedEvent
  | QueueUpdateEvent
  | SessionInfoChangedEvent
  | ThinkingLevelChangedEvent
  | ThinkingLevelClampedEvent
  | SystemPromptChangeEvent;

/** Every `type` of {@link SenpiEvent} that this module knows. */
export const SENPI_EVENT_TYPES = [
  "session",
  "agent_start",
  "turn_start",
  "message_start",
  "message_update",
  "message_end",
  "tool_execution_start",
  "tool_execution_update",
  "tool_execution_end",
  "tool_hook_status",
  "turn_end",
  "agent_end",
  "auto_retry_start",
  "auto_retry_end",
  "compaction_start",
  "compaction_progress",
  "compaction_end",
  "summarization_retry_scheduled",
  "summarization_retry_attempt_start",
  "summarization_retry_finished",
  "queue_update",
  "session_info_changed",
  "thinking_level_changed",
  "thinking_level_clamped",
  "system_prompt_change",
] as const;

/**
 * Whether `value` is an object with a `type` that this module knows; the rest of it is taken on
 * trust.
 */
export function isSenpiEvent(value: unknown): value is SenpiEvent {
  return tagIsIn(value, "type", SENPI_EVENT_TYPES);
}

/**
 * The first line of every senpi stream, exactly once, written before standard input is read and
 * before any request. It is the session alone and says nothing of the form of the lines. A resumed
 * session shows its stored id, time and directory; its earlier messages are not repeated.
 */
export interface SenpiSessionHeader {
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
  /** Path of the session file that this one was forked from. Absent otherwise. */
  parentSession?: string;
}

/**
 * A run begins: the work on one prompt, one retry, or one continuation. One agent_end closes it
 * before the next run begins. The model and its thinking level are not told here.
 */
export interface SenpiAgentStartEvent {
  /** Kind of line; always `agent_start`. */
  type: "agent_start";
}

/**
 * A turn begins: one answer of the model and the tool calls in it. The messages that lead to the
 * answer come next; one turn_end closes the turn.
 */
export interface TurnStartEvent {
  /** Kind of line; always `turn_start`. */
  type: "turn_start";
}

/**
 * A message begins. User, custom and tool-result messages are whole and their message_end follows
 * directly. An assistant message is empty and `pending` (on the dreb wire `stop`); when the request
 * failed or was stopped before an answer began, it is the whole error message instead and its
 * message_end follows directly.
 */
export interface MessageStartEvent {
  /** Kind of line; always `message_start`. */
  type: "message_start";
  /** The message so far: whole, except for an assistant message that is about to be written. */
  message: AgentMessage;
}

/**
 * A pending assistant message grows by one delta. Comes between its message_start and its
 * message_end, any number of times.
 */
export interface MessageUpdateEvent {
  /** Kind of line; always `message_update`. */
  type: "message_update";
  /** Latest tokens and cost of this request; may stay zero until the answer ends. */
  usage: Usage;
  /** The delta. */
  assistantMessageEvent: AssistantMessageEvent;
  /**
   * Name of the tool that the call will run; the requested name when no tool matches. Only with
   * toolcall_start and toolcall_end, absent with any other delta.
   */
  resolvedToolName?: string;
}

/**
 * A message is complete; closes the message_start before it and is what readers should keep. With
 * `stopReason` `error` or `aborted` it also closes the blocks that are still open, without any
 * text_end, thinking_end or toolcall_end.
 */
export interface MessageEndEvent {
  /** Kind of line; always `message_end`. */
  type: "message_end";
  /** The final message. */
  message: AgentMessage;
}

/**
 * The run loop takes up a tool call of the answer, in the order of the calls; checks come after it.
 * One tool_execution_end with the same `toolCallId` closes it.
 */
export interface ToolExecutionStartEvent {
  /** Kind of line; always `tool_execution_start`. */
  type: "tool_execution_start";
  /** Id of the tool call. */
  toolCallId: string;
  /**
   * Name of the tool that runs, or the name that the model asked for when there is no such tool.
   */
  toolName: string;
  /**
   * The arguments as the model gave them, usually an object; the best-effort reading when they are
   * not whole JSON.
   */
  args: unknown;
}

/**
 * A running tool reports progress. Comes between the tool_execution_start and tool_execution_end of
 * the same `toolCallId`, any number of times.
 */
export interface ToolExecutionUpdateEvent {
  /** Kind of line; always `tool_execution_update`. */
  type: "tool_execution_update";
  /** Id of the tool call. */
  toolCallId: string;
  /**
   * Name of the tool that runs, or the name that the model asked for when there is no such tool.
   */
  toolName: string;
  /**
   * The arguments as the model gave them, usually an object; the best-effort reading when they are
   * not whole JSON.
   */
  args: unknown;
  /** The result so far, whole: it replaces the one before it. */
  partialResult: ToolResult;
}

/**
 * A tool call is over, in the order in which calls complete; closes the tool_execution_start of the
 * same `toolCallId`. A call that fails its checks ends at once.
 */
export interface ToolExecutionEndEvent {
  /** Kind of line; always `tool_execution_end`. */
  type: "tool_execution_end";
  /** Id of the tool call. */
  toolCallId: string;
  /**
   * Name of the tool that runs, or the name that the model asked for when there is no such tool.
   */
  toolName: string;
  /** What the tool gave back. */
  result: ToolResult;
  /**
   * True when the tool failed or was not run; for a command, also when it exited with another code
   * than 0.
   */
  isError: boolean;
}

/**
 * A hook works on a tool call, between that call's tool_execution_start and tool_execution_end.
 * Each hook run is one `start`, any number of `update` and one `end`, held together by `hookRunId`.
 */
export interface ToolHookStatusEvent {
  /** Kind of line; always `tool_hook_status`. */
  type: "tool_hook_status";
  /** Id of this run of the hook; unique in the stream. */
  hookRunId: string;
  /** Point in the call's life at which the hook runs, such as `PreToolUse` or `PostToolUse`. */
  hookName: string;
  /** Name of the tool. */
  toolName: string;
  /** Id of the tool call. */
  toolCallId: string;
  /** Path of the file that defines the hook, or `<builtin:NAME>`. */
  extensionPath: string;
  /** When the hook run began, in ms since the Unix epoch. */
  startedAt: number;
  /** Where the hook run stands. */
  phase: HookPhase;
  /** What the hook is doing, for people: one short plain line. */
  statusMessage: string;
  /** When the hook run ended, in ms since the Unix epoch. Absent unless `phase` is `end`. */
  completedAt?: number;
  /** How the hook run ended. Absent unless `phase` is `end`. */
  status?: HookStatus;
  /** Why the call was blocked or what broke. Absent unless `status` is `blocked` or `failed`. */
  errorMessage?: string;
}

/**
 * A turn is over, after its answer, its tool calls and their result messages; closes the turn_start
 * before it.
 */
export interface TurnEndEvent {
  /** Kind of line; always `turn_end`. */
  type: "turn_end";
  /** The answer of this turn, as in its message_end. */
  message: AssistantMessage;
  /** The tool results of this turn in the order of the calls; empty when no call was taken up. */
  toolResults: ToolResultMessage[];
}

/** A run is over; closes the agent_start before it. */
export interface AgentEndEvent {
  /** Kind of line; always `agent_end`. */
  type: "agent_end";
  /**
   * The messages that came up in this run, in the order of their message_end. A retry or a
   * continuation does not repeat the prompt.
   */
  messages: AgentMessage[];
  /**
   * True exactly when an auto_retry_start follows. Going on after a compaction is told by
   * compaction_end instead.
   */
  willRetry: boolean;
  /** Why the run was stopped from outside. Absent unless its session was replaced. */
  abortCause?: AgentAbortCause;
}

/**
 * A failed answer is going to be requested again, from the same model or from the next one of a
 * fallback chain; directly after the agent_end of the failed run, before the wait. The retry is a
 * run of its own. On the dreb wire it follows the turn_end instead, and the retry is a turn. One
 * auto_retry_end closes the whole series, however many auto_retry_start and models it has.
 */
export interface AutoRetryStartEvent {
  /** Kind of line; always `auto_retry_start`. */
  type: "auto_retry_start";
  /**
   * Number of the retry, from 1; the first request to a model that takes over is number 1 again.
   */
  attempt: number;
  /**
   * Most retries that are made with one model; one more for a model that takes over, whose first
   * request counts.
   */
  maxAttempts: number;
  /** Wait before the retry, in ms; 0 when another model takes over. */
  delayMs: number;
  /** The error that is being retried. It also names the model that takes over, if one does. */
  errorMessage: string;
}

/**
 * A series of retries is over. On success directly after the message_end of the good answer, before
 * its tools and its turn_end; on failure after the agent_end of the last run (on the dreb wire: the
 * turn_end of the last turn), or after an auto_retry_start whose wait was cut short.
 */
export interface AutoRetryEndEvent {
  /** Kind of line; always `auto_retry_end`. */
  type: "auto_retry_end";
  /** True when a retry brought an answer. */
  success: boolean;
  /** Number of the last retry, from 1: that of the last auto_retry_start. */
  attempt: number;
  /** The error that ended the series. Absent on success. */
  finalError?: string;
}

/**
 * The context is being replaced by a summary: between two runs, between two turns, or between
 * agent_start and the first turn_start of a run. One compaction_end closes it; the id of the
 * request is on that line only.
 */
export interface SenpiCompactionStartEvent {
  /** Kind of line; always `compaction_start`. */
  type: "compaction_start";
  /** What caused it. */
  reason: CompactionReason;
}

/**
 * The summary of a running compaction grows. Comes between compaction_start and compaction_end, any
 * number of times. Put together, its lines give the `summary` of the result; when a request is made
 * again, a line with `text` takes back what the failed one had written.
 */
export interface CompactionProgressEvent {
  /** Kind of line; always `compaction_progress`. */
  type: "compaction_progress";
  /** What caused the compaction. */
  reason: CompactionReason;
  /** The next piece of the summary, to be appended. Absent when `text` is given. */
  delta?: string;
  /** The whole summary so far, in place of all before it. Absent when `delta` is given. */
  text?: string;
}

/**
 * A compaction is over; closes compaction_start. It stands alone, without a start, when the context
 * overflows a second time in a row and no further compaction is tried.
 */
export interface SenpiCompactionEndEvent {
  /** Kind of line; always `compaction_end`. */
  type: "compaction_end";
  /** What caused it. */
  reason: CompactionReason;
  /** The summary and what it replaces. Absent unless the compaction succeeded. */
  result?: CompactionResult;
  /** True when the compaction was cancelled. */
  aborted: boolean;
  /**
   * True when a model request follows at once to go on with the work: the one that did not fit is
   * made again, or, between two turns of a run, the next turn begins.
   */
  willRetry: boolean;
  /** Id of the compaction; only its end has it. Absent when it has no start. */
  requestId?: string;
  /**
   * True when the result was taken over, false when the compaction was refused. Absent when there
   * was nothing to decide: it failed, was cancelled, or found nothing to compact, in which case its
   * end follows the start without anything else.
   */
  accepted?: boolean;
  /** Why the compaction was refused. Absent unless `accepted` is false. */
  rejectionCause?: CompactionRejectionCause;
  /** What went wrong. Absent when nothing did. */
  errorMessage?: string;
}

/**
 * The request for a summary failed and is going to be made again; before the wait. One
 * summarization_retry_finished closes the series, however many retries it has.
 */
export interface SummarizationRetryScheduledEvent {
  /** Kind of line; always `summarization_retry_scheduled`. */
  type: "summarization_retry_scheduled";
  /** Number of the retry, from 1. */
  attempt: number;
  /** Most retries that are made. */
  maxAttempts: number;
  /** Wait before the retry, in ms. */
  delayMs: number;
  /** The error that is being retried. */
  errorMessage: string;
}

/** The forms of `summarization_retry_attempt_start` in SenpiEvent, told apart by `source`. */
export type SummarizationRetryAttemptStartEvent =
  | SummarizationRetryAttemptStartBranchSummaryEvent
  | SummarizationRetryAttemptStartCompactionEvent;

/** Every `source` of {@link SummarizationRetryAttemptStartEvent} that this module knows. */
export const SUMMARIZATION_RETRY_ATTEMPT_START_EVENT_SOURCES = [
  "branchSummary",
  "compaction",
] as const;

/**
 * Whether `value` is an object with a `source` that this module knows; the rest of it is taken on
 * trust.
 */
export function isSummarizationRetryAttemptStartEvent(value: unknown): value is SummarizationRetryAttemptStartEvent {
  return tagIsIn(value, "source", SUMMARIZATION_RETRY_ATTEMPT_START_EVENT_SOURCES);
}

/**
 * A series of summary retries is over, well or not; closes the summarization_retry_scheduled that
 * began it and is not written without one.
 */
export interface SummarizationRetryFinishedEvent {
  /** Kind of line; always `summarization_retry_finished`. */
  type: "summarization_retry_finished";
}

/**
 * The queues of messages that wait for the model have changed; written when one is put in, taken
 * out (just before its message_start) or all are dropped.
 */
export interface QueueUpdateEvent {
  /** Kind of line; always `queue_update`. */
  type: "queue_update";
  /** Texts of the messages that go in after the present turn, in order. */
  steering: string[];
  /** Texts of the messages that go in when the run would end, in order. */
  followUp: string[];
}

/** The name of the session was set, changed or cleared. */
export interface SessionInfoChangedEvent {
  /** Kind of line; always `session_info_changed`. */
  type: "session_info_changed";
  /** The name now. Absent when it was cleared. */
  name?: string;
}

/**
 * The thinking level was changed after the start; requests from now on use it. When another model
 * takes over from one that failed, between the auto_retry_start and the agent_start. The level at
 * the start of a run is in agent_start.
 */
export interface ThinkingLevelChangedEvent {
  /** Kind of line; always `thinking_level_changed`. */
  type: "thinking_level_changed";
  /** The level now in force. */
  level: ThinkingLevel;
}

/**
 * A level that was asked for is not offered by the model, so another one is used; once for each
 * model and level. For the level asked for on the command line it comes after the header, before
 * the first agent_start; for a model that takes over from one that failed, before the agent_start
 * of its first run, directly after a thinking_level_changed if there is one.
 */
export interface ThinkingLevelClampedEvent {
  /** Kind of line; always `thinking_level_clamped`. */
  type: "thinking_level_clamped";
  /** Key of the model's provider. */
  provider: string;
  /** Id of the model. */
  modelId: string;
  /** The level that was asked for. */
  requestedLevel: ThinkingLevel;
  /** The level that is used. */
  appliedLevel: ThinkingLevel;
  /** Why it was replaced. */
  reason: ThinkingClampReason;
}

/** A change of the model brought another system prompt; requests from now on use it. */
export interface SystemPromptChangeEvent {
  /** Kind of line; always `system_prompt_change`. */
  type: "system_prompt_change";
  /** The system prompt now in force. */
  systemPrompt: string;
  /** The system prompt until now. */
  previousSystemPrompt: string;
  /** The model that was chosen. */
  model: Model;
  /** The model until now. Absent when there was none. */
  previousModel?: Model;
  /** What brought the change; always `model_select`. */
  source: "model_select";
  /** Name of the system prompt. Absent when it has none. */
  systemPromptName?: string;
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
 * One step in the growth of an assistant message, told apart by `type`. Blocks are kept apart by
 * `contentIndex`, and several may be open at once.
 */
export type AssistantMessageEvent =
  | TextStart
  | TextDelta
  | TextEnd
  | ThinkingStart
  | ThinkingDelta
  | ThinkingEnd
  | ToolcallStart
  | ToolcallDelta
  | ToolcallEnd
  | DoneDelta
  | ErrorDelta;

/** Every `type` of {@link AssistantMessageEvent} that this module knows. */
export const ASSISTANT_MESSAGE_EVENT_TYPES = [
  "text_start",
  "text_delta",
  "text_end",
  "thinking_start",
  "thinking_delta",
  "thinking_end",
  "toolcall_start",
  "toolcall_delta",
  "toolcall_end",
  "done",
  "error",
] as const;

/**
 * Whether `value` is an object with a `type` that this module knows; the rest of it is taken on
 * trust.
 */
export function isAssistantMessageEvent(value: unknown): value is AssistantMessageEvent {
  return tagIsIn(value, "type", ASSISTANT_MESSAGE_EVENT_TYPES);
}

/**
 * What a tool gives back: blocks for the model and details for programs. A partial result has the
 * same shape and replaces the one before it.
 */
export interface ToolResult {
  /** The blocks that the model reads; may be empty while a tool is still running. */
  content: InputContent[];
  /**
   * Whatever the tool reports to programs, in the tool's own shape; the model does not see it.
   * Absent when the tool gives none, an empty object for errors made by the run loop.
   */
  details?: unknown;
  /**
   * True when no further model request follows this turn. Absent when the tool has nothing to say
   * about it.
   */
  endTurn?: boolean;
}

/**
 * Where a hook run stands: `start` (it began), `update` (it changed its status text), `end` (it is
 * over). Known values: `start`, `update`, `end`; a later version may add more.
 */
export type HookPhase =
  | "start"
  | "update"
  | "end"
  | (string & {});

/**
 * How a hook run ended: `completed` (it let the call pass), `blocked` (it stopped the call),
 * `failed` (the hook itself broke). Known values: `completed`, `blocked`, `failed`; a later version
 * may add more.
 */
export type HookStatus =
  | "completed"
  | "blocked"
  | "failed"
  | (string & {});

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

/** Why a run was stopped from outside: its session was replaced by another one. */
export interface AgentAbortCause {
  /** Kind of cause; always `session_replaced`. */
  type: "session_replaced";
  /** How the session was replaced. */
  reason: SessionReplaceReason;
}

/**
 * What caused a compaction: `manual` (someone asked for it), `threshold` (the context came near the
 * window), `overflow` (the service refused the context as too long). Known values: `manual`,
 * `threshold`, `overflow`; a later version may add more.
 */
export type CompactionReason =
  | "manual"
  | "threshold"
  | "overflow"
  | (string & {});

/**
 * The outcome of a compaction: the summary that takes the place of older messages, and from where
 * on messages are kept.
 */
export interface CompactionResult {
  /** The summary, in Markdown. */
  summary: string;
  /** Id of the first session entry that stays in the context as it is. */
  firstKeptEntryId: string;
  /** Tokens in the context before the compaction. */
  tokensBefore: number;
  /** Tokens and cost of the summary requests. Absent when no model wrote the summary. */
  usage?: Usage;
  /**
   * Further data on the compaction, by default `readFiles` and `modifiedFiles`, two lists of paths.
   * Absent when there is none.
   */
  details?: unknown;
  /** Estimated tokens in the context after the compaction. Absent when not estimated. */
  estimatedTokensAfter?: number;
}

/**
 * Why a compaction was refused: `cancelled-by-extension` (a hook said no), `external-owner` (the
 * provider compacts this session itself), `would-overflow` (the result would still not fit),
 * `circuit-breaker` (too many failures in a row), `per-turn-cap` (the allowed number is used up).
 * Known values: `cancelled-by-extension`, `external-owner`, `would-overflow`, `circuit-breaker`,
 * `per-turn-cap`; a later version may add more.
 */
export type CompactionRejectionCause =
  | "cancelled-by-extension"
  | "external-owner"
  | "would-overflow"
  | "circuit-breaker"
  | "per-turn-cap"
  | (string & {});

/**
 * The summary of a left branch is requested again; after the wait of the
 * summarization_retry_scheduled before it.
 */
export interface SummarizationRetryAttemptStartBranchSummaryEvent {
  /** Kind of line; always `summarization_retry_attempt_start`. */
  type: "summarization_retry_attempt_start";
  /** What is being summarised; always `branchSummary`. */
  source: "branchSummary";
}

/**
 * The summary of a compaction is requested again; after the wait of the
 * summarization_retry_scheduled before it.
 */
export interface SummarizationRetryAttemptStartCompactionEvent {
  /** Kind of line; always `summarization_retry_attempt_start`. */
  type: "summarization_retry_attempt_start";
  /** What is being summarised; always `compaction`. */
  source: "compaction";
  /** What caused the compaction. */
  reason: CompactionReason;
}

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
 * Why a thinking level was replaced: `model-not-reasoning` (the model cannot reason at all),
 * `level-unsupported` (it can, but not at that level). Known values: `model-not-reasoning`,
 * `level-unsupported`; a later version may add more.
 */
export type ThinkingClampReason =
  | "model-not-reasoning"
  | "level-unsupported"
  | (string & {});

/**
 * A model as the model list knows it. Addresses, headers and keys are left out, because they could
 * hold secrets.
 */
export interface Model {
  /** Id of the model within its provider. */
  id: string;
  /** Name for people; equal to `id` when the list gives none. */
  name: string;
  /**
   * Protocol spoken with the service, such as `anthropic-messages`, `openai-completions`,
   * `openai-responses` or `google-generative-ai`.
   */
  api: string;
  /** Key of the provider in the model list. */
  provider: string;
  /** True when the model can reason before it answers. */
  reasoning: boolean;
  /** Kinds of input that the model takes. */
  input: InputModality[];
  /** List prices in US dollars per million tokens. */
  cost: ModelCost;
  /** Tokens that fit into the model's context. Absent when unknown. */
  contextWindow?: number;
  /** Most tokens that the model writes in one answer. Absent when unknown. */
  maxTokens?: number;
}

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

/** A text block begins, empty. Its text_delta lines follow; text_end closes it. */
export interface TextStart {
  /** Kind of delta; always `text_start`. */
  type: "text_start";
  /** Place of the block in the message's `content`, from 0. */
  contentIndex: number;
}

/** The next piece of an open text block. */
export interface TextDelta {
  /** Kind of delta; always `text_delta`. */
  type: "text_delta";
  /** Place of the block in the message's `content`, from 0. */
  contentIndex: number;
  /** The piece, to be appended; may be empty. */
  delta: string;
}

/** A text block is complete. */
export interface TextEnd {
  /** Kind of delta; always `text_end`. */
  type: "text_end";
  /** Place of the block in the message's `content`, from 0. */
  contentIndex: number;
  /** The whole text: the joined pieces. */
  content: string;
}

/**
 * A thinking block begins, empty. Its thinking_delta lines follow, none for a redacted block;
 * thinking_end closes it.
 */
export interface ThinkingStart {
  /** Kind of delta; always `thinking_start`. */
  type: "thinking_start";
  /** Place of the block in the message's `content`, from 0. */
  contentIndex: number;
}

/** The next piece of an open thinking block. */
export interface ThinkingDelta {
  /** Kind of delta; always `thinking_delta`. */
  type: "thinking_delta";
  /** Place of the block in the message's `content`, from 0. */
  contentIndex: number;
  /** The piece, to be appended; may be empty. */
  delta: string;
}

/** A thinking block is complete. */
export interface ThinkingEnd {
  /** Kind of delta; always `thinking_end`. */
  type: "thinking_end";
  /** Place of the block in the message's `content`, from 0. */
  contentIndex: number;
  /** The whole reasoning: the joined pieces, or a placeholder for a redacted block. */
  content: string;
}

/**
 * A tool call begins, with no arguments yet. Its toolcall_delta lines follow; toolcall_end closes
 * it.
 */
export interface ToolcallStart {
  /** Kind of delta; always `toolcall_start`. */
  type: "toolcall_start";
  /** Place of the block in the message's `content`, from 0. */
  contentIndex: number;
  /** Id of the call. */
  id: string;
  /** Name of the tool as the model wrote it. */
  toolName: string;
}

/** The next piece of the arguments of an open tool call. */
export interface ToolcallDelta {
  /** Kind of delta; always `toolcall_delta`. */
  type: "toolcall_delta";
  /** Place of the block in the message's `content`, from 0. */
  contentIndex: number;
  /** The piece, raw JSON text to be appended; may be empty. */
  delta: string;
}

/** A tool call is complete, or will not become more complete. */
export interface ToolcallEnd {
  /** Kind of delta; always `toolcall_end`. */
  type: "toolcall_end";
  /** Place of the block in the message's `content`, from 0. */
  contentIndex: number;
  /** The whole call with its arguments read. */
  toolCall: ToolCall;
}

/**
 * An answer is complete. Quipu never writes it, message_end says the same; a reader meets it only
 * in streams of other producers.
 * For readers only: it is never written.
 */
export interface DoneDelta {
  /** Kind of delta; always `done`. */
  type: "done";
  /** Why the answer ended. */
  reason: StopReason;
  /** The final message. */
  message: AssistantMessage;
}

/**
 * An answer failed or was aborted. Quipu never writes it, message_end says the same; a reader meets
 * it only in streams of other producers.
 * For readers only: it is never written.
 */
export interface ErrorDelta {
  /** Kind of delta; always `error`. */
  type: "error";
  /** `error` or `aborted`. */
  reason: StopReason;
  /** The final message, with its error. */
  error: AssistantMessage;
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

/**
 * How the session of an aborted run was replaced: `new` (an empty one), `resume` (an earlier one
 * was opened), `fork` (a copy of one was opened). Known values: `new`, `resume`, `fork`; a later
 * version may add more.
 */
export type SessionReplaceReason =
  | "new"
  | "resume"
  | "fork"
  | (string & {});

/**
 * A kind of input that a model takes: `text` or `image`. Known values: `text`, `image`; a later
 * version may add more.
 */
export type InputModality =
  | "text"
  | "image"
  | (string & {});

/** List prices of a model in US dollars per million tokens. Zero means free or unknown. */
export interface ModelCost {
  /** US dollars per million uncached input tokens. */
  input: number;
  /** US dollars per million output tokens. */
  output: number;
  /** US dollars per million input tokens read from the cache. */
  cacheRead: number;
  /** US dollars per million input tokens written to the cache. */
  cacheWrite: number;
}

/**
 * What a user or custom message says: a plain string, or an array of blocks. Prompts are written as
 * blocks; a string comes from a session file or a hook.
 * A string: The whole content as one text.
 * An array: The blocks in order.
 */
export type UserContent = string | InputContent[];

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
