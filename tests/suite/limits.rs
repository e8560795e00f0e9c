//! `--max-turns`, `--max-cost` and `--timeout`.

use serde_json::{Value, json};

use crate::harness::{Run, World};
use crate::live::assert_gone;
use crate::redact::Shot;
use crate::retries::course;
use crate::script::{bash, text};

fn play(args: &[&str], steps: &Value) -> (World, Run) {
    let world = World::new();
    let run = world.offline(steps).args(args.iter().copied()).run();
    (world, run)
}

#[track_caller]
fn limited(run: &Run, by: &str) {
    let stream = run.stream();
    assert_eq!(
        (stream.outcome(), stream.error_code(), run.code()),
        ("limit", "limit", 1)
    );
    assert!(
        stream.error_message().contains(by),
        "{}",
        stream.error_message()
    );
}

#[test]
fn turns() {
    let steps = json!([bash("echo one"), bash("echo two"), text("never")]);
    let (world, run) = play(&["--max-turns", "2", "Do it"], &steps);
    limited(&run, "--max-turns");
    assert_eq!(run.stream().end()["turns"], 2);
    assert_eq!(
        run.stream().results().len(),
        2,
        "the calls of the last turn are run"
    );
    Shot::new(&world, &run)
        .without_updates()
        .without_usage()
        .assert("limit_turns");
}

#[test]
fn a_run_that_needs_no_more_turns_is_complete() {
    let (_world, run) = play(&["--max-turns", "1", "Do it"], &json!([text("All done.")]));
    assert_eq!((run.stream().outcome(), run.code()), ("completed", 0));
}

#[test]
fn turns_count_over_all_prompts() {
    let (_world, run) = play(
        &["--max-turns", "1", "one", "two"],
        &json!([text("a"), text("b")]),
    );
    limited(&run, "--max-turns");
    assert_eq!(run.stream().answers(), ["a"]);
}

#[test]
fn a_limit_that_forbids_a_retry_is_told() {
    let world = World::new();
    world.config(
        "settings.json",
        json!({ "retry": { "baseDelayMs": 1 } }).to_string(),
    );
    let plays = |step: Value, turns: &str| {
        let quipu = world.offline(&json!([step]));
        quipu.args(["--max-turns", turns, "Do it"]).run()
    };
    let run = plays(json!({ "error": "overloaded", "times": 9 }), "2");
    limited(&run, "--max-turns");
    let stream = run.stream();
    let told = stream.error_message();
    assert!(told.to_lowercase().contains("overloaded"), "{told}");
    assert_eq!(
        course(&stream)[2..],
        ["start 1/3", "error", "agent_end false", "end 1 false"]
    );
    assert_eq!(stream.of("auto_retry_end")[0]["finalError"], told);
    // Nor does a summary help any more.
    limited(&plays(json!({ "error": "overflow" }), "1"), "--max-turns");
    // What would not be tried again fails as ever.
    let stream = plays(json!({ "error": "auth" }), "1").stream();
    assert_eq!((stream.outcome(), stream.error_code()), ("failed", "auth"));
}

#[test]
fn what_is_free_reaches_no_limit_of_cost() {
    let steps = json!([bash("true"), text("ok")]);
    let (_world, run) = play(&["--max-cost", "0.01", "hi"], &steps);
    assert_eq!(run.stream().outcome(), "completed");
}

#[test]
fn time_during_an_answer() {
    let hang =
        json!([{ "blocks": [{ "text": "slow", "chunk": 1 }], "hang_ms": 60_000, "hang_after": 2 }]);
    let (_world, run) = play(&["--timeout", "300ms", "Do it"], &hang);
    limited(&run, "--timeout");
    assert_eq!(
        run.stream().messages("assistant")[0]["stopReason"],
        "aborted"
    );
}

#[test]
fn time_during_a_tool() {
    let (world, run) = play(
        &["--timeout", "0.3", "Do it"],
        &json!([bash("sleep 60 & echo $! > pid; wait")]),
    );
    limited(&run, "--timeout");
    assert_gone(&[world.read("pid").trim().to_owned()]);
}

#[test]
fn time_while_the_reader_takes_nothing() {
    let world = World::new();
    let much = json!([{ "blocks": [{ "text": "many words ", "repeat": 50_000 }] }]);
    let mut live = world
        .offline(&much)
        .args(["--timeout", "300ms", "hi"])
        .live();
    live.until("text_delta");
    assert_eq!(live.stare().code(), 1);
}

#[test]
fn values_that_make_no_sense() {
    for (flag, value) in [
        ("--max-turns", "0"),
        ("--max-cost", "-1"),
        ("--max-cost", "nan"),
        ("--timeout", "soon"),
        ("--timeout", "0"),
    ] {
        let world = World::new();
        let run = world
            .quipu()
            .args(["--model", "offline"])
            .arg(format!("{flag}={value}"))
            .arg("hi")
            .run();
        assert_eq!(
            (run.stream().error_code(), run.code()),
            ("usage", 2),
            "{flag} {value}"
        );
        assert!(
            run.stream().error_message().contains(flag),
            "{}",
            run.stream().error_message()
        );
    }
}
