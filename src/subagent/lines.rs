//! The lines that a child writes, and what of them goes to standard error.

use std::io::Write as _;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

use crate::config::Secrets;
use crate::wire::visible_line;

/// Cuts what is read into lines of a bounded length. [`Lines::next`] may be dropped and called again
/// without a loss.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// Bytes of the line that is being read.
    length: usize,
    longest: usize,
}

/// What stands between two line ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A line without its end.
    Line(Vec<u8>),
    /// The beginning of a line that was longer than allowed, and how long it was.
    Cut(Vec<u8>, usize),
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, longest: usize) -> Self {
        Self {
            reader: BufReader::with_capacity(64 * 1024, reader),
            line: Vec::new(),
            length: 0,
            longest,
        }
    }

    /// The next line; `None` at the end, or when nothing can be read any more.
    pub(super) async fn next(&mut self) -> Option<Piece> {
        loop {
            let chunk = self.reader.fill_buf().await.unwrap_or_default();
            if chunk.is_empty() {
                return (self.length > 0).then(|| self.take());
            }
            let end = memchr::memchr(b'\n', chunk);
            let piece = &chunk[..end.unwrap_or(chunk.len())];
            let room = self.longest.saturating_sub(self.line.len());
            self.line.extend_from_slice(&piece[..piece.len().min(room)]);
            self.length += piece.len();
            let read = piece.len() + usize::from(end.is_some());
            self.reader.consume(read);
            if end.is_some() {
                return Some(self.take());
            }
        }
    }

    fn take(&mut self) -> Piece {
        let line = std::mem::take(&mut self.line);
        match std::mem::take(&mut self.length) {
            length if length > line.len() => Piece::Cut(line, length),
            _ => Piece::Line(line),
        }
    }
}

/// A bounded way to standard error for what a child writes beside its stream.
pub(super) struct Notes<'a> {
    agent_id: &'a str,
    /// What the texts are, for people: `printed`, or nothing for the child's own messages.
    what: &'static str,
    secrets: &'a (dyn Fn() -> Arc<Secrets> + Send + Sync),
    /// Texts that may still be told.
    left: usize,
    /// Longest text, in bytes.
    longest: usize,
}

impl<'a> Notes<'a> {
    pub(super) fn new(
        agent_id: &'a str,
        what: &'static str,
        secrets: &'a (dyn Fn() -> Arc<Secrets> + Send + Sync),
        (left, longest): (usize, usize),
    ) -> Self {
        Self {
            agent_id,
            what,
            secrets,
            left,
            longest,
        }
    }

    /// Tells of a text, or that further ones are left out.
    pub(super) fn tell(&mut self, piece: &Piece) {
        let (bytes, cut) = match piece {
            Piece::Line(bytes) => (bytes, bytes.len() > self.longest),
            Piece::Cut(bytes, _) => (bytes, true),
        };
        let Some(left) = self.left.checked_sub(1) else {
            return;
        };
        self.left = left;
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(self.longest)]);
        let secrets = (self.secrets)();
        let text = secrets.scrub(&text);
        // What would move the cursor of a terminal is no part of a message.
        let text = visible_line(&text);
        let text = text.strip_prefix("quipu: ").unwrap_or(&text);
        let (id, what, more) = (self.agent_id, self.what, if cut { "…" } else { "" });
        // Nothing sensible is left to do when standard error is gone.
        let _ = writeln!(std::io::stderr(), "quipu: agent {id}: {what}{text}{more}");
        if left == 0 {
            let _ = writeln!(
                std::io::stderr(),
                "quipu: agent {id}: what follows of this is left out"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn pieces(text: &[u8], longest: usize) -> Vec<Piece> {
        let mut lines = Lines::new(text, longest);
        let mut pieces = Vec::new();
        while let Some(piece) = lines.next().await {
            pieces.push(piece);
        }
        pieces
    }

    #[tokio::test]
    async fn lines_are_cut_at_their_ends_and_at_the_limit() {
        let line = |text: &str| Piece::Line(text.into());
        assert_eq!(pieces(b"", 3).await, []);
        assert_eq!(
            pieces(b"a\n\nbcd\nlast", 4).await,
            [line("a"), line(""), line("bcd"), line("last")]
        );
        assert_eq!(
            pieces(b"abcd\nx\nabcde", 3).await,
            [
                Piece::Cut("abc".into(), 4),
                line("x"),
                Piece::Cut("abc".into(), 5)
            ]
        );
    }

    #[tokio::test]
    async fn a_line_without_end_takes_no_memory() {
        let endless = tokio::io::repeat(b'x');
        let bounded = tokio::io::AsyncReadExt::take(endless, 50_000_000);
        let mut lines = Lines::new(bounded, 1000);
        let Some(Piece::Cut(line, 50_000_000)) = lines.next().await else {
            panic!("not cut")
        };
        assert!(line.capacity() < 100_000, "{}", line.capacity());
    }
}
