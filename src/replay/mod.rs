//! A recording written again: byte for byte, with its timing, and with the promises of the writer.
//!
//! A [`Recording`] is read on a thread of its own, each line with the gap before it ([`pace`]); a second
//! thread waits until a line is due and writes it.

mod follow;
pub mod pace;
mod recording;

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use self::follow::Follower;
use self::pace::{Clock, Pace};
use self::recording::RawLine;
use crate::wire::{Writer, stalled, stdout};

pub use follow::Interrupt;
pub use recording::Recording;

/// Lines that may wait for the writer.
const QUEUE: usize = 64;

/// How a replay went.
#[derive(Debug)]
pub struct Played {
    /// Lines of the recording that were written.
    pub lines: u64,
    /// The status that the recorded process ended with, as far as its stream tells: that of
    /// `stream_end`; 1 for a native stream without one, 143 for a dreb stream without `agent_end`;
    /// else 0.
    pub exit_code: u8,
    /// What ended it early.
    pub interrupt: Option<Interrupt>,
    /// Why the recording could not be read to its end.
    pub read_error: Option<io::Error>,
    /// Why it could not be written to its end; of kind `BrokenPipe` if the reader has gone.
    pub write_error: Option<io::Error>,
}

/// Writes a recording to standard output. `path` is what it was opened by.
///
/// When `interrupt` is ready, a native or senpi stream is closed as the agent closes it, a stream of
/// another kind ends after a whole line; a reader that then takes nothing for a second is given up.
///
/// # Errors
/// When the system gives no thread or no second handle for standard output.
pub async fn play(
    recording: Recording,
    path: &Path,
    pace: Pace,
    interrupt: impl Future<Output = Interrupt>,
) -> io::Result<Played> {
    let gone = CancellationToken::new();
    let (sink, unread) = stdout(&gone)?;
    let (lines, steps) = mpsc::channel(QUEUE);
    let path = path.to_owned();
    std::thread::Builder::new()
        .name("recording".to_owned())
        .spawn(move || {
            if let Err(error) = read(recording, &path, pace, &lines) {
                // A player that has ended needs no more lines.
                let _ = lines.blocking_send(Err(error));
            }
        })?;
    let (stop, stopped) = oneshot::channel();
    let (finished, mut done) = oneshot::channel();
    let player = Player {
        writer: Writer::new(sink),
        follower: Follower::default(),
        clock: Clock::default(),
        pace,
        lines: 0,
    };
    let written: Arc<AtomicU64> = player.writer.progress();
    let handle = Handle::current();
    std::thread::Builder::new()
        .name("writer".to_owned())
        .spawn(move || {
            let events = Events {
                steps,
                stopped,
                gone,
                handle,
            };
            // The receiver is gone only when the process ends without waiting.
            let _ = finished.send(player.run(events));
        })?;
    let fault = || io::Error::other("the writer ended by a fault");
    tokio::select! {
        biased;
        told = &mut done => told.map_err(|_| fault()),
        caught = interrupt => {
            // A player that has just ended needs none.
            let _ = stop.send(caught);
            tokio::select! {
                biased;
                told = done => told.map_err(|_| fault()),
                () = stalled(&written, unread) => Ok(Played {
                    lines: 0,
                    exit_code: caught.exit_code,
                    interrupt: Some(caught),
                    read_error: None,
                    write_error: None,
                }),
            }
        }
    }
}

/// Reads the recording for the player.
fn read(
    recording: Recording,
    path: &Path,
    pace: Pace,
    to: &mpsc::Sender<io::Result<RawLine>>,
) -> io::Result<()> {
    let mut lines = recording.lines(path, pace)?;
    while let Some(line) = lines.next()? {
        if to.blocking_send(Ok(line)).is_err() {
            break;
        }
    }
    Ok(())
}

/// What the player waits for.
struct Events {
    steps: mpsc::Receiver<io::Result<RawLine>>,
    stopped: oneshot::Receiver<Interrupt>,
    gone: CancellationToken,
    handle: Handle,
}

/// What there is to do.
enum Step {
    Line(RawLine),
    /// The recording is at its end, or cannot be read.
    End(Option<io::Error>),
    Stop(Interrupt),
    /// The reader has gone.
    Gone,
}

impl Events {
    /// What is there already; `None` if that is nothing.
    fn ready(&mut self) -> Option<Step> {
        if let Ok(interrupt) = self.stopped.try_recv() {
            return Some(Step::Stop(interrupt));
        }
        match self.steps.try_recv() {
            Ok(line) => Some(step(Some(line))),
            Err(mpsc::error::TryRecvError::Disconnected) => Some(Step::End(None)),
            Err(mpsc::error::TryRecvError::Empty) => None,
        }
    }

    /// Waits for the next one.
    fn next(&mut self) -> Step {
        self.handle.block_on(async {
            tokio::select! {
                biased;
                Ok(interrupt) = &mut self.stopped => Step::Stop(interrupt),
                () = self.gone.cancelled() => Step::Gone,
                line = self.steps.recv() => step(line),
            }
        })
    }

    /// Waits until then, unless there is a reason to end.
    fn sleep(&mut self, due: Instant) -> Option<Step> {
        self.handle.block_on(async {
            tokio::select! {
                biased;
                Ok(interrupt) = &mut self.stopped => Some(Step::Stop(interrupt)),
                () = self.gone.cancelled() => Some(Step::Gone),
                () = tokio::time::sleep_until(due.into()) => None,
            }
        })
    }
}

fn step(line: Option<io::Result<RawLine>>) -> Step {
    match line {
        Some(Ok(line)) => Step::Line(line),
        Some(Err(error)) => Step::End(Some(error)),
        None => Step::End(None),
    }
}

/// Writes lines when they are due, on a thread of its own.
struct Player {
    writer: Writer<File>,
    follower: Follower,
    clock: Clock,
    pace: Pace,
    lines: u64,
}

impl Player {
    fn run(mut self, mut events: Events) -> Played {
        let mut played = Played {
            lines: 0,
            exit_code: 0,
            interrupt: None,
            read_error: None,
            write_error: None,
        };
        match self.write(&mut events) {
            Step::Stop(interrupt) => {
                self.follower.close(interrupt, self.writer.buffer());
                self.writer.flush();
                played.interrupt = Some(interrupt);
            }
            Step::End(error) => played.read_error = error,
            Step::Gone => played.write_error = Some(io::ErrorKind::BrokenPipe.into()),
            Step::Line(_) => {}
        }
        played.lines = self.lines;
        played.exit_code = self.follower.exit_code();
        if let Some(error) = self.writer.into_error() {
            played.write_error = Some(error);
        }
        played
    }

    /// Writes until something else is to be done, and says what.
    fn write(&mut self, events: &mut Events) -> Step {
        loop {
            let step = match events.ready() {
                Some(step) => step,
                // Nothing waits, so what is there must not wait either.
                None if !self.writer.flush() => return Step::Gone,
                None => events.next(),
            };
            let line = match step {
                Step::Line(line) => line,
                end => {
                    let written = self.writer.flush();
                    return if written { end } else { Step::Gone };
                }
            };
            let wait = self.pace.wait(line.gap);
            if !wait.is_zero() {
                let due = self.clock.due(wait, Instant::now());
                if due > Instant::now() {
                    if !self.writer.flush() {
                        return Step::Gone;
                    }
                    if let Some(end) = events.sleep(due) {
                        return end;
                    }
                }
            }
            self.writer.buffer().extend_from_slice(&line.bytes);
            self.follower.observe(line.bytes);
            self.lines += 1;
            if self.writer.is_full() && !self.writer.flush() {
                return Step::Gone;
            }
        }
    }
}
