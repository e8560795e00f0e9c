// Code generated from the schema by `quipu schema generate go --wire session`. DO NOT EDIT.

// Package session has the types of a line of JSON that SessionEntry describes.
//
// Unmarshal a line into a SessionEntry and switch over its Value:
//
//	var line session.SessionEntry
//	if err := json.Unmarshal(data, &line); err != nil { … }
//	switch value := line.Value.(type) { … }
//
// A later version may add members to a union, fields to an object, and values to a string type.
// Members that this package does not know are read as *Unknown and written as they were, new
// values are kept, and new fields are passed over. A pointer that is nil, an empty
// json.RawMessage and an empty value of a string type stand for an absent field. Fields with one
// possible value, such as the discriminators, are filled in by MarshalJSON.
package session

import (
	"bytes"
	"encoding/json"
)

// SchemaVersion is the version of the schema that this was made from.
const SchemaVersion = "1.0.0"

// SessionEntry: One line of a session file, told apart by `type`: the header on the first line, an
// entry on every other. Entries form a tree by `parentId`; the last entry of the file is where the
// session goes on. Readers skip a line whose `type` they do not know.
type SessionEntry struct {
	Value SessionEntryValue
}

// SessionEntryValue is one of the pointers that follow, told apart by `type`.
type SessionEntryValue interface {
	isSessionEntry()
}

func (*StoredSessionHeader) isSessionEntry()      {}
func (*MessageEntry) isSessionEntry()             {}
func (*ModelChangeEntry) isSessionEntry()         {}
func (*ThinkingLevelChangeEntry) isSessionEntry() {}
func (*CompactionEntry) isSessionEntry()          {}
func (*BranchSummaryEntry) isSessionEntry()       {}
func (*CustomEntry) isSessionEntry()              {}
func (*CustomMessageEntry) isSessionEntry()       {}
func (*LabelEntry) isSessionEntry()               {}
func (*SessionInfoEntry) isSessionEntry()         {}
func (*Unknown) isSessionEntry()                  {}

// UnmarshalJSON reads the member that `type` names, and *Unknown where it names none.
func (u *SessionEntry) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	tag := tagType(data)
	var value SessionEntryValue
	switch tag {
	case "session":
		value = new(StoredSessionHeader)
	case "message":
		value = new(MessageEntry)
	case "model_change":
		value = new(ModelChangeEntry)
	case "thinking_level_change":
		value = new(ThinkingLevelChangeEntry)
	case "compaction":
		value = new(CompactionEntry)
	case "branch_summary":
		value = new(BranchSummaryEntry)
	case "custom":
		value = new(CustomEntry)
	case "custom_message":
		value = new(CustomMessageEntry)
	case "label":
		value = new(LabelEntry)
	case "session_info":
		value = new(SessionInfoEntry)
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
func (u SessionEntry) MarshalJSON() ([]byte, error) {
	return json.Marshal(u.Value)
}

// StoredSessionHeader: The first line of every session file.
type StoredSessionHeader struct {
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

// MarshalJSON fills in what every StoredSessionHeader has.
func (v StoredSessionHeader) MarshalJSON() ([]byte, error) {
	type plain StoredSessionHeader
	if v.Type == "" {
		v.Type = "session"
	}
	if v.Version == 0 {
		v.Version = 3
	}
	return json.Marshal(plain(v))
}

// MessageEntry: A message of the conversation, stored before the line that announces its end is
// written. A message of the host or of a hook is a `custom_message` entry instead.
type MessageEntry struct {
	// Kind of entry; always `message`.
	Type string `json:"type"`

	// Id of the entry, unique in its file; usually 8 hex digits.
	ID string `json:"id"`

	// Id of the entry that this one follows; null when it follows none, as the first entry of a file.
	ParentID *string `json:"parentId"`

	// When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`.
	Timestamp string `json:"timestamp"`

	// The whole message.
	Message AgentMessage `json:"message"`
}

// MarshalJSON fills in what every MessageEntry has.
func (v MessageEntry) MarshalJSON() ([]byte, error) {
	type plain MessageEntry
	if v.Type == "" {
		v.Type = "message"
	}
	return json.Marshal(plain(v))
}

// ModelChangeEntry: The model that answers from here on. A fresh session begins with one.
type ModelChangeEntry struct {
	// Kind of entry; always `model_change`.
	Type string `json:"type"`

	// Id of the entry, unique in its file; usually 8 hex digits.
	ID string `json:"id"`

	// Id of the entry that this one follows; null when it follows none, as the first entry of a file.
	ParentID *string `json:"parentId"`

	// When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`.
	Timestamp string `json:"timestamp"`

	// Provider of the model.
	Provider string `json:"provider"`

	// Id of the model at its provider.
	ModelID string `json:"modelId"`

	// Why the model changed, if not because somebody chose it. Absent otherwise.
	Reason ModelChangeReason `json:"reason,omitempty"`

	// Provider of the model that the session should have. Absent unless another stands in for it.
	OriginalProvider *string `json:"originalProvider,omitempty"`

	// Id of the model that the session should have. Absent unless another stands in for it.
	OriginalModelID *string `json:"originalModelId,omitempty"`
}

// MarshalJSON fills in what every ModelChangeEntry has.
func (v ModelChangeEntry) MarshalJSON() ([]byte, error) {
	type plain ModelChangeEntry
	if v.Type == "" {
		v.Type = "model_change"
	}
	return json.Marshal(plain(v))
}

// ThinkingLevelChangeEntry: How much the model thinks from here on. A fresh session stores one
// after its model.
type ThinkingLevelChangeEntry struct {
	// Kind of entry; always `thinking_level_change`.
	Type string `json:"type"`

	// Id of the entry, unique in its file; usually 8 hex digits.
	ID string `json:"id"`

	// Id of the entry that this one follows; null when it follows none, as the first entry of a file.
	ParentID *string `json:"parentId"`

	// When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`.
	Timestamp string `json:"timestamp"`

	// The level now.
	ThinkingLevel ThinkingLevel `json:"thinkingLevel"`

	// How the level was chosen, in the shape of the program that stored it. Kept as read; absent in
	// entries of Quipu.
	ThinkingSelection json.RawMessage `json:"thinkingSelection,omitempty"`
}

// MarshalJSON fills in what every ThinkingLevelChangeEntry has.
func (v ThinkingLevelChangeEntry) MarshalJSON() ([]byte, error) {
	type plain ThinkingLevelChangeEntry
	if v.Type == "" {
		v.Type = "thinking_level_change"
	}
	return json.Marshal(plain(v))
}

// CompactionEntry: A summary that takes the place of the messages before `firstKeptEntryId`.
type CompactionEntry struct {
	// Kind of entry; always `compaction`.
	Type string `json:"type"`

	// Id of the entry, unique in its file; usually 8 hex digits.
	ID string `json:"id"`

	// Id of the entry that this one follows; null when it follows none, as the first entry of a file.
	ParentID *string `json:"parentId"`

	// When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`.
	Timestamp string `json:"timestamp"`

	// The summary, in Markdown.
	Summary string `json:"summary"`

	// Id of the first entry that stays in the context as it is.
	FirstKeptEntryID string `json:"firstKeptEntryId"`

	// Tokens in the context before the compaction.
	TokensBefore int64 `json:"tokensBefore"`

	// Further data on the summary, by default `readFiles` and `modifiedFiles`, two lists of paths.
	// Absent when there is none.
	Details json.RawMessage `json:"details,omitempty"`

	// Tokens and cost of the summary requests. Absent when no model wrote the summary, or its usage is
	// not known.
	Usage *Usage `json:"usage,omitempty"`

	// True when a hook or an extension wrote the summary. Absent when it is not known.
	FromHook *bool `json:"fromHook,omitempty"`
}

// MarshalJSON fills in what every CompactionEntry has.
func (v CompactionEntry) MarshalJSON() ([]byte, error) {
	type plain CompactionEntry
	if v.Type == "" {
		v.Type = "compaction"
	}
	return json.Marshal(plain(v))
}

// BranchSummaryEntry: A summary of a branch that was left, at the place where another begins.
type BranchSummaryEntry struct {
	// Kind of entry; always `branch_summary`.
	Type string `json:"type"`

	// Id of the entry, unique in its file; usually 8 hex digits.
	ID string `json:"id"`

	// Id of the entry that this one follows; null when it follows none, as the first entry of a file.
	ParentID *string `json:"parentId"`

	// When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`.
	Timestamp string `json:"timestamp"`

	// Id of the entry where the branch that was left ended, or `root`.
	FromID string `json:"fromId"`

	// What happened on that branch, in Markdown.
	Summary string `json:"summary"`

	// Further data on the summary, by default `readFiles` and `modifiedFiles`, two lists of paths.
	// Absent when there is none.
	Details json.RawMessage `json:"details,omitempty"`

	// Tokens and cost of the summary requests. Absent when no model wrote the summary, or its usage is
	// not known.
	Usage *Usage `json:"usage,omitempty"`

	// True when a hook or an extension wrote the summary. Absent when it is not known.
	FromHook *bool `json:"fromHook,omitempty"`
}

// MarshalJSON fills in what every BranchSummaryEntry has.
func (v BranchSummaryEntry) MarshalJSON() ([]byte, error) {
	type plain BranchSummaryEntry
	if v.Type == "" {
		v.Type = "branch_summary"
	}
	return json.Marshal(plain(v))
}

// CustomEntry: Data that the program or an extension keeps with the session. The model never sees
// it.
type CustomEntry struct {
	// Kind of entry; always `custom`.
	Type string `json:"type"`

	// Name of the kind of data, chosen by whoever stored it.
	CustomType string `json:"customType"`

	// The data, in the shape of its kind. Absent when there is none.
	Data json.RawMessage `json:"data,omitempty"`

	// Id of the entry, unique in its file; usually 8 hex digits.
	ID string `json:"id"`

	// Id of the entry that this one follows; null when it follows none, as the first entry of a file.
	ParentID *string `json:"parentId"`

	// When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`.
	Timestamp string `json:"timestamp"`
}

// MarshalJSON fills in what every CustomEntry has.
func (v CustomEntry) MarshalJSON() ([]byte, error) {
	type plain CustomEntry
	if v.Type == "" {
		v.Type = "custom"
	}
	return json.Marshal(plain(v))
}

// CustomMessageEntry: A message put into the session by the host, a hook or an extension. The model
// reads it like a user's message.
type CustomMessageEntry struct {
	// Kind of entry; always `custom_message`.
	Type string `json:"type"`

	// Name of the kind of message, chosen by whoever put it in.
	CustomType string `json:"customType"`

	// What it says: a string or blocks.
	Content UserContent `json:"content"`

	// True when it is meant to be shown to people too.
	Display bool `json:"display"`

	// Further data in the sender's own shape; the model does not see it. Absent when there is none.
	Details json.RawMessage `json:"details,omitempty"`

	// Id of the entry, unique in its file; usually 8 hex digits.
	ID string `json:"id"`

	// Id of the entry that this one follows; null when it follows none, as the first entry of a file.
	ParentID *string `json:"parentId"`

	// When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`.
	Timestamp string `json:"timestamp"`
}

// MarshalJSON fills in what every CustomMessageEntry has.
func (v CustomMessageEntry) MarshalJSON() ([]byte, error) {
	type plain CustomMessageEntry
	if v.Type == "" {
		v.Type = "custom_message"
	}
	return json.Marshal(plain(v))
}

// LabelEntry: A name that somebody gave to an entry, to find it again.
type LabelEntry struct {
	// Kind of entry; always `label`.
	Type string `json:"type"`

	// Id of the entry, unique in its file; usually 8 hex digits.
	ID string `json:"id"`

	// Id of the entry that this one follows; null when it follows none, as the first entry of a file.
	ParentID *string `json:"parentId"`

	// When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`.
	Timestamp string `json:"timestamp"`

	// Id of the entry that is named.
	TargetID string `json:"targetId"`

	// The name. Absent when the entry loses its name.
	Label *string `json:"label,omitempty"`
}

// MarshalJSON fills in what every LabelEntry has.
func (v LabelEntry) MarshalJSON() ([]byte, error) {
	type plain LabelEntry
	if v.Type == "" {
		v.Type = "label"
	}
	return json.Marshal(plain(v))
}

// SessionInfoEntry: The name of the session. The last such entry of a file counts.
type SessionInfoEntry struct {
	// Kind of entry; always `session_info`.
	Type string `json:"type"`

	// Id of the entry, unique in its file; usually 8 hex digits.
	ID string `json:"id"`

	// Id of the entry that this one follows; null when it follows none, as the first entry of a file.
	ParentID *string `json:"parentId"`

	// When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`.
	Timestamp string `json:"timestamp"`

	// The name, on one line; empty when the session loses its name.
	Name string `json:"name"`
}

// MarshalJSON fills in what every SessionInfoEntry has.
func (v SessionInfoEntry) MarshalJSON() ([]byte, error) {
	type plain SessionInfoEntry
	if v.Type == "" {
		v.Type = "session_info"
	}
	return json.Marshal(plain(v))
}

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

// ModelChangeReason: Why the model of a session changed without being chosen: `fallback` when
// another stands in for one that fails, `fallback-revert` when that one is back. Known values:
// `fallback`, `fallback-revert`; a later version may add more.
type ModelChangeReason string

// The values of ModelChangeReason that this package knows.
const (
	ModelChangeReasonFallback       ModelChangeReason = "fallback"
	ModelChangeReasonFallbackRevert ModelChangeReason = "fallback-revert"
)

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
