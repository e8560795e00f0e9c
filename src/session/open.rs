//! Sessions that are gone on with: opened, or forked from another.

use std::path::Path;

use super::{ContextEntry, SessionError, SessionStore};
use crate::event::{ModelRef, StoredSessionHeader, ThinkingLevel};

/// A session that was read from its file and can be gone on with.
#[derive(Debug)]
pub struct Resumed {
    /// The session, locked for this process; the next entry follows the last one of the file.
    pub store: SessionStore,
    /// The first line of the file.
    pub header: StoredSessionHeader,
    /// What the model is given, oldest first.
    pub context: Vec<ContextEntry>,
    /// The model that answered last or was chosen after that; `None` if there is none yet.
    pub model: Option<ModelRef>,
    /// The thinking level that was chosen last; `None` if there is none yet.
    pub thinking: Option<ThinkingLevel>,
    /// The name of the session, if it has one.
    pub name: Option<String>,
    /// What the user should know of the file, such as a repaired end or lines that were skipped.
    pub warnings: Vec<String>,
}

/// The header of a session file, whichever version wrote it. Only the first line is read, and
/// nothing is locked.
///
/// # Errors
/// [`SessionError::Read`] if the file cannot be read, [`SessionError::NoSession`] if it does not
/// begin with a header.
pub fn read_header(path: &Path) -> Result<StoredSessionHeader, SessionError> {
    let _ = path;
    todo!()
}

impl SessionStore {
    /// Opens the session file to go on with it. It is locked until the store is dropped.
    ///
    /// # Errors
    /// [`SessionError::Read`], [`SessionError::NoSession`] as [`read_header`];
    /// [`SessionError::InUse`] if another process goes on with it; [`SessionError::Write`] if it
    /// cannot be written.
    pub fn open(path: &Path) -> Result<Resumed, SessionError> {
        let _ = path;
        todo!()
    }

    /// Copies the entries of the session file `from`, which may be in use, to a new file in `folder`
    /// with this header, and opens that. The header's `parentSession` becomes `from` if it is absent.
    ///
    /// # Errors
    /// As [`SessionStore::open`] and [`SessionStore::create`].
    pub fn fork(
        from: &Path,
        folder: &Path,
        header: &StoredSessionHeader,
    ) -> Result<Resumed, SessionError> {
        let _ = (from, folder, header);
        todo!()
    }
}
