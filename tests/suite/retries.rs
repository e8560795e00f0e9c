//! Failed requests that are made again.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::check::Stream;
use crate::harness::{Run, World};
use crate::redact::Shot;
use crate::script::{bash, text};

/// A world whose runs retry after hardly any wait.
fn world(retry: &Value) -> World {
    let world = World::new();
    world.config("settings.json", json!({ "retry": retry }).to_string());
    world
}

fn play(world: &World, steps: &Value) -> Run {
    world.offline(steps).arg("Do it").run()
}

/// What happens around the retries, in short.
pub(crate) fn course(stream: &Stream) -> Vec<String> {
    let short = |line: &Value| match line["type"].as_str().unwrap() {
        "message_end" if line["message"]["role"] == "assistant" => {
            Some(line["message"]["stopReason"].as_str().unwrap().to_owned())
        }
        "agent_end" => Some(format!("agent_end {}", line["willRetry"])),
        "auto_retry_start" => Some(format!("start {}/{}", line["attempt"], line["maxAttempts"])),
        "auto_retry_end" => Some(format!("end {} {}", line["attempt"], line["success"])),
        "tool_execution_start" => Some("tool".to_owned()),
        _ => None,
    };
    stream.lines.iter().filter_map(short).collect()
}

/// Runs for the list of what is written.
pub(crate) fn runs() -> Vec<Stream> {
    let world = world(&json!({ "maxRetries": 1, "baseDelayMs": 1 }));
    let heals = json!([{ "error": "overloaded" }, text("Fine.")]);
    let stays = json!([{ "error": "overloaded", "times": 2 }]);
    vec![play(&world, &heals).stream(), play(&world, &stays).stream()]
}

#[test]
fn a_failure_that_heals() {
    let world = world(&json!({ "maxRetries": 3, "baseDelayMs": 1 }));
    let cut = json!({ "blocks": [{ "text": "This is cut", "chunk": 4 }], "abort_after": 2 });
    let run = play(
        &world,
        &json!([{ "error": "overloaded" }, cut, bash("echo hi"), text("Done.")]),
    );
    let stream = run.stream();
    assert_eq!((stream.outcome(), run.code()), ("completed", 0));
    assert_eq!(
        course(&stream),
        [
            "error",
            "agent_end true",
            "start 1/3",
            "error",
            "agent_end true",
            "start 2/3",
            "toolUse",
            "end 2 true",
            "tool",
            "stop",
            "agent_end false",
        ]
    );
    Shot::new(&world, &run)
        .without_updates()
        .without_usage()
        .assert("retry_heals");
}

#[test]
fn a_failure_that_stays() {
    let world = world(&json!({ "maxRetries": 2, "baseDelayMs": 1 }));
    let run = play(&world, &json!([{ "error": "overloaded", "times": 9 }]));
    let stream = run.stream();
    assert_eq!(
        (stream.outcome(), stream.error_code(), run.code()),
        ("failed", "overloaded", 1)
    );
    assert_eq!(
        course(&stream),
        [
            "error",
            "agent_end true",
            "start 1/2",
            "error",
            "agent_end true",
            "start 2/2",
            "error",
            "agent_end false",
            "end 2 false",
        ]
    );
    assert_eq!(stream.of("auto_retry_start").len(), 2);
    Shot::new(&world, &run).assert("retry_exhausted");
}

#[test]
fn a_series_that_meets_a_failure_which_cannot_heal() {
    let world = world(&json!({ "baseDelayMs": 1 }));
    let run = play(
        &world,
        &json!([{ "error": "overloaded" }, { "error": "auth" }, text("never")]),
    );
    let stream = run.stream();
    assert_eq!((stream.error_code(), run.code()), ("auth", 1));
    assert_eq!(
        course(&stream)[3..],
        ["error", "agent_end false", "end 1 false"]
    );
}

#[test]
fn what_cannot_heal_is_not_tried_again() {
    let world = world(&json!({ "baseDelayMs": 1 }));
    for error in ["auth", "overflow"] {
        let stream = play(&world, &json!([{ "error": error }, text("never")])).stream();
        assert_eq!(course(&stream), ["error", "agent_end false"], "{error}");
    }
}

#[test]
fn waits_double_and_a_hint_takes_their_place() {
    let world = world(&json!({ "maxRetries": 3, "baseDelayMs": 4 }));
    let hint = json!({ "error": "overloaded", "headers": { "retry-after-ms": "7" } });
    let steps = json!([{ "error": "overloaded", "times": 2 }, hint, text("ok")]);
    let stream = play(&world, &steps).stream();
    let waits: Vec<_> = stream
        .of("auto_retry_start")
        .iter()
        .map(|line| line["delayMs"].as_u64())
        .collect();
    assert_eq!(waits, [Some(4), Some(8), Some(7)]);
}

#[test]
fn a_service_that_asks_for_too_long_a_wait_is_not_asked_again() {
    let world = world(&json!({ "maxDelayMs": 2000 }));
    let step = json!({ "error": "rate_limit", "headers": { "retry-after": "3600" } });
    let stream = play(&world, &json!([step, text("never")])).stream();
    assert_eq!(course(&stream), ["error", "agent_end false"]);
    assert!(
        stream.error_message().contains("1h"),
        "{}",
        stream.error_message()
    );
    assert!(
        stream.error_message().contains("retry.maxDelayMs"),
        "{}",
        stream.error_message()
    );
}

#[test]
fn a_signal_during_the_wait_ends_it() {
    let world = world(&json!({ "baseDelayMs": 60_000 }));
    let mut live = world
        .offline(&json!([{ "error": "overloaded" }]))
        .arg("hi")
        .live();
    live.until("auto_retry_start");
    live.signal(Signal::TERM);
    let run = live.end();
    let stream = run.stream();
    assert_eq!((stream.outcome(), run.code()), ("interrupted", 143));
    assert_eq!(course(&stream).last().unwrap(), "end 1 false");
}

#[test]
fn every_attempt_is_paid_once() {
    let world = world(&json!({ "baseDelayMs": 1 }));
    let half = json!({ "blocks": [{ "text": "half of it", "chunk": 2 }], "abort_after": 2,
                       "usage": { "input": 100, "output": 9 } });
    let stream = play(&world, &json!([half, text("whole")])).stream();
    // The judge compares the sum of all answers with the last line; here the failed one had input.
    let failed = &stream.messages("assistant")[0];
    assert_eq!(failed["usage"]["input"], 100);
    assert!(stream.end()["usage"]["input"].as_u64().unwrap() > 100);
    assert_eq!(stream.end()["turns"], 2);
}
