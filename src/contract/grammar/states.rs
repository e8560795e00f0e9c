//! The state machine of a wire.

use super::pattern::{EventId, Pattern, Probe};

/// How many states a wire may have.
pub(super) use crate::codegen::grammar::MAX_STATES;

/// Where a stream may be. It is one state until a fault leaves several open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::contract) struct StateSet(pub(super) u64);

impl StateSet {
    pub(super) const ALL: Self = Self(u64::MAX);
    const NONE: Self = Self(0);

    pub(super) fn one(state: usize) -> Self {
        Self(1 << state)
    }

    pub(super) fn of(states: impl IntoIterator<Item = usize>) -> Self {
        states
            .into_iter()
            .fold(Self::NONE, |set, state| set.or(Self::one(state)))
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    pub(super) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The state, if it is certain.
    pub(super) fn only(self) -> Option<usize> {
        let mut states = self.each();
        states.next().filter(|_| states.next().is_none())
    }

    pub(super) fn each(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let state = left.trailing_zeros() as usize;
            left &= left.checked_sub(1)?;
            Some(state)
        })
    }
}

/// The machine, compiled.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub(super) names: Vec<String>,
    pub(super) descriptions: Vec<String>,
    /// States in which a fault breaks only what Quipu promises.
    pub(super) ours: StateSet,
    pub(super) initial: StateSet,
    pub(super) end: StateSet,
    pub(super) interrupted: StateSet,
    /// By state and event.
    pub(super) steps: Vec<Vec<Vec<Step>>>,
    /// Where lines of a type change nothing, by event.
    pub(super) anywhere: Vec<StateSet>,
    /// The same for others than Quipu.
    pub(super) foreign: Vec<StateSet>,
    /// The states that one step leads to, by state.
    pub(super) after: Vec<StateSet>,
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) pattern: Pattern,
    pub(super) to: usize,
    /// The document of the wire allows it, Quipu does not take it.
    pub(super) foreign: bool,
    /// Its conditions in words, for messages.
    pub(super) condition: String,
}

/// What a line does to the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// It is legal.
    To(StateSet),
    /// It is legal only by the document of the wire.
    Foreign(StateSet),
    /// It is not legal in any of the states; it may lead to these.
    Fault(StateSet),
}

impl Machine {
    pub(super) fn step(
        &self,
        from: StateSet,
        event: EventId,
        line: &mut Probe<'_, '_, '_>,
    ) -> Move {
        let to = self.reach(from, event, line, false);
        if !to.is_empty() {
            return Move::To(to.or(self.anywhere[event.index()].and(from)));
        }
        let stays = self.anywhere[event.index()].and(from);
        if !stays.is_empty() {
            return Move::To(stays);
        }
        let to = self.reach(from, event, line, true);
        let to = to.or(self.foreign[event.index()].and(from));
        if !to.is_empty() {
            return Move::Foreign(to);
        }
        // The line may be one too many, or others before it may be missing.
        let all = StateSet::of(0..self.names.len());
        let anywhere = self.anywhere[event.index()];
        Move::Fault(from.or(anywhere).or(self.reach(all, event, line, false)))
    }

    fn reach(
        &self,
        from: StateSet,
        event: EventId,
        line: &mut Probe<'_, '_, '_>,
        foreign: bool,
    ) -> StateSet {
        let mut to = StateSet::NONE;
        for state in from.each() {
            let mut steps = self.steps[state][event.index()].iter();
            let step = steps.find(|step| step.foreign == foreign && step.pattern.fits(line));
            if let Some(step) = step {
                to = to.or(StateSet::one(step.to));
            }
        }
        to
    }

    /// Where a stream may be after a line that could not be read.
    pub(super) fn blind(&self, from: StateSet) -> StateSet {
        from.each()
            .fold(from, |set, state| set.or(self.after[state]))
    }

    /// The types that may come next, in the order of the machine.
    pub(super) fn expected(&self, from: StateSet) -> Vec<usize> {
        let mut events = Vec::new();
        for state in from.each() {
            for (event, steps) in self.steps[state].iter().enumerate() {
                if steps.iter().any(|step| !step.foreign) && !events.contains(&event) {
                    events.push(event);
                }
            }
        }
        events
    }
}
