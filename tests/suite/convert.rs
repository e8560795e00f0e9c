//! `quipu convert`: the program on recordings, pipes and what is no recording.

use std::fs::File;
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
            run.stderr.contains("left out: event stream_end × 1"),
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
    assert!(
        run.stderr.contains("standard input: line 2: is not JSON: "),
        "{}",
        run.stderr
    );
    assert_eq!(std::str::from_utf8(&run.stdout).unwrap().lines().count(), 1);
    let missing = converted(&world, &["--to", "senpi", "nowhere.jsonl"], "");
    assert_eq!((missing.code(), missing.stdout.len()), (2, 0));
    assert_eq!(converted(&world, &["--to", "nope"], "").code(), 2);
    assert_eq!(converted(&world, &[], "").code(), 2);
}

#[test]
fn a_wire_that_the_lines_are_not_of_is_refused() {
    let world = World::new();
    let (bytes, _) = native(&world);
    let senpi = converted(&world, &["--to", "senpi"], bytes.clone()).stdout;
    for (from, input, told) in [
        (
            "dreb",
            &bytes,
            "standard input: line 1 is of the quipu wire, not of dreb",
        ),
        (
            "quipu",
            &senpi,
            "standard input: line 1 is of the senpi or dreb wire, not of quipu",
        ),
        ("dreb", &senpi, "is of the senpi wire, not of dreb"),
    ] {
        let run = converted(&world, &["--from", from, "--to", "senpi"], input.clone());
        assert_eq!((run.code(), run.stdout.len()), (2, 0), "{from}");
        assert!(run.stderr.contains(told), "{}", run.stderr);
    }
    for (from, input) in [("quipu", &bytes), ("senpi", &senpi)] {
        let run = converted(&world, &["--from", from, "--to", "senpi"], input.clone());
        assert_eq!((run.code(), run.stdout == senpi), (0, true), "{from}");
    }
}

#[test]
fn a_file_that_would_be_read_and_written_is_refused() {
    let world = World::new();
    let (bytes, _) = native(&world);
    world.file("same.jsonl", &bytes);
    let path = world.work().join("same.jsonl");
    let append = || File::options().append(true).open(&path).unwrap();
    for args in [
        &["convert", "same.jsonl", "--to", "dreb"][..],
        &["replay", "same.jsonl"],
    ] {
        let quipu = world.bare().args(args.iter().copied());
        let run = quipu.run_into(Stdio::from(append()));
        assert_eq!(run.code(), 2);
        assert!(run.stderr.contains("same.jsonl is the same file"));
    }
    let mut quipu = std::process::Command::new(env!("CARGO_BIN_EXE_quipu"));
    let quipu = quipu.args(["convert", "--to", "dreb"]);
    let quipu = quipu.stdin(File::open(&path).unwrap()).stdout(append());
    let run = quipu.stderr(Stdio::piped()).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[test]
fn nothing_and_more_than_one_stream_are_told_of() {
    let world = World::new();
    let run = converted(&world, &["--to", "senpi"], "");
    assert_eq!((run.code(), run.stdout.len()), (0, 0));
    assert_eq!(
        run.stderr,
        "quipu: standard input holds no line of a stream: none was written\n"
    );
    let run = converted(&world, &["--to", "quipu"], "\n\n");
    assert!(run.stderr.contains("holds no line"), "{}", run.stderr);
    let (bytes, lines) = native(&world);
    let run = converted(&world, &["--to", "senpi"], [&bytes[..], &bytes].concat());
    assert_eq!(run.code(), 1);
    assert_eq!(run.stdout, project(Wire::Senpi, &lines));
    let told = format!(
        "standard input: line {}: session: another stream begins here; it is not converted",
        lines.len() + 1
    );
    assert!(run.stderr.contains(&told), "{}", run.stderr);
}

/// The standard library takes a write to such a one for done.
#[test]
fn an_output_that_cannot_be_written_is_told() {
    let world = World::new();
    for args in [&["sample"][..], &["convert", "--to", "senpi"], &["models"]] {
        let mut quipu = world.bare().args(args.iter().copied());
        let read_only = File::open("/dev/null").unwrap();
        let (status, stderr) = finish(quipu.start(Stdio::from(read_only)));
        assert_eq!(status.code(), Some(1), "{args:?}");
        assert!(stderr.contains("standard output cannot be written"));
    }
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
