//! A run in JSON mode, from the header to the exit status.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinError;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::signal::{Caught, Signals};
use super::{Args, Failure, exit_code, note, stdin};
use crate::agent::{Agent, AgentConfig, RunEnd, system_prompt};
use crate::config::{Paths, Secrets};
use crate::event::{ErrorCode, Outcome, SessionHeader, StreamError, UserContent};
use crate::tool::{Tool, ToolEnv};
use crate::wire::{Ending, EventSender, Output, Wire, WireOptions};

/// How long a cancelled run may take to end by itself before its open ends are closed for it.
const GRACE: Duration = Duration::from_millis(700);

/// Plays the prompts of the arguments.
pub(super) fn run(args: &Args) -> ExitCode {
    todo!()
}

/// Reports a start-up failure as a stream.
pub(super) fn fail(wire: Wire, failure: Failure) -> ExitCode {
    todo!()
}
