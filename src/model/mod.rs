//! Models: what is asked, how the answer comes back, and the services that give it.
//!
//! A [`Provider`] turns one [`ModelRequest`] into a [`ModelStream`] of [`ModelDelta`]s, in the order
//! and with the pieces in which the service sent them. It knows nothing of sessions, events or
//! retries: a failure is the stream's last item, classified as a [`ModelError`].

mod answer;
mod anthropic;
pub mod catalogue;
mod context;
mod discover;
mod error;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod google;
mod http;
mod ids;
mod json;
mod offline;
mod openai_chat;
mod openai_responses;
pub mod sse;
mod thinking;

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::Stream;
use serde_json::{Map, Value};

use crate::event::{
    AgentMessage, AssistantContent, Cost, ErrorCode, Number, StopReason, ThinkingLevel, Usage,
};

pub use discover::discover;
pub use error::ModelError;
pub use http::Timeouts;
pub(crate) use ids::new_call_id;
pub use json::{parse as parse_json, repair_surrogates};
pub use offline::{Offline, Script, ScriptError};
pub use thinking::clamp as clamp_thinking;

/// Most tokens of an answer when nobody asks for more.
const USUAL_ANSWER: u64 = 32_000;

/// A model as configured: identity, endpoint, limits, prices.
#[derive(Clone, PartialEq)]
pub struct Model {
    /// Key of the provider, such as `anthropic`.
    pub provider: String,
    /// Id that the service knows it by.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// Protocol to speak.
    pub api: Api,
    /// Where the service is, such as `https://api.anthropic.com`; unused by [`Api::Offline`].
    pub base_url: String,
    /// Further request headers, name and value; they win over those of the protocol.
    pub headers: Vec<(String, String)>,
    /// Whether it can think before it answers.
    pub reasoning: bool,
    /// Whether it takes images.
    pub images: bool,
    /// Its prices; zero when unknown.
    pub cost: Prices,
    /// Tokens of conversation and answer together; `None` when unknown.
    pub context_window: Option<u64>,
    /// Most tokens of one answer; `None` when unknown.
    pub max_tokens: Option<u64>,
    /// Send the key as `Authorization: Bearer` and not in the header that the protocol has for it.
    pub auth_header: bool,
    /// Switches for services that deviate from the protocol, as configured.
    pub compat: Map<String, Value>,
    /// Tokens that a thinking level may take, where the settings say so.
    pub thinking_budgets: BTreeMap<ThinkingLevel, u64>,
}

impl Model {
    /// The built-in model that needs neither network nor key.
    #[must_use]
    pub fn offline() -> Self {
        Self {
            provider: "offline".to_owned(),
            id: "offline".to_owned(),
            name: "Offline model".to_owned(),
            api: Api::Offline,
            base_url: String::new(),
            headers: Vec::new(),
            reasoning: true,
            images: true,
            cost: Prices::default(),
            context_window: Some(200_000),
            max_tokens: Some(8192),
            auth_header: false,
            compat: Map::new(),
            thinking_budgets: BTreeMap::new(),
        }
    }

    /// Most tokens of the answer to a request; `None` if neither it nor the model has a limit.
    fn answer_limit(&self, request: &ModelRequest) -> Option<u64> {
        let own = self.max_tokens.unwrap_or(u64::MAX);
        let usual = self.max_tokens.map(|own| own.min(USUAL_ANSWER));
        Some(request.max_tokens.or(usual)?.min(own).max(1))
    }
}

/// Header values may be credentials, so they are left out.
impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Model")
            .field("provider", &self.provider)
            .field("id", &self.id)
            .field("api", &self.api)
            .field("headers", &headers)
            .finish_non_exhaustive()
    }
}

/// Prices in US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prices {
    /// Input that was neither read from nor written to the cache.
    pub input: f64,
    /// Output, thinking included.
    pub output: f64,
    /// Input read from the cache.
    pub cache_read: f64,
    /// Input written to the cache for the usual time.
    pub cache_write: f64,
}

/// A protocol to speak with a model service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Api {
    /// Anthropic's Messages API.
    AnthropicMessages,
    /// OpenAI's Chat Completions API, which many servers speak.
    OpenAiCompletions,
    /// OpenAI's Responses API.
    OpenAiResponses,
    /// Google's Gemini API.
    GoogleGenerativeAi,
    /// The built-in model.
    Offline,
    /// One that Quipu does not speak, as it was configured.
    Other(String),
}

impl Api {
    /// The name in configuration and in messages, such as `anthropic-messages`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::AnthropicMessages => "anthropic-messages",
            Self::OpenAiCompletions => "openai-completions",
            Self::OpenAiResponses => "openai-responses",
            Self::GoogleGenerativeAi => "google-generative-ai",
            Self::Offline => "offline",
            Self::Other(name) => name,
        }
    }
}

impl From<&str> for Api {
    fn from(name: &str) -> Self {
        match name {
            "anthropic-messages" => Self::AnthropicMessages,
            "openai-completions" => Self::OpenAiCompletions,
            "openai-responses" => Self::OpenAiResponses,
            "google-generative-ai" => Self::GoogleGenerativeAi,
            "offline" => Self::Offline,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// A credential. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a credential.
    #[must_use]
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The credential itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A tool as it is described to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Name the model calls it by.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments; an object.
    pub parameters: Value,
}

/// One question to a model.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// Instructions ahead of the conversation; may be empty.
    pub system_prompt: String,
    /// The conversation, oldest first.
    pub messages: Vec<AgentMessage>,
    /// Tools that the model may call.
    pub tools: Arc<[ToolSpec]>,
    /// How much the model is to think.
    pub thinking: ThinkingLevel,
    /// Most tokens of the answer; `None` for the model's own default.
    pub max_tokens: Option<u64>,
}

/// One piece of an answer.
///
/// Block indexes are dense from 0 in the order in which blocks start; blocks may interleave. Every
/// block that starts also ends before [`ModelDelta::Finished`], and no piece is empty. The pieces
/// of a tool call are its raw JSON arguments; none at all stand for no arguments.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    missing_docs,
    reason = "the fields are the terms of the enum's own description"
)]
pub enum ModelDelta {
    /// The service has accepted the request; nothing of the answer is known yet.
    Accepted,
    /// The service's id of the answer.
    ResponseId(String),
    /// The model that really answers.
    ResponseModel(String),
    /// A text block begins.
    TextStart { index: usize },
    /// More of a text block.
    TextDelta { index: usize, delta: String },
    /// A text block is whole.
    TextEnd {
        index: usize,
        signature: Option<String>,
    },
    /// A thinking block begins.
    ThinkingStart { index: usize },
    /// More of a thinking block.
    ThinkingDelta { index: usize, delta: String },
    /// A thinking block is whole. When `redacted` it had no pieces and `signature` is what the
    /// service wants back in place of its text.
    ThinkingEnd {
        index: usize,
        signature: Option<String>,
        redacted: bool,
    },
    /// A tool call begins. `id` is not empty and occurs once in the answer.
    ToolcallStart {
        index: usize,
        id: String,
        name: String,
    },
    /// More of the arguments of a tool call.
    ToolcallDelta { index: usize, delta: String },
    /// What the service wants back beside an open tool call.
    ToolcallSignature { index: usize, signature: String },
    /// A tool call is whole.
    ToolcallEnd { index: usize },
    /// The token counts of the whole answer so far, when they have changed.
    Usage(TokenUsage),
    /// The answer is complete; always the last item. `refusal` is a text for people, present when
    /// `stop_reason` is [`StopReason::Error`] because the service refused to go on.
    Finished {
        stop_reason: StopReason,
        refusal: Option<String>,
    },
}

/// Token counts of one answer as the service reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Input tokens, without those read from or written to the cache.
    pub input: u64,
    /// Output tokens, thinking included.
    pub output: u64,
    /// Input tokens read from the cache.
    pub cache_read: u64,
    /// Input tokens written to the cache.
    pub cache_write: u64,
    /// The part of `cache_write` that is kept for an hour, when the service tells.
    pub cache_write_1h: Option<u64>,
    /// The part of `output` that was thinking, when the service tells.
    pub reasoning: Option<u64>,
    /// The total, when the service gives one of its own.
    pub total: Option<u64>,
}

impl TokenUsage {
    /// The counts with their cost. The total is the sum of the four counts unless the service gave
    /// one; cache writes for an hour cost twice the input price.
    #[must_use]
    pub fn priced(&self, prices: &Prices) -> Usage {
        let sum = [self.output, self.cache_read, self.cache_write]
            .into_iter()
            .fold(self.input, u64::saturating_add);
        let hour = self.cache_write_1h.unwrap_or(0).min(self.cache_write);
        let input = dollars(prices.input, self.input);
        let output = dollars(prices.output, self.output);
        let cache_read = dollars(prices.cache_read, self.cache_read);
        let cache_write = dollars(prices.cache_write, self.cache_write - hour)
            + dollars(prices.input * 2.0, hour);
        Usage {
            input: self.input,
            output: self.output,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            cache_write1h: self.cache_write_1h,
            reasoning: self.reasoning,
            total_tokens: self.total.unwrap_or(sum),
            cost: Cost {
                input: Number::from(input),
                output: Number::from(output),
                cache_read: Number::from(cache_read),
                cache_write: Number::from(cache_write),
                total: Number::from(input + output + cache_read + cache_write),
            },
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "no answer has 2^53 tokens")]
fn dollars(per_million: f64, tokens: u64) -> f64 {
    per_million / 1e6 * tokens as f64
}

/// An answer as it arrives. Dropping it aborts the request.
pub type ModelStream = Pin<Box<dyn Stream<Item = Result<ModelDelta, ModelError>> + Send>>;

/// A model that answers.
pub trait Provider: Send + Sync {
    /// Asks. Nothing is sent before the stream is first polled, from within a tokio runtime. The
    /// stream ends after [`ModelDelta::Finished`] or its first error.
    fn stream(&self, request: ModelRequest) -> ModelStream;
}

/// A provider for the model. No file is read and nothing is sent yet.
///
/// # Errors
/// [`ErrorCode::Configuration`] when the protocol is not supported, the base URL is none, or a
/// header cannot be sent; [`ErrorCode::Credentials`] when the key cannot be sent.
pub fn connect(
    model: &Model,
    key: Option<Secret>,
    timeouts: Timeouts,
) -> Result<Box<dyn Provider>, ModelError> {
    match &model.api {
        Api::AnthropicMessages => Ok(Box::new(anthropic::Anthropic::connect(
            model, key, timeouts,
        )?)),
        Api::OpenAiCompletions => Ok(Box::new(openai_chat::OpenAiChat::connect(
            model, key, timeouts,
        )?)),
        Api::OpenAiResponses => Ok(Box::new(openai_responses::OpenAiResponses::connect(
            model, key, timeouts,
        )?)),
        Api::GoogleGenerativeAi => Ok(Box::new(google::Google::connect(model, key, timeouts)?)),
        Api::Offline => Ok(Box::new(Offline::new(timeouts))),
        Api::Other(name) => Err(ModelError::new(
            ErrorCode::Configuration,
            format!(
                "The api \"{name}\" of the model {}/{} is not supported. Supported: {}.",
                model.provider,
                model.id,
                catalogue::SUPPORTED_APIS.join(", ")
            ),
        )),
    }
}

/// A rough count of the tokens in `chars` characters.
pub(crate) fn estimate_tokens(chars: usize) -> u64 {
    (chars as u64).div_ceil(4)
}

/// Characters of the conversation that the model reads, images left out.
fn request_chars(request: &ModelRequest) -> usize {
    let message = |message: &AgentMessage| match message {
        AgentMessage::Assistant(answer) => answer.content.iter().map(block_chars).sum(),
        other => context::user_chars(other),
    };
    let tools = request
        .tools
        .iter()
        .map(|tool| tool.description.chars().count());
    request.system_prompt.chars().count()
        + tools.sum::<usize>()
        + request.messages.iter().map(message).sum::<usize>()
}

fn block_chars(block: &AssistantContent) -> usize {
    match block {
        AssistantContent::Text(text) => text.text.chars().count(),
        AssistantContent::Thinking(thinking) => thinking.thinking.chars().count(),
        AssistantContent::ToolCall(call) => {
            serde_json::to_string(&call.arguments).map_or(0, |text| text.len())
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
