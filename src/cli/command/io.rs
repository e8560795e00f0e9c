//! What subcommands read and write: a file or standard input, and standard output.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// The size of the buffers, in bytes.
const BUFFER: usize = 256 * 1024;

/// An input that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be read: {error}", path.display())]
pub(super) struct OpenError {
    path: PathBuf,
    error: io::Error,
}

/// Opens a file, or standard input for `-`.
pub(super) fn open(path: &Path) -> Result<Box<dyn BufRead>, OpenError> {
    Ok(Box::new(BufReader::with_capacity(
        BUFFER,
        open_bytes(path)?,
    )))
}

/// The same without a buffer.
pub(super) fn open_bytes(path: &Path) -> Result<Box<dyn Read>, OpenError> {
    let fail = |error| OpenError {
        path: path.to_owned(),
        error,
    };
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    let file = File::open(path).map_err(fail)?;
    if file.metadata().map_err(fail)?.is_dir() {
        return Err(fail(io::ErrorKind::IsADirectory.into()));
    }
    Ok(Box::new(file))
}

/// Whether it is a file of the disk, whose end is known.
pub(super) fn is_file(path: &Path) -> bool {
    path != Path::new("-") && path.is_file()
}

/// Standard output for much text; it has to be flushed at the end.
pub(super) fn out() -> impl Write {
    BufWriter::with_capacity(BUFFER, io::stdout().lock())
}
