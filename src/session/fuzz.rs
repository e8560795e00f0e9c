//! The reader of this room as a fuzz target.

use std::fs;
use std::path::Path;

use super::{ContextEntry, Resumed, SessionError, SessionStore, entries, read_header};
use crate::event::{
    AgentMessage, StoredSessionHeader, StoredSessionHeaderVersion, UserContent, UserMessage,
};

/// A session file: whatever stands in it, reading it ends in an error that leaves the file as it is, or in a
/// session that a copy and a second reading agree on, and that goes on with what is appended.
///
/// # Panics
/// When that does not hold, or when there is no place for temporary files.
#[allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a target says by a panic that something is wrong"
)]
pub fn session(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("s.jsonl");
    fs::write(&path, data).expect("a temporary file");
    let header = read_header(&path);
    for line in entries(&path).unwrap() {
        line.unwrap();
    }
    let mut first = match SessionStore::open(&path) {
        Ok(resumed) => resumed,
        Err(error) => {
            assert!(matches!(error, SessionError::NoSession { .. }), "{error}");
            assert_eq!(fs::read(&path).unwrap(), data, "the file was touched");
            assert_eq!(files(folder.path()), 1, "files were left");
            return;
        }
    };
    assert_eq!(first.header, header.unwrap());
    // What the model is given is also shown as the way to the end.
    let shown: Vec<_> = entries(&path)
        .unwrap()
        .map(Result::unwrap)
        .filter(|line| line.on_path)
        .filter_map(|line| line.entry.get("id")?.as_str().map(str::to_owned))
        .collect();
    for entry in &first.context {
        assert!(shown.contains(&entry.id), "{} is not shown", entry.id);
    }
    let copy = SessionStore::fork(&path, folder.path(), &copied()).unwrap();
    same(&copy, &first, &first.context);

    let message: AgentMessage = UserMessage {
        content: UserContent::String("on".to_owned()),
        timestamp: 1,
    }
    .into();
    let id = first.store.append_message(&message).unwrap();
    let mut context = std::mem::take(&mut first.context);
    context.push(ContextEntry { id, message });
    let Resumed { store, .. } = &mut first;
    // The file is locked as long as it is held.
    drop(std::mem::replace(store, SessionStore::in_memory()));
    let again = SessionStore::open(&path).unwrap();
    same(&again, &first, &context);
}

fn same(one: &Resumed, other: &Resumed, context: &[ContextEntry]) {
    assert_eq!(one.context, context);
    assert_eq!(
        (&one.model, one.thinking, &one.name),
        (&other.model, other.thinking, &other.name)
    );
}

fn copied() -> StoredSessionHeader {
    StoredSessionHeader {
        version: StoredSessionHeaderVersion,
        id: "copy".to_owned(),
        timestamp: "2026-01-01T00:00:00.000Z".to_owned(),
        cwd: "/".to_owned(),
        parent_session: None,
        agent_type: None,
    }
}

fn files(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(0, Iterator::count)
}
