//! Bundles: one self-contained JSON Schema document for a wire or for session files, strict or open.
//!
//! The root is the union itself, and every def it leads to lies flat in `$defs` under its title,
//! because client generators take the names of types from there.

use super::file::DIALECT;
use super::model::{Def, Field, Member, Object, Schema, Shape, Type, Union, group_title};
use serde_json::{Map, Value, json};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Who a bundle is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// What may be written: no other fields, no other values, no read-only defs.
    Strict,
    /// What a reader should accept: more fields and new values of an enum.
    Open,
}

impl Mode {
    /// Both modes.
    pub const ALL: [Self; 2] = [Self::Strict, Self::Open];

    /// `strict` or `open`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Open => "open",
        }
    }
}

/// The bundle `name` (a wire, or `session`) as indented text with a final newline; `None` if there
/// is none of that name. The same schema always gives the same bytes.
#[must_use]
pub fn text(schema: &Schema, name: &str, mode: Mode) -> Option<String> {
    let document = document(schema, name, mode)?;
    // Only a map with keys that are no strings could fail, and a `Value` has none.
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    Some(text)
}

/// The bundle `name`; `None` if there is none of that name.
#[must_use]
pub fn document(schema: &Schema, name: &str, mode: Mode) -> Option<Value> {
    let root = schema.defs.get(schema.bundles.get(name)?)?;
    let writer = Writer {
        defs: &schema.defs,
        mode,
        root: Some(&root.title),
        stamped: stamped(root),
    };
    let mut document = Map::new();
    document.insert("$schema".into(), DIALECT.into());
    let id = format!("{}/bundle/{name}.{}.json", schema.base, mode.name());
    document.insert("$id".into(), id.into());
    document.extend(writer.def(root));
    let defs = writer
        .reachable(root)
        .into_iter()
        .filter_map(|title| schema.defs.get(title));
    let mut defs = writer.defs(defs);
    defs.remove(&root.title);
    document.insert("$defs".into(), Value::Object(defs.into_iter().collect()));
    Some(document.into())
}

/// The name that the `$id` of a bundle gives it; `None` if that is of another form.
#[must_use]
pub fn name(document: &Value) -> Option<&str> {
    let file = document.get("$id")?.as_str()?.rsplit('/').next()?;
    Mode::ALL.into_iter().find_map(|mode| {
        let name = file.strip_suffix(".json")?;
        name.strip_suffix(mode.name())?.strip_suffix('.')
    })
}

/// The def `title` with all that it needs, as a document of its own, and as it is by itself: without
/// the fields that a wire adds to its lines. `None` if there is none, or the mode leaves it out.
#[must_use]
pub fn alone(schema: &Schema, title: &str, mode: Mode) -> Option<Value> {
    let def = schema.defs.get(title)?;
    if def.read_only && mode == Mode::Strict {
        return None;
    }
    let writer = Writer {
        defs: &schema.defs,
        mode,
        root: None,
        stamped: BTreeMap::new(),
    };
    let defs = writer.reachable(def).into_iter();
    let defs = writer.defs(defs.filter_map(|title| schema.defs.get(title)));
    // No def has the name of the root, so none is left out.
    let document = json!({ "title": "", "$defs": Value::Object(defs.into_iter().collect()) });
    let mut alone = excerpt(&document, &[title])?;
    // The line that it is part of has other fields too.
    let mut unions = schema.defs.values().filter_map(Def::union);
    if unions.any(|union| union.stamp.as_deref() == Some(title)) {
        alone.as_object_mut()?.shift_remove("additionalProperties");
    }
    Some(alone)
}

/// The defs `titles` of the bundle `document` with all that they need, as a document of its own: the
/// def itself, or a choice if there are several. `None` if one of them is not in the bundle.
#[must_use]
pub fn excerpt(document: &Value, titles: &[&str]) -> Option<Value> {
    let root = document.get("title")?.as_str()?;
    let all = document.get("$defs")?.as_object()?;
    let def = |title: &str| {
        if title != root {
            return all.get(title).cloned();
        }
        let mut root = document.as_object()?.clone();
        for key in ["$schema", "$id", "$defs"] {
            root.shift_remove(key);
        }
        Some(Value::Object(root))
    };
    let mut defs = BTreeMap::new();
    let mut queue: Vec<String> = titles.iter().map(|title| (*title).to_owned()).collect();
    while let Some(title) = queue.pop() {
        if let Entry::Vacant(entry) = defs.entry(title) {
            let mut def = def(entry.key())?;
            rename_root(&mut def, root, &mut queue);
            entry.insert(def);
        }
    }
    let mut excerpt = Map::new();
    excerpt.insert("$schema".into(), DIALECT.into());
    if let [only] = titles {
        // What leads back to it needs it by its name.
        let def = defs.get(*only)?.clone();
        let needed = defs.values().any(|def| leads_to(def, only));
        if !needed {
            defs.remove(*only);
        }
        excerpt.extend(def.as_object()?.clone());
    } else {
        let refs = titles.iter();
        let refs = refs.map(|title| json!({ "$ref": format!("#/$defs/{title}") }));
        excerpt.insert("oneOf".into(), refs.collect());
    }
    excerpt.insert("$defs".into(), Value::Object(defs.into_iter().collect()));
    Some(excerpt.into())
}

/// Lets references to the root name it, and collects what is referred to.
fn rename_root(json: &mut Value, root: &str, targets: &mut Vec<String>) {
    match json {
        Value::Object(map) => {
            if let Some(target) = map.get_mut("$ref") {
                if target == "#" {
                    *target = format!("#/$defs/{root}").into();
                }
                let title = target.as_str().and_then(|target| target.rsplit('/').next());
                targets.extend(title.map(str::to_owned));
            }
            for (key, value) in map {
                if key != "examples" {
                    rename_root(value, root, targets);
                }
            }
        }
        Value::Array(list) => {
            for value in list {
                rename_root(value, root, targets);
            }
        }
        _ => {}
    }
}

/// Whether a def refers to the def `title`.
fn leads_to(json: &Value, title: &str) -> bool {
    let mut targets = Vec::new();
    rename_root(&mut json.clone(), "", &mut targets);
    targets.iter().any(|target| target == title)
}

/// A strict document with every def in `$defs` and no root: what the examples are checked against.
pub(super) fn all(defs: &BTreeMap<String, Def>) -> Value {
    let writer = Writer {
        defs,
        mode: Mode::Strict,
        root: None,
        stamped: BTreeMap::new(),
    };
    json!({ "$defs": writer.defs(defs.values()) })
}

/// For each member of the wire `root` the def whose fields it may carry besides.
fn stamped(root: &Def) -> BTreeMap<&str, &str> {
    let union = root
        .union()
        .and_then(|union| Some((union, union.stamp.as_deref()?)));
    union.map_or_else(BTreeMap::new, |(union, stamp)| {
        union
            .members
            .iter()
            .map(|member| (&*member.title, stamp))
            .collect()
    })
}

struct Writer<'a> {
    defs: &'a BTreeMap<String, Def>,
    mode: Mode,
    root: Option<&'a str>,
    stamped: BTreeMap<&'a str, &'a str>,
}

impl<'a> Writer<'a> {
    fn is_read_only(&self, title: &str) -> bool {
        self.defs.get(title).is_some_and(|def| def.read_only)
    }

    /// The members that the mode has.
    fn members<'u>(&self, union: &'u Union) -> impl Iterator<Item = &'u Member> {
        let open = self.mode == Mode::Open;
        union
            .members
            .iter()
            .filter(move |member| open || !self.is_read_only(&member.title))
    }

    /// The groups of members that the mode has.
    fn groups<'u>(&self, union: &'u Union) -> Vec<Vec<&'u Member>> {
        let mut groups = union.groups();
        for group in &mut groups {
            group.retain(|member| self.mode == Mode::Open || !self.is_read_only(&member.title));
        }
        groups.retain(|group| !group.is_empty());
        groups
    }

    /// The titles that `root` leads to in this mode, sorted.
    fn reachable(&self, root: &'a Def) -> BTreeSet<&'a str> {
        let mut queue: Vec<&str> = vec![&root.title];
        let mut seen = BTreeSet::new();
        while let Some(title) = queue.pop() {
            let Some(def) = self.defs.get(title).filter(|_| seen.insert(title)) else {
                continue;
            };
            match def.union() {
                Some(union) => queue.extend(self.members(union).map(|member| &*member.title)),
                None => queue.extend(def.targets()),
            }
        }
        seen
    }

    /// `defs` by title, and the groups of members in their unions.
    fn defs<'d>(&self, defs: impl Iterator<Item = &'d Def>) -> BTreeMap<String, Value> {
        let mut all = BTreeMap::new();
        for def in defs {
            all.insert(def.title.clone(), self.def(def).into());
            for group in def
                .union()
                .map_or_else(Vec::new, |union| self.groups(union))
            {
                if let [first, _, ..] = group[..] {
                    all.insert(group_title(&group), self.group(&def.title, first, &group));
                }
            }
        }
        all
    }

    /// Members with the same discriminator are a union of their own, because a discriminator that
    /// names two branches is none: generators would drop it, or refuse it.
    fn group(&self, union: &str, first: &Member, group: &[&Member]) -> Value {
        let key = first
            .second
            .as_ref()
            .map(|(key, _)| key.as_str())
            .unwrap_or_default();
        let members: Vec<Value> = group
            .iter()
            .map(|member| self.reference(&member.title))
            .collect();
        json!({
            "title": group_title(group),
            "description":
                format!("The forms of `{}` in {union}, told apart by `{key}`.", first.value),
            "discriminator": { "propertyName": key },
            "oneOf": members,
        })
    }

    fn def(&self, def: &Def) -> Map<String, Value> {
        let mut json = Map::new();
        json.insert("title".into(), def.title.clone().into());
        json.insert("description".into(), def.description.clone().into());
        match &def.shape {
            Shape::Object(object) => self.object(def, object, &mut json),
            Shape::Enum(values) => self.values(values, &mut json),
            Shape::Union(union) => {
                json.insert("discriminator".into(), json!({ "propertyName": union.tag }));
                let groups = self.groups(union);
                let members: Vec<Value> = groups
                    .iter()
                    .map(|group| match &group[..] {
                        [only] => self.reference(&only.title),
                        group => self.reference(&group_title(group)),
                    })
                    .collect();
                json.insert("oneOf".into(), members.into());
            }
            Shape::StringOrArray(either) => {
                let items = self.ty(&either.items);
                json.insert(
                    "oneOf".into(),
                    json!([
                        { "type": "string", "description": either.string },
                        { "type": "array", "items": items, "description": either.array },
                    ]),
                );
            }
        }
        if def.read_only {
            json.insert("readOnly".into(), true.into());
        }
        json.insert("examples".into(), def.examples.clone().into());
        json
    }

    fn values(&self, values: &[String], json: &mut Map<String, Value>) {
        json.insert("type".into(), "string".into());
        if self.mode == Mode::Strict {
            json.insert("enum".into(), values.into());
            return;
        }
        // A reader must survive a value that a later version adds.
        let mut text = json
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or("")
            .to_owned();
        let known: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
        let _ = write!(
            text,
            " Known values: {}; a later version may add more.",
            known.join(", ")
        );
        json.insert("description".into(), text.into());
        json.insert("x-known-values".into(), values.into());
    }

    fn object(&self, def: &Def, object: &Object, json: &mut Map<String, Value>) {
        let stamp = self
            .stamped
            .get(&*def.title)
            .and_then(|title| self.defs.get(*title));
        let stamp = stamp
            .and_then(Def::object)
            .map_or(&[][..], |stamp| &stamp.fields);
        let (tag, payload) = object
            .fields
            .split_at(object.fields.len() - object.payload().len());
        let properties: Map<String, Value> = tag
            .iter()
            .chain(stamp)
            .chain(payload)
            .map(|field| (field.name.clone(), self.field(field)))
            .collect();
        let required: Vec<&str> = object
            .fields
            .iter()
            .filter(|field| field.required)
            .map(|field| field.name.as_str())
            .collect();
        json.insert("type".into(), "object".into());
        json.insert("properties".into(), properties.into());
        json.insert("required".into(), required.into());
        if self.mode == Mode::Strict {
            json.insert("additionalProperties".into(), false.into());
        }
    }

    fn field(&self, field: &Field) -> Value {
        let description = &field.description;
        // A description beside `$ref` would make generators take it for another type, `Usage1`.
        if let Type::Ref(title) = &field.ty {
            return json!({ "description": description, "allOf": [self.reference(title)] });
        }
        let mut json = self.ty(&field.ty);
        json["description"] = description.clone().into();
        json
    }

    fn reference(&self, title: &str) -> Value {
        if self.root == Some(title) {
            json!({ "$ref": "#" })
        } else {
            json!({ "$ref": format!("#/$defs/{title}") })
        }
    }

    fn ty(&self, ty: &Type) -> Value {
        match ty {
            Type::Any => json!({}),
            Type::Map => json!({ "type": "object", "additionalProperties": true }),
            Type::String => json!({ "type": "string" }),
            Type::Boolean => json!({ "type": "boolean" }),
            Type::Integer { unsigned: true } => json!({ "type": "integer", "minimum": 0 }),
            Type::Integer { unsigned: false } => json!({ "type": "integer" }),
            Type::Number => json!({ "type": "number" }),
            Type::Const(value) => {
                let ty = match value {
                    Value::String(_) => "string",
                    Value::Bool(_) => "boolean",
                    _ => "integer",
                };
                json!({ "type": ty, "const": value })
            }
            Type::Array(items) => json!({ "type": "array", "items": self.ty(items) }),
            Type::Ref(title) => self.reference(title),
            Type::Nullable(inner) => json!({ "oneOf": [self.ty(inner), { "type": "null" }] }),
        }
    }
}
