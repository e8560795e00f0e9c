//! The requests of one decision.

use std::sync::Arc;

use futures_util::StreamExt as _;

use super::answer::{self, Fault};
use super::{Judge, ModelArbiter, Proposal, Refusal, prompt};
use crate::event::tracker::Totals;
use crate::event::{DispatchRoute, ErrorCode, StopReason, Usage, UserContent, UserMessage};
use crate::model::{ModelDelta, ModelError, ModelRequest, Prices, TokenUsage};
use crate::subagent::manager::now;

/// How often the model may answer with something that is no route.
const ATTEMPTS: usize = 2;

/// The longest answer that is read, in bytes. A route is far shorter.
const LONGEST_ANSWER: usize = 64 * 1024;

/// Tokens that have to be left for the answer.
const ROOM: u64 = 1024;

/// Characters of one token, on the safe side.
const CHARS_PER_TOKEN: usize = 4;

/// What the requests of a decision have used. It outlives them: one that is broken off counts too.
#[derive(Debug, Default)]
pub(super) struct Meter {
    requests: u32,
    totals: Totals,
    /// Of the request that is on its way.
    open: TokenUsage,
}

impl Meter {
    fn begin(&mut self, prices: &Prices) {
        self.settle(prices);
        self.requests += 1;
    }

    fn settle(&mut self, prices: &Prices) {
        let open = std::mem::take(&mut self.open);
        self.totals.add(&open.priced(prices));
    }

    /// The sum; none if there was no request.
    pub(super) fn finish(mut self, prices: &Prices) -> Option<Usage> {
        self.settle(prices);
        (self.requests > 0).then_some(self.totals.usage)
    }
}

impl ModelArbiter {
    /// Asks, and asks once more if the answer is no route.
    pub(super) async fn ask(
        &self,
        judge: &Judge,
        proposal: &Proposal,
        route: &DispatchRoute,
        guide: Option<&str>,
        meter: &mut Meter,
    ) -> Result<DispatchRoute, Refusal> {
        let mut fault = None;
        for _ in 0..ATTEMPTS {
            let known = (&self.agents, &self.scope);
            let question = prompt::question(proposal, route, known, guide, fault);
            match judge.answer(question, meter).await? {
                Ok(route) => return answer::check(route, &self.agents, &self.scope),
                Err(wrong) => fault = Some(wrong),
            }
        }
        Err(fault.map_or(Refusal::Internal, Refusal::Malformed))
    }
}

impl Judge {
    /// The route of one answer, or what is wrong with it.
    async fn answer(
        &self,
        question: String,
        meter: &mut Meter,
    ) -> Result<Result<DispatchRoute, Fault>, Refusal> {
        let chars = prompt::SYSTEM.chars().count() + question.chars().count();
        let tokens = chars.div_ceil(CHARS_PER_TOKEN) as u64;
        let window = self.model.context_window.unwrap_or(u64::MAX);
        if tokens.saturating_add(ROOM) > window {
            return Err(Refusal::TooLong);
        }
        meter.begin(&self.model.cost);
        let mut stream = self.provider.stream(ModelRequest {
            system_prompt: prompt::SYSTEM.to_owned(),
            messages: vec![
                UserMessage {
                    content: UserContent::String(question),
                    timestamp: now(),
                }
                .into(),
            ],
            tools: Arc::from([]),
            thinking: self.thinking,
            max_tokens: None,
        });
        let mut text = String::new();
        loop {
            let Some(delta) = stream.next().await else {
                return Err(Refusal::from(&ModelError::network("")));
            };
            match delta {
                Ok(ModelDelta::TextDelta { delta, .. }) if text.len() < LONGEST_ANSWER => {
                    text.push_str(&delta);
                }
                Ok(ModelDelta::Usage(used)) => meter.open = used,
                Ok(ModelDelta::Finished { stop_reason, .. }) => {
                    return match stop_reason {
                        StopReason::Error | StopReason::Aborted => Err(Refusal::Inference {
                            code: ErrorCode::ContentRefused,
                            status: None,
                        }),
                        StopReason::Length => Ok(Err(Fault::Cut)),
                        _ => Ok(answer::read(&text)),
                    };
                }
                Ok(_) => {}
                Err(error) => return Err(Refusal::from(&error)),
            }
        }
    }
}

/// Only the kind: the message may quote the service.
impl From<&ModelError> for Refusal {
    fn from(error: &ModelError) -> Self {
        match error.code {
            ErrorCode::ContextOverflow => Self::TooLong,
            code => Self::Inference {
                code,
                status: error.status,
            },
        }
    }
}
