//! Session files of older versions, line by line in the shape of today's.
//!
//! Version 1 had no ids: each entry followed the one before. Version 2 called a `custom` message
//! `hookMessage`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use memchr::memmem;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::SessionError;
use super::lines::{Head, Shape, readable, shape};
use super::store::fresh_id;
use crate::event::{StoredSessionHeader, StoredSessionHeaderVersion};

/// The version of the format that is written.
pub(super) const VERSION: u64 = 3;

/// The first line of a session file of any version.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FirstLine {
    version: Option<u64>,
    id: String,
    timestamp: String,
    cwd: String,
    parent_session: Option<String>,
    agent_type: Option<String>,
}

/// Reads the first line of the session file `path`: its version, and what of it is known today.
///
/// # Errors
/// [`SessionError::NoSession`] if it is no header.
pub(super) fn header(
    path: &Path,
    first: Option<&[u8]>,
) -> Result<(u64, StoredSessionHeader), SessionError> {
    let no = |reason: String| SessionError::NoSession {
        file: path.to_owned(),
        reason,
    };
    let first = first.ok_or_else(|| no("it is empty".to_owned()))?;
    match shape(first) {
        Shape::Entry(Head { kind, .. }) if kind == "session" => {}
        _ => return Err(no("its first line is no header of a session".to_owned())),
    }
    let line: FirstLine = serde_json::from_str(&readable(first))
        .map_err(|error| no(format!("its header cannot be read: {error}")))?;
    let header = StoredSessionHeader {
        version: StoredSessionHeaderVersion,
        id: line.id,
        timestamp: line.timestamp,
        cwd: line.cwd,
        parent_session: line.parent_session,
        agent_type: line.agent_type,
    };
    // The first version did not say which it was.
    Ok((line.version.unwrap_or(1), header))
}

/// Brings the lines of a file to today's shape; to be given every line after the header.
#[derive(Debug)]
pub(super) struct Upgrade {
    version: u64,
    ids: HashSet<Box<str>>,
    /// The ids that entries got, by their place in a file of version 1.
    given: Vec<String>,
}

impl Upgrade {
    pub(super) fn from(version: u64) -> Self {
        Self {
            version,
            ids: HashSet::new(),
            given: Vec::new(),
        }
    }

    /// The line in today's shape. One that is no entry stays as it is.
    pub(super) fn line<'a>(&mut self, text: &'a [u8]) -> Cow<'a, [u8]> {
        if self.version >= VERSION {
            return text.into();
        }
        let Shape::Entry(head) = shape(text) else {
            return text.into();
        };
        let hook = head.kind == "message" && memmem::find(text, b"\"hookMessage\"").is_some();
        if self.version > 1 && !hook {
            return text.into();
        }
        if self.version > 1 || hook || head.kind == "compaction" || head.id.is_some() {
            return self.rewrite(text);
        }
        // Nothing but the new fields changes: the line stays as the other program printed it.
        let (parent, id) = self.next_ids();
        let text = text.trim_ascii_end();
        let mut line = text.strip_suffix(b"}").unwrap_or(text).to_vec();
        let parent = Value::from(parent);
        line.extend_from_slice(format!(r#","id":"{id}","parentId":{parent}}}"#).as_bytes());
        line.into()
    }

    fn rewrite<'a>(&mut self, text: &'a [u8]) -> Cow<'a, [u8]> {
        let Ok(mut entry) = serde_json::from_str::<Map<String, Value>>(&readable(text)) else {
            return text.into();
        };
        if self.version < 2 {
            let (parent, id) = self.next_ids();
            entry.insert("id".into(), id.into());
            entry.insert("parentId".into(), parent.into());
            // Version 1 counted lines, and the header was the first of them.
            if let Some(kept) = entry.shift_remove("firstKeptEntryIndex") {
                let place = kept.as_u64().and_then(|place| usize::try_from(place).ok());
                let kept = place.and_then(|place| self.given.get(place.checked_sub(1)?));
                if let Some(kept) = kept {
                    entry.insert("firstKeptEntryId".into(), kept.clone().into());
                }
            }
        }
        if let Some(role) = entry.get_mut("message").and_then(|m| m.get_mut("role"))
            && role == "hookMessage"
        {
            *role = "custom".into();
        }
        match serde_json::to_vec(&entry) {
            Ok(line) => line.into(),
            Err(_) => text.into(),
        }
    }

    fn next_ids(&mut self) -> (Option<String>, String) {
        let id = fresh_id(|id| self.ids.contains(id));
        self.ids.insert(id.as_str().into());
        let parent = self.given.last().cloned();
        self.given.push(id.clone());
        (parent, id)
    }
}

/// The header of an older file in today's shape; what else it holds stays.
pub(super) fn upgraded_header(first: &[u8]) -> Vec<u8> {
    let fields: Result<Map<String, Value>, _> = serde_json::from_str(&readable(first));
    fields
        .and_then(|mut fields| {
            fields.insert("version".into(), VERSION.into());
            serde_json::to_vec(&fields)
        })
        .unwrap_or_else(|_| first.to_owned())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    fn upgraded(version: u64, lines: &[&str]) -> Vec<Value> {
        let mut upgrade = Upgrade::from(version);
        let lines = lines.iter().map(|line| {
            let line = upgrade.line(line.as_bytes()).into_owned();
            serde_json::from_slice(&line).unwrap_or(Value::Null)
        });
        lines.collect()
    }

    #[test]
    fn the_first_version_gets_ids() {
        let lines = upgraded(
            1,
            &[
                r#"{"type":"message","timestamp":"t","message":{"role":"user","content":"hookMessage","n":1.50}} "#,
                "no entry",
                r#"{"type":"message","message":{"role":"hookMessage","display":true}}"#,
                r#"{"type":"compaction","summary":"s","firstKeptEntryIndex":2,"tokensBefore":1}"#,
                r#"{"type":"x","id":"old"}"#,
            ],
        );
        let id = |at: usize| lines[at]["id"].clone();
        assert_eq!(lines[0]["parentId"], Value::Null);
        assert_eq!(lines[1], Value::Null);
        assert_eq!(
            lines[2],
            json!({
                "type": "message", "message": {"role": "custom", "display": true},
                "id": id(2), "parentId": id(0),
            })
        );
        assert_eq!(
            lines[3],
            json!({
                "type": "compaction", "summary": "s", "firstKeptEntryId": id(2),
                "tokensBefore": 1, "id": id(3), "parentId": id(2),
            })
        );
        assert_eq!(
            lines[4],
            json!({"type": "x", "id": id(4), "parentId": id(3)})
        );
        assert!(id(4) != "old" && id(4).as_str().is_some_and(|id| id.len() == 8));
        let first = r#"{"type":"x","a": 1e0}"#;
        let line = Upgrade::from(1).line(first.as_bytes()).into_owned();
        assert!(line.starts_with(br#"{"type":"x","a": 1e0,"id":""#));
    }

    #[test]
    fn the_second_version_loses_only_a_name() {
        let plain = r#"{"type": "message", "id":"1","message":{"role":"user","content":"\"hookMessage\""}}"#;
        let hook = r#"{"type":"message","id":"2","parentId":"1","message":{"role":"hookMessage"}}"#;
        let mut upgrade = Upgrade::from(2);
        assert_eq!(&*upgrade.line(plain.as_bytes()), plain.as_bytes());
        assert_eq!(
            &*upgrade.line(hook.as_bytes()),
            hook.replace("hookMessage", "custom").as_bytes()
        );
        assert_eq!(&*Upgrade::from(3).line(hook.as_bytes()), hook.as_bytes());
    }

    #[test]
    fn a_header_of_any_version_is_read() {
        let path = Path::new("s.jsonl");
        let old = br#"{"type":"session","id":"i","timestamp":"t","cwd":"/","provider":"p"}"#;
        let (version, found) = header(path, Some(old)).unwrap();
        assert_eq!(
            (version, found.id.as_str(), found.cwd.as_str()),
            (1, "i", "/")
        );
        let new = upgraded_header(old);
        assert_eq!(header(path, Some(&new)).unwrap().0, 3);
        assert!(new.ends_with(br#","provider":"p","version":3}"#));
        for bad in [
            None,
            Some(&b""[..]),
            Some(br#"{"type":"message","id":"i"}"#),
            Some(br#"{"type":"session","id":"i"}"#),
            Some(br#"{"type":"session","id":"#),
        ] {
            let error = header(path, bad).unwrap_err();
            assert!(matches!(error, SessionError::NoSession { .. }), "{error}");
            assert!(error.to_string().starts_with("s.jsonl is not"), "{error}");
        }
    }
}
