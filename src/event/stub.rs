// Stand-in for the generated types until build.rs makes them; same names, fields and shapes.
use super::Number;
use serde::{Deserialize, Serialize};

macro_rules! tagged {
    ($tag:literal, $($(#[$m:meta])* $name:ident = $value:literal { $($(#[$fm:meta])* $f:ident : $t:ty),* $(,)? })*) => {$(
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = $tag, rename = $value, rename_all = "camelCase")]
        pub struct $name { $($(#[$fm])* pub $f: $t),* }
    )*};
}
macro_rules! union {
    ($name:ident: $($variant:ident($t:ty)),* $(,)?) => {
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(untagged)]
        pub enum $name { $($variant($t)),* }
        $(impl From<$t> for $name { fn from(v: $t) -> Self { Self::$variant(v) } })*
    };
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost { pub input: Number, pub output: Number, #[serde(rename = "cacheRead")] pub cache_read: Number, #[serde(rename = "cacheWrite")] pub cache_write: Number, pub total: Number }
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    pub input: u64, pub output: u64, pub cache_read: u64, pub cache_write: u64,
    #[serde(skip_serializing_if = "Option::is_none")] pub cache_write1h: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")] pub reasoning: Option<u64>,
    pub total_tokens: u64, pub cost: Cost,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StopReason { Pending, Stop, Length, ToolUse, Error, Aborted }
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThinkingLevel { Off, Minimal, Low, Medium, High, Xhigh, Max }
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelRef { pub provider: String, pub id: String }

tagged! { "type",
    TextContent = "text" { text: String, #[serde(skip_serializing_if = "Option::is_none")] text_signature: Option<String> }
    ThinkingContent = "thinking" { thinking: String, #[serde(skip_serializing_if = "Option::is_none")] thinking_signature: Option<String>, #[serde(skip_serializing_if = "Option::is_none")] redacted: Option<bool> }
    ImageContent = "image" { data: String, mime_type: String }
    ToolCall = "toolCall" { id: String, name: String, arguments: serde_json::Map<String, serde_json::Value>, #[serde(skip_serializing_if = "Option::is_none")] thought_signature: Option<String> }
    TextStart = "text_start" { content_index: u64 }
    TextDelta = "text_delta" { content_index: u64, delta: String }
    TextEnd = "text_end" { content_index: u64, content: String }
    ThinkingStart = "thinking_start" { content_index: u64 }
    ThinkingDelta = "thinking_delta" { content_index: u64, delta: String }
    ThinkingEnd = "thinking_end" { content_index: u64, content: String }
    ToolcallStart = "toolcall_start" { content_index: u64, id: String, tool_name: String }
    ToolcallDelta = "toolcall_delta" { content_index: u64, delta: String }
    ToolcallEnd = "toolcall_end" { content_index: u64, tool_call: ToolCall }
}
union! { AssistantContent: Text(TextContent), Thinking(ThinkingContent), ToolCall(ToolCall) }
union! { InputContent: Text(TextContent), Image(ImageContent) }
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum UserContent { String(String), Array(Vec<InputContent>) }
union! { AssistantMessageEvent: TextStart(TextStart), TextDelta(TextDelta), TextEnd(TextEnd), ThinkingStart(ThinkingStart), ThinkingDelta(ThinkingDelta), ThinkingEnd(ThinkingEnd), ToolcallStart(ToolcallStart), ToolcallDelta(ToolcallDelta), ToolcallEnd(ToolcallEnd) }

/// What a tool gives back: `result` and `partialResult`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    pub content: Vec<InputContent>,
    #[serde(skip_serializing_if = "Option::is_none")] pub details: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")] pub end_turn: Option<bool>,
}

tagged! { "role",
    UserMessage = "user" { content: UserContent, timestamp: u64 }
    AssistantMessage = "assistant" {
        content: Vec<AssistantContent>, api: String, provider: String, model: String, usage: Usage,
        stop_reason: StopReason, timestamp: u64,
        #[serde(skip_serializing_if = "Option::is_none")] response_id: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")] response_model: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")] error_message: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")] duration_ms: Option<Number>,
    }
    ToolResultMessage = "toolResult" {
        tool_call_id: String, tool_name: String, content: Vec<InputContent>,
        #[serde(skip_serializing_if = "Option::is_none")] details: Option<serde_json::Value>,
        is_error: bool, timestamp: u64,
    }
    BashExecutionMessage = "bashExecution" {
        command: String, output: String, #[serde(skip_serializing_if = "Option::is_none")] exit_code: Option<i64>, cancelled: bool, truncated: bool,
        #[serde(skip_serializing_if = "Option::is_none")] full_output_path: Option<String>, timestamp: u64,
        #[serde(skip_serializing_if = "Option::is_none")] exclude_from_context: Option<bool>,
    }
    CustomMessage = "custom" { custom_type: String, content: UserContent, display: bool, #[serde(skip_serializing_if = "Option::is_none")] details: Option<serde_json::Value>, timestamp: u64 }
    BranchSummaryMessage = "branchSummary" { summary: String, from_id: String, timestamp: u64 }
    CompactionSummaryMessage = "compactionSummary" { summary: String, tokens_before: u64, #[serde(skip_serializing_if = "Option::is_none")] details: Option<serde_json::Value>, timestamp: u64 }
}
union! { AgentMessage: User(UserMessage), Assistant(AssistantMessage), ToolResult(ToolResultMessage), BashExecution(BashExecutionMessage), Custom(CustomMessage), BranchSummary(BranchSummaryMessage), CompactionSummary(CompactionSummaryMessage) }

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamInfo { pub wire: String, pub version: String, pub schema: String }
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome { Completed, Failed, Aborted, Interrupted, Limit }
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode { Auth, RateLimited, Overloaded, ContextOverflow, Quota, InvalidRequest, ContentRefused, Network, Timeout, ProviderError, Usage, Configuration, Credentials, Session, Limit, Interrupted, Internal }
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamError { pub code: ErrorCode, pub message: String, pub retryable: bool }

tagged! { "type",
    SessionHeader = "session" { version: u64, id: String, timestamp: String, cwd: String,
        #[serde(skip_serializing_if = "Option::is_none")] parent_session: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")] agent_type: Option<String>, stream: StreamInfo }
    AgentStartEvent = "agent_start" { #[serde(skip_serializing_if = "Option::is_none")] model: Option<ModelRef>, #[serde(skip_serializing_if = "Option::is_none")] thinking_level: Option<ThinkingLevel> }
    AgentEndEvent = "agent_end" { messages: Vec<AgentMessage>, will_retry: bool }
    TurnStartEvent = "turn_start" {}
    TurnEndEvent = "turn_end" { message: AssistantMessage, tool_results: Vec<ToolResultMessage> }
    MessageStartEvent = "message_start" { message: AgentMessage }
    MessageUpdateEvent = "message_update" { usage: Usage, assistant_message_event: AssistantMessageEvent, #[serde(skip_serializing_if = "Option::is_none")] resolved_tool_name: Option<String> }
    MessageEndEvent = "message_end" { message: AgentMessage }
    ToolExecutionStartEvent = "tool_execution_start" { tool_call_id: String, tool_name: String, args: serde_json::Value }
    ToolExecutionUpdateEvent = "tool_execution_update" { tool_call_id: String, tool_name: String, args: serde_json::Value, partial_result: ToolResult }
    ToolExecutionEndEvent = "tool_execution_end" { tool_call_id: String, tool_name: String, result: ToolResult, is_error: bool }
    StreamEndEvent = "stream_end" { outcome: Outcome, exit_code: u64, #[serde(skip_serializing_if = "Option::is_none")] error: Option<StreamError>, usage: Usage, turns: u64, lines: u64 }
}
union! { QuipuEvent: Session(SessionHeader), AgentStart(AgentStartEvent), AgentEnd(AgentEndEvent), TurnStart(TurnStartEvent), TurnEnd(TurnEndEvent), MessageStart(MessageStartEvent), MessageUpdate(MessageUpdateEvent), MessageEnd(MessageEndEvent), ToolExecutionStart(ToolExecutionStartEvent), ToolExecutionUpdate(ToolExecutionUpdateEvent), ToolExecutionEnd(ToolExecutionEndEvent), StreamEnd(StreamEndEvent) }
