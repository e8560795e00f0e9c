//! `quipu replay` stands in for the agent.

use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::check::{check, kind};
use crate::harness::{Quipu, Run, World};
use crate::script::{bash, text};

const ALL: [(Signal, i32); 3] = [(Signal::HUP, 129), (Signal::INT, 130), (Signal::TERM, 143)];

/// Plays a tool and an answer, and keeps the lines in `rec.jsonl`.
fn recorded(world: &World, args: &[&str]) -> Vec<u8> {
    let steps = json!([bash("echo hi"), text("Some words to be told in pieces.")]);
    let run = world
        .offline(&steps)
        .args(args.iter().copied())
        .arg("hi")
        .run();
    assert_eq!(run.code(), 0, "{}", run.stderr);
    world.file("rec.jsonl", &run.stdout);
    run.stdout
}

fn replay(world: &World, args: &[&str]) -> Quipu {
    world.bare().arg("replay").args(args.iter().copied())
}

#[track_caller]
fn same(run: &Run, recording: &[u8], code: i32) {
    assert_eq!((run.code(), run.stderr.as_str()), (code, ""));
    assert!(run.stdout == recording, "the bytes differ");
}

/// A native stream that stops for an hour in the middle of an answer; its other lines are due at once.
fn with_an_hour(world: &World, wire: &str) -> usize {
    let bytes = recorded(world, &["--wire", wire]);
    let text = String::from_utf8(bytes).unwrap();
    let mut cut = None;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let delta = line.contains(r#""type":"text_delta""#);
        if cut.is_none() && delta {
            cut = Some(index + 1);
        }
        let late = cut.is_some_and(|cut| index >= cut);
        let at = if late { 3_600_000 } else { 0 };
        // Behind the type, where stamps stand.
        let head = line.find([',', '}']).unwrap();
        let (kind, rest) = line.split_at(head);
        // Only the native wire numbers its lines.
        let number = if wire == "quipu" {
            format!("\"seq\":{index},")
        } else {
            String::new()
        };
        lines.push(format!("{kind},{number}\"at\":{at}{rest}\n"));
    }
    world.file("rec.jsonl", lines.concat());
    cut.unwrap()
}

#[test]
fn every_wire_is_written_byte_for_byte() {
    for wire in ["quipu", "senpi", "dreb"] {
        let world = World::new();
        let recording = recorded(&world, &["--wire", wire]);
        for args in [
            &["--instant", "rec.jsonl"][..],
            &["--speed", "1000000", "rec.jsonl"],
            &["--max-gap", "0", "rec.jsonl"],
        ] {
            same(&replay(&world, args).run(), &recording, 0);
        }
        let run = replay(&world, &["--instant", "-"]).input(recording.clone());
        same(&run.run(), &recording, 0);
        let run = replay(&world, &["--speed", "1e9", "-"]).input(recording.clone());
        same(&run.run(), &recording, 0);
    }
}

#[test]
fn the_arguments_of_the_agent_are_ignored_and_so_is_its_input() {
    let world = World::new();
    let recording = recorded(&world, &["--stamp"]);
    let agent = [
        "--mode",
        "json",
        "--model",
        "x",
        "--speed",
        "nonsense",
        "--help",
        "-p",
        "@file",
        "--no-such",
        "--",
        "prompt",
        "--version",
    ];
    let run = replay(&world, &["--max-gap", "0", "rec.jsonl"]).args(agent);
    // Nobody ever gives or ends this input.
    same(&run.open_input().run(), &recording, 0);
}

#[test]
fn what_is_no_stream_is_written_as_it_is() {
    let world = World::new();
    for bytes in [
        &b"\xef\xbb\xbf{\"type\":\"session\"}\r\n\n  \nno json\n\xff\xfe\n{}{}\n{\"type\":\"cut"[..],
        b"\n",
        b"x",
    ] {
        world.file("rec.jsonl", bytes);
        for args in [&["--instant", "rec.jsonl"][..], &["rec.jsonl"]] {
            let run = replay(&world, args).run();
            assert!(
                run.stdout == bytes,
                "{:?}",
                String::from_utf8_lossy(&run.stdout)
            );
            assert_eq!((run.code(), run.stderr.as_str()), (0, ""));
        }
    }
    world.file("rec.jsonl", "");
    let run = replay(&world, &["rec.jsonl"]).run();
    assert_eq!((run.code(), run.stdout.len()), (0, 0));
    assert!(run.stderr.contains("is empty"), "{}", run.stderr);
}

#[test]
fn the_status_is_the_recorded_one() {
    let world = World::new();
    let run = world.offline(&json!([{ "error": "auth" }])).arg("hi").run();
    assert_eq!(run.code(), 1);
    world.file("rec.jsonl", &run.stdout);
    same(
        &replay(&world, &["--instant", "rec.jsonl"]).run(),
        &run.stdout,
        1,
    );
    let other = ["--instant", "--exit-code", "7", "rec.jsonl"];
    same(&replay(&world, &other).run(), &run.stdout, 7);

    let whole = recorded(&world, &["--wire", "dreb"]);
    let text = String::from_utf8(whole).unwrap();
    let (cut, _) = text.trim_end().rsplit_once('\n').unwrap();
    world.file("rec.jsonl", cut);
    same(
        &replay(&world, &["--instant", "rec.jsonl"]).run(),
        cut.as_bytes(),
        143,
    );
}

#[test]
fn what_cannot_be_played_is_a_usage_error() {
    let world = World::new();
    world.file("rec.jsonl", "{}\n");
    for (args, told) in [
        (&["missing.jsonl"][..], "missing.jsonl cannot be read"),
        (&["."], ". cannot be read"),
        (&["--speed", "0", "rec.jsonl"], "from 0.001 up"),
        (&["--speed", "inf", "rec.jsonl"], "from 0.001 up"),
        (&["--speed", "-1", "rec.jsonl"], "from 0.001 up"),
        (&["--speed", "1e-300", "rec.jsonl"], "from 0.001 up"),
        (&["--max-gap", "-1", "rec.jsonl"], "use seconds"),
        (&["--exit-code", "-1", "rec.jsonl"], "-1 is not in"),
        (&["--max-gap=-1", "rec.jsonl"], "none"),
        (
            &["--instant", "--speed", "2", "rec.jsonl"],
            "cannot be used with",
        ),
        (&["--sped", "2", "rec.jsonl"], "--speed"),
        (&["--exit-code", "256", "rec.jsonl"], "256"),
        (&[], "FILE"),
    ] {
        let run = replay(&world, args).run();
        assert_eq!(
            (run.code(), run.stdout.len()),
            (2, 0),
            "{args:?}: {}",
            run.stderr
        );
        assert!(run.stderr.contains(told), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn lines_come_when_they_are_due() {
    let world = World::new();
    let cut = with_an_hour(&world, "quipu");
    let mut live = replay(&world, &["--max-gap", "none", "rec.jsonl"]).live();
    for _ in 0..cut {
        live.line().unwrap();
    }
    // The rest is not due for an hour; that nothing more comes is seen in the signal's test.
    live.signal(Signal::TERM);
    live.end();
    let run = replay(
        &world,
        &["--speed", "1e9", "--max-gap", "none", "rec.jsonl"],
    )
    .run();
    assert_eq!(run.stdout, world.read("rec.jsonl").as_bytes());
}

#[test]
fn a_signal_ends_a_native_stream_soundly() {
    for (signal, code) in ALL {
        let world = World::new();
        let cut = with_an_hour(&world, "quipu");
        let mut live = replay(&world, &["--max-gap", "none", "rec.jsonl"]).live();
        live.until("text_delta");
        live.signal(signal);
        let run = live.end();
        assert_eq!(run.code(), code);
        let written = String::from_utf8(run.stdout).unwrap();
        let recording = world.read("rec.jsonl");
        let begin: Vec<&str> = recording.lines().take(cut).collect();
        assert!(written.starts_with(&begin.join("\n")));
        let stream = check(bare(&written).as_bytes()).unwrap();
        let ends: Vec<&str> = stream.lines[cut..].iter().map(kind).collect();
        assert_eq!(ends, ["message_end", "turn_end", "agent_end", "stream_end"]);
        assert_eq!(
            (stream.outcome(), stream.error_code()),
            ("interrupted", "interrupted")
        );
        assert_eq!(stream.end()["exitCode"], code);
    }
}

/// The stream without its stamps, which count on and have the time that the recording has come to.
fn bare(stream: &str) -> String {
    let lines = stream.lines().enumerate();
    let bare = lines.map(|(index, line)| {
        let (kind, rest) = line.split_once(',').unwrap();
        let stamp = format!(r#""seq":{index},"at":0"#);
        let rest = rest
            .strip_prefix(&stamp)
            .unwrap_or_else(|| panic!("{line}"));
        format!("{kind}{rest}\n")
    });
    bare.collect()
}

#[test]
fn a_signal_ends_other_streams_as_their_documents_have_it() {
    for (wire, expected) in [
        ("senpi", &["message_end", "turn_end", "agent_end"][..]),
        ("dreb", &[]),
    ] {
        let world = World::new();
        let cut = with_an_hour(&world, wire);
        let mut live = replay(&world, &["--max-gap", "none", "rec.jsonl"]).live();
        live.until("text_delta");
        live.signal(Signal::INT);
        let run = live.end();
        assert_eq!(run.code(), 130);
        let text = String::from_utf8(run.stdout).unwrap();
        assert!(text.ends_with('\n'));
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let ends: Vec<&str> = lines[cut..].iter().map(kind).collect();
        assert_eq!(ends, expected, "{wire}");
    }
}

#[test]
fn a_signal_while_the_input_is_silent() {
    let world = World::new();
    let recording = recorded(&world, &[]);
    let header = recording
        .split_inclusive(|byte| *byte == b'\n')
        .next()
        .unwrap();
    let mut live = replay(&world, &["--instant", "-"]).open_input().live();
    live.feed(header);
    assert_eq!(kind(&live.line().unwrap()), "session");
    live.signal(Signal::TERM);
    let run = live.end();
    assert_eq!(run.code(), 143);
    assert_eq!(run.stream().kinds(), ["session", "stream_end"]);
}

/// A native stream with many lines.
fn long(world: &World) -> Vec<u8> {
    let steps = json!([{ "blocks": [{ "text": "twelve chars", "repeat": 5000 }] }]);
    let run = world.offline(&steps).arg("hi").run();
    world.file("rec.jsonl", &run.stdout);
    run.stdout
}

#[test]
fn a_slow_reader_gets_every_line() {
    let world = World::new();
    let recording = long(&world);
    let mut live = replay(&world, &["--instant", "rec.jsonl"]).live();
    for _ in 0..100 {
        assert!(live.take(7));
        thread::sleep(Duration::from_millis(1));
    }
    same(&live.end(), &recording, 0);
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let world = World::new();
    long(&world);
    let mut live = replay(&world, &["--instant", "rec.jsonl"]).live();
    assert_eq!(kind(&live.line().unwrap()), "session");
    let run = live.hang_up();
    assert_eq!((run.code(), run.stderr.as_str()), (1, ""));

    with_an_hour(&world, "quipu");
    let mut live = replay(&world, &["--max-gap", "none", "rec.jsonl"]).live();
    live.until("text_delta");
    let run = live.hang_up();
    assert_eq!(
        (run.code(), run.stderr.as_str()),
        (1, ""),
        "not only when it writes"
    );
}

#[test]
fn a_reader_that_takes_nothing_is_given_up() {
    let world = World::new();
    long(&world);
    let mut live = replay(&world, &["--instant", "rec.jsonl"]).live();
    live.until("text_delta");
    thread::sleep(Duration::from_millis(300));
    live.signal(Signal::TERM);
    assert_eq!(live.stare().code(), 143);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let world = World::new();
    recorded(&world, &[]);
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let run = replay(&world, &["--instant", "rec.jsonl"]).run_into(full.into());
    assert_eq!(run.code(), 1);
    assert!(run.stderr.contains("space"), "{}", run.stderr);
}
