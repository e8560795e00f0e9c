mod cut;
mod foreign;
mod rules;

use std::path::PathBuf;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::event::{AgentMessage, CompactionResult, sample};
use crate::session::testing::{answer, header, header_of, message, user};

/// A session file with these lines.
fn stored(lines: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, lines).unwrap();
    (folder, path)
}

fn first_line() -> String {
    serde_json::to_string(&header()).unwrap()
}

/// An entry of type `message`.
fn said(id: &str, parent: &str, text: &str) -> String {
    json!({
        "type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:00.000Z",
        "message": sample::user(text),
    })
    .to_string()
}

fn file(lines: &[&str]) -> (TempDir, PathBuf) {
    let mut text = first_line() + "\n";
    for line in lines {
        text += line;
        text += "\n";
    }
    stored(&text)
}

/// Ids of the context, in order.
fn ids(resumed: &Resumed) -> Vec<&str> {
    resumed.context.iter().map(|e| e.id.as_str()).collect()
}

fn names(folder: &TempDir) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn kept(summary: &str, first: &str) -> CompactionResult {
    CompactionResult {
        summary: summary.to_owned(),
        first_kept_entry_id: first.to_owned(),
        tokens_before: 9,
        usage: None,
        details: None,
        estimated_tokens_after: None,
    }
}

#[test]
fn a_session_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = SessionStore::create(folder.path(), &header()).unwrap();
    let model = ModelRef {
        provider: "p".into(),
        id: "first".into(),
    };
    store.append_model_change(&model).unwrap();
    store.append_thinking_level(ThinkingLevel::High).unwrap();
    store.append_name("a name").unwrap();
    let question = store.append_message(&user("hi")).unwrap();
    let reply = store.append_message(&answer("stop")).unwrap();
    let note = store
        .append_message(&message(sample::custom("careful")))
        .unwrap();
    let path = store.path().unwrap().to_owned();
    drop(store);

    let resumed = SessionStore::open(&path).unwrap();
    assert_eq!(ids(&resumed), [&question, &reply, &note]);
    assert_eq!(resumed.context[0].message, user("hi"));
    assert_eq!(resumed.context[1].message, answer("stop"));
    assert_eq!(resumed.header, header());
    let answered = ModelRef {
        provider: "offline".into(),
        id: "m".into(),
    };
    assert_eq!(resumed.model, Some(answered));
    assert_eq!(resumed.thinking, Some(ThinkingLevel::High));
    assert_eq!(resumed.name.as_deref(), Some("a name"));
    assert_eq!(resumed.warnings, Vec::<String>::new());

    let mut store = resumed.store;
    store.append_model_change(&model).unwrap();
    store.append_name("").unwrap();
    let last = store.append_message(&user("again")).unwrap();
    drop(store);
    let resumed = SessionStore::open(&path).unwrap();
    assert_eq!(ids(&resumed), [&question, &reply, &note, &last]);
    assert_eq!((resumed.model, resumed.name), (Some(model), None));
}

#[test]
fn a_compaction_stands_for_what_it_does_not_keep() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = SessionStore::create(folder.path(), &header()).unwrap();
    store.append_message(&user("old")).unwrap();
    store.append_message(&answer("stop")).unwrap();
    let two = store.append_message(&user("two")).unwrap();
    let first = store.append_compaction(&kept("first", &two)).unwrap();
    let three = store.append_message(&user("three")).unwrap();
    let path = store.path().unwrap().to_owned();
    drop(store);
    let mut resumed = SessionStore::open(&path).unwrap();
    assert_eq!(ids(&resumed), [&first, &two, &three]);
    let AgentMessage::CompactionSummary(summary) = &resumed.context[0].message else {
        panic!("{:?}", resumed.context[0])
    };
    assert_eq!(
        (summary.summary.as_str(), summary.tokens_before),
        ("first", 9)
    );
    assert!(summary.timestamp > 0);

    // What the first one kept, the second can keep too.
    let second = resumed
        .store
        .append_compaction(&kept("second", &two))
        .unwrap();
    drop(resumed);
    let resumed = SessionStore::open(&path).unwrap();
    assert_eq!(ids(&resumed), [&second, &two, &three]);
}

#[test]
fn a_branch_leaves_the_other_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = SessionStore::create(folder.path(), &header()).unwrap();
    let one = store.append_message(&answer("stop")).unwrap();
    let left = store.append_message(&user("left")).unwrap();
    assert!(!store.go_to(Some("none")));
    assert!(store.go_to(Some(&one)));
    let summary = store.append_branch_summary(&left, "went back").unwrap();
    let path = store.path().unwrap().to_owned();
    let hidden = json!({
        "role": "bashExecution", "command": "ls", "output": "", "cancelled": false,
        "truncated": false, "timestamp": 1, "excludeFromContext": true,
    });
    store.append_message(&message(hidden)).unwrap();
    store.append_custom("x", Some(json!({ "a": 1 }))).unwrap();
    store.append_label(&one, Some("here")).unwrap();
    drop(store);
    let mut resumed = SessionStore::open(&path).unwrap();
    assert_eq!(ids(&resumed), [&one, &summary]);
    assert!(matches!(
        &resumed.context[1].message,
        AgentMessage::BranchSummary(branch) if branch.from_id == left && branch.summary == "went back"
    ));
    assert!(resumed.store.go_to(None));
    let root = resumed.store.append_message(&user("anew")).unwrap();
    drop(resumed);
    assert_eq!(ids(&SessionStore::open(&path).unwrap()), [&root]);
}

#[test]
fn broken_lines_are_told_and_passed_over() {
    let lost = said("c", "b", "lost").replace("\"user\"", "\"user");
    let system = said("e", "d", "x").replace("\"role\":\"user\"", "\"role\":\"system\"");
    let (folder, path) = file(&[
        &said("a", "none", "the first"),
        &said("b", "a", "two"),
        &lost,
        "",
        &said("d", "c", "after"),
        &system,
        r#"{"type":"future","id":"f","parentId":"e","timestamp":""}"#,
        r#"{"type":"future","answer":42}"#,
        &said("g", "f", "last"),
    ]);
    let before = fs::read(&path).unwrap();
    let resumed = SessionStore::open(&path).unwrap();
    assert_eq!(ids(&resumed), ["a", "b", "d", "g"]);
    let told: Vec<_> = resumed
        .warnings
        .iter()
        .map(|told| told.split(": ").next().unwrap().to_owned())
        .collect();
    let line = |number: usize| format!("{}, line {number}", path.display());
    assert_eq!(told, [2, 4, 6, 9, 7].map(line));
    assert!(
        resumed.warnings[4].contains("system"),
        "{:?}",
        resumed.warnings
    );
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(names(&folder), ["s.jsonl"]);
}

#[test]
fn what_is_told_of_a_broken_file_is_bounded() {
    let mut lines = vec!["no entry"; 1000];
    lines.push("{}");
    let (_folder, path) = file(&lines);
    let resumed = SessionStore::open(&path).unwrap();
    assert_eq!(resumed.warnings.len(), 21);
    assert!(
        resumed.warnings[20].contains("981 more"),
        "{}",
        resumed.warnings[20]
    );
}

#[test]
fn half_a_line_is_kept_beside() {
    let whole = first_line() + "\n" + &said("a", "", "one").replace("\"\",", "null,") + "\n";
    let half = &said("b", "a", "two")[..40];
    let (folder, path) = stored(&format!("{whole}{half}"));
    let mut resumed = SessionStore::open(&path).unwrap();
    assert_eq!(ids(&resumed), ["a"]);
    let [told] = &resumed.warnings[..] else {
        panic!("{:?}", resumed.warnings)
    };
    assert!(told.contains("s.jsonl.cut"), "{told}");
    assert_eq!(fs::read_to_string(&path).unwrap(), whole);
    let cut = folder.path().join("s.jsonl.cut");
    assert_eq!(fs::read_to_string(cut).unwrap(), half);
    resumed.store.append_message(&user("on")).unwrap();
    drop(resumed);

    // The next one does not take the place of the first, also if somebody ended the line.
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{text}\0\0\0\n")).unwrap();
    let resumed = SessionStore::open(&path).unwrap();
    assert_eq!(resumed.context.len(), 2);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert_eq!(names(&folder), ["s.jsonl", "s.jsonl.cut", "s.jsonl.cut.2"]);
}

#[test]
fn the_file_behind_a_link_is_brought_to_today_s_version() {
    let old = first_line().replace("\"version\":3", "\"version\":2") + "\n";
    let (folder, real) = stored(&(old.clone() + &said("a", "none", "one") + "\nhalf"));
    let other = tempfile::tempdir().unwrap();
    let link = other.path().join("link.jsonl");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let resumed = SessionStore::open(&link).unwrap();
    assert_eq!(ids(&resumed), ["a"]);
    drop(resumed);
    assert!(link.is_symlink());
    assert_eq!(names(&other), ["link.jsonl"]);
    assert_eq!(names(&folder), ["s.jsonl", "s.jsonl.cut", "s.jsonl.v2.bak"]);
    let text = fs::read_to_string(&real).unwrap();
    assert!(text.contains("\"version\":3"), "{text}");
    let kept = fs::read_to_string(folder.path().join("s.jsonl.v2.bak")).unwrap();
    assert!(kept.starts_with(&old), "{kept}");
}

#[test]
fn a_line_that_lacks_only_its_end_is_whole() {
    let whole = first_line() + "\n" + &said("a", "none", "one");
    let (folder, path) = stored(&whole);
    let resumed = SessionStore::open(&path).unwrap();
    assert_eq!(ids(&resumed), ["a"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), whole + "\n");
    assert_eq!(names(&folder), ["s.jsonl"]);
}

#[test]
fn a_file_that_is_no_session_is_not_touched() {
    for text in [
        "",
        "\n",
        "notes",
        "{\"type\":\"message\",\"id\":\"a\"}\n",
        "{\"type\":\"sess",
    ] {
        let (folder, path) = stored(text);
        let other = tempfile::tempdir().unwrap();
        for error in [
            SessionStore::open(&path).unwrap_err(),
            SessionStore::fork(&path, other.path(), &header()).unwrap_err(),
            read_header(&path).unwrap_err(),
        ] {
            assert!(matches!(error, SessionError::NoSession { .. }), "{error}");
            assert!(error.to_string().contains("s.jsonl"), "{error}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        assert_eq!((names(&folder).len(), names(&other).len()), (1, 0));
    }
    let missing = SessionStore::open(Path::new("no/such/file")).unwrap_err();
    assert!(matches!(missing, SessionError::Read { .. }), "{missing}");
}

#[test]
fn a_session_is_gone_on_with_once_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = SessionStore::create(folder.path(), &header()).unwrap();
    store.append_message(&answer("stop")).unwrap();
    let path = store.path().unwrap().to_owned();
    let error = SessionStore::open(&path).unwrap_err();
    assert!(matches!(error, SessionError::InUse { .. }), "{error}");
    assert!(error.to_string().contains("--fork"), "{error}");
    assert_eq!(read_header(&path).unwrap(), header());

    // A copy does not wait for the end.
    let mut forked = SessionStore::fork(&path, folder.path(), &header_of(2)).unwrap();
    assert_eq!(forked.context.len(), 1);
    assert_eq!(
        forked.header.parent_session.as_deref(),
        Some(path.to_str().unwrap())
    );
    let copy = forked.store.path().unwrap().to_owned();
    assert!(matches!(
        SessionStore::open(&copy),
        Err(SessionError::InUse { .. })
    ));
    forked.store.append_message(&user("in the copy")).unwrap();
    store.append_message(&user("in the file")).unwrap();
    drop((store, forked));
    let (one, two) = (SessionStore::open(&path), SessionStore::open(&copy));
    assert_eq!(one.unwrap().context[1].message, user("in the file"));
    assert_eq!(two.unwrap().context[1].message, user("in the copy"));
    assert_eq!(names(&folder).len(), 2);
}

#[test]
fn a_fork_copies_whole_lines_of_any_version() {
    let old = [
        r#"{"type":"session","id":"i","timestamp":"t","cwd":"/old"}"#,
        r#"{"type":"message","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"hi","timestamp":1}}"#,
        "broken",
        r#"{"type":"message","timestamp":"#,
    ]
    .join("\n");
    let (folder, path) = stored(&old);
    let other = tempfile::tempdir().unwrap();
    let mut given = header_of(3);
    given.parent_session = Some("elsewhere".into());
    let forked = SessionStore::fork(&path, &other.path().join("deep"), &given).unwrap();
    assert_eq!(forked.header, given);
    assert_eq!(forked.context.len(), 1);
    assert_eq!(forked.warnings.len(), 2, "{:?}", forked.warnings);
    let copy = fs::read_to_string(forked.store.path().unwrap()).unwrap();
    assert_eq!(copy.lines().count(), 2);
    assert_eq!(fs::read_to_string(&path).unwrap(), old);
    assert_eq!(names(&folder), ["s.jsonl"]);
    let again = SessionStore::fork(&path, &other.path().join("deep"), &given).unwrap_err();
    assert!(matches!(again, SessionError::Exists { .. }), "{again}");
}

#[test]
fn a_session_can_be_made_at_a_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/mine.jsonl");
    let mut store = SessionStore::create_at(&path, &header()).unwrap();
    let mut rival = SessionStore::create_at(&path, &header()).unwrap();
    store.append_message(&answer("stop")).unwrap();
    let error = rival.append_message(&answer("stop")).unwrap_err();
    assert!(matches!(error, SessionError::Exists { .. }), "{error}");
    drop(store);
    assert_eq!(SessionStore::open(&path).unwrap().context.len(), 1);
}

/// The fields of a message that are not the time of its entry.
fn told(entry: &ContextEntry) -> Value {
    let mut message = serde_json::to_value(&entry.message).unwrap();
    message.as_object_mut().unwrap().shift_remove("timestamp");
    json!([entry.id, message])
}
