//! A bundle as a table that checks lines.
//!
//! [`Checker::compile`] turns a bundle into a flat list of [nodes](Node): references are followed
//! and names are looked up once, so that a sound line costs a walk over its values and no
//! allocation. Where a line is not sound, a second walk finds every fault. Both are the same code
//! over another [sink](sink::Sink), and the verdict is that of JSON Schema 2020-12 for any bundle of
//! the vocabulary of [`codegen::bundle`](crate::codegen::bundle); a discriminator only leaves out
//! branches that cannot match.

mod compile;
mod duplicates;
mod message;
mod names;
mod sink;
mod walk;

use std::fmt;
use std::sync::LazyLock;

use super::json::Value;
use super::json::types::Types;
use super::{SESSION_OPEN, SESSION_STRICT, Wire};
use names::Names;
use sink::{Faults, Verdict};

pub use compile::CompileError;

/// A compiled bundle.
#[derive(Debug)]
pub struct Checker {
    nodes: Box<[Node]>,
    /// The titles of `$defs` and of the root, and the node of each.
    titles: Names,
    defs: Box<[usize]>,
}

/// One thing that is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where, as a JSON pointer into the line. For a field that is missing it is the object, for one
    /// that should not be there the field, for a discriminator that is not known the discriminator.
    pub pointer: String,
    /// The keyword that does not hold.
    pub keyword: Keyword,
    /// The keyword in the bundle, as a JSON pointer; empty for [`Keyword::Duplicate`], which is no
    /// keyword of a schema.
    pub rule: String,
    /// What is wrong, such as `expected integer, got string`.
    pub message: String,
}

/// A keyword of JSON Schema, as far as bundles have it, and one rule besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Keyword {
    /// The value is of another type.
    Type,
    /// It is not the one value that may stand there.
    Const,
    /// It is none of the values that may stand there.
    Enum,
    /// The number is too small.
    Minimum,
    /// A field is missing.
    Required,
    /// There is no such field.
    AdditionalProperties,
    /// None of the forms of a union fits, or more than one: most often the discriminator is
    /// missing or not known.
    OneOf,
    /// A key stands twice in one object. JSON Schema has no word for it, because most readers of
    /// JSON drop all but one before a schema is asked.
    Duplicate,
}

impl Keyword {
    /// Its name in a schema; `duplicate` for the one that is none.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Const => "const",
            Self::Enum => "enum",
            Self::Minimum => "minimum",
            Self::Required => "required",
            Self::AdditionalProperties => "additionalProperties",
            Self::OneOf => "oneOf",
            Self::Duplicate => "duplicate",
        }
    }
}

impl fmt::Display for Keyword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A schema within the bundle.
#[derive(Debug)]
struct Node {
    /// Where it stands in the bundle, as a JSON pointer.
    place: Box<str>,
    /// Its own `type`; all where it has none.
    types: Types,
    rules: Box<[Rule]>,
}

/// What a schema asks for besides a type.
#[derive(Debug)]
enum Rule {
    Const(serde_json::Value),
    Enum(Box<[serde_json::Value]>),
    Minimum(serde_json::Number),
    Object(Object),
    Items(usize),
    /// Another schema that has to hold for the same value.
    All(usize),
    OneOf(Union),
}

/// `properties`, `required` and `additionalProperties` together.
#[derive(Debug)]
struct Object {
    /// In the order of the schema; then the names that are required only.
    properties: Box<[Property]>,
    names: Names,
    /// Which of the first [`TRACKED`] are required.
    required: u64,
    /// Whether other fields are not allowed.
    closed: bool,
}

/// The properties of one object that are kept track of by a bit each.
const TRACKED: usize = u64::BITS as usize;

#[derive(Debug)]
struct Property {
    name: Box<str>,
    /// Its schema; `None` for a name that is only required.
    node: Option<usize>,
    required: bool,
}

/// The branches of a `oneOf`.
#[derive(Debug)]
struct Union {
    /// The name of the discriminator.
    tag: Option<Box<str>>,
    branches: Box<[Branch]>,
    /// The values of the discriminator that are tied to exactly one branch each, and those
    /// branches; only where every branch is tied to values of its own.
    tags: Names,
    tied: Option<Box<[usize]>>,
}

#[derive(Debug)]
struct Branch {
    node: usize,
    /// The types that can match at all.
    types: Types,
    /// The values of the discriminator that can match, where it is there; `None` for any.
    tags: Option<Box<[Box<str>]>>,
}

impl Checker {
    /// What may be written on the wire.
    #[must_use]
    pub fn strict(wire: Wire) -> &'static Self {
        static QUIPU: LazyLock<Checker> = LazyLock::new(|| embedded(Wire::Quipu.strict()));
        static SENPI: LazyLock<Checker> = LazyLock::new(|| embedded(Wire::Senpi.strict()));
        static DREB: LazyLock<Checker> = LazyLock::new(|| embedded(Wire::Dreb.strict()));
        match wire {
            Wire::Quipu => &QUIPU,
            Wire::Senpi => &SENPI,
            Wire::Dreb => &DREB,
        }
    }

    /// What a reader of the wire should accept.
    #[must_use]
    pub fn open(wire: Wire) -> &'static Self {
        static QUIPU: LazyLock<Checker> = LazyLock::new(|| embedded(Wire::Quipu.open()));
        static SENPI: LazyLock<Checker> = LazyLock::new(|| embedded(Wire::Senpi.open()));
        static DREB: LazyLock<Checker> = LazyLock::new(|| embedded(Wire::Dreb.open()));
        match wire {
            Wire::Quipu => &QUIPU,
            Wire::Senpi => &SENPI,
            Wire::Dreb => &DREB,
        }
    }

    /// What may be stored in a session file.
    #[must_use]
    pub fn session_strict() -> &'static Self {
        static SESSION: LazyLock<Checker> = LazyLock::new(|| embedded(SESSION_STRICT));
        &SESSION
    }

    /// What a reader of session files should accept.
    #[must_use]
    pub fn session_open() -> &'static Self {
        static SESSION: LazyLock<Checker> = LazyLock::new(|| embedded(SESSION_OPEN));
        &SESSION
    }

    /// A checker for `bundle`.
    ///
    /// # Errors
    /// The first keyword that bundles do not have, or that holds what it cannot hold.
    pub fn compile(bundle: &serde_json::Value) -> Result<Self, CompileError> {
        compile::compile(bundle)
    }

    /// Appends everything that is wrong with a line, in the order of the line.
    pub fn check(&self, line: Value<'_, '_>, faults: &mut Vec<Fault>) {
        self.check_at(compile::ROOT, line, faults);
    }

    /// The same for a value by itself and the def `title`; `false` if the bundle has none.
    pub fn check_def(&self, title: &str, value: Value<'_, '_>, faults: &mut Vec<Fault>) -> bool {
        let node = self.titles.find(title);
        let node = node.and_then(|place| self.defs.get(place));
        if let Some(node) = node {
            self.check_at(*node, value, faults);
        }
        node.is_some()
    }

    fn check_at(&self, node: usize, value: Value<'_, '_>, faults: &mut Vec<Fault>) {
        if self.walk(node, value, &mut Verdict).is_break() {
            let mut found = Faults::default();
            let _ = self.walk(node, value, &mut found);
            duplicates::explain(value, &mut found);
            found.give(faults);
        } else if duplicates::any(value) {
            let mut found = Faults::default();
            duplicates::explain(value, &mut found);
            found.give(faults);
        }
    }
}

/// A bundle of this build.
fn embedded(text: &str) -> Checker {
    let bundle = serde_json::from_str(text).expect("a bundle is JSON");
    Checker::compile(&bundle).expect("a bundle is of the vocabulary of bundles")
}

#[cfg(test)]
mod tests;
