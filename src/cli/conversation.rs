//! From arguments to an agent, and its prompts in a row.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::run::Stop;
use super::{Args, Failure, exit_code, note, stdin};
use crate::agent::{Agent, AgentConfig, RunEnd, system_prompt};
use crate::event::{ErrorCode, Outcome, StreamError, UserContent};
use crate::tool::{self, Tool, ToolEnv};
use crate::wire::EventSender;

/// The tools of the preset `--tools read-only`.
const READ_ONLY: [&str; 4] = ["read", "grep", "find", "ls"];

/// How a conversation ended: that of its worst run.
pub(super) struct Verdict {
    pub(super) outcome: Outcome,
    pub(super) error: Option<StreamError>,
}

impl Verdict {
    pub(super) fn failed(error: StreamError) -> Self {
        Self { outcome: Outcome::Failed, error: Some(error) }
    }

    pub(super) fn aborted() -> Self {
        Self { outcome: Outcome::Aborted, error: None }
    }

    /// The exit status that tells of it.
    pub(super) fn exit_code(&self) -> u8 {
        match (self.outcome, &self.error) {
            (Outcome::Completed, _) => 0,
            (_, Some(error)) => exit_code(error.code),
            (_, None) => 1,
        }
    }

    fn worse(self, end: RunEnd) -> Self {
        match (self.outcome, end) {
            (Outcome::Completed, RunEnd::Failed(error)) => Self::failed(error),
            (Outcome::Completed, RunEnd::Aborted) => Self::aborted(),
            _ => self,
        }
    }
}

/// Plays the prompts of the arguments, each as a run of its own; a failed one does not stop the next.
pub(super) async fn play(
    args: Args,
    events: EventSender,
    cancel: CancellationToken,
    tool_env: Arc<ToolEnv>,
    cwd: PathBuf,
) -> Result<Verdict, Stop> {
    let mut agent = agent(&args, events, cancel.clone(), tool_env, cwd)?;
    let mut verdict = Verdict { outcome: Outcome::Completed, error: None };
    for prompt in prompts(&args).await? {
        verdict = verdict.worse(agent.prompt(prompt).await?);
        if cancel.is_cancelled() {
            break;
        }
    }
    Ok(verdict)
}
