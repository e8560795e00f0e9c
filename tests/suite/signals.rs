//! Signals end a run with a sound stream, the right status and no child left.

use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::check::{Stream, text_at};
use crate::harness::{Run, World};
use crate::live::assert_gone;
use crate::script::{bash, text};

const ALL: [(Signal, i32); 3] = [(Signal::HUP, 129), (Signal::INT, 130), (Signal::TERM, 143)];

/// An answer that takes a minute.
fn long() -> Value {
    json!([{ "blocks": [{ "text": "word ", "repeat": 3000 }], "delay_ms": 20 }])
}

#[track_caller]
fn interrupted(run: &Run, code: i32) -> Stream {
    let stream = run.stream();
    assert_eq!(
        (run.code(), stream.outcome(), stream.error_code()),
        (code, "interrupted", "interrupted")
    );
    stream
}

#[test]
fn during_an_answer() {
    for (signal, code) in ALL {
        let mut live = World::new().offline(&long()).arg("hi").live();
        live.until("text_delta");
        live.signal(signal);
        let stream = interrupted(&live.end(), code);
        assert_eq!(stream.messages("assistant")[0]["stopReason"], "aborted");
        assert_eq!(stream.of("agent_end").len(), 1);
    }
}

#[test]
fn during_a_tool() {
    for (signal, code) in ALL {
        let world = World::new();
        let command = "echo $$ > shell.pid; sleep 300 & echo $! > sleep.pid; echo ready; wait";
        let mut live = world
            .offline(&json!([bash(command), text("never")]))
            .arg("hi")
            .live();
        live.until_line(|line| text_at(line, "/partialResult/content/0/text").contains("ready"));
        live.signal(signal);
        let stream = interrupted(&live.end(), code);
        assert_eq!(stream.of("tool_execution_end")[0]["isError"], true);
        assert_eq!(stream.messages("toolResult").len(), 1);
        assert!(stream.answers().is_empty());
        assert_gone(&["shell.pid", "sleep.pid"].map(|name| world.read(name).trim().to_owned()));
    }
}

#[test]
fn a_tool_that_does_not_listen_is_killed() {
    let world = World::new();
    let command =
        "trap '' HUP INT TERM; echo $$ > shell.pid; echo ready; while :; do sleep 0.1; done";
    let mut live = world.offline(&json!([bash(command)])).arg("hi").live();
    live.until_line(|line| text_at(line, "/partialResult/content/0/text").contains("ready"));
    live.signal(Signal::TERM);
    interrupted(&live.end(), 143);
    assert_gone(&[world.read("shell.pid").trim().to_owned()]);
}

#[test]
fn before_the_first_run() {
    for (signal, code) in ALL {
        let mut live = World::new()
            .offline(&json!([text("never")]))
            .open_input()
            .live();
        live.until("session");
        live.signal(signal);
        let stream = interrupted(&live.end(), code);
        assert_eq!(stream.kinds(), ["session", "stream_end"]);
    }
}

#[test]
fn while_the_service_keeps_silent() {
    let steps = json!([{ "hang_ms": 60_000, "blocks": [{ "text": "never" }] }]);
    let mut live = World::new().offline(&steps).arg("hi").live();
    live.until("message_end");
    live.signal(Signal::INT);
    let stream = interrupted(&live.end(), 130);
    let answer = stream.messages("assistant")[0];
    assert_eq!(
        (text_at(answer, "/stopReason"), &answer["content"]),
        ("aborted", &json!([]))
    );
}

#[test]
fn twice_is_as_good_as_once() {
    let mut live = World::new().offline(&long()).arg("hi").live();
    live.until("text_delta");
    live.signal(Signal::INT);
    live.signal(Signal::INT);
    interrupted(&live.end(), 130);
}

#[test]
fn later_prompts_are_not_begun() {
    let mut live = World::new().offline(&long()).args(["One", "Two"]).live();
    live.until("text_delta");
    live.signal(Signal::TERM);
    let stream = interrupted(&live.end(), 143);
    assert_eq!(stream.of("agent_start").len(), 1);
}

#[test]
fn a_reader_that_takes_nothing_is_given_up() {
    let steps = json!([{ "blocks": [{ "text": "many words ", "repeat": 50_000 }] }]);
    let mut live = World::new().offline(&steps).arg("hi").live();
    live.until("text_delta");
    // Long enough for the pipe to fill; the signal finds a writer that waits.
    thread::sleep(Duration::from_millis(300));
    live.signal(Signal::TERM);
    let run = live.stare();
    assert_eq!(run.code(), 143);
    // What was taken are whole lines, but perhaps the last.
    let text = String::from_utf8(run.stdout).unwrap();
    let (lines, _) = text.rsplit_once('\n').unwrap();
    for line in lines.lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
}

#[test]
fn a_command_that_prints_a_key_ends_with_the_run() {
    let world = World::new();
    let command = "!sleep 600 & echo $! > key.pid; echo $$ >> key.pid; wait";
    let provider = json!({ "baseUrl": "http://127.0.0.1:9", "api": "anthropic-messages",
                           "apiKey": command, "models": [{ "id": "m" }] });
    world.config(
        "models.json",
        json!({ "providers": { "p": provider } }).to_string(),
    );
    let mut live = world.quipu().args(["--model", "p/m", "hi"]).live();
    live.until("session");
    let pids = || {
        let file = world.work().join("key.pid");
        std::fs::read_to_string(file)
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect()
    };
    let mut seen: Vec<String> = pids();
    while seen.len() < 2 {
        thread::sleep(Duration::from_millis(10));
        seen = pids();
    }
    live.signal(Signal::TERM);
    interrupted(&live.end(), 143);
    assert_gone(&seen);
}
