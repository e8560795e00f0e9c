//! The built-in tools: what a model may do to the machine.
//!
//! A tool parses its arguments first ([`Tool::call`] fails before anything runs) and then works in
//! the returned future. Every text it returns is bounded by [`Limits`]; nothing it runs can reach
//! our own standard output.

mod arguments;
mod bash;
mod diff;
mod edit;
mod error;
mod file;
mod find;
mod glob;
mod grep;
mod image;
mod limit;
mod ls;
mod matching;
mod path;
mod process;
mod read;
mod spool;
mod suggest;
mod tasks;
mod terminal;
mod walk;
mod write;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::event::{InputContent, QuipuEvent, TextContent, ToolResult};

pub use arguments::InvalidArguments;
pub(crate) use arguments::{parse as parse_arguments, schema as schema_of};
pub use error::{EditError, ToolError};
pub(crate) use image::{format as image_format, load as load_image};
pub use limit::{Limits, TruncatedBy, Truncation};
pub(crate) use process::Group;
pub use process::ProcessGroups;
pub(crate) use suggest::is_unseen;

/// The work of one call. Dropping it stops the work and kills the processes it started; a file
/// that is being replaced is either the old or the new one.
pub type ToolFuture = BoxFuture<'static, Result<ToolOutput, ToolError>>;

/// One tool that a model can call.
pub trait Tool: Send + Sync {
    /// The name in the model's tool list and on the wire.
    fn name(&self) -> &'static str;

    /// What the tool does and where its limits are, for the model.
    fn description(&self) -> &str;

    /// The JSON Schema of the arguments: an object schema without references.
    fn parameters(&self) -> Value;

    /// Checks `args` and returns the work to be awaited; nothing has happened yet.
    ///
    /// # Errors
    /// [`InvalidArguments`], whose text is for the model.
    fn call(
        &self,
        args: &Map<String, Value>,
        ctx: ToolContext,
    ) -> Result<ToolFuture, InvalidArguments>;
}

/// The built-in tools in their order for the model: read, bash, edit, write, grep, find, ls,
/// `tasks_update`, `suggest_next`.
#[must_use]
pub fn builtin() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(read::Read),
        Arc::new(bash::Bash),
        Arc::new(edit::Edit),
        Arc::new(write::Write),
        Arc::new(grep::Grep),
        Arc::new(find::Find),
        Arc::new(ls::Ls),
        Arc::new(tasks::TasksUpdate),
        Arc::new(suggest::SuggestNext),
    ]
}

/// What a call needs to know of the run it belongs to.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// The folder that relative paths and commands start from.
    pub cwd: PathBuf,
    /// Cancelled to abort the call; the call then ends soon with an error.
    pub cancel: CancellationToken,
    /// Takes snapshots of the result so far, at most one every 100 ms.
    pub updates: UpdateSink,
    /// What all calls of a process share.
    pub env: Arc<ToolEnv>,
}

/// What all calls of a process share.
#[derive(Clone, Debug)]
pub struct ToolEnv {
    /// Environment variables that children do not get (the names of credentials).
    pub hidden_variables: Vec<OsString>,
    /// Where files with the full output of commands go; made when it is first needed.
    pub output_dir: PathBuf,
    /// How much text a result may hold.
    pub limits: Limits,
    /// Scale images down to what services take; else they are sent as they are.
    pub resize_images: bool,
    /// The process groups of running commands, and of ended ones that left a child behind.
    pub groups: ProcessGroups,
}

impl Default for ToolEnv {
    /// Nothing hidden, output files in the system's temporary folder, the usual limits, images
    /// resized.
    fn default() -> Self {
        Self {
            hidden_variables: Vec::new(),
            output_dir: std::env::temp_dir(),
            limits: Limits::default(),
            resize_images: true,
            groups: ProcessGroups::default(),
        }
    }
}

/// Where a tool sends snapshots of its result while it works.
#[derive(Clone)]
pub struct UpdateSink(Arc<dyn Fn(ToolResult) + Send + Sync>);

impl UpdateSink {
    /// A sink that calls `take` with each snapshot. `take` must not block; if it cannot keep up it
    /// may drop all but the newest, for each snapshot holds everything so far.
    pub fn new(take: impl Fn(ToolResult) + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    /// Sends the result so far.
    pub fn send(&self, partial: ToolResult) {
        (self.0)(partial);
    }
}

impl fmt::Debug for UpdateSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UpdateSink")
    }
}

/// The end of a call that ran.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    /// What the model and the stream get.
    pub result: ToolResult,
    /// Whether the work failed, such as a command with a non-zero exit status.
    pub is_error: bool,
    /// Events that tell of what the call did beside its result; written before the end of the call.
    pub events: Vec<QuipuEvent>,
}

impl ToolOutput {
    /// A success of one text block; `details` as the tool's consumers expect them, or absent.
    #[must_use]
    pub fn text(text: impl Into<String>, details: Option<Value>) -> Self {
        let content = vec![text_block(text.into())];
        Self {
            result: ToolResult {
                content,
                details,
                end_turn: None,
            },
            is_error: false,
            events: Vec::new(),
        }
    }

    /// The same, asking that the model is not called again in this run.
    #[must_use]
    pub fn ending_turn(mut self) -> Self {
        self.result.end_turn = Some(true);
        self
    }

    /// The same, telling of what the call did by an event.
    #[must_use]
    pub fn with_event(mut self, event: impl Into<QuipuEvent>) -> Self {
        self.events.push(event.into());
        self
    }

    /// A failure told in one text block, with empty details.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        let details = Some(Value::Object(Map::new()));
        Self {
            is_error: true,
            ..Self::text(text, details)
        }
    }
}

impl From<ToolError> for ToolOutput {
    fn from(error: ToolError) -> Self {
        Self::error(error.to_string())
    }
}

impl From<InvalidArguments> for ToolOutput {
    fn from(error: InvalidArguments) -> Self {
        Self::error(error.to_string())
    }
}

fn text_block(text: String) -> InputContent {
    TextContent {
        text,
        text_signature: None,
    }
    .into()
}

/// Runs file work on the blocking pool.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| ToolError::Internal)?
}

/// Runs work that only reads on the blocking pool. It may hang in the kernel (a dead network disk):
/// an abort does not wait for it. The token that `work` gets tells it to stop after an abort, or
/// when nobody waits any more.
async fn reading<T: Send + 'static>(
    cancel: &CancellationToken,
    work: impl FnOnce(CancellationToken) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let stop = cancel.child_token();
    let _stop_on_drop = stop.clone().drop_guard();
    tokio::select! {
        result = blocking(move || work(stop)) => result,
        () = cancel.cancelled() => Err(ToolError::Aborted),
    }
}

#[cfg(test)]
mod testing;

#[cfg(test)]
mod tests {
    #[test]
    fn the_tools_have_their_order_and_one_line_each() {
        let tools = super::builtin();
        let names: Vec<_> = tools.iter().map(|tool| tool.name()).collect();
        let expected = [
            "read",
            "bash",
            "edit",
            "write",
            "grep",
            "find",
            "ls",
            "tasks_update",
            "suggest_next",
        ];
        assert_eq!(names, expected);
        for tool in tools {
            assert!(!tool.description().contains('\n'), "{}", tool.name());
            assert_eq!(tool.parameters()["type"], "object");
        }
    }
}
