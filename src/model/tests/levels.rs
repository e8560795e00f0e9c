//! What each API is asked at each thinking level, from the catalogue to the request.

use std::path::Path;

use pretty_assertions::assert_eq;
use serde_json::{Map, Value, json};

use super::{request, user};
use crate::config::models_file::ModelsFile;
use crate::config::settings::Settings;
use crate::event::ThinkingLevel;
use crate::model::catalogue::{Request, select};
use crate::model::{Api, Model, anthropic, clamp_thinking, google, openai_chat, openai_responses};

fn known(name: &str) -> Model {
    select(&Request {
        provider: None,
        model: Some(name),
        settings: &Settings::default(),
        settings_file: Path::new("settings.json"),
        models_file: &ModelsFile::default(),
        keys: &std::collections::BTreeSet::new(),
    })
    .unwrap()
    .model
}

/// The level that a wish runs at and what the request says of thinking.
fn asked(model: &Model, level: ThinkingLevel) -> (ThinkingLevel, Value) {
    let (level, _) = clamp_thinking(model, level);
    let mut ask = request(vec![user("hi")]);
    ask.thinking = level;
    let written = match model.api {
        Api::AnthropicMessages => serde_json::to_value(anthropic::body(model, &ask)),
        Api::OpenAiCompletions => serde_json::to_value(openai_chat::body(model, &ask)),
        Api::OpenAiResponses => serde_json::to_value(openai_responses::body(model, &ask)),
        Api::GoogleGenerativeAi => {
            let body = serde_json::to_value(google::body(model, &ask)).unwrap();
            let config = &body["generationConfig"]["thinkingConfig"];
            return (level, config.clone());
        }
        _ => unreachable!(),
    };
    let Value::Object(body) = written.unwrap() else {
        unreachable!()
    };
    let fields = [
        "thinking",
        "output_config",
        "reasoning",
        "reasoning_effort",
        "enable_thinking",
    ];
    let said = body.into_iter().filter(|(key, _)| fields.contains(&&**key));
    (level, Value::Object(said.collect::<Map<_, _>>()))
}

/// One row for each model: what it is asked from `off` to `max`.
fn table(name: &str, rows: [(ThinkingLevel, Value); 7]) {
    let model = known(name);
    for (wished, expected) in ThinkingLevel::ALL.iter().zip(rows) {
        assert_eq!(asked(&model, *wished), expected, "{name} {wished:?}");
    }
}

use ThinkingLevel::{High, Low, Max, Medium, Minimal, Off, Xhigh};

#[test]
fn anthropic_budgets() {
    let budget = |tokens: u64| json!({"thinking": {"type": "enabled", "budget_tokens": tokens}});
    table(
        "anthropic/claude-haiku-4-5",
        [
            (Off, json!({"thinking": {"type": "disabled"}})),
            (Minimal, budget(1024)),
            (Low, budget(2048)),
            (Medium, budget(8192)),
            (High, budget(16_384)),
            (High, budget(16_384)),
            (High, budget(16_384)),
        ],
    );
}

#[test]
fn anthropic_efforts() {
    let effort = |word: &str| {
        json!({"thinking": {"type": "adaptive", "display": "summarized"},
            "output_config": {"effort": word}})
    };
    let rows = |off| {
        [
            off,
            (Minimal, effort("low")),
            (Low, effort("low")),
            (Medium, effort("medium")),
            (High, effort("high")),
            (Xhigh, effort("xhigh")),
            (Max, effort("max")),
        ]
    };
    let off = |kind: &str| (Off, json!({"thinking": {"type": kind}}));
    table("anthropic/claude-opus-5", rows(off("disabled")));
    table("anthropic/claude-sonnet-5-5", rows(off("between_tools")));
    // It cannot stop.
    table("anthropic/claude-opus-5-5", rows((Minimal, effort("low"))));
    let mut older = rows(off("disabled"));
    older[5] = (High, effort("high"));
    table("anthropic/claude-sonnet-4-6", older);
}

#[test]
fn openai_responses_efforts() {
    let effort = |word: &str| json!({"reasoning": {"effort": word, "summary": "auto"}});
    let none = || (Off, json!({"reasoning": {"effort": "none"}}));
    table(
        "openai/gpt-5.6-sol",
        [
            none(),
            none(),
            (Low, effort("low")),
            (Medium, effort("medium")),
            (High, effort("high")),
            (Xhigh, effort("xhigh")),
            (Max, effort("max")),
        ],
    );
    table(
        "openai/gpt-5",
        [
            (Minimal, effort("minimal")),
            (Minimal, effort("minimal")),
            (Low, effort("low")),
            (Medium, effort("medium")),
            (High, effort("high")),
            (High, effort("high")),
            (High, effort("high")),
        ],
    );
}

#[test]
fn openai_chat_efforts() {
    let effort = |word: &str| json!({"reasoning_effort": word});
    table(
        "groq/openai/gpt-oss-120b",
        [
            (Low, effort("low")),
            (Low, effort("low")),
            (Low, effort("low")),
            (Medium, effort("medium")),
            (High, effort("high")),
            (High, effort("high")),
            (High, effort("high")),
        ],
    );
    // It thinks or does not.
    table(
        "mistral/mistral-large-4",
        [
            (Off, effort("none")),
            (Off, effort("none")),
            (Off, effort("none")),
            (Off, effort("none")),
            (High, effort("high")),
            (High, effort("high")),
            (High, effort("high")),
        ],
    );
    let deepseek = |word: &str| json!({"thinking": {"type": "enabled"}, "reasoning_effort": word});
    table(
        "deepseek/deepseek-flash",
        [
            (Off, json!({"thinking": {"type": "disabled"}})),
            (Minimal, deepseek("minimal")),
            (Low, deepseek("low")),
            (Low, deepseek("low")),
            (High, deepseek("high")),
            (High, deepseek("high")),
            (Max, deepseek("max")),
        ],
    );
    let router = |word: &str| json!({"reasoning": {"effort": word}});
    table(
        "openrouter/anthropic/claude-sonnet-5.5",
        [
            (Off, router("none")),
            (Minimal, router("minimal")),
            (Low, router("low")),
            (Medium, router("medium")),
            (High, router("high")),
            (Xhigh, router("xhigh")),
            (Max, router("max")),
        ],
    );
    let silent = [Off, Minimal, Low, Medium, High, High, High].map(|level| (level, json!({})));
    table("xai/grok-build-0.1", silent);
}

#[test]
fn google_budgets_and_levels() {
    let budget = |tokens: u64| json!({"includeThoughts": true, "thinkingBudget": tokens});
    table(
        "google/gemini-2.5-flash",
        [
            (Off, json!({"thinkingBudget": 0})),
            (Minimal, budget(128)),
            (Low, budget(2048)),
            (Medium, budget(8192)),
            (High, budget(24_576)),
            (High, budget(24_576)),
            (High, budget(24_576)),
        ],
    );
    let level = |word: &str| json!({"includeThoughts": true, "thinkingLevel": word});
    table(
        "google/gemini-3.8-flash",
        [
            (Minimal, level("LOW")),
            (Minimal, level("LOW")),
            (Low, level("LOW")),
            (Medium, level("MEDIUM")),
            (High, level("HIGH")),
            (High, level("HIGH")),
            (High, level("HIGH")),
        ],
    );
    for (name, least) in [
        ("google/gemini-3-flash-preview", level("MINIMAL")),
        ("google/gemini-4-argon", level("LOW")),
        ("google/gemini-2.5-pro", budget(128)),
    ] {
        let model = known(name);
        assert_eq!(asked(&model, Off), (Minimal, least), "{name}");
    }
    // It has none in the middle.
    let mut model = known("google/gemini-3.1-pro-preview");
    model.id = "gemini-3-pro".to_owned();
    assert_eq!(asked(&model, Medium), (Low, level("LOW")));
    // The configuration may know better.
    let map = json!({"off": "0", "medium": "MEDIUM"});
    model.compat.insert("thinkingLevelMap".to_owned(), map);
    assert_eq!(asked(&model, Off), (Off, json!({"thinkingBudget": 0})));
    assert_eq!(asked(&model, Medium), (Medium, level("MEDIUM")));
}

#[test]
fn an_answer_without_room_has_no_thinking() {
    let mut model = known("anthropic/claude-haiku-4-5");
    let disabled = json!({"thinking": {"type": "disabled"}});
    for (most, applied) in [(2048, High), (2047, Off), (1025, Off), (1, Off)] {
        model.max_tokens = Some(most);
        let (level, said) = asked(&model, High);
        assert_eq!(level, applied, "{most}");
        assert_eq!(said == disabled, applied == Off, "{most} {said}");
    }
    let mut model = known("anthropic/claude-opus-5");
    model.max_tokens = Some(1025);
    assert_eq!(asked(&model, High).0, High, "an effort takes no budget");
}
