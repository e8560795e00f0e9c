//! Thinking levels that a model does not have.

use serde_json::{Value, json};

use crate::anthropic::{plain, sse};
use crate::check::Stream;
use crate::harness::World;
use crate::script::text;
use crate::server::serve;

/// A run of a model that nobody serves: what is clamped is told before anything is asked.
fn run(model: &Value, settings: &Value, args: &[&str]) -> Stream {
    let world = World::new();
    let provider = json!({ "baseUrl": "http://127.0.0.1:9", "api": "anthropic-messages", "apiKey": "x",
                           "models": [model] });
    world.config(
        "models.json",
        json!({ "providers": { "p": provider } }).to_string(),
    );
    world.config("settings.json", settings.to_string());
    world
        .quipu()
        .args(args.iter().copied())
        .arg("hi")
        .run()
        .stream()
}

fn no_retry() -> Value {
    json!({ "retry": { "enabled": false } })
}

/// Runs for the list of what is written.
pub(crate) fn runs() -> Vec<Stream> {
    vec![run(
        &json!({ "id": "m" }),
        &no_retry(),
        &["--model", "p/m", "--thinking", "high"],
    )]
}

#[test]
fn a_request_that_cannot_be_met_is_told_before_the_run() {
    let stream = run(
        &json!({ "id": "m" }),
        &no_retry(),
        &["--model", "p/m", "--thinking", "high"],
    );
    assert_eq!(
        stream.kinds()[..3],
        ["session", "thinking_level_clamped", "agent_start"]
    );
    let told = &stream.of("thinking_level_clamped")[0];
    assert_eq!(
        (
            &told["requestedLevel"],
            &told["appliedLevel"],
            &told["reason"]
        ),
        (&json!("high"), &json!("off"), &json!("model-not-reasoning"))
    );
    assert_eq!(stream.of("agent_start")[0]["thinkingLevel"], "off");
}

#[test]
fn the_suffix_of_a_name_is_a_request_too() {
    let model = json!({ "id": "m", "reasoning": true });
    let stream = run(&model, &no_retry(), &["--model", "p/m:max"]);
    let told = &stream.of("thinking_level_clamped")[0];
    assert_eq!(
        (&told["appliedLevel"], &told["reason"]),
        (&json!("high"), &json!("level-unsupported"))
    );
}

#[test]
fn a_default_is_no_request() {
    let settings = json!({ "defaultThinkingLevel": "max", "retry": { "enabled": false } });
    let stream = run(
        &json!({ "id": "m", "reasoning": true }),
        &settings,
        &["--model", "p/m"],
    );
    assert!(stream.of("thinking_level_clamped").is_empty());
    assert_eq!(stream.of("agent_start")[0]["thinkingLevel"], "high");
}

#[test]
fn a_level_that_is_there_is_not_told() {
    let world = World::new();
    let run = world
        .offline(&json!([text("ok")]))
        .args(["--thinking", "high", "hi"])
        .run();
    assert!(run.stream().of("thinking_level_clamped").is_empty());
}

#[test]
fn a_model_without_room_for_thinking_is_told_to_run_without() {
    let model = json!({ "id": "m", "reasoning": true, "maxTokens": 2000 });
    let stream = run(
        &model,
        &no_retry(),
        &["--model", "p/m", "--thinking", "high"],
    );
    let told = &stream.of("thinking_level_clamped")[0];
    assert_eq!(
        (&told["appliedLevel"], &told["reason"]),
        (&json!("off"), &json!("level-unsupported"))
    );
    assert_eq!(stream.of("agent_start")[0]["thinkingLevel"], "off");
}

/// A run of a model of the catalogue on a server here, and what it was asked.
fn known(name: &str, settings: &Value) -> (Stream, Value) {
    let (url, requests) = serve(vec![sse(&plain(&["Seen."]))]);
    let world = World::new();
    let provider = json!({ "baseUrl": url, "apiKey": "x" });
    let models = json!({ "providers": { "anthropic": provider } });
    world.config("models.json", models.to_string());
    world.config("settings.json", settings.to_string());
    let stream = world.quipu().args(["--model", name, "hi"]).run().stream();
    assert_eq!(stream.outcome(), "completed");
    (stream, requests.recv().unwrap().body)
}

#[test]
fn a_known_model_thinks_as_its_service_wants_it_and_costs_what_it_costs() {
    let budgets = json!({ "thinkingBudgets": { "low": 3000 } });
    let (stream, body) = known("claude-haiku-4-5:low", &budgets);
    let budget = json!({ "type": "enabled", "budget_tokens": 3000 });
    assert_eq!(body["thinking"], budget);
    let usage = &stream.messages("assistant")[0]["usage"];
    let tokens = usage["input"].as_f64().unwrap();
    let cost = usage["cost"]["input"].as_f64().unwrap();
    assert!((cost - tokens / 1e6).abs() < 1e-12, "{usage}");

    let (stream, body) = known("claude-opus-5-5:off", &no_retry());
    let adaptive = json!({ "type": "adaptive", "display": "summarized" });
    assert_eq!(body["thinking"], adaptive);
    assert_eq!(body["output_config"], json!({ "effort": "low" }));
    // It cannot stop, so it is told that it does not.
    let told = &stream.of("thinking_level_clamped")[0];
    assert_eq!(
        (&told["requestedLevel"], &told["appliedLevel"]),
        (&json!("off"), &json!("minimal"))
    );
}
