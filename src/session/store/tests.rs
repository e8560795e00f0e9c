use std::fs;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::contract::SESSION_STRICT;
use crate::event::sample;
use crate::session::testing::{answer, header, message, user};

fn store() -> (TempDir, SessionStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = SessionStore::create(folder.path(), &header()).unwrap();
    (folder, store)
}

fn lines(store: &SessionStore) -> Vec<Value> {
    let text = fs::read_to_string(store.path().unwrap()).unwrap();
    assert!(text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn fresh(store: &mut SessionStore) {
    let model = ModelRef {
        provider: "offline".into(),
        id: "offline".into(),
    };
    store.append_model_change(&model).unwrap();
    store.append_thinking_level(ThinkingLevel::Off).unwrap();
    store.append_name(" a\r\nname\n").unwrap();
    store.append_message(&user("hi")).unwrap();
}

#[test]
fn a_model_that_takes_over_is_stored_with_the_one_before() {
    let (_folder, mut store) = store();
    fresh(&mut store);
    let model = |id: &str| ModelRef {
        provider: "p".into(),
        id: id.into(),
    };
    store.append_fallback(&model("b"), &model("a")).unwrap();
    store.append_message(&answer("stop")).unwrap();
    let lines = lines(&store);
    let told = |at: usize, name: &str| lines[at][name].as_str().map(str::to_owned);
    let names = ["modelId", "reason", "originalProvider", "originalModelId"];
    let last = lines.len() - 2;
    let expected = ["b", "fallback", "p", "a"].map(|name| Some(name.to_owned()));
    assert_eq!(names.map(|name| told(last, name)), expected);
    assert_eq!(names[1..].iter().find_map(|name| told(1, name)), None);
}

#[test]
fn a_session_is_one_chain_of_valid_lines() {
    let (_folder, mut store) = store();
    fresh(&mut store);
    store.append_message(&answer("stop")).unwrap();
    store
        .append_message(&message(json!({
            "role": "toolResult", "toolCallId": "c", "toolName": "read", "content": [],
            "details": {}, "isError": false, "timestamp": 3,
        })))
        .unwrap();
    let last = store
        .append_message(&message(sample::custom("careful")))
        .unwrap();

    assert_eq!(
        store.path().unwrap().file_name().unwrap(),
        "2026-09-21T14-13-20-000Z_01997f3c-6a00-7c31-9a55-0c2f3b1d2e10.jsonl"
    );
    let lines = lines(&store);
    let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str()).collect();
    let expected = [
        "session",
        "model_change",
        "thinking_level_change",
        "session_info",
        "message",
        "message",
        "message",
        "custom_message",
    ];
    assert_eq!(kinds, expected.map(Some));

    let witness = jsonschema::draft202012::new(&serde_json::from_str(SESSION_STRICT).unwrap());
    let witness = witness.unwrap();
    let mut parent = Value::Null;
    for (i, line) in lines.iter().enumerate() {
        let errors: Vec<_> = witness.iter_errors(line).map(|e| e.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{line}");
        let entry: SessionEntry = serde_json::from_str(&line.to_string()).unwrap();
        assert_eq!(serde_json::to_string(&entry).unwrap(), line.to_string());
        if i > 0 {
            assert_eq!(line["parentId"], parent);
            parent = line["id"].clone();
            let id = parent.as_str().unwrap();
            assert!(
                id.len() == 8 && id.bytes().all(|b| b.is_ascii_hexdigit()),
                "{id}"
            );
        }
    }
    assert_eq!(parent, last);
    assert_eq!(lines[3]["name"], "a name");
    let keys: Vec<_> = lines[7].as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "type",
            "customType",
            "content",
            "display",
            "id",
            "parentId",
            "timestamp"
        ]
    );
}

#[test]
fn there_is_a_file_from_the_first_message_on() {
    let (folder, mut store) = store();
    let count = || fs::read_dir(folder.path()).unwrap().count();
    store.append_name("a name").unwrap();
    store.append_custom("x", None).unwrap();
    assert_eq!(count(), 0);
    store.append_message(&user("hi")).unwrap();
    assert_eq!(lines(&store).len(), 4);
    drop(store);
    assert_eq!(count(), 1);
}

#[test]
fn a_file_that_was_made_for_nothing_is_taken_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let begun = || {
        let mut store = SessionStore::create_at(&path, &header()).unwrap();
        store.append_name("a name").unwrap();
        store.make().unwrap();
        assert_eq!(lines(&store).len(), 2);
        store
    };
    let store = begun();
    let mut rival = SessionStore::create_at(&path, &header()).unwrap();
    let error = rival.make().unwrap_err();
    assert!(matches!(error, SessionError::Exists { .. }), "{error}");
    drop(rival);
    assert!(path.exists());
    drop(store);
    assert!(!path.exists());

    let mut store = begun();
    store.append_message(&user("hi")).unwrap();
    drop(store);
    let copied = SessionStore::fork(&path, folder.path(), &header()).unwrap();
    let copy = copied.store.path().unwrap().to_owned();
    assert!(copy.exists());
    drop(copied);
    assert!(path.exists() && !copy.exists());

    // What is not ours is left alone.
    fs::remove_file(&path).unwrap();
    let store = begun();
    fs::remove_file(&path).unwrap();
    fs::write(&path, "another").unwrap();
    drop(store);
    assert!(path.exists());
}

#[test]
fn each_later_entry_is_on_disk_when_it_is_appended() {
    let (_folder, mut store) = store();
    store.append_message(&answer("stop")).unwrap();
    for n in 0..3 {
        let id = store.append_message(&user("again")).unwrap();
        let lines = lines(&store);
        assert_eq!(lines.len(), n + 3);
        assert_eq!(lines[n + 2]["id"], id);
    }
}

#[test]
fn memory_keeps_ids_and_no_file() {
    let mut store = SessionStore::in_memory();
    fresh(&mut store);
    let first = store.append_message(&answer("stop")).unwrap();
    let second = store.append_message(&user("again")).unwrap();
    assert_ne!(first, second);
    assert_eq!(store.path(), None);
}

#[test]
fn an_entry_that_was_not_written_is_not_part_of_the_session() {
    let (_folder, mut store) = store();
    let name = store.append_name("a name").unwrap();
    let path = store.path().unwrap().to_owned();
    fs::write(&path, "in the way").unwrap();
    assert!(store.append_message(&user("lost")).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "in the way");
    fs::remove_file(&path).unwrap();
    store.append_message(&user("hi")).unwrap();
    assert_eq!(lines(&store)[2]["parentId"], name);
    let kept = store.append_message(&answer("length")).unwrap();
    assert_eq!(lines(&store).len(), 4);

    let whole = fs::read(&path).unwrap();
    fs::write(&path, "changed").unwrap();
    assert!(store.append_message(&user("lost")).is_err());
    fs::write(&path, whole).unwrap();
    store.append_message(&user("kept")).unwrap();
    let lines = lines(&store);
    assert_eq!(lines.len(), 5);
    assert_eq!(lines[3]["message"]["stopReason"], "length");
    assert_eq!(lines[4]["parentId"], kept);
}

#[test]
fn a_folder_that_cannot_be_used_is_an_error_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    for place in [file.clone(), file.join("below")] {
        let error = SessionStore::create(&place, &header()).unwrap_err();
        assert!(matches!(error, SessionError::Folder { .. }), "{error}");
        assert_eq!(error.code(), crate::event::ErrorCode::Session);
    }
    let deep = folder.path().join("a/b/c");
    SessionStore::create(&deep, &header()).unwrap();
    assert!(deep.is_dir());
}
