// Made from schema/ by the build script. Do not edit; the copy in generated/ is for reading.

use super::tag::{self, Tagged, constant, present, tagged};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};

/// Why a run was stopped from outside: its session was replaced by another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "session_replaced", remote = "Self")]
pub struct AgentAbortCause {
    /// How the session was replaced.
    pub reason: SessionReplaceReason,
}

tagged!(AgentAbortCause : "type" = "session_replaced");

/// A run is over; closes the agent_start before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "agent_end", remote = "Self")]
pub struct AgentEndEvent {
    /// The messages that came up in this run, in the order of their message_end. A retry or a continuation does not repeat the prompt.
    pub messages: Vec<AgentMessage>,
    /// True exactly when an auto_retry_start follows. Going on after a compaction is told by compaction_end instead.
    #[serde(rename = "willRetry")]
    pub will_retry: bool,
    /// Why the run was stopped from outside. Absent unless its session was replaced.
    #[serde(
        rename = "abortCause",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub abort_cause: Option<AgentAbortCause>,
}

tagged!(AgentEndEvent : "type" = "agent_end");

/// A message of the session, told apart by `role`. Only `user`, `assistant`, `toolResult` and `custom` messages get message events.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AgentMessage {
    /// `user`: see [`UserMessage`].
    User(UserMessage),
    /// `assistant`: see [`AssistantMessage`].
    Assistant(AssistantMessage),
    /// `toolResult`: see [`ToolResultMessage`].
    ToolResult(ToolResultMessage),
    /// `bashExecution`: see [`BashExecutionMessage`].
    BashExecution(BashExecutionMessage),
    /// `custom`: see [`CustomMessage`].
    Custom(CustomMessage),
    /// `branchSummary`: see [`BranchSummaryMessage`].
    BranchSummary(BranchSummaryMessage),
    /// `compactionSummary`: see [`CompactionSummaryMessage`].
    CompactionSummary(CompactionSummaryMessage),
}

/// What the `role` of [`AgentMessage`] may be.
pub const AGENT_MESSAGE_ROLES: &[&str] = &[
    "user",
    "assistant",
    "toolResult",
    "bashExecution",
    "custom",
    "branchSummary",
    "compactionSummary",
];

impl AgentMessage {
    /// The `role` as it stands on the wire.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::User(_) => "user",
            Self::Assistant(_) => "assistant",
            Self::ToolResult(_) => "toolResult",
            Self::BashExecution(_) => "bashExecution",
            Self::Custom(_) => "custom",
            Self::BranchSummary(_) => "branchSummary",
            Self::CompactionSummary(_) => "compactionSummary",
        }
    }
}

impl<'de> Deserialize<'de> for AgentMessage {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        tag::read(from)
    }
}

impl<'de> Tagged<'de> for AgentMessage {
    const TAG: &'static str = "role";
    const VALUES: &'static [&'static str] = AGENT_MESSAGE_ROLES;
    fn fields<D: Deserializer<'de>>(
        value: &'static str,
        rest: D,
    ) -> Result<Self, D::Error> {
        match value {
            "user" => UserMessage::deserialize(rest).map(Self::User),
            "assistant" => AssistantMessage::deserialize(rest).map(Self::Assistant),
            "toolResult" => ToolResultMessage::deserialize(rest).map(Self::ToolResult),
            "bashExecution" => {
                BashExecutionMessage::deserialize(rest).map(Self::BashExecution)
            }
            "custom" => CustomMessage::deserialize(rest).map(Self::Custom),
            "branchSummary" => {
                BranchSummaryMessage::deserialize(rest).map(Self::BranchSummary)
            }
            "compactionSummary" => {
                CompactionSummaryMessage::deserialize(rest).map(Self::CompactionSummary)
            }
            _ => Err(de::Error::unknown_variant(value, Self::VALUES)),
        }
    }
}

impl From<UserMessage> for AgentMessage {
    fn from(value: UserMessage) -> Self {
        Self::User(value)
    }
}

impl From<AssistantMessage> for AgentMessage {
    fn from(value: AssistantMessage) -> Self {
        Self::Assistant(value)
    }
}

impl From<ToolResultMessage> for AgentMessage {
    fn from(value: ToolResultMessage) -> Self {
        Self::ToolResult(value)
    }
}

impl From<BashExecutionMessage> for AgentMessage {
    fn from(value: BashExecutionMessage) -> Self {
        Self::BashExecution(value)
    }
}

impl From<CustomMessage> for AgentMessage {
    fn from(value: CustomMessage) -> Self {
        Self::Custom(value)
    }
}

impl From<BranchSummaryMessage> for AgentMessage {
    fn from(value: BranchSummaryMessage) -> Self {
        Self::BranchSummary(value)
    }
}

impl From<CompactionSummaryMessage> for AgentMessage {
    fn from(value: CompactionSummaryMessage) -> Self {
        Self::CompactionSummary(value)
    }
}

/// A run begins: the work on one prompt, one retry, one continuation after a compaction, or one delivered result of a background agent. One agent_end closes it before the next run begins. On the dreb wire the whole stream is one run, begun right after the header.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "agent_start", remote = "Self")]
pub struct AgentStartEvent {
    /// The model that the run starts with. Absent when none is known.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub model: Option<ModelRef>,
    /// The thinking level in force, after clamping. Absent when no model is known.
    #[serde(
        rename = "thinkingLevel",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub thinking_level: Option<ThinkingLevel>,
}

tagged!(AgentStartEvent : "type" = "agent_start");

/// Why a routing decision failed, in groups: settings (`invalid_config`, `missing_scope`, `invalid_guide`), the arbiter's own model (`arbiter_model`, `arbiter_thinking`), its request (`context_too_large`, `inference_failed`, `timeout`, `aborted`), its answer (`malformed_output`, `unknown_agent`, `out_of_scope_model`, `unsupported_thinking`), and the host (`internal_error`, `observability_failed`: the decision could not be recorded).
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
pub enum ArbitrationErrorCode {
    /// `invalid_config`.
    #[serde(rename = "invalid_config")]
    InvalidConfig,
    /// `missing_scope`.
    #[serde(rename = "missing_scope")]
    MissingScope,
    /// `invalid_guide`.
    #[serde(rename = "invalid_guide")]
    InvalidGuide,
    /// `arbiter_model`.
    #[serde(rename = "arbiter_model")]
    ArbiterModel,
    /// `arbiter_thinking`.
    #[serde(rename = "arbiter_thinking")]
    ArbiterThinking,
    /// `context_too_large`.
    #[serde(rename = "context_too_large")]
    ContextTooLarge,
    /// `inference_failed`.
    #[serde(rename = "inference_failed")]
    InferenceFailed,
    /// `timeout`.
    #[serde(rename = "timeout")]
    Timeout,
    /// `aborted`.
    #[serde(rename = "aborted")]
    Aborted,
    /// `malformed_output`.
    #[serde(rename = "malformed_output")]
    MalformedOutput,
    /// `unknown_agent`.
    #[serde(rename = "unknown_agent")]
    UnknownAgent,
    /// `out_of_scope_model`.
    #[serde(rename = "out_of_scope_model")]
    OutOfScopeModel,
    /// `unsupported_thinking`.
    #[serde(rename = "unsupported_thinking")]
    UnsupportedThinking,
    /// `internal_error`.
    #[serde(rename = "internal_error")]
    InternalError,
    /// `observability_failed`.
    #[serde(rename = "observability_failed")]
    ObservabilityFailed,
}

impl ArbitrationErrorCode {
    /// Every value, in the order of the schema.
    pub const ALL: &'static [Self] = &[
        Self::InvalidConfig,
        Self::MissingScope,
        Self::InvalidGuide,
        Self::ArbiterModel,
        Self::ArbiterThinking,
        Self::ContextTooLarge,
        Self::InferenceFailed,
        Self::Timeout,
        Self::Aborted,
        Self::MalformedOutput,
        Self::UnknownAgent,
        Self::OutOfScopeModel,
        Self::UnsupportedThinking,
        Self::InternalError,
        Self::ObservabilityFailed,
    ];
    /// The value as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidConfig => "invalid_config",
            Self::MissingScope => "missing_scope",
            Self::InvalidGuide => "invalid_guide",
            Self::ArbiterModel => "arbiter_model",
            Self::ArbiterThinking => "arbiter_thinking",
            Self::ContextTooLarge => "context_too_large",
            Self::InferenceFailed => "inference_failed",
            Self::Timeout => "timeout",
            Self::Aborted => "aborted",
            Self::MalformedOutput => "malformed_output",
            Self::UnknownAgent => "unknown_agent",
            Self::OutOfScopeModel => "out_of_scope_model",
            Self::UnsupportedThinking => "unsupported_thinking",
            Self::InternalError => "internal_error",
            Self::ObservabilityFailed => "observability_failed",
        }
    }
}

impl ::std::fmt::Display for ArbitrationErrorCode {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        match *self {
            Self::InvalidConfig => f.write_str("invalid_config"),
            Self::MissingScope => f.write_str("missing_scope"),
            Self::InvalidGuide => f.write_str("invalid_guide"),
            Self::ArbiterModel => f.write_str("arbiter_model"),
            Self::ArbiterThinking => f.write_str("arbiter_thinking"),
            Self::ContextTooLarge => f.write_str("context_too_large"),
            Self::InferenceFailed => f.write_str("inference_failed"),
            Self::Timeout => f.write_str("timeout"),
            Self::Aborted => f.write_str("aborted"),
            Self::MalformedOutput => f.write_str("malformed_output"),
            Self::UnknownAgent => f.write_str("unknown_agent"),
            Self::OutOfScopeModel => f.write_str("out_of_scope_model"),
            Self::UnsupportedThinking => f.write_str("unsupported_thinking"),
            Self::InternalError => f.write_str("internal_error"),
            Self::ObservabilityFailed => f.write_str("observability_failed"),
        }
    }
}

impl ::std::str::FromStr for ArbitrationErrorCode {
    type Err = self::error::ConversionError;
    fn from_str(value: &str) -> Result<Self, self::error::ConversionError> {
        match value {
            "invalid_config" => Ok(Self::InvalidConfig),
            "missing_scope" => Ok(Self::MissingScope),
            "invalid_guide" => Ok(Self::InvalidGuide),
            "arbiter_model" => Ok(Self::ArbiterModel),
            "arbiter_thinking" => Ok(Self::ArbiterThinking),
            "context_too_large" => Ok(Self::ContextTooLarge),
            "inference_failed" => Ok(Self::InferenceFailed),
            "timeout" => Ok(Self::Timeout),
            "aborted" => Ok(Self::Aborted),
            "malformed_output" => Ok(Self::MalformedOutput),
            "unknown_agent" => Ok(Self::UnknownAgent),
            "out_of_scope_model" => Ok(Self::OutOfScopeModel),
            "unsupported_thinking" => Ok(Self::UnsupportedThinking),
            "internal_error" => Ok(Self::InternalError),
            "observability_failed" => Ok(Self::ObservabilityFailed),
            _ => Err("invalid value".into()),
        }
    }
}

/// Outcome of one routing decision: `success` (the agent starts with the final route), `failure` (no decision, the agent does not start).
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
pub enum ArbitrationStatus {
    /// `success`.
    #[serde(rename = "success")]
    Success,
    /// `failure`.
    #[serde(rename = "failure")]
    Failure,
}

impl ArbitrationStatus {
    /// Every value, in the order of the schema.
    pub const ALL: &'static [Self] = &[Self::Success, Self::Failure];
    /// The value as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
        }
    }
}

impl ::std::fmt::Display for ArbitrationStatus {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        match *self {
            Self::Success => f.write_str("success"),
            Self::Failure => f.write_str("failure"),
        }
    }
}

impl ::std::str::FromStr for ArbitrationStatus {
    type Err = self::error::ConversionError;
    fn from_str(value: &str) -> Result<Self, self::error::ConversionError> {
        match value {
            "success" => Ok(Self::Success),
            "failure" => Ok(Self::Failure),
            _ => Err("invalid value".into()),
        }
    }
}

/// A block of an assistant message, told apart by `type`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AssistantContent {
    /// `text`: see [`TextContent`].
    Text(TextContent),
    /// `thinking`: see [`ThinkingContent`].
    Thinking(ThinkingContent),
    /// `toolCall`: see [`ToolCall`].
    ToolCall(ToolCall),
}

/// What the `type` of [`AssistantContent`] may be.
pub const ASSISTANT_CONTENT_TYPES: &[&str] = &["text", "thinking", "toolCall"];

impl AssistantContent {
    /// The `type` as it stands on the wire.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Thinking(_) => "thinking",
            Self::ToolCall(_) => "toolCall",
        }
    }
}

impl<'de> Deserialize<'de> for AssistantContent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        tag::read(from)
    }
}

impl<'de> Tagged<'de> for AssistantContent {
    const TAG: &'static str = "type";
    const VALUES: &'static [&'static str] = ASSISTANT_CONTENT_TYPES;
    fn fields<D: Deserializer<'de>>(
        value: &'static str,
        rest: D,
    ) -> Result<Self, D::Error> {
        match value {
            "text" => TextContent::deserialize(rest).map(Self::Text),
            "thinking" => ThinkingContent::deserialize(rest).map(Self::Thinking),
            "toolCall" => ToolCall::deserialize(rest).map(Self::ToolCall),
            _ => Err(de::Error::unknown_variant(value, Self::VALUES)),
        }
    }
}

impl From<TextContent> for AssistantContent {
    fn from(value: TextContent) -> Self {
        Self::Text(value)
    }
}

impl From<ThinkingContent> for AssistantContent {
    fn from(value: ThinkingContent) -> Self {
        Self::Thinking(value)
    }
}

impl From<ToolCall> for AssistantContent {
    fn from(value: ToolCall) -> Self {
        Self::ToolCall(value)
    }
}

/// An answer of the model. While it is being written its `stopReason` is `pending` (on the dreb wire `stop`); message_end carries the final one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename = "assistant", remote = "Self")]
pub struct AssistantMessage {
    /// The blocks, in the order of their `contentIndex`; empty in a fresh message.
    pub content: Vec<AssistantContent>,
    /// Protocol that was spoken with the service, such as `anthropic-messages`.
    pub api: String,
    /// Key of the provider in the model list; `offline` for the built-in model that needs no network.
    pub provider: String,
    /// Id of the model that was asked.
    pub model: String,
    /// Tokens and cost of this request; zero in a fresh message.
    pub usage: Usage,
    /// Why the message ended, or `pending`.
    #[serde(rename = "stopReason")]
    pub stop_reason: StopReason,
    /// When the request was made, in ms since the Unix epoch.
    pub timestamp: u64,
    /// Id that the service gave the answer. Absent in a fresh message and when the service gives none.
    #[serde(
        rename = "responseId",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub response_id: Option<String>,
    /// Id of the model that really answered. Absent when it is the one that was asked.
    #[serde(
        rename = "responseModel",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub response_model: Option<String>,
    /// What went wrong. Absent unless `stopReason` is `error` or `aborted`.
    #[serde(
        rename = "errorMessage",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub error_message: Option<String>,
    /// Time from the request to the end of the answer, in ms. Absent in a fresh message.
    #[serde(
        rename = "durationMs",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub duration_ms: Option<crate::event::Number>,
}

tagged!(AssistantMessage : "role" = "assistant");

/// One step in the growth of an assistant message, told apart by `type`. Blocks are kept apart by `contentIndex`, and several may be open at once.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AssistantMessageEvent {
    /// `text_start`: see [`TextStart`].
    TextStart(TextStart),
    /// `text_delta`: see [`TextDelta`].
    TextDelta(TextDelta),
    /// `text_end`: see [`TextEnd`].
    TextEnd(TextEnd),
    /// `thinking_start`: see [`ThinkingStart`].
    ThinkingStart(ThinkingStart),
    /// `thinking_delta`: see [`ThinkingDelta`].
    ThinkingDelta(ThinkingDelta),
    /// `thinking_end`: see [`ThinkingEnd`].
    ThinkingEnd(ThinkingEnd),
    /// `toolcall_start`: see [`ToolcallStart`].
    ToolcallStart(ToolcallStart),
    /// `toolcall_delta`: see [`ToolcallDelta`].
    ToolcallDelta(ToolcallDelta),
    /// `toolcall_end`: see [`ToolcallEnd`].
    ToolcallEnd(ToolcallEnd),
}

/// What the `type` of [`AssistantMessageEvent`] may be.
pub const ASSISTANT_MESSAGE_EVENT_TYPES: &[&str] = &[
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

impl AssistantMessageEvent {
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

impl<'de> Deserialize<'de> for AssistantMessageEvent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        tag::read(from)
    }
}

impl<'de> Tagged<'de> for AssistantMessageEvent {
    const TAG: &'static str = "type";
    const VALUES: &'static [&'static str] = ASSISTANT_MESSAGE_EVENT_TYPES;
    fn fields<D: Deserializer<'de>>(
        value: &'static str,
        rest: D,
    ) -> Result<Self, D::Error> {
        match value {
            "text_start" => TextStart::deserialize(rest).map(Self::TextStart),
            "text_delta" => TextDelta::deserialize(rest).map(Self::TextDelta),
            "text_end" => TextEnd::deserialize(rest).map(Self::TextEnd),
            "thinking_start" => ThinkingStart::deserialize(rest).map(Self::ThinkingStart),
            "thinking_delta" => ThinkingDelta::deserialize(rest).map(Self::ThinkingDelta),
            "thinking_end" => ThinkingEnd::deserialize(rest).map(Self::ThinkingEnd),
            "toolcall_start" => ToolcallStart::deserialize(rest).map(Self::ToolcallStart),
            "toolcall_delta" => ToolcallDelta::deserialize(rest).map(Self::ToolcallDelta),
            "toolcall_end" => ToolcallEnd::deserialize(rest).map(Self::ToolcallEnd),
            _ => Err(de::Error::unknown_variant(value, Self::VALUES)),
        }
    }
}

impl From<TextStart> for AssistantMessageEvent {
    fn from(value: TextStart) -> Self {
        Self::TextStart(value)
    }
}

impl From<TextDelta> for AssistantMessageEvent {
    fn from(value: TextDelta) -> Self {
        Self::TextDelta(value)
    }
}

impl From<TextEnd> for AssistantMessageEvent {
    fn from(value: TextEnd) -> Self {
        Self::TextEnd(value)
    }
}

impl From<ThinkingStart> for AssistantMessageEvent {
    fn from(value: ThinkingStart) -> Self {
        Self::ThinkingStart(value)
    }
}

impl From<ThinkingDelta> for AssistantMessageEvent {
    fn from(value: ThinkingDelta) -> Self {
        Self::ThinkingDelta(value)
    }
}

impl From<ThinkingEnd> for AssistantMessageEvent {
    fn from(value: ThinkingEnd) -> Self {
        Self::ThinkingEnd(value)
    }
}

impl From<ToolcallStart> for AssistantMessageEvent {
    fn from(value: ToolcallStart) -> Self {
        Self::ToolcallStart(value)
    }
}

impl From<ToolcallDelta> for AssistantMessageEvent {
    fn from(value: ToolcallDelta) -> Self {
        Self::ToolcallDelta(value)
    }
}

impl From<ToolcallEnd> for AssistantMessageEvent {
    fn from(value: ToolcallEnd) -> Self {
        Self::ToolcallEnd(value)
    }
}

/// A series of retries is over. On success directly after the message_end of the good answer, before its tools and its turn_end; on failure after the agent_end of the last run (on the dreb wire: the turn_end of the last turn), or after an auto_retry_start whose wait was cut short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "auto_retry_end", remote = "Self")]
pub struct AutoRetryEndEvent {
    /// True when a retry brought an answer.
    pub success: bool,
    /// Number of the last retry, from 1: that of the last auto_retry_start.
    pub attempt: u64,
    /// The error that ended the series. Absent on success.
    #[serde(
        rename = "finalError",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub final_error: Option<String>,
}

tagged!(AutoRetryEndEvent : "type" = "auto_retry_end");

/// A failed answer is going to be requested again, from the same model or from the next one of a fallback chain; directly after the agent_end of the failed run, before the wait. The retry is a run of its own. On the dreb wire it follows the turn_end instead, and the retry is a turn. One auto_retry_end closes the whole series, however many auto_retry_start and models it has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "auto_retry_start", remote = "Self")]
pub struct AutoRetryStartEvent {
    /// Number of the retry, from 1; the first request to a model that takes over is number 1 again.
    pub attempt: u64,
    /// Most retries that are made with one model; one more for a model that takes over, whose first request counts.
    #[serde(rename = "maxAttempts")]
    pub max_attempts: u64,
    /// Wait before the retry, in ms; 0 when another model takes over.
    #[serde(rename = "delayMs")]
    pub delay_ms: u64,
    /// The error that is being retried. It also names the model that takes over, if one does.
    #[serde(rename = "errorMessage")]
    pub error_message: String,
}

tagged!(AutoRetryStartEvent : "type" = "auto_retry_start");

/// A background agent is over; closes the background_agent_start of the same `agentId`. Its result reaches the model as a user message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "background_agent_end", remote = "Self")]
pub struct BackgroundAgentEndEvent {
    /// Id of the background agent.
    #[serde(rename = "agentId")]
    pub agent_id: String,
    /// Name of the agent definition that ran, after arbitration.
    #[serde(rename = "agentType")]
    pub agent_type: String,
    /// True when it ended well.
    pub success: bool,
    /// Model it ran on, as `provider/id`. Absent when it never reached a model, and for chains.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub model: Option<String>,
    /// Thinking level it ran at. Absent when it never reached a model, and for chains.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub thinking: Option<ThinkingLevel>,
    /// The steps of a chain that were carried out, in order. Absent outside chains.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub steps: Option<Vec<SubagentStepMetadata>>,
    /// Path of its session file. Absent when none was written, and for chains.
    #[serde(
        rename = "sessionFile",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub session_file: Option<String>,
}

tagged!(BackgroundAgentEndEvent : "type" = "background_agent_end");

/// A line that a running background agent wrote to its own stream, passed on as it is; between its background_agent_start and background_agent_end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "background_agent_event", remote = "Self")]
pub struct BackgroundAgentEvent {
    /// Id of the background agent.
    #[serde(rename = "agentId")]
    pub agent_id: String,
    /// The line of the background agent.
    pub event: Box<QuipuEvent>,
}

tagged!(BackgroundAgentEvent : "type" = "background_agent_event");

/// A background agent was taken on and will start when there is room; normally while the tool call that asked for it runs. One background_agent_end with the same `agentId` closes it, possibly long after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "background_agent_start", remote = "Self")]
pub struct BackgroundAgentStartEvent {
    /// Id of the background agent.
    #[serde(rename = "agentId")]
    pub agent_id: String,
    /// Name of the agent definition that was asked for.
    #[serde(rename = "agentType")]
    pub agent_type: String,
    /// What it is to do, in a few words for people.
    #[serde(rename = "taskSummary")]
    pub task_summary: String,
    /// Directory of its session files; may not exist yet. Absent when it keeps no session.
    #[serde(
        rename = "sessionDir",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub session_dir: Option<String>,
}

tagged!(BackgroundAgentStartEvent : "type" = "background_agent_start");

/// A command that the user, not the model, ran in the session. It is part of the state and of session files; no message event is ever written for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename = "bashExecution", remote = "Self")]
pub struct BashExecutionMessage {
    /// The command line.
    pub command: String,
    /// What the command printed, possibly only the end of it.
    pub output: String,
    /// Exit code of the command. Absent when it was killed or never started.
    #[serde(
        rename = "exitCode",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub exit_code: Option<i64>,
    /// True when the command was stopped before its end.
    pub cancelled: bool,
    /// True when `output` is not all that was printed.
    pub truncated: bool,
    /// Path of a file with the whole output. Absent when nothing was cut off.
    #[serde(
        rename = "fullOutputPath",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub full_output_path: Option<String>,
    /// When the command ended, in ms since the Unix epoch.
    pub timestamp: u64,
    /// True when the model does not get to see the command. Absent when it does.
    #[serde(
        rename = "excludeFromContext",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub exclude_from_context: Option<bool>,
}

tagged!(BashExecutionMessage : "role" = "bashExecution");

/// A summary of a branch that was left, at the place where another begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "branch_summary", remote = "Self")]
pub struct BranchSummaryEntry {
    /// Id of the entry, unique in its file; usually 8 hex digits.
    pub id: String,
    /// Id of the entry that this one follows; null when it follows none, as the first entry of a file.
    #[serde(rename = "parentId", deserialize_with = "Option::deserialize")]
    pub parent_id: Option<String>,
    /// When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`.
    pub timestamp: String,
    /// Id of the entry where the branch that was left ended, or `root`.
    #[serde(rename = "fromId")]
    pub from_id: String,
    /// What happened on that branch, in Markdown.
    pub summary: String,
    /// Further data on the summary, by default `readFiles` and `modifiedFiles`, two lists of paths. Absent when there is none.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub details: Option<Value>,
    /// Tokens and cost of the summary requests. Absent when no model wrote the summary, or its usage is not known.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub usage: Option<Usage>,
    /// True when a hook or an extension wrote the summary. Absent when it is not known.
    #[serde(
        rename = "fromHook",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub from_hook: Option<bool>,
}

tagged!(BranchSummaryEntry : "type" = "branch_summary");

/// The summary of a branch of the session that was left. It is part of the state; no message event is ever written for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename = "branchSummary", remote = "Self")]
pub struct BranchSummaryMessage {
    /// What happened on that branch, in Markdown.
    pub summary: String,
    /// Id of the session entry where the branch ended, or `root`.
    #[serde(rename = "fromId")]
    pub from_id: String,
    /// When the summary was made, in ms since the Unix epoch.
    pub timestamp: u64,
}

tagged!(BranchSummaryMessage : "role" = "branchSummary");

/// A compaction is over; closes compaction_start. It stands alone, without a start, when the context overflows a second time in a row and no further compaction is tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "compaction_end", remote = "Self")]
pub struct CompactionEndEvent {
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
    /// Id that start and end of one compaction share; on the senpi wire only the end has it. Absent when it has no start.
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
    /// Tokens and cost of summary requests that led to no result: they failed, were refused or cancelled. Absent when there is a `result`, which has the usage of all requests, and when none was counted.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub usage: Option<Usage>,
}

tagged!(CompactionEndEvent : "type" = "compaction_end");

/// A summary that takes the place of the messages before `firstKeptEntryId`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "compaction", remote = "Self")]
pub struct CompactionEntry {
    /// Id of the entry, unique in its file; usually 8 hex digits.
    pub id: String,
    /// Id of the entry that this one follows; null when it follows none, as the first entry of a file.
    #[serde(rename = "parentId", deserialize_with = "Option::deserialize")]
    pub parent_id: Option<String>,
    /// When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`.
    pub timestamp: String,
    /// The summary, in Markdown.
    pub summary: String,
    /// Id of the first entry that stays in the context as it is.
    #[serde(rename = "firstKeptEntryId")]
    pub first_kept_entry_id: String,
    /// Tokens in the context before the compaction.
    #[serde(rename = "tokensBefore")]
    pub tokens_before: u64,
    /// Further data on the summary, by default `readFiles` and `modifiedFiles`, two lists of paths. Absent when there is none.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub details: Option<Value>,
    /// Tokens and cost of the summary requests. Absent when no model wrote the summary, or its usage is not known.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub usage: Option<Usage>,
    /// True when a hook or an extension wrote the summary. Absent when it is not known.
    #[serde(
        rename = "fromHook",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub from_hook: Option<bool>,
}

tagged!(CompactionEntry : "type" = "compaction");

/// The summary of a running compaction grows. Comes between compaction_start and compaction_end, any number of times. Put together, its lines give the `summary` of the result; when a request is made again, a line with `text` takes back what the failed one had written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "compaction_progress", remote = "Self")]
pub struct CompactionProgressEvent {
    /// What caused the compaction.
    pub reason: CompactionReason,
    /// The next piece of the summary, to be appended. Absent when `text` is given.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub delta: Option<String>,
    /// The whole summary so far, in place of all before it. Absent when `delta` is given.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub text: Option<String>,
}

tagged!(CompactionProgressEvent : "type" = "compaction_progress");

/// What caused a compaction: `manual` (someone asked for it), `threshold` (the context came near the window), `overflow` (the service refused the context as too long).
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
pub enum CompactionReason {
    /// `manual`.
    #[serde(rename = "manual")]
    Manual,
    /// `threshold`.
    #[serde(rename = "threshold")]
    Threshold,
    /// `overflow`.
    #[serde(rename = "overflow")]
    Overflow,
}

impl CompactionReason {
    /// Every value, in the order of the schema.
    pub const ALL: &'static [Self] = &[Self::Manual, Self::Threshold, Self::Overflow];
    /// The value as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Threshold => "threshold",
            Self::Overflow => "overflow",
        }
    }
}

impl ::std::fmt::Display for CompactionReason {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        match *self {
            Self::Manual => f.write_str("manual"),
            Self::Threshold => f.write_str("threshold"),
            Self::Overflow => f.write_str("overflow"),
        }
    }
}

impl ::std::str::FromStr for CompactionReason {
    type Err = self::error::ConversionError;
    fn from_str(value: &str) -> Result<Self, self::error::ConversionError> {
        match value {
            "manual" => Ok(Self::Manual),
            "threshold" => Ok(Self::Threshold),
            "overflow" => Ok(Self::Overflow),
            _ => Err("invalid value".into()),
        }
    }
}

/// Why a compaction was refused: `cancelled-by-extension` (a hook said no), `external-owner` (the provider compacts this session itself), `would-overflow` (the result would still not fit), `circuit-breaker` (too many failures in a row), `per-turn-cap` (the allowed number is used up).
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
pub enum CompactionRejectionCause {
    /// `cancelled-by-extension`.
    #[serde(rename = "cancelled-by-extension")]
    CancelledByExtension,
    /// `external-owner`.
    #[serde(rename = "external-owner")]
    ExternalOwner,
    /// `would-overflow`.
    #[serde(rename = "would-overflow")]
    WouldOverflow,
    /// `circuit-breaker`.
    #[serde(rename = "circuit-breaker")]
    CircuitBreaker,
    /// `per-turn-cap`.
    #[serde(rename = "per-turn-cap")]
    PerTurnCap,
}

impl CompactionRejectionCause {
    /// Every value, in the order of the schema.
    pub const ALL: &'static [Self] = &[
        Self::CancelledByExtension,
        Self::ExternalOwner,
        Self::WouldOverflow,
        Self::CircuitBreaker,
        Self::PerTurnCap,
    ];
    /// The value as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CancelledByExtension => "cancelled-by-extension",
            Self::ExternalOwner => "external-owner",
            Self::WouldOverflow => "would-overflow",
            Self::CircuitBreaker => "circuit-breaker",
            Self::PerTurnCap => "per-turn-cap",
        }
    }
}

impl ::std::fmt::Display for CompactionRejectionCause {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        match *self {
            Self::CancelledByExtension => f.write_str("cancelled-by-extension"),
            Self::ExternalOwner => f.write_str("external-owner"),
            Self::WouldOverflow => f.write_str("would-overflow"),
            Self::CircuitBreaker => f.write_str("circuit-breaker"),
            Self::PerTurnCap => f.write_str("per-turn-cap"),
        }
    }
}

impl ::std::str::FromStr for CompactionRejectionCause {
    type Err = self::error::ConversionError;
    fn from_str(value: &str) -> Result<Self, self::error::ConversionError> {
        match value {
            "cancelled-by-extension" => Ok(Self::CancelledByExtension),
            "external-owner" => Ok(Self::ExternalOwner),
            "would-overflow" => Ok(Self::WouldOverflow),
            "circuit-breaker" => Ok(Self::CircuitBreaker),
            "per-turn-cap" => Ok(Self::PerTurnCap),
            _ => Err("invalid value".into()),
        }
    }
}

/// The outcome of a compaction: the summary that takes the place of older messages, and from where on messages are kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompactionResult {
    /// The summary, in Markdown.
    pub summary: String,
    /// Id of the first session entry that stays in the context as it is.
    #[serde(rename = "firstKeptEntryId")]
    pub first_kept_entry_id: String,
    /// Tokens in the context before the compaction.
    #[serde(rename = "tokensBefore")]
    pub tokens_before: u64,
    /// Tokens and cost of the summary requests. Absent when no model wrote the summary.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub usage: Option<Usage>,
    /// Further data on the compaction, by default `readFiles` and `modifiedFiles`, two lists of paths. Absent when there is none.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub details: Option<Value>,
    /// Estimated tokens in the context after the compaction. Absent when not estimated.
    #[serde(
        rename = "estimatedTokensAfter",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub estimated_tokens_after: Option<u64>,
}

/// The context is being replaced by a summary: between two runs, between two turns, or between agent_start and the first turn_start of a run. One compaction_end closes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "compaction_start", remote = "Self")]
pub struct CompactionStartEvent {
    /// What caused it.
    pub reason: CompactionReason,
    /// Id that start and end of one compaction share. Absent when the producer gives none.
    #[serde(
        rename = "requestId",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub request_id: Option<String>,
}

tagged!(CompactionStartEvent : "type" = "compaction_start");

/// The summary that stands for older messages after a compaction. It is part of the state; no message event is ever written for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename = "compactionSummary", remote = "Self")]
pub struct CompactionSummaryMessage {
    /// The summary, in Markdown.
    pub summary: String,
    /// Tokens in the context before the compaction.
    #[serde(rename = "tokensBefore")]
    pub tokens_before: u64,
    /// Further data on the compaction, in the shape of the result's `details`. Absent when there is none.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub details: Option<Value>,
    /// When the summary was made, in ms since the Unix epoch.
    pub timestamp: u64,
}

tagged!(CompactionSummaryMessage : "role" = "compactionSummary");

/// What a request cost, in US dollars, by kind of token. Zero where the model's price is unknown or free.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// US dollars for uncached input tokens.
    pub input: crate::event::Number,
    /// US dollars for output tokens, reasoning included.
    pub output: crate::event::Number,
    /// US dollars for input tokens served from the cache.
    #[serde(rename = "cacheRead")]
    pub cache_read: crate::event::Number,
    /// US dollars for input tokens written to the cache.
    #[serde(rename = "cacheWrite")]
    pub cache_write: crate::event::Number,
    /// US dollars altogether: the sum of the other four.
    pub total: crate::event::Number,
}

/// Data that the program or an extension keeps with the session. The model never sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "custom", remote = "Self")]
pub struct CustomEntry {
    /// Name of the kind of data, chosen by whoever stored it.
    #[serde(rename = "customType")]
    pub custom_type: String,
    /// The data, in the shape of its kind. Absent when there is none.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub data: Option<Value>,
    /// Id of the entry, unique in its file; usually 8 hex digits.
    pub id: String,
    /// Id of the entry that this one follows; null when it follows none, as the first entry of a file.
    #[serde(rename = "parentId", deserialize_with = "Option::deserialize")]
    pub parent_id: Option<String>,
    /// When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`.
    pub timestamp: String,
}

tagged!(CustomEntry : "type" = "custom");

/// A message put into the session by the host, a hook or an extension. The model reads it like a user's message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename = "custom", remote = "Self")]
pub struct CustomMessage {
    /// Name of the kind of message, chosen by whoever put it in.
    #[serde(rename = "customType")]
    pub custom_type: String,
    /// What it says: a string or blocks.
    pub content: UserContent,
    /// True when it is meant to be shown to people too.
    pub display: bool,
    /// Further data in the sender's own shape; the model does not see it. Absent when there is none.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub details: Option<Value>,
    /// When the message was made, in ms since the Unix epoch.
    pub timestamp: u64,
}

tagged!(CustomMessage : "role" = "custom");

/// A message put into the session by the host, a hook or an extension. The model reads it like a user's message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "custom_message", remote = "Self")]
pub struct CustomMessageEntry {
    /// Name of the kind of message, chosen by whoever put it in.
    #[serde(rename = "customType")]
    pub custom_type: String,
    /// What it says: a string or blocks.
    pub content: UserContent,
    /// True when it is meant to be shown to people too.
    pub display: bool,
    /// Further data in the sender's own shape; the model does not see it. Absent when there is none.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub details: Option<Value>,
    /// Id of the entry, unique in its file; usually 8 hex digits.
    pub id: String,
    /// Id of the entry that this one follows; null when it follows none, as the first entry of a file.
    #[serde(rename = "parentId", deserialize_with = "Option::deserialize")]
    pub parent_id: Option<String>,
    /// When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`.
    pub timestamp: String,
}

tagged!(CustomMessageEntry : "type" = "custom_message");

/// Where a background agent's work goes: which agent definition, on which model, at which thinking level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DispatchRoute {
    /// Name of the agent definition.
    pub agent: String,
    /// The model as `provider/id`; empty when a proposal could not be resolved.
    pub model: String,
    /// Thinking level for that agent.
    pub thinking: ThinkingLevel,
}

/// What went wrong, for programs. From the model service: `auth` (the key was refused), `rate_limited`, `overloaded`, `context_overflow`, `quota`, `invalid_request`, `content_refused`, `network`, `timeout`, `provider_error` (anything else it sent). From this side: `usage` (bad flag, value or input file), `configuration` (settings or model list), `credentials` (no key found), `session` (not readable or not writable), `limit`, `interrupted`, `internal`.
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
pub enum ErrorCode {
    /// `auth`.
    #[serde(rename = "auth")]
    Auth,
    /// `rate_limited`.
    #[serde(rename = "rate_limited")]
    RateLimited,
    /// `overloaded`.
    #[serde(rename = "overloaded")]
    Overloaded,
    /// `context_overflow`.
    #[serde(rename = "context_overflow")]
    ContextOverflow,
    /// `quota`.
    #[serde(rename = "quota")]
    Quota,
    /// `invalid_request`.
    #[serde(rename = "invalid_request")]
    InvalidRequest,
    /// `content_refused`.
    #[serde(rename = "content_refused")]
    ContentRefused,
    /// `network`.
    #[serde(rename = "network")]
    Network,
    /// `timeout`.
    #[serde(rename = "timeout")]
    Timeout,
    /// `provider_error`.
    #[serde(rename = "provider_error")]
    ProviderError,
    /// `usage`.
    #[serde(rename = "usage")]
    Usage,
    /// `configuration`.
    #[serde(rename = "configuration")]
    Configuration,
    /// `credentials`.
    #[serde(rename = "credentials")]
    Credentials,
    /// `session`.
    #[serde(rename = "session")]
    Session,
    /// `limit`.
    #[serde(rename = "limit")]
    Limit,
    /// `interrupted`.
    #[serde(rename = "interrupted")]
    Interrupted,
    /// `internal`.
    #[serde(rename = "internal")]
    Internal,
}

impl ErrorCode {
    /// Every value, in the order of the schema.
    pub const ALL: &'static [Self] = &[
        Self::Auth,
        Self::RateLimited,
        Self::Overloaded,
        Self::ContextOverflow,
        Self::Quota,
        Self::InvalidRequest,
        Self::ContentRefused,
        Self::Network,
        Self::Timeout,
        Self::ProviderError,
        Self::Usage,
        Self::Configuration,
        Self::Credentials,
        Self::Session,
        Self::Limit,
        Self::Interrupted,
        Self::Internal,
    ];
    /// The value as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::ContextOverflow => "context_overflow",
            Self::Quota => "quota",
            Self::InvalidRequest => "invalid_request",
            Self::ContentRefused => "content_refused",
            Self::Network => "network",
            Self::Timeout => "timeout",
            Self::ProviderError => "provider_error",
            Self::Usage => "usage",
            Self::Configuration => "configuration",
            Self::Credentials => "credentials",
            Self::Session => "session",
            Self::Limit => "limit",
            Self::Interrupted => "interrupted",
            Self::Internal => "internal",
        }
    }
}

impl ::std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        match *self {
            Self::Auth => f.write_str("auth"),
            Self::RateLimited => f.write_str("rate_limited"),
            Self::Overloaded => f.write_str("overloaded"),
            Self::ContextOverflow => f.write_str("context_overflow"),
            Self::Quota => f.write_str("quota"),
            Self::InvalidRequest => f.write_str("invalid_request"),
            Self::ContentRefused => f.write_str("content_refused"),
            Self::Network => f.write_str("network"),
            Self::Timeout => f.write_str("timeout"),
            Self::ProviderError => f.write_str("provider_error"),
            Self::Usage => f.write_str("usage"),
            Self::Configuration => f.write_str("configuration"),
            Self::Credentials => f.write_str("credentials"),
            Self::Session => f.write_str("session"),
            Self::Limit => f.write_str("limit"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Internal => f.write_str("internal"),
        }
    }
}

impl ::std::str::FromStr for ErrorCode {
    type Err = self::error::ConversionError;
    fn from_str(value: &str) -> Result<Self, self::error::ConversionError> {
        match value {
            "auth" => Ok(Self::Auth),
            "rate_limited" => Ok(Self::RateLimited),
            "overloaded" => Ok(Self::Overloaded),
            "context_overflow" => Ok(Self::ContextOverflow),
            "quota" => Ok(Self::Quota),
            "invalid_request" => Ok(Self::InvalidRequest),
            "content_refused" => Ok(Self::ContentRefused),
            "network" => Ok(Self::Network),
            "timeout" => Ok(Self::Timeout),
            "provider_error" => Ok(Self::ProviderError),
            "usage" => Ok(Self::Usage),
            "configuration" => Ok(Self::Configuration),
            "credentials" => Ok(Self::Credentials),
            "session" => Ok(Self::Session),
            "limit" => Ok(Self::Limit),
            "interrupted" => Ok(Self::Interrupted),
            "internal" => Ok(Self::Internal),
            _ => Err("invalid value".into()),
        }
    }
}

/// Where a hook run stands: `start` (it began), `update` (it changed its status text), `end` (it is over).
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
pub enum HookPhase {
    /// `start`.
    #[serde(rename = "start")]
    Start,
    /// `update`.
    #[serde(rename = "update")]
    Update,
    /// `end`.
    #[serde(rename = "end")]
    End,
}

impl HookPhase {
    /// Every value, in the order of the schema.
    pub const ALL: &'static [Self] = &[Self::Start, Self::Update, Self::End];
    /// The value as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Update => "update",
            Self::End => "end",
        }
    }
}

impl ::std::fmt::Display for HookPhase {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        match *self {
            Self::Start => f.write_str("start"),
            Self::Update => f.write_str("update"),
            Self::End => f.write_str("end"),
        }
    }
}

impl ::std::str::FromStr for HookPhase {
    type Err = self::error::ConversionError;
    fn from_str(value: &str) -> Result<Self, self::error::ConversionError> {
        match value {
            "start" => Ok(Self::Start),
            "update" => Ok(Self::Update),
            "end" => Ok(Self::End),
            _ => Err("invalid value".into()),
        }
    }
}

/// How a hook run ended: `completed` (it let the call pass), `blocked` (it stopped the call), `failed` (the hook itself broke).
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
pub enum HookStatus {
    /// `completed`.
    #[serde(rename = "completed")]
    Completed,
    /// `blocked`.
    #[serde(rename = "blocked")]
    Blocked,
    /// `failed`.
    #[serde(rename = "failed")]
    Failed,
}

impl HookStatus {
    /// Every value, in the order of the schema.
    pub const ALL: &'static [Self] = &[Self::Completed, Self::Blocked, Self::Failed];
    /// The value as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Blocked => "blocked",
            Self::Failed => "failed",
        }
    }
}

impl ::std::fmt::Display for HookStatus {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        match *self {
            Self::Completed => f.write_str("completed"),
            Self::Blocked => f.write_str("blocked"),
            Self::Failed => f.write_str("failed"),
        }
    }
}

impl ::std::str::FromStr for HookStatus {
    type Err = self::error::ConversionError;
    fn from_str(value: &str) -> Result<Self, self::error::ConversionError> {
        match value {
            "completed" => Ok(Self::Completed),
            "blocked" => Ok(Self::Blocked),
            "failed" => Ok(Self::Failed),
            _ => Err("invalid value".into()),
        }
    }
}

/// An image in a user, custom or tool-result message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "image", remote = "Self")]
pub struct ImageContent {
    /// The bytes of the image in standard base64.
    pub data: String,
    /// Media type, such as `image/png`.
    #[serde(rename = "mimeType")]
    pub mime_type: String,
}

tagged!(ImageContent : "type" = "image");

/// A block of a user, custom or tool-result message, told apart by `type`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum InputContent {
    /// `text`: see [`TextContent`].
    Text(TextContent),
    /// `image`: see [`ImageContent`].
    Image(ImageContent),
}

/// What the `type` of [`InputContent`] may be.
pub const INPUT_CONTENT_TYPES: &[&str] = &["text", "image"];

impl InputContent {
    /// The `type` as it stands on the wire.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Image(_) => "image",
        }
    }
}

impl<'de> Deserialize<'de> for InputContent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        tag::read(from)
    }
}

impl<'de> Tagged<'de> for InputContent {
    const TAG: &'static str = "type";
    const VALUES: &'static [&'static str] = INPUT_CONTENT_TYPES;
    fn fields<D: Deserializer<'de>>(
        value: &'static str,
        rest: D,
    ) -> Result<Self, D::Error> {
        match value {
            "text" => TextContent::deserialize(rest).map(Self::Text),
            "image" => ImageContent::deserialize(rest).map(Self::Image),
            _ => Err(de::Error::unknown_variant(value, Self::VALUES)),
        }
    }
}

impl From<TextContent> for InputContent {
    fn from(value: TextContent) -> Self {
        Self::Text(value)
    }
}

impl From<ImageContent> for InputContent {
    fn from(value: ImageContent) -> Self {
        Self::Image(value)
    }
}

/// A kind of input that a model takes: `text` or `image`.
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
pub enum InputModality {
    /// `text`.
    #[serde(rename = "text")]
    Text,
    /// `image`.
    #[serde(rename = "image")]
    Image,
}

impl InputModality {
    /// Every value, in the order of the schema.
    pub const ALL: &'static [Self] = &[Self::Text, Self::Image];
    /// The value as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Image => "image",
        }
    }
}

impl ::std::fmt::Display for InputModality {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        match *self {
            Self::Text => f.write_str("text"),
            Self::Image => f.write_str("image"),
        }
    }
}

impl ::std::str::FromStr for InputModality {
    type Err = self::error::ConversionError;
    fn from_str(value: &str) -> Result<Self, self::error::ConversionError> {
        match value {
            "text" => Ok(Self::Text),
            "image" => Ok(Self::Image),
            _ => Err("invalid value".into()),
        }
    }
}

/// A name that somebody gave to an entry, to find it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "label", remote = "Self")]
pub struct LabelEntry {
    /// Id of the entry, unique in its file; usually 8 hex digits.
    pub id: String,
    /// Id of the entry that this one follows; null when it follows none, as the first entry of a file.
    #[serde(rename = "parentId", deserialize_with = "Option::deserialize")]
    pub parent_id: Option<String>,
    /// When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`.
    pub timestamp: String,
    /// Id of the entry that is named.
    #[serde(rename = "targetId")]
    pub target_id: String,
    /// The name. Absent when the entry loses its name.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub label: Option<String>,
}

tagged!(LabelEntry : "type" = "label");

/// A message is complete; closes the message_start before it and is what readers should keep. With `stopReason` `error` or `aborted` it also closes the blocks that are still open, without any text_end, thinking_end or toolcall_end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "message_end", remote = "Self")]
pub struct MessageEndEvent {
    /// The final message.
    pub message: AgentMessage,
}

tagged!(MessageEndEvent : "type" = "message_end");

/// A message of the conversation, stored before the line that announces its end is written. A message of the host or of a hook is a `custom_message` entry instead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "message", remote = "Self")]
pub struct MessageEntry {
    /// Id of the entry, unique in its file; usually 8 hex digits.
    pub id: String,
    /// Id of the entry that this one follows; null when it follows none, as the first entry of a file.
    #[serde(rename = "parentId", deserialize_with = "Option::deserialize")]
    pub parent_id: Option<String>,
    /// When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`.
    pub timestamp: String,
    /// The whole message.
    pub message: AgentMessage,
}

tagged!(MessageEntry : "type" = "message");

/// A message begins. User, custom and tool-result messages are whole and their message_end follows directly. An assistant message is empty and `pending` (on the dreb wire `stop`); when the request failed or was stopped before an answer began, it is the whole error message instead and its message_end follows directly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "message_start", remote = "Self")]
pub struct MessageStartEvent {
    /// The message so far: whole, except for an assistant message that is about to be written.
    pub message: AgentMessage,
}

tagged!(MessageStartEvent : "type" = "message_start");

/// A pending assistant message grows by one delta. Comes between its message_start and its message_end, any number of times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "message_update", remote = "Self")]
pub struct MessageUpdateEvent {
    /// Latest tokens and cost of this request; may stay zero until the answer ends.
    pub usage: Usage,
    /// The delta.
    #[serde(rename = "assistantMessageEvent")]
    pub assistant_message_event: AssistantMessageEvent,
    /// Name of the tool that the call will run; the requested name when no tool matches. Only with toolcall_start and toolcall_end, absent with any other delta.
    #[serde(
        rename = "resolvedToolName",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub resolved_tool_name: Option<String>,
}

tagged!(MessageUpdateEvent : "type" = "message_update");

/// A model as the model list knows it. Addresses, headers and keys are left out, because they could hold secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Id of the model within its provider.
    pub id: String,
    /// Name for people; equal to `id` when the list gives none.
    pub name: String,
    /// Protocol spoken with the service, such as `anthropic-messages`, `openai-completions`, `openai-responses` or `google-generative-ai`.
    pub api: String,
    /// Key of the provider in the model list.
    pub provider: String,
    /// True when the model can reason before it answers.
    pub reasoning: bool,
    /// Kinds of input that the model takes.
    pub input: Vec<InputModality>,
    /// List prices in US dollars per million tokens.
    pub cost: ModelCost,
    /// Tokens that fit into the model's context. Absent when unknown.
    #[serde(
        rename = "contextWindow",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub context_window: Option<u64>,
    /// Most tokens that the model writes in one answer. Absent when unknown.
    #[serde(
        rename = "maxTokens",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub max_tokens: Option<u64>,
}

/// The model that answers from here on. A fresh session begins with one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "model_change", remote = "Self")]
pub struct ModelChangeEntry {
    /// Id of the entry, unique in its file; usually 8 hex digits.
    pub id: String,
    /// Id of the entry that this one follows; null when it follows none, as the first entry of a file.
    #[serde(rename = "parentId", deserialize_with = "Option::deserialize")]
    pub parent_id: Option<String>,
    /// When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`.
    pub timestamp: String,
    /// Provider of the model.
    pub provider: String,
    /// Id of the model at its provider.
    #[serde(rename = "modelId")]
    pub model_id: String,
    /// Why the model changed, if not because somebody chose it. Absent otherwise.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub reason: Option<ModelChangeReason>,
    /// Provider of the model that the session should have. Absent unless another stands in for it.
    #[serde(
        rename = "originalProvider",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub original_provider: Option<String>,
    /// Id of the model that the session should have. Absent unless another stands in for it.
    #[serde(
        rename = "originalModelId",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub original_model_id: Option<String>,
}

tagged!(ModelChangeEntry : "type" = "model_change");

/// Why the model of a session changed without being chosen: `fallback` when another stands in for one that fails, `fallback-revert` when that one is back.
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
pub enum ModelChangeReason {
    /// `fallback`.
    #[serde(rename = "fallback")]
    Fallback,
    /// `fallback-revert`.
    #[serde(rename = "fallback-revert")]
    FallbackRevert,
}

impl ModelChangeReason {
    /// Every value, in the order of the schema.
    pub const ALL: &'static [Self] = &[Self::Fallback, Self::FallbackRevert];
    /// The value as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fallback => "fallback",
            Self::FallbackRevert => "fallback-revert",
        }
    }
}

impl ::std::fmt::Display for ModelChangeReason {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        match *self {
            Self::Fallback => f.write_str("fallback"),
            Self::FallbackRevert => f.write_str("fallback-revert"),
        }
    }
}

impl ::std::str::FromStr for ModelChangeReason {
    type Err = self::error::ConversionError;
    fn from_str(value: &str) -> Result<Self, self::error::ConversionError> {
        match value {
            "fallback" => Ok(Self::Fallback),
            "fallback-revert" => Ok(Self::FallbackRevert),
            _ => Err("invalid value".into()),
        }
    }
}

/// List prices of a model in US dollars per million tokens. Zero means free or unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelCost {
    /// US dollars per million uncached input tokens.
    pub input: crate::event::Number,
    /// US dollars per million output tokens.
    pub output: crate::event::Number,
    /// US dollars per million input tokens read from the cache.
    #[serde(rename = "cacheRead")]
    pub cache_read: crate::event::Number,
    /// US dollars per million input tokens written to the cache.
    #[serde(rename = "cacheWrite")]
    pub cache_write: crate::event::Number,
}

/// Names a model: the provider and the provider's id for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelRef {
    /// Key of the provider in the model list, such as `anthropic` or a local server's name.
    pub provider: String,
    /// Id of the model within that provider.
    pub id: String,
}

/// How the process ended, the worst of its runs deciding: `completed` (the work was done), `failed` (a model, session, start-up or internal error), `aborted` (stopped on request of the host), `interrupted` (a signal), `limit` (a limit on turns, cost or time was reached).
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
pub enum Outcome {
    /// `completed`.
    #[serde(rename = "completed")]
    Completed,
    /// `failed`.
    #[serde(rename = "failed")]
    Failed,
    /// `aborted`.
    #[serde(rename = "aborted")]
    Aborted,
    /// `interrupted`.
    #[serde(rename = "interrupted")]
    Interrupted,
    /// `limit`.
    #[serde(rename = "limit")]
    Limit,
}

impl Outcome {
    /// Every value, in the order of the schema.
    pub const ALL: &'static [Self] = &[
        Self::Completed,
        Self::Failed,
        Self::Aborted,
        Self::Interrupted,
        Self::Limit,
    ];
    /// The value as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Aborted => "aborted",
            Self::Interrupted => "interrupted",
            Self::Limit => "limit",
        }
    }
}

impl ::std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        match *self {
            Self::Completed => f.write_str("completed"),
            Self::Failed => f.write_str("failed"),
            Self::Aborted => f.write_str("aborted"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Limit => f.write_str("limit"),
        }
    }
}

impl ::std::str::FromStr for Outcome {
    type Err = self::error::ConversionError;
    fn from_str(value: &str) -> Result<Self, self::error::ConversionError> {
        match value {
            "completed" => Ok(Self::Completed),
            "failed" => Ok(Self::Failed),
            "aborted" => Ok(Self::Aborted),
            "interrupted" => Ok(Self::Interrupted),
            "limit" => Ok(Self::Limit),
            _ => Err("invalid value".into()),
        }
    }
}

/// The run stops asking the model because it has used its turns while background agents are still at work; it goes on when one of them delivers. The agent_end of the run follows, except on the dreb wire, where the run is the whole stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "parent_paused_for_background_agents", remote = "Self")]
pub struct ParentPausedForBackgroundAgentsEvent {
    /// Number of background agents at work.
    #[serde(rename = "runningAgentCount")]
    pub running_agent_count: u64,
    /// Turns taken while they were at work.
    #[serde(rename = "turnsUsed")]
    pub turns_used: u64,
    /// Turns that are allowed meanwhile.
    #[serde(rename = "turnLimit")]
    pub turn_limit: crate::event::Number,
}

tagged!(
    ParentPausedForBackgroundAgentsEvent : "type" = "parent_paused_for_background_agents"
);

/// The queues of messages that wait for the model have changed; written when one is put in, taken out (just before its message_start) or all are dropped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "queue_update", remote = "Self")]
pub struct QueueUpdateEvent {
    /// Texts of the messages that go in after the present turn, in order.
    pub steering: Vec<String>,
    /// Texts of the messages that go in when the run would end, in order.
    #[serde(rename = "followUp")]
    pub follow_up: Vec<String>,
}

tagged!(QueueUpdateEvent : "type" = "queue_update");

/// One line of a native stream, told apart by `type`. The header comes first, stream_end last; the order of the rest is in grammar.json. Readers skip a line whose `type` they do not know.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum QuipuEvent {
    /// `session`: see [`SessionHeader`].
    Session(SessionHeader),
    /// `agent_start`: see [`AgentStartEvent`].
    AgentStart(AgentStartEvent),
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
    /// `compaction_start`: see [`CompactionStartEvent`].
    CompactionStart(CompactionStartEvent),
    /// `compaction_progress`: see [`CompactionProgressEvent`].
    CompactionProgress(CompactionProgressEvent),
    /// `compaction_end`: see [`CompactionEndEvent`].
    CompactionEnd(CompactionEndEvent),
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
    /// `tasks_update`: see [`TasksUpdateEvent`].
    TasksUpdate(TasksUpdateEvent),
    /// `suggest_next`: see [`SuggestNextEvent`].
    SuggestNext(SuggestNextEvent),
    /// `background_agent_start`: see [`BackgroundAgentStartEvent`].
    BackgroundAgentStart(BackgroundAgentStartEvent),
    /// `subagent_arbitration`: see [`SubagentArbitrationEvent`].
    SubagentArbitration(SubagentArbitrationEvent),
    /// `background_agent_event`: see [`BackgroundAgentEvent`].
    BackgroundAgentEvent(BackgroundAgentEvent),
    /// `background_agent_end`: see [`BackgroundAgentEndEvent`].
    BackgroundAgentEnd(BackgroundAgentEndEvent),
    /// `parent_paused_for_background_agents`: see [`ParentPausedForBackgroundAgentsEvent`].
    ParentPausedForBackgroundAgents(ParentPausedForBackgroundAgentsEvent),
    /// `stream_end`: see [`StreamEndEvent`].
    StreamEnd(StreamEndEvent),
}

/// What the `type` of [`QuipuEvent`] may be.
pub const QUIPU_EVENT_TYPES: &[&str] = &[
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
    "tasks_update",
    "suggest_next",
    "background_agent_start",
    "subagent_arbitration",
    "background_agent_event",
    "background_agent_end",
    "parent_paused_for_background_agents",
    "stream_end",
];

impl QuipuEvent {
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
            Self::TasksUpdate(_) => "tasks_update",
            Self::SuggestNext(_) => "suggest_next",
            Self::BackgroundAgentStart(_) => "background_agent_start",
            Self::SubagentArbitration(_) => "subagent_arbitration",
            Self::BackgroundAgentEvent(_) => "background_agent_event",
            Self::BackgroundAgentEnd(_) => "background_agent_end",
            Self::ParentPausedForBackgroundAgents(_) => {
                "parent_paused_for_background_agents"
            }
            Self::StreamEnd(_) => "stream_end",
        }
    }
}

impl<'de> Deserialize<'de> for QuipuEvent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        tag::read(from)
    }
}

impl<'de> Tagged<'de> for QuipuEvent {
    const TAG: &'static str = "type";
    const VALUES: &'static [&'static str] = QUIPU_EVENT_TYPES;
    fn fields<D: Deserializer<'de>>(
        value: &'static str,
        rest: D,
    ) -> Result<Self, D::Error> {
        match value {
            "session" => SessionHeader::deserialize(rest).map(Self::Session),
            "agent_start" => AgentStartEvent::deserialize(rest).map(Self::AgentStart),
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
                CompactionStartEvent::deserialize(rest).map(Self::CompactionStart)
            }
            "compaction_progress" => {
                CompactionProgressEvent::deserialize(rest).map(Self::CompactionProgress)
            }
            "compaction_end" => {
                CompactionEndEvent::deserialize(rest).map(Self::CompactionEnd)
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
            "tasks_update" => TasksUpdateEvent::deserialize(rest).map(Self::TasksUpdate),
            "suggest_next" => SuggestNextEvent::deserialize(rest).map(Self::SuggestNext),
            "background_agent_start" => {
                BackgroundAgentStartEvent::deserialize(rest)
                    .map(Self::BackgroundAgentStart)
            }
            "subagent_arbitration" => {
                SubagentArbitrationEvent::deserialize(rest)
                    .map(Self::SubagentArbitration)
            }
            "background_agent_event" => {
                BackgroundAgentEvent::deserialize(rest).map(Self::BackgroundAgentEvent)
            }
            "background_agent_end" => {
                BackgroundAgentEndEvent::deserialize(rest).map(Self::BackgroundAgentEnd)
            }
            "parent_paused_for_background_agents" => {
                ParentPausedForBackgroundAgentsEvent::deserialize(rest)
                    .map(Self::ParentPausedForBackgroundAgents)
            }
            "stream_end" => StreamEndEvent::deserialize(rest).map(Self::StreamEnd),
            _ => Err(de::Error::unknown_variant(value, Self::VALUES)),
        }
    }
}

impl From<SessionHeader> for QuipuEvent {
    fn from(value: SessionHeader) -> Self {
        Self::Session(value)
    }
}

impl From<AgentStartEvent> for QuipuEvent {
    fn from(value: AgentStartEvent) -> Self {
        Self::AgentStart(value)
    }
}

impl From<TurnStartEvent> for QuipuEvent {
    fn from(value: TurnStartEvent) -> Self {
        Self::TurnStart(value)
    }
}

impl From<MessageStartEvent> for QuipuEvent {
    fn from(value: MessageStartEvent) -> Self {
        Self::MessageStart(value)
    }
}

impl From<MessageUpdateEvent> for QuipuEvent {
    fn from(value: MessageUpdateEvent) -> Self {
        Self::MessageUpdate(value)
    }
}

impl From<MessageEndEvent> for QuipuEvent {
    fn from(value: MessageEndEvent) -> Self {
        Self::MessageEnd(value)
    }
}

impl From<ToolExecutionStartEvent> for QuipuEvent {
    fn from(value: ToolExecutionStartEvent) -> Self {
        Self::ToolExecutionStart(value)
    }
}

impl From<ToolExecutionUpdateEvent> for QuipuEvent {
    fn from(value: ToolExecutionUpdateEvent) -> Self {
        Self::ToolExecutionUpdate(value)
    }
}

impl From<ToolExecutionEndEvent> for QuipuEvent {
    fn from(value: ToolExecutionEndEvent) -> Self {
        Self::ToolExecutionEnd(value)
    }
}

impl From<ToolHookStatusEvent> for QuipuEvent {
    fn from(value: ToolHookStatusEvent) -> Self {
        Self::ToolHookStatus(value)
    }
}

impl From<TurnEndEvent> for QuipuEvent {
    fn from(value: TurnEndEvent) -> Self {
        Self::TurnEnd(value)
    }
}

impl From<AgentEndEvent> for QuipuEvent {
    fn from(value: AgentEndEvent) -> Self {
        Self::AgentEnd(value)
    }
}

impl From<AutoRetryStartEvent> for QuipuEvent {
    fn from(value: AutoRetryStartEvent) -> Self {
        Self::AutoRetryStart(value)
    }
}

impl From<AutoRetryEndEvent> for QuipuEvent {
    fn from(value: AutoRetryEndEvent) -> Self {
        Self::AutoRetryEnd(value)
    }
}

impl From<CompactionStartEvent> for QuipuEvent {
    fn from(value: CompactionStartEvent) -> Self {
        Self::CompactionStart(value)
    }
}

impl From<CompactionProgressEvent> for QuipuEvent {
    fn from(value: CompactionProgressEvent) -> Self {
        Self::CompactionProgress(value)
    }
}

impl From<CompactionEndEvent> for QuipuEvent {
    fn from(value: CompactionEndEvent) -> Self {
        Self::CompactionEnd(value)
    }
}

impl From<SummarizationRetryScheduledEvent> for QuipuEvent {
    fn from(value: SummarizationRetryScheduledEvent) -> Self {
        Self::SummarizationRetryScheduled(value)
    }
}

impl From<SummarizationRetryAttemptStartBranchSummaryEvent> for QuipuEvent {
    fn from(value: SummarizationRetryAttemptStartBranchSummaryEvent) -> Self {
        Self::SummarizationRetryAttemptStartBranchSummary(value)
    }
}

impl From<SummarizationRetryAttemptStartCompactionEvent> for QuipuEvent {
    fn from(value: SummarizationRetryAttemptStartCompactionEvent) -> Self {
        Self::SummarizationRetryAttemptStartCompaction(value)
    }
}

impl From<SummarizationRetryFinishedEvent> for QuipuEvent {
    fn from(value: SummarizationRetryFinishedEvent) -> Self {
        Self::SummarizationRetryFinished(value)
    }
}

impl From<QueueUpdateEvent> for QuipuEvent {
    fn from(value: QueueUpdateEvent) -> Self {
        Self::QueueUpdate(value)
    }
}

impl From<SessionInfoChangedEvent> for QuipuEvent {
    fn from(value: SessionInfoChangedEvent) -> Self {
        Self::SessionInfoChanged(value)
    }
}

impl From<ThinkingLevelChangedEvent> for QuipuEvent {
    fn from(value: ThinkingLevelChangedEvent) -> Self {
        Self::ThinkingLevelChanged(value)
    }
}

impl From<ThinkingLevelClampedEvent> for QuipuEvent {
    fn from(value: ThinkingLevelClampedEvent) -> Self {
        Self::ThinkingLevelClamped(value)
    }
}

impl From<SystemPromptChangeEvent> for QuipuEvent {
    fn from(value: SystemPromptChangeEvent) -> Self {
        Self::SystemPromptChange(value)
    }
}

impl From<TasksUpdateEvent> for QuipuEvent {
    fn from(value: TasksUpdateEvent) -> Self {
        Self::TasksUpdate(value)
    }
}

impl From<SuggestNextEvent> for QuipuEvent {
    fn from(value: SuggestNextEvent) -> Self {
        Self::SuggestNext(value)
    }
}

impl From<BackgroundAgentStartEvent> for QuipuEvent {
    fn from(value: BackgroundAgentStartEvent) -> Self {
        Self::BackgroundAgentStart(value)
    }
}

impl From<SubagentArbitrationEvent> for QuipuEvent {
    fn from(value: SubagentArbitrationEvent) -> Self {
        Self::SubagentArbitration(value)
    }
}

impl From<BackgroundAgentEvent> for QuipuEvent {
    fn from(value: BackgroundAgentEvent) -> Self {
        Self::BackgroundAgentEvent(value)
    }
}

impl From<BackgroundAgentEndEvent> for QuipuEvent {
    fn from(value: BackgroundAgentEndEvent) -> Self {
        Self::BackgroundAgentEnd(value)
    }
}

impl From<ParentPausedForBackgroundAgentsEvent> for QuipuEvent {
    fn from(value: ParentPausedForBackgroundAgentsEvent) -> Self {
        Self::ParentPausedForBackgroundAgents(value)
    }
}

impl From<StreamEndEvent> for QuipuEvent {
    fn from(value: StreamEndEvent) -> Self {
        Self::StreamEnd(value)
    }
}

/// One part of a dispatch route that an arbiter may change: the `agent` definition, the `model`, or the `thinking` level.
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
pub enum RoutePart {
    /// `agent`.
    #[serde(rename = "agent")]
    Agent,
    /// `model`.
    #[serde(rename = "model")]
    Model,
    /// `thinking`.
    #[serde(rename = "thinking")]
    Thinking,
}

impl RoutePart {
    /// Every value, in the order of the schema.
    pub const ALL: &'static [Self] = &[Self::Agent, Self::Model, Self::Thinking];
    /// The value as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Model => "model",
            Self::Thinking => "thinking",
        }
    }
}

impl ::std::fmt::Display for RoutePart {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        match *self {
            Self::Agent => f.write_str("agent"),
            Self::Model => f.write_str("model"),
            Self::Thinking => f.write_str("thinking"),
        }
    }
}

impl ::std::str::FromStr for RoutePart {
    type Err = self::error::ConversionError;
    fn from_str(value: &str) -> Result<Self, self::error::ConversionError> {
        match value {
            "agent" => Ok(Self::Agent),
            "model" => Ok(Self::Model),
            "thinking" => Ok(Self::Thinking),
            _ => Err("invalid value".into()),
        }
    }
}

/// One line of a session file, told apart by `type`: the header on the first line, an entry on every other. Entries form a tree by `parentId`; the last entry of the file is where the session goes on. Readers skip a line whose `type` they do not know.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SessionEntry {
    /// `session`: see [`StoredSessionHeader`].
    Session(StoredSessionHeader),
    /// `message`: see [`MessageEntry`].
    Message(MessageEntry),
    /// `model_change`: see [`ModelChangeEntry`].
    ModelChange(ModelChangeEntry),
    /// `thinking_level_change`: see [`ThinkingLevelChangeEntry`].
    ThinkingLevelChange(ThinkingLevelChangeEntry),
    /// `compaction`: see [`CompactionEntry`].
    Compaction(CompactionEntry),
    /// `branch_summary`: see [`BranchSummaryEntry`].
    BranchSummary(BranchSummaryEntry),
    /// `custom`: see [`CustomEntry`].
    Custom(CustomEntry),
    /// `custom_message`: see [`CustomMessageEntry`].
    CustomMessage(CustomMessageEntry),
    /// `label`: see [`LabelEntry`].
    Label(LabelEntry),
    /// `session_info`: see [`SessionInfoEntry`].
    SessionInfo(SessionInfoEntry),
}

/// What the `type` of [`SessionEntry`] may be.
pub const SESSION_ENTRY_TYPES: &[&str] = &[
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
];

impl SessionEntry {
    /// The `type` as it stands on the wire.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Session(_) => "session",
            Self::Message(_) => "message",
            Self::ModelChange(_) => "model_change",
            Self::ThinkingLevelChange(_) => "thinking_level_change",
            Self::Compaction(_) => "compaction",
            Self::BranchSummary(_) => "branch_summary",
            Self::Custom(_) => "custom",
            Self::CustomMessage(_) => "custom_message",
            Self::Label(_) => "label",
            Self::SessionInfo(_) => "session_info",
        }
    }
}

impl<'de> Deserialize<'de> for SessionEntry {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        tag::read(from)
    }
}

impl<'de> Tagged<'de> for SessionEntry {
    const TAG: &'static str = "type";
    const VALUES: &'static [&'static str] = SESSION_ENTRY_TYPES;
    fn fields<D: Deserializer<'de>>(
        value: &'static str,
        rest: D,
    ) -> Result<Self, D::Error> {
        match value {
            "session" => StoredSessionHeader::deserialize(rest).map(Self::Session),
            "message" => MessageEntry::deserialize(rest).map(Self::Message),
            "model_change" => ModelChangeEntry::deserialize(rest).map(Self::ModelChange),
            "thinking_level_change" => {
                ThinkingLevelChangeEntry::deserialize(rest)
                    .map(Self::ThinkingLevelChange)
            }
            "compaction" => CompactionEntry::deserialize(rest).map(Self::Compaction),
            "branch_summary" => {
                BranchSummaryEntry::deserialize(rest).map(Self::BranchSummary)
            }
            "custom" => CustomEntry::deserialize(rest).map(Self::Custom),
            "custom_message" => {
                CustomMessageEntry::deserialize(rest).map(Self::CustomMessage)
            }
            "label" => LabelEntry::deserialize(rest).map(Self::Label),
            "session_info" => SessionInfoEntry::deserialize(rest).map(Self::SessionInfo),
            _ => Err(de::Error::unknown_variant(value, Self::VALUES)),
        }
    }
}

impl From<StoredSessionHeader> for SessionEntry {
    fn from(value: StoredSessionHeader) -> Self {
        Self::Session(value)
    }
}

impl From<MessageEntry> for SessionEntry {
    fn from(value: MessageEntry) -> Self {
        Self::Message(value)
    }
}

impl From<ModelChangeEntry> for SessionEntry {
    fn from(value: ModelChangeEntry) -> Self {
        Self::ModelChange(value)
    }
}

impl From<ThinkingLevelChangeEntry> for SessionEntry {
    fn from(value: ThinkingLevelChangeEntry) -> Self {
        Self::ThinkingLevelChange(value)
    }
}

impl From<CompactionEntry> for SessionEntry {
    fn from(value: CompactionEntry) -> Self {
        Self::Compaction(value)
    }
}

impl From<BranchSummaryEntry> for SessionEntry {
    fn from(value: BranchSummaryEntry) -> Self {
        Self::BranchSummary(value)
    }
}

impl From<CustomEntry> for SessionEntry {
    fn from(value: CustomEntry) -> Self {
        Self::Custom(value)
    }
}

impl From<CustomMessageEntry> for SessionEntry {
    fn from(value: CustomMessageEntry) -> Self {
        Self::CustomMessage(value)
    }
}

impl From<LabelEntry> for SessionEntry {
    fn from(value: LabelEntry) -> Self {
        Self::Label(value)
    }
}

impl From<SessionInfoEntry> for SessionEntry {
    fn from(value: SessionInfoEntry) -> Self {
        Self::SessionInfo(value)
    }
}

/// The first line of every stream, exactly once, written before standard input is read and before any request. A resumed session shows its stored id, time and directory; its earlier messages are not repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "session", remote = "Self")]
pub struct SessionHeader {
    /// Version of the session format; always 3. The version of the stream is in `stream`.
    pub version: SessionHeaderVersion,
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
    /// Form and schema of the lines that follow.
    pub stream: StreamInfo,
}

tagged!(SessionHeader : "type" = "session");

/// The `version` of [`SessionHeader`]: always `3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionHeaderVersion;

constant!(SessionHeaderVersion : u64 = 3u64);

/// The name of the session was set, changed or cleared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "session_info_changed", remote = "Self")]
pub struct SessionInfoChangedEvent {
    /// The name now. Absent when it was cleared.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub name: Option<String>,
}

tagged!(SessionInfoChangedEvent : "type" = "session_info_changed");

/// The name of the session. The last such entry of a file counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "session_info", remote = "Self")]
pub struct SessionInfoEntry {
    /// Id of the entry, unique in its file; usually 8 hex digits.
    pub id: String,
    /// Id of the entry that this one follows; null when it follows none, as the first entry of a file.
    #[serde(rename = "parentId", deserialize_with = "Option::deserialize")]
    pub parent_id: Option<String>,
    /// When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`.
    pub timestamp: String,
    /// The name, on one line; empty when the session loses its name.
    pub name: String,
}

tagged!(SessionInfoEntry : "type" = "session_info");

/// How the session of an aborted run was replaced: `new` (an empty one), `resume` (an earlier one was opened), `fork` (a copy of one was opened).
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
pub enum SessionReplaceReason {
    /// `new`.
    #[serde(rename = "new")]
    New,
    /// `resume`.
    #[serde(rename = "resume")]
    Resume,
    /// `fork`.
    #[serde(rename = "fork")]
    Fork,
}

impl SessionReplaceReason {
    /// Every value, in the order of the schema.
    pub const ALL: &'static [Self] = &[Self::New, Self::Resume, Self::Fork];
    /// The value as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Resume => "resume",
            Self::Fork => "fork",
        }
    }
}

impl ::std::fmt::Display for SessionReplaceReason {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        match *self {
            Self::New => f.write_str("new"),
            Self::Resume => f.write_str("resume"),
            Self::Fork => f.write_str("fork"),
        }
    }
}

impl ::std::str::FromStr for SessionReplaceReason {
    type Err = self::error::ConversionError;
    fn from_str(value: &str) -> Result<Self, self::error::ConversionError> {
        match value {
            "new" => Ok(Self::New),
            "resume" => Ok(Self::Resume),
            "fork" => Ok(Self::Fork),
            _ => Err("invalid value".into()),
        }
    }
}

/// One entry of the task list that the model keeps for its work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionTask {
    /// Id that the model chose; not necessarily unique.
    pub id: String,
    /// What is to be done, for people.
    pub title: String,
    /// How far it is.
    pub status: TaskStatus,
}

/// The two fields that `--stamp` adds to every line, right after its `type`, for logs and brokers. Without that option no line has them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stamp {
    /// Number of the line in the written stream, from 0 and without gaps.
    pub seq: u64,
    /// When the line was written, in ms since the Unix epoch.
    pub at: u64,
}

/// Why an assistant message stands where it stands: `pending` (still being written, only before its message_end, never on the dreb wire), `stop` (the model finished), `length` (cut at the output limit), `toolUse` (the model waits for tool results), `error` (the request or the answer failed), `aborted` (stopped from our side).
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
pub enum StopReason {
    /// `pending`.
    #[serde(rename = "pending")]
    Pending,
    /// `stop`.
    #[serde(rename = "stop")]
    Stop,
    /// `length`.
    #[serde(rename = "length")]
    Length,
    /// `toolUse`.
    #[serde(rename = "toolUse")]
    ToolUse,
    /// `error`.
    #[serde(rename = "error")]
    Error,
    /// `aborted`.
    #[serde(rename = "aborted")]
    Aborted,
}

impl StopReason {
    /// Every value, in the order of the schema.
    pub const ALL: &'static [Self] = &[
        Self::Pending,
        Self::Stop,
        Self::Length,
        Self::ToolUse,
        Self::Error,
        Self::Aborted,
    ];
    /// The value as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolUse => "toolUse",
            Self::Error => "error",
            Self::Aborted => "aborted",
        }
    }
}

impl ::std::fmt::Display for StopReason {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        match *self {
            Self::Pending => f.write_str("pending"),
            Self::Stop => f.write_str("stop"),
            Self::Length => f.write_str("length"),
            Self::ToolUse => f.write_str("toolUse"),
            Self::Error => f.write_str("error"),
            Self::Aborted => f.write_str("aborted"),
        }
    }
}

impl ::std::str::FromStr for StopReason {
    type Err = self::error::ConversionError;
    fn from_str(value: &str) -> Result<Self, self::error::ConversionError> {
        match value {
            "pending" => Ok(Self::Pending),
            "stop" => Ok(Self::Stop),
            "length" => Ok(Self::Length),
            "toolUse" => Ok(Self::ToolUse),
            "error" => Ok(Self::Error),
            "aborted" => Ok(Self::Aborted),
            _ => Err("invalid value".into()),
        }
    }
}

/// The first line of every session file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "session", remote = "Self")]
pub struct StoredSessionHeader {
    /// Version of the session format; always 3.
    pub version: StoredSessionHeaderVersion,
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

tagged!(StoredSessionHeader : "type" = "session");

/// The `version` of [`StoredSessionHeader`]: always `3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredSessionHeaderVersion;

constant!(StoredSessionHeaderVersion : u64 = 3u64);

/// The last line of every stream, exactly once, whatever happened; nothing comes after it. Before it everything that is open has been closed by its own end event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "stream_end", remote = "Self")]
pub struct StreamEndEvent {
    /// How the process ended.
    pub outcome: Outcome,
    /// Exit code of the process: 0 completed, 1 failed, 2 usage, 3 configuration or credentials, 129, 130 or 143 after a signal.
    #[serde(rename = "exitCode")]
    pub exit_code: u64,
    /// The error that decided the outcome. Absent when there was none.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub error: Option<StreamError>,
    /// Tokens and cost of all requests of this stream, its background agents and the decisions about them, each counted once, failed ones included. Of an agent that left no `stream_end` nothing counts.
    pub usage: Usage,
    /// Number of turn_start lines.
    pub turns: u64,
    /// Number of lines written, the header and this one included.
    pub lines: u64,
}

tagged!(StreamEndEvent : "type" = "stream_end");

/// The error that decided a stream's outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamError {
    /// What went wrong, for programs.
    pub code: ErrorCode,
    /// What went wrong, for people; never holds a credential.
    pub message: String,
    /// True when the same request may well succeed later.
    pub retryable: bool,
}

/// Which form of the stream follows, and by which schema it can be checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamInfo {
    /// Form of the stream.
    pub wire: WireName,
    /// Semantic version of that form's schema.
    pub version: String,
    /// `sha256:` and the lower-case hexadecimal digest of the bytes of the strict schema bundle.
    pub schema: String,
}

/// The arbiter has decided on the route of a background agent; after its background_agent_start and before that agent, or that step of a chain, starts. Written only when an arbiter is set up; holds nothing of the task or of the arbiter's reasoning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "subagent_arbitration", remote = "Self")]
pub struct SubagentArbitrationEvent {
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
    /// Tokens and cost of the arbiter's requests. Absent when none was made.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub usage: Option<Usage>,
}

tagged!(SubagentArbitrationEvent : "type" = "subagent_arbitration");

/// One step of a chain of background agents that was carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubagentStepMetadata {
    /// Number of the step in the chain, from 1.
    pub step: u64,
    /// Name of the agent definition that ran it.
    pub agent: String,
    /// True when the step ended well.
    pub success: bool,
    /// Model it ran on, as `provider/id`. Absent when the step never reached a model.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub model: Option<String>,
    /// Thinking level it ran at. Absent when the step never reached a model.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub thinking: Option<ThinkingLevel>,
}

/// The model suggests what to ask next; written while its tool call runs, between that call's tool_execution_start and tool_execution_end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "suggest_next", remote = "Self")]
pub struct SuggestNextEvent {
    /// The suggested prompt: one line, never empty.
    pub command: String,
}

tagged!(SuggestNextEvent : "type" = "suggest_next");

/// The summary of a left branch is requested again; after the wait of the summarization_retry_scheduled before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "summarization_retry_attempt_start", remote = "Self")]
pub struct SummarizationRetryAttemptStartBranchSummaryEvent {
    /// What is being summarised; always `branchSummary`.
    pub source: SummarizationRetryAttemptStartBranchSummaryEventSource,
}

tagged!(
    SummarizationRetryAttemptStartBranchSummaryEvent : "type" =
    "summarization_retry_attempt_start"
);

/// The `source` of [`SummarizationRetryAttemptStartBranchSummaryEvent`]: always `"branchSummary"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SummarizationRetryAttemptStartBranchSummaryEventSource;

constant!(
    SummarizationRetryAttemptStartBranchSummaryEventSource : String = "branchSummary"
);

/// The summary of a compaction is requested again; after the wait of the summarization_retry_scheduled before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "summarization_retry_attempt_start", remote = "Self")]
pub struct SummarizationRetryAttemptStartCompactionEvent {
    /// What is being summarised; always `compaction`.
    pub source: SummarizationRetryAttemptStartCompactionEventSource,
    /// What caused the compaction.
    pub reason: CompactionReason,
}

tagged!(
    SummarizationRetryAttemptStartCompactionEvent : "type" =
    "summarization_retry_attempt_start"
);

/// The `source` of [`SummarizationRetryAttemptStartCompactionEvent`]: always `"compaction"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SummarizationRetryAttemptStartCompactionEventSource;

constant!(SummarizationRetryAttemptStartCompactionEventSource : String = "compaction");

/// A series of summary retries is over, well or not; closes the summarization_retry_scheduled that began it and is not written without one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "summarization_retry_finished", remote = "Self")]
pub struct SummarizationRetryFinishedEvent {}

tagged!(SummarizationRetryFinishedEvent : "type" = "summarization_retry_finished");

/// The request for a summary failed and is going to be made again; before the wait. One summarization_retry_finished closes the series, however many retries it has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "summarization_retry_scheduled", remote = "Self")]
pub struct SummarizationRetryScheduledEvent {
    /// Number of the retry, from 1.
    pub attempt: u64,
    /// Most retries that are made.
    #[serde(rename = "maxAttempts")]
    pub max_attempts: u64,
    /// Wait before the retry, in ms.
    #[serde(rename = "delayMs")]
    pub delay_ms: u64,
    /// The error that is being retried.
    #[serde(rename = "errorMessage")]
    pub error_message: String,
}

tagged!(SummarizationRetryScheduledEvent : "type" = "summarization_retry_scheduled");

/// A change of the model brought another system prompt; requests from now on use it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "system_prompt_change", remote = "Self")]
pub struct SystemPromptChangeEvent {
    /// The system prompt now in force.
    #[serde(rename = "systemPrompt")]
    pub system_prompt: String,
    /// The system prompt until now.
    #[serde(rename = "previousSystemPrompt")]
    pub previous_system_prompt: String,
    /// The model that was chosen.
    pub model: Model,
    /// The model until now. Absent when there was none.
    #[serde(
        rename = "previousModel",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub previous_model: Option<Model>,
    /// What brought the change; always `model_select`.
    pub source: SystemPromptChangeEventSource,
    /// Name of the system prompt. Absent when it has none.
    #[serde(
        rename = "systemPromptName",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub system_prompt_name: Option<String>,
}

tagged!(SystemPromptChangeEvent : "type" = "system_prompt_change");

/// The `source` of [`SystemPromptChangeEvent`]: always `"model_select"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SystemPromptChangeEventSource;

constant!(SystemPromptChangeEventSource : String = "model_select");

/// State of one entry of the task list: `pending` (not begun), `in_progress` (being worked on), `completed` (done).
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
pub enum TaskStatus {
    /// `pending`.
    #[serde(rename = "pending")]
    Pending,
    /// `in_progress`.
    #[serde(rename = "in_progress")]
    InProgress,
    /// `completed`.
    #[serde(rename = "completed")]
    Completed,
}

impl TaskStatus {
    /// Every value, in the order of the schema.
    pub const ALL: &'static [Self] = &[Self::Pending, Self::InProgress, Self::Completed];
    /// The value as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
        }
    }
}

impl ::std::fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        match *self {
            Self::Pending => f.write_str("pending"),
            Self::InProgress => f.write_str("in_progress"),
            Self::Completed => f.write_str("completed"),
        }
    }
}

impl ::std::str::FromStr for TaskStatus {
    type Err = self::error::ConversionError;
    fn from_str(value: &str) -> Result<Self, self::error::ConversionError> {
        match value {
            "pending" => Ok(Self::Pending),
            "in_progress" => Ok(Self::InProgress),
            "completed" => Ok(Self::Completed),
            _ => Err("invalid value".into()),
        }
    }
}

/// The model has replaced its task list; written while its tool call runs, between that call's tool_execution_start and tool_execution_end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "tasks_update", remote = "Self")]
pub struct TasksUpdateEvent {
    /// The whole list; empty when it was cleared.
    pub tasks: Vec<SessionTask>,
}

tagged!(TasksUpdateEvent : "type" = "tasks_update");

/// A block of text in a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "text", remote = "Self")]
pub struct TextContent {
    /// The text; may be empty.
    pub text: String,
    /// Opaque token of the service that must be sent back with the block. Absent when the service gave none.
    #[serde(
        rename = "textSignature",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub text_signature: Option<String>,
}

tagged!(TextContent : "type" = "text");

/// The next piece of an open text block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "text_delta", remote = "Self")]
pub struct TextDelta {
    /// Place of the block in the message's `content`, from 0.
    #[serde(rename = "contentIndex")]
    pub content_index: u64,
    /// The piece, to be appended; may be empty.
    pub delta: String,
}

tagged!(TextDelta : "type" = "text_delta");

/// A text block is complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "text_end", remote = "Self")]
pub struct TextEnd {
    /// Place of the block in the message's `content`, from 0.
    #[serde(rename = "contentIndex")]
    pub content_index: u64,
    /// The whole text: the joined pieces.
    pub content: String,
}

tagged!(TextEnd : "type" = "text_end");

/// A text block begins, empty. Its text_delta lines follow; text_end closes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "text_start", remote = "Self")]
pub struct TextStart {
    /// Place of the block in the message's `content`, from 0.
    #[serde(rename = "contentIndex")]
    pub content_index: u64,
}

tagged!(TextStart : "type" = "text_start");

/// Why a thinking level was replaced: `model-not-reasoning` (the model cannot reason at all), `level-unsupported` (it can, but not at that level).
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
pub enum ThinkingClampReason {
    /// `model-not-reasoning`.
    #[serde(rename = "model-not-reasoning")]
    ModelNotReasoning,
    /// `level-unsupported`.
    #[serde(rename = "level-unsupported")]
    LevelUnsupported,
}

impl ThinkingClampReason {
    /// Every value, in the order of the schema.
    pub const ALL: &'static [Self] = &[Self::ModelNotReasoning, Self::LevelUnsupported];
    /// The value as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ModelNotReasoning => "model-not-reasoning",
            Self::LevelUnsupported => "level-unsupported",
        }
    }
}

impl ::std::fmt::Display for ThinkingClampReason {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        match *self {
            Self::ModelNotReasoning => f.write_str("model-not-reasoning"),
            Self::LevelUnsupported => f.write_str("level-unsupported"),
        }
    }
}

impl ::std::str::FromStr for ThinkingClampReason {
    type Err = self::error::ConversionError;
    fn from_str(value: &str) -> Result<Self, self::error::ConversionError> {
        match value {
            "model-not-reasoning" => Ok(Self::ModelNotReasoning),
            "level-unsupported" => Ok(Self::LevelUnsupported),
            _ => Err("invalid value".into()),
        }
    }
}

/// A block of the model's reasoning in an assistant message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "thinking", remote = "Self")]
pub struct ThinkingContent {
    /// The reasoning as text; a placeholder when the block is redacted.
    pub thinking: String,
    /// Opaque token of the service that must be sent back with the block; holds the encrypted reasoning of a redacted block. Absent when the service gave none.
    #[serde(
        rename = "thinkingSignature",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub thinking_signature: Option<String>,
    /// Always true: the service withheld the reasoning. Absent for a readable block.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub redacted: Option<ThinkingContentRedacted>,
}

tagged!(ThinkingContent : "type" = "thinking");

/// The `redacted` of [`ThinkingContent`]: always `true`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThinkingContentRedacted;

constant!(ThinkingContentRedacted : bool = true);

/// The next piece of an open thinking block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "thinking_delta", remote = "Self")]
pub struct ThinkingDelta {
    /// Place of the block in the message's `content`, from 0.
    #[serde(rename = "contentIndex")]
    pub content_index: u64,
    /// The piece, to be appended; may be empty.
    pub delta: String,
}

tagged!(ThinkingDelta : "type" = "thinking_delta");

/// A thinking block is complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "thinking_end", remote = "Self")]
pub struct ThinkingEnd {
    /// Place of the block in the message's `content`, from 0.
    #[serde(rename = "contentIndex")]
    pub content_index: u64,
    /// The whole reasoning: the joined pieces, or a placeholder for a redacted block.
    pub content: String,
}

tagged!(ThinkingEnd : "type" = "thinking_end");

/// How much the model may reason before it answers, from `off` (not at all) upwards to `max`. A level that a model does not offer is replaced by one that it does, which thinking_level_clamped tells.
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
pub enum ThinkingLevel {
    /// `off`.
    #[serde(rename = "off")]
    Off,
    /// `minimal`.
    #[serde(rename = "minimal")]
    Minimal,
    /// `low`.
    #[serde(rename = "low")]
    Low,
    /// `medium`.
    #[serde(rename = "medium")]
    Medium,
    /// `high`.
    #[serde(rename = "high")]
    High,
    /// `xhigh`.
    #[serde(rename = "xhigh")]
    Xhigh,
    /// `max`.
    #[serde(rename = "max")]
    Max,
}

impl ThinkingLevel {
    /// Every value, in the order of the schema.
    pub const ALL: &'static [Self] = &[
        Self::Off,
        Self::Minimal,
        Self::Low,
        Self::Medium,
        Self::High,
        Self::Xhigh,
        Self::Max,
    ];
    /// The value as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }
}

impl ::std::fmt::Display for ThinkingLevel {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        match *self {
            Self::Off => f.write_str("off"),
            Self::Minimal => f.write_str("minimal"),
            Self::Low => f.write_str("low"),
            Self::Medium => f.write_str("medium"),
            Self::High => f.write_str("high"),
            Self::Xhigh => f.write_str("xhigh"),
            Self::Max => f.write_str("max"),
        }
    }
}

impl ::std::str::FromStr for ThinkingLevel {
    type Err = self::error::ConversionError;
    fn from_str(value: &str) -> Result<Self, self::error::ConversionError> {
        match value {
            "off" => Ok(Self::Off),
            "minimal" => Ok(Self::Minimal),
            "low" => Ok(Self::Low),
            "medium" => Ok(Self::Medium),
            "high" => Ok(Self::High),
            "xhigh" => Ok(Self::Xhigh),
            "max" => Ok(Self::Max),
            _ => Err("invalid value".into()),
        }
    }
}

/// How much the model thinks from here on. A fresh session stores one after its model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "thinking_level_change", remote = "Self")]
pub struct ThinkingLevelChangeEntry {
    /// Id of the entry, unique in its file; usually 8 hex digits.
    pub id: String,
    /// Id of the entry that this one follows; null when it follows none, as the first entry of a file.
    #[serde(rename = "parentId", deserialize_with = "Option::deserialize")]
    pub parent_id: Option<String>,
    /// When the entry was stored: ISO 8601 in UTC, with milliseconds and `Z`.
    pub timestamp: String,
    /// The level now.
    #[serde(rename = "thinkingLevel")]
    pub thinking_level: ThinkingLevel,
    /// How the level was chosen, in the shape of the program that stored it. Kept as read; absent in entries of Quipu.
    #[serde(
        rename = "thinkingSelection",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub thinking_selection: Option<Value>,
}

tagged!(ThinkingLevelChangeEntry : "type" = "thinking_level_change");

/// The thinking level was changed after the start; requests from now on use it. When another model takes over from one that failed, between the auto_retry_start and the agent_start. The level at the start of a run is in agent_start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "thinking_level_changed", remote = "Self")]
pub struct ThinkingLevelChangedEvent {
    /// The level now in force.
    pub level: ThinkingLevel,
}

tagged!(ThinkingLevelChangedEvent : "type" = "thinking_level_changed");

/// A level that was asked for is not offered by the model, so another one is used; once for each model and level. For the level asked for on the command line it comes after the header, before the first agent_start; for a model that takes over from one that failed, before the agent_start of its first run, directly after a thinking_level_changed if there is one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "thinking_level_clamped", remote = "Self")]
pub struct ThinkingLevelClampedEvent {
    /// Key of the model's provider.
    pub provider: String,
    /// Id of the model.
    #[serde(rename = "modelId")]
    pub model_id: String,
    /// The level that was asked for.
    #[serde(rename = "requestedLevel")]
    pub requested_level: ThinkingLevel,
    /// The level that is used.
    #[serde(rename = "appliedLevel")]
    pub applied_level: ThinkingLevel,
    /// Why it was replaced.
    pub reason: ThinkingClampReason,
}

tagged!(ThinkingLevelClampedEvent : "type" = "thinking_level_clamped");

/// A thinking block begins, empty. Its thinking_delta lines follow, none for a redacted block; thinking_end closes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "thinking_start", remote = "Self")]
pub struct ThinkingStart {
    /// Place of the block in the message's `content`, from 0.
    #[serde(rename = "contentIndex")]
    pub content_index: u64,
}

tagged!(ThinkingStart : "type" = "thinking_start");

/// A block in which the model asks for a tool to be run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "toolCall", remote = "Self")]
pub struct ToolCall {
    /// Id of the call, by which its execution and its result refer to it; unique within a message.
    pub id: String,
    /// Name of the tool as the model wrote it.
    pub name: String,
    /// The arguments; for a call that never became whole, the best-effort reading of what arrived.
    pub arguments: Map<String, Value>,
    /// Opaque token of the service that must be sent back with the call. Absent when the service gave none.
    #[serde(
        rename = "thoughtSignature",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub thought_signature: Option<String>,
    /// Always true: the arguments never became whole JSON, so the call is not executed. Absent for a whole call.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub incomplete: Option<ToolCallIncomplete>,
    /// What was wrong with the arguments. Absent for a whole call.
    #[serde(
        rename = "errorMessage",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub error_message: Option<String>,
}

tagged!(ToolCall : "type" = "toolCall");

/// The `incomplete` of [`ToolCall`]: always `true`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolCallIncomplete;

constant!(ToolCallIncomplete : bool = true);

/// A tool call is over, in the order in which calls complete; closes the tool_execution_start of the same `toolCallId`. A call that fails its checks ends at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "tool_execution_end", remote = "Self")]
pub struct ToolExecutionEndEvent {
    /// Id of the tool call.
    #[serde(rename = "toolCallId")]
    pub tool_call_id: String,
    /// Name of the tool that runs, or the name that the model asked for when there is no such tool.
    #[serde(rename = "toolName")]
    pub tool_name: String,
    /// What the tool gave back.
    pub result: ToolResult,
    /// True when the tool failed or was not run; for a command, also when it exited with another code than 0.
    #[serde(rename = "isError")]
    pub is_error: bool,
}

tagged!(ToolExecutionEndEvent : "type" = "tool_execution_end");

/// The run loop takes up a tool call of the answer, in the order of the calls; checks come after it. One tool_execution_end with the same `toolCallId` closes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "tool_execution_start", remote = "Self")]
pub struct ToolExecutionStartEvent {
    /// Id of the tool call.
    #[serde(rename = "toolCallId")]
    pub tool_call_id: String,
    /// Name of the tool that runs, or the name that the model asked for when there is no such tool.
    #[serde(rename = "toolName")]
    pub tool_name: String,
    /// The arguments as the model gave them, usually an object; the best-effort reading when they are not whole JSON.
    pub args: Value,
}

tagged!(ToolExecutionStartEvent : "type" = "tool_execution_start");

/// A running tool reports progress. Comes between the tool_execution_start and tool_execution_end of the same `toolCallId`, any number of times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "tool_execution_update", remote = "Self")]
pub struct ToolExecutionUpdateEvent {
    /// Id of the tool call.
    #[serde(rename = "toolCallId")]
    pub tool_call_id: String,
    /// Name of the tool that runs, or the name that the model asked for when there is no such tool.
    #[serde(rename = "toolName")]
    pub tool_name: String,
    /// The arguments as the model gave them, usually an object; the best-effort reading when they are not whole JSON.
    pub args: Value,
    /// The result so far, whole: it replaces the one before it.
    #[serde(rename = "partialResult")]
    pub partial_result: ToolResult,
}

tagged!(ToolExecutionUpdateEvent : "type" = "tool_execution_update");

/// A hook works on a tool call, between that call's tool_execution_start and tool_execution_end. Each hook run is one `start`, any number of `update` and one `end`, held together by `hookRunId`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "tool_hook_status", remote = "Self")]
pub struct ToolHookStatusEvent {
    /// Id of this run of the hook; unique in the stream.
    #[serde(rename = "hookRunId")]
    pub hook_run_id: String,
    /// Point in the call's life at which the hook runs, such as `PreToolUse` or `PostToolUse`.
    #[serde(rename = "hookName")]
    pub hook_name: String,
    /// Name of the tool.
    #[serde(rename = "toolName")]
    pub tool_name: String,
    /// Id of the tool call.
    #[serde(rename = "toolCallId")]
    pub tool_call_id: String,
    /// Path of the file that defines the hook, or `<builtin:NAME>`.
    #[serde(rename = "extensionPath")]
    pub extension_path: String,
    /// When the hook run began, in ms since the Unix epoch.
    #[serde(rename = "startedAt")]
    pub started_at: u64,
    /// Where the hook run stands.
    pub phase: HookPhase,
    /// What the hook is doing, for people: one short plain line.
    #[serde(rename = "statusMessage")]
    pub status_message: String,
    /// When the hook run ended, in ms since the Unix epoch. Absent unless `phase` is `end`.
    #[serde(
        rename = "completedAt",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub completed_at: Option<u64>,
    /// How the hook run ended. Absent unless `phase` is `end`.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub status: Option<HookStatus>,
    /// Why the call was blocked or what broke. Absent unless `status` is `blocked` or `failed`.
    #[serde(
        rename = "errorMessage",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub error_message: Option<String>,
}

tagged!(ToolHookStatusEvent : "type" = "tool_hook_status");

/// What a tool gives back: blocks for the model and details for programs. A partial result has the same shape and replaces the one before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The blocks that the model reads; may be empty while a tool is still running.
    pub content: Vec<InputContent>,
    /// Whatever the tool reports to programs, in the tool's own shape; the model does not see it. Absent when the tool gives none, an empty object for errors made by the run loop.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub details: Option<Value>,
    /// True when no further model request follows this turn. Absent when the tool has nothing to say about it.
    #[serde(
        rename = "endTurn",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub end_turn: Option<bool>,
}

/// The result of one tool call as it goes back to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename = "toolResult", remote = "Self")]
pub struct ToolResultMessage {
    /// Id of the call that this answers.
    #[serde(rename = "toolCallId")]
    pub tool_call_id: String,
    /// Name of the tool that ran, or the name that the model asked for when there is no such tool.
    #[serde(rename = "toolName")]
    pub tool_name: String,
    /// The blocks that the model reads.
    pub content: Vec<InputContent>,
    /// What the tool reports to programs, in the tool's own shape; the model does not see it. Absent when the tool gives none.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub details: Option<Value>,
    /// True when the tool failed or was not run; for a command, also when it exited with another code than 0.
    #[serde(rename = "isError")]
    pub is_error: bool,
    /// When the result was made, in ms since the Unix epoch.
    pub timestamp: u64,
}

tagged!(ToolResultMessage : "role" = "toolResult");

/// The next piece of the arguments of an open tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "toolcall_delta", remote = "Self")]
pub struct ToolcallDelta {
    /// Place of the block in the message's `content`, from 0.
    #[serde(rename = "contentIndex")]
    pub content_index: u64,
    /// The piece, raw JSON text to be appended; may be empty.
    pub delta: String,
}

tagged!(ToolcallDelta : "type" = "toolcall_delta");

/// A tool call is complete, or will not become more complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "toolcall_end", remote = "Self")]
pub struct ToolcallEnd {
    /// Place of the block in the message's `content`, from 0.
    #[serde(rename = "contentIndex")]
    pub content_index: u64,
    /// The whole call with its arguments read.
    #[serde(rename = "toolCall")]
    pub tool_call: ToolCall,
}

tagged!(ToolcallEnd : "type" = "toolcall_end");

/// A tool call begins, with no arguments yet. Its toolcall_delta lines follow; toolcall_end closes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "toolcall_start", remote = "Self")]
pub struct ToolcallStart {
    /// Place of the block in the message's `content`, from 0.
    #[serde(rename = "contentIndex")]
    pub content_index: u64,
    /// Id of the call.
    pub id: String,
    /// Name of the tool as the model wrote it.
    #[serde(rename = "toolName")]
    pub tool_name: String,
}

tagged!(ToolcallStart : "type" = "toolcall_start");

/// A turn is over, after its answer, its tool calls and their result messages; closes the turn_start before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "turn_end", remote = "Self")]
pub struct TurnEndEvent {
    /// The answer of this turn, as in its message_end.
    pub message: AssistantMessage,
    /// The tool results of this turn in the order of the calls; empty when no call was taken up.
    #[serde(rename = "toolResults")]
    pub tool_results: Vec<ToolResultMessage>,
}

tagged!(TurnEndEvent : "type" = "turn_end");

/// A turn begins: one answer of the model and the tool calls in it. The messages that lead to the answer come next; one turn_end closes the turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "turn_start", remote = "Self")]
pub struct TurnStartEvent {}

tagged!(TurnStartEvent : "type" = "turn_start");

/// Tokens and cost of one request, or of all requests where a line says so. All zero until the service has reported something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens that were neither read from nor written to a cache.
    pub input: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// Input tokens served from the cache.
    #[serde(rename = "cacheRead")]
    pub cache_read: u64,
    /// Input tokens written to the cache.
    #[serde(rename = "cacheWrite")]
    pub cache_write: u64,
    /// Tokens of `cacheWrite` that are kept for an hour. Absent when the service does not tell them apart.
    #[serde(
        rename = "cacheWrite1h",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub cache_write1h: Option<u64>,
    /// Tokens of `output` spent on reasoning. Absent when the service does not report them.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub reasoning: Option<u64>,
    /// Tokens altogether, as the service reports them, else the sum of input, output, cacheRead and cacheWrite.
    #[serde(rename = "totalTokens")]
    pub total_tokens: u64,
    /// The cost in US dollars at the model's prices.
    pub cost: Cost,
}

/// What a user or custom message says: a plain string, or an array of blocks. Prompts are written as blocks; a string comes from a session file or a hook.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum UserContent {
    /// The whole content as one text.
    String(String),
    /// The blocks in order.
    Array(Vec<InputContent>),
}

impl<'de> Deserialize<'de> for UserContent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        tag::string_or_array(from, Self::String, Self::Array)
    }
}

impl From<String> for UserContent {
    fn from(value: String) -> Self {
        Self::String(value)
    }
}

impl From<Vec<InputContent>> for UserContent {
    fn from(value: Vec<InputContent>) -> Self {
        Self::Array(value)
    }
}

/// What the user said: a prompt, a steered or queued message, or the result of a background agent handed to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename = "user", remote = "Self")]
pub struct UserMessage {
    /// What was said: a string or blocks.
    pub content: UserContent,
    /// When the message was made, in ms since the Unix epoch.
    pub timestamp: u64,
}

tagged!(UserMessage : "role" = "user");

/// Name of a form of the event stream: `quipu` (the native one), `senpi` or `dreb` (the forms of two other agents).
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
pub enum WireName {
    /// `quipu`.
    #[serde(rename = "quipu")]
    Quipu,
    /// `senpi`.
    #[serde(rename = "senpi")]
    Senpi,
    /// `dreb`.
    #[serde(rename = "dreb")]
    Dreb,
}

impl WireName {
    /// Every value, in the order of the schema.
    pub const ALL: &'static [Self] = &[Self::Quipu, Self::Senpi, Self::Dreb];
    /// The value as it stands on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Quipu => "quipu",
            Self::Senpi => "senpi",
            Self::Dreb => "dreb",
        }
    }
}

impl ::std::fmt::Display for WireName {
    fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
        match *self {
            Self::Quipu => f.write_str("quipu"),
            Self::Senpi => f.write_str("senpi"),
            Self::Dreb => f.write_str("dreb"),
        }
    }
}

impl ::std::str::FromStr for WireName {
    type Err = self::error::ConversionError;
    fn from_str(value: &str) -> Result<Self, self::error::ConversionError> {
        match value {
            "quipu" => Ok(Self::Quipu),
            "senpi" => Ok(Self::Senpi),
            "dreb" => Ok(Self::Dreb),
            _ => Err("invalid value".into()),
        }
    }
}

/// Error types.
pub mod error {
    /// Error from a `TryFrom` or `FromStr` implementation.
    pub struct ConversionError(::std::borrow::Cow<'static, str>);
    impl ::std::error::Error for ConversionError {}
    impl ::std::fmt::Display for ConversionError {
        fn fmt(
            &self,
            f: &mut ::std::fmt::Formatter<'_>,
        ) -> Result<(), ::std::fmt::Error> {
            ::std::fmt::Display::fmt(&self.0, f)
        }
    }
    impl ::std::fmt::Debug for ConversionError {
        fn fmt(
            &self,
            f: &mut ::std::fmt::Formatter<'_>,
        ) -> Result<(), ::std::fmt::Error> {
            ::std::fmt::Debug::fmt(&self.0, f)
        }
    }
    impl From<&'static str> for ConversionError {
        fn from(value: &'static str) -> Self {
            Self(value.into())
        }
    }
    impl From<String> for ConversionError {
        fn from(value: String) -> Self {
            Self(value.into())
        }
    }
}
