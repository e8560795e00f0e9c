//! A run in JSON mode, from the header to the exit status.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::task::{JoinError, JoinHandle};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::conversation::{self, Verdict};
use super::session::{self, Keep, SessionTarget};
use super::signal::{Caught, Signals};
use super::{Args, Failure, Mode, background, exit_code, note, opening};
use crate::agent::Halt;
use crate::config::kill_commands;
use crate::contract::{SCHEMA_HASH, SCHEMA_VERSION};
use crate::event::{
    ErrorCode, ModelRef, Outcome, SessionHeader, SessionHeaderVersion, StoredSessionHeader,
    StreamError, StreamInfo, WireName,
};
use crate::tool::ProcessGroups;
use crate::wire::{Ending, EventFilter, EventSender, Form, Output, Wire, WireOptions};

/// How long a cancelled run may take to end by itself before its open ends are closed for it.
const GRACE: Duration = Duration::from_millis(700);

/// Plays the prompts of the arguments.
pub(super) fn run(args: &Args) -> ExitCode {
    background::follow_parent(args);
    let wire = args.wire;
    let options = WireOptions {
        form: match args.mode {
            Mode::Text => Form::Text,
            Mode::Json => Form::Lines,
        },
        wire,
        ..WireOptions::default()
    };
    if args.stamp && wire != Wire::Quipu {
        let message = format!(
            "--stamp numbers the lines of the native wire only: the lines of the {} wire have no place \
             for it. Leave out --stamp or --wire.",
            wire.name()
        );
        return fail(options, Failure::usage(message));
    }
    match EventFilter::parse(&args.events, wire) {
        Ok(events) => {
            let options = WireOptions {
                events,
                stamp: args.stamp,
                ..options
            };
            // A stream begins with the header of its session, so that has to be known.
            let target = session::here()
                .and_then(|cwd| session::seek(args, &cwd))
                .map(|target| told(target, args))
                .map_err(|failure| failure.without(args.api_key.as_deref()));
            block_on(stream(options, args.timeout, target, |context| {
                conversation::play(args.clone(), context)
            }))
        }
        Err(error) => fail(options, Failure::usage(error.to_string())),
    }
}

/// The target with a header that may be told: what another process has written, or was named by the
/// user, may hold a key. One that only a command knows is not known yet; no line waits for it.
fn told(mut target: SessionTarget, args: &Args) -> SessionTarget {
    let header = &mut target.header;
    if header.parent_session.is_some() || matches!(target.keep, Keep::Stored(_)) {
        let secrets = opening::known_secrets(args);
        let own = [Some(&mut header.cwd)];
        let others = [&mut header.parent_session, &mut header.agent_type];
        let texts = own.into_iter().chain(others.map(Option::as_mut));
        for text in texts.flatten() {
            *text = secrets.scrub(text).into_owned();
        }
    }
    target
}

/// Reports a start-up failure in the form of the options.
pub(super) fn fail(options: WireOptions, failure: Failure) -> ExitCode {
    let nothing = |_| async { Ok(Verdict::aborted()) };
    block_on(stream(options, None, Err(failure), nothing))
}

/// Plays a stream to its end and gives its exit status.
pub(super) fn block_on(stream: impl Future<Output = u8>) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            note(&format!(
                "quipu: the system gives no resources to run: {error}"
            ));
            return ExitCode::from(exit_code(ErrorCode::Internal));
        }
    };
    // With hardly any file handles left even the runtime itself may give up.
    let played = catch_unwind(AssertUnwindSafe(|| runtime.block_on(stream)));
    let code = played.unwrap_or_else(|_| exit_code(ErrorCode::Internal));
    // A thread that still reads standard input or a file must not hold the process back.
    runtime.shutdown_background();
    ExitCode::from(code)
}

/// What a conversation is given.
pub(super) struct Context {
    /// Where its events go.
    pub(super) events: EventSender,
    /// Cancelled when it is to stop.
    pub(super) cancel: CancellationToken,
    /// The processes of its tools.
    pub(super) groups: ProcessGroups,
    /// The session; the stream began with its header.
    pub(super) target: SessionTarget,
    /// The model, from when it is chosen: the stream tells of it even if no run begins.
    pub(super) chosen: Arc<OnceLock<ModelRef>>,
}

/// Why a conversation ended without a verdict.
pub(super) enum Stop {
    /// It could not start.
    Failure(Failure),
    /// Nobody reads its events.
    Closed,
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Halt> for Stop {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Closed(_) => Self::Closed,
            Halt::Session(error) => Self::Failure(Failure::new(error.code(), error.to_string())),
        }
    }
}

/// Writes the header, plays the conversation, and closes the stream whatever happens to it.
async fn stream<P>(
    options: WireOptions,
    limit: Option<Duration>,
    target: Result<SessionTarget, Failure>,
    play: impl FnOnce(Context) -> P,
) -> u8
where
    P: Future<Output = Result<Verdict, Stop>> + Send + 'static,
{
    let mut signals = match Signals::install() {
        Ok(signals) => signals,
        Err(error) => {
            note(&format!("quipu: signals cannot be caught: {error}"));
            return exit_code(ErrorCode::Internal);
        }
    };
    let cancel = CancellationToken::new();
    let groups = ProcessGroups::default();
    let (form, wire) = (options.form, options.wire);
    let (events, output) = match Output::stdout(options, cancel.clone()) {
        Ok(started) => started,
        Err(error) => {
            note(&format!(
                "quipu: standard output cannot be written: {error}"
            ));
            return exit_code(ErrorCode::Internal);
        }
    };
    let stored = match &target {
        Ok(target) => target.header.clone(),
        Err(_) => session::header(&here()),
    };
    // A reader that is gone already shows in the conversation's own first event.
    let _ = events.send(header(stored)).await;

    let chosen = Arc::new(OnceLock::new());
    let mut task: JoinHandle<Result<Verdict, Stop>> = match target {
        Ok(target) => tokio::spawn(play(Context {
            events,
            cancel: cancel.clone(),
            groups: groups.clone(),
            target,
            chosen: Arc::clone(&chosen),
        })),
        Err(failure) => tokio::spawn(async { Err(failure.into()) }),
    };

    let mut caught = None;
    let mut timed_out = None;
    let joined = tokio::select! {
        joined = &mut task => Some(joined),
        signal = signals.next() => {
            caught = Some(signal);
            stop(&cancel, &mut task).await
        }
        limit = deadline(limit) => {
            timed_out = Some(limit);
            stop(&cancel, &mut task).await
        }
    };
    groups.kill_all().await;
    kill_commands();

    let told = matches!(joined, Some(Ok(Err(Stop::Failure(_)))));
    let verdict = match joined {
        Some(Ok(Ok(verdict))) => verdict,
        Some(Ok(Err(Stop::Failure(failure)))) => {
            if !failure.is_told() {
                note(&format!("quipu: {failure}"));
            }
            Verdict::failed(failure.into())
        }
        Some(Ok(Err(Stop::Closed))) | None => Verdict::aborted(),
        Some(Err(error)) => Verdict::failed(StreamError {
            code: ErrorCode::Internal,
            message: format!("A fault in Quipu ended the run: {}", panic_text(error)),
            retryable: false,
        }),
    };
    let verdict = match (timed_out, verdict.outcome) {
        (Some(limit), Outcome::Aborted) => Verdict::limit(StreamError {
            code: ErrorCode::Limit,
            message: format!(
                "The time limit of {} is reached (--timeout).",
                humantime::format_duration(limit)
            ),
            retryable: false,
        }),
        _ => verdict,
    };
    if let (Form::Text, false, Some(error)) = (form, told, &verdict.error) {
        // Without a stream nothing else would tell.
        note(&format!("quipu: {}", error.message));
    }
    let model = chosen.get().cloned();
    finish(
        output,
        (wire, model),
        verdict,
        (caught, timed_out.is_some()),
        signals,
    )
    .await
}

/// Waits for the end of a time limit; for ever without one.
async fn deadline(limit: Option<Duration>) -> Duration {
    match limit {
        Some(limit) => {
            tokio::time::sleep(limit).await;
            limit
        }
        None => std::future::pending().await,
    }
}

/// Cancels a conversation; `None` if it does not end by itself soon and was dropped.
async fn stop<T>(
    cancel: &CancellationToken,
    task: &mut JoinHandle<T>,
) -> Option<Result<T, JoinError>> {
    cancel.cancel();
    let joined = timeout(GRACE, &mut *task).await.ok();
    if joined.is_none() {
        // Dropping what it waits for kills its child processes.
        task.abort();
        let _ = task.await;
    }
    joined
}

/// Closes the stream and gives the exit status.
async fn finish(
    output: Output,
    (wire, model): (Wire, Option<ModelRef>),
    verdict: Verdict,
    (caught, timed_out): (Option<Caught>, bool),
    mut signals: Signals,
) -> u8 {
    let ending = match caught {
        Some(caught) => Ending {
            outcome: Outcome::Interrupted,
            exit_code: caught.exit_code,
            error: Some(StreamError {
                code: ErrorCode::Interrupted,
                message: format!("The run was ended by {}.", caught.name),
                retryable: false,
            }),
            model,
        },
        None => Ending {
            outcome: verdict.outcome,
            exit_code: verdict.exit_code(wire),
            error: verdict.error,
            model,
        },
    };
    let code = ending.exit_code;
    let mut given_up = caught;
    let interrupt = async {
        if given_up.is_none() && !timed_out {
            // Lines of a whole run may still wait for a slow reader.
            given_up = Some(signals.next().await);
        }
    };
    let finished = output.finish(ending, interrupt).await;
    match finished.error {
        Some(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            note(&format!(
                "quipu: the event stream could not be written: {error}"
            ));
            exit_code(ErrorCode::Internal)
        }
        Some(_) => exit_code(ErrorCode::Internal),
        None if finished.gave_up => given_up.map_or(code, |caught| caught.exit_code),
        None => code,
    }
}

/// The working directory; where it is gone, what it was called.
fn here() -> PathBuf {
    let named = |_| std::env::var_os("PWD").unwrap_or_default().into();
    std::env::current_dir().unwrap_or_else(named)
}

fn header(stored: StoredSessionHeader) -> SessionHeader {
    SessionHeader {
        version: SessionHeaderVersion,
        id: stored.id,
        timestamp: stored.timestamp,
        cwd: stored.cwd,
        parent_session: stored.parent_session,
        agent_type: stored.agent_type,
        stream: StreamInfo {
            wire: WireName::Quipu,
            version: SCHEMA_VERSION.to_owned(),
            schema: SCHEMA_HASH.to_owned(),
        },
    }
}

fn panic_text(error: JoinError) -> String {
    let Ok(payload) = error.try_into_panic() else {
        return "its task was cancelled".to_owned();
    };
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
        .to_owned()
}
