// Made from schema/ by the build script. Do not edit; the copy in generated/ is for reading.

use super::generated::*;
use super::tag::{self, Tagged, constant, present, tagged};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};

/// A run begins: the work on one prompt, one retry, or one continuation. One agent_end closes it before the next run begins. The model and its thinking level are not told here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "agent_start", remote = "Self")]
pub struct SenpiAgentStartEvent {}

tagged!(SenpiAgentStartEvent : "type" = "agent_start");

/// A compaction is over; closes compaction_start. It stands alone, without a start, when the context overflows a second time in a row and no further compaction is tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "compaction_end", remote = "Self")]
pub struct SenpiCompactionEndEvent {
    /// What caused it.
    pub reason: CompactionReason,
    /// The summary and what it replaces. Absent unless the compaction succeeded.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub result: Option<CompactionResult>,
    /// True when the compaction was cancelled.
    pub aborted: bool,
    /// True when a model request follows at once to go on with the work: the one that did not fit is made again, or, between two turns of a run, the next turn begins.
    #[serde(rename = "willRetry")]
    pub will_retry: bool,
    /// Id of the compaction; only its end has it. Absent when it has no start.
    #[serde(
        rename = "requestId",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub request_id: Option<String>,
    /// True when the result was taken over, false when the compaction was refused. Absent when there was nothing to decide: it failed, was cancelled, or found nothing to compact, in which case its end follows the start without anything else.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub accepted: Option<bool>,
    /// Why the compaction was refused. Absent unless `accepted` is false.
    #[serde(
        rename = "rejectionCause",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub rejection_cause: Option<CompactionRejectionCause>,
    /// What went wrong. Absent when nothing did.
    #[serde(
        rename = "errorMessage",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub error_message: Option<String>,
}

tagged!(SenpiCompactionEndEvent : "type" = "compaction_end");

/// The context is being replaced by a summary: between two runs, between two turns, or between agent_start and the first turn_start of a run. One compaction_end closes it; the id of the request is on that line only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "compaction_start", remote = "Self")]
pub struct SenpiCompactionStartEvent {
    /// What caused it.
    pub reason: CompactionReason,
}

tagged!(SenpiCompactionStartEvent : "type" = "compaction_start");

/// One line of a stream in the senpi form, told apart by `type`. The header comes first; there is no terminal line, the stream ends with the last run or with the retry or compaction line that closes after it. The order is in grammar.json. Readers skip a line whose `type` they do not know.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SenpiEvent {
    /// `session`: see [`SenpiSessionHeader`].
    Session(SenpiSessionHeader),
    /// `agent_start`: see [`SenpiAgentStartEvent`].
    AgentStart(SenpiAgentStartEvent),
    /// `turn_start`: see [`TurnStartEvent`].
    TurnStart(TurnStartEvent),
    /// `message_start`: see [`MessageStartEvent`].
    MessageStart(MessageStartEvent),
    /// `message_update`: see [`MessageUpdateEvent`].
    MessageUpdate(MessageUpdateEvent),
    /// `message_end`: see [`MessageEndEvent`].
    MessageEnd(MessageEndEvent),
    /// `tool_execution_start`: see [`ToolExecutionStartEvent`].
    ToolExecutionStart(ToolExecutionStartEvent),
    /// `tool_execution_update`: see [`ToolExecutionUpdateEvent`].
    ToolExecutionUpdate(ToolExecutionUpdateEvent),
    /// `tool_execution_end`: see [`ToolExecutionEndEvent`].
    ToolExecutionEnd(ToolExecutionEndEvent),
    /// `tool_hook_status`: see [`ToolHookStatusEvent`].
    ToolHookStatus(ToolHookStatusEvent),
    /// `turn_end`: see [`TurnEndEvent`].
    TurnEnd(TurnEndEvent),
    /// `agent_end`: see [`AgentEndEvent`].
    AgentEnd(AgentEndEvent),
    /// `auto_retry_start`: see [`AutoRetryStartEvent`].
    AutoRetryStart(AutoRetryStartEvent),
    /// `auto_retry_end`: see [`AutoRetryEndEvent`].
    AutoRetryEnd(AutoRetryEndEvent),
    /// `compaction_start`: see [`SenpiCompactionStartEvent`].
    CompactionStart(SenpiCompactionStartEvent),
    /// `compaction_progress`: see [`CompactionProgressEvent`].
    CompactionProgress(CompactionProgressEvent),
    /// `compaction_end`: see [`SenpiCompactionEndEvent`].
    CompactionEnd(SenpiCompactionEndEvent),
    /// `summarization_retry_scheduled`: see [`SummarizationRetryScheduledEvent`].
    SummarizationRetryScheduled(SummarizationRetryScheduledEvent),
    /// `summarization_retry_attempt_start`: see [`SummarizationRetryAttemptStartBranchSummaryEvent`].
    SummarizationRetryAttemptStartBranchSummary(
        SummarizationRetryAttemptStartBranchSummaryEvent,
    ),
    /// `summarization_retry_attempt_start`: see [`SummarizationRetryAttemptStartCompactionEvent`].
    SummarizationRetryAttemptStartCompaction(
        SummarizationRetryAttemptStartCompactionEvent,
    ),
    /// `summarization_retry_finished`: see [`SummarizationRetryFinishedEvent`].
    SummarizationRetryFinished(SummarizationRetryFinishedEvent),
    /// `queue_update`: see [`QueueUpdateEvent`].
    QueueUpdate(QueueUpdateEvent),
    /// `session_info_changed`: see [`SessionInfoChangedEvent`].
    SessionInfoChanged(SessionInfoChangedEvent),
    /// `thinking_level_changed`: see [`ThinkingLevelChangedEvent`].
    ThinkingLevelChanged(ThinkingLevelChangedEvent),
    /// `thinking_level_clamped`: see [`ThinkingLevelClampedEvent`].
    ThinkingLevelClamped(ThinkingLevelClampedEvent),
    /// `system_prompt_change`: see [`SystemPromptChangeEvent`].
    SystemPromptChange(SystemPromptChangeEvent),
}

/// What the `type` of [`SenpiEvent`] may be.
pub const SENPI_EVENT_TYPES: &[&str] = &[
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
];

impl SenpiEvent {
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
            Self::ToolHookStatus(_) => "tool_hook_status",
            Self::TurnEnd(_) => "turn_end",
            Self::AgentEnd(_) => "agent_end",
            Self::AutoRetryStart(_) => "auto_retry_start",
            Self::AutoRetryEnd(_) => "auto_retry_end",
            Self::CompactionStart(_) => "compaction_start",
            Self::CompactionProgress(_) => "compaction_progress",
            Self::CompactionEnd(_) => "compaction_end",
            Self::SummarizationRetryScheduled(_) => "summarization_retry_scheduled",
            Self::SummarizationRetryAttemptStartBranchSummary(_) => {
                "summarization_retry_attempt_start"
            }
            Self::SummarizationRetryAttemptStartCompaction(_) => {
                "summarization_retry_attempt_start"
            }
            Self::SummarizationRetryFinished(_) => "summarization_retry_finished",
            Self::QueueUpdate(_) => "queue_update",
            Self::SessionInfoChanged(_) => "session_info_changed",
            Self::ThinkingLevelChanged(_) => "thinking_level_changed",
            Self::ThinkingLevelClamped(_) => "thinking_level_clamped",
            Self::SystemPromptChange(_) => "system_prompt_change",
        }
    }
}

impl<'de> Deserialize<'de> for SenpiEvent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        tag::read(from)
    }
}

impl<'de> Tagged<'de> for SenpiEvent {
    const TAG: &'static str = "type";
    const VALUES: &'static [&'static str] = SENPI_EVENT_TYPES;
    fn fields<D: Deserializer<'de>>(
        value: &'static str,
        rest: D,
    ) -> Result<Self, D::Error> {
        match value {
            "session" => SenpiSessionHeader::deserialize(rest).map(Self::Session),
            "agent_start" => {
                SenpiAgentStartEvent::deserialize(rest).map(Self::AgentStart)
            }
            "turn_start" => TurnStartEvent::deserialize(rest).map(Self::TurnStart),
            "message_start" => {
                MessageStartEvent::deserialize(rest).map(Self::MessageStart)
            }
            "message_update" => {
                MessageUpdateEvent::deserialize(rest).map(Self::MessageUpdate)
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
            "tool_hook_status" => {
                ToolHookStatusEvent::deserialize(rest).map(Self::ToolHookStatus)
            }
            "turn_end" => TurnEndEvent::deserialize(rest).map(Self::TurnEnd),
            "agent_end" => AgentEndEvent::deserialize(rest).map(Self::AgentEnd),
            "auto_retry_start" => {
                AutoRetryStartEvent::deserialize(rest).map(Self::AutoRetryStart)
            }
            "auto_retry_end" => {
                AutoRetryEndEvent::deserialize(rest).map(Self::AutoRetryEnd)
            }
            "compaction_start" => {
                SenpiCompactionStartEvent::deserialize(rest).map(Self::CompactionStart)
            }
            "compaction_progress" => {
                CompactionProgressEvent::deserialize(rest).map(Self::CompactionProgress)
            }
            "compaction_end" => {
                SenpiCompactionEndEvent::deserialize(rest).map(Self::CompactionEnd)
            }
            "summarization_retry_scheduled" => {
                SummarizationRetryScheduledEvent::deserialize(rest)
                    .map(Self::SummarizationRetryScheduled)
            }
            "summarization_retry_attempt_start" => {
                let (second, rest) = tag::second(rest, "source")?;
                match second.as_str() {
                    "branchSummary" => {
                        SummarizationRetryAttemptStartBranchSummaryEvent::deserialize(
                                rest,
                            )
                            .map(Self::SummarizationRetryAttemptStartBranchSummary)
                    }
                    "compaction" => {
                        SummarizationRetryAttemptStartCompactionEvent::deserialize(rest)
                            .map(Self::SummarizationRetryAttemptStartCompaction)
                    }
                    other => {
                        Err(
                            de::Error::custom(
                                format_args!(concat!("unknown ", "source", " `{}`"), other,),
                            ),
                        )
                    }
                }
                    .map_err(de::Error::custom)
            }
            "summarization_retry_finished" => {
                SummarizationRetryFinishedEvent::deserialize(rest)
                    .map(Self::SummarizationRetryFinished)
            }
            "queue_update" => QueueUpdateEvent::deserialize(rest).map(Self::QueueUpdate),
            "session_info_changed" => {
                SessionInfoChangedEvent::deserialize(rest).map(Self::SessionInfoChanged)
            }
            "thinking_level_changed" => {
                ThinkingLevelChangedEvent::deserialize(rest)
                    .map(Self::ThinkingLevelChanged)
            }
            "thinking_level_clamped" => {
                ThinkingLevelClampedEvent::deserialize(rest)
                    .map(Self::ThinkingLevelClamped)
            }
            "system_prompt_change" => {
                SystemPromptChangeEvent::deserialize(rest).map(Self::SystemPromptChange)
            }
            _ => Err(de::Error::unknown_variant(value, Self::VALUES)),
        }
    }
}

impl From<SenpiSessionHeader> for SenpiEvent {
    fn from(value: SenpiSessionHeader) -> Self {
        Self::Session(value)
    }
}

impl From<SenpiAgentStartEvent> for SenpiEvent {
    fn from(value: SenpiAgentStartEvent) -> Self {
        Self::AgentStart(value)
    }
}

impl From<TurnStartEvent> for SenpiEvent {
    fn from(value: TurnStartEvent) -> Self {
        Self::TurnStart(value)
    }
}

impl From<MessageStartEvent> for SenpiEvent {
    fn from(value: MessageStartEvent) -> Self {
        Self::MessageStart(value)
    }
}

impl From<MessageUpdateEvent> for SenpiEvent {
    fn from(value: MessageUpdateEvent) -> Self {
        Self::MessageUpdate(value)
    }
}

impl From<MessageEndEvent> for SenpiEvent {
    fn from(value: MessageEndEvent) -> Self {
        Self::MessageEnd(value)
    }
}

impl From<ToolExecutionStartEvent> for SenpiEvent {
    fn from(value: ToolExecutionStartEvent) -> Self {
        Self::ToolExecutionStart(value)
    }
}

impl From<ToolExecutionUpdateEvent> for SenpiEvent {
    fn from(value: ToolExecutionUpdateEvent) -> Self {
        Self::ToolExecutionUpdate(value)
    }
}

impl From<ToolExecutionEndEvent> for SenpiEvent {
    fn from(value: ToolExecutionEndEvent) -> Self {
        Self::ToolExecutionEnd(value)
    }
}

impl From<ToolHookStatusEvent> for SenpiEvent {
    fn from(value: ToolHookStatusEvent) -> Self {
        Self::ToolHookStatus(value)
    }
}

impl From<TurnEndEvent> for SenpiEvent {
    fn from(value: TurnEndEvent) -> Self {
        Self::TurnEnd(value)
    }
}

impl From<AgentEndEvent> for SenpiEvent {
    fn from(value: AgentEndEvent) -> Self {
        Self::AgentEnd(value)
    }
}

impl From<AutoRetryStartEvent> for SenpiEvent {
    fn from(value: AutoRetryStartEvent) -> Self {
        Self::AutoRetryStart(value)
    }
}

impl From<AutoRetryEndEvent> for SenpiEvent {
    fn from(value: AutoRetryEndEvent) -> Self {
        Self::AutoRetryEnd(value)
    }
}

impl From<SenpiCompactionStartEvent> for SenpiEvent {
    fn from(value: SenpiCompactionStartEvent) -> Self {
        Self::CompactionStart(value)
    }
}

impl From<CompactionProgressEvent> for SenpiEvent {
    fn from(value: CompactionProgressEvent) -> Self {
        Self::CompactionProgress(value)
    }
}

impl From<SenpiCompactionEndEvent> for SenpiEvent {
    fn from(value: SenpiCompactionEndEvent) -> Self {
        Self::CompactionEnd(value)
    }
}

impl From<SummarizationRetryScheduledEvent> for SenpiEvent {
    fn from(value: SummarizationRetryScheduledEvent) -> Self {
        Self::SummarizationRetryScheduled(value)
    }
}

impl From<SummarizationRetryAttemptStartBranchSummaryEvent> for SenpiEvent {
    fn from(value: SummarizationRetryAttemptStartBranchSummaryEvent) -> Self {
        Self::SummarizationRetryAttemptStartBranchSummary(value)
    }
}

impl From<SummarizationRetryAttemptStartCompactionEvent> for SenpiEvent {
    fn from(value: SummarizationRetryAttemptStartCompactionEvent) -> Self {
        Self::SummarizationRetryAttemptStartCompaction(value)
    }
}

impl From<SummarizationRetryFinishedEvent> for SenpiEvent {
    fn from(value: SummarizationRetryFinishedEvent) -> Self {
        Self::SummarizationRetryFinished(value)
    }
}

impl From<QueueUpdateEvent> for SenpiEvent {
    fn from(value: QueueUpdateEvent) -> Self {
        Self::QueueUpdate(value)
    }
}

impl From<SessionInfoChangedEvent> for SenpiEvent {
    fn from(value: SessionInfoChangedEvent) -> Self {
        Self::SessionInfoChanged(value)
    }
}

impl From<ThinkingLevelChangedEvent> for SenpiEvent {
    fn from(value: ThinkingLevelChangedEvent) -> Self {
        Self::ThinkingLevelChanged(value)
    }
}

impl From<ThinkingLevelClampedEvent> for SenpiEvent {
    fn from(value: ThinkingLevelClampedEvent) -> Self {
        Self::ThinkingLevelClamped(value)
    }
}

impl From<SystemPromptChangeEvent> for SenpiEvent {
    fn from(value: SystemPromptChangeEvent) -> Self {
        Self::SystemPromptChange(value)
    }
}

/// The first line of every senpi stream, exactly once, written before standard input is read and before any request. It is the session alone and says nothing of the form of the lines. A resumed session shows its stored id, time and directory; its earlier messages are not repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "session", remote = "Self")]
pub struct SenpiSessionHeader {
    /// Version of the session format; always 3.
    pub version: SenpiSessionHeaderVersion,
    /// Id of the session, a UUID unless the user chose one.
    pub id: String,
    /// When the session was made: ISO 8601 in UTC, with milliseconds and `Z`.
    pub timestamp: String,
    /// Absolute path of the working directory of the session.
    pub cwd: String,
    /// Path of the session file that this one was forked from. Absent otherwise.
    #[serde(
        rename = "parentSession",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub parent_session: Option<String>,
}

tagged!(SenpiSessionHeader : "type" = "session");

/// The `version` of [`SenpiSessionHeader`]: always `3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenpiSessionHeaderVersion;

constant!(SenpiSessionHeaderVersion : u64 = 3u64);
