//! What the contract knows and no test makes the program write.
//!
//! The published bundle is walked alongside the lines of a choice of runs. `unreached.txt` lists
//! what was not met: types of lines, deltas, messages and blocks by their title, optional fields as
//! `Title.field`, values as `Title=value`. The list may only get shorter.

use std::collections::BTreeSet;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::anthropic;
use crate::arbiter;
use crate::background;
use crate::check::Stream;
use crate::compactions;
use crate::fallbacks;
use crate::google;
use crate::harness::World;
use crate::resume;
use crate::retries;
use crate::schema::{BUNDLE, title};
use crate::script::{bash, call, text};
use crate::snapshots_tools::PNG;
use crate::thinking;

/// Begins of the names of events that the list may hold: parts of the contract for which nothing in
/// the program exists yet. No other event may ever go unwritten.
const TO_COME: [&str; 6] = [
    "QueueUpdate",
    "SessionInfoChanged",
    "SummarizationRetry",
    "SystemPromptChange",
    "ToolHookStatus",
    "AgentEndEvent.abortCause",
];

fn definition(title: &str) -> &'static Value {
    &BUNDLE["$defs"][title]
}

/// The constants of a type, by which it is told from the other members of a union.
fn constants(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let fields = schema["properties"].as_object().into_iter().flatten();
    fields.filter_map(|(name, field)| Some((name, field.get("const")?)))
}

/// The kinds of JSON that a union without a tag is of.
fn forms(schema: &Value) -> impl Iterator<Item = &str> {
    schema["oneOf"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|member| member["type"].as_str())
}

/// All that can be met.
fn known() -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    for (title, schema) in BUNDLE["$defs"].as_object().unwrap() {
        for value in schema["enum"].as_array().into_iter().flatten() {
            known.insert(format!("{title}={}", value.as_str().unwrap()));
        }
        for form in forms(schema) {
            known.insert(format!("{title}:{form}"));
        }
        let Some(fields) = schema["properties"].as_object() else {
            continue;
        };
        known.insert(title.clone());
        let required = schema["required"].as_array().unwrap();
        for name in fields
            .keys()
            .filter(|name| !required.contains(&json!(name)))
        {
            // The numbering of lines is a choice of the reader, shown in another test.
            if !matches!(name.as_str(), "seq" | "at")
                || !constants(schema).any(|(tag, _)| tag == "type")
            {
                known.insert(format!("{title}.{name}"));
            }
        }
    }
    known
}

/// Notes what a value meets of its schema.
fn meet(schema: &Value, value: &Value, met: &mut BTreeSet<String>) {
    if let Some(title) = title(schema) {
        let schema = definition(title);
        if schema["properties"].is_object() {
            met.insert(title.into());
        }
        if schema["enum"].is_array() {
            met.insert(format!("{title}={}", value.as_str().unwrap()));
        }
        for form in forms(schema).filter(|form| (*form == "string") == value.is_string()) {
            met.insert(format!("{title}:{form}"));
        }
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            if let Some(value) = value.get(name) {
                met.insert(format!("{title}.{name}"));
                meet(field, value, met);
            }
        }
        meet_member(schema, value, met);
    } else {
        for part in schema["allOf"].as_array().into_iter().flatten() {
            meet(part, value, met);
        }
        meet_member(schema, value, met);
        for item in value.as_array().into_iter().flatten() {
            meet(&schema["items"], item, met);
        }
    }
}

fn meet_member(schema: &Value, value: &Value, met: &mut BTreeSet<String>) {
    for member in schema["oneOf"].as_array().into_iter().flatten() {
        let fits = match title(member) {
            Some(title) => constants(definition(title)).all(|(name, tag)| {
                value
                    .get(name)
                    .map_or(name != "type" && name != "role", |value| value == tag)
            }),
            None => member["type"] != "array" || value.is_array(),
        };
        if fits {
            meet(member, value, met);
        }
    }
}

fn met(stream: &Stream, met: &mut BTreeSet<String>) {
    for line in &stream.lines {
        meet_member(&BUNDLE, line, met);
        // The lines of background agents are lines of the same kind.
        let mut inner = &line["event"];
        while inner.is_object() {
            meet_member(&BUNDLE, inner, met);
            inner = &inner["event"];
        }
    }
}

/// Runs that between them write all that can be written.
pub(crate) fn runs() -> Vec<Stream> {
    let world = World::new();
    world.file("notes.txt", "one\n");
    let everything = json!([
        { "blocks": [
            { "thinking": "Hm.", "signature": "c2ln" },
            { "redacted": "b3BhcXVl" },
            { "text": "All at once." },
            call("read", "call_1", &json!({ "path": "notes.txt" })),
            call("bash", "call_2", &json!({ "command": "echo hi" })),
            json!({ "tool": "read", "id": "call_3", "args_text": "{" }),
        ], "usage": { "input": 1, "output": 2, "cache_read": 3, "cache_write": 4, "reasoning": 1 }},
        { "blocks": [{ "text": "cut" }], "stop": "max_tokens" },
    ]);
    let mut runs = vec![world.offline(&everything).arg("hi").run().stream()];
    let body = |kind: &str, message: &str| json!({ "error": { "type": kind, "message": message } });
    let quota = body(
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
    );
    let troubles = [
        json!({ "error": "overloaded" }),
        json!({ "error": "rate_limit" }),
        json!({ "error": "overflow" }),
        json!({ "error": "auth" }),
        json!({ "error": "server" }),
        json!({ "status": 400, "body": body("invalid_request_error", "no") }),
        json!({ "status": 429, "body": quota }),
        json!({ "blocks": [{ "text": "no" }], "stop": "refusal" }),
        json!({ "blocks": [{ "text": "cut" }], "abort_after": 1 }),
    ];
    runs.extend(troubles.map(|step| world.offline(&json!([step])).arg("hi").run().stream()));
    runs.push(world.quipu().arg("--nonsense").run().stream());
    runs.push(world.quipu().arg("hi").run().stream());
    runs.push(
        world
            .quipu()
            .args(["--model", "anthropic/x", "hi"])
            .run()
            .stream(),
    );
    let mut live = world
        .offline(&json!([bash("sleep 60"), text("never")]))
        .arg("hi")
        .live();
    live.until("tool_execution_start");
    live.signal(Signal::TERM);
    runs.push(live.end().stream());
    let mut live = world
        .offline(&json!([{ "hang_ms": 60_000 }]))
        .arg("hi")
        .live();
    live.until("message_end");
    live.signal(Signal::HUP);
    runs.push(live.end().stream());
    let levels = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];
    runs.extend(levels.map(|level| {
        world
            .offline(&json!([text("ok")]))
            .args(["--thinking", level, "hi"])
            .run()
            .stream()
    }));
    runs.extend(anthropic::runs());
    runs.extend(google::runs());
    world.config(
        "settings.json",
        json!({ "httpIdleTimeoutMs": 100, "retry": { "enabled": false } }).to_string(),
    );
    let stalls = json!([{ "blocks": [{ "text": "It stalls", "chunk": 2 }], "hang_ms": 60_000, "hang_after": 1 }]);
    runs.push(world.offline(&stalls).arg("hi").run().stream());
    runs.extend(retries::runs());
    runs.extend(fallbacks::runs());
    runs.extend(resume::runs());
    runs.extend(thinking::runs());
    runs.extend(compactions::runs());
    runs.extend(background::runs());
    runs.extend(arbiter::runs());
    let limited = json!([bash("true"), text("never")]);
    runs.push(
        world
            .offline(&limited)
            .args(["--max-turns", "1", "hi"])
            .run()
            .stream(),
    );
    let no_folder = ["--session-dir", "/dev/null/sessions", "hi"];
    runs.push(world.offline(&json!([])).args(no_folder).run().stream());
    world.file("red.png", PNG);
    runs.push(
        world
            .offline(&json!([text("Red.")]))
            .args(["@red.png", "hi"])
            .run()
            .stream(),
    );
    runs
}

#[test]
fn the_list_of_what_is_never_written_is_true() {
    let listed = include_str!("unreached.txt").lines();
    let listed: BTreeSet<String> = listed
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(Into::into)
        .collect();
    let mut written = BTreeSet::new();
    for stream in runs() {
        met(&stream, &mut written);
    }
    let known = known();
    let found = |what: &str, names: Vec<&String>| {
        let names = names
            .into_iter()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\n");
        assert!(names.is_empty(), "{what}:\n{names}");
    };
    found(
        "nothing has such a name; take it off unreached.txt",
        listed.difference(&known).collect(),
    );
    found(
        "this is written now; take it off unreached.txt",
        listed.intersection(&written).collect(),
    );
    let unmet: BTreeSet<String> = known.difference(&written).cloned().collect();
    let text = "nothing writes this any more, or nothing yet; add a run to coverage.rs that does";
    found(text, unmet.difference(&listed).collect());
    let events = listed
        .iter()
        .filter(|name| name.split('.').next().unwrap().ends_with("Event"));
    let early = events.filter(|name| !TO_COME.iter().any(|part| name.starts_with(part)));
    found("an event of the core has to be written", early.collect());
}
