//! Where a walk over a value brings what it finds.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use super::{Fault, Keyword};

/// Whether to go on.
pub(super) type Flow = ControlFlow<()>;

/// What a walk is for: a verdict, or all faults.
pub(super) trait Sink<'d> {
    /// Into a part of the value.
    fn enter(&mut self, step: Step<'d>);

    /// Out of it.
    fn leave(&mut self);

    /// Something is wrong: where the faults go, if more than a verdict is wanted.
    fn fault(&mut self) -> Option<&mut Faults<'d>>;
}

/// From a value to a part of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'d> {
    Key(&'d str),
    Index(usize),
}

/// Ends the walk at the first fault.
pub(super) struct Verdict;

impl<'d> Sink<'d> for Verdict {
    #[inline]
    fn enter(&mut self, _: Step<'d>) {}

    #[inline]
    fn leave(&mut self) {}

    #[inline]
    fn fault(&mut self) -> Option<&mut Faults<'d>> {
        None
    }
}

/// Collects every fault.
#[derive(Debug, Default)]
pub(super) struct Faults<'d> {
    path: Vec<Step<'d>>,
    /// Each with the position of its value in the document.
    found: Vec<(usize, Fault)>,
}

impl<'d> Sink<'d> for Faults<'d> {
    fn enter(&mut self, step: Step<'d>) {
        self.path.push(step);
    }

    fn leave(&mut self) {
        self.path.pop();
    }

    fn fault(&mut self) -> Option<&mut Faults<'d>> {
        Some(self)
    }
}

impl Faults<'_> {
    /// Adds a fault of the value that the walk is at, which is at `position` of the document.
    pub(super) fn add(&mut self, position: usize, keyword: Keyword, place: &str, message: String) {
        let rule = match keyword {
            Keyword::Duplicate => String::new(),
            keyword => format!("{place}/{keyword}"),
        };
        let fault = Fault {
            pointer: self.pointer(),
            keyword,
            rule,
            message,
        };
        self.found.push((position, fault));
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// Takes all from the nth on.
    pub(super) fn take_from(&mut self, nth: usize) -> Vec<(usize, Fault)> {
        self.found.split_off(nth)
    }

    /// Gives back what was taken.
    pub(super) fn put_back(&mut self, faults: Vec<(usize, Fault)>) {
        self.found.extend(faults);
    }

    /// Appends them to `faults` in the order of the document.
    pub(super) fn give(mut self, faults: &mut Vec<Fault>) {
        self.found.sort_by_key(|(position, _)| *position);
        faults.extend(self.found.into_iter().map(|(_, fault)| fault));
    }

    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for step in &self.path {
            // Writing to a string does not fail.
            let _ = match step {
                Step::Key(key) => write!(pointer, "/{}", escape(key)),
                Step::Index(index) => write!(pointer, "/{index}"),
            };
        }
        pointer
    }
}

/// A key as a step of a JSON pointer.
pub(super) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
