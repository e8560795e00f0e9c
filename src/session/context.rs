//! What of a session the model is given.

use crate::event::AgentMessage;

/// A message that the model is given, and the entry it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextEntry {
    /// Id of the entry; for a summary of older messages, that of the compaction.
    pub id: String,
    /// The message.
    pub message: AgentMessage,
}
