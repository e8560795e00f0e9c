//! A second reading of every line, by types written by hand from the documents: a field that is
//! missing, too much, twice or of another kind is a finding.
//!
//! Lines of a kind that the program does not write yet have no type here; the first one written
//! fails, and asks for it.
#![allow(
    dead_code,
    reason = "reading is the test; most fields are read by nobody else"
)]

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// Reads a line.
pub(crate) fn read(line: &str) -> Result<(), String> {
    serde_json::from_str::<Line>(line)
        .map(drop)
        .map_err(|error| format!("strict reading: {error}"))
}

/// A field that may be missing but is never null.
struct Maybe<T>(Option<T>);

impl<T> Default for Maybe<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Maybe<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::deserialize(from).map(|value| Self(Some(value)))
    }
}

/// A flag that is left out rather than false.
struct True;

impl<'de> Deserialize<'de> for True {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        if bool::deserialize(from)? {
            Ok(Self)
        } else {
            Err(D::Error::custom("false is written"))
        }
    }
}

#[derive(Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
enum Line {
    Session {
        version: u8,
        id: String,
        timestamp: String,
        cwd: String,
        #[serde(default)]
        parent_session: Maybe<String>,
        #[serde(default)]
        agent_type: Maybe<String>,
        stream: About,
    },
    AgentStart {
        #[serde(default)]
        model: Maybe<ModelName>,
        #[serde(default)]
        thinking_level: Maybe<Level>,
    },
    AgentEnd {
        messages: Vec<Message>,
        will_retry: bool,
    },
    TurnStart {},
    TurnEnd {
        message: Message,
        tool_results: Vec<Message>,
    },
    MessageStart {
        message: Message,
    },
    MessageUpdate {
        usage: Tokens,
        assistant_message_event: Piece,
        #[serde(default)]
        resolved_tool_name: Maybe<String>,
    },
    MessageEnd {
        message: Message,
    },
    ToolExecutionStart {
        tool_call_id: String,
        tool_name: String,
        args: Map<String, Value>,
    },
    ToolExecutionUpdate {
        tool_call_id: String,
        tool_name: String,
        args: Map<String, Value>,
        partial_result: Given,
    },
    ToolExecutionEnd {
        tool_call_id: String,
        tool_name: String,
        result: Given,
        is_error: bool,
    },
    AutoRetryStart {
        attempt: u64,
        max_attempts: u64,
        delay_ms: u64,
        error_message: String,
    },
    AutoRetryEnd {
        success: bool,
        attempt: u64,
        #[serde(default)]
        final_error: Maybe<String>,
    },
    ThinkingLevelChanged {
        level: Level,
    },
    ThinkingLevelClamped {
        provider: String,
        model_id: String,
        requested_level: Level,
        applied_level: Level,
        reason: ClampReason,
    },
    CompactionStart {
        reason: Because,
        request_id: String,
    },
    CompactionProgress {
        reason: Because,
        #[serde(default)]
        delta: Maybe<String>,
        #[serde(default)]
        text: Maybe<String>,
    },
    CompactionEnd {
        reason: Because,
        #[serde(default)]
        result: Maybe<Compacted>,
        aborted: bool,
        will_retry: bool,
        #[serde(default)]
        request_id: Maybe<String>,
        #[serde(default)]
        accepted: Maybe<bool>,
        #[serde(default)]
        rejection_cause: Maybe<Refusal>,
        #[serde(default)]
        error_message: Maybe<String>,
        #[serde(default)]
        usage: Maybe<Tokens>,
    },
    SummarizationRetryScheduled {
        attempt: u64,
        max_attempts: u64,
        delay_ms: u64,
        error_message: String,
    },
    SummarizationRetryAttemptStart {
        source: Source,
        reason: Because,
    },
    SummarizationRetryFinished {},
    TasksUpdate {
        tasks: Vec<ToDo>,
    },
    SuggestNext {
        command: String,
    },
    BackgroundAgentStart {
        agent_id: String,
        agent_type: String,
        task_summary: String,
        #[serde(default)]
        session_dir: Maybe<String>,
    },
    SubagentArbitration {
        agent_id: String,
        status: Verdict,
        proposed: Route,
        #[serde(rename = "final", deserialize_with = "Option::deserialize")]
        taken: Option<Route>,
        changed: Vec<RoutePart>,
        #[serde(default)]
        step: Maybe<u64>,
        #[serde(default)]
        error_code: Maybe<NoRoute>,
        #[serde(default)]
        error_message: Maybe<String>,
        #[serde(default)]
        usage: Maybe<Tokens>,
    },
    BackgroundAgentEvent {
        agent_id: String,
        event: Box<Line>,
    },
    BackgroundAgentEnd {
        agent_id: String,
        agent_type: String,
        success: bool,
        #[serde(default)]
        model: Maybe<String>,
        #[serde(default)]
        thinking: Maybe<Level>,
        #[serde(default)]
        steps: Maybe<Vec<ChainStep>>,
        #[serde(default)]
        session_file: Maybe<String>,
    },
    ParentPausedForBackgroundAgents {
        running_agent_count: u64,
        turns_used: u64,
        turn_limit: f64,
    },
    StreamEnd {
        outcome: Ended,
        exit_code: u8,
        #[serde(default)]
        error: Maybe<Problem>,
        usage: Tokens,
        turns: u64,
        lines: u64,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToDo {
    id: String,
    title: String,
    status: Doing,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Doing {
    Pending,
    InProgress,
    Completed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Route {
    agent: String,
    model: String,
    thinking: Level,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum RoutePart {
    Agent,
    Model,
    Thinking,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Success,
    Failure,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum NoRoute {
    InvalidConfig,
    MissingScope,
    InvalidGuide,
    ArbiterModel,
    ArbiterThinking,
    ContextTooLarge,
    InferenceFailed,
    Timeout,
    Aborted,
    MalformedOutput,
    UnknownAgent,
    OutOfScopeModel,
    UnsupportedThinking,
    InternalError,
    ObservabilityFailed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChainStep {
    step: u64,
    agent: String,
    success: bool,
    #[serde(default)]
    model: Maybe<String>,
    #[serde(default)]
    thinking: Maybe<Level>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    wire: String,
    version: String,
    schema: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelName {
    provider: String,
    id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Off,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Because {
    Threshold,
    Overflow,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Refusal {
    WouldOverflow,
    CircuitBreaker,
    PerTurnCap,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Source {
    Compaction,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Compacted {
    summary: String,
    first_kept_entry_id: String,
    tokens_before: u64,
    usage: Tokens,
    details: FileLists,
    estimated_tokens_after: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FileLists {
    read_files: Vec<String>,
    modified_files: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ClampReason {
    ModelNotReasoning,
    LevelUnsupported,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ended {
    Completed,
    Failed,
    Aborted,
    Interrupted,
    Limit,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Problem {
    code: String,
    message: String,
    retryable: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Tokens {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    #[serde(default, rename = "cacheWrite1h")]
    cache_write_1h: Maybe<u64>,
    #[serde(default)]
    reasoning: Maybe<u64>,
    #[serde(rename = "totalTokens")]
    total: u64,
    cost: Money,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Money {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
    total: f64,
}

#[derive(Deserialize)]
#[serde(
    tag = "role",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
enum Message {
    User {
        content: Vec<Shown>,
        timestamp: u64,
    },
    Assistant {
        content: Vec<Said>,
        api: String,
        provider: String,
        model: String,
        usage: Tokens,
        stop_reason: Stop,
        timestamp: u64,
        #[serde(default)]
        response_id: Maybe<String>,
        #[serde(default)]
        response_model: Maybe<String>,
        #[serde(default)]
        error_message: Maybe<String>,
        #[serde(default)]
        duration_ms: Maybe<f64>,
    },
    ToolResult {
        tool_call_id: String,
        tool_name: String,
        content: Vec<Shown>,
        #[serde(default)]
        details: Maybe<Value>,
        is_error: bool,
        timestamp: u64,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Stop {
    Pending,
    #[serde(rename = "stop")]
    Done,
    Length,
    ToolUse,
    Error,
    Aborted,
}

/// What a user or a tool shows to the model.
#[derive(Deserialize)]
#[serde(
    tag = "type",
    rename_all = "lowercase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
enum Shown {
    Text { text: String },
    Image { data: String, mime_type: String },
}

/// What the model says.
#[derive(Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
enum Said {
    Text {
        text: String,
        #[serde(default)]
        text_signature: Maybe<String>,
    },
    Thinking {
        thinking: String,
        #[serde(default)]
        thinking_signature: Maybe<String>,
        #[serde(default)]
        redacted: Maybe<True>,
    },
    ToolCall(Call),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Call {
    id: String,
    name: String,
    arguments: Map<String, Value>,
    #[serde(default)]
    thought_signature: Maybe<String>,
    #[serde(default)]
    incomplete: Maybe<True>,
    #[serde(default)]
    error_message: Maybe<String>,
}

#[derive(Deserialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
enum Piece {
    TextStart {
        content_index: u64,
    },
    TextDelta {
        content_index: u64,
        delta: String,
    },
    TextEnd {
        content_index: u64,
        content: String,
    },
    ThinkingStart {
        content_index: u64,
    },
    ThinkingDelta {
        content_index: u64,
        delta: String,
    },
    ThinkingEnd {
        content_index: u64,
        content: String,
    },
    ToolcallStart {
        content_index: u64,
        id: String,
        tool_name: String,
    },
    ToolcallDelta {
        content_index: u64,
        delta: String,
    },
    ToolcallEnd {
        content_index: u64,
        tool_call: Said,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    content: Vec<Shown>,
    #[serde(default)]
    details: Maybe<Value>,
    #[serde(default)]
    end_turn: Maybe<bool>,
}
