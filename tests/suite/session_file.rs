//! Session files: what was announced is in them, and each line is one whole entry.

use std::path::{Path, PathBuf};

use quipu::contract::SESSION_STRICT;
use serde_json::{Value, json};

use crate::bad_input::refused;
use crate::check::{Stream, kind};
use crate::harness::World;
use crate::script::{bash, text, tool};

/// The session files below `folder`.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|ext| ext == "jsonl") {
            found.push(path);
        }
    }
    found
}

/// The lines of the one session file below `folder`, after a witness has judged them.
pub(crate) fn entries(folder: &Path) -> Vec<Value> {
    let files = files(folder);
    let [file] = &files[..] else {
        panic!("not one session file: {files:?}")
    };
    entries_of(file)
}

/// The lines of a session file, after a witness has judged them.
pub(crate) fn entries_of(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.ends_with('\n'), "half a line: {text}");
    let schema = serde_json::from_str(SESSION_STRICT).unwrap();
    let witness = jsonschema::draft202012::new(&schema).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut parent = Value::Null;
    for (number, line) in lines.iter().enumerate() {
        let errors: Vec<String> = witness.iter_errors(line).map(|e| e.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{line}");
        if number > 0 {
            assert_eq!(line["parentId"], parent, "{line}");
            parent = line["id"].clone();
        }
    }
    lines
}

pub(crate) fn stored(entries: &[Value]) -> Vec<&Value> {
    let messages = entries.iter().filter(|entry| kind(entry) == "message");
    messages.map(|entry| &entry["message"]).collect()
}

pub(crate) fn announced(stream: &Stream) -> Vec<&Value> {
    let ends = stream.of("message_end").into_iter();
    ends.map(|event| &event["message"]).collect()
}

pub(crate) fn sessions(world: &World) -> PathBuf {
    world.root().join("config/sessions")
}

#[test]
fn a_session_holds_what_the_stream_told() {
    let world = World::new();
    world.file("notes.txt", "a note\n");
    let steps = json!([
        tool("read", "call_1", &json!({ "path": "notes.txt" })),
        text("Read."),
        text("Again."),
    ]);
    let run = world
        .offline(&steps)
        .args(["--name", " my\nnotes ", "read", "again"]);
    let stream = run.run().stream();
    let entries = entries(&sessions(&world));

    let mut header = stream.header().clone();
    header.as_object_mut().unwrap().shift_remove("stream");
    assert_eq!(entries[0], header);
    let kinds: Vec<&str> = entries[1..4].iter().map(kind).collect();
    assert_eq!(
        kinds,
        ["model_change", "thinking_level_change", "session_info"]
    );
    assert_eq!(entries[1]["provider"], "offline");
    assert_eq!(entries[3]["name"], "my notes");
    assert_eq!(stored(&entries), announced(&stream));
    assert_eq!(stored(&entries).len(), 6);

    let id = header["id"].as_str().unwrap();
    let file = files(&sessions(&world)).remove(0);
    let work = world.work().display().to_string();
    let folder = file
        .parent()
        .unwrap()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap();
    assert_eq!(folder, format!("--{}--", work[1..].replace('/', "-")));
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(name.ends_with(&format!("Z_{id}.jsonl")), "{name}");
}

#[test]
fn a_key_in_the_name_is_taken_out() {
    let world = World::new();
    let key = "sk-test-0123456789abcdef";
    let run = world
        .offline(&json!([text("Hi.")]))
        .env("OPENAI_API_KEY", key);
    let name = format!("about {key} only");
    run.args(["--name", &name, "hi"]).run().stream();
    let entries = entries(&sessions(&world));
    assert_eq!(entries[3]["name"], "about <redacted> only");
}

#[test]
fn an_answer_is_on_disk_before_its_calls_run() {
    let world = World::new();
    let steps = json!([
        bash("cat \"$QUIPU_HOME\"/sessions/*/*.jsonl"),
        text("Seen.")
    ]);
    let stream = world.offline(&steps).args(["hi"]).run().stream();
    let [seen] = stream.results()[..] else {
        panic!("{:?}", stream.kinds())
    };
    let lines: Vec<Value> = seen
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(stored(&lines), announced(&stream)[..2]);
}

#[test]
fn a_failed_answer_is_kept_and_a_run_without_one_leaves_nothing() {
    let world = World::new();
    let steps = json!([{ "error": "auth" }]);
    let stream = world.offline(&steps).args(["hi"]).run().stream();
    assert_eq!(stream.outcome(), "failed");
    let entries = entries(&sessions(&world));
    assert_eq!(stored(&entries), announced(&stream));

    let world = World::new();
    refused(
        world.offline(&json!([])).args(["@no"]),
        2,
        "usage",
        &["@no"],
    );
    assert_eq!(files(world.root()), Vec::<PathBuf>::new());
}

#[test]
fn the_folder_is_the_user_s_choice() {
    let world = World::new();
    let run = |flags: &[&str]| {
        let quipu = world
            .offline(&json!([text("Hi.")]))
            .args(flags.iter().copied());
        quipu.arg("hi").run().stream();
    };
    run(&["--no-session"]);
    assert_eq!(files(world.root()), Vec::<PathBuf>::new());
    run(&["--session-dir", "a/b"]);
    assert_eq!(entries(&world.work()).len(), 5);
    world.config(
        "settings.json",
        json!({ "sessionDir": "~/kept" }).to_string(),
    );
    run(&[]);
    assert_eq!(entries(&world.root().join("home/kept")).len(), 5);
    assert_eq!(files(&sessions(&world)), Vec::<PathBuf>::new());
}

#[test]
fn a_folder_that_cannot_be_used_is_told_before_a_model_is_asked() {
    let world = World::new();
    world.file("file", "");
    let quipu = world.offline(&json!([text("Hi.")]));
    let quipu = quipu.args(["--session-dir", "file", "hi"]);
    refused(quipu, 1, "session", &["file", "--no-session"]);
    let quipu = world.offline(&json!([])).args(["--name", " ", "hi"]);
    refused(quipu, 2, "usage", &["--name"]);
}

#[test]
fn a_full_disk_ends_the_run_and_leaves_whole_lines() {
    let world = World::new();
    world.file("big.txt", "0123456789abcdef\n".repeat(1000));
    let steps = json!([
        tool("read", "call_1", &json!({ "path": "big.txt" })),
        text("Never asked."),
    ]);
    let run = world
        .offline(&steps)
        .args(["read"])
        .with_small_files(8)
        .run();
    let stream = run.stream();
    assert_eq!((run.code(), stream.error_code()), (1, "session"));
    assert!(
        run.stderr.contains("writing the session file"),
        "{}",
        run.stderr
    );
    let entries = entries(&sessions(&world));
    assert_eq!(stored(&entries).len(), 2);
    // The result that found no room is told only to close the stream.
    assert_eq!(stored(&entries), announced(&stream)[..2]);
}
