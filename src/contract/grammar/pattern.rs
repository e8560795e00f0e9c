//! Patterns of lines, and a line that they are held against.

use crate::contract::json::Value;

use super::states::StateSet;

/// How many different JSON pointers the patterns of one wire may have.
pub(super) use crate::codegen::grammar::MAX_POINTERS;

/// A type of line within the grammar of one wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::contract) struct EventId(pub(super) u16);

impl EventId {
    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A JSON pointer of some pattern, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PointerId(pub(super) u8);

/// A pointer that patterns look at, and the values that they ask for there.
#[derive(Clone, Debug)]
pub(super) struct Pointer {
    pub(super) text: String,
    pub(super) steps: Vec<String>,
    /// At most 64: a value is a bit in a pattern.
    pub(super) wanted: Vec<serde_json::Value>,
}

impl Pointer {
    fn find<'d, 'a>(&self, line: Value<'d, 'a>) -> Option<Value<'d, 'a>> {
        self.steps.iter().try_fold(line, |value, step| {
            if value.is_array() {
                value.item(step.parse().ok()?)
            } else {
                value.get(step)
            }
        })
    }

    /// The bit of the value among those that patterns ask for.
    fn bit(&self, value: Value<'_, '_>) -> u64 {
        let is = |wanted: &serde_json::Value| match wanted {
            serde_json::Value::String(text) => value.as_str() == Some(text),
            serde_json::Value::Bool(wanted) => value.as_bool() == Some(*wanted),
            other => value.to_value() == *other,
        };
        match self.wanted.iter().position(is) {
            Some(at) => 1 << at,
            None => 0,
        }
    }
}

/// What a line has to be like.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    /// At each pointer one of the values whose bits are set.
    pub(super) wanted: Vec<(PointerId, u64)>,
    pub(super) absent: Vec<PointerId>,
    pub(super) states: StateSet,
    pub(super) same: Vec<PointerId>,
    /// Only Quipu promises it, not the document of the wire.
    pub(super) ours: bool,
}

impl Pattern {
    /// Whether a line of the pattern's type agrees, wherever it comes.
    pub(super) fn fits(&self, line: &mut Probe<'_, '_, '_>) -> bool {
        self.wanted
            .iter()
            .all(|&(at, bits)| line.bits(at) & bits != 0)
            && self.absent.iter().all(|&at| line.at(at).is_none())
    }

    /// Whether it agrees in any of these states; all of them have to be meant.
    pub(super) fn matches(&self, line: &mut Probe<'_, '_, '_>, states: StateSet) -> bool {
        states.is_within(self.states) && self.fits(line)
    }
}

/// A line whose values are looked up at most once each.
pub(in crate::contract) struct Probe<'g, 'd, 'a> {
    pointers: &'g [Pointer],
    line: Value<'d, 'a>,
    found: [Found<'d, 'a>; MAX_POINTERS],
}

#[derive(Clone, Copy)]
enum Found<'d, 'a> {
    Unread,
    Nothing,
    Value(Value<'d, 'a>, u64),
}

impl<'g, 'd, 'a> Probe<'g, 'd, 'a> {
    pub(super) fn new(pointers: &'g [Pointer], line: Value<'d, 'a>) -> Self {
        Self {
            pointers,
            line,
            found: [Found::Unread; MAX_POINTERS],
        }
    }

    fn look(&mut self, at: PointerId) -> Found<'d, 'a> {
        let index = usize::from(at.0);
        if let Found::Unread = self.found[index] {
            let pointer = &self.pointers[index];
            self.found[index] = match pointer.find(self.line) {
                Some(value) => Found::Value(value, pointer.bit(value)),
                None => Found::Nothing,
            };
        }
        self.found[index]
    }

    pub(super) fn at(&mut self, at: PointerId) -> Option<Value<'d, 'a>> {
        match self.look(at) {
            Found::Value(value, _) => Some(value),
            _ => None,
        }
    }

    fn bits(&mut self, at: PointerId) -> u64 {
        match self.look(at) {
            Found::Value(_, bits) => bits,
            _ => 0,
        }
    }
}
