//! The grammar of what lies around the turns: retries, compactions, background agents.

use super::order::{Step, not_open, refuse_if, same};
use super::{Background, OrderFault, Place, Retry, Tracker};
use crate::event::{
    ArbitrationStatus, AutoRetryEndEvent, AutoRetryStartEvent, BackgroundAgentStartEvent,
    CompactionEndEvent, CompactionReason, CompactionStartEvent, SubagentArbitrationEvent,
};

impl Tracker {
    pub(super) fn retry_start(&mut self, event: &AutoRetryStartEvent) -> Step {
        self.at(&[Place::RetryAnnounced])?;
        self.retry = Some(Retry {
            attempt: event.attempt,
            max_attempts: event.max_attempts,
        });
        self.base = Place::RetryWait;
        Ok(())
    }

    pub(super) fn retry_end(&mut self, event: &AutoRetryEndEvent) -> Step {
        if event.success {
            self.at(&[Place::Answered])?;
        } else {
            self.at(&[Place::BetweenRuns, Place::RetryWait])?;
        }
        if self.retry.take().is_none() {
            return Err(not_open("series of retries", String::new(), Vec::new()));
        }
        self.base = if event.success {
            Place::Tools
        } else {
            Place::BetweenRuns
        };
        Ok(())
    }

    pub(super) fn compaction_start(&mut self, event: &CompactionStartEvent) -> Step {
        if event.reason == CompactionReason::Threshold {
            self.at(&[Place::BetweenRuns, Place::Run, Place::BetweenTurns])?;
        } else {
            self.at(&[Place::BetweenRuns])?;
        }
        self.no_summary_retry()?;
        self.compaction = Some(event.clone());
        Ok(())
    }

    pub(super) fn compaction_end(&mut self, event: &CompactionEndEvent) -> Step {
        // A second overflow in a row is told by an end alone: nothing was tried.
        let alone = event.reason == CompactionReason::Overflow
            && !event.aborted
            && !event.will_retry
            && event.result.is_none()
            && event.request_id.is_none();
        if !(alone && self.place() == Place::BetweenRuns) {
            self.at(&[Place::Compaction])?;
        }
        self.no_summary_retry()?;
        let result = event.result.as_ref();
        let usages = [
            result.and_then(|result| result.usage.as_ref()),
            event.usage.as_ref(),
        ];
        for usage in usages.into_iter().flatten() {
            self.totals.add(usage);
        }
        let Some(start) = self.compaction.take() else {
            return Ok(());
        };
        same("reason", "its start", start.reason == event.reason)?;
        let ids = start.request_id.zip(event.request_id.as_ref());
        same(
            "requestId",
            "its start",
            ids.is_none_or(|(start, end)| start == *end),
        )
    }

    pub(super) fn background_start(&mut self, event: &BackgroundAgentStartEvent) -> Step {
        self.inside()?;
        if self
            .agents
            .iter()
            .any(|agent| agent.start.agent_id == event.agent_id)
        {
            return Err(OrderFault::Reused {
                what: "background agent",
                id: event.agent_id.clone(),
            });
        }
        self.agents.push(Background {
            start: event.clone(),
            relayed: false,
            refused: false,
            ended: false,
        });
        Ok(())
    }

    pub(super) fn arbitration(&mut self, event: &SubagentArbitrationEvent) -> Step {
        self.inside()?;
        self.background(&event.agent_id)?;
        if let Some(usage) = &event.usage {
            self.totals.add(usage);
        }
        let agent = self.background(&event.agent_id)?;
        refuse_if(
            agent.refused,
            "route of the background agent",
            &event.agent_id,
        )?;
        // The steps of a chain are decided one by one, the later ones between its lines.
        refuse_if(
            agent.relayed && event.step.is_none(),
            "decision about the background agent",
            &event.agent_id,
        )?;
        agent.refused = event.status == ArbitrationStatus::Failure;
        Ok(())
    }

    pub(super) fn background(&mut self, id: &str) -> Result<&mut Background, OrderFault> {
        let at = self
            .agents
            .iter()
            .position(|agent| agent.start.agent_id == id && !agent.ended);
        if let Some(at) = at {
            return Ok(&mut self.agents[at]);
        }
        let open = self.agents.iter().filter(|agent| !agent.ended);
        let open = open.map(|agent| agent.start.agent_id.clone()).collect();
        Err(not_open("background agent", id.to_owned(), open))
    }

    pub(super) fn summary_retry_open(&self) -> Step {
        if self.summary_retry {
            return Ok(());
        }
        Err(not_open(
            "series of summarization retries",
            String::new(),
            Vec::new(),
        ))
    }

    pub(super) fn same_reason(&self, reason: CompactionReason) -> Step {
        let open = self.compaction.as_ref();
        same(
            "reason",
            "the compaction's start",
            open.is_some_and(|start| start.reason == reason),
        )
    }
}
