//! The walk over a value.

use std::cmp::Ordering;
use std::ops::ControlFlow;

use super::message;
use super::sink::{Faults, Flow, Sink, Step, Verdict};
use super::{Branch, Checker, Keyword, Node, Object, Rule, TRACKED, Union};
use crate::contract::json::types::Types;
use crate::contract::json::{Number, Value};

/// Ends the walk if a verdict is all that is wanted, else adds the fault and goes on.
macro_rules! fault {
    ($sink:expr, $value:expr, $keyword:ident, $place:expr, $message:expr) => {
        match $sink.fault() {
            None => return ControlFlow::Break(()),
            Some(faults) => {
                faults.add($value.position(), Keyword::$keyword, $place, $message);
            }
        }
    };
}

impl Checker {
    pub(super) fn walk<'d, S: Sink<'d>>(
        &self,
        node: usize,
        value: Value<'d, '_>,
        sink: &mut S,
    ) -> Flow {
        let node = &self.nodes[node];
        if !node.types.meet(value.types()) {
            fault!(
                sink,
                value,
                Type,
                &node.place,
                message::types(node.types, value)
            );
        }
        for rule in &node.rules {
            self.rule(node, rule, value, sink)?;
        }
        ControlFlow::Continue(())
    }

    fn rule<'d, S: Sink<'d>>(
        &self,
        Node { place, .. }: &Node,
        rule: &Rule,
        value: Value<'d, '_>,
        sink: &mut S,
    ) -> Flow {
        match rule {
            Rule::Const(expected) => {
                if !same(expected, value) {
                    fault!(
                        sink,
                        value,
                        Const,
                        place,
                        message::constant(expected, value)
                    );
                }
            }
            Rule::Enum(known) => {
                if !known.iter().any(|known| same(known, value)) {
                    fault!(sink, value, Enum, place, message::values(known, value));
                }
            }
            Rule::Minimum(minimum) => {
                let number = value.as_number();
                if number.is_some_and(|number| less(number, minimum)) {
                    fault!(
                        sink,
                        value,
                        Minimum,
                        place,
                        message::minimum(minimum, value)
                    );
                }
            }
            Rule::Object(object) => {
                if value.is_object() {
                    self.object(place, object, value, sink)?;
                }
            }
            Rule::Items(items) => {
                for (index, item) in value.items().enumerate() {
                    sink.enter(Step::Index(index));
                    self.walk(*items, item, sink)?;
                    sink.leave();
                }
            }
            Rule::All(other) => self.walk(*other, value, sink)?,
            Rule::OneOf(union) => self.union(place, union, value, sink)?,
        }
        ControlFlow::Continue(())
    }

    fn object<'d, S: Sink<'d>>(
        &self,
        place: &str,
        object: &Object,
        value: Value<'d, '_>,
        sink: &mut S,
    ) -> Flow {
        let mut seen = 0_u64;
        // Producers write in the order of the schema: the one after the last is the likely one.
        let mut next = 0;
        for (key, field) in value.fields() {
            let found = match object.properties.get(next) {
                Some(property) if *property.name == *key => Some(next),
                _ => object.names.find(key),
            };
            let node = found.and_then(|found| {
                next = found + 1;
                if found < TRACKED {
                    seen |= 1 << found;
                }
                object.properties[found].node
            });
            match node {
                Some(node) => {
                    sink.enter(Step::Key(key));
                    self.walk(node, field, sink)?;
                    sink.leave();
                }
                None if object.closed => {
                    sink.enter(Step::Key(key));
                    let absent = object
                        .properties
                        .iter()
                        .filter(|known| known.node.is_some() && value.get(&known.name).is_none());
                    let absent = absent.map(|known| &*known.name);
                    let message = || message::no_field(key, absent);
                    fault!(sink, field, AdditionalProperties, place, message());
                    sink.leave();
                }
                None => {}
            }
        }
        let many = object.properties.len() > TRACKED;
        if seen & object.required != object.required || many {
            for property in object.properties.iter().filter(|known| known.required) {
                if value.get(&property.name).is_none() {
                    let message = message::missing(&property.name);
                    fault!(sink, value, Required, place, message);
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn union<'d, S: Sink<'d>>(
        &self,
        place: &str,
        union: &Union,
        value: Value<'d, '_>,
        sink: &mut S,
    ) -> Flow {
        let tag = union.tag.as_deref();
        let tag = tag.and_then(|tag| Some((tag, value.first(tag)?)));
        if let (Some(tied), Some((_, tag))) = (&union.tied, tag) {
            let found = tag.as_str().and_then(|tag| union.tags.find(tag));
            if let Some(found) = found {
                return self.walk(tied[found], value, sink);
            }
        }
        let types = value.types();
        let mut candidates = union.branches.iter().filter(|branch| {
            branch.types.meet(types)
                && match (&branch.tags, tag) {
                    (Some(tags), Some((_, tag))) => tag
                        .as_str()
                        .is_some_and(|tag| tags.iter().any(|known| **known == *tag)),
                    _ => true,
                }
        });
        let rest = candidates.clone();
        if let (Some(only), None) = (candidates.next(), candidates.next()) {
            return self.walk(only.node, value, sink);
        }
        let matches = rest
            .clone()
            .filter(|branch| self.walk(branch.node, value, &mut Verdict).is_continue())
            .take(2)
            .count();
        match (matches, sink.fault()) {
            (1, _) => ControlFlow::Continue(()),
            (_, None) => ControlFlow::Break(()),
            (0, Some(faults)) => self.none(place, union, rest, tag, value, faults),
            (_, Some(faults)) => {
                let message = message::forms(matches);
                faults.add(value.position(), Keyword::OneOf, place, message);
                ControlFlow::Continue(())
            }
        }
    }

    /// Says why none of the branches fits that are left by type and discriminator.
    fn none<'c, 'd>(
        &self,
        place: &str,
        union: &Union,
        candidates: impl Iterator<Item = &'c Branch>,
        tag: Option<(&'c str, Value<'d, '_>)>,
        value: Value<'d, '_>,
        faults: &mut Faults<'d>,
    ) -> Flow {
        let one_of = |faults: &mut Faults<'d>, value: Value<'d, '_>, message| {
            faults.add(value.position(), Keyword::OneOf, place, message);
        };
        let branches = || union.branches.iter();
        if let (Some(name), None, true) = (&union.tag, tag, value.is_object()) {
            one_of(faults, value, message::missing(name));
            return ControlFlow::Continue(());
        }
        let mut nearest: Option<Vec<_>> = None;
        let before = faults.len();
        for branch in candidates {
            let _ = self.walk(branch.node, value, faults);
            let found = faults.take_from(before);
            if nearest
                .as_ref()
                .is_none_or(|least| found.len() < least.len())
            {
                nearest = Some(found);
            }
        }
        match (nearest, tag) {
            (Some(nearest), _) => faults.put_back(nearest),
            (None, Some((name, tag))) => {
                let known = branches().flat_map(|branch| branch.tags.iter().flatten());
                let message = message::unknown(name, tag, known.map(|known| &**known));
                // The key is part of the value, and outlives the walk.
                if let Some((key, _)) = value.fields().find(|(key, _)| *key == name) {
                    faults.enter(Step::Key(key));
                    one_of(faults, tag, message);
                    faults.leave();
                }
            }
            (None, None) => {
                let types = branches().fold(Types::NONE, |all, branch| all | branch.types);
                let message = if types.meet(value.types()) {
                    message::forms(0)
                } else {
                    message::types(types, value)
                };
                one_of(faults, value, message);
            }
        }
        ControlFlow::Continue(())
    }
}

/// Equality as JSON Schema has it: the order of keys does not count, and `3` and `3.0` are one number.
fn same(expected: &serde_json::Value, value: Value<'_, '_>) -> bool {
    use serde_json::Value as Json;
    match expected {
        Json::Null => value.is_null(),
        Json::Bool(expected) => value.as_bool() == Some(*expected),
        Json::String(expected) => value.as_str() == Some(expected),
        Json::Number(expected) => value.as_number() == number(expected),
        Json::Array(expected) => {
            value.is_array()
                && value.len() == expected.len()
                && expected.iter().zip(value.items()).all(|(a, b)| same(a, b))
        }
        Json::Object(expected) => {
            value.is_object()
                && value.len() == expected.len()
                && expected
                    .iter()
                    .all(|(key, a)| value.get(key).is_some_and(|b| same(a, b)))
        }
    }
}

fn number(number: &serde_json::Number) -> Option<Number> {
    let unsigned = number.as_u64().map(Number::Unsigned);
    let signed = || number.as_i64().map(Number::Signed);
    let float = || number.as_f64().map(Number::Float);
    unsigned.or_else(signed).or_else(float)
}

/// Whether `value` is below `minimum`.
fn less(value: Number, minimum: &serde_json::Number) -> bool {
    number(minimum).is_some_and(|minimum| value.compare(minimum) == Some(Ordering::Less))
}
