//! `quipu stats` counts what real streams hold.

use serde_json::{Value, json};

use crate::background::runs;
use crate::check::{Stream, text_at};
use crate::harness::{Run, World};
use crate::script::{bash, text};

fn stats(world: &World, args: &[&str]) -> Run {
    world.bare().arg("stats").args(args.iter().copied()).run()
}

fn figures(world: &World, files: &[&str]) -> Value {
    let run = stats(world, &[&["--format", "json"], files].concat());
    assert_eq!((run.code(), run.stderr.as_str()), (0, ""));
    serde_json::from_slice(&run.stdout).unwrap()
}

/// Fails unless the sums are those of `stream_end`, costs up to rounding.
#[track_caller]
fn assert_sums(stats: &Value, stream: &Stream) {
    let told = &stream.end()["usage"];
    let mut usage = stats["usage"].clone();
    for (key, cost) in told["cost"].as_object().unwrap() {
        let ours = usage["cost"][key].as_f64().unwrap();
        assert!((ours - cost.as_f64().unwrap()).abs() < 1e-9, "{key}");
    }
    usage["cost"] = told["cost"].clone();
    assert_eq!(&usage, told);
    assert_eq!(stats["turns"], stream.end()["turns"]);
    assert_eq!(stats["lines"], stream.end()["lines"]);
    assert_eq!(stats["outcome"], stream.end()["outcome"]);
    assert_eq!(stats["exitCode"], stream.end()["exitCode"]);
}

fn kept(world: &World, name: &str, lines: &[Value]) {
    let mut text = String::new();
    for line in lines {
        text += &line.to_string();
        text.push('\n');
    }
    world.file(name, text);
}

#[test]
fn sums_of_background_agents_and_compactions_are_those_of_stream_end() {
    let world = World::new();
    let mut streams = runs();
    let compacted = json!({ "name": "test", "context_window": 20000, "steps": [
        { "blocks": [{ "text": "one" }], "usage": { "input": 1000, "output": 40 } },
        { "error": "overflow" },
        { "blocks": [{ "text": "The summary." }], "usage": { "input": 900, "output": 30 } },
        { "blocks": [{ "text": "two" }], "usage": { "input": 50, "output": 5 } },
    ]});
    let run = World::new()
        .script(&compacted.to_string())
        .args(["One", "Two"])
        .run();
    streams.push(run.stream());
    for stream in &streams {
        kept(&world, "rec.jsonl", &stream.lines);
        assert_sums(&figures(&world, &["rec.jsonl"])["total"], stream);
    }
    let last = figures(&world, &["rec.jsonl"])["total"].take();
    assert_eq!(last["compactions"]["overflow"]["done"], 1);
    assert!(text_at(&last, "/models/0/provider") == "offline");
    assert_ne!(last["requests"]["compactions"]["totalTokens"], 0);
    kept(&world, "child.jsonl", &streams[1].lines);
    let child = figures(&world, &["child.jsonl"])["total"].take();
    assert_eq!(child["backgroundAgents"]["count"], 1);
    assert_ne!(child["requests"]["backgroundAgents"]["totalTokens"], 0);
}

#[test]
fn the_wires_have_the_same_figures() {
    let world = World::new();
    let steps = json!([bash("echo hi"), text("Done.")]);
    let mut all = Vec::new();
    for wire in ["quipu", "senpi", "dreb"] {
        let run = world.offline(&steps).args(["--wire", wire]).arg("hi").run();
        world.file(wire, &run.stdout);
        let stats = figures(&world, &[wire])["total"].take();
        assert_eq!(stats["wire"], wire);
        assert_eq!(stats["bytes"], run.stdout.len());
        let tool = &stats["tools"][0];
        assert_eq!(
            (&tool["name"], &tool["calls"], &tool["timed"]),
            (&json!("bash"), &json!(1), &json!(1))
        );
        assert_eq!(tool["source"], "messages");
        let same = [
            "usage",
            "turns",
            "prompts",
            "stopReasons",
            "models",
            "deltas",
        ];
        all.push(same.map(|key| stats[key].clone()));
    }
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0], all[2]);

    let three = figures(&world, &["quipu", "senpi", "dreb"]);
    assert_eq!(three["files"].as_array().unwrap().len(), 3);
    assert_eq!(three["files"][1]["file"], "senpi");
    assert_eq!(three["total"]["turns"], 6);
    assert_eq!(three["total"]["wire"], Value::Null);
}

#[test]
fn stamps_time_tools() {
    let world = World::new();
    let steps = json!([bash("echo hi"), text("Done.")]);
    let run = world.offline(&steps).args(["--stamp", "hi"]).run();
    let piped = world.bare().args(["stats", "--format", "json", "-"]);
    let told = piped.input(run.stdout).run();
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!(told["total"]["tools"][0]["source"], "stamps");
    assert_eq!(told["total"]["duration"]["source"], "stamps");
}

#[test]
fn what_cannot_be_read_is_told() {
    let world = World::new();
    world.file("good", "{\"type\":\"turn_start\"}\nbroken\n");
    world.file("bad", "broken\n");
    let run = stats(&world, &["good"]);
    assert_eq!((run.code(), run.stderr.as_str()), (0, ""));
    let told = String::from_utf8(run.stdout).unwrap();
    assert!(told.contains("1 line, the first is line 2"), "{told}");
    let run = stats(&world, &["good", "bad"]);
    assert_eq!(run.code(), 1);
    assert!(run.stderr.contains("bad holds no line"), "{}", run.stderr);
    assert!(
        String::from_utf8(run.stdout)
            .unwrap()
            .contains("all 2 together")
    );
    let run = stats(&world, &["missing", "bad", "good"]);
    assert_eq!(run.code(), 2);
    assert!(
        run.stderr.contains("missing cannot be read"),
        "{}",
        run.stderr
    );
    assert_eq!(stats(&world, &[]).code(), 2);
}

#[test]
fn the_table() {
    let world = World::new();
    let call = |kind: &str, at: u64| json!({ "type": kind, "seq": 0, "at": at, "toolCallId": "a", "toolName": "evil\u{1b}[2J", "args": {}, "isError": true });
    let mut lines = vec![
        json!({ "type": "session", "at": 0, "stream": { "wire": "quipu" } }),
        json!({ "type": "agent_start", "at": 5 }),
        call("tool_execution_start", 1000),
        call("tool_execution_end", 62_500),
        json!({ "type": "auto_retry_start", "at": 70_000, "delayMs": 2500 }),
        json!({ "type": "from the\u{202e} future\nline", "at": 80_000 }),
    ];
    lines.extend(crate::rich::rich().iter().skip(1).map(|event| json!(event)));
    kept(&world, "rec\u{1b}.jsonl", &lines);
    let run = stats(&world, &["rec\u{1b}.jsonl"]);
    assert_eq!((run.code(), run.stderr.as_str()), (0, ""));
    let shown = String::from_utf8(run.stdout).unwrap();
    assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown}");
    insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("stats_table", shown);
    });
}

#[test]
fn what_is_no_object_is_no_line_of_a_stream() {
    let world = World::new();
    world.file("values.jsonl", "[1]\n3\n\"turn_start\"\n");
    let run = stats(&world, &["values.jsonl"]);
    assert_eq!(run.code(), 1);
    assert!(run.stderr.contains("holds no line that can be read"));
    let table = String::from_utf8(run.stdout).unwrap();
    assert!(table.contains("3 lines, the first is line 1"), "{table}");
}

#[test]
fn tables_name_the_wires_and_count_in_words() {
    let world = World::new();
    let header = json!({
        "type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z",
        "cwd": "/",
    });
    kept(&world, "header.jsonl", &[header]);
    let run = world.offline(&json!([text("Hi.")])).arg("hi").run();
    world.file("native.jsonl", &run.stdout);
    let table = stats(&world, &["header.jsonl", "native.jsonl"]).stdout;
    let table = String::from_utf8(table).unwrap();
    let wires: Vec<&str> = table
        .lines()
        .filter_map(|line| line.trim().strip_prefix("wire"))
        .map(str::trim)
        .collect();
    assert_eq!(wires, ["senpi", "quipu", "quipu, senpi"]);
    assert!(table.contains("1 run, 1 turn, 1 user message\n"), "{table}");
    assert!(table.contains("cache read  cache written"), "{table}");
}
