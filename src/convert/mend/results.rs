//! Tool-result messages that come while other tools still run: the native wire has them after all
//! tools, in the order of the calls.

use super::Mender;
use crate::convert::report::{Loss, Report};
use crate::event::tracker::Place;
use crate::event::{AgentMessage, MessageEndEvent, MessageStartEvent, ToolResultMessage};

impl Mender {
    /// Keeps the begin of a result message that cannot stand here yet, and says whether it did.
    pub(super) fn hold(&mut self, message: &ToolResultMessage) -> bool {
        let open = matches!(self.place(), Place::Tools | Place::Results);
        let due = self.tracker.due_result() == Some(message.tool_call_id.as_str());
        if !open || (due && !self.tracker.has_running_tool()) {
            return false;
        }
        self.holding = Some(message.tool_call_id.clone());
        self.held.push(message.clone());
        true
    }

    /// Takes the end of a message whose begin was kept, and says whether it did.
    pub(super) fn held_end(&mut self, message: &AgentMessage) -> bool {
        let AgentMessage::ToolResult(result) = message else {
            return false;
        };
        if self.holding.as_ref() != Some(&result.tool_call_id) {
            return false;
        }
        self.holding = None;
        if let Some(held) = self.held.last_mut() {
            held.clone_from(result);
        }
        true
    }

    /// Hands out the messages whose time has come.
    pub(super) fn release(&mut self, report: &mut Report) {
        while self.holding.is_none()
            && !self.tracker.has_running_tool()
            && let Some(due) = self.tracker.due_result()
            && let Some(at) = self.held.iter().position(|held| held.tool_call_id == due)
        {
            let message = AgentMessage::from(self.held.remove(at));
            self.list(Loss::Moved, "message_start", report);
            self.list(Loss::Moved, "message_end", report);
            let start = MessageStartEvent {
                message: message.clone(),
            };
            if !self.place_event(start.into(), report) {
                return;
            }
            self.place_event(MessageEndEvent { message }.into(), report);
        }
    }

    /// The same at the end of the turn, where nothing can be kept any longer.
    pub(in crate::convert) fn release_all(&mut self, report: &mut Report) {
        self.holding = None;
        self.release(report);
        for _ in std::mem::take(&mut self.held) {
            self.list(Loss::Misplaced, "message_start", report);
            self.list(Loss::Misplaced, "message_end", report);
        }
    }
}
