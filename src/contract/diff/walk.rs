//! The comparison of two bundles, def by def.

use super::fits::Fits;
use super::node::{Bundle, Def, Field, Node};
use super::{Breaks, Change, Changes, Step};
use crate::codegen::escape;
use std::collections::{BTreeMap, BTreeSet};

/// Adds what changed from `old` to `new`, the bundles called `name`.
pub(super) fn compare(name: &str, old: &Bundle, new: &Bundle, changes: &mut Changes) {
    let mut walk = Walk {
        name,
        old,
        new,
        reached: reached(old, new),
        queue: vec![(old.root.clone(), new.root.clone())],
        seen: BTreeSet::new(),
        changes,
    };
    while let Some(pair) = walk.queue.pop() {
        if walk.seen.insert(pair.clone()) {
            walk.defs(&pair.0, &pair.1);
        }
    }
}

/// For each title the types of the lines, old and new, that lead to it, themselves not included.
fn reached(old: &Bundle, new: &Bundle) -> BTreeMap<String, BTreeSet<String>> {
    let mut reached: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for bundle in [old, new] {
        for (value, line) in bundle.lines() {
            let mut queue = vec![line];
            let mut seen = BTreeSet::from([line, &*bundle.root]);
            while let Some(title) = queue.pop() {
                let Some(def) = bundle.defs.get(title) else {
                    continue;
                };
                for target in Bundle::targets(&def.node) {
                    if seen.insert(target) {
                        queue.push(target);
                        let lines = reached.entry(target.to_owned()).or_default();
                        lines.insert(value.to_owned());
                    }
                }
            }
        }
    }
    reached
}

struct Walk<'a> {
    name: &'a str,
    old: &'a Bundle,
    new: &'a Bundle,
    reached: BTreeMap<String, BTreeSet<String>>,
    queue: Vec<(String, String)>,
    seen: BTreeSet<(String, String)>,
    changes: &'a mut Changes,
}

/// A place in a pair of defs.
struct At<'t> {
    title: &'t str,
    place: String,
}

impl At<'_> {
    fn below(&self, part: &str) -> Self {
        Self {
            title: self.title,
            place: format!("{}/{part}", self.place),
        }
    }
}

impl<'a> Walk<'a> {
    fn add(&mut self, at: &At, breaks: Breaks, step: Step, what: impl Into<String>) {
        let event = self
            .new
            .event(at.title)
            .or_else(|| self.old.event(at.title));
        let change = Change {
            step,
            breaks,
            wires: BTreeSet::from([self.name.to_owned()]),
            event: event.map(str::to_owned),
            title: at.title.to_owned(),
            place: at.place.clone(),
            what: what.into(),
            reached_by: self.reached.get(at.title).cloned().unwrap_or_default(),
        };
        self.changes.add(change);
    }

    fn words(&mut self, at: &At, what: impl Into<String>) {
        self.add(at, Breaks::Nobody, Step::Patch, what);
    }

    fn extends(&mut self, at: &At, what: impl Into<String>) {
        self.add(at, Breaks::Nobody, Step::Minor, what);
    }

    fn breaks(&mut self, at: &At, breaks: Breaks, what: impl Into<String>) {
        self.add(at, breaks, Step::Major, what);
    }

    fn defs(&mut self, old_title: &str, new_title: &str) {
        let (old_bundle, new_bundle) = (self.old, self.new);
        let (Some(old), Some(new)) = (
            old_bundle.defs.get(old_title),
            new_bundle.defs.get(new_title),
        ) else {
            return;
        };
        let at = At {
            title: new_title,
            place: String::new(),
        };
        if old_title != new_title {
            self.words(&at, format!("{old_title} is called {new_title}"));
        }
        if old.description != new.description {
            self.words(&at.below("description"), "description reworded");
        }
        if old.parts != new.parts {
            self.words(&at.below("oneOf"), "descriptions reworded");
        }
        if old.examples != new.examples {
            self.words(&at.below("examples"), "other examples");
        }
        self.read_only(&at, old, new);
        self.nodes(&at, &old.node, &new.node);
    }

    /// A strict bundle has nothing that is only read, so it says nothing about this.
    fn read_only(&mut self, at: &At, old: &Def, new: &Def) {
        if self.old.open && self.new.open {
            match (old.read_only, new.read_only) {
                (true, false) => self.extends(at, "is written from now on, no longer only read"),
                (false, true) => self.breaks(
                    at,
                    Breaks::Producers,
                    "is only read from now on, no longer written",
                ),
                _ => {}
            }
        }
    }

    fn nodes(&mut self, at: &At, old: &'a Node, new: &'a Node) {
        match (old, new) {
            (Node::Ref(a), Node::Ref(b)) => {
                // Two names for what was and is there on both sides are two types.
                let swapped =
                    a != b && (self.new.defs.contains_key(a) || self.old.defs.contains_key(b));
                if swapped && !(*a == self.old.root && *b == self.new.root) {
                    self.judge(at, old, new);
                } else {
                    self.queue.push((a.clone(), b.clone()));
                }
            }
            (Node::Array(a), Node::Array(b)) => self.nodes(&at.below("items"), a, b),
            (Node::Nullable(a), Node::Nullable(b)) => self.nodes(&at.below("oneOf/0"), a, b),
            (Node::Either(a), Node::Either(b)) => self.nodes(&at.below("oneOf/1/items"), a, b),
            (Node::Object(a), Node::Object(b)) => self.fields(at, a, b),
            (Node::Enum { values: a, fixed }, Node::Enum { values: b, .. }) => {
                self.values(at, a, b, *fixed);
            }
            (
                Node::Union {
                    tag: old_tag,
                    members: a,
                },
                Node::Union {
                    tag: new_tag,
                    members: b,
                },
            ) if old_tag == new_tag => self.members(at, a, b),
            (old, new) if old == new => {}
            _ => self.judge(at, old, new),
        }
    }

    /// Two types that are not of one kind: compared by the values they have.
    fn judge(&mut self, at: &At, old: &'a Node, new: &'a Node) {
        let writes = Fits::written(self.old, old, self.new, new);
        let reads = Fits::read(self.new, new, self.old, old);
        let breaks = Breaks::of(writes.map(|fits| !fits), reads.map(|fits| !fits));
        let what = format!("was {}, is {}", shown(old), shown(new));
        if breaks == Breaks::Nobody {
            self.extends(at, what);
        } else {
            self.breaks(at, breaks, what);
        }
    }

    fn fields(&mut self, at: &At, old: &'a [Field], new: &'a [Field]) {
        let presence = |field: &Field| {
            if field.required {
                "required"
            } else {
                "optional"
            }
        };
        for field in old {
            let at = at.below(&format!("properties/{}", escape(&field.name)));
            let Some(now) = new.iter().find(|now| now.name == field.name) else {
                let breaks = if field.required {
                    Breaks::Both
                } else {
                    Breaks::Producers
                };
                self.breaks(&at, breaks, format!("{} field removed", presence(field)));
                continue;
            };
            match (field.required, now.required) {
                (false, true) => self.breaks(
                    &at,
                    Breaks::Producers,
                    "optional field is required from now on",
                ),
                (true, false) => self.breaks(
                    &at,
                    Breaks::Readers,
                    "required field is optional from now on",
                ),
                _ => {}
            }
            if field.description != now.description {
                self.words(&at.below("description"), "description reworded");
            }
            self.nodes(&at, &field.node, &now.node);
        }
        for field in new {
            if old.iter().any(|before| before.name == field.name) {
                continue;
            }
            let at = at.below(&format!("properties/{}", escape(&field.name)));
            let what = format!("{} field added", presence(field));
            if field.required {
                self.breaks(&at, Breaks::Producers, what);
            } else {
                self.extends(&at, what);
            }
        }
        let names = |fields: &'a [Field]| fields.iter().map(|field| &*field.name);
        if reordered(names(old), names(new)) {
            self.words(&at.below("properties"), "fields in another order");
        }
    }

    fn values(&mut self, at: &At, old: &'a [String], new: &'a [String], fixed: bool) {
        let at = at.below("enum");
        for value in old.iter().filter(|value| !new.contains(value)) {
            self.breaks(&at, Breaks::Producers, format!("value `{value}` removed"));
        }
        for value in new.iter().filter(|value| !old.contains(value)) {
            let what = format!("value `{value}` added");
            if fixed {
                self.breaks(&at, Breaks::Readers, what);
            } else {
                self.extends(&at, what);
            }
        }
        if reordered(old.iter().map(|v| &**v), new.iter().map(|v| &**v)) {
            self.words(&at, "values in another order");
        }
    }

    fn members(&mut self, at: &At, old: &'a [(String, String)], new: &'a [(String, String)]) {
        let in_root = at.title == self.new.root;
        // Forms of one value are told apart by their titles.
        let find = |all: &'a [(String, String)], (value, title): &(String, String)| {
            let same = |(other, _): &&(String, String)| other == value;
            let mut forms = all.iter().filter(same);
            let found = forms.clone().find(|(_, other)| other == title);
            found.or_else(|| forms.next())
        };
        for member in old {
            let (value, title) = member;
            match find(new, member) {
                Some((_, now)) => self.member(at, title, now),
                None if is_hidden(self.old, title, self.new) => {}
                None => {
                    let (at, what) = spot(at, in_root, value, title);
                    self.breaks(&at, Breaks::Producers, format!("{what} removed"));
                }
            }
        }
        for member in new {
            let (value, title) = member;
            if find(old, member).is_some() || is_hidden(self.new, title, self.old) {
                continue;
            }
            let read_only = self.new.defs.get(title).is_some_and(|def| def.read_only);
            let (at, what) = spot(at, in_root, value, title);
            let what = format!("{what} added");
            if in_root || read_only {
                self.extends(&at, what);
            } else {
                self.breaks(&at, Breaks::Readers, what);
            }
        }
        let titles = |members: &'a [(String, String)]| members.iter().map(|(value, _)| &**value);
        if reordered(titles(old), titles(new)) {
            self.words(&at.below("oneOf"), "members in another order");
        }
    }

    /// A line or member on both sides; one form may have become several.
    fn member(&mut self, at: &At, old: &'a str, new: &'a str) {
        let (old_bundle, new_bundle) = (self.old, self.new);
        let (Some(a), Some(b)) = (old_bundle.defs.get(old), new_bundle.defs.get(new)) else {
            return;
        };
        match (&a.node, &b.node) {
            (Node::Object(_), Node::Union { .. }) | (Node::Union { .. }, Node::Object(_)) => {
                let at = At {
                    title: if at.title == self.new.root {
                        new
                    } else {
                        at.title
                    },
                    place: String::new(),
                };
                self.judge(&at, &a.node, &b.node);
            }
            _ => self.queue.push((old.to_owned(), new.to_owned())),
        }
    }
}

/// Whether a member is only read, and the other side, a strict bundle, cannot have it.
fn is_hidden(bundle: &Bundle, title: &str, other: &Bundle) -> bool {
    !other.open && bundle.defs.get(title).is_some_and(|def| def.read_only)
}

/// A type of line stands for itself, a member of another union in its union.
fn spot<'t>(at: &At<'t>, in_root: bool, value: &str, title: &'t str) -> (At<'t>, String) {
    if in_root {
        let at = At {
            title,
            place: String::new(),
        };
        (at, "type of line".to_owned())
    } else {
        (at.below("oneOf"), format!("member `{value}` ({title})"))
    }
}

/// Whether what both have comes in another order.
fn reordered<'t>(old: impl Iterator<Item = &'t str>, new: impl Iterator<Item = &'t str>) -> bool {
    let (old, new): (Vec<_>, Vec<_>) = (old.collect(), new.collect());
    let kept_old = old.iter().filter(|name| new.contains(name));
    let kept_new = new.iter().filter(|name| old.contains(name));
    !kept_old.eq(kept_new)
}

/// A type in words.
fn shown(node: &Node) -> String {
    let number = |name: &str, minimum: &Option<i64>| match minimum {
        Some(minimum) => format!("{name} ≥ {minimum}"),
        None => name.to_owned(),
    };
    match node {
        Node::Any => "any JSON".into(),
        Node::Map => "object with any keys".into(),
        Node::String => "string".into(),
        Node::Boolean => "boolean".into(),
        Node::Integer(minimum) => number("integer", minimum),
        Node::Number(minimum) => number("number", minimum),
        Node::Const(value) => format!("always {value}"),
        Node::Enum { values, .. } => format!("one of {}", values.join(", ")),
        Node::Array(items) => format!("array of {}", shown(items)),
        Node::Nullable(inner) => format!("{} or null", shown(inner)),
        Node::Either(items) => format!("string or array of {}", shown(items)),
        Node::Ref(title) => title.clone(),
        Node::Object(_) => "an object".into(),
        Node::Union { tag, members } => {
            let titles: Vec<&str> = members.iter().map(|(_, title)| &**title).collect();
            format!("one of {} by `{tag}`", titles.join(", "))
        }
        Node::Other(json) => format!("{json}"),
    }
}
