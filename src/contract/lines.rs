//! Bytes to lines: where each begins and ends, and what is wrong with its frame.

use std::io::{self, BufRead};

use memchr::memchr;

/// The longest line that is kept whole, in bytes, its end not counted. A line beyond it is told of
/// and passed over, so that memory has a bound.
pub const MAX_LINE: usize = 512 * 1024 * 1024;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// One line of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Which line it is, from 1. Blank lines count.
    pub number: u64,
    /// Where it begins in the stream, in bytes.
    pub offset: u64,
    /// Its bytes without the end of line; empty for one that is too long.
    pub bytes: &'a [u8],
    /// What is wrong with the frame; its content may still be sound.
    pub fault: Option<Fault>,
}

/// What can be wrong with the frame of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It ends in CR LF. The CR is taken off.
    #[error("ends with a carriage return; lines end with a line feed alone")]
    CarriageReturn,
    /// A byte order mark stands before it. It is taken off.
    #[error("begins with a byte order mark; a stream is UTF-8 without one")]
    ByteOrderMark,
    /// Nothing is in it.
    #[error("is blank")]
    Blank,
    /// The stream ends within it.
    #[error("has no line feed at its end: the stream was cut off here")]
    Cut,
    /// It is longer than the reader takes.
    #[error("is longer than {limit} bytes")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
}

/// Reads a stream line by line, with memory for one line.
#[derive(Debug)]
pub struct Lines<R> {
    from: R,
    line: Vec<u8>,
    number: u64,
    offset: u64,
    limit: usize,
}

impl<R: BufRead> Lines<R> {
    /// A reader at the begin of a stream that takes lines of up to [`MAX_LINE`].
    pub fn new(from: R) -> Self {
        Self::with_limit(from, MAX_LINE)
    }

    /// The same with another limit, in bytes.
    pub fn with_limit(from: R, limit: usize) -> Self {
        Self {
            from,
            line: Vec::new(),
            number: 0,
            offset: 0,
            limit,
        }
    }

    /// The bytes that were read so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next line; `None` at the end of the stream.
    ///
    /// # Errors
    /// What the reader gave.
    pub fn next_line(&mut self) -> io::Result<Option<Frame<'_>>> {
        self.line.clear();
        let offset = self.offset;
        let (mut too_long, mut ended) = (false, false);
        while !ended {
            let part = match self.from.fill_buf() {
                Ok(part) => part,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if part.is_empty() {
                break;
            }
            let end = memchr(b'\n', part);
            ended = end.is_some();
            let text = &part[..end.unwrap_or(part.len())];
            too_long = too_long || self.line.len() + text.len() > self.limit;
            if too_long {
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(text);
            }
            let taken = text.len() + usize::from(ended);
            self.from.consume(taken);
            self.offset += taken as u64;
        }
        if self.offset == offset {
            return Ok(None);
        }
        self.number += 1;
        let mut bytes = &self.line[..];
        let mut fault = None;
        if self.number == 1
            && let Some(rest) = bytes.strip_prefix(BOM)
        {
            (bytes, fault) = (rest, Some(Fault::ByteOrderMark));
        }
        if let Some(rest) = bytes.strip_suffix(b"\r") {
            (bytes, fault) = (rest, Some(Fault::CarriageReturn));
        }
        if too_long {
            let limit = self.limit;
            fault = Some(Fault::TooLong { limit });
        } else if !ended {
            fault = Some(Fault::Cut);
        } else if bytes
            .iter()
            .all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
        {
            fault = Some(Fault::Blank);
        }
        Ok(Some(Frame {
            number: self.number,
            offset,
            bytes,
            fault,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn all(bytes: &[u8], limit: usize) -> Vec<(u64, u64, Vec<u8>, Option<Fault>)> {
        // A buffer of few bytes cuts lines at every place.
        let mut lines = Lines::with_limit(BufReader::with_capacity(3, bytes), limit);
        let mut all = Vec::new();
        while let Some(frame) = lines.next_line().unwrap() {
            all.push((
                frame.number,
                frame.offset,
                frame.bytes.to_vec(),
                frame.fault,
            ));
        }
        assert_eq!(lines.offset(), bytes.len() as u64);
        all
    }

    #[test]
    fn every_fault_of_a_frame_is_told() {
        let bytes = b"\xEF\xBB\xBF{}\n{\"a\":1}\r\n\n \t\n0123456789\n[]\ncut";
        let limit = Fault::TooLong { limit: 9 };
        let expected: Vec<(u64, u64, Vec<u8>, Option<Fault>)> = vec![
            (1, 0, b"{}".to_vec(), Some(Fault::ByteOrderMark)),
            (2, 6, b"{\"a\":1}".to_vec(), Some(Fault::CarriageReturn)),
            (3, 15, Vec::new(), Some(Fault::Blank)),
            (4, 16, b" \t".to_vec(), Some(Fault::Blank)),
            (5, 19, Vec::new(), Some(limit)),
            (6, 30, b"[]".to_vec(), None),
            (7, 33, b"cut".to_vec(), Some(Fault::Cut)),
        ];
        assert_eq!(all(bytes, 9), expected);
    }

    #[test]
    fn whole_lines_have_no_fault_and_nothing_is_nothing() {
        assert!(all(b"", 9).is_empty());
        let lines = all(b"{}\n[]\n", 9);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|(.., fault)| fault.is_none()));
    }
}
