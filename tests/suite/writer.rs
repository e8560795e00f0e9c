//! The writer keeps its promises to readers of every kind.

use std::fs::File;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::check::{check, kind, text_at};
use crate::harness::{Quipu, Run, World};
use crate::live::assert_gone;
use crate::schema;
use crate::script::{bash, text, tool};

/// An answer of so many deltas of 12 characters.
fn deltas(count: usize) -> Value {
    json!([{ "blocks": [{ "text": "twelve chars", "repeat": count }] }])
}

#[test]
fn a_slow_reader_gets_every_line() {
    let mut live = World::new().offline(&deltas(400)).arg("hi").live();
    for _ in 0..200 {
        assert!(live.take(7));
        thread::sleep(Duration::from_millis(1));
    }
    let stream = live.end().stream();
    assert_eq!(stream.deltas("text_delta").len(), 400);
}

#[test]
fn a_reader_that_pauses_is_waited_for() {
    let mut live = World::new().offline(&deltas(5000)).arg("hi").live();
    live.until("text_delta");
    thread::sleep(Duration::from_millis(1500));
    let stream = live.end().stream();
    assert_eq!(stream.deltas("text_delta").len(), 5000);
}

#[test]
fn lines_of_five_megabytes_arrive_whole() {
    // Results of tools are bounded, what a model writes is not.
    let world = World::new();
    let content = "a line of text\n".repeat((5 << 20) / 15);
    let mut step = tool(
        "write",
        "call_1",
        &json!({ "path": "big.txt", "content": content }),
    );
    step["chunk"] = (1 << 20).into();
    let run = world.offline(&json!([step, text("ok")])).arg("hi").run();
    let stream = run.stream();
    assert_eq!(
        stream.of("tool_execution_start")[0]["args"]["content"],
        content
    );
    assert_eq!(world.read("big.txt"), content);
}

#[test]
fn a_reader_that_goes_away_ends_the_run_and_its_children() {
    let world = World::new();
    let command = "echo $$ > shell.pid; sleep 300 & echo $! > sleep.pid; \
        while :; do echo more; sleep 0.05; done";
    let mut live = world.offline(&json!([bash(command)])).arg("hi").live();
    live.until_line(|line| text_at(line, "/partialResult/content/0/text").contains("more"));
    let run = live.hang_up();
    assert_eq!(run.stderr, "");
    assert_ne!(run.code(), 0);
    assert_gone(&["shell.pid", "sleep.pid"].map(|name| world.read(name).trim().to_owned()));
}

#[test]
fn a_reader_that_goes_away_is_missed_in_silence_too() {
    let world = World::new();
    let steps = json!([bash("echo $$ > shell.pid; echo ready; sleep 300")]);
    let mut live = world.offline(&steps).arg("hi").live();
    live.until_line(|line| text_at(line, "/partialResult/content/0/text").contains("ready"));
    live.hang_up();
    assert_gone(&[world.read("shell.pid").trim().to_owned()]);
}

#[test]
fn head_1() {
    let mut live = World::new().offline(&deltas(20_000)).arg("hi").live();
    assert_eq!(kind(&live.line().unwrap()), "session");
    let run = live.hang_up();
    assert_eq!(run.stderr, "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let run = World::new()
        .offline(&deltas(10))
        .arg("hi")
        .run_into(Stdio::from(full));
    assert_eq!(run.code(), 1);
    assert!(run.stderr.contains("space"), "{}", run.stderr);
}

#[test]
fn no_standard_output_at_all() {
    // The runtime of the language puts /dev/null in its place.
    let run = World::new()
        .offline(&deltas(10))
        .arg("hi")
        .without_stdout()
        .run();
    assert_eq!(
        (run.code(), run.stdout.as_slice(), run.stderr.as_str()),
        (0, &b""[..], "")
    );
}

#[test]
fn the_header_comes_before_standard_input_is_read() {
    let mut live = World::new()
        .offline(&json!([text("ok")]))
        .open_input()
        .live();
    assert_eq!(kind(&live.line().unwrap()), "session");
    live.input(b"late");
    let stream = live.end().stream();
    assert_eq!(
        text_at(stream.messages("user")[0], "/content/0/text"),
        "late"
    );
}

#[test]
fn a_silent_standard_input_does_not_hold_up_a_prompt() {
    let run = World::new()
        .offline(&json!([text("ok")]))
        .open_input()
        .arg("hi")
        .run();
    assert_eq!(run.stream().outcome(), "completed");
    assert!(run.stderr.contains("standard input"), "{}", run.stderr);
}

#[test]
fn lines_are_written_when_they_happen() {
    // The tool waits for a file that is made only after its start was read.
    let world = World::new();
    let command = "until [ -e go ]; do sleep 0.02; done; echo gone";
    let mut live = world
        .offline(&json!([bash(command), text("ok")]))
        .arg("hi")
        .live();
    live.until("tool_execution_start");
    world.file("go", "");
    assert!(live.end().stream().results()[0].contains("gone"));
}

#[test]
fn bytes_grow_as_the_deltas_do() {
    let bytes = |count: usize| {
        let run = World::new().offline(&deltas(count)).arg("hi").run();
        run.stream();
        run.stdout.len()
    };
    let (once, twice) = (bytes(1000), bytes(2000));
    assert!(twice * 100 <= once * 2 * 105, "{once} bytes, then {twice}");
    assert!(
        twice * 100 >= once * 180,
        "{once} bytes, then {twice}: are deltas lost?"
    );
}

/// Lines of a stream that is not whole on purpose.
fn lines(run: &Run) -> Vec<Value> {
    let text = std::str::from_utf8(&run.stdout).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(schema::findings(&lines), Vec::<String>::new());
    assert_eq!(lines.last().unwrap()["lines"], lines.len());
    lines
}

#[test]
fn events_can_be_selected() {
    let steps = json!([bash("echo hi"), text("ok")]);
    let whole = World::new().offline(&steps).arg("hi").run().stream();
    let run = |events: &str| {
        World::new()
            .offline(&steps)
            .args(["--events", events, "hi"])
            .run()
    };
    let kinds = |lines: &[Value]| {
        lines
            .iter()
            .map(|line| kind(line).to_owned())
            .collect::<Vec<_>>()
    };

    let progress = ["message_update", "tool_execution_update"];
    let expected: Vec<&str> = whole
        .kinds()
        .into_iter()
        .filter(|kind| !progress.contains(kind))
        .collect();
    assert_eq!(kinds(&lines(&run("final"))), expected);

    let expected = [
        "session",
        "tool_execution_start",
        "turn_end",
        "turn_end",
        "stream_end",
    ];
    let selected = lines(&run("turn_end,tool_execution_start"));
    assert_eq!(kinds(&selected), expected);
    // The sums are of the whole run, not of what was selected.
    assert_eq!(selected.last().unwrap()["usage"], whole.end()["usage"]);
    assert_eq!(selected.last().unwrap()["turns"], 2);

    check(&run("all").stdout).unwrap();
}

#[test]
fn lines_can_be_stamped() {
    let run = World::new()
        .offline(&deltas(20))
        .args(["--stamp", "hi"])
        .run();
    let lines = lines(&run);
    let mut bare = Vec::new();
    for (index, (line, text)) in lines
        .iter()
        .zip(String::from_utf8_lossy(&run.stdout).lines())
        .enumerate()
    {
        let at = line["at"].as_u64().unwrap();
        let stamp = format!(r#","seq":{index},"at":{at}"#);
        let place = r#"{"type":""#.len() + kind(line).len() + 1;
        assert_eq!(text.find(&stamp), Some(place), "{text}");
        bare.extend_from_slice(
            format!("{}{}\n", &text[..place], &text[place + stamp.len()..]).as_bytes(),
        );
    }
    let times: Vec<u64> = lines
        .iter()
        .map(|line| line["at"].as_u64().unwrap())
        .collect();
    assert!(
        times.is_sorted() && times[0] > 1_600_000_000_000,
        "{times:?}"
    );
    check(&bare).unwrap();
}

#[test]
fn the_header_tells_of_the_schema() {
    use sha2::{Digest as _, Sha256};
    let world = World::new();
    let stream = world.offline(&json!([text("ok")])).arg("hi").run().stream();
    let about = &stream.header()["stream"];
    let hash = Sha256::digest(schema::STRICT.as_bytes());
    let hash = hash
        .iter()
        .fold(String::new(), |hash, byte| format!("{hash}{byte:02x}"));
    assert_eq!(about["schema"], format!("sha256:{hash}"));
    assert_eq!(
        about["version"],
        include_str!("../../schema/VERSION").trim()
    );
    assert_eq!(stream.header()["cwd"], world.work().to_str().unwrap());
    let time = text_at(stream.header(), "/timestamp");
    assert!(
        time.len() == 24 && time.ends_with('Z') && time.as_bytes()[19] == b'.',
        "{time}"
    );
}

#[test]
fn no_secret_is_told() {
    let world = World::new();
    let models = json!({ "providers": {
        "anthropic": { "apiKey": "canary-in-the-models-file" },
        "other": {
            "baseUrl": "http://127.0.0.1:9", "api": "anthropic-messages", "apiKey": "OTHER_VARIABLE",
            "headers": { "x-token": "THIRD_VARIABLE" }, "models": [{ "id": "m" }],
        },
    }});
    world.config("models.json", models.to_string());
    let run = |quipu: Quipu| {
        let run = quipu
            .env("ANTHROPIC_API_KEY", "canary-in-the-environment")
            .env("OPENAI_API_KEY", "canary-for-another-service")
            .env("OTHER_VARIABLE", "canary-in-another-variable")
            .env("THIRD_VARIABLE", "canary-in-a-third-variable")
            .env("HARMLESS", "as it was")
            .args(["--api-key", "canary-on-the-command-line", "hi"])
            .run();
        let told = String::from_utf8_lossy(&run.stdout).into_owned() + &run.stderr;
        let told = told.replace("canary-in-th is none", "");
        let at = told
            .find("canary-in-the-")
            .or(told.find("canary-on-the-"))
            .or(told.find("canary-for-"))
            .or(told.find("canary-in-a"))
            .map(|at| &told[at.saturating_sub(80)..at + 30]);
        assert_eq!(at, None);
        run.stream()
    };
    world.config(
        "auth.json",
        json!({ "groq": { "type": "api_key", "key": "canary-in-the-key-file" } }).to_string(),
    );
    // What a tool can read it can show: the files, and the process that runs it.
    let spy = "env; cat $QUIPU_HOME/*.json; tr '\\0' '\\n' < /proc/$PPID/environ; \
               tr '\\0' ' ' < /proc/$PPID/cmdline";
    let echo = json!({ "status": 400, "body": { "error": { "type": "invalid_request_error",
                       "message": "no canary-on-the-command-line here" } } });
    let leak = json!({ "chunk": 3, "blocks": [
        { "text": "The key is canary-in-the-environment, and canary-in-th is none." },
        { "tool": "bash", "args": { "command": "echo canary-in-another-variable" } },
    ]});
    let stream = run(world
        .offline(&json!([bash(spy), leak, echo]))
        .arg("say canary-in-the-models-file"));
    assert!(
        stream.results()[0].contains("HARMLESS=as it was"),
        "{}",
        stream.results()[0]
    );
    assert_eq!(
        run(world.quipu().args(["--model", "other/m"])).error_code(),
        "network"
    );
    assert_eq!(
        run(world
            .quipu()
            .args(["--model", "other/m", "--thinking", "x"]))
        .error_code(),
        "usage"
    );
    assert_eq!(
        run(world.quipu().args(["--model", "nowhere/m"])).outcome(),
        "failed"
    );
    let mut wrong = models;
    wrong["providers"]["anthropic"]["apiKey"] = json!(["canary-in-the-models-file"]);
    world.config("models.json", wrong.to_string());
    assert_eq!(
        run(world.quipu().args(["--model", "other/m"])).error_code(),
        "configuration"
    );
}

#[test]
fn no_report_of_a_running_tool_tells_most_of_a_secret() {
    let world = World::new();
    let slowly = "printf 'the key is canary-on-the-command-lin'; sleep 0.5; echo e";
    let run = world
        .offline(&json!([bash(slowly), text("ok")]))
        .args(["--api-key", "canary-on-the-command-line", "hi"])
        .run();
    let updates = run.stream().of("tool_execution_update").len();
    assert!(updates > 1, "the tool reports while it runs");
    assert!(!String::from_utf8_lossy(&run.stdout).contains("\"the key is canary"));
    assert_eq!(run.stream().results(), ["the key is <redacted>"]);
}
