//! The lines of a recording as they are, and the gap before each.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek as _};
use std::path::Path;
use std::time::Duration;

use tempfile::NamedTempFile;

use super::pace::{Gaps, Mark, Pace};
use crate::contract::json::Document;
use crate::contract::lines::Lines;

/// The size of the buffers, in bytes.
const BUFFER: usize = 64 << 10;

/// A recording that was opened.
pub struct Recording {
    from: From,
}

enum From {
    /// A file that can be read at two places at once.
    File(File),
    /// Anything else: a pipe, standard input.
    Stream(Box<dyn Read + Send>),
}

impl Recording {
    /// Opens a file, or standard input for `-`.
    ///
    /// # Errors
    /// What the system says; a folder is no recording.
    pub fn open(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            let from = From::Stream(Box::new(io::stdin()));
            return Ok(Self { from });
        }
        let file = File::open(path)?;
        let kind = file.metadata()?;
        if kind.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let from = if kind.is_file() {
            From::File(file)
        } else {
            From::Stream(Box::new(file))
        };
        Ok(Self { from })
    }

    /// The lines. To know the time of a line a later one may be needed, so a recording that can be
    /// read only once is first written to a temporary file, unless no time matters.
    ///
    /// # Errors
    /// When it cannot be read, or the temporary file not be written.
    pub(super) fn lines(self, path: &Path, pace: Pace) -> io::Result<RawLines> {
        let (from, ahead): (Box<dyn Read + Send>, Option<File>) = match (self.from, pace) {
            (From::File(file), Pace::Instant) => (Box::new(file), None),
            (From::Stream(stream), Pace::Instant) => (stream, None),
            (From::File(file), Pace::Timed { .. }) => {
                let ahead = File::open(path)?;
                (Box::new(file), Some(ahead))
            }
            (From::Stream(mut stream), Pace::Timed { .. }) => {
                let mut spool = NamedTempFile::new()?;
                io::copy(&mut stream, &mut spool)?;
                let ahead = spool.reopen()?;
                let mut file = spool.into_file();
                file.rewind()?;
                (Box::new(file), Some(ahead))
            }
        };
        Ok(RawLines {
            from: BufReader::with_capacity(BUFFER, from),
            scout: ahead.map(Scout::new),
        })
    }
}

/// A line and the gap before it.
#[derive(Debug)]
pub(super) struct RawLine {
    /// Its bytes, the end of line included if it has one.
    pub(super) bytes: Vec<u8>,
    /// The gap in the recording.
    pub(super) gap: Duration,
}

/// Lines with nothing taken off.
pub(super) struct RawLines {
    from: BufReader<Box<dyn Read + Send>>,
    scout: Option<Scout>,
}

impl RawLines {
    /// The next line; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<RawLine>> {
        let mut bytes = Vec::new();
        if self.from.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        let gap = match &mut self.scout {
            Some(scout) => scout.gap()?,
            None => Duration::ZERO,
        };
        Ok(Some(RawLine { bytes, gap }))
    }
}

/// Reads ahead to the next line that tells its time.
struct Scout {
    lines: Lines<BufReader<File>>,
    gaps: Gaps,
}

impl Scout {
    fn new(file: File) -> Self {
        Self {
            lines: Lines::new(BufReader::with_capacity(BUFFER, file)),
            gaps: Gaps::default(),
        }
    }

    /// The gap before the next line.
    fn gap(&mut self) -> io::Result<Duration> {
        loop {
            if let Some(gap) = self.gaps.pop() {
                return Ok(gap);
            }
            let Some(frame) = self.lines.next_line()? else {
                self.gaps.finish();
                return Ok(self.gaps.pop().unwrap_or_default());
            };
            self.gaps.push(mark(frame.bytes));
        }
    }
}

/// The mark of a line; one that cannot be read tells nothing.
fn mark(bytes: &[u8]) -> Mark {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Mark::default();
    };
    match Document::read(text, Document::default()) {
        Ok(document) => Mark::of(document.root()),
        Err(_) => Mark::default(),
    }
}
