//! The fold: what the deltas of an answer determine of its message.

#[cfg(test)]
mod tests;

use super::partial_json::PartialJson;
use super::{
    AssistantContent, AssistantMessage, AssistantMessageEvent, TextContent, ThinkingContent,
    ThinkingContentRedacted, ToolCall, ToolCallIncomplete,
};

/// The blocks of one answer as its deltas tell them.
///
/// Each delta costs time in proportion to its length. Signatures, response ids, the stop reason and
/// the duration are not in the deltas; they come with `message_end`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageFold {
    blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq)]
struct Block {
    open: bool,
    content: Growing,
}

#[derive(Clone, Debug, PartialEq)]
enum Growing {
    Text(String),
    /// `withheld`: the end brought a text that no piece had, as for a redacted block.
    Thinking {
        text: String,
        withheld: bool,
    },
    Call {
        id: String,
        name: String,
        arguments: PartialJson,
    },
    Settled(ToolCall),
}

/// A delta that does not fit what came before it; it changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// Blocks start in the order of their indexes, each once.
    #[error("content block {index} starts where block {next} is the next one")]
    NotNext {
        /// `contentIndex` of the block.
        index: u64,
        /// The index that it had to have.
        next: u64,
    },
    /// A piece or an end without an open block.
    #[error("content block {0} is not open")]
    NotOpen(u64),
    /// A piece or an end of another kind than its block.
    #[error("content block {index} is not a {kind} block")]
    Kind {
        /// `contentIndex` of the block.
        index: u64,
        /// Kind of the delta: `text`, `thinking` or `toolCall`.
        kind: &'static str,
    },
    /// An end that says something else than the start and the pieces did.
    #[error("the end of content block {index} differs from its pieces in its {what}")]
    End {
        /// `contentIndex` of the block.
        index: u64,
        /// What differs: `text`, `id`, `name` or `arguments`.
        what: &'static str,
    },
}

/// Where a message differs from its deltas.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Disagreement {
    /// The deltas and the message have different numbers of blocks.
    #[error("the message has {message} content blocks, its deltas {deltas}")]
    Count {
        /// Blocks that deltas started.
        deltas: usize,
        /// Blocks of the message.
        message: usize,
    },
    /// A block differs.
    #[error("content block {index} of the message differs from its deltas in its {what}")]
    Block {
        /// Index of the block in the message.
        index: u64,
        /// What differs: `kind`, `text`, `redaction`, `id`, `name` or `arguments`.
        what: &'static str,
    },
}

impl MessageFold {
    /// Takes the next delta.
    pub fn apply(&mut self, delta: &AssistantMessageEvent) -> Result<(), FoldError> {
        use AssistantMessageEvent as Delta;
        match delta {
            Delta::TextStart(start) => {
                self.start(start.content_index, Growing::Text(String::new()))
            }
            Delta::TextDelta(piece) => match self.open(piece.content_index)? {
                Growing::Text(text) => {
                    text.push_str(&piece.delta);
                    Ok(())
                }
                _ => Err(kind(piece.content_index, "text")),
            },
            Delta::TextEnd(end) => {
                let index = end.content_index;
                match self.open(index)? {
                    Growing::Text(text) if *text == end.content => {}
                    Growing::Text(_) => return Err(differs(index, "text")),
                    _ => return Err(kind(index, "text")),
                }
                self.close(index);
                Ok(())
            }
            Delta::ThinkingStart(start) => {
                let block = Growing::Thinking {
                    text: String::new(),
                    withheld: false,
                };
                self.start(start.content_index, block)
            }
            Delta::ThinkingDelta(piece) => match self.open(piece.content_index)? {
                Growing::Thinking { text, .. } => {
                    text.push_str(&piece.delta);
                    Ok(())
                }
                _ => Err(kind(piece.content_index, "thinking")),
            },
            Delta::ThinkingEnd(end) => {
                let index = end.content_index;
                match self.open(index)? {
                    Growing::Thinking { text, .. } if *text == end.content => {}
                    Growing::Thinking { text, withheld } if text.is_empty() => {
                        text.clone_from(&end.content);
                        *withheld = true;
                    }
                    Growing::Thinking { .. } => return Err(differs(index, "text")),
                    _ => return Err(kind(index, "thinking")),
                }
                self.close(index);
                Ok(())
            }
            Delta::ToolcallStart(start) => {
                let block = Growing::Call {
                    id: start.id.clone(),
                    name: start.tool_name.clone(),
                    arguments: PartialJson::default(),
                };
                self.start(start.content_index, block)
            }
            Delta::ToolcallDelta(piece) => match self.open(piece.content_index)? {
                Growing::Call { arguments, .. } => {
                    arguments.push(&piece.delta);
                    Ok(())
                }
                _ => Err(kind(piece.content_index, "toolCall")),
            },
            Delta::ToolcallEnd(end) => {
                let index = end.content_index;
                let block = self.open(index)?;
                match block {
                    Growing::Call { id, .. } if *id != end.tool_call.id => {
                        return Err(differs(index, "id"));
                    }
                    Growing::Call { name, .. } if *name != end.tool_call.name => {
                        return Err(differs(index, "name"));
                    }
                    Growing::Call { arguments, .. } if contradicts(arguments, &end.tool_call) => {
                        return Err(differs(index, "arguments"));
                    }
                    Growing::Call { .. } => *block = Growing::Settled(end.tool_call.clone()),
                    _ => return Err(kind(index, "toolCall")),
                }
                self.close(index);
                Ok(())
            }
        }
    }

    /// The `contentIndex` of the first block that has no end yet.
    #[must_use]
    pub fn first_open(&self) -> Option<u64> {
        let mut blocks = (0_u64..).zip(&self.blocks);
        blocks.find_map(|(index, block)| block.open.then_some(index))
    }

    /// The blocks so far, in the order of their indexes. A call that is not whole yet is marked
    /// `incomplete` and holds what its pieces determine.
    #[must_use]
    pub fn content(&self) -> Vec<AssistantContent> {
        let blocks = self.blocks.iter();
        blocks.map(|block| block.content.so_far()).collect()
    }

    /// How many blocks there are.
    pub(crate) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether the block at this place has no end yet.
    pub(crate) fn is_open(&self, index: usize) -> bool {
        self.blocks.get(index).is_some_and(|block| block.open)
    }

    /// Whether a message says what the deltas determine.
    pub fn agrees_with(&self, message: &AssistantMessage) -> Result<(), Disagreement> {
        if message.content.len() != self.blocks.len() {
            return Err(Disagreement::Count {
                deltas: self.blocks.len(),
                message: message.content.len(),
            });
        }
        for (index, (block, content)) in (0_u64..).zip(self.blocks.iter().zip(&message.content)) {
            if let Some(what) = block.content.difference(content) {
                return Err(Disagreement::Block { index, what });
            }
        }
        Ok(())
    }

    fn start(&mut self, index: u64, content: Growing) -> Result<(), FoldError> {
        let next = self.blocks.len() as u64;
        if index != next {
            return Err(FoldError::NotNext { index, next });
        }
        self.blocks.push(Block {
            open: true,
            content,
        });
        Ok(())
    }

    fn block(&mut self, index: u64) -> Option<&mut Block> {
        self.blocks.get_mut(usize::try_from(index).ok()?)
    }

    fn open(&mut self, index: u64) -> Result<&mut Growing, FoldError> {
        match self.block(index) {
            Some(Block {
                open: true,
                content,
            }) => Ok(content),
            _ => Err(FoldError::NotOpen(index)),
        }
    }

    fn close(&mut self, index: u64) {
        if let Some(block) = self.block(index) {
            block.open = false;
        }
    }
}

impl Growing {
    fn so_far(&self) -> AssistantContent {
        match self {
            Self::Text(text) => TextContent {
                text: text.clone(),
                text_signature: None,
            }
            .into(),
            Self::Thinking { text, withheld } => ThinkingContent {
                thinking: text.clone(),
                thinking_signature: None,
                redacted: withheld.then_some(ThinkingContentRedacted),
            }
            .into(),
            Self::Call {
                id,
                name,
                arguments,
            } => {
                let fault = arguments.check().err();
                ToolCall {
                    id: id.clone(),
                    name: name.clone(),
                    arguments: arguments.value().clone(),
                    thought_signature: None,
                    incomplete: fault.as_ref().map(|_| ToolCallIncomplete),
                    error_message: fault.map(|fault| fault.to_string()),
                }
                .into()
            }
            Self::Settled(call) => call.clone().into(),
        }
    }

    fn difference(&self, content: &AssistantContent) -> Option<&'static str> {
        let (id, name, arguments, call) = match (self, content) {
            (Self::Text(text), AssistantContent::Text(block)) => {
                return (*text != block.text).then_some("text");
            }
            (Self::Thinking { text, withheld }, AssistantContent::Thinking(block)) => {
                return if *withheld && block.redacted.is_none() {
                    Some("redaction")
                } else {
                    (*text != block.thinking).then_some("text")
                };
            }
            (
                Self::Call {
                    id,
                    name,
                    arguments,
                },
                AssistantContent::ToolCall(call),
            ) => (id, name, arguments.value(), call),
            (Self::Settled(settled), AssistantContent::ToolCall(call)) => {
                (&settled.id, &settled.name, &settled.arguments, call)
            }
            _ => return Some("kind"),
        };
        if *id != call.id {
            Some("id")
        } else if *name != call.name {
            Some("name")
        } else {
            (*arguments != call.arguments).then_some("arguments")
        }
    }
}

/// Whether a settled call says something else than its pieces. A service that sends the arguments
/// as a whole has no pieces.
fn contradicts(arguments: &PartialJson, call: &ToolCall) -> bool {
    let whole = arguments.check().is_ok() && call.incomplete.is_none();
    let cut = arguments.check().is_err() && call.incomplete.is_some();
    arguments.has_begun() && (*arguments.value() != call.arguments || !(whole || cut))
}

fn kind(index: u64, kind: &'static str) -> FoldError {
    FoldError::Kind { index, kind }
}

fn differs(index: u64, what: &'static str) -> FoldError {
    FoldError::End { index, what }
}
