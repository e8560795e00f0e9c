//! The requests that a summary is made with, and what is told of them.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;

use super::super::{Agent, Halt, now, retry::Next};
use super::prompt;
use crate::event::tracker::Totals;
use crate::event::{
    CompactionProgressEvent, CompactionReason, ErrorCode, StopReason,
    SummarizationRetryAttemptStartCompactionEvent,
    SummarizationRetryAttemptStartCompactionEventSource, SummarizationRetryFinishedEvent,
    SummarizationRetryScheduledEvent, ThinkingLevel, Usage, UserContent, UserMessage,
};
use crate::model::{ModelDelta, ModelError, ModelRequest, TokenUsage, clamp_thinking};
use crate::wire::StreamClosed;

/// Characters of the shortest summary: fewer cannot stand for a conversation.
const SHORTEST: usize = 10;

/// Why there is no summary.
#[derive(Debug)]
pub(super) enum NoSummary {
    Failed(ModelError),
    Aborted,
}

/// A summary as it grows, told piece by piece: what `compaction_progress` lines add up to is its text.
pub(super) struct Summariser<'a> {
    agent: &'a Agent,
    reason: CompactionReason,
    text: String,
    totals: Totals,
}

impl<'a> Summariser<'a> {
    pub(super) fn new(agent: &'a Agent, reason: CompactionReason) -> Self {
        Self {
            agent,
            reason,
            text: String::new(),
            totals: Totals::default(),
        }
    }

    /// The text, and the usage of every request that was made for it.
    pub(super) fn finish(self) -> (String, Usage) {
        (self.text, self.totals.usage)
    }

    /// Bytes of the text so far.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Adds a text that the model has not written just now. An earlier summary may hold a secret: it
    /// was kept when that was none yet, or by another program.
    pub(super) async fn add(&mut self, text: &str) -> Result<(), StreamClosed> {
        let text = self.agent.config.secrets.scrub(text).into_owned();
        self.push(text).await
    }

    /// Adds a text without secrets.
    async fn push(&mut self, text: String) -> Result<(), StreamClosed> {
        if text.is_empty() {
            return Ok(());
        }
        self.text.push_str(&text);
        self.tell(Some(text), None).await
    }

    /// Declares void what was written from `begin` on.
    pub(super) async fn take_back(&mut self, begin: usize) -> Result<(), StreamClosed> {
        if self.text.len() <= begin {
            return Ok(());
        }
        self.text.truncate(begin);
        self.tell(None, Some(self.text.clone())).await
    }

    /// Adds the model's answer to `question`; a failure that may pass is tried again.
    pub(super) async fn ask(
        &mut self,
        question: &str,
        max_tokens: u64,
    ) -> Result<Result<(), NoSummary>, Halt> {
        let begin = self.text.len();
        let mut retries = 0;
        let end = loop {
            let error = match self.attempt(question, max_tokens).await? {
                Err(NoSummary::Failed(error)) => error,
                end => break end,
            };
            let policy = &self.agent.config.retry;
            let Next::Retry(delay) = policy.next(retries, &error) else {
                break Err(NoSummary::Failed(error));
            };
            retries += 1;
            self.take_back(begin).await?;
            let scheduled = SummarizationRetryScheduledEvent {
                attempt: retries.into(),
                max_attempts: policy.max_retries.into(),
                delay_ms: u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
                error_message: error.message,
            };
            self.agent.emit(scheduled).await?;
            if !self.waited(delay).await {
                break Err(NoSummary::Aborted);
            }
            let again = SummarizationRetryAttemptStartCompactionEvent {
                source: SummarizationRetryAttemptStartCompactionEventSource,
                reason: self.reason,
            };
            self.agent.emit(again).await?;
        };
        if retries > 0 {
            self.agent.emit(SummarizationRetryFinishedEvent {}).await?;
        }
        Ok(end)
    }

    /// Waits; false if that is cut short.
    async fn waited(&self, delay: Duration) -> bool {
        tokio::select! {
            biased;
            () = self.agent.config.cancel.cancelled() => false,
            () = tokio::time::sleep(delay) => true,
        }
    }

    async fn attempt(
        &mut self,
        question: &str,
        max_tokens: u64,
    ) -> Result<Result<(), NoSummary>, StreamClosed> {
        let mut usage = TokenUsage::default();
        let end = self.stream(question, max_tokens, &mut usage).await;
        let model = &self.agent.config.model;
        self.totals.add(&usage.priced(&model.cost));
        let scrub = |error: ModelError| ModelError {
            message: self.agent.config.secrets.scrub(&error.message).into_owned(),
            ..error
        };
        Ok(end?.map_err(|end| match end {
            NoSummary::Failed(error) => NoSummary::Failed(scrub(error)),
            NoSummary::Aborted => NoSummary::Aborted,
        }))
    }

    async fn stream(
        &mut self,
        question: &str,
        max_tokens: u64,
        usage: &mut TokenUsage,
    ) -> Result<Result<(), NoSummary>, StreamClosed> {
        let begin = self.text.len();
        let config = &self.agent.config;
        let mut stream = config.provider.stream(ModelRequest {
            system_prompt: prompt::SYSTEM.to_owned(),
            messages: vec![
                UserMessage {
                    content: UserContent::String(question.to_owned()),
                    timestamp: now(),
                }
                .into(),
            ],
            tools: Arc::from([]),
            thinking: thinking(self.agent),
            max_tokens: Some(max_tokens),
        });
        let mut tail = String::new();
        loop {
            let delta = tokio::select! {
                biased;
                () = config.cancel.cancelled() => return Ok(Err(NoSummary::Aborted)),
                delta = stream.next() => delta,
            };
            match delta {
                Some(Ok(ModelDelta::TextDelta { delta, .. })) => {
                    let piece = config.secrets.scrub_piece(&mut tail, delta);
                    self.push(piece).await?;
                }
                Some(Ok(ModelDelta::Usage(counted))) => *usage = counted,
                Some(Ok(ModelDelta::Finished {
                    stop_reason,
                    refusal,
                })) => {
                    self.add(&std::mem::take(&mut tail)).await?;
                    let written = self.text[begin..].trim();
                    let none = written.chars().nth(SHORTEST - 1).is_none();
                    return Ok(match (stop_reason, refusal) {
                        (StopReason::Error, refusal) => Err(refused(refusal)),
                        _ if none => Err(NoSummary::Failed(ModelError::provider(
                            "The model wrote no summary, or hardly a word.",
                        ))),
                        (StopReason::Length, _) => {
                            self.push(prompt::CUT_OFF.to_owned()).await?;
                            Ok(())
                        }
                        _ => Ok(()),
                    });
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Ok(Err(NoSummary::Failed(error))),
                None => {
                    return Ok(Err(NoSummary::Failed(ModelError::network(
                        "The summary ended before the service said that it was complete.",
                    ))));
                }
            }
        }
    }

    async fn tell(&self, delta: Option<String>, text: Option<String>) -> Result<(), StreamClosed> {
        self.agent
            .emit(CompactionProgressEvent {
                reason: self.reason,
                delta,
                text,
            })
            .await
    }
}

fn refused(refusal: Option<String>) -> NoSummary {
    let text = refusal.unwrap_or_else(|| "The model refused to write a summary.".to_owned());
    NoSummary::Failed(ModelError::new(ErrorCode::ContentRefused, text))
}

/// The level of the conversation, but at most medium: notes need no long thought, and it would be
/// taken from the tokens that the summary has.
fn thinking(agent: &Agent) -> ThinkingLevel {
    let wanted = agent.config.thinking.min(ThinkingLevel::Medium);
    clamp_thinking(&agent.config.model, wanted).0
}
