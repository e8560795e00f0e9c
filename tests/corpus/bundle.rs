//! A strict bundle, and how a value of any of its defs is brought into a whole line.

use std::collections::{BTreeMap, VecDeque};

use quipu::contract::{SESSION_STRICT, Wire};
use serde_json::{Map, Value, json};

/// The text of a strict bundle.
pub(crate) fn text(name: &str) -> &'static str {
    match name.parse::<Wire>() {
        Ok(wire) => wire.strict(),
        Err(_) => SESSION_STRICT,
    }
}

/// A def, or the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Name<'a> {
    Root,
    Def(&'a str),
}

/// Where a def stands in the one above it.
#[derive(Clone, Copy, Debug)]
enum Slot<'a> {
    /// It is a member of that union.
    Member,
    /// It is the value of this field.
    Field(&'a str),
    /// It is an item of this field.
    FieldItem(&'a str),
    /// It is an item of that string or array.
    Item,
}

/// A bundle with the way from each def to a line.
pub(crate) struct Bundle<'a> {
    pub(crate) document: &'a Value,
    above: BTreeMap<Name<'a>, (Name<'a>, Slot<'a>)>,
}

/// A value within a line.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) line: Value,
    pub(crate) pointer: String,
}

impl<'a> Bundle<'a> {
    pub(crate) fn new(document: &'a Value) -> Self {
        let mut bundle = Self {
            document,
            above: BTreeMap::new(),
        };
        let mut queue = VecDeque::from([Name::Root]);
        while let Some(name) = queue.pop_front() {
            for (below, slot) in bundle.below(name) {
                if below != Name::Root && !bundle.above.contains_key(&below) {
                    bundle.above.insert(below, (name, slot));
                    queue.push_back(below);
                }
            }
        }
        bundle
    }

    /// The root and every def that it leads to.
    pub(crate) fn names(&self) -> impl Iterator<Item = Name<'a>> + '_ {
        [Name::Root].into_iter().chain(self.above.keys().copied())
    }

    pub(crate) fn schema(&self, name: Name<'_>) -> &'a Value {
        match name {
            Name::Root => self.document,
            Name::Def(title) => &self.document["$defs"][title],
        }
    }

    /// The fields that tell the def from the others of the unions that it is a member of.
    pub(crate) fn tags(&self, name: Name<'a>) -> Vec<&'a str> {
        let mut tags = Vec::new();
        let mut name = name;
        while let Some((union, Slot::Member)) = self.above.get(&name) {
            tags.extend(tag(self.schema(*union)));
            name = *union;
        }
        tags
    }

    fn below(&self, name: Name<'a>) -> Vec<(Name<'a>, Slot<'a>)> {
        let schema = self.schema(name);
        let mut below = Vec::new();
        for branch in list(schema, "oneOf") {
            below.extend(reference(branch).map(|to| (to, Slot::Member)));
            below.extend(
                branch
                    .get("items")
                    .and_then(reference)
                    .map(|to| (to, Slot::Item)),
            );
        }
        for (field, schema) in fields(schema) {
            let nullable = list(schema, "oneOf").find_map(reference);
            below.extend(
                reference(schema)
                    .or(nullable)
                    .map(|to| (to, Slot::Field(field))),
            );
            let items = schema.get("items").and_then(reference);
            below.extend(items.map(|to| (to, Slot::FieldItem(field))));
        }
        below
    }

    /// The shortest example of a def.
    pub(crate) fn example(&self, name: Name<'_>) -> Value {
        let schema = self.schema(name);
        let shortest = list(schema, "examples").min_by_key(|example| example.to_string().len());
        match shortest {
            Some(example) => example.clone(),
            None => self.example(reference(&schema["oneOf"][0]).unwrap()),
        }
    }

    /// A line that holds `value` where the def stands.
    pub(crate) fn place(&self, name: Name<'a>, value: Value) -> Placed {
        let (mut name, mut placed) = (
            name,
            Placed {
                line: value,
                pointer: String::new(),
            },
        );
        while let Some((above, slot)) = self.above.get(&name) {
            let (line, tail) = (placed.line, placed.pointer);
            let within = |field: &str, value: Value| {
                let mut host = self.example(*above);
                host[field] = value;
                host
            };
            placed = match slot {
                Slot::Member => Placed {
                    line,
                    pointer: tail,
                },
                Slot::Field(field) => Placed {
                    line: within(field, line),
                    pointer: format!("/{field}{tail}"),
                },
                Slot::FieldItem(field) => {
                    let line = within(field, json!([line]));
                    Placed {
                        line,
                        pointer: format!("/{field}/0{tail}"),
                    }
                }
                Slot::Item => Placed {
                    line: json!([line]),
                    pointer: format!("/0{tail}"),
                },
            };
            name = *above;
        }
        placed
    }

    /// A value that a schema allows, the same each time.
    pub(crate) fn sample(&self, schema: &Value) -> Value {
        if let Some(to) = reference(schema) {
            return self.example(to);
        }
        if let Some(branch) = list(schema, "oneOf").next() {
            return self.sample(branch);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        match schema["type"].as_str() {
            Some("string") => json!("text"),
            Some("boolean") => json!(true),
            Some("integer") => schema.get("minimum").cloned().unwrap_or(json!(-1)),
            Some("number") => json!(0.5),
            Some("array") => json!([self.sample(&schema["items"])]),
            _ => json!({ "any": ["thing"] }),
        }
    }

    /// An example with each optional field, and one without any.
    pub(crate) fn full_and_bare(&self, name: Name<'_>) -> [Value; 2] {
        let schema = self.schema(name);
        let required: Vec<&str> = list(schema, "required").filter_map(Value::as_str).collect();
        let examples = list(schema, "examples");
        let found: Map<String, Value> = examples
            .filter_map(Value::as_object)
            .flatten()
            .map(|(field, value)| (field.clone(), value.clone()))
            .collect();
        let (mut full, mut bare) = (Map::new(), Map::new());
        for (field, schema) in fields(schema) {
            let value = found
                .get(field)
                .cloned()
                .unwrap_or_else(|| self.sample(schema));
            if required.contains(&field) {
                bare.insert(field.to_owned(), value.clone());
            }
            full.insert(field.to_owned(), value);
        }
        [full.into(), bare.into()]
    }
}

/// The discriminator of a union.
pub(crate) fn tag(schema: &Value) -> Option<&str> {
    schema.pointer("/discriminator/propertyName")?.as_str()
}

pub(crate) fn list<'a>(
    schema: &'a Value,
    keyword: &str,
) -> impl Iterator<Item = &'a Value> + use<'a> {
    schema
        .get(keyword)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

pub(crate) fn fields(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let fields = schema.get("properties").and_then(Value::as_object);
    fields
        .into_iter()
        .flatten()
        .map(|(field, schema)| (field.as_str(), schema))
}

/// What a schema refers to, at once or through the `allOf` that stands beside a description.
pub(crate) fn reference(schema: &Value) -> Option<Name<'_>> {
    let at = schema
        .get("$ref")
        .or_else(|| schema.pointer("/allOf/0/$ref"))?;
    Some(match at.as_str()?.strip_prefix("#/$defs/") {
        Some(title) => Name::Def(title),
        None => Name::Root,
    })
}
