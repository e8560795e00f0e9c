//! Failures of tools; every `Display` text is written for the model that made the call.

use std::io;

/// Why a call failed. The text says what was wrong and, where there is a way on, which.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The operating system refused.
    #[error("Cannot {action} {path}: {}", reason(source))]
    Io {
        /// A verb: `read`, `write`, `edit`, `search`, `list`.
        action: &'static str,
        /// The path as the model gave it, or the full one.
        path: String,
        /// The refusal.
        source: io::Error,
    },
    /// The path names something other than a regular file.
    #[error("Cannot {action} {path}: it is {kind}, not a regular file{hint}")]
    NotAFile {
        /// A verb: `read`, `write`, `edit`.
        action: &'static str,
        /// The path as the model gave it.
        path: String,
        /// Such as `a directory`.
        kind: &'static str,
        /// What to do instead, or nothing.
        hint: &'static str,
    },
    /// The path names something other than a directory.
    #[error("Cannot {action} {path}: it is {kind}, not a directory")]
    NotADirectory {
        /// A verb: `list`, `search`.
        action: &'static str,
        /// The path as the model gave it.
        path: String,
        /// Such as `a regular file`.
        kind: &'static str,
    },
    /// A pattern of `grep` that is no regular expression.
    #[error(
        "The pattern is not a valid regular expression: {0}\nPass \"literal\": true to search for exactly this text"
    )]
    Regex(String),
    /// A pattern of `grep` with a line break in it.
    #[error("The pattern holds a line break, but each line is searched by itself: give one line")]
    LineBreak,
    /// A glob that cannot be read.
    #[error("\"{pattern}\" is not a valid glob: {reason}")]
    Glob {
        /// The glob as the model gave it.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file that starts like an image and is none.
    #[error("{path} starts like {format} image but cannot be decoded: {reason}")]
    BrokenImage {
        /// The path as the model gave it.
        path: String,
        /// With its article: `a PNG`.
        format: &'static str,
        /// The decoder's complaint.
        reason: String,
    },
    /// An image that is too big to be decoded.
    #[error(
        "{path} is too large to be shown ({size}; at most {most}); make a smaller copy with bash, for example with ImageMagick"
    )]
    ImageTooLarge {
        /// The path as the model gave it.
        path: String,
        /// Its size, for people.
        size: String,
        /// The bound, for people.
        most: String,
    },
    /// A file that is no text.
    #[error(
        "{path} looks like a binary file ({why}); inspect it with bash, for example with `file` or `xxd`"
    )]
    Binary {
        /// The path as the model gave it.
        path: String,
        /// What gave it away.
        why: &'static str,
    },
    /// `read` was asked to start behind the last line.
    #[error("Offset {offset} is past the end of {path}, which has {lines} line(s)")]
    OffsetPastEnd {
        /// The line asked for, from 1.
        offset: u64,
        /// The path as the model gave it.
        path: String,
        /// How many lines there are.
        lines: u64,
    },
    /// A file that is too big to be edited.
    #[error("{path} is too large to edit ({size}; at most {most}); use bash, for example `sed -i`")]
    TooLarge {
        /// The path as the model gave it.
        path: String,
        /// Its size, for people.
        size: String,
        /// The bound, for people.
        most: String,
    },
    /// The folder that commands run in is not there.
    #[error("The working directory does not exist or is not a directory: {0}")]
    WorkingDirectory(String),
    /// No shell could be started.
    #[error("Cannot start the command: {}", reason(.0))]
    Start(io::Error),
    /// The edits do not fit the file; it was not touched.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The run was aborted before the work was done; no file was changed.
    #[error("The call was aborted; nothing was changed")]
    Aborted,
    /// A defect of ours, not of the call.
    #[error("The tool failed unexpectedly; this is a defect of the tool, not of the call")]
    Internal,
}

/// Why edits do not fit a file. `which` is empty for a single edit, else such as `edits[2]: `.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// There was nothing to do.
    #[error("edits is empty: give at least one {{oldText, newText}}")]
    NoEdits,
    /// An empty `oldText` matches everywhere.
    #[error("{which}oldText is empty: give the text to replace, or use write for a new file")]
    EmptyOldText {
        /// The edit.
        which: String,
    },
    /// No match, neither exact nor after normalising.
    #[error(
        "{which}oldText was not found in {path}. It must equal the file's text, with every blank and line break; read the file again and copy the lines"
    )]
    NotFound {
        /// The edit.
        which: String,
        /// The path as the model gave it.
        path: String,
    },
    /// More than one match.
    #[error(
        "{which}oldText occurs {count} times in {path}. It must be unique: add neighbouring lines to it"
    )]
    Ambiguous {
        /// The edit.
        which: String,
        /// The path as the model gave it.
        path: String,
        /// How often it was found.
        count: usize,
    },
    /// Two edits change the same text.
    #[error(
        "edits[{first}] and edits[{second}] overlap in {path}. All edits are matched against the original file: join these two into one"
    )]
    Overlap {
        /// Index of the edit that matches earlier in the file.
        first: usize,
        /// Index of the other.
        second: usize,
        /// The path as the model gave it.
        path: String,
    },
    /// The file would stay as it is.
    #[error("Nothing to change in {0}: the new text equals the old text")]
    NoChange(String),
}

impl ToolError {
    pub(super) fn io(action: &'static str, path: &str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}

/// The error in words with its symbolic name, which models know better than numbers.
fn reason(error: &io::Error) -> String {
    let known = match error.kind() {
        io::ErrorKind::NotFound => "no such file or directory (ENOENT)",
        io::ErrorKind::PermissionDenied => "permission denied (EACCES)",
        io::ErrorKind::NotADirectory => "a part of the path is not a directory (ENOTDIR)",
        io::ErrorKind::IsADirectory => "it is a directory (EISDIR)",
        io::ErrorKind::StorageFull => "no space left on the device (ENOSPC)",
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only (EROFS)",
        io::ErrorKind::ArgumentListTooLong => {
            "the command is too long (E2BIG); write it to a file and run that"
        }
        io::ErrorKind::InvalidFilename => "the name is not valid (ENAMETOOLONG)",
        _ => return error.to_string(),
    };
    known.to_owned()
}
