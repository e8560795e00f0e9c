//! `docs/events.md`: every event of a wire for people, made from the schema and the grammar.

use super::model::{Def, Field, Schema, Shape, Type, Union};
use super::order::Order;
use std::fmt::Write as _;

/// The sections after the events: title, the folders whose defs it holds, and what it says first.
const SECTIONS: [(&str, &[&str], &str); 4] = [
    (
        "Deltas",
        &["delta/"],
        "What `assistantMessageEvent` of a `message_update` holds.",
    ),
    (
        "Messages",
        &["message/"],
        "The messages of a session, one type for each `role`.",
    ),
    ("Content blocks", &["block/"], "What messages are made of."),
    ("Shared types", &[""], "What the fields above refer to."),
];

/// The page about the wire `wire` as Markdown; `None` if there is no such wire.
#[must_use]
pub fn events(schema: &Schema, wire: &str) -> Option<String> {
    let root = schema.defs.get(schema.wires.get(wire)?)?;
    let page = Page {
        schema,
        wire,
        root,
        union: root.union()?,
        order: Order::of(schema, wire),
        links: true,
    };
    let mut text = page.head();
    page.table(&mut text);
    page.lines(&mut text);
    page.types(&mut text);
    page.order(&mut text);
    Some(text)
}

/// What the page about the bundle `name` says of the def `title`, order included, without links;
/// `None` if there is no such bundle or def.
#[must_use]
pub fn section(schema: &Schema, name: &str, title: &str) -> Option<String> {
    let root = schema.defs.get(schema.bundles.get(name)?)?;
    let def = schema.defs.get(title)?;
    let page = Page {
        schema,
        wire: name,
        root,
        union: root.union()?,
        order: Order::of(schema, name),
        links: false,
    };
    let mut text = String::new();
    page.section(&mut text, def);
    let member = page
        .union
        .members
        .iter()
        .find(|member| member.title == title);
    if let Some(member) = member {
        page.order
            .event(&mut text, &member.value, member.second.as_ref());
    }
    Some(text)
}

struct Page<'a> {
    schema: &'a Schema,
    wire: &'a str,
    root: &'a Def,
    union: &'a Union,
    order: Order<'a>,
    /// Whether types are links to their sections.
    links: bool,
}

impl<'a> Page<'a> {
    fn head(&self) -> String {
        format!(
            "<!-- Made from schema/ by `UPDATE=1 cargo test --test codegen`. Do not edit. -->\n\n\
             # Events of the `{wire}` wire\n\n\
             {description}\n\n\
             Schema version {version}. Each line of a stream is one of the events below, as \
             compact JSON. What may be written is in `bundle/{wire}.strict.json`; what a reader \
             should accept is in `bundle/{wire}.open.json`, where objects may have more fields \
             and enums more values. An optional field is absent when it has no value, never \
             null. Keys come in the order of the tables.\n",
            wire = self.wire,
            description = self.root.description,
            version = self.schema.version,
        )
    }

    fn members(&self) -> impl Iterator<Item = &'a Def> {
        let (schema, union) = (self.schema, self.union);
        union
            .members
            .iter()
            .filter_map(|member| schema.defs.get(&member.title))
    }

    fn table(&self, text: &mut String) {
        text.push_str("\n## Overview\n\n| event | when |\n|---|---|\n");
        for def in self.members() {
            let heading = self.heading(def);
            let _ = writeln!(
                text,
                "| [{heading}](#{}) | {} |",
                anchor(&heading),
                cell(&def.description)
            );
        }
        if let Some(stamp) = self
            .union
            .stamp
            .as_ref()
            .and_then(|title| self.schema.defs.get(title))
        {
            let _ = writeln!(
                text,
                "\n### Fields of every line\n\n{}\n",
                stamp.description
            );
            let fields = stamp.object().map_or(&[][..], |object| &object.fields);
            let optional: Vec<Field> = fields
                .iter()
                .map(|field| Field {
                    required: false,
                    ..field.clone()
                })
                .collect();
            self.fields(text, &optional);
        }
    }

    fn lines(&self, text: &mut String) {
        text.push_str("\n## Events\n");
        for (member, def) in self.union.members.iter().zip(self.members()) {
            self.section(text, def);
            self.order
                .event(text, &member.value, member.second.as_ref());
        }
    }

    fn types(&self, text: &mut String) {
        let mut told: Vec<&str> = self.members().map(|def| def.title.as_str()).collect();
        told.push(&self.root.title);
        told.extend(self.union.stamp.as_deref());
        for (name, folders, intro) in SECTIONS {
            let defs: Vec<&Def> = self
                .reachable()
                .into_iter()
                .filter(|def| !told.contains(&&*def.title))
                .filter(|def| folders.iter().any(|folder| def.path.starts_with(folder)))
                .collect();
            if defs.is_empty() {
                continue;
            }
            let _ = writeln!(text, "\n## {name}\n\n{intro}");
            for def in defs {
                told.push(&def.title);
                self.section(text, def);
            }
        }
    }

    fn order(&self, text: &mut String) {
        self.order.summary(text);
    }

    /// Every def that the wire leads to, unions before their members, else by title.
    fn reachable(&self) -> Vec<&'a Def> {
        let mut queue = vec![self.root];
        let mut seen: Vec<&Def> = Vec::new();
        while let Some(def) = queue.pop() {
            if !seen.iter().any(|other| other.title == def.title) {
                seen.push(def);
                queue.extend(
                    def.targets()
                        .iter()
                        .filter_map(|title| self.schema.defs.get(*title)),
                );
            }
        }
        seen.sort_by_key(|def| (def.object().is_some(), &def.title));
        seen
    }

    /// A def as a section: what it is, its fields or values, its examples.
    fn section(&self, text: &mut String, def: &Def) {
        let _ = writeln!(text, "\n### {}\n\n{}\n", self.heading(def), def.description);
        if def.read_only {
            text.push_str("For readers only: Quipu never writes it.\n\n");
        }
        match &def.shape {
            Shape::Object(object) if object.fields.is_empty() => {}
            Shape::Object(object) => self.fields(text, &object.fields),
            Shape::Enum(values) => {
                let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
                let _ = writeln!(text, "One of {}.", values.join(", "));
            }
            Shape::Union(union) => {
                let _ = writeln!(text, "| `{}` | type |\n|---|---|", union.tag);
                for member in &union.members {
                    let link = self.link(&member.title);
                    let _ = writeln!(text, "| `{}` | {link} |", member.value);
                }
            }
            Shape::StringOrArray(either) => {
                let items = self.ty(&either.items);
                let _ = writeln!(
                    text,
                    "- string: {}\n- array of {items}: {}",
                    either.string, either.array
                );
            }
        }
        // A union's instances are those of its members, an enum's stand in the list.
        if def.object().is_some() || matches!(def.shape, Shape::StringOrArray(_)) {
            text.push_str("\n```json\n");
            for example in &def.examples {
                let _ = writeln!(text, "{example}");
            }
            text.push_str("```\n");
        }
    }

    fn fields(&self, text: &mut String, fields: &[Field]) {
        text.push_str("| field | type | presence | |\n|---|---|---|---|\n");
        for field in fields {
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {} |",
                field.name,
                self.ty(&field.ty),
                if field.required { "always" } else { "optional" },
                cell(&field.description),
            );
        }
    }

    fn ty(&self, ty: &Type) -> String {
        match ty {
            Type::Any => "any JSON".into(),
            Type::Map => "object with any keys".into(),
            Type::String => "string".into(),
            Type::Boolean => "boolean".into(),
            Type::Integer { unsigned: true } => "integer ≥ 0".into(),
            Type::Integer { unsigned: false } => "integer".into(),
            Type::Number => "number".into(),
            Type::Const(value) => format!("`{value}`"),
            Type::Array(items) => format!("array of {}", self.ty(items)),
            Type::Ref(title) => self.link(title),
            Type::Nullable(inner) => format!("{} or null", self.ty(inner)),
        }
    }

    fn link(&self, title: &str) -> String {
        let Some(def) = self.schema.defs.get(title) else {
            return title.to_owned();
        };
        if !self.links {
            return title.to_owned();
        }
        if title == self.root.title {
            return "[any event](#events)".into();
        }
        let heading = self.heading(def);
        format!("[{heading}](#{})", anchor(&heading))
    }

    /// An event goes by its `type`, everything else by its title.
    fn heading(&self, def: &Def) -> String {
        let member = self
            .union
            .members
            .iter()
            .find(|member| member.title == def.title);
        match member.map(|member| (member, &member.second)) {
            None => def.title.clone(),
            Some((member, None)) => format!("`{}`", member.value),
            Some((member, Some((_, second)))) => format!("`{}` (`{second}`)", member.value),
        }
    }
}

/// The anchor that GitHub gives a heading.
fn anchor(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c),
            _ => None,
        })
        .collect()
}

/// Text as a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::anchor;

    #[test]
    fn anchors_are_those_of_github() {
        assert_eq!(anchor("`agent_start`"), "agent_start");
        assert_eq!(anchor("`a_b` (`branchSummary`)"), "a_b-branchsummary");
    }
}
