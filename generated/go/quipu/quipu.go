// Code generated from the schema by `quipu schema generate go --wire quipu`. DO NOT EDIT.

// Package quipu has the types of a line of JSON that QuipuEvent describes.
//
// Unmarshal a line into a QuipuEvent and switch over its Value:
//
//	var line quipu.QuipuEvent
//	if err := json.Unmarshal(data, &line); err != nil { … }
//	switch value := line.Value.(type) { … }
//
// A later version may add members to a union, fields to an object, and values to a string type.
// Members that this package does not know are read as *Unknown and written as they were, new
// values are kept, and new fields are passed over. A pointer that is nil, an empty
// json.RawMessage and an empty value of a string type stand for an absent field. Fields with one
// possible value, such as the discriminators, are filled in by MarshalJSON.
package quipu

import (
	"bytes"
	"encoding/json"
)

// SchemaVersion is the version of the schema that this was made from.
const SchemaVersion = "1.0.0"

// QuipuEvent: One line of a native stream, told apart by `type`. The header comes first, stream_end
// last; the order of the rest is in grammar.json. Readers skip a line whose `type` they do not
// know.
type QuipuEvent struct {
	Value QuipuEventValue
}

// QuipuEventValue is one of the pointers that follow, told apart by `type`.
type QuipuEventValue interface {
	isQuipuEvent()
}

func (*SessionHeader) isQuipuEvent()                        {}
func (*AgentStartEvent) isQuipuEvent()                      {}
func (*TurnStartEvent) isQuipuEvent()                       {}
func (*MessageStartEvent) isQuipuEvent()                    {}
func (*MessageUpdateEvent) isQuipuEvent()                   {}
func (*MessageEndEvent) isQuipuEvent()                      {}
func (*ToolExecutionStartEvent) isQuipuEvent()              {}
func (*ToolExecutionUpdateEvent) isQuipuEvent()             {}
func (*ToolExecutionEndEvent) isQuipuEvent()                {}
func (*ToolHookStatusEvent) isQuipuEvent()                  {}
func (*TurnEndEvent) isQuipuEvent()                         {}
func (*AgentEndEvent) isQuipuEvent()                        {}
func (*AutoRetryStartEvent) isQuipuEvent()                  {}
func (*AutoRetryEndEvent) isQuipuEvent()                    {}
func (*CompactionStartEvent) isQuipuEvent()                 {}
func (*CompactionProgressEvent) isQuipuEvent()              {}
func (*CompactionEndEvent) isQuipuEvent()                   {}
func (*SummarizationRetryScheduledEvent) isQuipuEvent()     {}
func (*SummarizationRetryAttemptStartEvent) isQuipuEvent()  {}
func (*SummarizationRetryFinishedEvent) isQuipuEvent()      {}
func (*QueueUpdateEvent) isQuipuEvent()                     {}
func (*SessionInfoChangedEvent) isQuipuEvent()              {}
func (*ThinkingLevelChangedEvent) isQuipuEvent()            {}
func (*ThinkingLevelClampedEvent) isQuipuEvent()            {}
func (*SystemPromptChangeEvent) isQuipuEvent()              {}
func (*TasksUpdateEvent) isQuipuEvent()                     {}
func (*SuggestNextEvent) isQuipuEvent()                     {}
func (*BackgroundAgentStartEvent) isQuipuEvent()            {}
func (*SubagentArbitrationEvent) isQuipuEvent()             {}
func (*BackgroundAgentEvent) isQuipuEvent()                 {}
func (*BackgroundAgentEndEvent) isQuipuEvent()              {}
func (*ParentPausedForBackgroundAgentsEvent) isQuipuEvent() {}
func (*StreamEndEvent) isQuipuEvent()                       {}
func (*Unknown) isQuipuEvent()                              {}

// UnmarshalJSON reads the member that `type` names, and *Unknown where it names none.
func (u *QuipuEvent) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	tag := tagType(data)
	var value QuipuEventValue
	switch tag {
	case "session":
		value = new(SessionHeader)
	case "agent_start":
		value = new(AgentStartEvent)
	case "turn_start":
		value = new(TurnStartEvent)
	case "message_start":
		value = new(MessageStartEvent)
	case "message_update":
		value = new(MessageUpdateEvent)
	case "message_end":
		value = new(MessageEndEvent)
	case "tool_execution_start":
		value = new(ToolExecutionStartEvent)
	case "tool_execution_update":
		value = new(ToolExecutionUpdateEvent)
	case "tool_execution_end":
		value = new(ToolExecutionEndEvent)
	case "tool_hook_status":
		value = new(ToolHookStatusEvent)
	case "turn_end":
		value = new(TurnEndEvent)
	case "agent_end":
		value = new(AgentEndEvent)
	case "auto_retry_start":
		value = new(AutoRetryStartEvent)
	case "auto_retry_end":
		value = new(AutoRetryEndEvent)
	case "compaction_start":
		value = new(CompactionStartEvent)
	case "compaction_progress":
		value = new(CompactionProgressEvent)
	case "compaction_end":
		value = new(CompactionEndEvent)
	case "summarization_retry_scheduled":
		value = new(SummarizationRetryScheduledEvent)
	case "summarization_retry_attempt_start":
		value = new(SummarizationRetryAttemptStartEvent)
	case "summarization_retry_finished":
		value = new(SummarizationRetryFinishedEvent)
	case "queue_update":
		value = new(QueueUpdateEvent)
	case "session_info_changed":
		value = new(SessionInfoChangedEvent)
	case "thinking_level_changed":
		value = new(ThinkingLevelChangedEvent)
	case "thinking_level_clamped":
		value = new(ThinkingLevelClampedEvent)
	case "system_prompt_change":
		value = new(SystemPromptChangeEvent)
	case "tasks_update":
		value = new(TasksUpdateEvent)
	case "suggest_next":
		value = new(SuggestNextEvent)
	case "background_agent_start":
		value = new(BackgroundAgentStartEvent)
	case "subagent_arbitration":
		value = new(SubagentArbitrationEvent)
	case "background_agent_event":
		value = new(BackgroundAgentEvent)
	case "background_agent_end":
		value = new(BackgroundAgentEndEvent)
	case "parent_paused_for_background_agents":
		value = new(ParentPausedForBackgroundAgentsEvent)
	case "stream_end":
		value = new(StreamEndEvent)
	default:
		u.Value = &Unknown{Tag: tag, Raw: append(json.RawMessage(nil), data...)}
		return nil
	}
	if err := json.Unmarshal(data, value); err != nil {
		return err
	}
	u.Value = value
	return nil
}

// MarshalJSON writes the member.
func (u QuipuEvent) MarshalJSON() ([]byte, error) {
	return json.Marshal(u.Value)
}

// SessionHeader: The first line of every stream, exactly once, written before standard input is
// read and before any request. A resumed session shows its stored id, time and directory; its
// earlier messages are not repeated.
type SessionHeader struct {
	// Kind of line; always `session`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// Version of the session format; always 3. The version of the stream is in `stream`.
	Version int64 `json:"version"`

	// Id of the session, a UUID unless the user chose one.
	ID string `json:"id"`

	// When the session was made: ISO 8601 in UTC, with milliseconds and `Z`.
	Timestamp string `json:"timestamp"`

	// Absolute path of the working directory of the session.
	Cwd string `json:"cwd"`

	// Path of the session file that this one was forked or spawned from. Absent otherwise.
	ParentSession *string `json:"parentSession,omitempty"`

	// Name of the agent definition of a background agent's own session. Absent otherwise.
	AgentType *string `json:"agentType,omitempty"`

	// Form and schema of the lines that follow.
	Stream StreamInfo `json:"stream"`
}

// MarshalJSON fills in what every SessionHeader has.
func (v SessionHeader) MarshalJSON() ([]byte, error) {
	type plain SessionHeader
	if v.Type == "" {
		v.Type = "session"
	}
	if v.Version == 0 {
		v.Version = 3
	}
	return json.Marshal(plain(v))
}

// AgentStartEvent: A run begins: the work on one prompt, one retry, one continuation after a
// compaction, or one delivered result of a background agent. One agent_end closes it before the
// next run begins. On the dreb wire the whole stream is one run, begun right after the header.
type AgentStartEvent struct {
	// Kind of line; always `agent_start`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// The model that the run starts with. Absent when none is known.
	Model *ModelRef `json:"model,omitempty"`

	// The thinking level in force, after clamping. Absent when no model is known.
	ThinkingLevel ThinkingLevel `json:"thinkingLevel,omitempty"`
}

// MarshalJSON fills in what every AgentStartEvent has.
func (v AgentStartEvent) MarshalJSON() ([]byte, error) {
	type plain AgentStartEvent
	if v.Type == "" {
		v.Type = "agent_start"
	}
	return json.Marshal(plain(v))
}

// TurnStartEvent: A turn begins: one answer of the model and the tool calls in it. The messages
// that lead to the answer come next; one turn_end closes the turn.
type TurnStartEvent struct {
	// Kind of line; always `turn_start`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`
}

// MarshalJSON fills in what every TurnStartEvent has.
func (v TurnStartEvent) MarshalJSON() ([]byte, error) {
	type plain TurnStartEvent
	if v.Type == "" {
		v.Type = "turn_start"
	}
	return json.Marshal(plain(v))
}

// MessageStartEvent: A message begins. User, custom and tool-result messages are whole and their
// message_end follows directly. An assistant message is empty and `pending` (on the dreb wire
// `stop`); when the request failed or was stopped before an answer began, it is the whole error
// message instead and its message_end follows directly.
type MessageStartEvent struct {
	// Kind of line; always `message_start`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// The message so far: whole, except for an assistant message that is about to be written.
	Message AgentMessage `json:"message"`
}

// MarshalJSON fills in what every MessageStartEvent has.
func (v MessageStartEvent) MarshalJSON() ([]byte, error) {
	type plain MessageStartEvent
	if v.Type == "" {
		v.Type = "message_start"
	}
	return json.Marshal(plain(v))
}

// MessageUpdateEvent: A pending assistant message grows by one delta. Comes between its
// message_start and its message_end, any number of times.
type MessageUpdateEvent struct {
	// Kind of line; always `message_update`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// Latest tokens and cost of this request; may stay zero until the answer ends.
	Usage Usage `json:"usage"`

	// The delta.
	AssistantMessageEvent AssistantMessageEvent `json:"assistantMessageEvent"`

	// Name of the tool that the call will run; the requested name when no tool matches. Only with
	// toolcall_start and toolcall_end, absent with any other delta.
	ResolvedToolName *string `json:"resolvedToolName,omitempty"`
}

// MarshalJSON fills in what every MessageUpdateEvent has.
func (v MessageUpdateEvent) MarshalJSON() ([]byte, error) {
	type plain MessageUpdateEvent
	if v.Type == "" {
		v.Type = "message_update"
	}
	return json.Marshal(plain(v))
}

// MessageEndEvent: A message is complete; closes the message_start before it and is what readers
// should keep. With `stopReason` `error` or `aborted` it also closes the blocks that are still
// open, without any text_end, thinking_end or toolcall_end.
type MessageEndEvent struct {
	// Kind of line; always `message_end`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// The final message.
	Message AgentMessage `json:"message"`
}

// MarshalJSON fills in what every MessageEndEvent has.
func (v MessageEndEvent) MarshalJSON() ([]byte, error) {
	type plain MessageEndEvent
	if v.Type == "" {
		v.Type = "message_end"
	}
	return json.Marshal(plain(v))
}

// ToolExecutionStartEvent: The run loop takes up a tool call of the answer, in the order of the
// calls; checks come after it. One tool_execution_end with the same `toolCallId` closes it.
type ToolExecutionStartEvent struct {
	// Kind of line; always `tool_execution_start`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// Id of the tool call.
	ToolCallID string `json:"toolCallId"`

	// Name of the tool that runs, or the name that the model asked for when there is no such tool.
	ToolName string `json:"toolName"`

	// The arguments as the model gave them, usually an object; the best-effort reading when they are
	// not whole JSON.
	Args json.RawMessage `json:"args"`
}

// MarshalJSON fills in what every ToolExecutionStartEvent has.
func (v ToolExecutionStartEvent) MarshalJSON() ([]byte, error) {
	type plain ToolExecutionStartEvent
	if v.Type == "" {
		v.Type = "tool_execution_start"
	}
	return json.Marshal(plain(v))
}

// ToolExecutionUpdateEvent: A running tool reports progress. Comes between the tool_execution_start
// and tool_execution_end of the same `toolCallId`, any number of times.
type ToolExecutionUpdateEvent struct {
	// Kind of line; always `tool_execution_update`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// Id of the tool call.
	ToolCallID string `json:"toolCallId"`

	// Name of the tool that runs, or the name that the model asked for when there is no such tool.
	ToolName string `json:"toolName"`

	// The arguments as the model gave them, usually an object; the best-effort reading when they are
	// not whole JSON.
	Args json.RawMessage `json:"args"`

	// The result so far, whole: it replaces the one before it.
	PartialResult ToolResult `json:"partialResult"`
}

// MarshalJSON fills in what every ToolExecutionUpdateEvent has.
func (v ToolExecutionUpdateEvent) MarshalJSON() ([]byte, error) {
	type plain ToolExecutionUpdateEvent
	if v.Type == "" {
		v.Type = "tool_execution_update"
	}
	return json.Marshal(plain(v))
}

// ToolExecutionEndEvent: A tool call is over, in the order in which calls complete; closes the
// tool_execution_start of the same `toolCallId`. A call that fails its checks ends at once.
type ToolExecutionEndEvent struct {
	// Kind of line; always `tool_execution_end`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// Id of the tool call.
	ToolCallID string `json:"toolCallId"`

	// Name of the tool that runs, or the name that the model asked for when there is no such tool.
	ToolName string `json:"toolName"`

	// What the tool gave back.
	Result ToolResult `json:"result"`

	// True when the tool failed or was not run; for a command, also when it exited with another code
	// than 0.
	IsError bool `json:"isError"`
}

// MarshalJSON fills in what every ToolExecutionEndEvent has.
func (v ToolExecutionEndEvent) MarshalJSON() ([]byte, error) {
	type plain ToolExecutionEndEvent
	if v.Type == "" {
		v.Type = "tool_execution_end"
	}
	return json.Marshal(plain(v))
}

// ToolHookStatusEvent: A hook works on a tool call, between that call's tool_execution_start and
// tool_execution_end. Each hook run is one `start`, any number of `update` and one `end`, held
// together by `hookRunId`.
type ToolHookStatusEvent struct {
	// Kind of line; always `tool_hook_status`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// Id of this run of the hook; unique in the stream.
	HookRunID string `json:"hookRunId"`

	// Point in the call's life at which the hook runs, such as `PreToolUse` or `PostToolUse`.
	HookName string `json:"hookName"`

	// Name of the tool.
	ToolName string `json:"toolName"`

	// Id of the tool call.
	ToolCallID string `json:"toolCallId"`

	// Path of the file that defines the hook, or `<builtin:NAME>`.
	ExtensionPath string `json:"extensionPath"`

	// When the hook run began, in ms since the Unix epoch.
	StartedAt int64 `json:"startedAt"`

	// Where the hook run stands.
	Phase HookPhase `json:"phase"`

	// What the hook is doing, for people: one short plain line.
	StatusMessage string `json:"statusMessage"`

	// When the hook run ended, in ms since the Unix epoch. Absent unless `phase` is `end`.
	CompletedAt *int64 `json:"completedAt,omitempty"`

	// How the hook run ended. Absent unless `phase` is `end`.
	Status HookStatus `json:"status,omitempty"`

	// Why the call was blocked or what broke. Absent unless `status` is `blocked` or `failed`.
	ErrorMessage *string `json:"errorMessage,omitempty"`
}

// MarshalJSON fills in what every ToolHookStatusEvent has.
func (v ToolHookStatusEvent) MarshalJSON() ([]byte, error) {
	type plain ToolHookStatusEvent
	if v.Type == "" {
		v.Type = "tool_hook_status"
	}
	return json.Marshal(plain(v))
}

// TurnEndEvent: A turn is over, after its answer, its tool calls and their result messages; closes
// the turn_start before it.
type TurnEndEvent struct {
	// Kind of line; always `turn_end`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// The answer of this turn, as in its message_end.
	Message AssistantMessage `json:"message"`

	// The tool results of this turn in the order of the calls; empty when no call was taken up.
	ToolResults []ToolResultMessage `json:"toolResults"`
}

// MarshalJSON fills in what every TurnEndEvent has.
func (v TurnEndEvent) MarshalJSON() ([]byte, error) {
	type plain TurnEndEvent
	if v.Type == "" {
		v.Type = "turn_end"
	}
	if v.ToolResults == nil {
		v.ToolResults = []ToolResultMessage{}
	}
	return json.Marshal(plain(v))
}

// AgentEndEvent: A run is over; closes the agent_start before it.
type AgentEndEvent struct {
	// Kind of line; always `agent_end`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// The messages that came up in this run, in the order of their message_end. A retry or a
	// continuation does not repeat the prompt.
	Messages []AgentMessage `json:"messages"`

	// True exactly when an auto_retry_start follows. Going on after a compaction is told by
	// compaction_end instead.
	WillRetry bool `json:"willRetry"`

	// Why the run was stopped from outside. Absent unless its session was replaced.
	AbortCause *AgentAbortCause `json:"abortCause,omitempty"`
}

// MarshalJSON fills in what every AgentEndEvent has.
func (v AgentEndEvent) MarshalJSON() ([]byte, error) {
	type plain AgentEndEvent
	if v.Type == "" {
		v.Type = "agent_end"
	}
	if v.Messages == nil {
		v.Messages = []AgentMessage{}
	}
	return json.Marshal(plain(v))
}

// AutoRetryStartEvent: A failed answer is going to be requested again, from the same model or from
// the next one of a fallback chain; directly after the agent_end of the failed run, before the
// wait. The retry is a run of its own. On the dreb wire it follows the turn_end instead, and the
// retry is a turn. One auto_retry_end closes the whole series, however many auto_retry_start and
// models it has.
type AutoRetryStartEvent struct {
	// Kind of line; always `auto_retry_start`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// Number of the retry, from 1; the first request to a model that takes over is number 1 again.
	Attempt int64 `json:"attempt"`

	// Most retries that are made with one model; one more for a model that takes over, whose first
	// request counts.
	MaxAttempts int64 `json:"maxAttempts"`

	// Wait before the retry, in ms; 0 when another model takes over.
	DelayMs int64 `json:"delayMs"`

	// The error that is being retried. It also names the model that takes over, if one does.
	ErrorMessage string `json:"errorMessage"`
}

// MarshalJSON fills in what every AutoRetryStartEvent has.
func (v AutoRetryStartEvent) MarshalJSON() ([]byte, error) {
	type plain AutoRetryStartEvent
	if v.Type == "" {
		v.Type = "auto_retry_start"
	}
	return json.Marshal(plain(v))
}

// AutoRetryEndEvent: A series of retries is over. On success directly after the message_end of the
// good answer, before its tools and its turn_end; on failure after the agent_end of the last run
// (on the dreb wire: the turn_end of the last turn), or after an auto_retry_start whose wait was
// cut short.
type AutoRetryEndEvent struct {
	// Kind of line; always `auto_retry_end`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// True when a retry brought an answer.
	Success bool `json:"success"`

	// Number of the last retry, from 1: that of the last auto_retry_start.
	Attempt int64 `json:"attempt"`

	// The error that ended the series. Absent on success.
	FinalError *string `json:"finalError,omitempty"`
}

// MarshalJSON fills in what every AutoRetryEndEvent has.
func (v AutoRetryEndEvent) MarshalJSON() ([]byte, error) {
	type plain AutoRetryEndEvent
	if v.Type == "" {
		v.Type = "auto_retry_end"
	}
	return json.Marshal(plain(v))
}

// CompactionStartEvent: The context is being replaced by a summary: between two runs, between two
// turns, or between agent_start and the first turn_start of a run. One compaction_end closes it.
type CompactionStartEvent struct {
	// Kind of line; always `compaction_start`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// What caused it.
	Reason CompactionReason `json:"reason"`

	// Id that start and end of one compaction share. Absent when the producer gives none.
	RequestID *string `json:"requestId,omitempty"`
}

// MarshalJSON fills in what every CompactionStartEvent has.
func (v CompactionStartEvent) MarshalJSON() ([]byte, error) {
	type plain CompactionStartEvent
	if v.Type == "" {
		v.Type = "compaction_start"
	}
	return json.Marshal(plain(v))
}

// CompactionProgressEvent: The summary of a running compaction grows. Comes between
// compaction_start and compaction_end, any number of times. Put together, its lines give the
// `summary` of the result; when a request is made again, a line with `text` takes back what the
// failed one had written.
type CompactionProgressEvent struct {
	// Kind of line; always `compaction_progress`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// What caused the compaction.
	Reason CompactionReason `json:"reason"`

	// The next piece of the summary, to be appended. Absent when `text` is given.
	Delta *string `json:"delta,omitempty"`

	// The whole summary so far, in place of all before it. Absent when `delta` is given.
	Text *string `json:"text,omitempty"`
}

// MarshalJSON fills in what every CompactionProgressEvent has.
func (v CompactionProgressEvent) MarshalJSON() ([]byte, error) {
	type plain CompactionProgressEvent
	if v.Type == "" {
		v.Type = "compaction_progress"
	}
	return json.Marshal(plain(v))
}

// CompactionEndEvent: A compaction is over; closes compaction_start. It stands alone, without a
// start, when the context overflows a second time in a row and no further compaction is tried.
type CompactionEndEvent struct {
	// Kind of line; always `compaction_end`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// What caused it.
	Reason CompactionReason `json:"reason"`

	// The summary and what it replaces. Absent unless the compaction succeeded.
	Result *CompactionResult `json:"result,omitempty"`

	// True when the compaction was cancelled.
	Aborted bool `json:"aborted"`

	// True when a model request follows at once to go on with the work: the one that did not fit is
	// made again, or, between two turns of a run, the next turn begins.
	WillRetry bool `json:"willRetry"`

	// Id that start and end of one compaction share; on the senpi wire only the end has it. Absent
	// when it has no start.
	RequestID *string `json:"requestId,omitempty"`

	// True when the result was taken over, false when the compaction was refused. Absent when there
	// was nothing to decide: it failed, was cancelled, or found nothing to compact, in which case its
	// end follows the start without anything else.
	Accepted *bool `json:"accepted,omitempty"`

	// Why the compaction was refused. Absent unless `accepted` is false.
	RejectionCause CompactionRejectionCause `json:"rejectionCause,omitempty"`

	// What went wrong. Absent when nothing did.
	ErrorMessage *string `json:"errorMessage,omitempty"`

	// Tokens and cost of summary requests that led to no result: they failed, were refused or
	// cancelled. Absent when there is a `result`, which has the usage of all requests, and when none
	// was counted.
	Usage *Usage `json:"usage,omitempty"`
}

// MarshalJSON fills in what every CompactionEndEvent has.
func (v CompactionEndEvent) MarshalJSON() ([]byte, error) {
	type plain CompactionEndEvent
	if v.Type == "" {
		v.Type = "compaction_end"
	}
	return json.Marshal(plain(v))
}

// SummarizationRetryScheduledEvent: The request for a summary failed and is going to be made again;
// before the wait. One summarization_retry_finished closes the series, however many retries it has.
type SummarizationRetryScheduledEvent struct {
	// Kind of line; always `summarization_retry_scheduled`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// Number of the retry, from 1.
	Attempt int64 `json:"attempt"`

	// Most retries that are made.
	MaxAttempts int64 `json:"maxAttempts"`

	// Wait before the retry, in ms.
	DelayMs int64 `json:"delayMs"`

	// The error that is being retried.
	ErrorMessage string `json:"errorMessage"`
}

// MarshalJSON fills in what every SummarizationRetryScheduledEvent has.
func (v SummarizationRetryScheduledEvent) MarshalJSON() ([]byte, error) {
	type plain SummarizationRetryScheduledEvent
	if v.Type == "" {
		v.Type = "summarization_retry_scheduled"
	}
	return json.Marshal(plain(v))
}

// SummarizationRetryAttemptStartEvent: The forms of `summarization_retry_attempt_start` in
// QuipuEvent, told apart by `source`.
type SummarizationRetryAttemptStartEvent struct {
	Value SummarizationRetryAttemptStartEventValue
}

// SummarizationRetryAttemptStartEventValue is one of the pointers that follow, told apart by `source`.
type SummarizationRetryAttemptStartEventValue interface {
	isSummarizationRetryAttemptStartEvent()
}

func (*SummarizationRetryAttemptStartBranchSummaryEvent) isSummarizationRetryAttemptStartEvent() {}
func (*SummarizationRetryAttemptStartCompactionEvent) isSummarizationRetryAttemptStartEvent()    {}
func (*Unknown) isSummarizationRetryAttemptStartEvent()                                          {}

// UnmarshalJSON reads the member that `source` names, and *Unknown where it names none.
func (u *SummarizationRetryAttemptStartEvent) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	tag := tagSource(data)
	var value SummarizationRetryAttemptStartEventValue
	switch tag {
	case "branchSummary":
		value = new(SummarizationRetryAttemptStartBranchSummaryEvent)
	case "compaction":
		value = new(SummarizationRetryAttemptStartCompactionEvent)
	default:
		u.Value = &Unknown{Tag: tag, Raw: append(json.RawMessage(nil), data...)}
		return nil
	}
	if err := json.Unmarshal(data, value); err != nil {
		return err
	}
	u.Value = value
	return nil
}

// MarshalJSON writes the member.
func (u SummarizationRetryAttemptStartEvent) MarshalJSON() ([]byte, error) {
	return json.Marshal(u.Value)
}

// SummarizationRetryFinishedEvent: A series of summary retries is over, well or not; closes the
// summarization_retry_scheduled that began it and is not written without one.
type SummarizationRetryFinishedEvent struct {
	// Kind of line; always `summarization_retry_finished`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`
}

// MarshalJSON fills in what every SummarizationRetryFinishedEvent has.
func (v SummarizationRetryFinishedEvent) MarshalJSON() ([]byte, error) {
	type plain SummarizationRetryFinishedEvent
	if v.Type == "" {
		v.Type = "summarization_retry_finished"
	}
	return json.Marshal(plain(v))
}

// QueueUpdateEvent: The queues of messages that wait for the model have changed; written when one
// is put in, taken out (just before its message_start) or all are dropped.
type QueueUpdateEvent struct {
	// Kind of line; always `queue_update`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// Texts of the messages that go in after the present turn, in order.
	Steering []string `json:"steering"`

	// Texts of the messages that go in when the run would end, in order.
	FollowUp []string `json:"followUp"`
}

// MarshalJSON fills in what every QueueUpdateEvent has.
func (v QueueUpdateEvent) MarshalJSON() ([]byte, error) {
	type plain QueueUpdateEvent
	if v.Type == "" {
		v.Type = "queue_update"
	}
	if v.Steering == nil {
		v.Steering = []string{}
	}
	if v.FollowUp == nil {
		v.FollowUp = []string{}
	}
	return json.Marshal(plain(v))
}

// SessionInfoChangedEvent: The name of the session was set, changed or cleared.
type SessionInfoChangedEvent struct {
	// Kind of line; always `session_info_changed`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// The name now. Absent when it was cleared.
	Name *string `json:"name,omitempty"`
}

// MarshalJSON fills in what every SessionInfoChangedEvent has.
func (v SessionInfoChangedEvent) MarshalJSON() ([]byte, error) {
	type plain SessionInfoChangedEvent
	if v.Type == "" {
		v.Type = "session_info_changed"
	}
	return json.Marshal(plain(v))
}

// ThinkingLevelChangedEvent: The thinking level was changed after the start; requests from now on
// use it. When another model takes over from one that failed, between the auto_retry_start and the
// agent_start. The level at the start of a run is in agent_start.
type ThinkingLevelChangedEvent struct {
	// Kind of line; always `thinking_level_changed`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// The level now in force.
	Level ThinkingLevel `json:"level"`
}

// MarshalJSON fills in what every ThinkingLevelChangedEvent has.
func (v ThinkingLevelChangedEvent) MarshalJSON() ([]byte, error) {
	type plain ThinkingLevelChangedEvent
	if v.Type == "" {
		v.Type = "thinking_level_changed"
	}
	return json.Marshal(plain(v))
}

// ThinkingLevelClampedEvent: A level that was asked for is not offered by the model, so another one
// is used; once for each model and level. For the level asked for on the command line it comes
// after the header, before the first agent_start; for a model that takes over from one that failed,
// before the agent_start of its first run, directly after a thinking_level_changed if there is one.
type ThinkingLevelClampedEvent struct {
	// Kind of line; always `thinking_level_clamped`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// Key of the model's provider.
	Provider string `json:"provider"`

	// Id of the model.
	ModelID string `json:"modelId"`

	// The level that was asked for.
	RequestedLevel ThinkingLevel `json:"requestedLevel"`

	// The level that is used.
	AppliedLevel ThinkingLevel `json:"appliedLevel"`

	// Why it was replaced.
	Reason ThinkingClampReason `json:"reason"`
}

// MarshalJSON fills in what every ThinkingLevelClampedEvent has.
func (v ThinkingLevelClampedEvent) MarshalJSON() ([]byte, error) {
	type plain ThinkingLevelClampedEvent
	if v.Type == "" {
		v.Type = "thinking_level_clamped"
	}
	return json.Marshal(plain(v))
}

// SystemPromptChangeEvent: A change of the model brought another system prompt; requests from now
// on use it.
type SystemPromptChangeEvent struct {
	// Kind of line; always `system_prompt_change`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// The system prompt now in force.
	SystemPrompt string `json:"systemPrompt"`

	// The system prompt until now.
	PreviousSystemPrompt string `json:"previousSystemPrompt"`

	// The model that was chosen.
	Model Model `json:"model"`

	// The model until now. Absent when there was none.
	PreviousModel *Model `json:"previousModel,omitempty"`

	// What brought the change; always `model_select`.
	Source string `json:"source"`

	// Name of the system prompt. Absent when it has none.
	SystemPromptName *string `json:"systemPromptName,omitempty"`
}

// MarshalJSON fills in what every SystemPromptChangeEvent has.
func (v SystemPromptChangeEvent) MarshalJSON() ([]byte, error) {
	type plain SystemPromptChangeEvent
	if v.Type == "" {
		v.Type = "system_prompt_change"
	}
	if v.Source == "" {
		v.Source = "model_select"
	}
	return json.Marshal(plain(v))
}

// TasksUpdateEvent: The model has replaced its task list; written while its tool call runs, between
// that call's tool_execution_start and tool_execution_end.
type TasksUpdateEvent struct {
	// Kind of line; always `tasks_update`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// The whole list; empty when it was cleared.
	Tasks []SessionTask `json:"tasks"`
}

// MarshalJSON fills in what every TasksUpdateEvent has.
func (v TasksUpdateEvent) MarshalJSON() ([]byte, error) {
	type plain TasksUpdateEvent
	if v.Type == "" {
		v.Type = "tasks_update"
	}
	if v.Tasks == nil {
		v.Tasks = []SessionTask{}
	}
	return json.Marshal(plain(v))
}

// SuggestNextEvent: The model suggests what to ask next; written while its tool call runs, between
// that call's tool_execution_start and tool_execution_end.
type SuggestNextEvent struct {
	// Kind of line; always `suggest_next`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// The suggested prompt: one line, never empty.
	Command string `json:"command"`
}

// MarshalJSON fills in what every SuggestNextEvent has.
func (v SuggestNextEvent) MarshalJSON() ([]byte, error) {
	type plain SuggestNextEvent
	if v.Type == "" {
		v.Type = "suggest_next"
	}
	return json.Marshal(plain(v))
}

// BackgroundAgentStartEvent: A background agent was taken on and will start when there is room;
// normally while the tool call that asked for it runs. One background_agent_end with the same
// `agentId` closes it, possibly long after.
type BackgroundAgentStartEvent struct {
	// Kind of line; always `background_agent_start`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// Id of the background agent.
	AgentID string `json:"agentId"`

	// Name of the agent definition that was asked for.
	AgentType string `json:"agentType"`

	// What it is to do, in a few words for people.
	TaskSummary string `json:"taskSummary"`

	// Directory of its session files; may not exist yet. Absent when it keeps no session.
	SessionDir *string `json:"sessionDir,omitempty"`
}

// MarshalJSON fills in what every BackgroundAgentStartEvent has.
func (v BackgroundAgentStartEvent) MarshalJSON() ([]byte, error) {
	type plain BackgroundAgentStartEvent
	if v.Type == "" {
		v.Type = "background_agent_start"
	}
	return json.Marshal(plain(v))
}

// SubagentArbitrationEvent: The arbiter has decided on the route of a background agent; after its
// background_agent_start and before that agent, or that step of a chain, starts. Written only when
// an arbiter is set up; holds nothing of the task or of the arbiter's reasoning.
type SubagentArbitrationEvent struct {
	// Kind of line; always `subagent_arbitration`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// Id of the background agent.
	AgentID string `json:"agentId"`

	// Whether there is a decision.
	Status ArbitrationStatus `json:"status"`

	// The route that was asked for.
	Proposed DispatchRoute `json:"proposed"`

	// The route that is taken; null when the decision failed.
	Final *DispatchRoute `json:"final"`

	// The parts in which the final route differs, in the order agent, model, thinking; empty when it
	// does not differ or there is none.
	Changed []RoutePart `json:"changed"`

	// Number of the step in a chain, from 1. Absent outside chains.
	Step *int64 `json:"step,omitempty"`

	// Why the decision failed, for programs. Absent on success.
	ErrorCode ArbitrationErrorCode `json:"errorCode,omitempty"`

	// Why the decision failed, for people. Absent on success.
	ErrorMessage *string `json:"errorMessage,omitempty"`

	// Tokens and cost of the arbiter's requests. Absent when none was made.
	Usage *Usage `json:"usage,omitempty"`
}

// MarshalJSON fills in what every SubagentArbitrationEvent has.
func (v SubagentArbitrationEvent) MarshalJSON() ([]byte, error) {
	type plain SubagentArbitrationEvent
	if v.Type == "" {
		v.Type = "subagent_arbitration"
	}
	if v.Changed == nil {
		v.Changed = []RoutePart{}
	}
	return json.Marshal(plain(v))
}

// BackgroundAgentEvent: A line that a running background agent wrote to its own stream, passed on
// as it is; between its background_agent_start and background_agent_end.
type BackgroundAgentEvent struct {
	// Kind of line; always `background_agent_event`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// Id of the background agent.
	AgentID string `json:"agentId"`

	// The line of the background agent.
	Event QuipuEvent `json:"event"`
}

// MarshalJSON fills in what every BackgroundAgentEvent has.
func (v BackgroundAgentEvent) MarshalJSON() ([]byte, error) {
	type plain BackgroundAgentEvent
	if v.Type == "" {
		v.Type = "background_agent_event"
	}
	return json.Marshal(plain(v))
}

// BackgroundAgentEndEvent: A background agent is over; closes the background_agent_start of the
// same `agentId`. Its result reaches the model as a user message.
type BackgroundAgentEndEvent struct {
	// Kind of line; always `background_agent_end`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// Id of the background agent.
	AgentID string `json:"agentId"`

	// Name of the agent definition that ran, after arbitration.
	AgentType string `json:"agentType"`

	// True when it ended well.
	Success bool `json:"success"`

	// Model it ran on, as `provider/id`. Absent when it never reached a model, and for chains.
	Model *string `json:"model,omitempty"`

	// Thinking level it ran at. Absent when it never reached a model, and for chains.
	Thinking ThinkingLevel `json:"thinking,omitempty"`

	// The steps of a chain that were carried out, in order. Absent outside chains.
	Steps *[]SubagentStepMetadata `json:"steps,omitempty"`

	// Path of its session file. Absent when none was written, and for chains.
	SessionFile *string `json:"sessionFile,omitempty"`
}

// MarshalJSON fills in what every BackgroundAgentEndEvent has.
func (v BackgroundAgentEndEvent) MarshalJSON() ([]byte, error) {
	type plain BackgroundAgentEndEvent
	if v.Type == "" {
		v.Type = "background_agent_end"
	}
	return json.Marshal(plain(v))
}

// ParentPausedForBackgroundAgentsEvent: The run stops asking the model because it has used its
// turns while background agents are still at work; it goes on when one of them delivers. The
// agent_end of the run follows, except on the dreb wire, where the run is the whole stream.
type ParentPausedForBackgroundAgentsEvent struct {
	// Kind of line; always `parent_paused_for_background_agents`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// Number of background agents at work.
	RunningAgentCount int64 `json:"runningAgentCount"`

	// Turns taken while they were at work.
	TurnsUsed int64 `json:"turnsUsed"`

	// Turns that are allowed meanwhile.
	TurnLimit float64 `json:"turnLimit"`
}

// MarshalJSON fills in what every ParentPausedForBackgroundAgentsEvent has.
func (v ParentPausedForBackgroundAgentsEvent) MarshalJSON() ([]byte, error) {
	type plain ParentPausedForBackgroundAgentsEvent
	if v.Type == "" {
		v.Type = "parent_paused_for_background_agents"
	}
	return json.Marshal(plain(v))
}

// StreamEndEvent: The last line of every stream, exactly once, whatever happened; nothing comes
// after it. Before it everything that is open has been closed by its own end event.
type StreamEndEvent struct {
	// Kind of line; always `stream_end`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// How the process ended.
	Outcome Outcome `json:"outcome"`

	// Exit code of the process: 0 completed, 1 failed, 2 usage, 3 configuration or credentials, 129,
	// 130 or 143 after a signal.
	ExitCode int64 `json:"exitCode"`

	// The error that decided the outcome. Absent when there was none.
	Error *StreamError `json:"error,omitempty"`

	// Tokens and cost of all requests of this stream, its background agents and the decisions about
	// them, each counted once, failed ones included. Of an agent that left no `stream_end` nothing
	// counts.
	Usage Usage `json:"usage"`

	// Number of turn_start lines.
	Turns int64 `json:"turns"`

	// Number of lines written, the header and this one included.
	Lines int64 `json:"lines"`
}

// MarshalJSON fills in what every StreamEndEvent has.
func (v StreamEndEvent) MarshalJSON() ([]byte, error) {
	type plain StreamEndEvent
	if v.Type == "" {
		v.Type = "stream_end"
	}
	return json.Marshal(plain(v))
}

// StreamInfo: Which form of the stream follows, and by which schema it can be checked.
type StreamInfo struct {
	// Form of the stream.
	Wire WireName `json:"wire"`

	// Semantic version of that form's schema.
	Version string `json:"version"`

	// `sha256:` and the lower-case hexadecimal digest of the bytes of the strict schema bundle.
	Schema string `json:"schema"`
}

// ModelRef: Names a model: the provider and the provider's id for it.
type ModelRef struct {
	// Key of the provider in the model list, such as `anthropic` or a local server's name.
	Provider string `json:"provider"`

	// Id of the model within that provider.
	ID string `json:"id"`
}

// ThinkingLevel: How much the model may reason before it answers, from `off` (not at all) upwards
// to `max`. A level that a model does not offer is replaced by one that it does, which
// thinking_level_clamped tells. Known values: `off`, `minimal`, `low`, `medium`, `high`, `xhigh`,
// `max`; a later version may add more.
type ThinkingLevel string

// The values of ThinkingLevel that this package knows.
const (
	ThinkingLevelOff     ThinkingLevel = "off"
	ThinkingLevelMinimal ThinkingLevel = "minimal"
	ThinkingLevelLow     ThinkingLevel = "low"
	ThinkingLevelMedium  ThinkingLevel = "medium"
	ThinkingLevelHigh    ThinkingLevel = "high"
	ThinkingLevelXhigh   ThinkingLevel = "xhigh"
	ThinkingLevelMax     ThinkingLevel = "max"
)

// AgentMessage: A message of the session, told apart by `role`. Only `user`, `assistant`,
// `toolResult` and `custom` messages get message events.
type AgentMessage struct {
	Value AgentMessageValue
}

// AgentMessageValue is one of the pointers that follow, told apart by `role`.
type AgentMessageValue interface {
	isAgentMessage()
}

func (*UserMessage) isAgentMessage()              {}
func (*AssistantMessage) isAgentMessage()         {}
func (*ToolResultMessage) isAgentMessage()        {}
func (*BashExecutionMessage) isAgentMessage()     {}
func (*CustomMessage) isAgentMessage()            {}
func (*BranchSummaryMessage) isAgentMessage()     {}
func (*CompactionSummaryMessage) isAgentMessage() {}
func (*Unknown) isAgentMessage()                  {}

// UnmarshalJSON reads the member that `role` names, and *Unknown where it names none.
func (u *AgentMessage) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	tag := tagRole(data)
	var value AgentMessageValue
	switch tag {
	case "user":
		value = new(UserMessage)
	case "assistant":
		value = new(AssistantMessage)
	case "toolResult":
		value = new(ToolResultMessage)
	case "bashExecution":
		value = new(BashExecutionMessage)
	case "custom":
		value = new(CustomMessage)
	case "branchSummary":
		value = new(BranchSummaryMessage)
	case "compactionSummary":
		value = new(CompactionSummaryMessage)
	default:
		u.Value = &Unknown{Tag: tag, Raw: append(json.RawMessage(nil), data...)}
		return nil
	}
	if err := json.Unmarshal(data, value); err != nil {
		return err
	}
	u.Value = value
	return nil
}

// MarshalJSON writes the member.
func (u AgentMessage) MarshalJSON() ([]byte, error) {
	return json.Marshal(u.Value)
}

// Usage: Tokens and cost of one request, or of all requests where a line says so. All zero until
// the service has reported something.
type Usage struct {
	// Input tokens that were neither read from nor written to a cache.
	Input int64 `json:"input"`

	// Output tokens, reasoning included.
	Output int64 `json:"output"`

	// Input tokens served from the cache.
	CacheRead int64 `json:"cacheRead"`

	// Input tokens written to the cache.
	CacheWrite int64 `json:"cacheWrite"`

	// Tokens of `cacheWrite` that are kept for an hour. Absent when the service does not tell them
	// apart.
	CacheWrite1h *int64 `json:"cacheWrite1h,omitempty"`

	// Tokens of `output` spent on reasoning. Absent when the service does not report them.
	Reasoning *int64 `json:"reasoning,omitempty"`

	// Tokens altogether, as the service reports them, else the sum of input, output, cacheRead and
	// cacheWrite.
	TotalTokens int64 `json:"totalTokens"`

	// The cost in US dollars at the model's prices.
	Cost Cost `json:"cost"`
}

// AssistantMessageEvent: One step in the growth of an assistant message, told apart by `type`.
// Blocks are kept apart by `contentIndex`, and several may be open at once.
type AssistantMessageEvent struct {
	Value AssistantMessageEventValue
}

// AssistantMessageEventValue is one of the pointers that follow, told apart by `type`.
type AssistantMessageEventValue interface {
	isAssistantMessageEvent()
}

func (*TextStart) isAssistantMessageEvent()     {}
func (*TextDelta) isAssistantMessageEvent()     {}
func (*TextEnd) isAssistantMessageEvent()       {}
func (*ThinkingStart) isAssistantMessageEvent() {}
func (*ThinkingDelta) isAssistantMessageEvent() {}
func (*ThinkingEnd) isAssistantMessageEvent()   {}
func (*ToolcallStart) isAssistantMessageEvent() {}
func (*ToolcallDelta) isAssistantMessageEvent() {}
func (*ToolcallEnd) isAssistantMessageEvent()   {}
func (*DoneDelta) isAssistantMessageEvent()     {}
func (*ErrorDelta) isAssistantMessageEvent()    {}
func (*Unknown) isAssistantMessageEvent()       {}

// UnmarshalJSON reads the member that `type` names, and *Unknown where it names none.
func (u *AssistantMessageEvent) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	tag := tagType(data)
	var value AssistantMessageEventValue
	switch tag {
	case "text_start":
		value = new(TextStart)
	case "text_delta":
		value = new(TextDelta)
	case "text_end":
		value = new(TextEnd)
	case "thinking_start":
		value = new(ThinkingStart)
	case "thinking_delta":
		value = new(ThinkingDelta)
	case "thinking_end":
		value = new(ThinkingEnd)
	case "toolcall_start":
		value = new(ToolcallStart)
	case "toolcall_delta":
		value = new(ToolcallDelta)
	case "toolcall_end":
		value = new(ToolcallEnd)
	case "done":
		value = new(DoneDelta)
	case "error":
		value = new(ErrorDelta)
	default:
		u.Value = &Unknown{Tag: tag, Raw: append(json.RawMessage(nil), data...)}
		return nil
	}
	if err := json.Unmarshal(data, value); err != nil {
		return err
	}
	u.Value = value
	return nil
}

// MarshalJSON writes the member.
func (u AssistantMessageEvent) MarshalJSON() ([]byte, error) {
	return json.Marshal(u.Value)
}

// ToolResult: What a tool gives back: blocks for the model and details for programs. A partial
// result has the same shape and replaces the one before it.
type ToolResult struct {
	// The blocks that the model reads; may be empty while a tool is still running.
	Content []InputContent `json:"content"`

	// Whatever the tool reports to programs, in the tool's own shape; the model does not see it.
	// Absent when the tool gives none, an empty object for errors made by the run loop.
	Details json.RawMessage `json:"details,omitempty"`

	// True when no further model request follows this turn. Absent when the tool has nothing to say
	// about it.
	EndTurn *bool `json:"endTurn,omitempty"`
}

// MarshalJSON fills in what every ToolResult has.
func (v ToolResult) MarshalJSON() ([]byte, error) {
	type plain ToolResult
	if v.Content == nil {
		v.Content = []InputContent{}
	}
	return json.Marshal(plain(v))
}

// HookPhase: Where a hook run stands: `start` (it began), `update` (it changed its status text),
// `end` (it is over). Known values: `start`, `update`, `end`; a later version may add more.
type HookPhase string

// The values of HookPhase that this package knows.
const (
	HookPhaseStart  HookPhase = "start"
	HookPhaseUpdate HookPhase = "update"
	HookPhaseEnd    HookPhase = "end"
)

// HookStatus: How a hook run ended: `completed` (it let the call pass), `blocked` (it stopped the
// call), `failed` (the hook itself broke). Known values: `completed`, `blocked`, `failed`; a later
// version may add more.
type HookStatus string

// The values of HookStatus that this package knows.
const (
	HookStatusCompleted HookStatus = "completed"
	HookStatusBlocked   HookStatus = "blocked"
	HookStatusFailed    HookStatus = "failed"
)

// AssistantMessage: An answer of the model. While it is being written its `stopReason` is `pending`
// (on the dreb wire `stop`); message_end carries the final one.
type AssistantMessage struct {
	// Role of the message; always `assistant`.
	Role string `json:"role"`

	// The blocks, in the order of their `contentIndex`; empty in a fresh message.
	Content []AssistantContent `json:"content"`

	// Protocol that was spoken with the service, such as `anthropic-messages`.
	API string `json:"api"`

	// Key of the provider in the model list; `offline` for the built-in model that needs no network.
	Provider string `json:"provider"`

	// Id of the model that was asked.
	Model string `json:"model"`

	// Tokens and cost of this request; zero in a fresh message.
	Usage Usage `json:"usage"`

	// Why the message ended, or `pending`.
	StopReason StopReason `json:"stopReason"`

	// When the request was made, in ms since the Unix epoch.
	Timestamp int64 `json:"timestamp"`

	// Id that the service gave the answer. Absent in a fresh message and when the service gives none.
	ResponseID *string `json:"responseId,omitempty"`

	// Id of the model that really answered. Absent when it is the one that was asked.
	ResponseModel *string `json:"responseModel,omitempty"`

	// What went wrong. Absent unless `stopReason` is `error` or `aborted`.
	ErrorMessage *string `json:"errorMessage,omitempty"`

	// Time from the request to the end of the answer, in ms. Absent in a fresh message.
	DurationMs *float64 `json:"durationMs,omitempty"`
}

// MarshalJSON fills in what every AssistantMessage has.
func (v AssistantMessage) MarshalJSON() ([]byte, error) {
	type plain AssistantMessage
	if v.Role == "" {
		v.Role = "assistant"
	}
	if v.Content == nil {
		v.Content = []AssistantContent{}
	}
	return json.Marshal(plain(v))
}

// ToolResultMessage: The result of one tool call as it goes back to the model.
type ToolResultMessage struct {
	// Role of the message; always `toolResult`.
	Role string `json:"role"`

	// Id of the call that this answers.
	ToolCallID string `json:"toolCallId"`

	// Name of the tool that ran, or the name that the model asked for when there is no such tool.
	ToolName string `json:"toolName"`

	// The blocks that the model reads.
	Content []InputContent `json:"content"`

	// What the tool reports to programs, in the tool's own shape; the model does not see it. Absent
	// when the tool gives none.
	Details json.RawMessage `json:"details,omitempty"`

	// True when the tool failed or was not run; for a command, also when it exited with another code
	// than 0.
	IsError bool `json:"isError"`

	// When the result was made, in ms since the Unix epoch.
	Timestamp int64 `json:"timestamp"`
}

// MarshalJSON fills in what every ToolResultMessage has.
func (v ToolResultMessage) MarshalJSON() ([]byte, error) {
	type plain ToolResultMessage
	if v.Role == "" {
		v.Role = "toolResult"
	}
	if v.Content == nil {
		v.Content = []InputContent{}
	}
	return json.Marshal(plain(v))
}

// AgentAbortCause: Why a run was stopped from outside: its session was replaced by another one.
type AgentAbortCause struct {
	// Kind of cause; always `session_replaced`.
	Type string `json:"type"`

	// How the session was replaced.
	Reason SessionReplaceReason `json:"reason"`
}

// MarshalJSON fills in what every AgentAbortCause has.
func (v AgentAbortCause) MarshalJSON() ([]byte, error) {
	type plain AgentAbortCause
	if v.Type == "" {
		v.Type = "session_replaced"
	}
	return json.Marshal(plain(v))
}

// CompactionReason: What caused a compaction: `manual` (someone asked for it), `threshold` (the
// context came near the window), `overflow` (the service refused the context as too long). Known
// values: `manual`, `threshold`, `overflow`; a later version may add more.
type CompactionReason string

// The values of CompactionReason that this package knows.
const (
	CompactionReasonManual    CompactionReason = "manual"
	CompactionReasonThreshold CompactionReason = "threshold"
	CompactionReasonOverflow  CompactionReason = "overflow"
)

// CompactionResult: The outcome of a compaction: the summary that takes the place of older
// messages, and from where on messages are kept.
type CompactionResult struct {
	// The summary, in Markdown.
	Summary string `json:"summary"`

	// Id of the first session entry that stays in the context as it is.
	FirstKeptEntryID string `json:"firstKeptEntryId"`

	// Tokens in the context before the compaction.
	TokensBefore int64 `json:"tokensBefore"`

	// Tokens and cost of the summary requests. Absent when no model wrote the summary.
	Usage *Usage `json:"usage,omitempty"`

	// Further data on the compaction, by default `readFiles` and `modifiedFiles`, two lists of paths.
	// Absent when there is none.
	Details json.RawMessage `json:"details,omitempty"`

	// Estimated tokens in the context after the compaction. Absent when not estimated.
	EstimatedTokensAfter *int64 `json:"estimatedTokensAfter,omitempty"`
}

// CompactionRejectionCause: Why a compaction was refused: `cancelled-by-extension` (a hook said
// no), `external-owner` (the provider compacts this session itself), `would-overflow` (the result
// would still not fit), `circuit-breaker` (too many failures in a row), `per-turn-cap` (the allowed
// number is used up). Known values: `cancelled-by-extension`, `external-owner`, `would-overflow`,
// `circuit-breaker`, `per-turn-cap`; a later version may add more.
type CompactionRejectionCause string

// The values of CompactionRejectionCause that this package knows.
const (
	CompactionRejectionCauseCancelledByExtension CompactionRejectionCause = "cancelled-by-extension"
	CompactionRejectionCauseExternalOwner        CompactionRejectionCause = "external-owner"
	CompactionRejectionCauseWouldOverflow        CompactionRejectionCause = "would-overflow"
	CompactionRejectionCauseCircuitBreaker       CompactionRejectionCause = "circuit-breaker"
	CompactionRejectionCausePerTurnCap           CompactionRejectionCause = "per-turn-cap"
)

// SummarizationRetryAttemptStartBranchSummaryEvent: The summary of a left branch is requested
// again; after the wait of the summarization_retry_scheduled before it.
type SummarizationRetryAttemptStartBranchSummaryEvent struct {
	// Kind of line; always `summarization_retry_attempt_start`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// What is being summarised; always `branchSummary`.
	Source string `json:"source"`
}

// MarshalJSON fills in what every SummarizationRetryAttemptStartBranchSummaryEvent has.
func (v SummarizationRetryAttemptStartBranchSummaryEvent) MarshalJSON() ([]byte, error) {
	type plain SummarizationRetryAttemptStartBranchSummaryEvent
	if v.Type == "" {
		v.Type = "summarization_retry_attempt_start"
	}
	if v.Source == "" {
		v.Source = "branchSummary"
	}
	return json.Marshal(plain(v))
}

// SummarizationRetryAttemptStartCompactionEvent: The summary of a compaction is requested again;
// after the wait of the summarization_retry_scheduled before it.
type SummarizationRetryAttemptStartCompactionEvent struct {
	// Kind of line; always `summarization_retry_attempt_start`.
	Type string `json:"type"`

	// Number of the line in the written stream, from 0 and without gaps.
	Seq *int64 `json:"seq,omitempty"`

	// When the line was written, in ms since the Unix epoch.
	At *int64 `json:"at,omitempty"`

	// What is being summarised; always `compaction`.
	Source string `json:"source"`

	// What caused the compaction.
	Reason CompactionReason `json:"reason"`
}

// MarshalJSON fills in what every SummarizationRetryAttemptStartCompactionEvent has.
func (v SummarizationRetryAttemptStartCompactionEvent) MarshalJSON() ([]byte, error) {
	type plain SummarizationRetryAttemptStartCompactionEvent
	if v.Type == "" {
		v.Type = "summarization_retry_attempt_start"
	}
	if v.Source == "" {
		v.Source = "compaction"
	}
	return json.Marshal(plain(v))
}

// ThinkingClampReason: Why a thinking level was replaced: `model-not-reasoning` (the model cannot
// reason at all), `level-unsupported` (it can, but not at that level). Known values:
// `model-not-reasoning`, `level-unsupported`; a later version may add more.
type ThinkingClampReason string

// The values of ThinkingClampReason that this package knows.
const (
	ThinkingClampReasonModelNotReasoning ThinkingClampReason = "model-not-reasoning"
	ThinkingClampReasonLevelUnsupported  ThinkingClampReason = "level-unsupported"
)

// Model: A model as the model list knows it. Addresses, headers and keys are left out, because they
// could hold secrets.
type Model struct {
	// Id of the model within its provider.
	ID string `json:"id"`

	// Name for people; equal to `id` when the list gives none.
	Name string `json:"name"`

	// Protocol spoken with the service, such as `anthropic-messages`, `openai-completions`,
	// `openai-responses` or `google-generative-ai`.
	API string `json:"api"`

	// Key of the provider in the model list.
	Provider string `json:"provider"`

	// True when the model can reason before it answers.
	Reasoning bool `json:"reasoning"`

	// Kinds of input that the model takes.
	Input []InputModality `json:"input"`

	// List prices in US dollars per million tokens.
	Cost ModelCost `json:"cost"`

	// Tokens that fit into the model's context. Absent when unknown.
	ContextWindow *int64 `json:"contextWindow,omitempty"`

	// Most tokens that the model writes in one answer. Absent when unknown.
	MaxTokens *int64 `json:"maxTokens,omitempty"`
}

// MarshalJSON fills in what every Model has.
func (v Model) MarshalJSON() ([]byte, error) {
	type plain Model
	if v.Input == nil {
		v.Input = []InputModality{}
	}
	return json.Marshal(plain(v))
}

// SessionTask: One entry of the task list that the model keeps for its work.
type SessionTask struct {
	// Id that the model chose; not necessarily unique.
	ID string `json:"id"`

	// What is to be done, for people.
	Title string `json:"title"`

	// How far it is.
	Status TaskStatus `json:"status"`
}

// ArbitrationStatus: Outcome of one routing decision: `success` (the agent starts with the final
// route), `failure` (no decision, the agent does not start). Known values: `success`, `failure`; a
// later version may add more.
type ArbitrationStatus string

// The values of ArbitrationStatus that this package knows.
const (
	ArbitrationStatusSuccess ArbitrationStatus = "success"
	ArbitrationStatusFailure ArbitrationStatus = "failure"
)

// DispatchRoute: Where a background agent's work goes: which agent definition, on which model, at
// which thinking level.
type DispatchRoute struct {
	// Name of the agent definition.
	Agent string `json:"agent"`

	// The model as `provider/id`; empty when a proposal could not be resolved.
	Model string `json:"model"`

	// Thinking level for that agent.
	Thinking ThinkingLevel `json:"thinking"`
}

// RoutePart: One part of a dispatch route that an arbiter may change: the `agent` definition, the
// `model`, or the `thinking` level. Known values: `agent`, `model`, `thinking`; a later version may
// add more.
type RoutePart string

// The values of RoutePart that this package knows.
const (
	RoutePartAgent    RoutePart = "agent"
	RoutePartModel    RoutePart = "model"
	RoutePartThinking RoutePart = "thinking"
)

// ArbitrationErrorCode: Why a routing decision failed, in groups: settings (`invalid_config`,
// `missing_scope`, `invalid_guide`), the arbiter's own model (`arbiter_model`, `arbiter_thinking`),
// its request (`context_too_large`, `inference_failed`, `timeout`, `aborted`), its answer
// (`malformed_output`, `unknown_agent`, `out_of_scope_model`, `unsupported_thinking`), and the host
// (`internal_error`, `observability_failed`: the decision could not be recorded). Known values:
// `invalid_config`, `missing_scope`, `invalid_guide`, `arbiter_model`, `arbiter_thinking`,
// `context_too_large`, `inference_failed`, `timeout`, `aborted`, `malformed_output`,
// `unknown_agent`, `out_of_scope_model`, `unsupported_thinking`, `internal_error`,
// `observability_failed`; a later version may add more.
type ArbitrationErrorCode string

// The values of ArbitrationErrorCode that this package knows.
const (
	ArbitrationErrorCodeInvalidConfig       ArbitrationErrorCode = "invalid_config"
	ArbitrationErrorCodeMissingScope        ArbitrationErrorCode = "missing_scope"
	ArbitrationErrorCodeInvalidGuide        ArbitrationErrorCode = "invalid_guide"
	ArbitrationErrorCodeArbiterModel        ArbitrationErrorCode = "arbiter_model"
	ArbitrationErrorCodeArbiterThinking     ArbitrationErrorCode = "arbiter_thinking"
	ArbitrationErrorCodeContextTooLarge     ArbitrationErrorCode = "context_too_large"
	ArbitrationErrorCodeInferenceFailed     ArbitrationErrorCode = "inference_failed"
	ArbitrationErrorCodeTimeout             ArbitrationErrorCode = "timeout"
	ArbitrationErrorCodeAborted             ArbitrationErrorCode = "aborted"
	ArbitrationErrorCodeMalformedOutput     ArbitrationErrorCode = "malformed_output"
	ArbitrationErrorCodeUnknownAgent        ArbitrationErrorCode = "unknown_agent"
	ArbitrationErrorCodeOutOfScopeModel     ArbitrationErrorCode = "out_of_scope_model"
	ArbitrationErrorCodeUnsupportedThinking ArbitrationErrorCode = "unsupported_thinking"
	ArbitrationErrorCodeInternalError       ArbitrationErrorCode = "internal_error"
	ArbitrationErrorCodeObservabilityFailed ArbitrationErrorCode = "observability_failed"
)

// SubagentStepMetadata: One step of a chain of background agents that was carried out.
type SubagentStepMetadata struct {
	// Number of the step in the chain, from 1.
	Step int64 `json:"step"`

	// Name of the agent definition that ran it.
	Agent string `json:"agent"`

	// True when the step ended well.
	Success bool `json:"success"`

	// Model it ran on, as `provider/id`. Absent when the step never reached a model.
	Model *string `json:"model,omitempty"`

	// Thinking level it ran at. Absent when the step never reached a model.
	Thinking ThinkingLevel `json:"thinking,omitempty"`
}

// Outcome: How the process ended, the worst of its runs deciding: `completed` (the work was done),
// `failed` (a model, session, start-up or internal error), `aborted` (stopped on request of the
// host), `interrupted` (a signal), `limit` (a limit on turns, cost or time was reached). Known
// values: `completed`, `failed`, `aborted`, `interrupted`, `limit`; a later version may add more.
type Outcome string

// The values of Outcome that this package knows.
const (
	OutcomeCompleted   Outcome = "completed"
	OutcomeFailed      Outcome = "failed"
	OutcomeAborted     Outcome = "aborted"
	OutcomeInterrupted Outcome = "interrupted"
	OutcomeLimit       Outcome = "limit"
)

// StreamError: The error that decided a stream's outcome.
type StreamError struct {
	// What went wrong, for programs.
	Code ErrorCode `json:"code"`

	// What went wrong, for people; never holds a credential.
	Message string `json:"message"`

	// True when the same request may well succeed later.
	Retryable bool `json:"retryable"`
}

// WireName: Name of a form of the event stream: `quipu` (the native one), `senpi` or `dreb` (the
// forms of two other agents). Known values: `quipu`, `senpi`, `dreb`; a later version may add more.
type WireName string

// The values of WireName that this package knows.
const (
	WireNameQuipu WireName = "quipu"
	WireNameSenpi WireName = "senpi"
	WireNameDreb  WireName = "dreb"
)

// UserMessage: What the user said: a prompt, a steered or queued message, or the result of a
// background agent handed to the model.
type UserMessage struct {
	// Role of the message; always `user`.
	Role string `json:"role"`

	// What was said: a string or blocks.
	Content UserContent `json:"content"`

	// When the message was made, in ms since the Unix epoch.
	Timestamp int64 `json:"timestamp"`
}

// MarshalJSON fills in what every UserMessage has.
func (v UserMessage) MarshalJSON() ([]byte, error) {
	type plain UserMessage
	if v.Role == "" {
		v.Role = "user"
	}
	return json.Marshal(plain(v))
}

// BashExecutionMessage: A command that the user, not the model, ran in the session. It is part of
// the state and of session files; no message event is ever written for it.
type BashExecutionMessage struct {
	// Role of the message; always `bashExecution`.
	Role string `json:"role"`

	// The command line.
	Command string `json:"command"`

	// What the command printed, possibly only the end of it.
	Output string `json:"output"`

	// Exit code of the command. Absent when it was killed or never started.
	ExitCode *int64 `json:"exitCode,omitempty"`

	// True when the command was stopped before its end.
	Cancelled bool `json:"cancelled"`

	// True when `output` is not all that was printed.
	Truncated bool `json:"truncated"`

	// Path of a file with the whole output. Absent when nothing was cut off.
	FullOutputPath *string `json:"fullOutputPath,omitempty"`

	// When the command ended, in ms since the Unix epoch.
	Timestamp int64 `json:"timestamp"`

	// True when the model does not get to see the command. Absent when it does.
	ExcludeFromContext *bool `json:"excludeFromContext,omitempty"`
}

// MarshalJSON fills in what every BashExecutionMessage has.
func (v BashExecutionMessage) MarshalJSON() ([]byte, error) {
	type plain BashExecutionMessage
	if v.Role == "" {
		v.Role = "bashExecution"
	}
	return json.Marshal(plain(v))
}

// CustomMessage: A message put into the session by the host, a hook or an extension. The model
// reads it like a user's message.
type CustomMessage struct {
	// Role of the message; always `custom`.
	Role string `json:"role"`

	// Name of the kind of message, chosen by whoever put it in.
	CustomType string `json:"customType"`

	// What it says: a string or blocks.
	Content UserContent `json:"content"`

	// True when it is meant to be shown to people too.
	Display bool `json:"display"`

	// Further data in the sender's own shape; the model does not see it. Absent when there is none.
	Details json.RawMessage `json:"details,omitempty"`

	// When the message was made, in ms since the Unix epoch.
	Timestamp int64 `json:"timestamp"`
}

// MarshalJSON fills in what every CustomMessage has.
func (v CustomMessage) MarshalJSON() ([]byte, error) {
	type plain CustomMessage
	if v.Role == "" {
		v.Role = "custom"
	}
	return json.Marshal(plain(v))
}

// BranchSummaryMessage: The summary of a branch of the session that was left. It is part of the
// state; no message event is ever written for it.
type BranchSummaryMessage struct {
	// Role of the message; always `branchSummary`.
	Role string `json:"role"`

	// What happened on that branch, in Markdown.
	Summary string `json:"summary"`

	// Id of the session entry where the branch ended, or `root`.
	FromID string `json:"fromId"`

	// When the summary was made, in ms since the Unix epoch.
	Timestamp int64 `json:"timestamp"`
}

// MarshalJSON fills in what every BranchSummaryMessage has.
func (v BranchSummaryMessage) MarshalJSON() ([]byte, error) {
	type plain BranchSummaryMessage
	if v.Role == "" {
		v.Role = "branchSummary"
	}
	return json.Marshal(plain(v))
}

// CompactionSummaryMessage: The summary that stands for older messages after a compaction. It is
// part of the state; no message event is ever written for it.
type CompactionSummaryMessage struct {
	// Role of the message; always `compactionSummary`.
	Role string `json:"role"`

	// The summary, in Markdown.
	Summary string `json:"summary"`

	// Tokens in the context before the compaction.
	TokensBefore int64 `json:"tokensBefore"`

	// Further data on the compaction, in the shape of the result's `details`. Absent when there is
	// none.
	Details json.RawMessage `json:"details,omitempty"`

	// When the summary was made, in ms since the Unix epoch.
	Timestamp int64 `json:"timestamp"`
}

// MarshalJSON fills in what every CompactionSummaryMessage has.
func (v CompactionSummaryMessage) MarshalJSON() ([]byte, error) {
	type plain CompactionSummaryMessage
	if v.Role == "" {
		v.Role = "compactionSummary"
	}
	return json.Marshal(plain(v))
}

// Cost: What a request cost, in US dollars, by kind of token. Zero where the model's price is
// unknown or free.
type Cost struct {
	// US dollars for uncached input tokens.
	Input float64 `json:"input"`

	// US dollars for output tokens, reasoning included.
	Output float64 `json:"output"`

	// US dollars for input tokens served from the cache.
	CacheRead float64 `json:"cacheRead"`

	// US dollars for input tokens written to the cache.
	CacheWrite float64 `json:"cacheWrite"`

	// US dollars altogether: the sum of the other four.
	Total float64 `json:"total"`
}

// TextStart: A text block begins, empty. Its text_delta lines follow; text_end closes it.
type TextStart struct {
	// Kind of delta; always `text_start`.
	Type string `json:"type"`

	// Place of the block in the message's `content`, from 0.
	ContentIndex int64 `json:"contentIndex"`
}

// MarshalJSON fills in what every TextStart has.
func (v TextStart) MarshalJSON() ([]byte, error) {
	type plain TextStart
	if v.Type == "" {
		v.Type = "text_start"
	}
	return json.Marshal(plain(v))
}

// TextDelta: The next piece of an open text block.
type TextDelta struct {
	// Kind of delta; always `text_delta`.
	Type string `json:"type"`

	// Place of the block in the message's `content`, from 0.
	ContentIndex int64 `json:"contentIndex"`

	// The piece, to be appended; may be empty.
	Delta string `json:"delta"`
}

// MarshalJSON fills in what every TextDelta has.
func (v TextDelta) MarshalJSON() ([]byte, error) {
	type plain TextDelta
	if v.Type == "" {
		v.Type = "text_delta"
	}
	return json.Marshal(plain(v))
}

// TextEnd: A text block is complete.
type TextEnd struct {
	// Kind of delta; always `text_end`.
	Type string `json:"type"`

	// Place of the block in the message's `content`, from 0.
	ContentIndex int64 `json:"contentIndex"`

	// The whole text: the joined pieces.
	Content string `json:"content"`
}

// MarshalJSON fills in what every TextEnd has.
func (v TextEnd) MarshalJSON() ([]byte, error) {
	type plain TextEnd
	if v.Type == "" {
		v.Type = "text_end"
	}
	return json.Marshal(plain(v))
}

// ThinkingStart: A thinking block begins, empty. Its thinking_delta lines follow, none for a
// redacted block; thinking_end closes it.
type ThinkingStart struct {
	// Kind of delta; always `thinking_start`.
	Type string `json:"type"`

	// Place of the block in the message's `content`, from 0.
	ContentIndex int64 `json:"contentIndex"`
}

// MarshalJSON fills in what every ThinkingStart has.
func (v ThinkingStart) MarshalJSON() ([]byte, error) {
	type plain ThinkingStart
	if v.Type == "" {
		v.Type = "thinking_start"
	}
	return json.Marshal(plain(v))
}

// ThinkingDelta: The next piece of an open thinking block.
type ThinkingDelta struct {
	// Kind of delta; always `thinking_delta`.
	Type string `json:"type"`

	// Place of the block in the message's `content`, from 0.
	ContentIndex int64 `json:"contentIndex"`

	// The piece, to be appended; may be empty.
	Delta string `json:"delta"`
}

// MarshalJSON fills in what every ThinkingDelta has.
func (v ThinkingDelta) MarshalJSON() ([]byte, error) {
	type plain ThinkingDelta
	if v.Type == "" {
		v.Type = "thinking_delta"
	}
	return json.Marshal(plain(v))
}

// ThinkingEnd: A thinking block is complete.
type ThinkingEnd struct {
	// Kind of delta; always `thinking_end`.
	Type string `json:"type"`

	// Place of the block in the message's `content`, from 0.
	ContentIndex int64 `json:"contentIndex"`

	// The whole reasoning: the joined pieces, or a placeholder for a redacted block.
	Content string `json:"content"`
}

// MarshalJSON fills in what every ThinkingEnd has.
func (v ThinkingEnd) MarshalJSON() ([]byte, error) {
	type plain ThinkingEnd
	if v.Type == "" {
		v.Type = "thinking_end"
	}
	return json.Marshal(plain(v))
}

// ToolcallStart: A tool call begins, with no arguments yet. Its toolcall_delta lines follow;
// toolcall_end closes it.
type ToolcallStart struct {
	// Kind of delta; always `toolcall_start`.
	Type string `json:"type"`

	// Place of the block in the message's `content`, from 0.
	ContentIndex int64 `json:"contentIndex"`

	// Id of the call.
	ID string `json:"id"`

	// Name of the tool as the model wrote it.
	ToolName string `json:"toolName"`
}

// MarshalJSON fills in what every ToolcallStart has.
func (v ToolcallStart) MarshalJSON() ([]byte, error) {
	type plain ToolcallStart
	if v.Type == "" {
		v.Type = "toolcall_start"
	}
	return json.Marshal(plain(v))
}

// ToolcallDelta: The next piece of the arguments of an open tool call.
type ToolcallDelta struct {
	// Kind of delta; always `toolcall_delta`.
	Type string `json:"type"`

	// Place of the block in the message's `content`, from 0.
	ContentIndex int64 `json:"contentIndex"`

	// The piece, raw JSON text to be appended; may be empty.
	Delta string `json:"delta"`
}

// MarshalJSON fills in what every ToolcallDelta has.
func (v ToolcallDelta) MarshalJSON() ([]byte, error) {
	type plain ToolcallDelta
	if v.Type == "" {
		v.Type = "toolcall_delta"
	}
	return json.Marshal(plain(v))
}

// ToolcallEnd: A tool call is complete, or will not become more complete.
type ToolcallEnd struct {
	// Kind of delta; always `toolcall_end`.
	Type string `json:"type"`

	// Place of the block in the message's `content`, from 0.
	ContentIndex int64 `json:"contentIndex"`

	// The whole call with its arguments read.
	ToolCall ToolCall `json:"toolCall"`
}

// MarshalJSON fills in what every ToolcallEnd has.
func (v ToolcallEnd) MarshalJSON() ([]byte, error) {
	type plain ToolcallEnd
	if v.Type == "" {
		v.Type = "toolcall_end"
	}
	return json.Marshal(plain(v))
}

// DoneDelta: An answer is complete. Quipu never writes it, message_end says the same; a reader
// meets it only in streams of other producers.
// For readers only: it is never written.
type DoneDelta struct {
	// Kind of delta; always `done`.
	Type string `json:"type"`

	// Why the answer ended.
	Reason StopReason `json:"reason"`

	// The final message.
	Message AssistantMessage `json:"message"`
}

// MarshalJSON fills in what every DoneDelta has.
func (v DoneDelta) MarshalJSON() ([]byte, error) {
	type plain DoneDelta
	if v.Type == "" {
		v.Type = "done"
	}
	return json.Marshal(plain(v))
}

// ErrorDelta: An answer failed or was aborted. Quipu never writes it, message_end says the same; a
// reader meets it only in streams of other producers.
// For readers only: it is never written.
type ErrorDelta struct {
	// Kind of delta; always `error`.
	Type string `json:"type"`

	// `error` or `aborted`.
	Reason StopReason `json:"reason"`

	// The final message, with its error.
	Error AssistantMessage `json:"error"`
}

// MarshalJSON fills in what every ErrorDelta has.
func (v ErrorDelta) MarshalJSON() ([]byte, error) {
	type plain ErrorDelta
	if v.Type == "" {
		v.Type = "error"
	}
	return json.Marshal(plain(v))
}

// InputContent: A block of a user, custom or tool-result message, told apart by `type`.
type InputContent struct {
	Value InputContentValue
}

// InputContentValue is one of the pointers that follow, told apart by `type`.
type InputContentValue interface {
	isInputContent()
}

func (*TextContent) isInputContent()  {}
func (*ImageContent) isInputContent() {}
func (*Unknown) isInputContent()      {}

// UnmarshalJSON reads the member that `type` names, and *Unknown where it names none.
func (u *InputContent) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	tag := tagType(data)
	var value InputContentValue
	switch tag {
	case "text":
		value = new(TextContent)
	case "image":
		value = new(ImageContent)
	default:
		u.Value = &Unknown{Tag: tag, Raw: append(json.RawMessage(nil), data...)}
		return nil
	}
	if err := json.Unmarshal(data, value); err != nil {
		return err
	}
	u.Value = value
	return nil
}

// MarshalJSON writes the member.
func (u InputContent) MarshalJSON() ([]byte, error) {
	return json.Marshal(u.Value)
}

// AssistantContent: A block of an assistant message, told apart by `type`.
type AssistantContent struct {
	Value AssistantContentValue
}

// AssistantContentValue is one of the pointers that follow, told apart by `type`.
type AssistantContentValue interface {
	isAssistantContent()
}

func (*TextContent) isAssistantContent()     {}
func (*ThinkingContent) isAssistantContent() {}
func (*ToolCall) isAssistantContent()        {}
func (*Unknown) isAssistantContent()         {}

// UnmarshalJSON reads the member that `type` names, and *Unknown where it names none.
func (u *AssistantContent) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	tag := tagType(data)
	var value AssistantContentValue
	switch tag {
	case "text":
		value = new(TextContent)
	case "thinking":
		value = new(ThinkingContent)
	case "toolCall":
		value = new(ToolCall)
	default:
		u.Value = &Unknown{Tag: tag, Raw: append(json.RawMessage(nil), data...)}
		return nil
	}
	if err := json.Unmarshal(data, value); err != nil {
		return err
	}
	u.Value = value
	return nil
}

// MarshalJSON writes the member.
func (u AssistantContent) MarshalJSON() ([]byte, error) {
	return json.Marshal(u.Value)
}

// StopReason: Why an assistant message stands where it stands: `pending` (still being written, only
// before its message_end, never on the dreb wire), `stop` (the model finished), `length` (cut at
// the output limit), `toolUse` (the model waits for tool results), `error` (the request or the
// answer failed), `aborted` (stopped from our side). Known values: `pending`, `stop`, `length`,
// `toolUse`, `error`, `aborted`; a later version may add more.
type StopReason string

// The values of StopReason that this package knows.
const (
	StopReasonPending StopReason = "pending"
	StopReasonStop    StopReason = "stop"
	StopReasonLength  StopReason = "length"
	StopReasonToolUse StopReason = "toolUse"
	StopReasonError   StopReason = "error"
	StopReasonAborted StopReason = "aborted"
)

// SessionReplaceReason: How the session of an aborted run was replaced: `new` (an empty one),
// `resume` (an earlier one was opened), `fork` (a copy of one was opened). Known values: `new`,
// `resume`, `fork`; a later version may add more.
type SessionReplaceReason string

// The values of SessionReplaceReason that this package knows.
const (
	SessionReplaceReasonNew    SessionReplaceReason = "new"
	SessionReplaceReasonResume SessionReplaceReason = "resume"
	SessionReplaceReasonFork   SessionReplaceReason = "fork"
)

// InputModality: A kind of input that a model takes: `text` or `image`. Known values: `text`,
// `image`; a later version may add more.
type InputModality string

// The values of InputModality that this package knows.
const (
	InputModalityText  InputModality = "text"
	InputModalityImage InputModality = "image"
)

// ModelCost: List prices of a model in US dollars per million tokens. Zero means free or unknown.
type ModelCost struct {
	// US dollars per million uncached input tokens.
	Input float64 `json:"input"`

	// US dollars per million output tokens.
	Output float64 `json:"output"`

	// US dollars per million input tokens read from the cache.
	CacheRead float64 `json:"cacheRead"`

	// US dollars per million input tokens written to the cache.
	CacheWrite float64 `json:"cacheWrite"`
}

// TaskStatus: State of one entry of the task list: `pending` (not begun), `in_progress` (being
// worked on), `completed` (done). Known values: `pending`, `in_progress`, `completed`; a later
// version may add more.
type TaskStatus string

// The values of TaskStatus that this package knows.
const (
	TaskStatusPending    TaskStatus = "pending"
	TaskStatusInProgress TaskStatus = "in_progress"
	TaskStatusCompleted  TaskStatus = "completed"
)

// ErrorCode: What went wrong, for programs. From the model service: `auth` (the key was refused),
// `rate_limited`, `overloaded`, `context_overflow`, `quota`, `invalid_request`, `content_refused`,
// `network`, `timeout`, `provider_error` (anything else it sent). From this side: `usage` (bad
// flag, value or input file), `configuration` (settings or model list), `credentials` (no key
// found), `session` (not readable or not writable), `limit`, `interrupted`, `internal`. Known
// values: `auth`, `rate_limited`, `overloaded`, `context_overflow`, `quota`, `invalid_request`,
// `content_refused`, `network`, `timeout`, `provider_error`, `usage`, `configuration`,
// `credentials`, `session`, `limit`, `interrupted`, `internal`; a later version may add more.
type ErrorCode string

// The values of ErrorCode that this package knows.
const (
	ErrorCodeAuth            ErrorCode = "auth"
	ErrorCodeRateLimited     ErrorCode = "rate_limited"
	ErrorCodeOverloaded      ErrorCode = "overloaded"
	ErrorCodeContextOverflow ErrorCode = "context_overflow"
	ErrorCodeQuota           ErrorCode = "quota"
	ErrorCodeInvalidRequest  ErrorCode = "invalid_request"
	ErrorCodeContentRefused  ErrorCode = "content_refused"
	ErrorCodeNetwork         ErrorCode = "network"
	ErrorCodeTimeout         ErrorCode = "timeout"
	ErrorCodeProviderError   ErrorCode = "provider_error"
	ErrorCodeUsage           ErrorCode = "usage"
	ErrorCodeConfiguration   ErrorCode = "configuration"
	ErrorCodeCredentials     ErrorCode = "credentials"
	ErrorCodeSession         ErrorCode = "session"
	ErrorCodeLimit           ErrorCode = "limit"
	ErrorCodeInterrupted     ErrorCode = "interrupted"
	ErrorCodeInternal        ErrorCode = "internal"
)

// UserContent: What a user or custom message says: a plain string, or an array of blocks. Prompts
// are written as blocks; a string comes from a session file or a hook.
type UserContent struct {
	// The whole content as one text. Used while Items is nil.
	Text string

	// The blocks in order. Nil for a string.
	Items []InputContent
}

// UnmarshalJSON reads a string or an array.
func (v *UserContent) UnmarshalJSON(data []byte) error {
	*v = UserContent{}
	if bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, &v.Items)
	}
	return json.Unmarshal(data, &v.Text)
}

// MarshalJSON writes the array if there is one, else the string.
func (v UserContent) MarshalJSON() ([]byte, error) {
	if v.Items != nil {
		return json.Marshal(v.Items)
	}
	return json.Marshal(v.Text)
}

// ToolCall: A block in which the model asks for a tool to be run.
type ToolCall struct {
	// Kind of block; always `toolCall`.
	Type string `json:"type"`

	// Id of the call, by which its execution and its result refer to it; unique within a message.
	ID string `json:"id"`

	// Name of the tool as the model wrote it.
	Name string `json:"name"`

	// The arguments; for a call that never became whole, the best-effort reading of what arrived.
	Arguments json.RawMessage `json:"arguments"`

	// Opaque token of the service that must be sent back with the call. Absent when the service gave
	// none.
	ThoughtSignature *string `json:"thoughtSignature,omitempty"`

	// Always true: the arguments never became whole JSON, so the call is not executed. Absent for a
	// whole call.
	Incomplete *bool `json:"incomplete,omitempty"`

	// What was wrong with the arguments. Absent for a whole call.
	ErrorMessage *string `json:"errorMessage,omitempty"`
}

// MarshalJSON fills in what every ToolCall has.
func (v ToolCall) MarshalJSON() ([]byte, error) {
	type plain ToolCall
	if v.Type == "" {
		v.Type = "toolCall"
	}
	if v.Arguments == nil {
		v.Arguments = json.RawMessage("{}")
	}
	return json.Marshal(plain(v))
}

// TextContent: A block of text in a message.
type TextContent struct {
	// Kind of block; always `text`.
	Type string `json:"type"`

	// The text; may be empty.
	Text string `json:"text"`

	// Opaque token of the service that must be sent back with the block. Absent when the service gave
	// none.
	TextSignature *string `json:"textSignature,omitempty"`
}

// MarshalJSON fills in what every TextContent has.
func (v TextContent) MarshalJSON() ([]byte, error) {
	type plain TextContent
	if v.Type == "" {
		v.Type = "text"
	}
	return json.Marshal(plain(v))
}

// ImageContent: An image in a user, custom or tool-result message.
type ImageContent struct {
	// Kind of block; always `image`.
	Type string `json:"type"`

	// The bytes of the image in standard base64.
	Data string `json:"data"`

	// Media type, such as `image/png`.
	MimeType string `json:"mimeType"`
}

// MarshalJSON fills in what every ImageContent has.
func (v ImageContent) MarshalJSON() ([]byte, error) {
	type plain ImageContent
	if v.Type == "" {
		v.Type = "image"
	}
	return json.Marshal(plain(v))
}

// ThinkingContent: A block of the model's reasoning in an assistant message.
type ThinkingContent struct {
	// Kind of block; always `thinking`.
	Type string `json:"type"`

	// The reasoning as text; a placeholder when the block is redacted.
	Thinking string `json:"thinking"`

	// Opaque token of the service that must be sent back with the block; holds the encrypted reasoning
	// of a redacted block. Absent when the service gave none.
	ThinkingSignature *string `json:"thinkingSignature,omitempty"`

	// Always true: the service withheld the reasoning. Absent for a readable block.
	Redacted *bool `json:"redacted,omitempty"`
}

// MarshalJSON fills in what every ThinkingContent has.
func (v ThinkingContent) MarshalJSON() ([]byte, error) {
	type plain ThinkingContent
	if v.Type == "" {
		v.Type = "thinking"
	}
	return json.Marshal(plain(v))
}

// Unknown is a member of a union that this package does not know.
type Unknown struct {
	// The value of the discriminator, empty if there is none.
	Tag string

	// The member as it was read.
	Raw json.RawMessage
}

// MarshalJSON writes the member as it was read.
func (v Unknown) MarshalJSON() ([]byte, error) {
	return v.Raw.MarshalJSON()
}

func tagRole(data []byte) string {
	var tag struct {
		Value any `json:"role"`
	}
	// What is no object has no discriminator.
	_ = json.Unmarshal(data, &tag)
	text, _ := tag.Value.(string)
	return text
}

func tagSource(data []byte) string {
	var tag struct {
		Value any `json:"source"`
	}
	// What is no object has no discriminator.
	_ = json.Unmarshal(data, &tag)
	text, _ := tag.Value.(string)
	return text
}

func tagType(data []byte) string {
	var tag struct {
		Value any `json:"type"`
	}
	// What is no object has no discriminator.
	_ = json.Unmarshal(data, &tag)
	text, _ := tag.Value.(string)
	return text
}
