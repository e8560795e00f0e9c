//! Models: what they are, where they are served, what they cost.

pub mod catalogue;

use std::fmt;

use serde_json::{Map, Value};

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
        }
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
            Self::Offline => "offline",
            Self::Other(name) => name,
        }
    }
}

impl From<&str> for Api {
    fn from(name: &str) -> Self {
        match name {
            "anthropic-messages" => Self::AnthropicMessages,
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
