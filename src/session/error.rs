//! What can go wrong with a session file.

use std::io;
use std::path::PathBuf;

use crate::event::ErrorCode;

/// A session that cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The folder of session files cannot be made or written.
    #[error(
        "the folder for session files {} cannot be used: {source}. Name another with --session-dir, \
         or keep no session with --no-session", folder.display()
    )]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file cannot be read.
    #[error("the session file {} cannot be read: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not a session.
    #[error("{} is not a session file: {reason}", file.display())]
    NoSession {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Another process goes on with the session.
    #[error(
        "the session file {} is in use by another process{}. Wait for its end, or go on with a copy \
         by --fork", file.display(), process(*.pid)
    )]
    InUse {
        /// The file.
        file: PathBuf,
        /// The process, where the system tells.
        pid: Option<u32>,
    },
    /// The file cannot be made or written; what it held before is still whole.
    #[error("writing the session file {} failed: {source}", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What a repair would take out of the file cannot be kept beside it; the file is as it was.
    #[error(
        "the session file {} {why}, and before it is changed a copy of what that takes away has to be \
         made, {}, which failed: {source}. Give this user room and the right to write in that folder, \
         or go on with a copy elsewhere by --fork {} --session-dir DIR",
        file.display(), kept.display(), file.display()
    )]
    Unkept {
        /// The file.
        file: PathBuf,
        /// Why it has to be changed.
        why: &'static str,
        /// The file beside it.
        kept: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file was made by somebody else meanwhile.
    #[error(
        "the session file {} was made by another process meanwhile. To go on with it, start again \
         when that one has ended", file.display()
    )]
    Exists {
        /// The file.
        file: PathBuf,
    },
    /// The file was deleted while the session went on.
    #[error("the session file {} was deleted while the session went on", file.display())]
    Lost {
        /// Where it was.
        file: PathBuf,
    },
    /// The file was changed by somebody else while the session went on.
    #[error(
        "the session file {} was changed by another program while the session went on", file.display()
    )]
    Changed {
        /// The file.
        file: PathBuf,
    },
    /// An entry has no JSON form.
    #[error("a session entry cannot be written as JSON: {0}")]
    Encode(#[from] serde_json::Error),
}

fn process(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" ({pid})"))
}

impl SessionError {
    /// The code of the failed run: always [`ErrorCode::Session`].
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        ErrorCode::Session
    }
}
