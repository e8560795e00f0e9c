// Code generated from the schema by `quipu schema generate go --wire dreb`. DO NOT EDIT.

// Package dreb has the types of a line of JSON that DrebEvent describes.
//
// Unmarshal a line into a DrebEvent and switch over its Value:
//
//	var line dreb.DrebEvent
//	if err := json.Unmarshal(data, &line); err != nil { … }
//	switch value := line.Value.(type) { … }
//
// A later version may add members to a union, fields to an object, and values to a string type.
// Members that this package does not know are read as *Unknown and written as they were, new
// values are kept, and new fields are passed over. A pointer that is nil, an empty
// json.RawMessage and an empty value of a string type stand for an absent field. Fields with one
// possible value, such as the discriminators, are filled in by MarshalJSON.
package dreb

import (
	"bytes"
	"encoding/json"
)

// SchemaVersion is the version of the schema that this was made from.
const SchemaVersion = "1.0.0"

// DrebEvent: One line of a stream in the dreb form, told apart by `type`. The header comes first,
// then one agent_start, and one agent_end last; all else lies between them. The order is in
// grammar.json. Readers skip a line whose `type` they do not know.
type DrebEvent struct {
	Value DrebEventValue
}

// DrebEventValue is one of the pointers that follow, told apart by `type`.
type DrebEventValue interface {
	isDrebEvent()
}

func (*DrebSessionHeader) isDrebEvent()                    {}
func (*AgentStartEvent) isDrebEvent()                      {}
func (*TurnStartEvent) isDrebEvent()                       {}
func (*MessageStartEvent) isDrebEvent()                    {}
func (*DrebMessageUpdateEvent) isDrebEvent()               {}
func (*MessageEndEvent) isDrebEvent()                      {}
func (*ToolExecutionStartEvent) isDrebEvent()              {}
func (*ToolExecutionUpdateEvent) isDrebEvent()             {}
func (*ToolExecutionEndEvent) isDrebEvent()                {}
func (*TurnEndEvent) isDrebEvent()                         {}
func (*AutoRetryStartEvent) isDrebEvent()                  {}
func (*AutoRetryEndEvent) isDrebEvent()                    {}
func (*DrebAutoCompactionStartEvent) isDrebEvent()         {}
func (*DrebAutoCompactionEndEvent) isDrebEvent()           {}
func (*DrebSessionNameChangedEvent) isDrebEvent()          {}
func (*TasksUpdateEvent) isDrebEvent()                     {}
func (*SuggestNextEvent) isDrebEvent()                     {}
func (*BackgroundAgentStartEvent) isDrebEvent()            {}
func (*DrebSubagentArbitrationEvent) isDrebEvent()         {}
func (*DrebBackgroundAgentEvent) isDrebEvent()             {}
func (*BackgroundAgentEndEvent) isDrebEvent()              {}
func (*ParentPausedForBackgroundAgentsEvent) isDrebEvent() {}
func (*DrebAgentEndEvent) isDrebEvent()                    {}
func (*Unknown) isDrebEvent()                              {}

// UnmarshalJSON reads the member that `type` names, and *Unknown where it names none.
func (u *DrebEvent) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	tag := tagType(data)
	var value DrebEventValue
	switch tag {
	case "session":
		value = new(DrebSessionHeader)
	case "agent_start":
		value = new(AgentStartEvent)
	case "turn_start":
		value = new(TurnStartEvent)
	case "message_start":
		value = new(MessageStartEvent)
	case "message_update":
		value = new(DrebMessageUpdateEvent)
	case "message_end":
		value = new(MessageEndEvent)
	case "tool_execution_start":
		value = new(ToolExecutionStartEvent)
	case "tool_execution_update":
		value = new(ToolExecutionUpdateEvent)
	case "tool_execution_end":
		value = new(ToolExecutionEndEvent)
	case "turn_end":
		value = new(TurnEndEvent)
	case "auto_retry_start":
		value = new(AutoRetryStartEvent)
	case "auto_retry_end":
		value = new(AutoRetryEndEvent)
	case "auto_compaction_start":
		value = new(DrebAutoCompactionStartEvent)
	case "auto_compaction_end":
		value = new(DrebAutoCompactionEndEvent)
	case "session_name_changed":
		value = new(DrebSessionNameChangedEvent)
	case "tasks_update":
		value = new(TasksUpdateEvent)
	case "suggest_next":
		value = new(SuggestNextEvent)
	case "background_agent_start":
		value = new(BackgroundAgentStartEvent)
	case "subagent_arbitration":
		value = new(DrebSubagentArbitrationEvent)
	case "background_agent_event":
		value = new(DrebBackgroundAgentEvent)
	case "background_agent_end":
		value = new(BackgroundAgentEndEvent)
	case "parent_paused_for_background_agents":
		value = new(ParentPausedForBackgroundAgentsEvent)
	case "agent_end":
		value = new(DrebAgentEndEvent)
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
func (u DrebEvent) MarshalJSON() ([]byte, error) {
	return json.Marshal(u.Value)
}

// DrebSessionHeader: The first line of every dreb stream, exactly once, written before standard
// input is read and before any request. It is the session alone and says nothing of the form of the
// lines. A resumed session shows its stored id, time and directory; its earlier messages are not
// repeated.
type DrebSessionHeader struct {
	// Kind of line; always `session`.
	Type string `json:"type"`

	// Version of the session format; always 3.
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
}

// MarshalJSON fills in what every DrebSessionHeader has.
func (v DrebSessionHeader) MarshalJSON() ([]byte, error) {
	type plain DrebSessionHeader
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

// DrebMessageUpdateEvent: An assistant message grows by one delta. Comes between its message_start
// and its message_end, any number of times; each line repeats the whole message twice, so the lines
// get longer with the answer.
type DrebMessageUpdateEvent struct {
	// Kind of line; always `message_update`.
	Type string `json:"type"`

	// The delta, with the message in `partial`.
	AssistantMessageEvent DrebAssistantMessageEvent `json:"assistantMessageEvent"`

	// The whole message so far, this delta included, with `stopReason` still `stop`; message_end has
	// the final one.
	Message AssistantMessage `json:"message"`
}

// MarshalJSON fills in what every DrebMessageUpdateEvent has.
func (v DrebMessageUpdateEvent) MarshalJSON() ([]byte, error) {
	type plain DrebMessageUpdateEvent
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

// TurnEndEvent: A turn is over, after its answer, its tool calls and their result messages; closes
// the turn_start before it.
type TurnEndEvent struct {
	// Kind of line; always `turn_end`.
	Type string `json:"type"`

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

// AutoRetryStartEvent: A failed answer is going to be requested again, from the same model or from
// the next one of a fallback chain; directly after the agent_end of the failed run, before the
// wait. The retry is a run of its own. On the dreb wire it follows the turn_end instead, and the
// retry is a turn. One auto_retry_end closes the whole series, however many auto_retry_start and
// models it has.
type AutoRetryStartEvent struct {
	// Kind of line; always `auto_retry_start`.
	Type string `json:"type"`

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

// DrebAutoCompactionStartEvent: The context is being replaced by a summary, between two turns or
// before the first. One auto_compaction_end closes it before the next turn. A compaction that
// someone asked for is not shown.
type DrebAutoCompactionStartEvent struct {
	// Kind of line; always `auto_compaction_start`.
	Type string `json:"type"`

	// What caused it.
	Reason DrebCompactionReason `json:"reason"`
}

// MarshalJSON fills in what every DrebAutoCompactionStartEvent has.
func (v DrebAutoCompactionStartEvent) MarshalJSON() ([]byte, error) {
	type plain DrebAutoCompactionStartEvent
	if v.Type == "" {
		v.Type = "auto_compaction_start"
	}
	return json.Marshal(plain(v))
}

// DrebAutoCompactionEndEvent: An automatic compaction is over; closes auto_compaction_start. It
// stands alone, without a start, when the context overflows a second time in a row and no further
// compaction is tried.
type DrebAutoCompactionEndEvent struct {
	// Kind of line; always `auto_compaction_end`.
	Type string `json:"type"`

	// The summary and what it replaces. Absent unless the compaction succeeded.
	Result *DrebCompactionResult `json:"result,omitempty"`

	// True when the compaction was cancelled.
	Aborted bool `json:"aborted"`

	// True when a model request follows at once to go on with the work, be it a failed answer asked
	// for again or the next turn of the same work.
	WillRetry bool `json:"willRetry"`

	// What went wrong. Absent when nothing did.
	ErrorMessage *string `json:"errorMessage,omitempty"`
}

// MarshalJSON fills in what every DrebAutoCompactionEndEvent has.
func (v DrebAutoCompactionEndEvent) MarshalJSON() ([]byte, error) {
	type plain DrebAutoCompactionEndEvent
	if v.Type == "" {
		v.Type = "auto_compaction_end"
	}
	return json.Marshal(plain(v))
}

// DrebSessionNameChangedEvent: The name of the session was set, changed or cleared.
type DrebSessionNameChangedEvent struct {
	// Kind of line; always `session_name_changed`.
	Type string `json:"type"`

	// The name now; empty when it was cleared.
	Name string `json:"name"`
}

// MarshalJSON fills in what every DrebSessionNameChangedEvent has.
func (v DrebSessionNameChangedEvent) MarshalJSON() ([]byte, error) {
	type plain DrebSessionNameChangedEvent
	if v.Type == "" {
		v.Type = "session_name_changed"
	}
	return json.Marshal(plain(v))
}

// TasksUpdateEvent: The model has replaced its task list; written while its tool call runs, between
// that call's tool_execution_start and tool_execution_end.
type TasksUpdateEvent struct {
	// Kind of line; always `tasks_update`.
	Type string `json:"type"`

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

// DrebSubagentArbitrationEvent: The arbiter has decided on the route of a background agent; after
// its background_agent_start and before that agent, or that step of a chain, starts. Written only
// when an arbiter is set up; holds nothing of the task or of the arbiter's reasoning. What the
// decision cost is not told.
type DrebSubagentArbitrationEvent struct {
	// Kind of line; always `subagent_arbitration`.
	Type string `json:"type"`

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
}

// MarshalJSON fills in what every DrebSubagentArbitrationEvent has.
func (v DrebSubagentArbitrationEvent) MarshalJSON() ([]byte, error) {
	type plain DrebSubagentArbitrationEvent
	if v.Type == "" {
		v.Type = "subagent_arbitration"
	}
	if v.Changed == nil {
		v.Changed = []RoutePart{}
	}
	return json.Marshal(plain(v))
}

// DrebBackgroundAgentEvent: A line of a running background agent's own stream, in this same form;
// between its background_agent_start and background_agent_end. The header of that stream is not
// passed on.
type DrebBackgroundAgentEvent struct {
	// Kind of line; always `background_agent_event`.
	Type string `json:"type"`

	// Id of the background agent.
	AgentID string `json:"agentId"`

	// The line of the background agent; never a `session` line.
	Event DrebEvent `json:"event"`
}

// MarshalJSON fills in what every DrebBackgroundAgentEvent has.
func (v DrebBackgroundAgentEvent) MarshalJSON() ([]byte, error) {
	type plain DrebBackgroundAgentEvent
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

// DrebAgentEndEvent: The work is over: the last line of the stream, exactly once, after every
// prompt, retry, compaction and background agent, and after a start-up failure too. A stream
// without it was interrupted by a signal.
type DrebAgentEndEvent struct {
	// Kind of line; always `agent_end`.
	Type string `json:"type"`

	// The messages of the whole stream, failed attempts included, in the order of their message_end;
	// empty when nothing was asked.
	Messages []AgentMessage `json:"messages"`
}

// MarshalJSON fills in what every DrebAgentEndEvent has.
func (v DrebAgentEndEvent) MarshalJSON() ([]byte, error) {
	type plain DrebAgentEndEvent
	if v.Type == "" {
		v.Type = "agent_end"
	}
	if v.Messages == nil {
		v.Messages = []AgentMessage{}
	}
	return json.Marshal(plain(v))
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

// DrebAssistantMessageEvent: One step in the growth of an assistant message with the message that
// it leads to, told apart by `type`. Blocks are kept apart by `contentIndex`, and several may be
// open at once.
type DrebAssistantMessageEvent struct {
	Value DrebAssistantMessageEventValue
}

// DrebAssistantMessageEventValue is one of the pointers that follow, told apart by `type`.
type DrebAssistantMessageEventValue interface {
	isDrebAssistantMessageEvent()
}

func (*DrebTextStart) isDrebAssistantMessageEvent()     {}
func (*DrebTextDelta) isDrebAssistantMessageEvent()     {}
func (*DrebTextEnd) isDrebAssistantMessageEvent()       {}
func (*DrebThinkingStart) isDrebAssistantMessageEvent() {}
func (*DrebThinkingDelta) isDrebAssistantMessageEvent() {}
func (*DrebThinkingEnd) isDrebAssistantMessageEvent()   {}
func (*DrebToolcallStart) isDrebAssistantMessageEvent() {}
func (*DrebToolcallDelta) isDrebAssistantMessageEvent() {}
func (*DrebToolcallEnd) isDrebAssistantMessageEvent()   {}
func (*DoneDelta) isDrebAssistantMessageEvent()         {}
func (*ErrorDelta) isDrebAssistantMessageEvent()        {}
func (*Unknown) isDrebAssistantMessageEvent()           {}

// UnmarshalJSON reads the member that `type` names, and *Unknown where it names none.
func (u *DrebAssistantMessageEvent) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	tag := tagType(data)
	var value DrebAssistantMessageEventValue
	switch tag {
	case "text_start":
		value = new(DrebTextStart)
	case "text_delta":
		value = new(DrebTextDelta)
	case "text_end":
		value = new(DrebTextEnd)
	case "thinking_start":
		value = new(DrebThinkingStart)
	case "thinking_delta":
		value = new(DrebThinkingDelta)
	case "thinking_end":
		value = new(DrebThinkingEnd)
	case "toolcall_start":
		value = new(DrebToolcallStart)
	case "toolcall_delta":
		value = new(DrebToolcallDelta)
	case "toolcall_end":
		value = new(DrebToolcallEnd)
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
func (u DrebAssistantMessageEvent) MarshalJSON() ([]byte, error) {
	return json.Marshal(u.Value)
}

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

// DrebCompactionReason: What caused an automatic compaction: `threshold` (the context came near the
// window), `overflow` (the service refused the context as too long). Known values: `threshold`,
// `overflow`; a later version may add more.
type DrebCompactionReason string

// The values of DrebCompactionReason that this package knows.
const (
	DrebCompactionReasonThreshold DrebCompactionReason = "threshold"
	DrebCompactionReasonOverflow  DrebCompactionReason = "overflow"
)

// DrebCompactionResult: The outcome of a compaction: the summary that takes the place of older
// messages, and from where on messages are kept. What the summary cost is not told.
type DrebCompactionResult struct {
	// The summary, in Markdown.
	Summary string `json:"summary"`

	// Id of the first session entry that stays in the context as it is.
	FirstKeptEntryID string `json:"firstKeptEntryId"`

	// Tokens in the context before the compaction.
	TokensBefore int64 `json:"tokensBefore"`

	// Further data on the compaction, by default `readFiles` and `modifiedFiles`, two lists of paths.
	// Absent when there is none.
	Details json.RawMessage `json:"details,omitempty"`
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

// DrebTextStart: A text block begins, empty. Its text_delta lines follow; text_end closes it.
type DrebTextStart struct {
	// Kind of delta; always `text_start`.
	Type string `json:"type"`

	// Place of the block in the message's `content`, from 0.
	ContentIndex int64 `json:"contentIndex"`

	// The whole message so far, this step included; the same as the `message` of the line.
	Partial AssistantMessage `json:"partial"`
}

// MarshalJSON fills in what every DrebTextStart has.
func (v DrebTextStart) MarshalJSON() ([]byte, error) {
	type plain DrebTextStart
	if v.Type == "" {
		v.Type = "text_start"
	}
	return json.Marshal(plain(v))
}

// DrebTextDelta: The next piece of an open text block.
type DrebTextDelta struct {
	// Kind of delta; always `text_delta`.
	Type string `json:"type"`

	// Place of the block in the message's `content`, from 0.
	ContentIndex int64 `json:"contentIndex"`

	// The piece; `partial` has it already appended. May be empty.
	Delta string `json:"delta"`

	// The whole message so far, this step included; the same as the `message` of the line.
	Partial AssistantMessage `json:"partial"`
}

// MarshalJSON fills in what every DrebTextDelta has.
func (v DrebTextDelta) MarshalJSON() ([]byte, error) {
	type plain DrebTextDelta
	if v.Type == "" {
		v.Type = "text_delta"
	}
	return json.Marshal(plain(v))
}

// DrebTextEnd: A text block is complete.
type DrebTextEnd struct {
	// Kind of delta; always `text_end`.
	Type string `json:"type"`

	// Place of the block in the message's `content`, from 0.
	ContentIndex int64 `json:"contentIndex"`

	// The whole text: the joined pieces.
	Content string `json:"content"`

	// The whole message so far, this step included; the same as the `message` of the line.
	Partial AssistantMessage `json:"partial"`
}

// MarshalJSON fills in what every DrebTextEnd has.
func (v DrebTextEnd) MarshalJSON() ([]byte, error) {
	type plain DrebTextEnd
	if v.Type == "" {
		v.Type = "text_end"
	}
	return json.Marshal(plain(v))
}

// DrebThinkingStart: A thinking block begins, empty. Its thinking_delta lines follow, none for a
// redacted block; thinking_end closes it.
type DrebThinkingStart struct {
	// Kind of delta; always `thinking_start`.
	Type string `json:"type"`

	// Place of the block in the message's `content`, from 0.
	ContentIndex int64 `json:"contentIndex"`

	// The whole message so far, this step included; the same as the `message` of the line.
	Partial AssistantMessage `json:"partial"`
}

// MarshalJSON fills in what every DrebThinkingStart has.
func (v DrebThinkingStart) MarshalJSON() ([]byte, error) {
	type plain DrebThinkingStart
	if v.Type == "" {
		v.Type = "thinking_start"
	}
	return json.Marshal(plain(v))
}

// DrebThinkingDelta: The next piece of an open thinking block.
type DrebThinkingDelta struct {
	// Kind of delta; always `thinking_delta`.
	Type string `json:"type"`

	// Place of the block in the message's `content`, from 0.
	ContentIndex int64 `json:"contentIndex"`

	// The piece; `partial` has it already appended. May be empty.
	Delta string `json:"delta"`

	// The whole message so far, this step included; the same as the `message` of the line.
	Partial AssistantMessage `json:"partial"`
}

// MarshalJSON fills in what every DrebThinkingDelta has.
func (v DrebThinkingDelta) MarshalJSON() ([]byte, error) {
	type plain DrebThinkingDelta
	if v.Type == "" {
		v.Type = "thinking_delta"
	}
	return json.Marshal(plain(v))
}

// DrebThinkingEnd: A thinking block is complete.
type DrebThinkingEnd struct {
	// Kind of delta; always `thinking_end`.
	Type string `json:"type"`

	// Place of the block in the message's `content`, from 0.
	ContentIndex int64 `json:"contentIndex"`

	// The whole reasoning: the joined pieces, or a placeholder for a redacted block.
	Content string `json:"content"`

	// The whole message so far, this step included; the same as the `message` of the line.
	Partial AssistantMessage `json:"partial"`
}

// MarshalJSON fills in what every DrebThinkingEnd has.
func (v DrebThinkingEnd) MarshalJSON() ([]byte, error) {
	type plain DrebThinkingEnd
	if v.Type == "" {
		v.Type = "thinking_end"
	}
	return json.Marshal(plain(v))
}

// DrebToolcallStart: A tool call begins, with no arguments yet. Its id and name are those of the
// block in `partial`. Its toolcall_delta lines follow; toolcall_end closes it.
type DrebToolcallStart struct {
	// Kind of delta; always `toolcall_start`.
	Type string `json:"type"`

	// Place of the block in the message's `content`, from 0.
	ContentIndex int64 `json:"contentIndex"`

	// The whole message so far, this step included; the same as the `message` of the line.
	Partial AssistantMessage `json:"partial"`
}

// MarshalJSON fills in what every DrebToolcallStart has.
func (v DrebToolcallStart) MarshalJSON() ([]byte, error) {
	type plain DrebToolcallStart
	if v.Type == "" {
		v.Type = "toolcall_start"
	}
	return json.Marshal(plain(v))
}

// DrebToolcallDelta: The next piece of the arguments of an open tool call.
type DrebToolcallDelta struct {
	// Kind of delta; always `toolcall_delta`.
	Type string `json:"type"`

	// Place of the block in the message's `content`, from 0.
	ContentIndex int64 `json:"contentIndex"`

	// The piece, raw JSON text; may be empty.
	Delta string `json:"delta"`

	// The whole message so far, this step included; the same as the `message` of the line. A call that
	// is still open has in `arguments` what can be read of the pieces so far.
	Partial AssistantMessage `json:"partial"`
}

// MarshalJSON fills in what every DrebToolcallDelta has.
func (v DrebToolcallDelta) MarshalJSON() ([]byte, error) {
	type plain DrebToolcallDelta
	if v.Type == "" {
		v.Type = "toolcall_delta"
	}
	return json.Marshal(plain(v))
}

// DrebToolcallEnd: A tool call is complete, or will not become more complete.
type DrebToolcallEnd struct {
	// Kind of delta; always `toolcall_end`.
	Type string `json:"type"`

	// Place of the block in the message's `content`, from 0.
	ContentIndex int64 `json:"contentIndex"`

	// The whole call with its arguments read; the block of `partial`.
	ToolCall ToolCall `json:"toolCall"`

	// The whole message so far, this step included; the same as the `message` of the line.
	Partial AssistantMessage `json:"partial"`
}

// MarshalJSON fills in what every DrebToolcallEnd has.
func (v DrebToolcallEnd) MarshalJSON() ([]byte, error) {
	type plain DrebToolcallEnd
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

func tagType(data []byte) string {
	var tag struct {
		Value any `json:"type"`
	}
	// What is no object has no discriminator.
	_ = json.Unmarshal(data, &tag)
	text, _ := tag.Value.(string)
	return text
}
