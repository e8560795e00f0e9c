//! The session that a run goes on with: its entries, one after the other.

use std::collections::HashSet;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;
use uuid::Uuid;

use super::file::{LineFile, writing};
use super::{SessionError, file_name};
use crate::event::{
    AgentMessage, BranchSummaryEntry, CompactionEntry, CompactionResult, CustomEntry,
    CustomMessageEntry, LabelEntry, MessageEntry, ModelChangeEntry, ModelChangeReason, ModelRef,
    SessionEntry, SessionInfoEntry, StoredSessionHeader, ThinkingLevel, ThinkingLevelChangeEntry,
};

/// How often a short id is drawn before a long one is taken.
const DRAWS: usize = 100;

/// A session as it grows, in a file or in memory only.
///
/// The file is made when the first message is appended, or before by [`SessionStore::make`], with
/// everything that came before it; a session without a message leaves none. Each entry is one whole
/// line, and it is with the system when the method that appends it returns. An entry that could not be
/// written is not part of the session: the next one follows the last that was.
///
/// Writes are small and go to the page cache, so they happen on the calling thread. Secrets are for
/// the caller to take out.
#[derive(Debug)]
pub struct SessionStore {
    ids: HashSet<Box<str>>,
    /// The entry that the next one follows.
    leaf: Option<String>,
    place: Place,
    /// The file was made by this process, and nothing that was said is in it that was not elsewhere
    /// before.
    unused: bool,
}

#[derive(Debug)]
enum Place {
    Memory,
    /// No file yet; the lines that it begins with.
    Waiting {
        path: PathBuf,
        lines: Vec<u8>,
    },
    File(LineFile),
}

/// What every entry has.
struct Head {
    id: String,
    parent_id: Option<String>,
    timestamp: String,
}

impl SessionStore {
    /// A fresh session with a file in `folder`, which is made if it is not there, for its owner only.
    ///
    /// # Errors
    /// [`SessionError::Folder`] if the folder cannot be made or written, so that this is known before
    /// a model is asked.
    pub fn create(folder: &Path, header: &StoredSessionHeader) -> Result<Self, SessionError> {
        Self::create_at(
            &folder.join(file_name(&header.timestamp, &header.id)),
            header,
        )
    }

    /// A session that ends with the process. Its entries have ids all the same.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::at(Place::Memory)
    }

    /// A fresh session with this file, which must not be there yet. Its folder is made if it is not
    /// there.
    ///
    /// # Errors
    /// As [`SessionStore::create`].
    pub fn create_at(path: &Path, header: &StoredSessionHeader) -> Result<Self, SessionError> {
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        usable(folder)?;
        let mut lines = Vec::new();
        push_line(&mut lines, header)?;
        let path = path.to_owned();
        Ok(Self::at(Place::Waiting { path, lines }))
    }

    /// A session that goes on in `file`, whose entries have these ids, after the entry `leaf`.
    pub(super) fn gone_on(file: LineFile, ids: HashSet<Box<str>>, leaf: Option<String>) -> Self {
        let mut store = Self::at(Place::File(file));
        (store.ids, store.leaf) = (ids, leaf);
        store
    }

    /// The same of a file that was made for it and is taken away if nothing more comes.
    pub(super) fn unused(mut self) -> Self {
        self.unused = true;
        self
    }

    fn at(place: Place) -> Self {
        Self {
            ids: HashSet::new(),
            leaf: None,
            place,
            unused: false,
        }
    }

    /// Makes the file now, whole and locked, so that no other process can take its place. It is taken
    /// away again if the store is dropped before a message is appended.
    ///
    /// # Errors
    /// [`SessionError::Exists`] if there is a file by now, [`SessionError::Write`] if it cannot be made.
    pub fn make(&mut self) -> Result<(), SessionError> {
        if let Place::Waiting { path, lines } = &self.place {
            self.place = Place::File(made(path, lines)?);
            self.unused = true;
        }
        Ok(())
    }

    /// The session's file, which is there from the first message on; `None` in memory.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.place {
            Place::Memory => None,
            Place::Waiting { path, .. } => Some(path),
            Place::File(file) => Some(file.path()),
        }
    }

    /// Id of the entry that the next one follows; `None` before the first.
    #[must_use]
    pub fn leaf(&self) -> Option<&str> {
        self.leaf.as_deref()
    }

    /// Appends a message and gives the id of its entry. To be called before the event that announces
    /// the whole message is emitted.
    pub fn append_message(&mut self, message: &AgentMessage) -> Result<String, SessionError> {
        self.append_told(|head| match message.clone() {
            AgentMessage::Custom(message) => CustomMessageEntry {
                custom_type: message.custom_type,
                content: message.content,
                display: message.display,
                details: message.details,
                id: head.id,
                parent_id: head.parent_id,
                timestamp: head.timestamp,
            }
            .into(),
            message => MessageEntry {
                id: head.id,
                parent_id: head.parent_id,
                timestamp: head.timestamp,
                message,
            }
            .into(),
        })
    }

    /// Appends the model that answers from here on. A fresh session begins with it.
    pub fn append_model_change(&mut self, model: &ModelRef) -> Result<String, SessionError> {
        self.append_model(model, None)
    }

    /// Appends the model that answers from here on in place of `original`, which failed.
    pub fn append_fallback(
        &mut self,
        model: &ModelRef,
        original: &ModelRef,
    ) -> Result<String, SessionError> {
        self.append_model(model, Some(original))
    }

    fn append_model(
        &mut self,
        model: &ModelRef,
        original: Option<&ModelRef>,
    ) -> Result<String, SessionError> {
        self.append(|head| {
            ModelChangeEntry {
                id: head.id,
                parent_id: head.parent_id,
                timestamp: head.timestamp,
                provider: model.provider.clone(),
                model_id: model.id.clone(),
                reason: original.map(|_| ModelChangeReason::Fallback),
                original_provider: original.map(|model| model.provider.clone()),
                original_model_id: original.map(|model| model.id.clone()),
            }
            .into()
        })
    }

    /// Appends the thinking level from here on. In a fresh session it follows the model.
    pub fn append_thinking_level(&mut self, level: ThinkingLevel) -> Result<String, SessionError> {
        self.append(|head| {
            ThinkingLevelChangeEntry {
                id: head.id,
                parent_id: head.parent_id,
                timestamp: head.timestamp,
                thinking_level: level,
                thinking_selection: None,
            }
            .into()
        })
    }

    /// Appends the name of the session, brought to [one line](one_line); an empty one takes the name
    /// away.
    pub fn append_name(&mut self, name: &str) -> Result<String, SessionError> {
        self.append(|head| {
            SessionInfoEntry {
                id: head.id,
                parent_id: head.parent_id,
                timestamp: head.timestamp,
                name: one_line(name),
            }
            .into()
        })
    }

    /// Appends a compaction. Its summary stands in the context for what came before the first entry
    /// that it keeps.
    pub fn append_compaction(&mut self, result: &CompactionResult) -> Result<String, SessionError> {
        self.append_told(|head| {
            CompactionEntry {
                id: head.id,
                parent_id: head.parent_id,
                timestamp: head.timestamp,
                summary: result.summary.clone(),
                first_kept_entry_id: result.first_kept_entry_id.clone(),
                tokens_before: result.tokens_before,
                details: result.details.clone(),
                usage: result.usage.clone(),
                from_hook: Some(false),
            }
            .into()
        })
    }

    /// Appends the summary of the branch that ended with the entry `from`, or `root`. It follows the
    /// entry that the session was [moved](Self::go_to) to.
    pub fn append_branch_summary(
        &mut self,
        from: &str,
        summary: &str,
    ) -> Result<String, SessionError> {
        self.append(|head| {
            BranchSummaryEntry {
                id: head.id,
                parent_id: head.parent_id,
                timestamp: head.timestamp,
                from_id: from.to_owned(),
                summary: summary.to_owned(),
                details: None,
                usage: None,
                from_hook: Some(false),
            }
            .into()
        })
    }

    /// Appends data that the model never sees.
    pub fn append_custom(
        &mut self,
        custom_type: &str,
        data: Option<Value>,
    ) -> Result<String, SessionError> {
        self.append(|head| {
            CustomEntry {
                custom_type: custom_type.to_owned(),
                data,
                id: head.id,
                parent_id: head.parent_id,
                timestamp: head.timestamp,
            }
            .into()
        })
    }

    /// Appends a name for the entry `target`; `None` takes it away.
    pub fn append_label(
        &mut self,
        target: &str,
        label: Option<&str>,
    ) -> Result<String, SessionError> {
        self.append(|head| {
            LabelEntry {
                id: head.id,
                parent_id: head.parent_id,
                timestamp: head.timestamp,
                target_id: target.to_owned(),
                label: label.map(str::to_owned),
            }
            .into()
        })
    }

    /// Goes back to an entry, or to before the first: the next one follows it and begins a branch.
    /// False, and nothing done, if the session has no such entry.
    #[must_use]
    pub fn go_to(&mut self, id: Option<&str>) -> bool {
        let known = id.is_none_or(|id| self.ids.contains(id));
        if known {
            self.leaf = id.map(str::to_owned);
        }
        known
    }

    /// Appends what events tell of, so that it has to be in a file.
    fn append_told(
        &mut self,
        entry: impl FnOnce(Head) -> SessionEntry,
    ) -> Result<String, SessionError> {
        self.make()?;
        let id = self.append(entry)?;
        self.unused = false;
        Ok(id)
    }

    fn append(&mut self, entry: impl FnOnce(Head) -> SessionEntry) -> Result<String, SessionError> {
        let id = fresh_id(|id| self.ids.contains(id));
        let head = Head {
            id: id.clone(),
            parent_id: self.leaf.clone(),
            timestamp: humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
        };
        self.place.write(&entry(head))?;
        self.ids.insert(id.as_str().into());
        self.leaf = Some(id.clone());
        Ok(id)
    }
}

impl Drop for SessionStore {
    fn drop(&mut self) {
        if let (Place::File(file), true) = (&self.place, self.unused) {
            file.remove();
        }
    }
}

/// The file, made and locked, with these lines.
fn made(path: &Path, lines: &[u8]) -> Result<LineFile, SessionError> {
    LineFile::create(path, |out| {
        let written = out.write_all(lines);
        written.map_err(|error| writing(path, error))
    })
}

/// Eight hex digits that are not taken; a whole UUID if luck is out.
pub(super) fn fresh_id(taken: impl Fn(&str) -> bool) -> String {
    (0..DRAWS)
        .map(|_| format!("{:08x}", Uuid::new_v4().as_fields().0))
        .find(|id| !taken(id))
        .unwrap_or_else(|| Uuid::new_v4().to_string())
}

impl Place {
    fn write(&mut self, entry: &SessionEntry) -> Result<(), SessionError> {
        match self {
            Self::Memory => Ok(()),
            Self::Waiting { lines, .. } => push_line(lines, entry),
            Self::File(file) => {
                let mut line = Vec::new();
                push_line(&mut line, entry)?;
                file.append(&line)
            }
        }
    }
}

/// `name` with line breaks as spaces, and none at its ends: what a session can be called.
#[must_use]
pub fn one_line(name: &str) -> String {
    name.replace("\r\n", " ")
        .replace(['\r', '\n'], " ")
        .trim()
        .to_owned()
}

/// Makes the folder where it is missing and makes sure that files can be made in it.
pub(super) fn usable(folder: &Path) -> Result<(), SessionError> {
    let usable = || {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        Ok(rustix::fs::access(folder, access)?)
    };
    usable().map_err(|source| SessionError::Folder {
        folder: folder.to_owned(),
        source,
    })
}

/// Adds an entry or a header as a line.
pub(super) fn push_line(
    lines: &mut Vec<u8>,
    line: &impl serde::Serialize,
) -> Result<(), SessionError> {
    let before = lines.len();
    if let Err(error) = serde_json::to_writer(&mut *lines, line) {
        lines.truncate(before);
        return Err(error.into());
    }
    lines.push(b'\n');
    Ok(())
}

#[cfg(test)]
mod tests;
