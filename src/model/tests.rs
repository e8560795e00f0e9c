//! Fixtures of the module's tests, and tests of its own types.

mod canary;
mod levels;
mod matrix;
mod replay;

use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::*;
use crate::event::{AssistantMessage, TextContent, ToolCall, ToolResultMessage, UserMessage};

pub(crate) fn user(text: &str) -> AgentMessage {
    from::<UserMessage>(
        json!({"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1}),
    )
}

#[allow(
    clippy::needless_pass_by_value,
    reason = "callers hand over what they made"
)]
pub(crate) fn answer(stop_reason: StopReason, content: Vec<AssistantContent>) -> AgentMessage {
    from::<AssistantMessage>(json!({
        "role": "assistant", "content": content, "api": "anthropic-messages", "provider": "mock",
        "model": "mock-1", "stopReason": stop_reason, "timestamp": 1,
        "usage": TokenUsage::default().priced(&Prices::default()),
    }))
}

pub(crate) fn text(text: &str) -> AssistantContent {
    TextContent {
        text: text.to_owned(),
        text_signature: None,
    }
    .into()
}

pub(crate) fn call(id: &str, name: &str) -> AssistantContent {
    let call = json!({"type": "toolCall", "id": id, "name": name, "arguments": {"path": "x"}});
    serde_json::from_value::<ToolCall>(call).unwrap().into()
}

pub(crate) fn result(id: &str, text: &str, is_error: bool) -> AgentMessage {
    from::<ToolResultMessage>(json!({
        "role": "toolResult", "toolCallId": id, "toolName": "read", "isError": is_error,
        "content": [{"type": "text", "text": text}], "details": {}, "timestamp": 1,
    }))
}

/// Of a type that is named, since a union would be guessed.
pub(crate) fn from<T: DeserializeOwned + Into<AgentMessage>>(message: Value) -> AgentMessage {
    serde_json::from_value::<T>(message).unwrap().into()
}

pub(crate) fn request(messages: Vec<AgentMessage>) -> ModelRequest {
    ModelRequest {
        system_prompt: "Be brief.".to_owned(),
        messages,
        tools: [].into(),
        thinking: ThinkingLevel::Off,
        max_tokens: None,
    }
}

pub(crate) fn model(base_url: &str) -> Model {
    Model {
        provider: "mock".to_owned(),
        id: "mock-1".to_owned(),
        api: Api::AnthropicMessages,
        base_url: base_url.to_owned(),
        reasoning: false,
        max_tokens: Some(8192),
        ..Model::offline()
    }
}

pub(crate) async fn collect(mut stream: ModelStream) -> Vec<Result<ModelDelta, ModelError>> {
    let mut all = Vec::new();
    while let Some(item) = stream.next().await {
        all.push(item);
    }
    all
}

#[test]
fn usage_sums_up_and_costs_what_the_prices_say() {
    let prices = Prices {
        input: 3.0,
        output: 15.0,
        cache_read: 0.3,
        cache_write: 3.75,
    };
    let usage = TokenUsage {
        input: 1_000_000,
        output: 2_000_000,
        cache_read: 4_000_000,
        cache_write: 3_000_000,
        cache_write_1h: Some(1_000_000),
        reasoning: Some(5),
        total: None,
    };
    let costs = serde_json::to_value(usage.priced(&prices)).unwrap();
    assert_eq!(
        costs,
        json!({"input": 1_000_000, "output": 2_000_000, "cacheRead": 4_000_000,
            "cacheWrite": 3_000_000, "cacheWrite1h": 1_000_000, "reasoning": 5,
            "totalTokens": 10_000_000,
            "cost": {"input": 3, "output": 30, "cacheRead": 1.2, "cacheWrite": 13.5, "total": 47.7}})
    );
    let reported = TokenUsage {
        input: u64::MAX,
        output: u64::MAX,
        total: Some(7),
        ..usage
    };
    assert_eq!(reported.priced(&prices).total_tokens, 7);
    assert_eq!(
        TokenUsage {
            total: None,
            ..reported
        }
        .priced(&prices)
        .total_tokens,
        u64::MAX
    );
}

#[test]
fn credentials_are_not_printed() {
    let mut model = model("http://127.0.0.1:1");
    model
        .headers
        .push(("x-secret".to_owned(), "canary".to_owned()));
    let printed = format!("{model:?} {:?}", Secret::new("canary"));
    assert!(
        printed.contains("x-secret") && !printed.contains("canary"),
        "{printed}"
    );
}

#[test]
fn what_cannot_work_is_refused_before_anything_is_sent() {
    let refuse = |model: &Model, key: Option<&str>| {
        connect(model, key.map(Secret::new), Timeouts::default())
            .err()
            .expect("an error")
    };
    let mut other = model("http://127.0.0.1:1");
    other.api = Api::from("smoke-signals");
    let error = refuse(&other, None);
    assert_eq!(error.code, ErrorCode::Configuration);
    assert!(
        error.message.contains("smoke-signals") && error.message.contains("anthropic-messages")
    );

    for url in [
        "",
        "127.0.0.1:8080",
        "ftp://host",
        "file:///tmp/x",
        "http://",
        "not a url",
    ] {
        let error = refuse(&model(url), None);
        assert_eq!(error.code, ErrorCode::Configuration, "{url}");
        assert!(error.message.contains("base URL"), "{}", error.message);
    }

    let error = refuse(&model("http://127.0.0.1:1"), Some("canary\nkey"));
    assert_eq!(error.code, ErrorCode::Credentials);
    assert!(!error.message.contains("canary"));

    let mut bad_header = model("http://127.0.0.1:1");
    bad_header
        .headers
        .push(("x-good".to_owned(), "canary\r\nvalue".to_owned()));
    let error = refuse(&bad_header, None);
    assert!(error.message.contains("x-good") && !error.message.contains("canary"));
    bad_header.headers = vec![("bad name".to_owned(), "canary".to_owned())];
    assert_eq!(refuse(&bad_header, None).code, ErrorCode::Configuration);
}
