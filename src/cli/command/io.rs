//! What subcommands read and write: a file or standard input, and standard output.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

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

/// Whether an input, `-` for standard input, is the file that standard output writes to. What is
/// written would be read again.
pub(super) fn is_output(path: &Path) -> bool {
    let of = |fd: io::Result<std::os::fd::OwnedFd>| File::from(fd?).metadata();
    let input = if path == Path::new("-") {
        of(io::stdin().as_fd().try_clone_to_owned())
    } else {
        path.metadata()
    };
    let (Ok(input), Ok(output)) = (input, of(io::stdout().as_fd().try_clone_to_owned())) else {
        return false;
    };
    input.is_file() && (input.dev(), input.ino()) == (output.dev(), output.ino())
}

/// Whether standard output is open for writing.
///
/// # Errors
/// That it is not. The standard library takes a write to such a one for done. One that was closed
/// when the program began is `/dev/null` by now, as if it had been given.
pub(super) fn check_output() -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(io::stdout())?;
    if (flags & OFlags::ACCMODE) == OFlags::RDONLY {
        return Err(io::Error::from(rustix::io::Errno::BADF));
    }
    Ok(())
}

/// Standard output for much text; it has to be flushed at the end.
pub(super) fn out() -> impl Write {
    BufWriter::with_capacity(BUFFER, io::stdout().lock())
}
