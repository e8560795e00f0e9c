//! The whole message so far, as bytes that are never made twice.
//!
//! The lines of a growing answer get longer with it, so their cost has to be that of copying: what
//! a delta adds is appended to the bytes that are there, and a line is put together from them.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::event::{
    AssistantMessage, AssistantMessageEvent, PartialJson, TextContent, ThinkingContent,
    ThinkingContentRedacted, ToolCall, ToolcallStart, Usage,
};
use crate::wire::line;

/// An answer that is being written, and the delta that came last.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// The message without content.
    message: AssistantMessage,
    /// Its bytes up to the first block, and from the last block on.
    head: Vec<u8>,
    tail: Vec<u8>,
    /// By `contentIndex`.
    blocks: BTreeMap<u64, Block>,
    /// The last delta, without its closing bracket.
    delta: Vec<u8>,
}

/// A block: `bytes`, then `end`.
#[derive(Debug, Default)]
struct Block {
    bytes: Vec<u8>,
    /// What closes an open block.
    end: Vec<u8>,
    call: Option<Call>,
}

/// An open tool call.
#[derive(Debug)]
struct Call {
    /// Where the arguments begin in the bytes of the block.
    begin: usize,
    arguments: PartialJson,
    /// The string that the bytes end in: where it begins in the arguments, and its length so far.
    open: Option<(usize, usize)>,
}

impl Snapshot {
    /// A message to which nothing has been added yet.
    pub(crate) fn new(start: &AssistantMessage) -> Self {
        let mut snapshot = Self {
            message: AssistantMessage {
                content: Vec::new(),
                ..start.clone()
            },
            head: Vec::new(),
            tail: Vec::new(),
            blocks: BTreeMap::new(),
            delta: Vec::new(),
        };
        snapshot.frame();
        snapshot
    }

    /// Makes what stands around the blocks.
    fn frame(&mut self) {
        const EMPTY: &[u8] = b"[]";
        self.head.clear();
        push(&mut self.head, &self.message);
        // Only the role, a constant, stands before the content.
        if let Some(at) = memchr::memmem::find(&self.head, EMPTY) {
            self.tail = self.head.split_off(at + 1);
        }
    }

    /// Takes the next delta, with the usage so far.
    pub(crate) fn apply(&mut self, usage: &Usage, delta: &AssistantMessageEvent) {
        use AssistantMessageEvent as Delta;
        if self.message.usage != *usage {
            self.message.usage.clone_from(usage);
            self.frame();
        }
        self.delta.clear();
        match delta {
            // On this wire id and name stand in the block alone.
            Delta::ToolcallStart(ToolcallStart { content_index, .. }) => {
                self.delta
                    .extend_from_slice(br#"{"type":"toolcall_start","contentIndex":"#);
                push(&mut self.delta, content_index);
            }
            delta => {
                push(&mut self.delta, delta);
                self.delta.pop();
            }
        }
        match delta {
            Delta::TextStart(start) => {
                let empty = TextContent {
                    text: String::new(),
                    text_signature: None,
                };
                self.blocks.insert(start.content_index, Block::open(&empty));
            }
            Delta::ThinkingStart(start) => {
                let empty = ThinkingContent {
                    thinking: String::new(),
                    thinking_signature: None,
                    redacted: None,
                };
                self.blocks.insert(start.content_index, Block::open(&empty));
            }
            Delta::ToolcallStart(start) => {
                self.blocks.insert(start.content_index, Block::call(start));
            }
            // A piece of a block that is not open has nowhere to go.
            Delta::TextDelta(piece) => {
                if let Some(block) = self.blocks.get_mut(&piece.content_index) {
                    block.text(&piece.delta);
                }
            }
            Delta::ThinkingDelta(piece) => {
                if let Some(block) = self.blocks.get_mut(&piece.content_index) {
                    block.text(&piece.delta);
                }
            }
            Delta::ToolcallDelta(piece) => {
                if let Some(block) = self.blocks.get_mut(&piece.content_index) {
                    block.arguments(&piece.delta);
                }
            }
            Delta::TextEnd(end) => {
                let whole = TextContent {
                    text: end.content.clone(),
                    text_signature: None,
                };
                self.block(end.content_index).settle(&whole);
            }
            Delta::ThinkingEnd(end) => {
                let block = self.block(end.content_index);
                // A text that no piece had is what stands for a withheld one.
                let redacted = block.is_empty() && !end.content.is_empty();
                let whole = ThinkingContent {
                    thinking: end.content.clone(),
                    thinking_signature: None,
                    redacted: redacted.then_some(ThinkingContentRedacted),
                };
                block.settle(&whole);
            }
            Delta::ToolcallEnd(end) => self.block(end.content_index).settle(&end.tool_call),
        }
    }

    /// The block that an end is about, to be settled.
    fn block(&mut self, index: u64) -> &mut Block {
        self.blocks.entry(index).or_default()
    }

    /// Appends the line of the last delta, without an end of line.
    pub(crate) fn append(&self, out: &mut Vec<u8>) {
        const BEFORE: &[u8] = br#"{"type":"message_update","assistantMessageEvent":"#;
        const PARTIAL: &[u8] = br#","partial":"#;
        const MESSAGE: &[u8] = br#"},"message":"#;
        let blocks: usize = self.blocks.values().map(Block::len).sum();
        let message = self.head.len() + blocks + self.tail.len();
        let frame = BEFORE.len() + PARTIAL.len() + MESSAGE.len() + 2;
        out.reserve(frame + self.delta.len() + 2 * message);

        out.extend_from_slice(BEFORE);
        out.extend_from_slice(&self.delta);
        out.extend_from_slice(PARTIAL);
        let begin = out.len();
        out.extend_from_slice(&self.head);
        for (place, block) in self.blocks.values().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            out.extend_from_slice(&block.bytes);
            out.extend_from_slice(&block.end);
        }
        out.extend_from_slice(&self.tail);
        let end = out.len();
        out.extend_from_slice(MESSAGE);
        out.extend_from_within(begin..end);
        out.push(b'}');
    }
}

impl Block {
    /// A block that ends in an empty string.
    fn open(empty: &impl serde::Serialize) -> Self {
        let mut bytes = Vec::new();
        push(&mut bytes, empty);
        let end = bytes.split_off(bytes.len().saturating_sub(2));
        Self {
            bytes,
            end,
            call: None,
        }
    }

    fn call(start: &ToolcallStart) -> Self {
        let call = ToolCall {
            id: start.id.clone(),
            name: start.tool_name.clone(),
            arguments: serde_json::Map::new(),
            thought_signature: None,
            incomplete: None,
            error_message: None,
        };
        let mut bytes = Vec::new();
        push(&mut bytes, &call);
        // The empty arguments and the bracket of the block come last.
        let begin = bytes.len().saturating_sub(3);
        let end = bytes.split_off(bytes.len().saturating_sub(1));
        let call = Call {
            begin,
            arguments: PartialJson::default(),
            open: None,
        };
        Self {
            bytes,
            end,
            call: Some(call),
        }
    }

    fn len(&self) -> usize {
        // One for the comma.
        self.bytes.len() + self.end.len() + 1
    }

    /// Whether an open text has no piece yet.
    fn is_empty(&self) -> bool {
        self.bytes.ends_with(br#":""#)
    }

    /// Goes on with the text, if it is one that is open.
    fn text(&mut self, piece: &str) {
        if self.call.is_none() && !self.end.is_empty() {
            push_inside(&mut self.bytes, piece);
        }
    }

    /// Goes on with the arguments. As long as a string grows, only what it gains is written; else
    /// the arguments are written anew.
    fn arguments(&mut self, piece: &str) {
        let Some(call) = &mut self.call else {
            return;
        };
        call.arguments.push(piece);
        let growing = call.arguments.open_text();
        if let (Some((begin, len)), Some(growing)) = (call.open, growing)
            && growing.begin == begin
        {
            push_inside(&mut self.bytes, growing.text.get(len..).unwrap_or_default());
            call.open = Some((begin, growing.text.len()));
            return;
        }
        self.bytes.truncate(call.begin);
        push(&mut self.bytes, call.arguments.value());
        self.end.clear();
        call.open = growing.map(|growing| {
            // Its quote and a bracket for each open container.
            let closing = self.bytes.len().saturating_sub(1 + growing.depth);
            self.end.extend(self.bytes.drain(closing..));
            (growing.begin, growing.text.len())
        });
        self.end.push(b'}');
    }

    /// Ends the block as what it has become.
    fn settle(&mut self, whole: &impl serde::Serialize) {
        self.bytes.clear();
        push(&mut self.bytes, whole);
        self.end.clear();
        self.call = None;
    }
}

/// Appends a value.
fn push(out: &mut Vec<u8>, value: &impl serde::Serialize) {
    // Types of the schema, written to memory: nothing in it can fail.
    let _ = line::json(out, value);
}

/// Appends what a string is between its quotes.
fn push_inside(out: &mut Vec<u8>, text: &str) {
    let begin = out.len();
    push(out, &text);
    out.pop();
    out.remove(begin);
}
