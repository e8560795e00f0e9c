//! `schema/grammar.json`, compiled and run over lines.
//!
//! The format is described in the file itself. A grammar is data: a changed copy can be compiled and
//! run too. What it says in words, its rules, is checked by [`super::verify`], by their names.

mod compile;
mod file;
mod pairs;
mod pattern;
mod states;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};

use pairs::{ByEvent, Found, Open, Pair};
use pattern::Pointer;
use states::{Machine, Move};

use super::json::Value;
use super::{GRAMMAR, Wire};
use crate::codegen::grammar::RULES;

pub(in crate::contract) use pattern::{EventId, Probe};
pub(in crate::contract) use states::StateSet;

/// The legal order of the lines of each wire.
#[derive(Clone, Debug)]
pub struct Grammar {
    wires: [Option<WireGrammar>; 3],
}

/// Why a grammar cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// It is not in the form that the file describes.
    #[error("the grammar is not in its form: {0}")]
    Form(String),
    /// It is of a wire that this program does not have.
    #[error("there is no wire `{0}`")]
    UnknownWire(String),
    /// A name is used that is not defined, a rule is not known, or there is too much of something.
    #[error("the grammar of the {wire} wire: {what}")]
    Wire {
        /// Name of the wire.
        wire: String,
        /// What is wrong.
        what: String,
    },
}

impl Grammar {
    /// The grammar that this build embeds.
    ///
    /// # Panics
    /// Never: it is compiled in the tests.
    #[must_use]
    pub fn embedded() -> Arc<Self> {
        static EMBEDDED: LazyLock<Arc<Grammar>> = LazyLock::new(|| {
            let compiled = serde_json::from_str(GRAMMAR)
                .map_err(|error| CompileError::Form(error.to_string()))
                .and_then(|grammar| Grammar::compile(&grammar));
            match compiled {
                Ok(grammar) => Arc::new(grammar),
                Err(error) => unreachable!("the embedded grammar: {error}"),
            }
        });
        Arc::clone(&EMBEDDED)
    }

    /// The grammar of a wire, if it has one.
    pub(in crate::contract) fn wire(&self, wire: Wire) -> Option<&WireGrammar> {
        self.wires[wire as usize].as_ref()
    }
}

const NOTHING: &str = "nothing may follow";

/// The rules that a grammar states in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::contract) enum Rule {
    WholeMessages,
    Fold,
    ResolvedToolName,
    Snapshots,
    ToolStarts,
    ToolResultMessages,
    TurnEnd,
    AgentEnd,
    StreamEnd,
    ChildLines,
}

impl Rule {
    pub(in crate::contract) const ALL: [Self; 10] = [
        Self::WholeMessages,
        Self::Fold,
        Self::ResolvedToolName,
        Self::Snapshots,
        Self::ToolStarts,
        Self::ToolResultMessages,
        Self::TurnEnd,
        Self::AgentEnd,
        Self::StreamEnd,
        Self::ChildLines,
    ];

    pub(in crate::contract) const fn name(self) -> &'static str {
        RULES[self as usize]
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// The grammar of one wire, compiled.
#[derive(Clone, Debug)]
pub(in crate::contract) struct WireGrammar {
    events: HashMap<String, u16>,
    names: Vec<String>,
    pointers: Vec<Pointer>,
    machine: Machine,
    pairs: Vec<Pair>,
    by_event: ByEvent,
    /// Bits of the rules that are checked at an event.
    rules: Vec<u16>,
    ours: u16,
    /// JSON pointers by event; `*` is any.
    undocumented: BTreeMap<String, Vec<String>>,
}

/// Where a stream is.
#[derive(Clone, Debug)]
pub(in crate::contract) struct Order {
    states: StateSet,
    open: Vec<Open>,
}

/// What is wrong with the place of a line, or with the end of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::contract) struct OrderFault {
    /// Name of the state or pair.
    pub(in crate::contract) name: String,
    pub(in crate::contract) pointer: String,
    pub(in crate::contract) message: String,
    /// It breaks only what Quipu promises, not the document of the wire.
    pub(in crate::contract) ours: bool,
}

impl WireGrammar {
    /// The type of a line, if the grammar has it.
    pub(in crate::contract) fn event(&self, kind: &str) -> Option<EventId> {
        self.events.get(kind).map(|&event| EventId(event))
    }

    /// A stream before its first line.
    pub(in crate::contract) fn begin(&self) -> Order {
        Order {
            states: self.machine.initial,
            open: vec![Open::default(); self.pairs.len()],
        }
    }

    /// A stream whose header is not shown.
    pub(in crate::contract) fn begin_after_header(&self) -> Order {
        let mut order = self.begin();
        order.states = StateSet::of(order.states.each().flat_map(|state| {
            let after = self.machine.after[state];
            after.each()
        }));
        order
    }

    pub(in crate::contract) fn checks(&self, rule: Rule, event: EventId) -> bool {
        self.rules[event.index()] & rule.bit() != 0
    }

    /// Whether only Quipu promises a rule.
    pub(in crate::contract) fn is_ours(&self, rule: Rule) -> bool {
        self.ours & rule.bit() != 0
    }

    /// Whether the document of the wire says nothing about what is at a JSON pointer.
    pub(in crate::contract) fn is_undocumented(&self, event: &str, pointer: &str) -> bool {
        let pointers = [event, "*"].map(|event| self.undocumented.get(event));
        pointers.into_iter().flatten().flatten().any(|prefix| {
            let rest = pointer.strip_prefix(prefix.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    pub(in crate::contract) fn probe<'g, 'd, 'a>(
        &'g self,
        line: Value<'d, 'a>,
    ) -> Probe<'g, 'd, 'a> {
        Probe::new(&self.pointers, line)
    }

    /// Takes a line. `doubtful`: something is wrong with its content, so that it is not judged;
    /// `held`: what only Quipu promises counts. Gives whether something in it is wrong only because
    /// something was before.
    pub(in crate::contract) fn take(
        &self,
        order: &mut Order,
        event: EventId,
        line: &mut Probe<'_, '_, '_>,
        (number, doubtful, held): (u64, bool, bool),
        faults: &mut Vec<OrderFault>,
    ) -> bool {
        let from = order.states;
        let mut judged = !doubtful;
        order.states = match self.machine.step(from, event, line) {
            Move::To(to) => to,
            Move::Foreign(to) => {
                if judged {
                    faults.push(self.misplaced(from, event, true));
                }
                judged &= !held;
                to
            }
            Move::Fault(to) => {
                if judged {
                    let fault = self.misplaced(from, event, false);
                    judged = fault.ours && !held;
                    faults.push(fault);
                }
                if doubtful { self.machine.blind(to) } else { to }
            }
        };
        let pointer = |at: pattern::PointerId| self.pointers[usize::from(at.0)].text.clone();
        let (mut first, mut excused) = (true, false);
        for (index, roles) in pairs::of(&self.by_event, event) {
            let (pair, open) = (&self.pairs[*index], &mut order.open[*index]);
            let found = pair.apply(roles, open, line, (number, from), &pointer);
            match found {
                _ if doubtful => pair.doubt(open, line),
                _ if !judged => open.forgive(),
                Found::Nothing => {}
                Found::Excused => excused = true,
                Found::Fault(fault) => {
                    if std::mem::take(&mut first) {
                        faults.push(OrderFault {
                            name: fault.pair,
                            pointer: fault.pointer,
                            message: fault.message,
                            ours: fault.ours,
                        });
                    }
                }
            }
        }
        if !judged {
            order.open.iter_mut().for_each(Open::forgive);
        }
        excused
    }

    /// Passes over a line that could not be read.
    pub(in crate::contract) fn pass_over(&self, order: &mut Order) {
        order.states = self.machine.blind(order.states);
        order.open.iter_mut().for_each(Open::doubt);
    }

    fn misplaced(&self, from: StateSet, event: EventId, foreign: bool) -> OrderFault {
        let machine = &self.machine;
        let own: Vec<&str> = from
            .each()
            .flat_map(|state| &machine.steps[state][event.index()])
            .filter(|step| !step.foreign)
            .map(|step| step.condition.as_str())
            .collect();
        let (name, message) = match (from.only(), own.as_slice()) {
            (None, _) => {
                let what =
                    "is not legal in any state that the stream may be in after the fault before";
                ("uncertain", what.to_owned())
            }
            (Some(state), []) => {
                let (why, expected) = (self.place(state), self.expected(from));
                let what = format!("is not legal here: {why}; {expected}");
                (machine.names[state].as_str(), what)
            }
            (Some(state), own) => {
                let (why, own) = (self.place(state), own.join(", or with "));
                let what = format!("is legal here only with {own}: {why}");
                (machine.names[state].as_str(), what)
            }
        };
        OrderFault {
            name: name.to_owned(),
            pointer: String::new(),
            message,
            ours: foreign || from.is_within(machine.ours),
        }
    }

    /// What a state means, in a few words.
    fn place(&self, state: usize) -> String {
        let words = &self.machine.descriptions[state];
        let first = words
            .split_inclusive(['.', ';', ':'])
            .next()
            .unwrap_or(words);
        let first = first.trim_end_matches(['.', ';', ':']);
        let mut chars = first.chars();
        match chars.next() {
            Some(letter) => letter.to_lowercase().chain(chars).collect(),
            None => format!("the state is {}", self.machine.names[state]),
        }
    }

    fn expected(&self, states: StateSet) -> String {
        let events = self.machine.expected(states);
        let names: Vec<&str> = events
            .iter()
            .map(|&event| self.names[event].as_str())
            .collect();
        match names.split_last() {
            None => NOTHING.to_owned(),
            Some((only, [])) => format!("expected {only}"),
            Some((last, rest)) => format!("expected {} or {last}", rest.join(", ")),
        }
    }

    /// Whether nothing may follow: a terminal line was seen.
    pub(in crate::contract) fn is_over(&self, order: &Order) -> bool {
        order.states.is_within(self.machine.end) && self.expected(order.states) == NOTHING
    }

    /// What is wrong when the stream ends here; and whether it says itself that it was interrupted.
    pub(in crate::contract) fn finish(&self, order: &Order, faults: &mut Vec<OrderFault>) -> bool {
        let mut open = Vec::new();
        for (pair, items) in self.pairs.iter().zip(&order.open) {
            if pair.may_stay || items.is_empty() || !items.is_certain() {
                continue;
            }
            for (name, line) in items.left() {
                let noun = pair.noun();
                let what = match pair.key {
                    Some(_) => format!("{noun} {name} (line {line})"),
                    None => format!("the {noun} of line {line}"),
                };
                open.push((pair, what));
            }
        }
        if order.states.meets(self.machine.end) {
            for (pair, what) in open {
                faults.push(OrderFault {
                    name: pair.name.clone(),
                    pointer: String::new(),
                    message: format!("the stream ends while {what} is open"),
                    ours: pair.ours,
                });
            }
        } else {
            let (name, place) = match order.states.only() {
                Some(state) => {
                    let name = self.machine.names[state].clone();
                    (name, format!("{}; ", self.place(state)))
                }
                None => ("uncertain".to_owned(), String::new()),
            };
            let expected = self.expected(order.states);
            let mut message = format!("the stream ends too early: {place}{expected}");
            let mut names: Vec<String> = open.into_iter().map(|(_, what)| what).collect();
            names.dedup();
            if !names.is_empty() {
                message = format!("{message}; open: {}", names.join(", "));
            }
            faults.push(OrderFault {
                name,
                pointer: String::new(),
                message,
                ours: false,
            });
        }
        order.states.is_within(self.machine.interrupted) && !order.states.is_empty()
    }
}
