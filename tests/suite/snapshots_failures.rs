//! Whole streams of runs that fail, as they are to look.

use serde_json::{Value, json};

use crate::harness::World;
use crate::redact::Shot;
use crate::script::{call, text, tool};

/// Runs one failing step; compares the stream, and its code and exit status by hand.
#[track_caller]
fn fails(name: &str, step: &Value, code: &str, retryable: bool) {
    let world = World::new();
    let run = world.offline(&json!([step])).arg("Do it").run();
    let stream = run.stream();
    assert_eq!(
        (stream.outcome(), stream.error_code(), run.code()),
        ("failed", code, 1)
    );
    assert_eq!(stream.end()["error"]["retryable"], retryable);
    Shot::new(&world, &run).assert(name);
}

fn half(more: &Value) -> Value {
    let mut step = json!({ "blocks": [
        { "thinking": "Let me see.", "chunk": 6 },
        { "text": "This answer ends early because the line is cut." },
        call("bash", "call_1", &json!({ "command": "touch trace.txt" })),
    ]});
    step.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    step
}

#[test]
fn overloaded() {
    fails(
        "error_overloaded",
        &json!({ "error": "overloaded" }),
        "overloaded",
        true,
    );
}

#[test]
fn rate_limited() {
    fails(
        "error_rate_limit",
        &json!({ "error": "rate_limit" }),
        "rate_limited",
        true,
    );
}

#[test]
fn context_overflow() {
    fails(
        "error_overflow",
        &json!({ "error": "overflow" }),
        "context_overflow",
        false,
    );
}

#[test]
fn refused_key() {
    fails("error_auth", &json!({ "error": "auth" }), "auth", false);
}

#[test]
fn server_error() {
    fails(
        "error_server",
        &json!({ "error": "server" }),
        "provider_error",
        true,
    );
}

#[test]
fn bad_request() {
    let body = json!({
        "type": "error",
        "error": { "type": "invalid_request_error", "message": "messages: at least one is required" },
    });
    let step = json!({ "status": 400, "body": body });
    fails("error_bad_request", &step, "invalid_request", false);
}

#[test]
fn used_up_quota() {
    let body = json!({
        "type": "error",
        "error": { "type": "insufficient_quota", "message": "You exceeded your current quota, please check your plan and billing details." },
    });
    fails(
        "error_quota",
        &json!({ "status": 429, "body": body }),
        "quota",
        false,
    );
}

#[test]
fn error_within_the_stream() {
    fails(
        "error_in_stream",
        &half(&json!({ "stream_error": "overloaded" })),
        "overloaded",
        true,
    );
}

#[test]
fn cut_within_a_block() {
    fails(
        "cut_in_text",
        &half(&json!({ "abort_after": 4 })),
        "network",
        true,
    );
}

#[test]
fn cut_before_the_first_delta() {
    fails(
        "cut_at_once",
        &half(&json!({ "abort_after": 0 })),
        "network",
        true,
    );
}

#[test]
fn body_that_ends_too_early() {
    fails(
        "cut_clean",
        &half(&json!({ "abort_after": 7, "clean": true })),
        "network",
        true,
    );
}

#[test]
fn body_that_is_no_stream() {
    fails(
        "not_a_stream",
        &json!({ "garbage": "<html>Gateway</html>" }),
        "network",
        true,
    );
}

#[test]
fn data_that_is_no_json() {
    let step = half(&json!({ "garbage": "data: {\"type\": oops\n\n", "garbage_after": 3 }));
    fails("garbage_in_stream", &step, "provider_error", false);
}

#[test]
fn refusal() {
    let step = json!({ "blocks": [{ "text": "I will not" }], "stop": "refusal" });
    fails("refusal", &step, "content_refused", false);
}

#[test]
fn calls_of_a_failed_answer_are_not_run() {
    let world = World::new();
    let run = world
        .offline(&json!([half(&json!({ "stream_error": "server" }))]))
        .arg("Do it")
        .run();
    let stream = run.stream();
    assert_eq!(stream.of("tool_execution_start").len(), 0);
    assert_eq!(stream.deltas("toolcall_end").len(), 1);
    assert!(!world.work().join("trace.txt").exists());
}

#[test]
fn the_second_prompt_runs_after_a_failed_first() {
    let world = World::new();
    let run = world
        .offline(&json!([{ "error": "server" }, text("Second.")]))
        .args(["One", "Two"])
        .run();
    let stream = run.stream();
    assert_eq!((stream.outcome(), run.code()), ("failed", 1));
    assert_eq!(stream.answers(), ["Second."]);
    Shot::new(&world, &run).assert("second_after_failed_first");
}

#[test]
fn failure_after_a_tool() {
    let world = World::new();
    world.file("notes.txt", "a note\n");
    let steps =
        json!([tool("read", "call_1", &json!({ "path": "notes.txt" })), { "error": "auth" }]);
    let run = world.offline(&steps).arg("Do it").run();
    Shot::new(&world, &run).assert("failure_after_a_tool");
}

/// A run that cannot start: header and end only.
#[track_caller]
fn cannot_start(name: &str, world: &World, args: &[&str], code: &str, exit: i32) {
    let run = world.quipu().args(args.iter().copied()).run();
    let stream = run.stream();
    assert_eq!(stream.kinds(), ["session", "stream_end"]);
    assert_eq!(
        (stream.outcome(), stream.error_code(), run.code()),
        ("failed", code, exit)
    );
    Shot::new(world, &run).assert(name);
}

#[test]
fn unknown_flag() {
    cannot_start(
        "start_unknown_flag",
        &World::new(),
        &["--modle", "offline", "hi"],
        "usage",
        2,
    );
}

#[test]
fn unknown_value() {
    let args = ["--model", "offline", "--thinking", "hihg", "hi"];
    cannot_start("start_unknown_value", &World::new(), &args, "usage", 2);
}

#[test]
fn no_model() {
    cannot_start("start_no_model", &World::new(), &["hi"], "configuration", 3);
}

#[test]
fn no_key() {
    let args = ["--model", "anthropic/some-model", "hi"];
    cannot_start("start_no_key", &World::new(), &args, "credentials", 3);
}

#[test]
fn broken_models_file() {
    let world = World::new();
    world.config(
        "models.json",
        "{\n  \"providers\": {\n    \"local\": { \"baseUrl\": 7 }\n  }\n}\n",
    );
    let args = ["--model", "local/x", "hi"];
    cannot_start(
        "start_broken_models_file",
        &world,
        &args,
        "configuration",
        3,
    );
}

#[test]
fn missing_scenario() {
    let args = ["--model", "offline", "--script", "nowhere.json", "hi"];
    cannot_start("start_missing_scenario", &World::new(), &args, "usage", 2);
}

#[test]
fn no_prompt() {
    cannot_start(
        "start_no_prompt",
        &World::new(),
        &["--model", "offline"],
        "usage",
        2,
    );
}
