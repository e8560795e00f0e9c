//! The agent: prompts in, events out.
//!
//! [`Agent::prompt`] plays one run: `agent_start`, turns of one model answer plus its tool calls, and
//! `agent_end`. It says what happens only through its [`EventSender`]; it never prints and knows nothing
//! of the wire its events end on.

mod answer;
mod dispatch;
mod names;
mod prompt;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio_util::sync::CancellationToken;

use crate::config::Secrets;
use crate::event::{
    AgentEndEvent, AgentMessage, AgentStartEvent, AssistantContent, AssistantMessage, ErrorCode,
    MessageEndEvent, MessageStartEvent, ModelRef, StopReason, StreamError, ThinkingLevel, ToolCall,
    TurnEndEvent, TurnStartEvent, UserContent, UserMessage,
};
use crate::model::{Model, Provider, ToolSpec};
use crate::session::{SessionError, SessionStore};
use crate::tool::{Tool, ToolEnv};
use crate::wire::{EventSender, StreamClosed};

pub use names::resolve;
pub use prompt::system_prompt;

/// What an agent works with.
pub struct AgentConfig {
    /// The model that answers.
    pub model: Model,
    /// The connection to it.
    pub provider: Box<dyn Provider>,
    /// How much the model is asked to think.
    pub thinking: ThinkingLevel,
    /// See [`system_prompt`].
    pub system_prompt: String,
    /// The tools the model may call.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Where tools work.
    pub cwd: PathBuf,
    /// What tools may know and leave behind.
    pub tool_env: Arc<ToolEnv>,
    /// Values that must not reach a line.
    pub secrets: Arc<Secrets>,
    /// What is kept of the conversation.
    pub session: SessionStore,
    /// Where events go.
    pub events: EventSender,
    /// Cancelled when the run is to stop: a signal, or a reader that went away.
    pub cancel: CancellationToken,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEnd {
    /// The model gave a final answer.
    Completed,
    /// The model failed.
    Failed(StreamError),
    /// The run was cancelled.
    Aborted,
}

/// Why a run stops where it is.
#[derive(Debug, thiserror::Error)]
pub enum Halt {
    /// Nobody reads the events any more.
    #[error(transparent)]
    Closed(#[from] StreamClosed),
    /// The session cannot be kept. Going on would lose what happens.
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// One conversation with one model.
pub struct Agent {
    config: AgentConfig,
    /// The tools as the model is told of them.
    specs: Arc<[ToolSpec]>,
    /// The whole conversation, oldest first.
    messages: Vec<AgentMessage>,
}

impl Agent {
    /// An agent without history.
    #[must_use]
    pub fn new(config: AgentConfig) -> Self {
        let spec = |tool: &Arc<dyn Tool>| ToolSpec {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            parameters: tool.parameters(),
        };
        let specs = config.tools.iter().map(spec).collect();
        Self {
            config,
            specs,
            messages: Vec::new(),
        }
    }

    /// Plays one run for a user's message.
    ///
    /// # Errors
    /// [`Halt`]: the run is then left as it is.
    pub async fn prompt(&mut self, content: UserContent) -> Result<RunEnd, Halt> {
        let first = self.messages.len();
        let config = &self.config;
        let model = ModelRef {
            provider: config.model.provider.clone(),
            id: config.model.id.clone(),
        };
        self.emit(AgentStartEvent {
            model: Some(model),
            thinking_level: Some(config.thinking),
        })
        .await?;
        self.emit(TurnStartEvent {}).await?;
        self.announce(
            UserMessage {
                content,
                timestamp: now(),
            }
            .into(),
        )
        .await?;

        let end = loop {
            let (answer, failure) = self.answer().await?;
            let calls = calls_of(&answer);
            let results = match answer.stop_reason {
                StopReason::Error | StopReason::Aborted => Vec::new(),
                StopReason::Pending
                | StopReason::Stop
                | StopReason::Length
                | StopReason::ToolUse => self.run_tools(&calls, answer.stop_reason).await?,
            };
            let ends_turn = results.iter().any(|result| result.ends_turn);
            let tool_results: Vec<_> = results.into_iter().map(|result| result.message).collect();
            for result in &tool_results {
                self.announce(result.clone().into()).await?;
            }
            let goes_on = !tool_results.is_empty() && !ends_turn;
            self.emit(TurnEndEvent {
                message: answer,
                tool_results,
            })
            .await?;
            if let Some(failure) = failure {
                break failure;
            }
            if self.config.cancel.is_cancelled() {
                break RunEnd::Aborted;
            }
            if !goes_on {
                break RunEnd::Completed;
            }
            self.emit(TurnStartEvent {}).await?;
        };

        let messages = self.messages[first..].to_vec();
        self.emit(AgentEndEvent {
            messages,
            will_retry: false,
            abort_cause: None,
        })
        .await?;
        Ok(end)
    }

    /// Adds a whole message to the conversation: `message_start` directly followed by `message_end`.
    async fn announce(&mut self, message: AgentMessage) -> Result<(), Halt> {
        self.emit(MessageStartEvent {
            message: message.clone(),
        })
        .await?;
        self.complete(message).await
    }

    /// Adds a message that is whole now. It is in the session before anybody hears of its end.
    async fn complete(&mut self, message: AgentMessage) -> Result<(), Halt> {
        self.config.session.append_message(&message)?;
        self.messages.push(message.clone());
        self.emit(MessageEndEvent { message }).await?;
        Ok(())
    }

    async fn emit(&self, event: impl Into<crate::event::QuipuEvent>) -> Result<(), StreamClosed> {
        self.config.events.send(event).await
    }
}

fn calls_of(answer: &AssistantMessage) -> Vec<ToolCall> {
    let call = |block: &AssistantContent| match block {
        AssistantContent::ToolCall(call) => Some(call.clone()),
        AssistantContent::Text(_) | AssistantContent::Thinking(_) => None,
    };
    answer.content.iter().filter_map(call).collect()
}

/// Milliseconds since the Unix epoch.
fn now() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or(Duration::ZERO);
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl RunEnd {
    fn failed(code: ErrorCode, message: String, retryable: bool) -> Self {
        Self::Failed(StreamError {
            code,
            message,
            retryable,
        })
    }
}
