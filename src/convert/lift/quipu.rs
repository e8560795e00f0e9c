//! The native wire, whose lines are the events.
//!
//! The lines of background agents are put in order as those of their parent are: another wire shows
//! what they have come to.

use std::collections::BTreeMap;

use crate::convert::mend::{Mender, agent_header};
use crate::convert::report::{Loss, Report};
use crate::event::tracker::Place;
use crate::event::{BackgroundAgentEvent, QuipuEvent};

/// The lines of one stream.
#[derive(Debug, Default)]
pub(in crate::convert) struct Native {
    /// Whether the terminal line was told.
    pub(in crate::convert) ended: bool,
    /// The open streams of background agents, by `agentId`.
    children: BTreeMap<String, Child>,
}

#[derive(Debug)]
struct Child {
    lift: Native,
    mender: Mender,
}

impl Native {
    /// Takes the next line. `relays`: whether the target has lines of background agents.
    pub(in crate::convert) fn line(
        &mut self,
        event: QuipuEvent,
        relays: bool,
        mender: &mut Mender,
        report: &mut Report,
    ) {
        match event {
            QuipuEvent::StreamEnd(end) => {
                self.ended = true;
                mender.stream_end(end, report);
            }
            QuipuEvent::BackgroundAgentEvent(event) if relays => self.child(event, mender, report),
            event => {
                if let QuipuEvent::BackgroundAgentEnd(end) = &event
                    && let Some(mut child) = self.children.remove(&end.agent_id)
                {
                    child.mender.release_all(report);
                    child.mender.relay(&end.agent_id, mender, report);
                }
                mender.push(event, report);
            }
        }
    }

    /// A line of a background agent.
    fn child(&mut self, event: BackgroundAgentEvent, mender: &mut Mender, report: &mut Report) {
        let BackgroundAgentEvent { agent_id, event } = event;
        let begins = matches!(*event, QuipuEvent::Session(_));
        if begins && let Some(mut child) = self.children.remove(&agent_id) {
            // The step of a chain before it broke off.
            child.mender.release_all(report);
            child.mender.relay(&agent_id, mender, report);
        }
        let child = self
            .children
            .entry(agent_id.clone())
            .or_insert_with(|| Child {
                lift: Self::default(),
                mender: Mender::within_agent(),
            });
        if !begins && child.mender.place() == Place::Start {
            child.mender.list(Loss::Invented, "session", report);
            let header = agent_header(&agent_id, None, None);
            child.mender.push(header.into(), report);
        }
        child.lift.line(*event, true, &mut child.mender, report);
        let over = child.lift.ended;
        child.mender.relay(&agent_id, mender, report);
        if over {
            self.children.remove(&agent_id);
        }
    }
}
