// Made from the schema by `quipu schema generate typescript --wire dreb`; do not edit.

/*
 * A reader of JSON Lines parses each line and keeps what it knows:
 *
 *   const value: unknown = JSON.parse(line);
 *   if (isDrebEvent(value)) {
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
 * One line of a stream in the dreb form, told apart by `type`. The header comes first, then one
 * agent_start, and one agent_end last; all else lies between them. The order is in grammar.json.
 * Readers skip a line whose `type` they do not know.
 */
export type DrebEvent =
  | DrebSessionHeader
  | AgentStartEvent
  | TurnStartEvent
  | MessageStartEvent
  | DrebMessageUpdateEvent
  | MessageEndEvent
  | ToolExecutionStartEvent
  | ToolExecutionUpdateEvent
  | ToolExecutionEndEvent
  | TurnEndEvent
  | AutoRetryStartEvent
  | AutoRetryEndEvent
  | DrebAutoCompactionStartEvent
  | DrebAutoCompactionEndEvent
  | DrebSessionNameChangedEvent
  | TasksUpdateEvent
  | SuggestNextEvent
  | BackgroundAgentStartEvent
  | DrebSubagentArbitrationEvent
  | DrebBackgroundAgentEvent
  | BackgroundAgentEndEvent
  | ParentPausedForBackgroundAgentsEvent
  | DrebAgentEndEvent;

/** Every `type` of {@link DrebEvent} that this module knows. */
export const DREB_EVENT_TYPES = [
  "session",
  "agent_start",
  "turn_start",
  "message_start",
  "message_update",
  "message_end",
  "tool_execution_start",
  "tool_execution_update",
  "tool_execution_end",
  "turn_end",
  "auto_retry_start",
  "auto_retry_end",
  "auto_compaction_start",
  "auto_compaction_end",
  "session_name_changed",
  "tasks_update",
  "suggest_next",
  "background_agent_start",
  "subagent_arbitration",
  "background_agent_event",
  "background_agent_end",
  "parent_paused_for_background_agents",
  "agent_end",
] as const;

/**
 * Whether `value` is an object with a `type` that this module knows; the rest of it is taken on
 * trust.
 */
export function isDrebEvent(value: unknown): value is DrebEvent {
  return tagIsIn(value, "type", DREB_EVENT_TYPES);
}

/**
 * The first line of every dreb stream, exactly once, written before standard input is read and
 * before any request. It is the session alone and says nothing of the form of the lines. A resumed
 * session shows its stored id, time and directory; its earlier messages are not repeated.
 */
export interface DrebSessionHeader {
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
 * A run begins: the work on one prompt, one retry, one continuation after a compaction, or one
 * delivered result of a background agent. One agent_end closes it before the next run begins. On
 * the dreb wire the whole stream is one run, begun right after the header.
 */
export interface AgentStartEvent {
  /** Kind of line; always `agent_start`. */
  type: "agent_start";
  /** The model that the run starts with. Absent when none is known. */
  model?: ModelRef;
  /** The thinking level in force, after clamping. Absent when no model is known. */
  thinkingLevel?: ThinkingLevel;
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
 * An assistant message grows by one delta. Comes between its message_start and its message_end, any
 * number of times; each line repeats the whole message twice, so the lines get longer with the
 * answer.
 */
export interface DrebMessageUpdateEvent {
  /** Kind of line; always `message_update`. */
  type: "message_update";
  /** The delta, with the message in `partial`. */
  assistantMessageEvent: DrebAssistantMessageEvent;
  /**
   * The whole message so far, this delta included, with `stopReason` still `stop`; message_end has
   * the final one.
   */
  message: AssistantMessage;
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
 * The context is being replaced by a summary, between two turns or before the first. One
 * auto_compaction_end closes it before the next turn. A compaction that someone asked for is not
 * shown.
 */
export interface DrebAutoCompactionStartEvent {
  /** Kind of line; always `auto_compaction_start`. */
  type: "auto_compaction_start";
  /** What caused it. */
  reason: DrebCompactionReason;
}

/**
 * An automatic compaction is over; closes auto_compaction_start. It stands alone, without a start,
 * when the context overflows a second time in a row and no further compaction is tried.
 */
export interface DrebAutoCompactionEndEvent {
  /** Kind of line; always `auto_compaction_end`. */
  type: "auto_compaction_end";
  /** The summary and what it replaces. Absent unless the compaction succeeded. */
  result?: DrebCompactionResult;
  /** True when the compaction was cancelled. */
  aborted: boolean;
  /**
   * True when a model request follows at once to go on with the work, be it a failed answer asked
   * for again or the next turn of the same work.
   */
  willRetry: boolean;
  /** What went wrong. Absent when nothing did. */
  errorMessage?: string;
}

/** The name of the session was set, changed or cleared. */
export interface DrebSessionNameChangedEvent {
  /** Kind of line; always `session_name_changed`. */
  type: "session_name_changed";
  /** The name now; empty when it was cleared. */
  name: string;
}

/**
 * The model has replaced its task list; written while its tool call runs, between that call's
 * tool_execution_start and tool_execution_end.
 */
export interface TasksUpdateEvent {
  /** Kind of line; always `tasks_update`. */
  type: "tasks_update";
  /** The whole list; empty when it was cleared. */
  tasks: SessionTask[];
}

/**
 * The model suggests what to ask next; written while its tool call runs, between that call's
 * tool_execution_start and tool_execution_end.
 */
export interface SuggestNextEvent {
  /** Kind of line; always `suggest_next`. */
  type: "suggest_next";
  /** The suggested prompt: one line, never empty. */
  command: string;
}

/**
 * A background agent was taken on and will start when there is room; normally while the tool call
 * that asked for it runs. One background_agent_end with the same `agentId` closes it, possibly long
 * after.
 */
export interface BackgroundAgentStartEvent {
  /** Kind of line; always `background_agent_start`. */
  type: "background_agent_start";
  /** Id of the background agent. */
  agentId: string;
  /** Name of the agent definition that was asked for. */
  agentType: string;
  /** What it is to do, in a few words for people. */
  taskSummary: string;
  /** Directory of its session files; may not exist yet. Absent when it keeps no session. */
  sessionDir?: string;
}

/**
 * The arbiter has decided on the route of a background agent; after its background_agent_start and
 * before that agent, or that step of a chain, starts. Written only when an arbiter is set up; holds
 * nothing of the task or of the arbiter's reasoning. What the decision cost is not told.
 */
export interface DrebSubagentArbitrationEvent {
  /** Kind of line; always `subagent_arbitration`. */
  type: "subagent_arbitration";
  /** Id of the background agent. */
  agentId: string;
  /** Whether there is a decision. */
  status: ArbitrationStatus;
  /** The route that was asked for. */
  proposed: DispatchRoute;
  /** The route that is taken; null when the decision failed. */
  final: DispatchRoute | null;
  /**
   * The parts in which the final route differs, in the order agent, model, thinking; empty when it
   * does not differ or there is none.
   */
  changed: RoutePart[];
  /** Number of the step in a chain, from 1. Absent outside chains. */
  step?: number;
  /** Why the decision failed, for programs. Absent on success. */
  errorCode?: ArbitrationErrorCode;
  /** Why the decision failed, for people. Absent on success. */
  errorMessage?: string;
}

/**
 * A line of a running background agent's own stream, in this same form; between its
 * background_agent_start and background_agent_end. The header of that stream is not passed on.
 */
export interface DrebBackgroundAgentEvent {
  /** Kind of line; always `background_agent_event`. */
  type: "background_agent_event";
  /** Id of the background agent. */
  agentId: string;
  /** The line of the background agent; never a `session` line. */
  event: DrebEvent;
}

/**
 * A background agent is over; closes the background_agent_start of the same `agentId`. Its result
 * reaches the model as a user message.
 */
export interface BackgroundAgentEndEvent {
  /** Kind of line; always `background_agent_end`. */
  type: "background_agent_end";
  /** Id of the background agent. */
  agentId: string;
  /** Name of the agent definition that ran, after arbitration. */
  agentType: string;
  /** True when it ended well. */
  success: boolean;
  /** Model it ran on, as `provider/id`. Absent when it never reached a model, and for chains. */
  model?: string;
  /** Thinking level it ran at. Absent when it never reached a model, and for chains. */
  thinking?: ThinkingLevel;
  /** The steps of a chain that were carried out, in order. Absent outside chains. */
  steps?: SubagentStepMetadata[];
  /** Path of its session file. Absent when none was written, and for chains. */
  sessionFile?: string;
}

/**
 * The run stops asking the model because it has used its turns while background agents are still at
 * work; it goes on when one of them delivers. The agent_end of the run follows, except on the dreb
 * wire, where the run is the whole stream.
 */
export interface ParentPausedForBackgroundAgentsEvent {
  /** Kind of line; always `parent_paused_for_background_agents`. */
  type: "parent_paused_for_background_agents";
  /** Number of background agents at work. */
  runningAgentCount: number;
  /** Turns taken while they were at work. */
  turnsUsed: number;
  /** Turns that are allowed meanwhile. */
  turnLimit: number;
}

/**
 * The work is over: the last line of the stream, exactly once, after every prompt, retry,
 * compaction and background agent, and after a start-up failure too. A stream without it was
 * interrupted by a signal.
 */
export interface DrebAgentEndEvent {
  /** Kind of line; always `agent_end`. */
  type: "agent_end";
  /**
   * The messages of the whole stream, failed attempts included, in the order of their message_end;
   * empty when nothing was asked.
   */
  messages: AgentMessage[];
}

/** Names a model: the provider and the provider's id for it. */
export interface ModelRef {
  /** Key of the provider in the model list, such as `anthropic` or a local server's name. */
  provider: string;
  /** Id of the model within that provider. */
  id: string;
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
 * One step in the growth of an assistant message with the message that it leads to, told apart by
 * `type`. Blocks are kept apart by `contentIndex`, and several may be open at once.
 */
export type DrebAssistantMessageEvent =
  | DrebTextStart
  | DrebTextDelta
  | DrebTextEnd
  | DrebThinkingStart
  | DrebThinkingDelta
  | DrebThinkingEnd
  | DrebToolcallStart
  | DrebToolcallDelta
  | DrebToolcallEnd
  | DoneDelta
  | ErrorDelta;

/** Every `type` of {@link DrebAssistantMessageEvent} that this module knows. */
export const DREB_ASSISTANT_MESSAGE_EVENT_TYPES = [
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
export function isDrebAssistantMessageEvent(value: unknown): value is DrebAssistantMessageEvent {
  return tagIsIn(value, "type", DREB_ASSISTANT_MESSAGE_EVENT_TYPES);
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
 * What caused an automatic compaction: `threshold` (the context came near the window), `overflow`
 * (the service refused the context as too long). Known values: `threshold`, `overflow`; a later
 * version may add more.
 */
export type DrebCompactionReason =
  | "threshold"
  | "overflow"
  | (string & {});

/**
 * The outcome of a compaction: the summary that takes the place of older messages, and from where
 * on messages are kept. What the summary cost is not told.
 */
export interface DrebCompactionResult {
  /** The summary, in Markdown. */
  summary: string;
  /** Id of the first session entry that stays in the context as it is. */
  firstKeptEntryId: string;
  /** Tokens in the context before the compaction. */
  tokensBefore: number;
  /**
   * Further data on the compaction, by default `readFiles` and `modifiedFiles`, two lists of paths.
   * Absent when there is none.
   */
  details?: unknown;
}

/** One entry of the task list that the model keeps for its work. */
export interface SessionTask {
  /** Id that the model chose; not necessarily unique. */
  id: string;
  /** What is to be done, for people. */
  title: string;
  /** How far it is. */
  status: TaskStatus;
}

/**
 * Outcome of one routing decision: `success` (the agent starts with the final route), `failure` (no
 * decision, the agent does not start). Known values: `success`, `failure`; a later version may add
 * more.
 */
export type ArbitrationStatus =
  | "success"
  | "failure"
  | (string & {});

/**
 * Where a background agent's work goes: which agent definition, on which model, at which thinking
 * level.
 */
export interface DispatchRoute {
  /** Name of the agent definition. */
  agent: string;
  /** The model as `provider/id`; empty when a proposal could not be resolved. */
  model: string;
  /** Thinking level for that agent. */
  thinking: ThinkingLevel;
}

/**
 * One part of a dispatch route that an arbiter may change: the `agent` definition, the `model`, or
 * the `thinking` level. Known values: `agent`, `model`, `thinking`; a later version may add more.
 */
export type RoutePart =
  | "agent"
  | "model"
  | "thinking"
  | (string & {});

/**
 * Why a routing decision failed, in groups: settings (`invalid_config`, `missing_scope`,
 * `invalid_guide`), the arbiter's own model (`arbiter_model`, `arbiter_thinking`), its request
 * (`context_too_large`, `inference_failed`, `timeout`, `aborted`), its answer (`malformed_output`,
 * `unknown_agent`, `out_of_scope_model`, `unsupported_thinking`), and the host (`internal_error`,
 * `observability_failed`: the decision could not be recorded). Known values: `invalid_config`,
 * `missing_scope`, `invalid_guide`, `arbiter_model`, `arbiter_thinking`, `context_too_large`,
 * `inference_failed`, `timeout`, `aborted`, `malformed_output`, `unknown_agent`,
 * `out_of_scope_model`, `unsupported_thinking`, `internal_error`, `observability_failed`; a later
 * version may add more.
 */
export type ArbitrationErrorCode =
  | "invalid_config"
  | "missing_scope"
  | "invalid_guide"
  | "arbiter_model"
  | "arbiter_thinking"
  | "context_too_large"
  | "inference_failed"
  | "timeout"
  | "aborted"
  | "malformed_output"
  | "unknown_agent"
  | "out_of_scope_model"
  | "unsupported_thinking"
  | "internal_error"
  | "observability_failed"
  | (string & {});

/** One step of a chain of background agents that was carried out. */
export interface SubagentStepMetadata {
  /** Number of the step in the chain, from 1. */
  step: number;
  /** Name of the agent definition that ran it. */
  agent: string;
  /** True when the step ended well. */
  success: boolean;
  /** Model it ran on, as `provider/id`. Absent when the step never reached a model. */
  model?: string;
  /** Thinking level it ran at. Absent when the step never reached a model. */
  thinking?: ThinkingLevel;
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

/** A text block begins, empty. Its text_delta lines follow; text_end closes it. */
export interface DrebTextStart {
  /** Kind of delta; always `text_start`. */
  type: "text_start";
  /** Place of the block in the message's `content`, from 0. */
  contentIndex: number;
  /** The whole message so far, this step included; the same as the `message` of the line. */
  partial: AssistantMessage;
}

/** The next piece of an open text block. */
export interface DrebTextDelta {
  /** Kind of delta; always `text_delta`. */
  type: "text_delta";
  /** Place of the block in the message's `content`, from 0. */
  contentIndex: number;
  /** The piece; `partial` has it already appended. May be empty. */
  delta: string;
  /** The whole message so far, this step included; the same as the `message` of the line. */
  partial: AssistantMessage;
}

/** A text block is complete. */
export interface DrebTextEnd {
  /** Kind of delta; always `text_end`. */
  type: "text_end";
  /** Place of the block in the message's `content`, from 0. */
  contentIndex: number;
  /** The whole text: the joined pieces. */
  content: string;
  /** The whole message so far, this step included; the same as the `message` of the line. */
  partial: AssistantMessage;
}

/**
 * A thinking block begins, empty. Its thinking_delta lines follow, none for a redacted block;
 * thinking_end closes it.
 */
export interface DrebThinkingStart {
  /** Kind of delta; always `thinking_start`. */
  type: "thinking_start";
  /** Place of the block in the message's `content`, from 0. */
  contentIndex: number;
  /** The whole message so far, this step included; the same as the `message` of the line. */
  partial: AssistantMessage;
}

/** The next piece of an open thinking block. */
export interface DrebThinkingDelta {
  /** Kind of delta; always `thinking_delta`. */
  type: "thinking_delta";
  /** Place of the block in the message's `content`, from 0. */
  contentIndex: number;
  /** The piece; `partial` has it already appended. May be empty. */
  delta: string;
  /** The whole message so far, this step included; the same as the `message` of the line. */
  partial: AssistantMessage;
}

/** A thinking block is complete. */
export interface DrebThinkingEnd {
  /** Kind of delta; always `thinking_end`. */
  type: "thinking_end";
  /** Place of the block in the message's `content`, from 0. */
  contentIndex: number;
  /** The whole reasoning: the joined pieces, or a placeholder for a redacted block. */
  content: string;
  /** The whole message so far, this step included; the same as the `message` of the line. */
  partial: AssistantMessage;
}

/**
 * A tool call begins, with no arguments yet. Its id and name are those of the block in `partial`.
 * Its toolcall_delta lines follow; toolcall_end closes it.
 */
export interface DrebToolcallStart {
  /** Kind of delta; always `toolcall_start`. */
  type: "toolcall_start";
  /** Place of the block in the message's `content`, from 0. */
  contentIndex: number;
  /** The whole message so far, this step included; the same as the `message` of the line. */
  partial: AssistantMessage;
}

/** The next piece of the arguments of an open tool call. */
export interface DrebToolcallDelta {
  /** Kind of delta; always `toolcall_delta`. */
  type: "toolcall_delta";
  /** Place of the block in the message's `content`, from 0. */
  contentIndex: number;
  /** The piece, raw JSON text; may be empty. */
  delta: string;
  /**
   * The whole message so far, this step included; the same as the `message` of the line. A call
   * that is still open has in `arguments` what can be read of the pieces so far.
   */
  partial: AssistantMessage;
}

/** A tool call is complete, or will not become more complete. */
export interface DrebToolcallEnd {
  /** Kind of delta; always `toolcall_end`. */
  type: "toolcall_end";
  /** Place of the block in the message's `content`, from 0. */
  contentIndex: number;
  /** The whole call with its arguments read; the block of `partial`. */
  toolCall: ToolCall;
  /** The whole message so far, this step included; the same as the `message` of the line. */
  partial: AssistantMessage;
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

/**
 * State of one entry of the task list: `pending` (not begun), `in_progress` (being worked on),
 * `completed` (done). Known values: `pending`, `in_progress`, `completed`; a later version may add
 * more.
 */
export type TaskStatus =
  | "pending"
  | "in_progress"
  | "completed"
  | (string & {});

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

/** An image in a user, custom or tool-result message. */
export interface ImageContent {
  /** Kind of block; always `image`. */
  type: "image";
  /** The bytes of the image in standard base64. */
  data: string;
  /** Media type, such as `image/png`. */
  mimeType: string;
}
