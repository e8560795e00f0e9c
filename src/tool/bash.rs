//! `bash`: a command in its own process group, with its output as it comes.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Pid;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, sleep_until};

use super::limit::{TruncatedBy, Truncation, size};
use super::process::{GRACE, Group};
use super::spool::Spool;
use super::terminal::{Tail, Terminal};
use super::{InvalidArguments, Tool, ToolContext, ToolError, ToolFuture, ToolOutput, ToolResult};
use super::{UpdateSink, arguments, text_block};

/// Seconds that a command may take unless the call says otherwise.
const DEFAULT_TIMEOUT: f64 = 1800.0;

/// Least time between two updates.
const UPDATE_INTERVAL: Duration = Duration::from_millis(100);

/// A pipe that is silent for so long after the shell's end is held by a background child.
const QUIET: Duration = Duration::from_millis(150);

/// How long the pipe is read at most after the shell's end, or after SIGKILL.
const MOST_DRAIN: Duration = Duration::from_secs(1);

/// As much as a pipe holds.
const CHUNK: usize = 64 * 1024;

/// Arguments of `bash`.
#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// Command line for bash
    command: String,
    /// Seconds after which the command is stopped (default: 1800)
    #[serde(default, deserialize_with = "arguments::seconds")]
    #[schemars(with = "f64")]
    timeout: Option<f64>,
}

/// The tool `bash`.
pub(super) struct Bash;

impl Tool for Bash {
    fn name(&self) -> &'static str {
        "bash"
    }

    fn description(&self) -> &'static str {
        "Run a command with bash in the working directory; standard output and standard error come \
         back together, standard input is empty. Of a long output only the last 2000 lines or \
         50 KB are returned, and the whole of it is kept in a file that the result names. A \
         background process must redirect its output to outlive the command usefully."
    }

    fn parameters(&self) -> Value {
        arguments::schema::<Arguments>()
    }

    fn call(
        &self,
        args: &Map<String, Value>,
        ctx: ToolContext,
    ) -> Result<ToolFuture, InvalidArguments> {
        let Arguments { command, timeout } = arguments::parse("bash", args)?;
        let timeout = timeout.unwrap_or(DEFAULT_TIMEOUT);
        Ok(Box::pin(run(command, timeout, ctx)))
    }
}

async fn run(command: String, timeout: f64, ctx: ToolContext) -> Result<ToolOutput, ToolError> {
    if ctx.cancel.is_cancelled() {
        return Err(ToolError::Aborted);
    }
    if !tokio::fs::metadata(&ctx.cwd)
        .await
        .is_ok_and(|found| found.is_dir())
    {
        return Err(ToolError::WorkingDirectory(ctx.cwd.display().to_string()));
    }
    let mut running = Running::start(&command, &ctx).map_err(ToolError::Start)?;
    // A number of seconds beyond what a clock can hold is no limit.
    let deadline = Duration::try_from_secs_f64(timeout)
        .ok()
        .and_then(|time| Instant::now().checked_add(time));
    let cancelled = ctx.cancel.cancelled();
    tokio::pin!(cancelled);
    while !running.is_over() {
        let may_stop = running.stop.is_none() && running.status.is_none();
        tokio::select! {
            read = read(&mut running.pipe, &mut running.chunk), if running.pipe.is_some() => {
                running.take(read).await;
            }
            status = running.child.wait(), if running.status.is_none() => {
                running.ended(status.map_err(ToolError::Start)?);
            }
            () = &mut cancelled, if may_stop => running.stop(Stop::Aborted),
            () = at(deadline), if may_stop => running.stop(Stop::TimedOut),
            () = at(running.kill_at) => running.kill(),
            () = at(running.output.update_at()) => running.output.update(),
            () = at(running.quiet_at) => running.drained = true,
            () = at(running.drain_until) => running.drained = true,
        }
    }
    Ok(running.finish(timeout).await)
}

async fn at(when: Option<Instant>) {
    match when {
        Some(when) => sleep_until(when).await,
        None => std::future::pending().await,
    }
}

async fn read(pipe: &mut Option<Receiver>, chunk: &mut [u8]) -> io::Result<usize> {
    match pipe {
        Some(pipe) => pipe.read(chunk).await,
        None => Ok(0),
    }
}

/// Why a command was stopped before its end.
enum Stop {
    Aborted,
    TimedOut,
}

/// A command from its start to the end of its output.
struct Running {
    child: Child,
    group: Group,
    /// The end of the pipe that the command writes to; absent once it is closed.
    pipe: Option<Receiver>,
    chunk: Vec<u8>,
    output: Output,
    status: Option<ExitStatus>,
    stop: Option<Stop>,
    /// When a stopped group gets SIGKILL; absent before and after.
    kill_at: Option<Instant>,
    killed: bool,
    /// When an ended command's pipe counts as silent.
    quiet_at: Option<Instant>,
    drain_until: Option<Instant>,
    drained: bool,
}

impl Running {
    fn start(command: &str, ctx: &ToolContext) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let pipe = Receiver::from_owned_fd(reader.into())?;
        let spawn = |shell: &str| {
            let mut shell = Command::new(shell);
            // `--`: a command that begins with a dash is no option.
            shell
                .args(["-c", "--", command])
                .current_dir(&ctx.cwd)
                .process_group(0);
            // One pipe for both, so that lines stay in the order they were written in.
            shell
                .stdin(Stdio::null())
                .stdout(writer.try_clone()?)
                .stderr(writer.try_clone()?);
            for name in &ctx.env.hidden_variables {
                shell.env_remove(name);
            }
            shell.spawn()
        };
        let child = match spawn("bash") {
            Err(error) if error.kind() == io::ErrorKind::NotFound => spawn("sh"),
            result => result,
        }?;
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let group = ctx.env.groups.add(pid.ok_or(io::ErrorKind::NotFound)?);
        Ok(Self {
            child,
            group,
            pipe: Some(pipe),
            chunk: vec![0; CHUNK],
            output: Output::new(ctx),
            status: None,
            stop: None,
            kill_at: None,
            killed: false,
            quiet_at: None,
            drain_until: None,
            drained: false,
        })
    }

    async fn take(&mut self, read: io::Result<usize>) {
        match read {
            Ok(n) if n > 0 => {
                self.output.take(&self.chunk[..n]).await;
                if self.quiet_at.is_some() {
                    self.quiet_at = Some(Instant::now() + QUIET);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => self.pipe = None,
        }
    }

    fn ended(&mut self, status: ExitStatus) {
        self.group.reaped();
        self.status = Some(status);
        self.start_to_drain();
    }

    fn start_to_drain(&mut self) {
        let now = Instant::now();
        self.quiet_at = Some(now + QUIET);
        self.drain_until = Some(now + MOST_DRAIN);
        self.drained = false;
    }

    fn stop(&mut self, why: Stop) {
        self.stop = Some(why);
        self.group.ask_to_end();
        self.kill_at = Some(Instant::now() + GRACE);
    }

    fn kill(&mut self) {
        self.group.kill();
        self.kill_at = None;
        self.killed = true;
        // A process that even this does not end (it hangs in the kernel) is not waited for.
        self.start_to_drain();
    }

    fn is_over(&mut self) -> bool {
        if self.drained {
            (self.quiet_at, self.drain_until) = (None, None);
        }
        let ended = self.status.is_some() || (self.killed && self.drained);
        let nobody_left = self.stop.is_none() || self.killed || !self.group.is_alive();
        ended && nobody_left && (self.drained || self.pipe.is_none())
    }

    async fn finish(mut self, timeout: f64) -> ToolOutput {
        self.output.close().await;
        let verdict = match (&self.stop, self.status) {
            (Some(Stop::Aborted), _) => Some("Command aborted".to_owned()),
            (Some(Stop::TimedOut), _) => Some(format!(
                "Command timed out after {timeout} seconds; give a larger timeout if it needs more"
            )),
            (None, Some(status)) if !status.success() => Some(match status.code() {
                Some(code) => format!("Command exited with code {code}"),
                None => format!("Command was ended by {status}"), // "signal: 9 (SIGKILL)"
            }),
            _ => None,
        };
        if let Some(pipe) = self.pipe.take()
            && self.group.is_alive()
        {
            tokio::spawn(discard(pipe));
        }
        self.group.settle();
        self.output.result(verdict)
    }
}

/// Reads on for a child in the background, which a closed pipe would kill.
async fn discard(mut pipe: Receiver) {
    let mut chunk = vec![0; CHUNK];
    while let Ok(1..) = pipe.read(&mut chunk).await {
        sleep(Duration::from_millis(10)).await; // one that never stops shall not keep us busy
    }
}

/// The output of a command on its way to the model, the stream and the file.
struct Output {
    terminal: Terminal,
    spool: Spool,
    updates: UpdateSink,
    changed: bool,
    next_update: Instant,
}

impl Output {
    fn new(ctx: &ToolContext) -> Self {
        ctx.updates.send(ToolResult {
            content: Vec::new(),
            details: None,
            end_turn: None,
        });
        Self {
            terminal: Terminal::new(ctx.env.limits),
            spool: Spool::new(ctx.env.output_dir.clone()),
            updates: ctx.updates.clone(),
            changed: false,
            next_update: Instant::now() + UPDATE_INTERVAL,
        }
    }

    async fn take(&mut self, bytes: &[u8]) {
        self.terminal.feed(bytes);
        self.spool.push(bytes, self.terminal.over_limits()).await;
        self.changed = true;
    }

    fn update_at(&self) -> Option<Instant> {
        self.changed.then_some(self.next_update)
    }

    fn update(&mut self) {
        self.changed = false;
        self.next_update = Instant::now() + UPDATE_INTERVAL;
        let tail = self.terminal.tail();
        if !tail.text.is_empty() {
            let details = Some(self.details(tail.truncation));
            self.updates.send(ToolResult {
                content: vec![text_block(tail.text)],
                details,
                end_turn: None,
            });
        }
    }

    /// The last update, and the end of the file.
    async fn close(&mut self) {
        self.terminal.finish();
        if self.changed {
            self.update();
        }
        if self.terminal.tail().truncation.is_some() {
            self.spool.keep().await;
        }
    }

    fn details(&self, truncation: Option<Truncation>) -> Value {
        let mut details = Map::new();
        if let Some(truncation) = truncation {
            details.insert("truncation".to_owned(), json!(truncation));
            if let Some(path) = self.spool.path() {
                details.insert("fullOutputPath".to_owned(), path.into());
            }
        }
        details.into()
    }

    fn result(&self, verdict: Option<String>) -> ToolOutput {
        let tail = self.terminal.tail();
        let mut text = if tail.text.is_empty() {
            "(no output)"
        } else {
            &tail.text
        }
        .to_owned();
        if let Some(notice) = self.notice(&tail) {
            text.push_str(&notice);
        }
        let is_error = verdict.is_some();
        if let Some(verdict) = verdict {
            text.push_str("\n\n");
            text.push_str(&verdict);
        }
        let details =
            (is_error || tail.truncation.is_some()).then(|| self.details(tail.truncation));
        ToolOutput {
            is_error,
            ..ToolOutput::text(text, details)
        }
    }

    /// What was cut, and where the rest is.
    fn notice(&self, tail: &Tail) -> Option<String> {
        let truncation = tail.truncation.as_ref()?;
        let last = truncation.total_lines;
        let what = if truncation.last_line_partial {
            let (shown, whole) = (size(truncation.output_bytes), size(tail.last_line));
            format!("The last {shown} of line {last}, which is {whole} long.")
        } else {
            let first = last + 1 - truncation.output_lines;
            let limit = match truncation.truncated_by {
                TruncatedBy::Lines => String::new(),
                TruncatedBy::Bytes => format!(" ({} limit)", size(truncation.max_bytes)),
            };
            format!("Lines {first}-{last} of {last}{limit}.")
        };
        Some(format!("\n\n[{what} {}]", self.spool.note()))
    }
}

#[cfg(test)]
#[path = "bash_tests.rs"]
mod tests;
