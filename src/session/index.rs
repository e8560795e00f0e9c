//! Where each entry of a session file is, and which one it follows.

use std::collections::HashSet;
use std::path::Path;

use super::SessionError;
use super::entry;
use super::file::{LineFile, reading};
use super::lines::{Line, Shape, shape};
use super::tree::Tree;
use crate::event::SessionEntry;

/// How many lines are told of one by one.
const TOLD: usize = 20;

/// What an entry does to the state of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Message,
    CustomMessage,
    BranchSummary,
    Compaction,
    ModelChange,
    Thinking,
    /// Nothing, or nothing that is known.
    Other,
}

/// An entry of the file, unread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// The number of its line, from 1.
    pub(super) line: usize,
    offset: u64,
    len: usize,
}

/// What is known of the entries of a session, a few dozen bytes each.
#[derive(Debug)]
pub(super) struct Index {
    nodes: Vec<Node>,
    tree: Tree,
    /// Id of the last entry.
    leaf: Option<String>,
    /// What the last entry that names the session calls it.
    pub(super) name: Option<String>,
}

impl Index {
    /// Reads the file once, line by line.
    pub(super) fn of(file: &LineFile, warnings: &mut Warnings) -> Result<Self, SessionError> {
        let mut index = Self {
            nodes: Vec::new(),
            tree: Tree::default(),
            leaf: None,
            name: None,
        };
        let mut lines = file.lines()?;
        while let Some(line) = lines.next().map_err(|error| reading(file.path(), error))? {
            if line.number > 1 && !line.is_blank() {
                index.add(line, warnings);
            }
        }
        Ok(index)
    }

    fn add(&mut self, line: Line<'_>, warnings: &mut Warnings) {
        let head = match shape(line.text) {
            Shape::Entry(head) => head,
            Shape::Other(why) | Shape::Broken(why) => return warnings.skipped(line.number, &why),
        };
        let kind = match &*head.kind {
            "session" => return warnings.skipped(line.number, "a header has no place there"),
            "message" => Kind::Message,
            "custom_message" => Kind::CustomMessage,
            "branch_summary" => Kind::BranchSummary,
            "compaction" => Kind::Compaction,
            "model_change" => Kind::ModelChange,
            "thinking_level_change" => Kind::Thinking,
            "session_info" => {
                if let Ok(SessionEntry::SessionInfo(info)) =
                    entry::read(line.text).map(|read| read.entry)
                {
                    self.name = Some(info.name).filter(|name| !name.is_empty());
                }
                Kind::Other
            }
            _ => Kind::Other,
        };
        let Some(id) = head.id else {
            return warnings.skipped(line.number, "it has no id");
        };
        let strange = self.tree.add(&id, head.parent_id.as_deref());
        if strange.orphan {
            warnings.line(
                line.number,
                "follows an entry that is not there; taken to follow the one before it",
            );
        }
        if strange.double {
            warnings.line(line.number, "has the id of an earlier entry");
        }
        self.nodes.push(Node {
            kind,
            line: line.number,
            offset: line.offset,
            len: line.text.len(),
        });
        self.leaf = Some(id);
    }

    /// The places of the entries from the first to the last one of the file, each of which follows
    /// the one before.
    pub(super) fn path(&self) -> Vec<usize> {
        self.tree.path()
    }

    pub(super) fn node(&self, place: usize) -> Node {
        self.nodes[place]
    }

    /// The place of the entry with this id.
    pub(super) fn place(&self, id: &str) -> Option<usize> {
        self.tree.ids.get(id).copied()
    }

    /// Reads an entry.
    pub(super) fn entry(
        &self,
        place: usize,
        file: &LineFile,
        buffer: &mut Vec<u8>,
    ) -> Result<Result<entry::Read, String>, SessionError> {
        let node = self.nodes[place];
        file.read_at(node.offset, node.len, buffer)?;
        Ok(entry::read(buffer))
    }

    /// All ids, and that of the last entry.
    pub(super) fn into_ids(self) -> (HashSet<Box<str>>, Option<String>) {
        (self.tree.ids.into_keys().collect(), self.leaf)
    }
}

/// What is told of a file; bounded, however broken it is.
#[derive(Debug)]
pub(super) struct Warnings {
    file: String,
    told: Vec<String>,
    lines: usize,
}

impl Warnings {
    pub(super) fn of(path: &Path) -> Self {
        Self {
            file: path.display().to_string(),
            told: Vec::new(),
            lines: 0,
        }
    }

    /// Tells something of the whole file.
    pub(super) fn file(&mut self, what: &str) {
        self.told.push(format!("{}: {what}", self.file));
    }

    /// Tells something of a line.
    pub(super) fn line(&mut self, number: usize, what: &str) {
        self.lines += 1;
        if self.lines <= TOLD {
            self.told
                .push(format!("{}, line {number}: {what}", self.file));
        }
    }

    /// Tells that a line is left out of what is read.
    pub(super) fn skipped(&mut self, number: usize, why: &str) {
        self.line(number, &format!("left out, {why}"));
    }

    pub(super) fn into_told(mut self) -> Vec<String> {
        if let Some(more @ 1..) = self.lines.checked_sub(TOLD) {
            self.file(&format!("the same for {more} more lines"));
        }
        self.told
    }
}
