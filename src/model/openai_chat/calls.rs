//! Tool calls as servers send them: by index or without, with their ids and names early, late,
//! again and again, or never, one after the other or interleaved.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::Value;

use super::decode::{Blocks, nonsense};
use crate::event::PartialJson;
use crate::model::ModelDelta;
use crate::model::answer::DecodeError;
use crate::model::ids::{CallIds, UNNAMED};

type Out = VecDeque<ModelDelta>;

/// A piece of a tool call as it comes. What is absent may also be null.
#[derive(Debug, Deserialize)]
pub(super) struct SentPiece {
    index: Option<Value>,
    id: Option<Value>,
    function: Option<Function>,
}

impl From<Function> for SentPiece {
    fn from(function: Function) -> Self {
        Self {
            index: None,
            id: None,
            function: Some(function),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Function {
    name: Option<String>,
    /// JSON text, but from some servers the object itself.
    arguments: Option<Value>,
}

/// The same with nothing for what is absent.
struct Piece {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl From<SentPiece> for Piece {
    fn from(sent: SentPiece) -> Self {
        let text = |value| match value {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text,
            Some(other) => other.to_string(),
        };
        let (name, arguments) = sent
            .function
            .map_or((None, None), |function| (function.name, function.arguments));
        Self {
            index: sent.index.as_ref().and_then(Value::as_u64),
            id: text(sent.id),
            name: name.unwrap_or_default(),
            arguments: text(arguments),
        }
    }
}

/// The tool calls of one answer.
#[derive(Default)]
pub(super) struct Calls {
    list: Vec<Call>,
    ids: CallIds,
}

#[derive(Default)]
struct Call {
    service_index: Option<u64>,
    /// As the service sent it; may be empty.
    id: String,
    name: String,
    /// The arguments so far.
    arguments: PartialJson,
    place: Place,
}

enum Place {
    /// Not begun, since its name or id may still come; with the arguments so far.
    Waiting(String),
    /// Begun as the block of this index.
    Open(usize),
    Ended,
}

impl Default for Place {
    fn default() -> Self {
        Self::Waiting(String::new())
    }
}

impl Call {
    /// Whether no piece can follow.
    fn is_whole(&self) -> bool {
        self.arguments.has_begun() && self.arguments.check().is_ok()
    }

    /// Whether the piece cannot be of this call though index or id say so: some servers give every
    /// call the index 0, or none.
    fn is_over_with(&self, piece: &Piece) -> bool {
        if piece.name.is_empty() {
            return false;
        }
        let other_id = !piece.id.is_empty() && !self.id.is_empty() && piece.id != self.id;
        let other_name = piece.name != self.name;
        let bare = piece.index.is_none() && piece.id.is_empty();
        let begun = !matches!(self.place, Place::Waiting(_));
        let more = !piece.arguments.trim().is_empty();
        self.is_whole() && (other_id || more) || other_name && (other_id || bare && begun)
    }
}

impl Calls {
    /// Takes the next piece of some call.
    pub(super) fn take(
        &mut self,
        sent: SentPiece,
        blocks: &mut Blocks,
        out: &mut Out,
    ) -> Result<(), DecodeError> {
        let piece = Piece::from(sent);
        let at = self.find(&piece);
        let call = &mut self.list[at];
        if call.id.is_empty() {
            call.id = piece.id;
        }
        call.arguments.push(&piece.arguments);
        match &mut call.place {
            Place::Ended if piece.arguments.trim().is_empty() => {}
            Place::Ended => {
                return Err(nonsense(
                    "more arguments of a tool call whose arguments were complete",
                ));
            }
            Place::Open(_) if piece.arguments.is_empty() => {}
            Place::Open(index) => out.push_back(ModelDelta::ToolcallDelta {
                index: *index,
                delta: piece.arguments,
            }),
            Place::Waiting(arguments) => {
                // Pieces of a name, unless it is the whole name again.
                if piece.name != call.name {
                    call.name.push_str(&piece.name);
                }
                arguments.push_str(&piece.arguments);
                // Once arguments come, an id that is not there will not come either.
                let ready = !call.id.is_empty() || !arguments.is_empty();
                if ready && !call.name.is_empty() {
                    self.begin(at, blocks, out);
                }
            }
        }
        Ok(())
    }

    /// The call that the piece is of.
    fn find(&mut self, piece: &Piece) -> usize {
        let last = |fits: &dyn Fn(&Call) -> bool| self.list.iter().rposition(fits);
        let known = match piece.index {
            Some(index) => last(&|call| call.service_index == Some(index)),
            None if piece.id.is_empty() => self.list.len().checked_sub(1),
            None => last(&|call| call.id == piece.id).or_else(|| {
                // An id that comes late, and without the name, is that of the latest call.
                let at = self.list.len().checked_sub(1)?;
                (self.list[at].id.is_empty() && piece.name.is_empty()).then_some(at)
            }),
        };
        match known {
            Some(at) if !self.list[at].is_over_with(piece) => at,
            _ => {
                self.list.push(Call {
                    service_index: piece.index,
                    ..Call::default()
                });
                self.list.len() - 1
            }
        }
    }

    fn begin(&mut self, at: usize, blocks: &mut Blocks, out: &mut Out) {
        blocks.stop(out);
        self.end_whole(out);
        let call = &mut self.list[at];
        let index = blocks.next_index();
        let Place::Waiting(arguments) = std::mem::replace(&mut call.place, Place::Open(index))
        else {
            return;
        };
        let name = if call.name.is_empty() {
            UNNAMED.to_owned()
        } else {
            call.name.clone()
        };
        out.push_back(ModelDelta::ToolcallStart {
            index,
            id: self.ids.claim(&call.id),
            name,
        });
        if !arguments.is_empty() {
            out.push_back(ModelDelta::ToolcallDelta {
                index,
                delta: arguments,
            });
        }
    }

    /// Another block is about to begin: ends the calls that are whole. The others stay open, since
    /// their pieces may be interleaved with those of the block.
    fn end_whole(&mut self, out: &mut Out) {
        for call in &mut self.list {
            if let Place::Open(index) = call.place
                && call.is_whole()
            {
                call.place = Place::Ended;
                out.push_back(ModelDelta::ToolcallEnd { index });
            }
        }
    }

    /// Text or thinking is about to begin.
    pub(super) fn make_way(&mut self, blocks: &mut Blocks, out: &mut Out) {
        self.begin_waiting(|call| !call.name.is_empty(), blocks, out);
        self.end_whole(out);
    }

    /// No more pieces come: begins what is still waiting and gives the indexes of the open calls.
    pub(super) fn finish(&mut self, blocks: &mut Blocks, out: &mut Out) -> Vec<usize> {
        let is_something = |call: &Call| {
            !call.name.is_empty() || !call.id.is_empty() || call.arguments.has_begun()
        };
        self.begin_waiting(is_something, blocks, out);
        let open = |call: &Call| match call.place {
            Place::Open(index) => Some(index),
            Place::Waiting(_) | Place::Ended => None,
        };
        let open = self.list.iter().filter_map(open).collect();
        self.list.clear();
        open
    }

    fn begin_waiting(&mut self, which: impl Fn(&Call) -> bool, blocks: &mut Blocks, out: &mut Out) {
        for at in 0..self.list.len() {
            let call = &self.list[at];
            if matches!(call.place, Place::Waiting(_)) && which(call) {
                self.begin(at, blocks, out);
            }
        }
    }
}
