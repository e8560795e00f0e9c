//! What can be wrong with a configuration file.

use std::io;
use std::path::PathBuf;

use crate::event::ErrorCode;

/// A configuration file or folder that cannot be used. Texts name keys, never values of the file: a
/// key may stand in any field.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Neither `QUIPU_HOME` nor a home folder is known.
    #[error(
        "no home folder: neither QUIPU_HOME nor HOME is set. Set QUIPU_HOME to the folder that is \
         to hold settings.json and models.json"
    )]
    NoHome,
    /// The file is there but cannot be read.
    #[error(
        "cannot read {}: {source}. Make it readable for this user, or move it away", file.display()
    )]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder, pipe or device, or far larger than any configuration.
    #[error("{}: {problem}. Put a regular JSON file there, or move it away", file.display())]
    Unfit {
        /// The file.
        file: PathBuf,
        /// What it is.
        problem: String,
    },
    /// The text is not JSON.
    #[error("{}:{line}:{column}: not valid JSON: {problem}. {repair}", file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1; 0 at the start of a line.
        column: usize,
        /// What the parser met.
        problem: String,
        /// How to put it right.
        repair: String,
    },
    /// A field has the wrong type or a value out of range.
    #[error("{}:{line}:{column}: `{field}` {problem}. {repair}", file.display())]
    Field {
        /// The file.
        file: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1, at or just after the value; 0 at the start of a line.
        column: usize,
        /// Path of the field, such as `providers.local.models[0].id`; `.` is the whole file.
        field: String,
        /// What it is and what is expected.
        problem: String,
        /// How to put it right.
        repair: String,
    },
}

impl ConfigError {
    /// The code of the failed run: always [`ErrorCode::Configuration`].
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        ErrorCode::Configuration
    }
}
