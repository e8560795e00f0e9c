// Made from schema/ by the build script. Do not edit; the copy in generated/ is for reading.

use super::generated::*;
use super::tag::{self, Tagged, constant, present, tagged};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};

/// The work is over: the last line of the stream, exactly once, after every prompt, retry, compaction and background agent, and after a start-up failure too. A stream without it was interrupted by a signal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "agent_end", remote = "Self")]
pub struct DrebAgentEndEvent {
    /// The messages of the whole stream, failed attempts included, in the order of their message_end; empty when nothing was asked.
    pub messages: Vec<AgentMessage>,
}

tagged!(DrebAgentEndEvent : "type" = "agent_end");

/// One step in the growth of an assistant message with the message that it leads to, told apart by `type`. Blocks are kept apart by `contentIndex`, and several may be open at once.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum DrebAssistantMessageEvent {
    /// `text_start`: see [`DrebTextStart`].
    TextStart(DrebTextStart),
    /// `text_delta`: see [`DrebTextDelta`].
    TextDelta(DrebTextDelta),
    /// `text_end`: see [`DrebTextEnd`].
    TextEnd(DrebTextEnd),
    /// `thinking_start`: see [`DrebThinkingStart`].
    ThinkingStart(DrebThinkingStart),
    /// `thinking_delta`: see [`DrebThinkingDelta`].
    ThinkingDelta(DrebThinkingDelta),
    /// `thinking_end`: see [`DrebThinkingEnd`].
    ThinkingEnd(DrebThinkingEnd),
    /// `toolcall_start`: see [`DrebToolcallStart`].
    ToolcallStart(DrebToolcallStart),
    /// `toolcall_delta`: see [`DrebToolcallDelta`].
    ToolcallDelta(DrebToolcallDelta),
    /// `toolcall_end`: see [`DrebToolcallEnd`].
    ToolcallEnd(DrebToolcallEnd),
}

/// What the `type` of [`DrebAssistantMessageEvent`] may be.
pub const DREB_ASSISTANT_MESSAGE_EVENT_TYPES: &[&str] = &[
    "text_start",
    "text_delta",
    "text_end",
    "thinking_start",
    "thinking_delta",
    "thinking_end",
    "toolcall_start",
    "toolcall_delta",
    "toolcall_end",
];

impl DrebAssistantMessageEvent {
    /// The `type` as it stands on the wire.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::TextStart(_) => "text_start",
            Self::TextDelta(_) => "text_delta",
            Self::TextEnd(_) => "text_end",
            Self::ThinkingStart(_) => "thinking_start",
            Self::ThinkingDelta(_) => "thinking_delta",
            Self::ThinkingEnd(_) => "thinking_end",
            Self::ToolcallStart(_) => "toolcall_start",
            Self::ToolcallDelta(_) => "toolcall_delta",
            Self::ToolcallEnd(_) => "toolcall_end",
        }
    }
}

impl<'de> Deserialize<'de> for DrebAssistantMessageEvent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        tag::read(from)
    }
}

impl<'de> Tagged<'de> for DrebAssistantMessageEvent {
    const TAG: &'static str = "type";
    const VALUES: &'static [&'static str] = DREB_ASSISTANT_MESSAGE_EVENT_TYPES;
    fn fields<D: Deserializer<'de>>(
        value: &'static str,
        rest: D,
    ) -> Result<Self, D::Error> {
        match value {
            "text_start" => DrebTextStart::deserialize(rest).map(Self::TextStart),
            "text_delta" => DrebTextDelta::deserialize(rest).map(Self::TextDelta),
            "text_end" => DrebTextEnd::deserialize(rest).map(Self::TextEnd),
            "thinking_start" => {
                DrebThinkingStart::deserialize(rest).map(Self::ThinkingStart)
            }
            "thinking_delta" => {
                DrebThinkingDelta::deserialize(rest).map(Self::ThinkingDelta)
            }
            "thinking_end" => DrebThinkingEnd::deserialize(rest).map(Self::ThinkingEnd),
            "toolcall_start" => {
                DrebToolcallStart::deserialize(rest).map(Self::ToolcallStart)
            }
            "toolcall_delta" => {
                DrebToolcallDelta::deserialize(rest).map(Self::ToolcallDelta)
            }
            "toolcall_end" => DrebToolcallEnd::deserialize(rest).map(Self::ToolcallEnd),
            _ => Err(de::Error::unknown_variant(value, Self::VALUES)),
        }
    }
}

impl From<DrebTextStart> for DrebAssistantMessageEvent {
    fn from(value: DrebTextStart) -> Self {
        Self::TextStart(value)
    }
}

impl From<DrebTextDelta> for DrebAssistantMessageEvent {
    fn from(value: DrebTextDelta) -> Self {
        Self::TextDelta(value)
    }
}

impl From<DrebTextEnd> for DrebAssistantMessageEvent {
    fn from(value: DrebTextEnd) -> Self {
        Self::TextEnd(value)
    }
}

impl From<DrebThinkingStart> for DrebAssistantMessageEvent {
    fn from(value: DrebThinkingStart) -> Self {
        Self::ThinkingStart(value)
    }
}

impl From<DrebThinkingDelta> for DrebAssistantMessageEvent {
    fn from(value: DrebThinkingDelta) -> Self {
        Self::ThinkingDelta(value)
    }
}

impl From<DrebThinkingEnd> for DrebAssistantMessageEvent {
    fn from(value: DrebThinkingEnd) -> Self {
        Self::ThinkingEnd(value)
    }
}

impl From<DrebToolcallStart> for DrebAssistantMessageEvent {
    fn from(value: DrebToolcallStart) -> Self {
        Self::ToolcallStart(value)
    }
}

impl From<DrebToolcallDelta> for DrebAssistantMessageEvent {
    fn from(value: DrebToolcallDelta) -> Self {
        Self::ToolcallDelta(value)
    }
}

impl From<DrebToolcallEnd> for DrebAssistantMessageEvent {
    fn from(value: DrebToolcallEnd) -> Self {
        Self::ToolcallEnd(value)
    }
}

/// An automatic compaction is over; closes auto_compaction_start. It stands alone, without a start, when the context overflows a second time in a row and no further compaction is tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "auto_compaction_end", remote = "Self")]
pub struct DrebAutoCompactionEndEvent {
    /// The summary and what it replaces. Absent unless the compaction succeeded.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub result: Option<DrebCompactionResult>,
    /// True when the compaction was cancelled.
    pub aborted: bool,
    /// True when a model request follows at once to go on with the work, be it a failed answer asked for again or the next turn of the same work.
    #[serde(rename = "willRetry")]
    pub will_retry: bool,
    /// What went wrong. Absent when nothing did.
    #[serde(
        rename = "errorMessage",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub error_message: Option<String>,
}

tagged!(DrebAutoCompactionEndEvent : "type" = "auto_compaction_end");

/// The context is being replaced by a summary, between two turns or before the first. One auto_compaction_end closes it before the next turn. A compaction that someone asked for is not shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "auto_compaction_start", remote = "Self")]
pub struct DrebAutoCompactionStartEvent {
    /// What caused it.
    pub reason: DrebCompactionReason,
}

tagged!(DrebAutoCompactionStartEvent : "type" = "auto_compaction_start");

/// A line of a running background agent's own stream, in this same form; between its background_agent_start and background_agent_end. The header of that stream is not passed on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "background_agent_event", remote = "Self")]
pub struct DrebBackgroundAgentEvent {
    /// Id of the background agent.
    #[serde(rename = "agentId")]
    pub agent_id: String,
    /// The line of the background agent; never a `session` line.
    pub event: Box<DrebEvent>,
}

tagged!(DrebBackgroundAgentEvent : "type" = "background_agent_event");

/// What caused an automatic compaction: `threshold` (the context came near the window), `overflow` (the service refused the context as too long).
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize
)]
pub enum DrebCompactionReason {
    /// `threshold`.
    #[serde(rename = "threshold")]
    Threshold,
    /// `overflow`.
    #[serde(rename = "overflow")]
    Overflow,
}

impl DrebCompactionReason {
    /// Every value, in the order of the schema.
    pub const ALL: &'static [Self] = &[Self::Threshold, Self::Overflow];
    /// The value as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Threshold => "threshold",
            Self::Overflow => "overflow",
        }
    }
}

impl ::std::fmt::Display for DrebCompactionReason {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        match *self {
            Self::Threshold => f.write_str("threshold"),
            Self::Overflow => f.write_str("overflow"),
        }
    }
}

impl ::std::str::FromStr for DrebCompactionReason {
    type Err = self::error::ConversionError;
    fn from_str(value: &str) -> Result<Self, self::error::ConversionError> {
        match value {
            "threshold" => Ok(Self::Threshold),
            "overflow" => Ok(Self::Overflow),
            _ => Err("invalid value".into()),
        }
    }
}

/// The outcome of a compaction: the summary that takes the place of older messages, and from where on messages are kept. What the summary cost is not told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrebCompactionResult {
    /// The summary, in Markdown.
    pub summary: String,
    /// Id of the first session entry that stays in the context as it is.
    #[serde(rename = "firstKeptEntryId")]
    pub first_kept_entry_id: String,
    /// Tokens in the context before the compaction.
    #[serde(rename = "tokensBefore")]
    pub tokens_before: u64,
    /// Further data on the compaction, by default `readFiles` and `modifiedFiles`, two lists of paths. Absent when there is none.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub details: Option<Value>,
}

/// One line of a stream in the dreb form, told apart by `type`. The header comes first, then one agent_start, and one agent_end last; all else lies between them. The order is in grammar.json. Readers skip a line whose `type` they do not know.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum DrebEvent {
    /// `session`: see [`DrebSessionHeader`].
    Session(DrebSessionHeader),
    /// `agent_start`: see [`AgentStartEvent`].
    AgentStart(AgentStartEvent),
    /// `turn_start`: see [`TurnStartEvent`].
    TurnStart(TurnStartEvent),
    /// `message_start`: see [`MessageStartEvent`].
    MessageStart(MessageStartEvent),
    /// `message_update`: see [`DrebMessageUpdateEvent`].
    MessageUpdate(DrebMessageUpdateEvent),
    /// `message_end`: see [`MessageEndEvent`].
    MessageEnd(MessageEndEvent),
    /// `tool_execution_start`: see [`ToolExecutionStartEvent`].
    ToolExecutionStart(ToolExecutionStartEvent),
    /// `tool_execution_update`: see [`ToolExecutionUpdateEvent`].
    ToolExecutionUpdate(ToolExecutionUpdateEvent),
    /// `tool_execution_end`: see [`ToolExecutionEndEvent`].
    ToolExecutionEnd(ToolExecutionEndEvent),
    /// `turn_end`: see [`TurnEndEvent`].
    TurnEnd(TurnEndEvent),
    /// `auto_retry_start`: see [`AutoRetryStartEvent`].
    AutoRetryStart(AutoRetryStartEvent),
    /// `auto_retry_end`: see [`AutoRetryEndEvent`].
    AutoRetryEnd(AutoRetryEndEvent),
    /// `auto_compaction_start`: see [`DrebAutoCompactionStartEvent`].
    AutoCompactionStart(DrebAutoCompactionStartEvent),
    /// `auto_compaction_end`: see [`DrebAutoCompactionEndEvent`].
    AutoCompactionEnd(DrebAutoCompactionEndEvent),
    /// `session_name_changed`: see [`DrebSessionNameChangedEvent`].
    SessionNameChanged(DrebSessionNameChangedEvent),
    /// `tasks_update`: see [`TasksUpdateEvent`].
    TasksUpdate(TasksUpdateEvent),
    /// `suggest_next`: see [`SuggestNextEvent`].
    SuggestNext(SuggestNextEvent),
    /// `background_agent_start`: see [`BackgroundAgentStartEvent`].
    BackgroundAgentStart(BackgroundAgentStartEvent),
    /// `subagent_arbitration`: see [`DrebSubagentArbitrationEvent`].
    SubagentArbitration(DrebSubagentArbitrationEvent),
    /// `background_agent_event`: see [`DrebBackgroundAgentEvent`].
    BackgroundAgentEvent(DrebBackgroundAgentEvent),
    /// `background_agent_end`: see [`BackgroundAgentEndEvent`].
    BackgroundAgentEnd(BackgroundAgentEndEvent),
    /// `parent_paused_for_background_agents`: see [`ParentPausedForBackgroundAgentsEvent`].
    ParentPausedForBackgroundAgents(ParentPausedForBackgroundAgentsEvent),
    /// `agent_end`: see [`DrebAgentEndEvent`].
    AgentEnd(DrebAgentEndEvent),
}

/// What the `type` of [`DrebEvent`] may be.
pub const DREB_EVENT_TYPES: &[&str] = &[
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
];

impl DrebEvent {
    /// The `type` as it stands on the wire.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Session(_) => "session",
            Self::AgentStart(_) => "agent_start",
            Self::TurnStart(_) => "turn_start",
            Self::MessageStart(_) => "message_start",
            Self::MessageUpdate(_) => "message_update",
            Self::MessageEnd(_) => "message_end",
            Self::ToolExecutionStart(_) => "tool_execution_start",
            Self::ToolExecutionUpdate(_) => "tool_execution_update",
            Self::ToolExecutionEnd(_) => "tool_execution_end",
            Self::TurnEnd(_) => "turn_end",
            Self::AutoRetryStart(_) => "auto_retry_start",
            Self::AutoRetryEnd(_) => "auto_retry_end",
            Self::AutoCompactionStart(_) => "auto_compaction_start",
            Self::AutoCompactionEnd(_) => "auto_compaction_end",
            Self::SessionNameChanged(_) => "session_name_changed",
            Self::TasksUpdate(_) => "tasks_update",
            Self::SuggestNext(_) => "suggest_next",
            Self::BackgroundAgentStart(_) => "background_agent_start",
            Self::SubagentArbitration(_) => "subagent_arbitration",
            Self::BackgroundAgentEvent(_) => "background_agent_event",
            Self::BackgroundAgentEnd(_) => "background_agent_end",
            Self::ParentPausedForBackgroundAgents(_) => {
                "parent_paused_for_background_agents"
            }
            Self::AgentEnd(_) => "agent_end",
        }
    }
}

impl<'de> Deserialize<'de> for DrebEvent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        tag::read(from)
    }
}

impl<'de> Tagged<'de> for DrebEvent {
    const TAG: &'static str = "type";
    const VALUES: &'static [&'static str] = DREB_EVENT_TYPES;
    fn fields<D: Deserializer<'de>>(
        value: &'static str,
        rest: D,
    ) -> Result<Self, D::Error> {
        match value {
            "session" => DrebSessionHeader::deserialize(rest).map(Self::Session),
            "agent_start" => AgentStartEvent::deserialize(rest).map(Self::AgentStart),
            "turn_start" => TurnStartEvent::deserialize(rest).map(Self::TurnStart),
            "message_start" => {
                MessageStartEvent::deserialize(rest).map(Self::MessageStart)
            }
            "message_update" => {
                DrebMessageUpdateEvent::deserialize(rest).map(Self::MessageUpdate)
            }
            "message_end" => MessageEndEvent::deserialize(rest).map(Self::MessageEnd),
            "tool_execution_start" => {
                ToolExecutionStartEvent::deserialize(rest).map(Self::ToolExecutionStart)
            }
            "tool_execution_update" => {
                ToolExecutionUpdateEvent::deserialize(rest)
                    .map(Self::ToolExecutionUpdate)
            }
            "tool_execution_end" => {
                ToolExecutionEndEvent::deserialize(rest).map(Self::ToolExecutionEnd)
            }
            "turn_end" => TurnEndEvent::deserialize(rest).map(Self::TurnEnd),
            "auto_retry_start" => {
                AutoRetryStartEvent::deserialize(rest).map(Self::AutoRetryStart)
            }
            "auto_retry_end" => {
                AutoRetryEndEvent::deserialize(rest).map(Self::AutoRetryEnd)
            }
            "auto_compaction_start" => {
                DrebAutoCompactionStartEvent::deserialize(rest)
                    .map(Self::AutoCompactionStart)
            }
            "auto_compaction_end" => {
                DrebAutoCompactionEndEvent::deserialize(rest)
                    .map(Self::AutoCompactionEnd)
            }
            "session_name_changed" => {
                DrebSessionNameChangedEvent::deserialize(rest)
                    .map(Self::SessionNameChanged)
            }
            "tasks_update" => TasksUpdateEvent::deserialize(rest).map(Self::TasksUpdate),
            "suggest_next" => SuggestNextEvent::deserialize(rest).map(Self::SuggestNext),
            "background_agent_start" => {
                BackgroundAgentStartEvent::deserialize(rest)
                    .map(Self::BackgroundAgentStart)
            }
            "subagent_arbitration" => {
                DrebSubagentArbitrationEvent::deserialize(rest)
                    .map(Self::SubagentArbitration)
            }
            "background_agent_event" => {
                DrebBackgroundAgentEvent::deserialize(rest)
                    .map(Self::BackgroundAgentEvent)
            }
            "background_agent_end" => {
                BackgroundAgentEndEvent::deserialize(rest).map(Self::BackgroundAgentEnd)
            }
            "parent_paused_for_background_agents" => {
                ParentPausedForBackgroundAgentsEvent::deserialize(rest)
                    .map(Self::ParentPausedForBackgroundAgents)
            }
            "agent_end" => DrebAgentEndEvent::deserialize(rest).map(Self::AgentEnd),
            _ => Err(de::Error::unknown_variant(value, Self::VALUES)),
        }
    }
}

impl From<DrebSessionHeader> for DrebEvent {
    fn from(value: DrebSessionHeader) -> Self {
        Self::Session(value)
    }
}

impl From<AgentStartEvent> for DrebEvent {
    fn from(value: AgentStartEvent) -> Self {
        Self::AgentStart(value)
    }
}

impl From<TurnStartEvent> for DrebEvent {
    fn from(value: TurnStartEvent) -> Self {
        Self::TurnStart(value)
    }
}

impl From<MessageStartEvent> for DrebEvent {
    fn from(value: MessageStartEvent) -> Self {
        Self::MessageStart(value)
    }
}

impl From<DrebMessageUpdateEvent> for DrebEvent {
    fn from(value: DrebMessageUpdateEvent) -> Self {
        Self::MessageUpdate(value)
    }
}

impl From<MessageEndEvent> for DrebEvent {
    fn from(value: MessageEndEvent) -> Self {
        Self::MessageEnd(value)
    }
}

impl From<ToolExecutionStartEvent> for DrebEvent {
    fn from(value: ToolExecutionStartEvent) -> Self {
        Self::ToolExecutionStart(value)
    }
}

impl From<ToolExecutionUpdateEvent> for DrebEvent {
    fn from(value: ToolExecutionUpdateEvent) -> Self {
        Self::ToolExecutionUpdate(value)
    }
}

impl From<ToolExecutionEndEvent> for DrebEvent {
    fn from(value: ToolExecutionEndEvent) -> Self {
        Self::ToolExecutionEnd(value)
    }
}

impl From<TurnEndEvent> for DrebEvent {
    fn from(value: TurnEndEvent) -> Self {
        Self::TurnEnd(value)
    }
}

impl From<AutoRetryStartEvent> for DrebEvent {
    fn from(value: AutoRetryStartEvent) -> Self {
        Self::AutoRetryStart(value)
    }
}

impl From<AutoRetryEndEvent> for DrebEvent {
    fn from(value: AutoRetryEndEvent) -> Self {
        Self::AutoRetryEnd(value)
    }
}

impl From<DrebAutoCompactionStartEvent> for DrebEvent {
    fn from(value: DrebAutoCompactionStartEvent) -> Self {
        Self::AutoCompactionStart(value)
    }
}

impl From<DrebAutoCompactionEndEvent> for DrebEvent {
    fn from(value: DrebAutoCompactionEndEvent) -> Self {
        Self::AutoCompactionEnd(value)
    }
}

impl From<DrebSessionNameChangedEvent> for DrebEvent {
    fn from(value: DrebSessionNameChangedEvent) -> Self {
        Self::SessionNameChanged(value)
    }
}

impl From<TasksUpdateEvent> for DrebEvent {
    fn from(value: TasksUpdateEvent) -> Self {
        Self::TasksUpdate(value)
    }
}

impl From<SuggestNextEvent> for DrebEvent {
    fn from(value: SuggestNextEvent) -> Self {
        Self::SuggestNext(value)
    }
}

impl From<BackgroundAgentStartEvent> for DrebEvent {
    fn from(value: BackgroundAgentStartEvent) -> Self {
        Self::BackgroundAgentStart(value)
    }
}

impl From<DrebSubagentArbitrationEvent> for DrebEvent {
    fn from(value: DrebSubagentArbitrationEvent) -> Self {
        Self::SubagentArbitration(value)
    }
}

impl From<DrebBackgroundAgentEvent> for DrebEvent {
    fn from(value: DrebBackgroundAgentEvent) -> Self {
        Self::BackgroundAgentEvent(value)
    }
}

impl From<BackgroundAgentEndEvent> for DrebEvent {
    fn from(value: BackgroundAgentEndEvent) -> Self {
        Self::BackgroundAgentEnd(value)
    }
}

impl From<ParentPausedForBackgroundAgentsEvent> for DrebEvent {
    fn from(value: ParentPausedForBackgroundAgentsEvent) -> Self {
        Self::ParentPausedForBackgroundAgents(value)
    }
}

impl From<DrebAgentEndEvent> for DrebEvent {
    fn from(value: DrebAgentEndEvent) -> Self {
        Self::AgentEnd(value)
    }
}

/// An assistant message grows by one delta. Comes between its message_start and its message_end, any number of times; each line repeats the whole message twice, so the lines get longer with the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "message_update", remote = "Self")]
pub struct DrebMessageUpdateEvent {
    /// The delta, with the message in `partial`.
    #[serde(rename = "assistantMessageEvent")]
    pub assistant_message_event: DrebAssistantMessageEvent,
    /// The whole message so far, this delta included, with `stopReason` still `stop`; message_end has the final one.
    pub message: AssistantMessage,
}

tagged!(DrebMessageUpdateEvent : "type" = "message_update");

/// The first line of every dreb stream, exactly once, written before standard input is read and before any request. It is the session alone and says nothing of the form of the lines. A resumed session shows its stored id, time and directory; its earlier messages are not repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "session", remote = "Self")]
pub struct DrebSessionHeader {
    /// Version of the session format; always 3.
    pub version: DrebSessionHeaderVersion,
    /// Id of the session, a UUID unless the user chose one.
    pub id: String,
    /// When the session was made: ISO 8601 in UTC, with milliseconds and `Z`.
    pub timestamp: String,
    /// Absolute path of the working directory of the session.
    pub cwd: String,
    /// Path of the session file that this one was forked or spawned from. Absent otherwise.
    #[serde(
        rename = "parentSession",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub parent_session: Option<String>,
    /// Name of the agent definition of a background agent's own session. Absent otherwise.
    #[serde(
        rename = "agentType",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub agent_type: Option<String>,
}

tagged!(DrebSessionHeader : "type" = "session");

/// The `version` of [`DrebSessionHeader`]: always `3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrebSessionHeaderVersion;

constant!(DrebSessionHeaderVersion : u64 = 3u64);

/// The name of the session was set, changed or cleared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "session_name_changed", remote = "Self")]
pub struct DrebSessionNameChangedEvent {
    /// The name now; empty when it was cleared.
    pub name: String,
}

tagged!(DrebSessionNameChangedEvent : "type" = "session_name_changed");

/// The arbiter has decided on the route of a background agent; after its background_agent_start and before that agent, or that step of a chain, starts. Written only when an arbiter is set up; holds nothing of the task or of the arbiter's reasoning. What the decision cost is not told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "subagent_arbitration", remote = "Self")]
pub struct DrebSubagentArbitrationEvent {
    /// Id of the background agent.
    #[serde(rename = "agentId")]
    pub agent_id: String,
    /// Whether there is a decision.
    pub status: ArbitrationStatus,
    /// The route that was asked for.
    pub proposed: DispatchRoute,
    /// The route that is taken; null when the decision failed.
    #[serde(rename = "final", deserialize_with = "Option::deserialize")]
    pub final_: Option<DispatchRoute>,
    /// The parts in which the final route differs, in the order agent, model, thinking; empty when it does not differ or there is none.
    pub changed: Vec<RoutePart>,
    /// Number of the step in a chain, from 1. Absent outside chains.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub step: Option<u64>,
    /// Why the decision failed, for programs. Absent on success.
    #[serde(
        rename = "errorCode",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub error_code: Option<ArbitrationErrorCode>,
    /// Why the decision failed, for people. Absent on success.
    #[serde(
        rename = "errorMessage",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub error_message: Option<String>,
}

tagged!(DrebSubagentArbitrationEvent : "type" = "subagent_arbitration");

/// The next piece of an open text block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "text_delta", remote = "Self")]
pub struct DrebTextDelta {
    /// Place of the block in the message's `content`, from 0.
    #[serde(rename = "contentIndex")]
    pub content_index: u64,
    /// The piece; `partial` has it already appended. May be empty.
    pub delta: String,
    /// The whole message so far, this step included; the same as the `message` of the line.
    pub partial: AssistantMessage,
}

tagged!(DrebTextDelta : "type" = "text_delta");

/// A text block is complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "text_end", remote = "Self")]
pub struct DrebTextEnd {
    /// Place of the block in the message's `content`, from 0.
    #[serde(rename = "contentIndex")]
    pub content_index: u64,
    /// The whole text: the joined pieces.
    pub content: String,
    /// The whole message so far, this step included; the same as the `message` of the line.
    pub partial: AssistantMessage,
}

tagged!(DrebTextEnd : "type" = "text_end");

/// A text block begins, empty. Its text_delta lines follow; text_end closes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "text_start", remote = "Self")]
pub struct DrebTextStart {
    /// Place of the block in the message's `content`, from 0.
    #[serde(rename = "contentIndex")]
    pub content_index: u64,
    /// The whole message so far, this step included; the same as the `message` of the line.
    pub partial: AssistantMessage,
}

tagged!(DrebTextStart : "type" = "text_start");

/// The next piece of an open thinking block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "thinking_delta", remote = "Self")]
pub struct DrebThinkingDelta {
    /// Place of the block in the message's `content`, from 0.
    #[serde(rename = "contentIndex")]
    pub content_index: u64,
    /// The piece; `partial` has it already appended. May be empty.
    pub delta: String,
    /// The whole message so far, this step included; the same as the `message` of the line.
    pub partial: AssistantMessage,
}

tagged!(DrebThinkingDelta : "type" = "thinking_delta");

/// A thinking block is complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "thinking_end", remote = "Self")]
pub struct DrebThinkingEnd {
    /// Place of the block in the message's `content`, from 0.
    #[serde(rename = "contentIndex")]
    pub content_index: u64,
    /// The whole reasoning: the joined pieces, or a placeholder for a redacted block.
    pub content: String,
    /// The whole message so far, this step included; the same as the `message` of the line.
    pub partial: AssistantMessage,
}

tagged!(DrebThinkingEnd : "type" = "thinking_end");

/// A thinking block begins, empty. Its thinking_delta lines follow, none for a redacted block; thinking_end closes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "thinking_start", remote = "Self")]
pub struct DrebThinkingStart {
    /// Place of the block in the message's `content`, from 0.
    #[serde(rename = "contentIndex")]
    pub content_index: u64,
    /// The whole message so far, this step included; the same as the `message` of the line.
    pub partial: AssistantMessage,
}

tagged!(DrebThinkingStart : "type" = "thinking_start");

/// The next piece of the arguments of an open tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "toolcall_delta", remote = "Self")]
pub struct DrebToolcallDelta {
    /// Place of the block in the message's `content`, from 0.
    #[serde(rename = "contentIndex")]
    pub content_index: u64,
    /// The piece, raw JSON text; may be empty.
    pub delta: String,
    /// The whole message so far, this step included; the same as the `message` of the line. A call that is still open has in `arguments` what can be read of the pieces so far.
    pub partial: AssistantMessage,
}

tagged!(DrebToolcallDelta : "type" = "toolcall_delta");

/// A tool call is complete, or will not become more complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "toolcall_end", remote = "Self")]
pub struct DrebToolcallEnd {
    /// Place of the block in the message's `content`, from 0.
    #[serde(rename = "contentIndex")]
    pub content_index: u64,
    /// The whole call with its arguments read; the block of `partial`.
    #[serde(rename = "toolCall")]
    pub tool_call: ToolCall,
    /// The whole message so far, this step included; the same as the `message` of the line.
    pub partial: AssistantMessage,
}

tagged!(DrebToolcallEnd : "type" = "toolcall_end");

/// A tool call begins, with no arguments yet. Its id and name are those of the block in `partial`. Its toolcall_delta lines follow; toolcall_end closes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "toolcall_start", remote = "Self")]
pub struct DrebToolcallStart {
    /// Place of the block in the message's `content`, from 0.
    #[serde(rename = "contentIndex")]
    pub content_index: u64,
    /// The whole message so far, this step included; the same as the `message` of the line.
    pub partial: AssistantMessage,
}

tagged!(DrebToolcallStart : "type" = "toolcall_start");
