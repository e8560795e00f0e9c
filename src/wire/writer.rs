//! The one owner of the sink: whole lines in, bytes out.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Above this many waiting bytes lines are written though more are on their way.
const FULL: usize = 64 << 10;
/// The most that is handed to the sink at once, so that a slow reader's progress shows.
const PIECE: usize = 16 << 10;

/// Collects whole lines and writes them.
///
/// Between two calls of [`Writer::flush`] the sink has received either all of a line or nothing of it,
/// unless it failed. After its first error the writer takes lines and drops them.
pub(crate) struct Writer<W> {
    sink: W,
    waiting: Vec<u8>,
    written: Arc<AtomicU64>,
    error: Option<io::Error>,
}

impl<W: Write> Writer<W> {
    pub(crate) fn new(sink: W) -> Self {
        Self {
            sink,
            waiting: Vec::new(),
            written: Arc::default(),
            error: None,
        }
    }

    /// Bytes that the sink has taken.
    pub(crate) fn progress(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.written)
    }

    /// The buffer that the next line is appended to, as a whole.
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.waiting
    }

    /// Whether enough lines wait that they should be written now.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() >= FULL
    }

    /// Why lines are dropped, if they are.
    pub(crate) fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// The first error, given away.
    pub(crate) fn into_error(self) -> Option<io::Error> {
        self.error
    }

    /// Writes what waits. `false` once the sink has failed.
    pub(crate) fn flush(&mut self) -> bool {
        if self.error.is_none()
            && let Err(error) = self.write_waiting()
        {
            self.error = Some(error);
        }
        // One very long line must not keep its memory for the rest of the run; but where all lines are
        // long, none should have to ask for it again.
        let kept = (2 * self.waiting.len()).max(4 * FULL);
        self.waiting.clear();
        self.waiting.shrink_to(kept);
        self.error.is_none()
    }

    fn write_waiting(&mut self) -> io::Result<()> {
        for piece in self.waiting.chunks(PIECE) {
            let mut rest = piece;
            while !rest.is_empty() {
                match self.sink.write(rest) {
                    Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                    Ok(taken) => {
                        self.written.fetch_add(taken as u64, Ordering::Relaxed);
                        rest = &rest[taken..];
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    // Another process may have made a shared pipe non-blocking.
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        std::thread::sleep(std::time::Duration::from_millis(5));
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        self.sink.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::atomic::Ordering;

    use super::Writer;

    /// Takes one byte a call, and sometimes says that it is not ready.
    #[derive(Default)]
    struct Slow {
        taken: Vec<u8>,
        calls: usize,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.calls += 1;
            match self.calls % 1000 {
                7 => Err(io::ErrorKind::WouldBlock.into()),
                8 => Err(io::ErrorKind::Interrupted.into()),
                _ => {
                    self.taken.push(bytes[0]);
                    Ok(1)
                }
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_slow_sink_gets_every_byte_in_order() {
        let mut writer = Writer::new(Slow::default());
        let text: Vec<u8> = (0..40_000u32).map(|n| (n % 251) as u8).collect();
        writer.buffer().extend_from_slice(&text);
        assert!(writer.flush());
        assert_eq!(writer.progress().load(Ordering::Relaxed), 40_000);
        assert_eq!(writer.sink.taken, text);
    }

    #[test]
    fn the_first_error_stays_and_later_lines_are_dropped() {
        struct Closed(usize);
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                self.0 += 1;
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut writer = Writer::new(Closed(0));
        for _ in 0..3 {
            writer.buffer().extend_from_slice(b"{}\n");
            assert!(!writer.flush());
        }
        assert_eq!(writer.sink.0, 1, "a sink that failed is not tried again");
        assert_eq!(writer.error().unwrap().kind(), io::ErrorKind::BrokenPipe);
    }
}
