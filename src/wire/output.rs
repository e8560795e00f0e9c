//! From the event channel to the last line.

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::FileType;
use rustix::io::Errno;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::text::Text;
use super::writer::Writer;
use super::{Form, Line, Projection, WireOptions, line, visible_line};
use crate::event::tracker::{CloseReason, OrderError, Tracker};
use crate::event::{ModelRef, Outcome, QuipuEvent, Stamp, StopReason, StreamEndEvent, StreamError};

/// Events that may wait for the writer before the agent has to.
const QUEUE: usize = 256;
/// After a signal, how long a reader may take nothing before it is given up.
const PATIENCE: Duration = Duration::from_secs(1);

/// Nobody reads the events any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nobody reads the event stream any more")]
pub struct StreamClosed;

/// Where the agent says what happens.
#[derive(Clone, Debug)]
pub struct EventSender(mpsc::Sender<Command>);

impl EventSender {
    /// Hands an event over; waits while the reader is slower than the agent.
    ///
    /// # Errors
    /// [`StreamClosed`] when the stream has ended or its reader has gone.
    pub async fn send(&self, event: impl Into<QuipuEvent>) -> Result<(), StreamClosed> {
        self.0
            .send(Command::Event(event.into()))
            .await
            .map_err(|_| StreamClosed)
    }
}

/// How the stream ends, as `stream_end` tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// How the whole went.
    pub outcome: Outcome,
    /// The exit status of the process.
    pub exit_code: u8,
    /// What went wrong, if something did.
    pub error: Option<StreamError>,
    /// The model that was chosen, for a stream that ends before its first run.
    pub model: Option<ModelRef>,
}

/// How writing went.
#[derive(Debug)]
pub struct Finished {
    /// The error that ended writing early; of kind `BrokenPipe` if the reader had gone.
    pub error: Option<io::Error>,
    /// The reader took nothing for too long after a signal, so the end of the stream is not written.
    pub gave_up: bool,
    /// The first event that stood in a wrong place: a fault of ours, told on standard error when it
    /// happened.
    pub disorder: Option<OrderError>,
}

/// What the writer's thread has to tell at its end.
#[derive(Debug)]
struct Written {
    error: Option<io::Error>,
    disorder: Option<OrderError>,
}

#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are events; a box would cost each of them an allocation"
)]
enum Command {
    Event(QuipuEvent),
    End(Ending),
}

/// The stream of one process.
pub struct Output {
    commands: mpsc::Sender<Command>,
    done: oneshot::Receiver<Written>,
    written: Arc<AtomicU64>,
    unread: Box<dyn Fn() -> u64 + Send + Sync>,
}

impl Output {
    /// Starts the stream on standard output.
    ///
    /// `cancel` is cancelled when the stream cannot be written any more.
    ///
    /// # Errors
    /// When the system gives no thread or no second handle for standard output.
    pub fn stdout(
        options: WireOptions,
        cancel: CancellationToken,
    ) -> io::Result<(EventSender, Self)> {
        let (sink, unread) = stdout(&cancel)?;
        Self::start(options, sink, unread, cancel)
    }

    /// Starts the stream on any sink; `unread` tells how many written bytes its reader has not taken.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(
        options: WireOptions,
        sink: impl Write + Send + 'static,
        unread: impl Fn() -> u64 + Send + Sync + 'static,
        cancel: CancellationToken,
    ) -> io::Result<(EventSender, Self)> {
        let (commands, queue) = mpsc::channel(QUEUE);
        let (finished, done) = oneshot::channel();
        let lines = Lines::new(options, sink);
        let written = lines.writer.progress();
        std::thread::Builder::new()
            .name("writer".to_owned())
            .spawn(move || {
                // The receiver is gone only when the process ends without waiting.
                let _ = finished.send(lines.run(queue, &cancel));
            })?;
        let unread = Box::new(unread);
        Ok((
            EventSender(commands.clone()),
            Self {
                commands,
                done,
                written,
                unread,
            },
        ))
    }

    /// Closes what is open, writes `stream_end` and waits until all is written.
    ///
    /// Once `interrupt` is ready, a reader that takes nothing for a second is given up.
    pub async fn finish(self, ending: Ending, interrupt: impl Future<Output = ()>) -> Finished {
        let Self {
            commands,
            done,
            written,
            unread,
        } = self;
        let end = async {
            // An error means that the writer has ended by itself; `done` says why.
            let _ = commands.send(Command::End(ending)).await;
            done.await.unwrap_or_else(|_| Written {
                error: Some(io::Error::other("the writer ended by a fault")),
                disorder: None,
            })
        };
        let stalled = async {
            interrupt.await;
            stalled(&written, unread).await;
        };
        tokio::select! {
            biased;
            Written { error, disorder } = end => Finished { error, gave_up: false, disorder },
            () = stalled => Finished { error: None, gave_up: true, disorder: None },
        }
    }
}

/// Waits until the reader has taken nothing for too long.
pub(crate) async fn stalled(written: &AtomicU64, unread: impl Fn() -> u64) {
    let mut seen = (written.load(Ordering::Relaxed), unread());
    let mut since = Instant::now();
    while since.elapsed() < PATIENCE {
        sleep(PATIENCE / 20).await;
        let now = (written.load(Ordering::Relaxed), unread());
        if now != seen {
            (seen, since) = (now, Instant::now());
        }
    }
}

/// Standard output, and what tells how many written bytes its reader has not taken.
///
/// `cancel` is cancelled as soon as the reader of a pipe has gone.
///
/// # Errors
/// When the system gives no thread or no second handle.
pub(crate) fn stdout(
    cancel: &CancellationToken,
) -> io::Result<(File, impl Fn() -> u64 + Send + Sync + 'static)> {
    // A handle without the line buffer of `std::io::Stdout`, which would cut long lines in two.
    let sink = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    watch_reader(sink.try_clone()?, cancel.clone())?;
    let probe = sink.try_clone()?;
    let unread = move || rustix::io::ioctl_fionread(&probe).unwrap_or(0);
    Ok((sink, unread))
}

/// Events to lines, on the writer's thread.
struct Lines<W> {
    options: WireOptions,
    tracker: Tracker,
    projection: Projection,
    text: Text,
    writer: Writer<W>,
    /// Lines written so far.
    count: u64,
    disorder: Option<OrderError>,
}

impl<W: Write> Lines<W> {
    fn new(options: WireOptions, sink: W) -> Self {
        let writer = Writer::new(sink);
        let projection = Projection::new(options.wire);
        Self {
            options,
            tracker: Tracker::default(),
            projection,
            text: Text::new(),
            writer,
            count: 0,
            disorder: None,
        }
    }

    fn run(mut self, mut queue: mpsc::Receiver<Command>, cancel: &CancellationToken) -> Written {
        loop {
            let command = if let Ok(command) = queue.try_recv() {
                command
            } else {
                // Nothing waits, so what is there must not wait either.
                if !self.writer.flush() {
                    break;
                }
                match queue.blocking_recv() {
                    Some(command) => command,
                    None => break,
                }
            };
            match command {
                Command::Event(event) => self.event(event),
                Command::End(ending) => {
                    self.end(ending);
                    break;
                }
            }
            if self.writer.is_full() && !self.writer.flush() {
                break;
            }
        }
        self.writer.flush();
        if self.writer.error().is_some() {
            cancel.cancel();
        }
        Written {
            error: self.writer.into_error(),
            disorder: self.disorder,
        }
    }

    fn event(&mut self, event: QuipuEvent) {
        if let Err(fault) = self.tracker.observe(&event)
            && self.disorder.is_none()
        {
            // The line is still written: a reader is better served by it than by its loss.
            let _ = writeln!(
                io::stderr(),
                "quipu: the stream breaks its own order: {}",
                visible_line(&fault.to_string())
            );
            self.disorder = Some(fault);
        }
        self.write(event);
    }

    fn write(&mut self, event: QuipuEvent) {
        let Self {
            options,
            projection,
            text,
            writer,
            count,
            ..
        } = self;
        if options.form == Form::Text {
            text.append(writer.buffer(), &event);
            return;
        }
        projection.project(event, |line| {
            if !options.events.passes(&line) {
                return;
            }
            let stamp = options.stamp.then(|| Stamp {
                seq: *count,
                at: now(),
            });
            if let Err(fault) = append(writer.buffer(), &line, stamp) {
                let _ = writeln!(
                    io::stderr(),
                    "quipu: an event ({}) cannot be written: {}",
                    line.kind(),
                    visible_line(&fault.to_string())
                );
                return;
            }
            *count += 1;
        });
    }

    fn end(&mut self, ending: Ending) {
        let reason = match &ending.error {
            _ if matches!(ending.outcome, Outcome::Aborted | Outcome::Interrupted) => {
                let told = ending.error.as_ref().map(|error| error.message.clone());
                let message = told.unwrap_or_else(|| "The run was aborted.".to_owned());
                CloseReason {
                    stop_reason: StopReason::Aborted,
                    message,
                }
            }
            Some(error) => CloseReason {
                stop_reason: StopReason::Error,
                message: error.message.clone(),
            },
            None => CloseReason {
                stop_reason: StopReason::Error,
                message: "The run ended before this did.".to_owned(),
            },
        };
        self.projection.chose(ending.model);
        // The tracker has seen these already.
        for event in self.tracker.close(&reason) {
            self.write(event);
        }
        let totals = self.tracker.totals();
        let end = StreamEndEvent {
            outcome: ending.outcome,
            exit_code: ending.exit_code.into(),
            error: ending.error,
            usage: totals.usage.clone(),
            turns: totals.turns,
            lines: self.count + 1,
        };
        self.event(end.into());
    }
}

/// Cancels as soon as the reader of a pipe has gone.
///
/// A write would tell as well, but while a long command runs quietly there may be none.
fn watch_reader(pipe: File, cancel: CancellationToken) -> io::Result<()> {
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&pipe)?.st_mode);
    if !matches!(kind, FileType::Fifo | FileType::Socket) {
        return Ok(());
    }
    let watch = move || {
        let mut fds = [PollFd::new(&pipe, PollFlags::empty())];
        // Asked for nothing, it waits for an error or a hang-up.
        while matches!(poll(&mut fds, None), Err(Errno::INTR)) {}
        if fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) {
            cancel.cancel();
        }
    };
    let thread = std::thread::Builder::new().name("reader-watch".to_owned());
    thread.stack_size(64 << 10).spawn(watch)?;
    Ok(())
}

/// Milliseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Appends a line with its stamp, if it has one.
///
/// # Errors
/// Only if a value cannot be serialised; nothing is appended then.
pub(crate) fn append(
    buffer: &mut Vec<u8>,
    line: &Line<'_>,
    stamp: Option<Stamp>,
) -> io::Result<()> {
    let start = buffer.len();
    line.append_to(buffer)?;
    if let Some(stamp) = stamp {
        put_stamp(buffer, start, line.kind(), &stamp);
    }
    Ok(())
}

/// Puts a stamp into the line of that type that begins at `start`.
pub(crate) fn put_stamp(buffer: &mut Vec<u8>, start: usize, kind: &str, stamp: &Stamp) {
    // Every line begins with its type: `{"type":"…"`.
    let at = start + r#"{"type":"""#.len() + kind.len();
    buffer.splice(at..at, fields(stamp));
}

/// The fields of a stamp, ready to stand behind a line's type.
fn fields(stamp: &Stamp) -> Vec<u8> {
    let mut object = Vec::new();
    // Two integers cannot fail to serialise.
    let _ = line::append(&mut object, stamp);
    let fields = object
        .strip_prefix(b"{")
        .and_then(|rest| rest.strip_suffix(b"}\n"));
    fields
        .map(|fields| [b",", fields].concat())
        .unwrap_or_default()
}
