//! Bad input of every kind: a legal stream all the same, and a word on how to repair it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use serde_json::{Value, json};

use crate::check::{Stream, text_at};
use crate::harness::{Quipu, World};
use crate::script::{bash, call, text, tool};

/// A run that cannot start: its exit status, its code, and words that its message has to hold.
#[track_caller]
pub(crate) fn refused(quipu: Quipu, exit: i32, code: &str, words: &[&str]) {
    let run = quipu.run();
    let stream = run.stream();
    assert_eq!(stream.kinds(), ["session", "stream_end"]);
    assert_eq!(
        (run.code(), stream.error_code()),
        (exit, code),
        "{}",
        stream.error_message()
    );
    assert_eq!(stream.end()["error"]["retryable"], false);
    for word in words {
        assert!(
            stream.error_message().contains(word),
            "{word:?} is not in {}",
            stream.error_message()
        );
        assert!(
            run.stderr.contains(word),
            "{word:?} is not in {}",
            run.stderr
        );
    }
}

#[test]
fn unknown_flag() {
    let world = World::new();
    refused(
        world.quipu().args(["--modle", "offline", "hi"]),
        2,
        "usage",
        &["--modle", "--model"],
    );
    refused(world.quipu().args(["--modle=x"]), 2, "usage", &["--model"]);
}

#[test]
fn unknown_value() {
    let world = World::new();
    let offline = || world.offline(&json!([]));
    let thinking = offline().args(["--thinking", "hihg", "hi"]);
    refused(thinking, 2, "usage", &["--thinking", "hihg", "high"]);
    let events = offline().args(["--events", "turn_end,mesage_end", "hi"]);
    refused(events, 2, "usage", &["mesage_end", "message_end"]);
    let tools = offline().args(["--tools", "raed", "hi"]);
    refused(tools, 2, "usage", &["raed", "read"]);
    let wire = offline().args(["--wire", "qiupu", "hi"]);
    refused(wire, 2, "usage", &["qiupu", "quipu"]);
}

#[test]
fn missing_value_and_contradiction() {
    let world = World::new();
    refused(
        world.quipu().args(["hi", "--model"]),
        2,
        "usage",
        &["--model"],
    );
    let both = world
        .offline(&json!([]))
        .args(["--tools", "read", "--no-tools", "hi"]);
    refused(both, 2, "usage", &["--no-tools"]);
}

#[test]
fn unknown_mode_is_no_stream() {
    let run = World::new().bare().args(["--mode", "jsno", "hi"]).run();
    assert_eq!((run.code(), run.stdout.as_slice()), (2, &b""[..]));
    assert!(run.stderr.contains("json"), "{}", run.stderr);
}

#[test]
fn help_and_version_go_where_they_belong() {
    let world = World::new();
    let run = world.bare().arg("--version").run();
    assert_eq!(run.code(), 0);
    assert!(String::from_utf8_lossy(&run.stdout).contains(env!("CARGO_PKG_VERSION")));
    let run = world.bare().arg("--help").run();
    assert!(String::from_utf8_lossy(&run.stdout).contains("--mode"));
}

#[test]
fn prompt_that_is_no_text() {
    let world = World::new();
    let prompt = OsString::from_vec(b"caf\xe9".to_vec());
    refused(
        world.offline(&json!([])).arg(prompt),
        2,
        "usage",
        &["UTF-8"],
    );
}

#[test]
fn no_prompt_at_all() {
    refused(World::new().offline(&json!([])), 2, "usage", &["prompt"]);
    refused(
        World::new().offline(&json!([])).input(" \n"),
        2,
        "usage",
        &["prompt"],
    );
}

#[test]
fn standard_input_that_is_no_utf8_is_still_a_prompt() {
    let run = World::new()
        .offline(&json!([text("ok")]))
        .input(*b"caf\xe9")
        .run();
    let stream = run.stream();
    assert_eq!(
        text_at(stream.messages("user")[0], "/content/0/text"),
        "caf\u{fffd}"
    );
}

#[test]
fn deleted_working_directory() {
    let world = World::new();
    let quipu = world.offline(&json!([])).arg("hi").in_deleted_directory();
    refused(quipu, 2, "usage", &["directory"]);
}

#[test]
fn no_model() {
    let world = World::new();
    refused(
        world.quipu().arg("hi"),
        3,
        "configuration",
        &["--model offline", "settings.json"],
    );
}

#[test]
fn unknown_model() {
    let world = World::new();
    world.config("models.json", local("anthropic-messages").to_string());
    let quipu = world
        .quipu()
        .args(["--model", "local/smal", "--api-key", "k", "hi"]);
    let run = quipu.run();
    // A provider may know models that the file does not list; nobody listens at this one.
    assert_eq!(run.stream().error_code(), "network");
    let quipu = world.quipu().args(["--model", "smalll", "hi"]);
    refused(quipu, 2, "usage", &["smalll", "local/small"]);
}

#[test]
fn no_key() {
    let world = World::new();
    let quipu = world
        .quipu()
        .args(["--model", "anthropic/some-model", "hi"]);
    refused(
        quipu,
        3,
        "credentials",
        &["ANTHROPIC_API_KEY", "--api-key", "--model offline"],
    );
}

fn local(api: &str) -> Value {
    json!({ "providers": { "local": {
        "baseUrl": "http://127.0.0.1:9", "api": api, "models": [{ "id": "small" }],
    }}})
}

#[test]
fn models_file_with_broken_syntax() {
    let world = World::new();
    world.config(
        "models.json",
        "{\n  \"providers\": {\n    \"local\": {,}\n  }\n}\n",
    );
    let quipu = world.quipu().args(["--model", "local/small", "hi"]);
    refused(quipu, 3, "configuration", &["models.json", "3:"]);
}

#[test]
fn models_file_with_a_wrong_field() {
    let world = World::new();
    let mut file = local("anthropic-messages");
    file["providers"]["local"]["models"][0]["contextWindow"] = "big".into();
    world.config("models.json", serde_json::to_string_pretty(&file).unwrap());
    let quipu = world.quipu().args(["--model", "local/small", "hi"]);
    let words = [
        "models.json",
        "providers.local.models[0].contextWindow",
        "number",
    ];
    refused(quipu, 3, "configuration", &words);
}

#[test]
fn unsupported_entries_matter_only_when_selected() {
    let world = World::new();
    let mut file = local("telepathy");
    file["providers"]["local"]["surprise"] = true.into();
    world.config("models.json", file.to_string());
    let run = world.offline(&json!([text("ok")])).arg("hi").run();
    assert_eq!((run.stream().outcome(), run.code()), ("completed", 0));
    let quipu = world
        .quipu()
        .args(["--model", "local/small", "--api-key", "k", "hi"]);
    refused(
        quipu,
        3,
        "configuration",
        &["telepathy", "anthropic-messages"],
    );
}

#[test]
fn broken_settings_file() {
    let world = World::new();
    world.config("settings.json", "{ \"defaultModel\": 7 }");
    let quipu = world.offline(&json!([])).arg("hi");
    refused(
        quipu,
        3,
        "configuration",
        &["settings.json", "defaultModel"],
    );
}

#[test]
fn broken_scenarios() {
    let world = World::new();
    refused(
        world.script("{ \"steps\": [,] }").arg("hi"),
        2,
        "usage",
        &["scenario.json", "line 1"],
    );
    let unknown = json!({ "steps": [{ "blcoks": [] }] }).to_string();
    refused(
        world.script(&unknown).arg("hi"),
        2,
        "usage",
        &["scenario.json", "blcoks"],
    );
    let wrong = json!({ "steps": [{ "blocks": [{ "text": 7 }] }] }).to_string();
    refused(
        world.script(&wrong).arg("hi"),
        2,
        "usage",
        &["scenario.json", "steps[0].blocks[0].text"],
    );
    let quipu = world
        .quipu()
        .args(["--model", "offline", "--script", "nowhere.json", "hi"]);
    refused(quipu, 2, "usage", &["nowhere.json"]);
}

/// A run that ends well whatever the model or a tool sent.
#[track_caller]
fn survives(world: &World, steps: &Value) -> Stream {
    let run = world.offline(steps).arg("hi").run();
    let stream = run.stream();
    assert_eq!((stream.outcome(), run.code()), ("completed", 0));
    stream
}

#[test]
fn lone_surrogates() {
    let world = World::new();
    let scenario = r#"{ "steps": [{ "blocks": [
        { "text": "a\ud83db\ude00c\ud83d\ude00" },
        { "thinking": "\ud83d" },
        { "tool": "bash", "id": "call_1", "args_text": "{\"command\": \"printf '%s' '\\ud83dx'\"}" }
    ]}, { "blocks": [{ "text": "ok" }] }] }"#;
    let run = world.script(scenario).arg("hi").run();
    let stream = run.stream();
    assert_eq!(stream.answers(), ["a\u{fffd}b\u{fffd}c😀", "ok"]);
    assert_eq!(stream.results(), ["\u{fffd}x"]);
}

#[test]
fn broken_arguments_are_never_executed() {
    let world = World::new();
    let texts = [
        r#"{"command": "touch trace"#,
        r#"{"command": "touch trace"}}"#,
        r#"["touch trace"]"#,
        r#"{"command": "touch trace", "timeout": 1e}"#,
        "null",
        "\u{0}",
    ];
    let blocks: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(n, args)| json!({ "tool": "bash", "id": format!("call_{n}"), "args_text": args }))
        .collect();
    let stream = survives(&world, &json!([{ "blocks": blocks }, text("ok")]));
    let ends = stream.of("tool_execution_end");
    assert_eq!(ends.len(), texts.len());
    assert!(ends.iter().all(|end| end["isError"] == true));
    assert!(!world.work().join("trace").exists());
}

#[test]
fn empty_answers() {
    let empty = json!({ "blocks": [] });
    let blank = json!({ "blocks": [{ "text": "" }, { "thinking": "" }] });
    let stream = survives(&World::new(), &json!([empty]));
    assert_eq!(stream.messages("assistant")[0]["content"], json!([]));
    survives(&World::new(), &json!([blank]));
}

#[test]
fn ten_megabytes_in_one_delta() {
    let text = "mostly é".repeat((10 << 20) / 8);
    let step = json!({ "blocks": [{ "text": text, "chunk": text.len() }] });
    let stream = survives(&World::new(), &json!([step]));
    let deltas = stream.deltas("text_delta");
    assert_eq!(deltas.len(), 1);
    assert_eq!(text_at(deltas[0], "/delta").len(), text.len());
}

#[test]
fn duplicate_and_empty_call_ids() {
    let world = World::new();
    let echo = |id: &str, n: usize| call("bash", id, &json!({ "command": format!("echo {n}") }));
    let blocks = json!({ "blocks": [echo("same", 1), echo("same", 2), echo("", 3), echo("", 4)] });
    let again = json!({ "blocks": [echo("same", 5)] });
    let stream = survives(&world, &json!([blocks, again, text("ok")]));
    let ids: Vec<&str> = stream
        .of("tool_execution_start")
        .iter()
        .map(|line| text_at(line, "/toolCallId"))
        .collect();
    assert_eq!(ids.len(), 5);
    assert!(ids.iter().all(|id| !id.is_empty()));
    let first: std::collections::BTreeSet<&&str> = ids[..4].iter().collect();
    assert_eq!(first.len(), 4, "{ids:?}");
    let mut results = stream.results();
    results.sort_unstable();
    assert_eq!(
        results,
        ["1\n", "2\n", "3\n", "4\n", "5\n"].map(|n| results_like(&stream, n))
    );
}

/// A command's output, with or without its last line feed.
fn results_like<'a>(stream: &Stream, text: &'a str) -> &'a str {
    if stream.results().contains(&text) {
        text
    } else {
        text.trim_end()
    }
}

/// Runs a command, whose result must be bounded; gives the result's text and details.
#[track_caller]
fn output_of(world: &World, command: &str) -> (String, Value) {
    let args = json!({ "command": command, "timeout": 20 });
    let stream = survives(world, &json!([tool("bash", "call_1", &args), text("ok")]));
    let end = stream.of("tool_execution_end")[0].clone();
    let said = text_at(&end, "/result/content/0/text").to_owned();
    assert!(said.len() < 60_000, "{} bytes", said.len());
    for update in stream.of("tool_execution_update") {
        assert!(text_at(update, "/partialResult/content/0/text").len() < 60_000);
    }
    (said, end["result"]["details"].clone())
}

#[test]
fn fifty_megabytes_of_output() {
    let world = World::new();
    let (said, details) = output_of(
        &world,
        "yes 0123456789abcde | head -c 50000000; echo the end",
    );
    assert!(said.contains("the end"), "{}", &said[said.len() - 300..]);
    let full = text_at(&details, "/fullOutputPath");
    assert!(
        said.contains(full) && full.starts_with(world.tmp().to_str().unwrap()),
        "{full}"
    );
    assert_eq!(std::fs::metadata(full).unwrap().len(), 50_000_000 + 8);
}

#[test]
fn one_line_of_megabytes() {
    let command =
        "head -c 5000000 /dev/zero | tr '\\0' x; head -c 500000 /dev/zero | tr '\\0' '\\377'";
    let (said, _) = output_of(&World::new(), command);
    assert!(said.contains('\u{fffd}'), "{said:.300}");
}

#[test]
fn binary_output() {
    output_of(&World::new(), "head -c 300000 /dev/urandom");
}

#[test]
fn nul_and_ansi_output() {
    let command = r"printf 'a\0b\033[1;31mred\033[0m \033]0;title\007caf\351\n10%%\r20%%\r\nend\n'";
    let (said, _) = output_of(&World::new(), command);
    assert!(
        !said.contains(|c: char| c.is_control() && c != '\n'),
        "{said:?}"
    );
    assert!(
        said.contains("red") && said.contains("caf\u{fffd}\n20%\nend"),
        "{said:?}"
    );
}

#[test]
fn endless_output_into_its_timeout() {
    let args = json!({ "command": "yes", "timeout": 1 });
    let stream = survives(
        &World::new(),
        &json!([tool("bash", "call_1", &args), text("ok")]),
    );
    assert_eq!(stream.of("tool_execution_end")[0]["isError"], true);
    assert!(stream.results()[0].len() < 60_000);
}

#[test]
fn files_that_never_end() {
    let world = World::new();
    let fifo = world.work().join("fifo");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let steps = json!([{ "blocks": [
        call("read", "call_1", &json!({ "path": "/dev/zero" })),
        call("read", "call_2", &json!({ "path": "fifo" })),
        call("read", "call_3", &json!({ "path": "." })),
    ]}, text("ok")]);
    let stream = survives(&world, &steps);
    assert!(
        stream
            .of("tool_execution_end")
            .iter()
            .all(|end| end["isError"] == true)
    );
}

#[test]
fn scenarios_that_never_end() {
    let world = World::new();
    let fifo = world.work().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    for file in [fifo.to_str().unwrap(), "/dev/zero", "."] {
        let quipu = world
            .quipu()
            .args(["--model", "offline", "--script", file, "hi"]);
        refused(quipu, 2, "usage", &[file, "regular file"]);
    }
}

#[test]
fn a_command_that_leaves_something_behind() {
    let world = World::new();
    let stream = survives(
        &world,
        &json!([bash("sleep 300 & echo $! > pid; echo ok"), text("ok")]),
    );
    assert!(stream.results()[0].contains("ok"));
    crate::live::assert_gone(&[world.read("pid").trim().to_owned()]);
}
