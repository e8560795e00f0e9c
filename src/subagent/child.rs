//! One child process, from its start to its last line.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Pid;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use super::lines::{Lines, Notes, Piece};
use super::process::{AGENT_VARIABLE, KEY_VARIABLE, sweep};
use super::report::Report;
use crate::config::Secrets;
use crate::event::{BackgroundAgentEvent, QuipuEvent};
use crate::tool::{Group, ProcessGroups};
use crate::wire::{EventSender, StreamClosed};

/// The longest line that is read. A tool result of 5 MB makes a line of some 20 MB on the way.
const LONGEST_LINE: usize = 64 << 20;

/// How long a child may take to close its stream after SIGTERM before it gets SIGKILL.
const GRACE: Duration = Duration::from_millis(500);

/// How long the pipes of an ended child are read when nothing comes: somebody else may hold them.
const DRAIN: Duration = Duration::from_millis(500);

/// How much of a child's own messages, and of what is no line of a stream, is told: texts, bytes each.
const MESSAGES: (usize, usize) = (200, 2000);
const GARBAGE: (usize, usize) = (20, 300);

/// What to start.
pub(super) struct Launch {
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
    pub(super) cwd: PathBuf,
    /// Variables beside those that the child gets from us.
    pub(super) variables: Vec<(&'static str, OsString)>,
    /// The whole path of the agent; see [`AGENT_VARIABLE`].
    pub(super) path: String,
    /// What it is to do, for its standard input.
    pub(super) task: String,
}

/// What a child works beside.
pub(super) struct Around<'a> {
    pub(super) agent_id: &'a str,
    pub(super) events: &'a EventSender,
    pub(super) stop: &'a CancellationToken,
    /// Cancelled when nothing may be spent any more: a child that is about to end may do so.
    pub(super) spent: &'a CancellationToken,
    pub(super) groups: &'a ProcessGroups,
    /// What must not be told, as of now.
    pub(super) secrets: &'a (dyn Fn() -> Arc<Secrets> + Send + Sync),
    /// Is told what the child has cost so far, in US dollars.
    pub(super) cost: &'a (dyn Fn(f64) + Send + Sync),
}

/// Runs a child to its end, whatever that is, and passes on what it writes.
pub(super) async fn run(launch: Launch, around: &Around<'_>) -> Report {
    let path = launch.path.clone();
    let mut running = match Running::start(launch, around) {
        Ok(running) => running,
        Err(error) => return Report::failed(format!("The agent could not be started: {error}.")),
    };
    running.play().await;
    let Running {
        group,
        status,
        mut report,
        stopping,
        ..
    } = running;
    report.close(status, stopping.is_some());
    if stopping.is_some()
        || status.is_none_or(|status| status.code().is_none())
        || !report.is_over()
    {
        // It had no time to end what it had started, or nothing of it is to go on.
        let _ = tokio::task::spawn_blocking(move || sweep(&path)).await;
    }
    group.settle();
    report
}

struct Running<'a> {
    around: &'a Around<'a>,
    child: Child,
    group: Group,
    stdout: Lines<ChildStdout>,
    stderr: Lines<ChildStderr>,
    /// Which of the two can still give something.
    open: (bool, bool),
    garbage: Notes<'a>,
    messages: Notes<'a>,
    report: Report,
    status: Option<ExitStatus>,
    /// When a child that was asked to end gets SIGKILL.
    stopping: Option<Instant>,
    killed: bool,
    /// Its lines are passed on no more: one was lost, or nobody reads them.
    mute: bool,
}

impl<'a> Running<'a> {
    fn start(launch: Launch, around: &'a Around<'a>) -> io::Result<Self> {
        let mut command = Command::new(&launch.program);
        command
            .args(&launch.args)
            .current_dir(&launch.cwd)
            .env_remove(KEY_VARIABLE)
            .env(AGENT_VARIABLE, &launch.path)
            .envs(launch.variables)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = command.spawn()?;
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let group = around.groups.add(pid.ok_or_else(missing)?);
        let mut stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        tokio::spawn(async move {
            // A child that ends early says so itself.
            let _ = stdin.write_all(launch.task.as_bytes()).await;
        });
        let (id, secrets) = (around.agent_id, around.secrets);
        Ok(Self {
            around,
            child,
            group,
            stdout: Lines::new(stdout, LONGEST_LINE),
            stderr: Lines::new(stderr, MESSAGES.1),
            open: (true, true),
            garbage: Notes::new(id, "no line of a stream: ", secrets, GARBAGE),
            messages: Notes::new(id, "", secrets, MESSAGES),
            report: Report::default(),
            status: None,
            stopping: None,
            killed: false,
            mute: false,
        })
    }

    async fn play(&mut self) {
        let (stop, spent) = (self.around.stop, self.around.spent);
        while self.status.is_none() || self.open != (false, false) {
            let kill_at = self.stopping.filter(|_| !self.killed);
            tokio::select! {
                biased;
                () = stop.cancelled(), if self.stopping.is_none() => self.ask_to_end(),
                () = spent.cancelled(), if self.stopping.is_none() && !self.report.is_ending() => {
                    self.ask_to_end();
                }
                () = at(kill_at) => self.kill(),
                piece = self.stderr.next(), if self.open.1 => match piece {
                    Some(piece) => self.messages.tell(&piece),
                    None => self.open.1 = false,
                },
                piece = self.stdout.next(), if self.open.0 => match piece {
                    Some(piece) => self.line(piece).await,
                    None => self.open.0 = false,
                },
                status = self.child.wait(), if self.status.is_none() => {
                    self.group.reaped();
                    // A status that cannot be had is that of no success.
                    self.status = Some(status.unwrap_or(ExitStatus::from_raw(1 << 8)));
                    // What it left in its group would hold the pipes.
                    self.group.kill();
                },
                () = sleep(DRAIN), if self.status.is_some() || self.killed => break,
            }
        }
    }

    fn ask_to_end(&mut self) {
        self.group.ask_to_end();
        self.stopping = Some(Instant::now() + GRACE);
    }

    fn kill(&mut self) {
        self.group.kill();
        self.killed = true;
    }

    /// Takes a line of standard output.
    async fn line(&mut self, piece: Piece) {
        let event = match &piece {
            Piece::Line(line) if !self.report.is_over() => self.read(line),
            Piece::Line(_) | Piece::Cut(..) => None,
        };
        let Some(event) = event else {
            if piece != Piece::Line(Vec::new()) {
                self.garbage.tell(&piece);
            }
            return;
        };
        self.report.see(&event);
        (self.around.cost)(self.report.cost());
        if !self.mute {
            self.mute = self.pass_on(event).await.is_err();
        }
    }

    /// Reads a line. A child hides what it was given to hide; this keeps to it whatever wrote the line.
    fn read(&self, line: &[u8]) -> Option<QuipuEvent> {
        let event = serde_json::from_slice(line).ok()?;
        let secrets = (self.around.secrets)();
        if !secrets.may_be_in_json(line) {
            return Some(event);
        }
        let mut value = serde_json::from_slice(line).ok()?;
        secrets.scrub_value(&mut value);
        // A value that is a word of the contract itself is no secret.
        Some(serde_json::from_value(value).unwrap_or(event))
    }

    /// Passes a line on; an error if it could not be, so that the following ones must not be either.
    async fn pass_on(&mut self, event: QuipuEvent) -> Result<(), StreamClosed> {
        let stop = self.around.stop;
        let send = self.around.events.send(BackgroundAgentEvent {
            agent_id: self.around.agent_id.to_owned(),
            event: Box::new(event),
        });
        tokio::pin!(send);
        if self.stopping.is_none() {
            tokio::select! {
                biased;
                outcome = &mut send => return outcome,
                () = stop.cancelled() => {}
            }
            self.ask_to_end();
        }
        // The reader may be slow; a child that is to end must not wait for it.
        let Some(deadline) = self.stopping else {
            return Err(StreamClosed);
        };
        timeout_at(deadline, send)
            .await
            .unwrap_or(Err(StreamClosed))
    }
}

async fn at(when: Option<Instant>) {
    match when {
        Some(when) => sleep_until(when).await,
        None => std::future::pending().await,
    }
}
