//! The files that the summarised part of a conversation worked on.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::event::{AgentMessage, AssistantContent};
use crate::session::ContextEntry;

const READ: (&str, &str) = ("readFiles", "read-files");
const MODIFIED: (&str, &str) = ("modifiedFiles", "modified-files");

/// Paths as the calls gave them, sorted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Files {
    read: BTreeSet<String>,
    modified: BTreeSet<String>,
}

impl Files {
    /// Those of an earlier compaction and those of the calls in `entries`. `resolve` gives the tool
    /// that a call of a name runs.
    pub(super) fn of(
        earlier: Option<&Value>,
        entries: &[ContextEntry],
        resolve: impl Fn(&str) -> String,
    ) -> Self {
        let mut files = Self::default();
        let earlier = |key: &str| {
            let list = earlier.and_then(|details| details.get(key)?.as_array());
            let paths = list.into_iter().flatten().filter_map(Value::as_str);
            paths.map(str::to_owned)
        };
        files.read.extend(earlier(READ.0));
        files.modified.extend(earlier(MODIFIED.0));
        for entry in entries {
            let AgentMessage::Assistant(answer) = &entry.message else {
                continue;
            };
            for block in &answer.content {
                let AssistantContent::ToolCall(call) = block else {
                    continue;
                };
                let Some(path) = call.arguments.get("path").and_then(Value::as_str) else {
                    continue;
                };
                match &*resolve(&call.name) {
                    "read" => files.read.insert(path.to_owned()),
                    "write" | "edit" => files.modified.insert(path.to_owned()),
                    _ => continue,
                };
            }
        }
        files.read.retain(|path| !files.modified.contains(path));
        files
    }

    /// The same with other words for the paths.
    pub(super) fn map(self, path: impl Fn(&str) -> String) -> Self {
        let list = |paths: BTreeSet<String>| paths.iter().map(|text| path(text)).collect();
        Self {
            read: list(self.read),
            modified: list(self.modified),
        }
    }

    /// The lists as `details` of a result.
    pub(super) fn details(&self) -> Value {
        json!({ READ.0: self.read, MODIFIED.0: self.modified })
    }

    /// The lists as the end of a summary; nothing if both are empty.
    pub(super) fn section(&self) -> String {
        let list = |paths: &BTreeSet<String>, tag: &str| {
            if paths.is_empty() {
                return String::new();
            }
            let lines: Vec<&str> = paths.iter().map(String::as_str).collect();
            format!("\n\n<{tag}>\n{}\n</{tag}>", lines.join("\n"))
        };
        list(&self.read, READ.1) + &list(&self.modified, MODIFIED.1)
    }
}

/// A summary without the lists at its end.
pub(super) fn without_section(summary: &str) -> &str {
    let mut rest = summary.trim_end();
    for (_, tag) in [MODIFIED, READ] {
        if rest.ends_with(&format!("</{tag}>"))
            && let Some(at) = rest.rfind(&format!("<{tag}>"))
        {
            rest = rest[..at].trim_end();
        }
    }
    rest
}
