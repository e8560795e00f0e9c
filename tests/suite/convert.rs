//! `quipu convert`: the program on recordings, pipes and what is no recording.

use std::io::{Read as _, Write as _};
use std::process::Stdio;

use quipu::wire::Wire;
use serde_json::{Value, json};

use crate::harness::{Run, World, finish};
use crate::script::{call, text};
use crate::verify;
use crate::wire_check::{Ended, OTHERS, check, project};

fn converted(world: &World, args: &[&str], input: impl Into<Vec<u8>>) -> Run {
    let quipu = world.bare().arg("convert").args(args.iter().copied());
    quipu.input(input).run()
}

/// A run of tools, failures and two prompts on the native wire.
fn native(world: &World) -> (Vec<u8>, Vec<Value>) {
    world.config("settings.json", r#"{ "retry": { "baseDelayMs": 1 } }"#);
    world.file("notes.txt", "one\n");
    let steps = json!([
        { "error": "overloaded" },
        { "blocks": [
            { "thinking": "Hm.", "signature": "c2ln" },
            { "redacted": "b3BhcXVl" },
            { "text": "All \u{2028} 😀.", "chunk": 2 },
            call("read", "call_1", &json!({ "path": "notes.txt" })),
            call("nope", "call_2", &json!({ "a": ["b", { "c": null }] })),
            json!({ "tool": "read", "id": "call_3", "args_text": "{\"path\":\"no" }),
        ], "chunk": 3 },
        text("Done."),
        { "blocks": [{ "text": "cut" }], "abort_after": 3 },
        { "error": "auth" },
    ]);
    let run = world
        .offline(&steps)
        .args(["--no-session", "first", "second"])
        .run();
    let stream = run.stream();
    (run.stdout, stream.lines)
}

#[test]
fn a_run_is_the_same_on_every_wire() {
    let world = World::new();
    let (bytes, lines) = native(&world);
    for wire in OTHERS {
        let run = converted(&world, &["--to", wire.name()], bytes.clone());
        assert_eq!(run.code(), 0, "{}", run.stderr);
        assert_eq!(run.stdout, project(wire, &lines));
        assert!(
            run.stderr.contains("event stream_end × 1"),
            "{}",
            run.stderr
        );
        let there = run.stdout;
        for other in Wire::ALL {
            let run = converted(&world, &["--to", other.name()], there.clone());
            assert_eq!(run.code(), 0, "{}", run.stderr);
            if other == wire {
                assert_eq!(run.stdout, there);
            } else if other == Wire::Quipu {
                assert_eq!(
                    verify::errors(Wire::Quipu, &run.stdout),
                    Vec::<String>::new()
                );
                let back = converted(&world, &["--to", wire.name()], run.stdout);
                assert_eq!(back.stdout, there);
            } else {
                check(other, &run.stdout, Ended::ByItself).unwrap();
            }
        }
    }
    let again = converted(&world, &["--to", "quipu", "-"], bytes.clone());
    assert_eq!((again.stdout, again.stderr), (bytes, String::new()));
}

#[test]
fn a_cut_recording_is_ended_and_said_to_be_cut() {
    let world = World::new();
    let (bytes, _) = native(&world);
    let cut = bytes.len() * 2 / 3;
    for wire in OTHERS {
        let run = converted(&world, &["--to", wire.name()], &bytes[..cut]);
        assert_eq!(run.code(), 0);
        assert!(
            run.stderr.contains("ends before its stream does"),
            "{}",
            run.stderr
        );
        check(wire, &run.stdout, Ended::BySignal).unwrap();
    }
}

#[test]
fn a_line_that_is_none_ends_what_came_before_it() {
    let world = World::new();
    let (bytes, _) = native(&world);
    let at = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let broken = [&bytes[..at], b"{\"type\":\"turn_start\",\n", &bytes[at..]].concat();
    let run = converted(&world, &["--to", "senpi"], broken);
    assert_eq!(run.code(), 1);
    assert!(run.stderr.contains("-: line 2: "), "{}", run.stderr);
    assert_eq!(std::str::from_utf8(&run.stdout).unwrap().lines().count(), 1);
    let missing = converted(&world, &["--to", "senpi", "nowhere.jsonl"], "");
    assert_eq!((missing.code(), missing.stdout.len()), (2, 0));
    assert_eq!(converted(&world, &["--to", "nope"], "").code(), 2);
    assert_eq!(converted(&world, &[], "").code(), 2);
}

#[test]
fn lines_with_carriage_returns_are_lines() {
    let world = World::new();
    let (bytes, lines) = native(&world);
    let text = String::from_utf8(bytes).unwrap().replace('\n', "\r\n");
    let run = converted(&world, &["--to", "senpi"], text);
    assert_eq!(run.stdout, project(Wire::Senpi, &lines));
}

/// What has come is written before more is waited for, and a reader that goes away ends it.
#[test]
fn a_pipe_is_followed_line_by_line() {
    let world = World::new();
    let (bytes, _) = native(&world);
    let mut child = world
        .bare()
        .args(["convert", "--from", "quipu", "--to", "senpi"])
        .open_input()
        .start(Stdio::piped());
    let mut input = child.stdin.take().unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    input.write_all(lines.next().unwrap()).unwrap();
    let mut first = [0; 20];
    out.read_exact(&mut first).unwrap();
    assert_eq!(&first[..], br#"{"type":"session","v"#);
    drop(out);
    // The program may go before it has taken all.
    for line in lines {
        if input.write_all(line).is_err() {
            break;
        }
    }
    drop(input);
    let (status, stderr) = finish(child);
    assert_eq!((status.code(), stderr.as_str()), (Some(0), ""));
}

/// An answer of many deltas needs memory for itself, not for the lines of it.
#[test]
fn memory_is_that_of_what_is_open() {
    let world = World::new();
    let steps = json!([{ "blocks": [{ "text": "x", "repeat": 60_000, "chunk": 1 }], "chunk": 1 }]);
    let run = world.offline(&steps).args(["--no-session", "hi"]).run();
    assert_eq!(run.code(), 0);
    assert!(run.stdout.len() > 10_000_000);
    for to in ["senpi", "quipu"] {
        let quipu = world.bare().args(["convert", "--to", to]);
        let converted = quipu.input(run.stdout.clone()).with_memory(40_000).run();
        assert_eq!(converted.code(), 0, "{}", converted.stderr);
    }
}
