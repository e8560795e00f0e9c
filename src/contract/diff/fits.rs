//! Whether every value of one type is a value of another.

use super::node::{Bundle, Field, Node};
use serde_json::Value;
use std::collections::BTreeSet;

/// The question: are the values of types of `from`, as they may be written, good as values of types
/// of `into`?
pub(super) struct Fits<'a> {
    from: &'a Bundle,
    into: &'a Bundle,
    /// Whether `into` is what a reader accepts, not what may be written.
    reader: bool,
    /// Pairs of defs under way: what leads back to one holds if everything else does.
    assumed: BTreeSet<(&'a str, &'a str)>,
}

impl<'a> Fits<'a> {
    /// Whether all of `a`, in `from`, may be written under `into`.
    pub(super) fn written(
        from: &'a Bundle,
        a: &'a Node,
        into: &'a Bundle,
        b: &'a Node,
    ) -> Option<bool> {
        Self::ask(from, a, into, b, false)
    }

    /// Whether a reader of `into` can take all of `a`, in `from`.
    pub(super) fn read(
        from: &'a Bundle,
        a: &'a Node,
        into: &'a Bundle,
        b: &'a Node,
    ) -> Option<bool> {
        Self::ask(from, a, into, b, true)
    }

    fn ask(
        from: &'a Bundle,
        a: &'a Node,
        into: &'a Bundle,
        b: &'a Node,
        reader: bool,
    ) -> Option<bool> {
        let mut fits = Self {
            from,
            into,
            reader,
            assumed: BTreeSet::new(),
        };
        fits.node(a, b)
    }

    /// `None` is not known.
    fn node(&mut self, a: &'a Node, b: &'a Node) -> Option<bool> {
        if let (Node::Ref(from), Node::Ref(into)) = (a, b)
            && !self.assumed.insert((from, into))
        {
            return Some(true);
        }
        if self.reader && matches!(b, Node::Ref(title) if *title == self.into.root) {
            return self.line(a);
        }
        let (a, b) = (self.from.resolve(a), self.into.resolve(b));
        match (a, b) {
            (_, Node::Any)
            | (Node::Map | Node::Object(_) | Node::Union { .. }, Node::Map)
            | (Node::String, Node::String | Node::Either(_))
            | (Node::Boolean, Node::Boolean) => Some(true),
            (Node::Other(a), Node::Other(b)) if a == b => Some(true),
            (Node::Other(_), _) | (_, Node::Other(_)) => None,
            (Node::Nullable(a), Node::Nullable(b)) | (Node::Array(a), Node::Array(b)) => {
                self.node(a, b)
            }
            (Node::Either(a) | Node::Array(a), Node::Either(b)) => self.node(a, b),
            (Node::Nullable(_), _) => Some(false),
            (a, Node::Nullable(b)) => self.node(a, b),
            (Node::Const(value), b) => Some(self.is_one(value, b)),
            (Node::Enum { values, .. }, b) => Some(
                values
                    .iter()
                    .all(|value| self.is_one(&Value::from(value.as_str()), b)),
            ),
            (Node::String, Node::Enum { fixed, .. }) => Some(self.reader && !fixed),
            (Node::Integer(a), Node::Integer(b) | Node::Number(b))
            | (Node::Number(a), Node::Number(b)) => {
                Some(b.is_none_or(|b| a.is_some_and(|a| a >= b)))
            }
            (Node::Map, Node::Object(fields)) => Some(
                self.reader
                    && fields.iter().all(|field| {
                        !field.required && self.into.resolve(&field.node) == &Node::Any
                    }),
            ),
            (Node::Object(a), Node::Object(b)) => self.object(a, b),
            (Node::Union { members, .. }, b) => {
                let mut all = Some(true);
                for (_, title) in members {
                    let member = self
                        .from
                        .defs
                        .get(title)
                        .map_or(&Node::Any, |def| &def.node);
                    all = both(all, self.node(member, b));
                }
                all
            }
            (Node::Object(fields), Node::Union { tag, members }) => {
                let tag = fields
                    .iter()
                    .find(|field| field.name == *tag && field.required);
                match tag.map(|field| self.from.resolve(&field.node)) {
                    Some(Node::Const(value)) => {
                        let member = members.iter().find(|(other, _)| value == other);
                        let def = member.and_then(|(_, title)| self.into.defs.get(title));
                        def.map_or(Some(false), |def| self.node(a, &def.node))
                    }
                    // Several values, so several members, each of which would have to take it.
                    Some(Node::Enum { .. }) => None,
                    _ => Some(false),
                }
            }
            _ => Some(false),
        }
    }

    /// Whether a reader can take a line: it skips what it does not know.
    fn line(&mut self, a: &'a Node) -> Option<bool> {
        let Node::Union { members, .. } = self.from.resolve(a) else {
            return Some(false);
        };
        let mut all = Some(true);
        for (value, title) in members {
            let known = self.into.lines().find(|(other, _)| other == value);
            let (Some((_, known)), Some(member)) = (known, self.from.defs.get(title)) else {
                continue;
            };
            let Some(known) = self.into.defs.get(known) else {
                continue;
            };
            all = both(all, self.node(&member.node, &known.node));
        }
        all
    }

    fn object(&mut self, a: &'a [Field], b: &'a [Field]) -> Option<bool> {
        let mut all = Some(true);
        for field in a {
            all = match b.iter().find(|other| other.name == field.name) {
                Some(other) => both(all, self.node(&field.node, &other.node)),
                None => both(all, Some(self.reader)),
            };
        }
        let given = |name: &str| a.iter().any(|field| field.required && field.name == name);
        let there = b.iter().all(|field| !field.required || given(&field.name));
        both(all, Some(there))
    }

    fn is_one(&self, value: &Value, b: &Node) -> bool {
        match (self.into.resolve(b), value) {
            (Node::Const(other), value) => value == other,
            (Node::Enum { values, fixed }, Value::String(value)) => {
                (self.reader && !fixed) || values.contains(value)
            }
            (Node::String | Node::Either(_), Value::String(_))
            | (Node::Boolean, Value::Bool(_))
            | (Node::Any, _) => true,
            (Node::Integer(minimum), Value::Number(number)) => {
                match number.as_i64() {
                    Some(number) => minimum.is_none_or(|least| number >= least),
                    // Beyond the range, so beyond any least value.
                    None => number.is_u64(),
                }
            }
            (Node::Number(minimum), Value::Number(number)) => {
                // A least value is a small whole number here.
                #[allow(clippy::cast_precision_loss, reason = "exact up to 2^53")]
                let enough = |number: f64| minimum.is_none_or(|least| number >= least as f64);
                number.as_f64().is_some_and(enough)
            }
            (Node::Nullable(inner), value) => value.is_null() || self.is_one(value, inner),
            _ => false,
        }
    }
}

/// Both hold; a plain no wins over what is not known.
fn both(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}
