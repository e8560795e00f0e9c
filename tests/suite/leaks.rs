//! What no line, file or message may hold: keys, and controls of a terminal.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::harness::{Run, World};
use crate::server::{Answer, serve};
use crate::services::{Block, KEY, SERVICES, Service};
use crate::session_file::{entries, sessions};

const DONE: &[Block<'_>] = &[Block::Text("Done.")];

/// Fails if a string of `value`, read as JSON, holds the key.
#[track_caller]
fn assert_clean(value: &Value) {
    match value {
        Value::String(text) => assert!(!text.contains(KEY), "{text}"),
        Value::Array(items) => items.iter().for_each(assert_clean),
        Value::Object(fields) => {
            for (name, value) in fields {
                assert!(!name.contains(KEY), "{name}");
                assert_clean(value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Fails if the run told the key anywhere.
#[track_caller]
fn assert_no_key(world: &World, run: &Run) {
    assert!(!run.stderr.contains(KEY), "{}", run.stderr);
    let mut arguments = BTreeMap::<_, String>::new();
    for line in run.stdout.split(|byte| *byte == b'\n') {
        if let Ok(line) = serde_json::from_slice::<Value>(line) {
            assert_clean(&line);
            let event = &line["assistantMessageEvent"];
            if event["type"] == "toolcall_delta" {
                let call = arguments.entry(event["contentIndex"].as_u64()).or_default();
                *call += event["delta"].as_str().unwrap();
            }
        }
    }
    // A reader of the pieces has to make no key of them either.
    for call in arguments.values() {
        assert_clean(&serde_json::from_str(call).unwrap());
    }
    for entry in entries(&sessions(world)) {
        assert_clean(&entry);
    }
}

/// The same with a word of its body replaced.
fn with(mut answer: Answer, word: &str, by: &str) -> Answer {
    let body = String::from_utf8(answer.body).unwrap();
    assert!(body.contains(word), "{word} is not in {body}");
    answer.body = body.replace(word, by).into();
    answer
}

#[test]
fn a_key_in_arguments_is_not_told_however_it_is_escaped() {
    let (first, rest) = KEY.split_at(1);
    let escaped = format!("\\u{:04x}{rest}", u32::from(first.chars().next().unwrap()));
    for service in SERVICES {
        // All but one send the arguments as text.
        let written = match service {
            Service::Google => escaped.clone(),
            _ => escaped.replace('\\', "\\\\"),
        };
        for args in [
            json!({ "command": "echo PLACE" }),
            json!({ "command": "true", "PLACE": ["x", { "PLACE": "PLACE" }] }),
        ] {
            let call = service.answer(&[Block::Call("call_1", "bash", args)]);
            for wire in ["quipu", "senpi", "dreb"] {
                let answers = vec![with(call.clone(), "PLACE", &written), service.answer(DONE)];
                let (url, _requests) = serve(answers);
                let world = World::new();
                let run = service.quipu(&world, &url);
                let run = run.args(["--wire", wire, "hi"]).run();
                assert_eq!(run.code(), 0, "{service:?} {}", run.stderr);
                let told = String::from_utf8_lossy(&run.stdout).into_owned();
                assert!(told.contains("<redacted>"), "{service:?}: {told}");
                assert_no_key(&world, &run);
                if wire == "quipu" {
                    run.stream();
                }
            }
        }
    }
}

#[test]
fn a_key_in_a_name_or_an_id_is_not_told() {
    for service in SERVICES {
        let args = || json!({ "command": "true" });
        let calls = service.answer(&[
            Block::Call(KEY, KEY, args()),
            Block::Call(&format!("{KEY}-2"), "bash", args()),
        ]);
        let own_id = match service {
            Service::Anthropic => "\"m1\"",
            Service::Chat => "\"c1\"",
            Service::Responses => "\"r1\"",
            Service::Google => "\"g1\"",
        };
        let id = json!(format!("id-{KEY}"));
        // Where the answer names its model, it names the key.
        let named = format!("{id},\"model\":{id},\"modelVersion\":{id}");
        let calls = with(calls, own_id, &named);
        let (url, _requests) = serve(vec![calls, service.answer(DONE)]);
        let world = World::new();
        let run = service.quipu(&world, &url).arg("hi").run();
        assert_no_key(&world, &run);
        let stream = run.stream();
        assert_eq!(stream.outcome(), "completed", "{service:?} {}", run.stderr);
        let calls: Vec<_> = stream
            .lines
            .iter()
            .filter(|line| line["type"] == "tool_execution_end")
            .collect();
        assert_eq!(calls.len(), 2);
        assert_ne!(calls[0]["toolCallId"], calls[1]["toolCallId"]);
        let answer = stream
            .lines
            .iter()
            .find(|line| line["message"]["role"] == "assistant" && line["type"] == "message_end")
            .unwrap();
        assert_eq!(
            answer["message"]["responseId"], "id-<redacted>",
            "{service:?}"
        );
        assert_eq!(
            answer["message"]["responseModel"], "id-<redacted>",
            "{service:?}"
        );
    }
}

const EVIL: &str = "evil \u{1b}]0;title\u{7}\u{1b}[2J\u{9b}1m\u{202e}\nquipu: fake";
const SHOWN: &str = "evil \\u{1b}]0;title\\u{7}\\u{1b}[2J\\u{9b}1m\\u{202e}";

#[test]
fn words_of_a_service_do_not_steer_a_terminal() {
    let refusal = json!({ "error": { "type": "bad", "message": EVIL } }).to_string();
    let (url, _requests) = serve(vec![Answer::plain("400 No", "application/json", &refusal)]);
    let world = World::new();
    let quipu = Service::Anthropic.quipu(&world, &url);
    let run = quipu.args(["--mode", "text", "hi"]).run();
    assert_eq!(run.code(), 1);
    assert_eq!(
        run.stderr,
        format!("quipu: 400 bad: {SHOWN}\n  quipu: fake\n")
    );
}

#[test]
fn a_table_of_models_has_a_row_for_each() {
    let models = json!({ "providers": { "mine": {
        "baseUrl": "http://127.0.0.1:9", "api": "some-\u{1b}[1mapi", "apiKey": "x",
        "models": [{ "id": EVIL }, { "id": "plain" }],
    }}});
    let world = World::new();
    world.config("models.json", models.to_string());
    let run = world
        .bare()
        .args(["models", "--no-discovery", "mine"])
        .run();
    let table = String::from_utf8(run.stdout).unwrap();
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows.len(), 3, "{table}");
    assert!(
        rows[1].starts_with(&format!("mine/{SHOWN} quipu: fake ")),
        "{table}"
    );
    assert!(!table.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{table}");
}

#[test]
fn a_table_of_sessions_has_a_row_for_each() {
    let world = World::new();
    let run = world.offline(&json!([{ "blocks": [{ "text": EVIL }] }]));
    assert_eq!(run.args(["--name", EVIL, EVIL]).run().code(), 0);
    for args in [&["sessions"][..], &["sessions", "--all"]] {
        let run = world.bare().args(args.iter().copied()).run();
        let table = String::from_utf8(run.stdout).unwrap();
        assert_eq!(table.lines().count(), 1, "{table}");
        assert!(!table.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{table}");
    }
    let id = entries(&sessions(&world))[0]["id"].clone();
    let run = world
        .bare()
        .args(["sessions", "show", id.as_str().unwrap()])
        .run();
    let rows = String::from_utf8(run.stdout).unwrap();
    assert!(
        rows.contains("evil") && !rows.contains(['\u{1b}', '\u{9b}', '\u{202e}']),
        "{rows}"
    );
}
