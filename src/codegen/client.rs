//! Typed definitions for clients in other languages: what they are all made from.
//!
//! A [`Client`] is a bundle read back, so that a bundle file is as good a source as a schema folder.
//! One module a language prints it: [`typescript`], [`python`], [`go`].

use super::model::{Field, StringOrArray, Type};
use super::{go, names, python, typescript};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

/// A language that definitions can be printed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// TypeScript 5 or later.
    TypeScript,
    /// Python 3.11 or later, standard library only.
    Python,
    /// Go 1.21 or later, standard library only.
    Go,
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 3] = [Self::TypeScript, Self::Python, Self::Go];

    /// `typescript`, `python` or `go`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TypeScript => "typescript",
            Self::Python => "python",
            Self::Go => "go",
        }
    }

    /// Where the definitions of the bundle `name` lie below `generated/`: a package of their own in
    /// Go, else a file.
    #[must_use]
    pub fn path(self, name: &str) -> String {
        match self {
            Self::TypeScript => format!("typescript/{name}.ts"),
            Self::Python => format!("python/{name}.py"),
            Self::Go => format!("go/{name}/{name}.go"),
        }
    }

    /// The definitions as the text of one file. The same client always gives the same bytes.
    ///
    /// # Errors
    /// Names that would meet in one name in this language.
    pub fn definitions(self, client: &Client) -> Result<String, Unusable> {
        match self {
            Self::TypeScript => typescript::definitions(client),
            Self::Python => python::definitions(client),
            Self::Go => go::definitions(client),
        }
    }
}

/// A bundle as its clients see it.
#[derive(Clone, Debug)]
pub struct Client {
    /// The name of the bundle: a wire, or `session`.
    pub name: String,
    /// The version of the schema, if it is known.
    pub version: Option<String>,
    /// The title of the root, which is a union.
    pub root: String,
    /// Every def by its title, the root included.
    pub defs: BTreeMap<String, Def>,
}

/// A def of a bundle.
#[derive(Clone, Debug)]
pub struct Def {
    /// The type's name.
    pub title: String,
    /// What it is.
    pub description: String,
    /// Whether only readers meet it.
    pub read_only: bool,
    /// What its values look like.
    pub shape: Shape,
}

/// The kinds of def in a bundle.
#[derive(Clone, Debug)]
pub enum Shape {
    /// An object with known fields; readers expect more of them.
    Object(Vec<Field>),
    /// A string, most likely one of these.
    Values(Vec<String>),
    /// One of several objects, told apart by a const field.
    Union(Union),
    /// A string or an array.
    StringOrArray(StringOrArray),
}

/// A union in a bundle: members that share a discriminator are a union of their own in it.
#[derive(Clone, Debug)]
pub struct Union {
    /// The discriminator's name.
    pub tag: String,
    /// The members in order.
    pub members: Vec<Member>,
}

/// A member of a union.
#[derive(Clone, Debug)]
pub struct Member {
    /// The def's title.
    pub title: String,
    /// The values that the discriminator has in it: one, or those of its own members.
    pub values: Vec<String>,
}

impl Union {
    /// Every value that the discriminator may have, in the order of the members.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        let values = self.members.iter().flat_map(|member| &member.values);
        values.map(String::as_str)
    }
}

/// Why no definitions can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// A JSON pointer into the bundle.
    pub place: String,
    /// What is wrong there.
    pub what: String,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.place.is_empty() {
            "the root"
        } else {
            &self.place
        };
        write!(f, "{place}: {}", self.what)
    }
}

impl std::error::Error for Unusable {}

fn unusable<T>(place: &str, what: impl Into<String>) -> Result<T, Unusable> {
    Err(Unusable {
        place: place.to_owned(),
        what: what.into(),
    })
}

impl Client {
    /// Reads the bundle `name`, strict or open, of a schema of this version.
    ///
    /// # Errors
    /// The first thing that no bundle has: see [`super::bundle`].
    pub fn read(bundle: &Value, name: &str, version: Option<&str>) -> Result<Self, Unusable> {
        if !names::is_plain(name) {
            return unusable("", format!("`{name}` is no name of a bundle"));
        }
        let Some(root) = bundle.get("title").and_then(Value::as_str) else {
            return unusable("", "has no `title`, so it is no bundle");
        };
        let Some(Value::Object(defs)) = bundle.get("$defs") else {
            return unusable("", "has no `$defs`, so it is no bundle");
        };
        let reader = Reader { root, defs };
        let mut all = BTreeMap::new();
        all.insert(root.to_owned(), reader.def("", root, bundle)?);
        for (title, def) in defs {
            let def = reader.def(&format!("/$defs/{title}"), title, def)?;
            if all.insert(title.clone(), def).is_some() {
                return unusable(&format!("/$defs/{title}"), "has the title of the root");
            }
        }
        let mut client = Self {
            name: name.to_owned(),
            version: version.map(str::to_owned),
            root: root.to_owned(),
            defs: all,
        };
        if !matches!(client.defs[root].shape, Shape::Union(_)) {
            return unusable("", "is no union of lines, so it is no bundle");
        }
        client.ends()?;
        client.tell_members_apart()?;
        Ok(client)
    }

    /// Finds the values of each member's discriminator.
    fn tell_members_apart(&mut self) -> Result<(), Unusable> {
        let mut found: Vec<(String, Vec<Vec<String>>)> = Vec::new();
        for (title, def) in &self.defs {
            if let Shape::Union(union) = &def.shape {
                let mut all = Vec::new();
                for member in &union.members {
                    let mut values = Vec::new();
                    self.tags(&member.title, &union.tag, 0, &mut values);
                    if values.is_empty() {
                        let what = format!("{} has no const `{}`", member.title, union.tag);
                        return unusable(&self.place(title), what);
                    }
                    all.push(values);
                }
                let mut seen = BTreeSet::new();
                if let Some(twice) = all.iter().flatten().find(|value| !seen.insert(*value)) {
                    let what = format!("two members have `{}` \"{twice}\"", union.tag);
                    return unusable(&self.place(title), what);
                }
                found.push((title.clone(), all));
            }
        }
        for (title, all) in found {
            if let Some(Shape::Union(union)) = self.defs.get_mut(&title).map(|def| &mut def.shape) {
                for (member, values) in union.members.iter_mut().zip(all) {
                    member.values = values;
                }
            }
        }
        Ok(())
    }

    /// Fails if an object has to hold itself, which no finite value does.
    fn ends(&self) -> Result<(), Unusable> {
        let needs = |title: &str| {
            let fields = match self.defs.get(title).map(|def| &def.shape) {
                Some(Shape::Object(fields)) => fields.as_slice(),
                _ => &[],
            };
            let required = fields.iter().filter(|field| field.required);
            required.filter_map(|field| match &field.ty {
                Type::Ref(title) => Some(title.as_str()),
                _ => None,
            })
        };
        for title in self.defs.keys() {
            let mut queue: Vec<&str> = needs(title).collect();
            let mut seen = BTreeSet::new();
            while let Some(other) = queue.pop() {
                if other == title {
                    return unusable(&self.place(title), "holds itself in a required field");
                }
                if seen.insert(other) {
                    queue.extend(needs(other));
                }
            }
        }
        Ok(())
    }

    /// Fails if two defs, or a def and one of `taken`, give the same name in `language`.
    ///
    /// # Errors
    /// The first name that is there twice.
    pub(super) fn names_apart(
        &self,
        language: &str,
        taken: impl IntoIterator<Item = String>,
        names: impl Fn(&Def) -> Vec<String>,
    ) -> Result<BTreeSet<String>, Unusable> {
        let mut all: BTreeSet<String> = taken.into_iter().collect();
        for (title, def) in &self.defs {
            for name in names(def) {
                if !all.insert(name.clone()) {
                    let what = format!("`{name}` is the name of something else in {language}");
                    return unusable(&format!("/$defs/{title}"), what);
                }
            }
        }
        Ok(all)
    }

    fn tags(&self, title: &str, tag: &str, depth: usize, values: &mut Vec<String>) {
        match self.defs.get(title).map(|def| &def.shape) {
            Some(Shape::Object(fields)) => {
                let field = fields.iter().find(|field| field.name == tag);
                if let Some(Type::Const(Value::String(value))) = field.map(|field| &field.ty)
                    && !values.contains(value)
                {
                    values.push(value.clone());
                }
            }
            // No union lies deeper than there are defs, unless it holds itself.
            Some(Shape::Union(union)) if depth <= self.defs.len() => {
                for member in &union.members {
                    self.tags(&member.title, tag, depth + 1, values);
                }
            }
            _ => {}
        }
    }

    fn place(&self, title: &str) -> String {
        if title == self.root {
            String::new()
        } else {
            format!("/$defs/{title}")
        }
    }

    /// The defs for a reader: the root, then each as it is first named.
    #[must_use]
    pub fn root_first(&self) -> Vec<&Def> {
        let mut queue: VecDeque<&str> = [self.root.as_str()].into();
        let mut seen = BTreeSet::from([self.root.as_str()]);
        let mut order = Vec::new();
        while let Some(def) = queue.pop_front().and_then(|title| self.defs.get(title)) {
            order.push(def);
            let fresh = def.targets().into_iter().filter(|title| seen.insert(title));
            queue.extend(fresh);
        }
        order
    }

    /// The same defs, each after those it names, as far as they do not name each other.
    #[must_use]
    pub fn root_last(&self) -> Vec<&Def> {
        let mut order = Vec::new();
        self.visit(&self.root, &mut BTreeSet::new(), &mut order);
        order
    }

    fn visit<'a>(&'a self, title: &'a str, seen: &mut BTreeSet<&'a str>, order: &mut Vec<&'a Def>) {
        if let Some(def) = self.defs.get(title).filter(|_| seen.insert(title)) {
            for target in def.targets() {
                self.visit(target, seen, order);
            }
            order.push(def);
        }
    }

    /// The command that prints these definitions.
    #[must_use]
    pub fn command(&self, language: Language) -> String {
        format!(
            "quipu schema generate {} --wire {}",
            language.name(),
            self.name
        )
    }
}

impl Def {
    /// What it is, for its comment.
    #[must_use]
    pub fn text(&self) -> String {
        if self.read_only {
            format!(
                "{}\nFor readers only: it is never written.",
                self.description
            )
        } else {
            self.description.clone()
        }
    }

    /// The titles it names, in order, with repeats.
    fn targets(&self) -> Vec<&str> {
        match &self.shape {
            Shape::Object(fields) => {
                let targets = fields.iter().filter_map(|field| field.ty.target());
                targets.collect()
            }
            Shape::Values(_) => Vec::new(),
            Shape::Union(union) => {
                let members = union.members.iter();
                members.map(|member| member.title.as_str()).collect()
            }
            Shape::StringOrArray(either) => either.items.target().into_iter().collect(),
        }
    }
}

/// The greatest whole number that every language has exactly.
const EXACT: i64 = (1 << 53) - 1;

/// Reads the parts of one bundle.
struct Reader<'a> {
    root: &'a str,
    defs: &'a Map<String, Value>,
}

impl Reader<'_> {
    fn def(&self, at: &str, title: &str, json: &Value) -> Result<Def, Unusable> {
        if !names::is_pascal(title) {
            return unusable(at, format!("`{title}` cannot be the name of a type"));
        }
        let members = || json.get("oneOf").and_then(Value::as_array);
        let shape = if let Some(properties) = json.get("properties") {
            Shape::Object(self.fields(at, json, properties)?)
        } else if let Some(values) = json.get("x-known-values").or_else(|| json.get("enum")) {
            let values = strings(at, values)?;
            if values.is_empty() {
                return unusable(at, "has no values");
            }
            Shape::Values(values)
        } else if let Some(tag) = json.pointer("/discriminator/propertyName") {
            let (Some(tag), Some(members)) = (tag.as_str(), members()) else {
                return unusable(at, "has a `discriminator`, but no `oneOf`");
            };
            if members.is_empty() {
                return unusable(at, "has an empty `oneOf`");
            }
            let members = members.iter().map(|member| {
                let title = self.target(at, member)?;
                let values = Vec::new();
                Ok(Member { title, values })
            });
            Shape::Union(Union {
                tag: tag.to_owned(),
                members: members.collect::<Result<_, _>>()?,
            })
        } else if let Some([string, array]) = members().map(Vec::as_slice)
            && string.get("type").is_some_and(|ty| ty == "string")
            && let Some(items) = array.get("items")
        {
            Shape::StringOrArray(StringOrArray {
                string: description(string),
                array: description(array),
                items: self.ty(at, items)?,
            })
        } else if json.get("type").is_some_and(|ty| ty == "object") {
            Shape::Object(Vec::new())
        } else {
            let what = "is none of the forms a bundle has: an object with `properties`, a string \
                        with `x-known-values` or `enum`, a `oneOf` with a `discriminator`, or a \
                        string or array; print a bundle with `quipu schema bundle`";
            return unusable(at, what);
        };
        Ok(Def {
            title: title.to_owned(),
            description: description(json),
            read_only: json.get("readOnly").is_some_and(|value| value == true),
            shape,
        })
    }

    fn fields(&self, at: &str, json: &Value, fields: &Value) -> Result<Vec<Field>, Unusable> {
        let Some(properties) = fields.as_object() else {
            return unusable(&format!("{at}/properties"), "is no object");
        };
        let required = match json.get("required") {
            Some(required) => strings(&format!("{at}/required"), required)?,
            None => Vec::new(),
        };
        let fields = properties.iter().map(|(name, field)| {
            let at = format!("{at}/properties/{name}");
            let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || "_$".contains(c));
            if !begins
                || !name
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "_$-.".contains(c))
            {
                return unusable(&at, "has a name that cannot be a field in every language");
            }
            Ok(Field {
                name: name.clone(),
                description: description(field),
                required: required.contains(name),
                ty: self.ty(&at, field)?,
            })
        });
        fields.collect()
    }

    fn ty(&self, at: &str, json: &Value) -> Result<Type, Unusable> {
        if json.get("$ref").is_some() {
            return self.target(at, json).map(Type::Ref);
        }
        if let Some(value) = json.get("const") {
            let exact = -EXACT..=EXACT;
            return match value {
                Value::String(_) | Value::Bool(_) => Ok(Type::Const(value.clone())),
                value if value.as_i64().is_some_and(|n| exact.contains(&n)) => {
                    Ok(Type::Const(value.clone()))
                }
                _ => unusable(at, "has a `const` that not every language has exactly"),
            };
        }
        if let Some([only]) = json
            .get("allOf")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
        {
            return self.target(at, only).map(Type::Ref);
        }
        if let Some([inner, null]) = json
            .get("oneOf")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            && null.get("type").is_some_and(|ty| ty == "null")
        {
            return Ok(Type::Nullable(self.ty(at, inner)?.into()));
        }
        let composed = ["allOf", "anyOf", "oneOf", "not", "properties", "enum"];
        if let Some(keyword) = composed
            .iter()
            .find(|keyword| json.get(**keyword).is_some())
        {
            return unusable(
                at,
                format!("has `{keyword}`, which no field of a bundle has"),
            );
        }
        Ok(match json.get("type").map(Value::as_str) {
            None => Type::Any,
            Some(Some("string")) => Type::String,
            Some(Some("boolean")) => Type::Boolean,
            Some(Some("integer")) => Type::Integer {
                unsigned: json.get("minimum").and_then(Value::as_i64) >= Some(0),
            },
            Some(Some("number")) => Type::Number,
            Some(Some("object")) => Type::Map,
            Some(Some("array")) => match json.get("items") {
                Some(items) => Type::Array(self.ty(&format!("{at}/items"), items)?.into()),
                None => Type::Array(Type::Any.into()),
            },
            Some(_) => return unusable(at, "has a `type` that no field of a bundle has"),
        })
    }

    /// The title of the def that `json`, a `$ref`, names.
    fn target(&self, at: &str, json: &Value) -> Result<String, Unusable> {
        let reference = json.get("$ref").and_then(Value::as_str);
        let title = match reference {
            Some("#") => Some(self.root),
            Some(reference) => reference.strip_prefix("#/$defs/"),
            None => return unusable(at, "has to name a def with `$ref`"),
        };
        match title {
            Some(title) if title == self.root || self.defs.contains_key(title) => {
                Ok(title.to_owned())
            }
            _ => unusable(
                at,
                format!("`{}` is not in this bundle", reference.unwrap_or_default()),
            ),
        }
    }
}

fn description(json: &Value) -> String {
    let text = json.get("description").and_then(Value::as_str);
    // What no source may hold, or a reader would not see. It is dropped before anything is escaped:
    // what it stands between meets then.
    let hidden = |c: char| c.is_control() && !c.is_whitespace() || c == BOM;
    text.unwrap_or_default().replace(hidden, "")
}

fn strings(at: &str, json: &Value) -> Result<Vec<String>, Unusable> {
    let strings = json.as_array().map(|list| {
        let strings = list.iter().map(|value| value.as_str().map(str::to_owned));
        strings.collect::<Option<Vec<_>>>()
    });
    match strings.flatten() {
        Some(strings) => Ok(strings),
        None => unusable(at, "has a list that is not one of strings"),
    }
}

/// Text in lines of at most `width` characters, where the words allow it.
#[must_use]
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.trim().lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            let long = line.chars().count() + 1 + word.chars().count() > width;
            if long && !line.is_empty() {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// A string in the quotes and escapes that JSON and all three languages share.
#[must_use]
pub fn quoted(text: &str) -> String {
    // Go takes the mark at the head of a file only.
    Value::from(text).to_string().replace(BOM, "\\ufeff")
}

/// The byte order mark.
const BOM: char = '\u{feff}';

/// What the list of the values that a union's discriminator has is called in TypeScript and Python.
pub(super) fn list_name(title: &str, tag: &str) -> String {
    format!("{}_{}S", names::screaming(title), names::screaming(tag))
}
