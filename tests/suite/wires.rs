//! The program itself on the dreb and senpi wires.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::Config;
use quipu::event::QuipuEvent;
use quipu::event::tracker::{CloseReason, Tracker};
use quipu::wire::Wire;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::check::{kind, text_at};
use crate::harness::{Run, World};
use crate::properties::step;
use crate::redact::Shot;
use crate::rich::rich;
use crate::script::{bash, call, text, tool};
use crate::wire_check::{Ended, OTHERS, check, project};
use crate::{coverage, live};

/// The lines of a run, judged.
#[track_caller]
fn lines(wire: Wire, run: &Run, ended: Ended) -> Vec<Value> {
    check(wire, &run.stdout, ended).unwrap_or_else(|findings| {
        panic!(
            "{}\n\nstderr: {}\n\n{}",
            findings.join("\n"),
            run.stderr,
            String::from_utf8_lossy(&run.stdout)
        )
    })
}

fn kinds(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(kind).collect()
}

/// The program writes on a wire what the projection makes of its native stream.
#[test]
fn the_program_writes_the_projection_of_its_native_stream() {
    let everything = json!([
        { "blocks": [
            { "thinking": "Hm.", "signature": "c2ln" },
            { "redacted": "b3BhcXVl" },
            { "text": "All at once: \u{2028} 😀.", "chunk": 2 },
            call("read", "call_1", &json!({ "path": "notes.txt" })),
            call("nope", "call_2", &json!({ "a": ["b", { "c": null }] })),
            json!({ "tool": "read", "id": "call_3", "args_text": "{\"path\":\"no" }),
        ], "chunk": 3 },
        { "blocks": [{ "text": "cut" }], "stop": "max_tokens" },
    ]);
    let failing = json!([{ "error": "auth" }, text("The next one.")]);
    for (name, steps) in [("everything", &everything), ("failing", &failing)] {
        let world = World::new();
        world.file("notes.txt", "one\n");
        let run = |wire: &str| {
            world
                .offline(steps)
                .args(["--no-session", "--wire", wire, "first", "second"])
                .run()
        };
        let native = run("quipu");
        let stream = native.stream();
        for wire in OTHERS {
            let projected = Run {
                stdout: project(wire, &stream.lines),
                ..run(wire.name())
            };
            let real = run(wire.name());
            assert_eq!(real.code(), 0, "{name}");
            assert_eq!(
                Shot::new(&world, &real).on(wire),
                Shot::new(&world, &projected).on(wire),
                "{name}"
            );
        }
    }
}

#[test]
fn a_model_that_fails_is_told_by_the_stream_alone() {
    for wire in OTHERS {
        let run = World::new()
            .offline(&json!([{ "error": "auth" }]))
            .args(["--wire", wire.name(), "hi"])
            .run();
        let lines = lines(wire, &run, Ended::ByItself);
        assert_eq!(run.code(), 0);
        assert_eq!(kind(lines.last().unwrap()), "agent_end");
        assert_eq!(lines.last().unwrap()["messages"][1]["stopReason"], "error");
    }
}

#[test]
fn what_never_started_is_told_as_each_wire_does() {
    let failures: [(&[&str], i32); 4] = [
        (&["hi"], 3),
        (&["--model", "anthropic/x", "hi"], 3),
        (&["--model", "offline", "--nonsense"], 2),
        (&["--model", "offline", "--stamp", "hi"], 2),
    ];
    for (args, code) in failures {
        for (wire, expected) in [
            (Wire::Senpi, &["session"][..]),
            (Wire::Dreb, &["session", "agent_start", "agent_end"]),
        ] {
            let run = World::new()
                .quipu()
                .args(["--wire", wire.name()])
                .args(args.iter().copied())
                .run();
            let lines = lines(wire, &run, Ended::ByItself);
            assert_eq!(kinds(&lines), expected, "{args:?}");
            assert_eq!(run.code(), code, "{args:?}");
            assert!(!run.stderr.is_empty());
            if wire == Wire::Dreb {
                let chosen = args.contains(&"anthropic/x");
                let model = json!({ "provider": "anthropic", "id": "x" });
                assert_eq!(lines[1].get("model"), chosen.then_some(&model));
            }
        }
    }
}

#[test]
fn a_limit_is_a_failure_on_every_wire() {
    for wire in OTHERS {
        let run = World::new()
            .offline(&json!([bash("true"), text("never")]))
            .args(["--wire", wire.name(), "--max-turns", "1", "hi"])
            .run();
        lines(wire, &run, Ended::ByItself);
        assert_eq!(run.code(), 1);
    }
}

#[test]
fn a_signal_leaves_nothing_open() {
    for wire in OTHERS {
        for (signal, code) in [(Signal::HUP, 129), (Signal::INT, 130), (Signal::TERM, 143)] {
            let world = World::new();
            let mut live = world
                .offline(&json!([bash("echo ready; sleep 300"), text("never")]))
                .args(["--wire", wire.name(), "hi"])
                .live();
            live.until_line(|line| {
                text_at(line, "/partialResult/content/0/text").contains("ready")
            });
            live.signal(signal);
            let run = live.end();
            let lines = lines(wire, &run, Ended::BySignal);
            assert_eq!(run.code(), code);
            let last = if wire == Wire::Dreb {
                "turn_end"
            } else {
                "agent_end"
            };
            assert_eq!(kind(lines.last().unwrap()), last);
        }
        // In the middle of an answer.
        let slow = json!([{ "blocks": [{ "text": "word ", "repeat": 3000 }], "delay_ms": 20 }]);
        let mut live = World::new()
            .offline(&slow)
            .args(["--wire", wire.name(), "hi"])
            .live();
        live.until("text_delta");
        live.signal(Signal::INT);
        lines(wire, &live.end(), Ended::BySignal);
    }
}

#[test]
fn events_are_chosen_by_the_names_of_the_wire() {
    let run = |wire: &str, events: &str| {
        World::new()
            .offline(&json!([text("Hello.")]))
            .args(["--wire", wire, "--events", events, "hi"])
            .run()
    };
    let types = |run: &Run| -> Vec<String> {
        let lines = std::str::from_utf8(&run.stdout).unwrap().lines();
        lines
            .map(|line| text_at(&serde_json::from_str(line).unwrap(), "/type").to_owned())
            .collect()
    };
    let few = run("dreb", "turn_start,turn_end");
    assert_eq!(
        types(&few),
        ["session", "turn_start", "turn_end", "agent_end"]
    );
    assert!(!types(&run("senpi", "final")).contains(&"message_update".to_owned()));
    let wrong = run("dreb", "compaction_start");
    assert_eq!(wrong.code(), 2);
    assert!(wrong.stderr.contains("auto_compaction_start"));
}

/// The agent whose wire this is has a queue of 16 MiB and dies when a burst is longer.
#[test]
fn two_thousand_deltas_at_once_reach_a_slow_reader() {
    let count = 2000;
    let steps = json!([{ "blocks": [{ "text": "twelve chars", "repeat": count }] }]);
    let mut live = World::new()
        .offline(&steps)
        .args(["--wire", "dreb", "--no-session", "hi"])
        .live();
    for _ in 0..200 {
        assert!(live.take(64));
        thread::sleep(Duration::from_millis(2));
    }
    // All that will come is on its way or waits in the process.
    thread::sleep(Duration::from_millis(500));
    for _ in 0..100 {
        assert!(live.take(1 << 16));
    }
    let peak = live::peak(live.pid());
    let run = live.end();
    assert_eq!(run.code(), 0, "{}", run.stderr);
    assert!(run.stdout.len() > 40_000_000, "{}", run.stdout.len());
    let mut said = String::new();
    let mut deltas = 0;
    let mut last = Value::Null;
    for line in std::str::from_utf8(&run.stdout).unwrap().lines() {
        last = serde_json::from_str(line).unwrap();
        let delta = &last["assistantMessageEvent"];
        if kind(delta) == "text_delta" {
            deltas += 1;
            said.push_str(text_at(delta, "/delta"));
            assert_eq!(text_at(&last, "/message/content/0/text"), said);
            assert_eq!(text_at(delta, "/partial/content/0/text"), said);
        }
    }
    assert_eq!(deltas, count);
    assert_eq!(kind(&last), "agent_end");
    assert_eq!(text_at(&last, "/messages/1/content/0/text"), said);
    if let Some(peak) = peak {
        assert!(peak < 64 << 10, "{peak} KiB for lines of 50 KB");
    }
}

/// What the tracker adds to a stream that is cut, and its terminal line.
fn closed(events: &[QuipuEvent], outcome: &str) -> Vec<Value> {
    let mut tracker = Tracker::default();
    for event in events {
        tracker.observe(event).unwrap();
    }
    let ends = tracker.close(&CloseReason {
        stop_reason: quipu::event::StopReason::Aborted,
        message: "The run was aborted.".to_owned(),
    });
    let lines = events.iter().chain(&ends);
    let mut lines: Vec<Value> = lines
        .map(|event| serde_json::to_value(event).unwrap())
        .collect();
    lines.push(json!({
        "type": "stream_end", "outcome": outcome, "exitCode": 1,
        "usage": crate::sample::usage(0, 0), "turns": 0, "lines": 1,
    }));
    lines
}

/// A stream that holds every native event, cut anywhere.
#[test]
fn every_event_is_projected_in_order() {
    let events = rich();
    for cut in 1..=events.len() {
        for (outcome, ended) in [
            ("failed", Ended::ByItself),
            ("interrupted", Ended::BySignal),
        ] {
            for wire in OTHERS {
                let bytes = project(wire, &closed(&events[..cut], outcome));
                let last = &events[cut - 1];
                if let Err(findings) = check(wire, &bytes, ended) {
                    panic!("{wire:?}, {outcome} after {last:?}: {findings:#?}");
                }
            }
        }
    }
}

/// The judge finds what a consumer would stumble over.
#[test]
fn the_judge_of_the_wires_finds_faults() {
    type Edit = fn(&mut Vec<Value>);
    let sound = project(Wire::Dreb, &closed(&rich(), "failed"));
    let sound = check(Wire::Dreb, &sound, Ended::ByItself).unwrap();
    let update = |lines: &mut Vec<Value>| {
        let at = lines
            .iter()
            .position(|line| text_at(line, "/assistantMessageEvent/delta") == "hm");
        at.unwrap()
    };
    let edits: [(&str, Edit); 9] = [
        ("no agent_end", |lines| drop(lines.pop())),
        ("no agent_start", |lines| drop(lines.remove(1))),
        ("a second agent_start", |lines| {
            lines.insert(2, lines[1].clone());
        }),
        ("a message is missing from agent_end", |lines| {
            drop(
                lines.last_mut().unwrap()["messages"]
                    .as_array_mut()
                    .unwrap()
                    .pop(),
            );
        }),
        ("a line of the native wire", |lines| {
            lines.insert(
                2,
                json!({ "type": "queue_update", "steering": [], "followUp": [] }),
            );
        }),
        ("a field of the native wire", |lines| {
            lines[0]["stream"] = json!({});
        }),
        ("an id on toolcall_start", |lines| {
            let start = lines
                .iter_mut()
                .find(|line| text_at(line, "/assistantMessageEvent/type") == "toolcall_start");
            start.unwrap()["assistantMessageEvent"]["id"] = "a".into();
        }),
        ("another stopReason", |lines| {
            let fresh = lines.iter_mut().find(|line| {
                text_at(line, "/type") == "message_start" && line["message"]["stopReason"] == "stop"
            });
            fresh.unwrap()["message"]["stopReason"] = "pending".into();
        }),
        ("another version", |lines| lines[0]["version"] = json!(4)),
    ];
    let bytes = |lines: &[Value]| -> Vec<u8> {
        let lines = lines.iter().map(|line| format!("{line}\n"));
        lines.collect::<String>().into_bytes()
    };
    for (what, edit) in edits {
        let mut lines = sound.clone();
        edit(&mut lines);
        check(Wire::Dreb, &bytes(&lines), Ended::ByItself).expect_err(what);
    }
    for at in ["/message", "/assistantMessageEvent/partial"] {
        let mut lines = sound.clone();
        let place = update(&mut lines);
        *lines[place]
            .pointer_mut(at)
            .unwrap()
            .pointer_mut("/content/0/thinking")
            .unwrap() = "h".into();
        check(Wire::Dreb, &bytes(&lines), Ended::ByItself).expect_err(at);
    }
    check(Wire::Dreb, &bytes(&sound), Ended::BySignal).expect_err("agent_end after a signal");
}

/// Types that no run of the suite writes yet: their projection is shown on made streams alone.
fn projected_only(wire: Wire) -> BTreeSet<&'static str> {
    let lines = include_str!("projected.txt").lines();
    lines
        .filter_map(|line| line.strip_prefix(wire.name())?.strip_prefix('/'))
        .collect()
}

#[test]
fn every_type_of_the_documents_is_written_or_its_projection_shown() {
    let runs = coverage::runs();
    for wire in OTHERS {
        let mut written = BTreeSet::new();
        for stream in &runs {
            let bytes = project(wire, &stream.lines);
            let lines = std::str::from_utf8(&bytes).unwrap().lines();
            written.extend(lines.map(|line| {
                let line: Value = serde_json::from_str(line).unwrap();
                kind(&line).to_owned()
            }));
        }
        let made = project(wire, &closed(&rich(), "failed"));
        let made = check(wire, &made, Ended::ByItself).unwrap();
        let made: BTreeSet<&str> = made.iter().map(kind).collect();
        let all: BTreeSet<&str> = wire.types().iter().copied().collect();
        assert_eq!(made, all, "{wire:?}: a made stream has to hold every type");
        let missing: BTreeSet<&str> = all
            .into_iter()
            .filter(|kind| !written.contains(*kind))
            .collect();
        assert_eq!(
            projected_only(wire),
            missing,
            "{wire:?}: correct tests/suite/projected.txt, which may only get shorter"
        );
    }
}

/// `models.json` and `settings.json` as other agents keep them.
#[test]
fn files_of_other_agents_are_read_as_they_are() {
    let world = World::new();
    world.config(
        "settings.json",
        json!({
            "defaultProvider": "local", "defaultModel": "mock", "defaultThinkingLevel": "high",
            "theme": "dark", "packages": ["npm:x"], "lastChangelogVersion": "1.2.3",
            "retry": { "enabled": false, "maxRetries": 3 }, "compaction": { "enabled": true },
            "enabledModels": ["local/*"], "hideThinkingBlock": true,
        })
        .to_string(),
    );
    world.config(
        "models.json",
        json!({ "providers": { "local": {
            "baseUrl": "http://127.0.0.1:9/v1", "api": "openai-completions", "apiKey": "x",
            "compat": {
                "supportsDeveloperRole": false, "supportsReasoningEffort": false,
                "maxTokensField": "max_tokens",
            },
            "somethingNew": 1,
            "models": [{
                "id": "mock", "name": "Mock", "contextWindow": 8192, "maxTokens": 1024,
                "reasoning": false, "input": ["text"],
            }],
        }}})
        .to_string(),
    );
    for wire in OTHERS {
        let run = world.quipu().args(["--wire", wire.name(), "hi"]).run();
        let lines = lines(wire, &run, Ended::ByItself);
        assert_eq!(run.code(), 0, "{}", run.stderr);
        let answer = lines
            .iter()
            .find(|line| text_at(line, "/message/role") == "assistant");
        assert_eq!(answer.unwrap()["message"]["provider"], "local");
        for key in ["theme", "packages", "somethingNew"] {
            assert_eq!(run.stderr.matches(key).count(), 1, "{key}: {}", run.stderr);
        }
    }
}

#[test]
fn flags_of_other_agents_are_taken_translated_or_refused() {
    let run = |args: &[&str]| {
        World::new()
            .offline(&json!([text("Hello.")]))
            .args(["--wire", "senpi"])
            .args(args.iter().copied())
            .run()
    };
    let taken = run(&["-p", "--no-themes", "-ne", "-t", "read", "--offline", "hi"]);
    assert_eq!(taken.code(), 0, "{}", taken.stderr);
    let taken = lines(Wire::Senpi, &taken, Ended::ByItself);
    let users = taken
        .iter()
        .filter(|line| kind(line) == "message_end" && text_at(line, "/message/role") == "user");
    assert_eq!(users.count(), 1);
    let refused = run(&["--models", "a,b", "hi"]);
    assert_eq!(refused.code(), 2);
    assert!(refused.stderr.contains("--model PROVIDER/ID"));
    assert_eq!(
        kinds(&lines(Wire::Senpi, &refused, Ended::ByItself)),
        ["session"]
    );
}

#[test]
fn the_lists_of_the_reference_are_in_form() {
    let divergences = include_str!("../reference/divergences.txt");
    let pending = include_str!("../reference/pending.txt");
    for list in [divergences, pending] {
        for line in list.lines().filter(|line| !line.starts_with('#')) {
            let (name, reason) = line.split_once(": ").unwrap();
            let wire = name.split_once('/').unwrap().0;
            assert!(matches!(wire, "dreb" | "senpi"), "{line}");
            assert!(reason.len() > 8, "{line}");
        }
    }
    let count = divergences.lines().filter(|line| !line.starts_with('#'));
    assert!(count.count() <= 30);
    for line in divergences.lines().filter(|line| !line.starts_with('#')) {
        let quotes = line.contains('"') || line.contains("fault");
        assert!(
            quotes,
            "neither quotes the document nor names a fault: {line}"
        );
    }
}

proptest! {
    #![proptest_config(Config { cases: 24, max_shrink_iters: 100, failure_persistence: None, ..Config::default() })]

    /// Whatever a script makes the program do, the stream is sound on both wires. (That the last
    /// snapshot of dreb, the deltas of senpi and those of the native stream make one message is part
    /// of that: each is held against the same `message_end`.)
    #[test]
    fn any_script_is_sound_on_both_wires(
        steps in vec(step(), 0..4),
        dreb in any::<bool>(),
    ) {
        let wire = if dreb { Wire::Dreb } else { Wire::Senpi };
        let world = World::new();
        world.file("notes.txt", "one\ntwo\nthree\n");
        let run = world.offline(&json!(steps)).args(["--wire", wire.name(), "go"]).run();
        lines(wire, &run, Ended::ByItself);
        prop_assert_eq!(run.code(), 0);
    }
}

#[test]
fn tools_side_by_side_keep_their_order() {
    let steps = json!([
        { "blocks": [
            call("bash", "call_1", &json!({ "command": "sleep 0.2; echo slow" })),
            call("bash", "call_2", &json!({ "command": "echo fast" })),
        ]},
        tool("read", "call_3", &json!({ "path": "nowhere" })),
        text("Done."),
    ]);
    for wire in OTHERS {
        let run = World::new()
            .offline(&steps)
            .args(["--wire", wire.name(), "hi"])
            .run();
        let lines = lines(wire, &run, Ended::ByItself);
        let ends = |wanted: &str, at: &str| -> Vec<String> {
            let lines = lines.iter().filter(|line| kind(line) == wanted);
            lines.map(|line| text_at(line, at).to_owned()).collect()
        };
        let ends_of_tools = ends("tool_execution_end", "/toolCallId");
        assert_eq!(ends_of_tools, ["call_2", "call_1", "call_3"]);
        let results: Vec<String> = ends("message_end", "/message/toolCallId")
            .into_iter()
            .filter(|id| !id.is_empty())
            .collect();
        assert_eq!(results, ["call_1", "call_2", "call_3"]);
    }
}
