//! The agent: prompts in, events out.
//!
//! [`Agent::prompt`] plays one run: `agent_start`, turns of one model answer plus its tool calls, and
//! `agent_end`. It says what happens only through its [`EventSender`]; it never prints and knows nothing
//! of the wire its events end on.

mod answer;
mod background;
mod compaction;
mod dispatch;
mod fallback;
mod names;
mod prompt;
mod retry;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio_util::sync::CancellationToken;

use crate::config::Secrets;
use crate::event::{
    AgentEndEvent, AgentMessage, AgentStartEvent, AssistantContent, AssistantMessage,
    AutoRetryEndEvent, AutoRetryStartEvent, ErrorCode, MessageEndEvent, MessageStartEvent,
    ModelRef, StreamError, ThinkingLevel, ToolCall, TurnEndEvent, TurnStartEvent, UserContent,
    UserMessage,
};
use crate::model::{Model, ModelError, Provider, ToolSpec};
use crate::session::{ContextEntry, SessionError, SharedSession};
use crate::tool::{Tool, ToolEnv};
use crate::wire::{EventSender, StreamClosed};

pub use background::Background;
pub use compaction::CompactionPolicy;
use compaction::Compactions;
pub use fallback::{FallbackModel, FallbackModels};
pub use names::resolve;
pub use prompt::system_prompt;
use retry::Next;
pub use retry::RetryPolicy;

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
    pub session: SharedSession,
    /// What it held before, oldest first.
    pub context: Vec<ContextEntry>,
    /// Where events go.
    pub events: EventSender,
    /// Cancelled when the run is to stop: a signal, or a reader that went away.
    pub cancel: CancellationToken,
    /// Where the conversation ends though the model would go on.
    pub limits: Limits,
    /// What to do when the model fails.
    pub retry: RetryPolicy,
    /// What to do when the conversation grows too long.
    pub compaction: CompactionPolicy,
    /// The models that take over when it fails for good.
    pub fallback: Option<Box<dyn FallbackModels>>,
    /// The agents that work beside the conversation, if it may have any.
    pub background: Option<Background>,
}

/// Bounds on a whole conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Most turns, which are model answers.
    pub max_turns: Option<u64>,
    /// Cost in US dollars after which no further answer is asked for.
    pub max_cost: Option<f64>,
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
    /// The run would have gone on, but a limit of the conversation was reached.
    Limit(StreamError),
}

/// How one attempt at a run ended.
enum Played {
    /// For good.
    Ended(RunEnd),
    /// It failed and is tried again.
    Retry {
        delay: Duration,
        error_message: String,
        /// The model that is asked then; the same one if `None`.
        fallback_model: Option<Box<FallbackModel>>,
    },
    /// The conversation is too long for the model.
    Overflow(StreamError),
}

/// How a turn ended.
enum Turn {
    Whole { goes_on: bool },
    Failed(ModelError),
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

/// One conversation with a model, or with those that take over from it.
pub struct Agent {
    config: AgentConfig,
    /// The tools as the model is told of them.
    specs: Arc<[ToolSpec]>,
    /// The conversation as the model is given it, oldest first.
    context: Vec<ContextEntry>,
    /// The messages of the run.
    run: Vec<AgentMessage>,
    /// Turns so far.
    turns: u64,
    /// Cost of all answers and summaries so far, in US dollars.
    cost: f64,
    /// Retries so far in the open series; 0 when none is open.
    retries: u32,
    /// Whether the first of them is the first request to a model that took over.
    handed_over: bool,
    compactions: Compactions,
    /// The model that others have taken over from.
    original: Option<ModelRef>,
    guard: background::Guard,
    /// What the model is to hear of agents that the session does not hear from any more.
    lost: Option<String>,
}

impl Agent {
    /// An agent that goes on with the context of its session.
    #[must_use]
    pub fn new(mut config: AgentConfig) -> Self {
        let spec = |tool: &Arc<dyn Tool>| ToolSpec {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            parameters: tool.parameters(),
        };
        let specs = config.tools.iter().map(spec).collect();
        let context = std::mem::take(&mut config.context);
        Self {
            config,
            specs,
            compactions: Compactions::resumed(&context),
            lost: background::lost(&context),
            context,
            run: Vec::new(),
            turns: 0,
            cost: 0.0,
            retries: 0,
            handed_over: false,
            original: None,
            guard: background::Guard::default(),
        }
    }

    /// Plays one run for a user's message.
    ///
    /// # Errors
    /// [`Halt`]: the run is then left as it is.
    pub async fn prompt(&mut self, mut content: UserContent) -> Result<RunEnd, Halt> {
        self.scrub_prompt(&mut content);
        let timestamp = now();
        self.play(UserMessage { content, timestamp }).await
    }

    /// Plays one run for a message that needs no scrubbing, with the attempts that follow a failure.
    async fn play(&mut self, prompt: UserMessage) -> Result<RunEnd, Halt> {
        let mut prompt = Some(prompt);
        self.reset_compactions();
        loop {
            match self.run(prompt.take()).await? {
                Played::Ended(end) => return self.compact_after(end).await,
                Played::Overflow(error) => {
                    if let Some(end) = self.recover(error).await? {
                        return Ok(end);
                    }
                }
                Played::Retry {
                    delay,
                    error_message,
                    fallback_model,
                } => {
                    if fallback_model.is_some() {
                        // The attempts of each model are counted by themselves.
                        self.retries = 0;
                        self.handed_over = true;
                    }
                    if let Some(end) = self.wait(delay, error_message).await? {
                        return Ok(end);
                    }
                    if let Some(fallback_model) = fallback_model {
                        self.take_over(*fallback_model).await?;
                    }
                }
            }
        }
    }

    /// One pair of `agent_start` and `agent_end`. A retry has no prompt: it goes on where the failed
    /// attempt was.
    async fn run(&mut self, prompt: Option<UserMessage>) -> Result<Played, Halt> {
        self.run.clear();
        let config = &self.config;
        self.emit(AgentStartEvent {
            model: Some(fallback::named(&config.model)),
            thinking_level: Some(config.thinking),
        })
        .await?;
        let stopped = match &prompt {
            Some(prompt) => self.compact_before(prompt).await?,
            None => None,
        };
        let played = match stopped {
            Some(end) => Played::Ended(end),
            None => self.turns(prompt).await?,
        };

        let messages = std::mem::take(&mut self.run);
        let will_retry = matches!(played, Played::Retry { .. });
        self.emit(AgentEndEvent {
            messages,
            will_retry,
            abort_cause: None,
        })
        .await?;
        let final_error = match &played {
            Played::Retry { .. } => return Ok(played),
            Played::Ended(RunEnd::Failed(error) | RunEnd::Limit(error))
            | Played::Overflow(error) => error.message.clone(),
            Played::Ended(RunEnd::Completed | RunEnd::Aborted) => {
                "The retry was aborted.".to_owned()
            }
        };
        self.close_series(final_error).await?;
        Ok(played)
    }

    /// The turns of a run, the first of which takes up the prompt.
    async fn turns(&mut self, prompt: Option<UserMessage>) -> Result<Played, Halt> {
        self.emit(TurnStartEvent {}).await?;
        if let Some(prompt) = prompt {
            self.announce(prompt.into()).await?;
        }
        self.steer().await?;
        loop {
            let turn = self.turn().await?;
            self.turn_ended();
            match turn {
                Turn::Failed(error) => return Ok(self.after_failure(error).await),
                Turn::Aborted => return Ok(Played::Ended(RunEnd::Aborted)),
                Turn::Whole { goes_on: false } => match self.no_room() {
                    Some(error) if self.limit_reached().is_none() => {
                        return Ok(Played::Overflow(error));
                    }
                    _ if self.has_result() => {}
                    _ => return Ok(Played::Ended(RunEnd::Completed)),
                },
                Turn::Whole { goes_on: true } => {}
            }
            if let Some(limit) = self.limit_reached() {
                return Ok(Played::Ended(RunEnd::Limit(limit)));
            }
            if self.gives_way().await? {
                return Ok(Played::Ended(RunEnd::Completed));
            }
            if let Some(end) = self.compact_between_turns().await? {
                return Ok(Played::Ended(end));
            }
            self.emit(TurnStartEvent {}).await?;
            self.steer().await?;
        }
    }

    /// One answer and its tool calls; its `turn_start` is written already.
    async fn turn(&mut self) -> Result<Turn, Halt> {
        let (answer, stopped) = self.answer().await?;
        self.turns += 1;
        self.cost += answer.usage.cost.total.get();
        if stopped.is_none() {
            self.note_answer();
        }
        if stopped.is_none() && self.retries > 0 {
            let attempt = self.end_series();
            self.emit(AutoRetryEndEvent {
                success: true,
                attempt,
                final_error: None,
            })
            .await?;
        }
        let calls = if stopped.is_some() {
            Vec::new()
        } else {
            calls_of(&answer)
        };
        let results = self.run_tools(&calls, answer.stop_reason).await?;
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
        Ok(match stopped {
            Some(stopped) => stopped,
            None if self.config.cancel.is_cancelled() => Turn::Aborted,
            None => Turn::Whole { goes_on },
        })
    }

    /// Whether a failed run is tried again, with the same model or with the next one.
    async fn after_failure(&mut self, error: ModelError) -> Played {
        let retries = self.retries.saturating_sub(self.handed_over.into());
        let next = self.config.retry.next(retries, &error);
        if let Some(end) = self.limited(&error, next) {
            return Played::Ended(end);
        }
        let mut message = error.message.clone();
        match next {
            Next::Retry(delay) => {
                return Played::Retry {
                    delay,
                    error_message: message,
                    fallback_model: None,
                };
            }
            Next::GiveUp => {}
            Next::TooLong(hint) => {
                let _ = write!(
                    message,
                    " (not tried again: the service asks to wait {}, which is longer than the settings \
                     allow, see retry.maxDelayMs)",
                    humantime::format_duration(hint)
                );
            }
        }
        if let Some(fallback_model) = self.fallback_model(&error).await {
            let Model { provider, id, .. } = &fallback_model.model;
            let _ = write!(message, " ({provider}/{id} takes over)");
            return Played::Retry {
                delay: Duration::ZERO,
                error_message: message,
                fallback_model: Some(Box::new(fallback_model)),
            };
        }
        if self.config.cancel.is_cancelled() {
            return Played::Ended(RunEnd::Aborted);
        }
        let overflow = error.code == ErrorCode::ContextOverflow;
        let error = StreamError {
            code: error.code,
            message,
            retryable: error.retryable,
        };
        if overflow && self.compacts() {
            return Played::Overflow(error);
        }
        Played::Ended(RunEnd::Failed(error))
    }

    /// How a failed run ends when a limit forbids what would come next.
    fn limited(&self, error: &ModelError, next: Next) -> Option<RunEnd> {
        let limit = self.limit_reached()?;
        let goes_on = matches!(next, Next::Retry(_))
            || self.has_successor(error)
            || error.code == ErrorCode::ContextOverflow && self.compacts();
        Some(if self.config.cancel.is_cancelled() {
            RunEnd::Aborted
        } else if goes_on {
            RunEnd::Limit(StreamError {
                message: format!(
                    "{} The last answer failed: {}",
                    limit.message, error.message
                ),
                ..limit
            })
        } else {
            RunEnd::Failed(StreamError {
                code: error.code,
                message: error.message.clone(),
                retryable: error.retryable,
            })
        })
    }

    /// Tells of a retry and waits for it; gives the end of the run if it is cancelled meanwhile.
    async fn wait(
        &mut self,
        delay: Duration,
        error_message: String,
    ) -> Result<Option<RunEnd>, Halt> {
        self.retries += 1;
        self.emit(AutoRetryStartEvent {
            attempt: self.retries.into(),
            max_attempts: u64::from(self.config.retry.max_retries) + u64::from(self.handed_over),
            delay_ms: u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
            error_message,
        })
        .await?;
        tokio::select! {
            biased;
            () = self.config.cancel.cancelled() => {
                self.close_series("The retry was aborted.".to_owned()).await?;
                Ok(Some(RunEnd::Aborted))
            }
            () = tokio::time::sleep(delay) => Ok(None),
        }
    }

    /// Ends a series of retries that did not lead to a good answer, if there is one.
    async fn close_series(&mut self, final_error: String) -> Result<(), Halt> {
        if self.retries == 0 {
            return Ok(());
        }
        let attempt = self.end_series();
        let final_error = Some(final_error);
        self.emit(AutoRetryEndEvent {
            success: false,
            attempt,
            final_error,
        })
        .await?;
        Ok(())
    }

    /// The number of the last retry of the series, which is over.
    fn end_series(&mut self) -> u64 {
        self.handed_over = false;
        std::mem::take(&mut self.retries).into()
    }

    /// The limit that forbids a further model answer, if one does.
    #[must_use]
    pub fn limit_reached(&self) -> Option<StreamError> {
        let Limits {
            max_turns,
            max_cost,
        } = self.config.limits;
        let beside = self.config.background.as_ref();
        let cost = self.cost + beside.map_or(0.0, |background| background.manager.cost());
        let message = match (max_turns, max_cost) {
            (Some(turns), _) if self.turns >= turns => {
                format!("The limit of {turns} turns is reached (--max-turns).")
            }
            (_, Some(limit)) if cost >= limit => {
                format!("The answers have cost ${cost:.6}, and the limit is ${limit} (--max-cost).")
            }
            _ => return None,
        };
        Some(StreamError {
            code: ErrorCode::Limit,
            message,
            retryable: false,
        })
    }

    /// Adds a whole message to the conversation: `message_start` directly followed by `message_end`.
    async fn announce(&mut self, message: AgentMessage) -> Result<(), Halt> {
        self.keep(&message)?;
        self.emit(MessageStartEvent {
            message: message.clone(),
        })
        .await?;
        self.emit(MessageEndEvent { message }).await?;
        Ok(())
    }

    /// Adds a message that is whole, before anybody hears that it is: what was announced is in the
    /// session, whatever happens next.
    fn keep(&mut self, message: &AgentMessage) -> Result<(), SessionError> {
        let id = self.config.session.lock().append_message(message)?;
        self.context.push(ContextEntry {
            id,
            message: message.clone(),
        });
        self.run.push(message.clone());
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
