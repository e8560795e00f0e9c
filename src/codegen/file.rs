//! Reading one schema file into the model, with a problem for each fault.

use super::Problem;
use super::load::Folder;
use super::model::{Def, Field, Member, Object, Shape, StringOrArray, Type, Union};
use super::names;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The only dialect.
pub(super) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

const HEAD: [&str; 7] = [
    "$schema",
    "$id",
    "$comment",
    "title",
    "description",
    "examples",
    "readOnly",
];
const OBJECT: [&str; 3] = ["type", "properties", "required"];
const ENUM: [&str; 2] = ["type", "enum"];
const UNION: [&str; 2] = ["oneOf", "x-stamp"];
const FIELD: [&str; 9] = [
    "description",
    "$comment",
    "$ref",
    "type",
    "const",
    "minimum",
    "items",
    "additionalProperties",
    "oneOf",
];

/// Reads the files of a folder one at a time.
pub(super) struct Reader<'a> {
    /// The folder.
    pub(super) folder: &'a Folder,
    /// The title of each file by its path.
    pub(super) titles: &'a BTreeMap<String, String>,
    /// What is wrong so far.
    pub(super) problems: &'a mut Vec<Problem>,
    /// Path of the file being read.
    pub(super) path: &'a str,
}

type Json = Map<String, Value>;

impl Reader<'_> {
    fn report(&mut self, place: &str, what: impl Into<String>, remedy: impl Into<String>) {
        self.problems.push(Problem {
            file: self.folder.display(self.path),
            place: place.to_owned(),
            what: what.into(),
            remedy: remedy.into(),
        });
    }

    /// The def of the file; `None` if a fault leaves no usable shape.
    pub(super) fn def(&mut self, json: &Json) -> Option<Def> {
        self.head(json);
        let shape = self.shape(json);
        let description = self.description("", json);
        let examples = self.examples(json);
        Some(Def {
            path: self.path.to_owned(),
            title: self.titles.get(self.path)?.clone(),
            description,
            examples,
            read_only: json.get("readOnly") == Some(&Value::Bool(true)),
            shape: shape?,
        })
    }

    fn head(&mut self, json: &Json) {
        if json.get("$schema").and_then(Value::as_str) != Some(DIALECT) {
            self.report(
                "/$schema",
                "is missing or another dialect",
                format!("write \"{DIALECT}\""),
            );
        }
        let major = self.folder.version.split('.').next().unwrap_or_default();
        let ending = format!("/v{major}/{}", self.path);
        let id = json.get("$id").and_then(Value::as_str).unwrap_or_default();
        if !(id.starts_with("https://") && id.ends_with(&ending)) {
            self.report(
                "/$id",
                "does not tell where this file is",
                format!("write an https URL that ends in {ending}"),
            );
        }
        match json.get("title").and_then(Value::as_str) {
            None => self.report(
                "/title",
                "is missing",
                "write the type's name in PascalCase",
            ),
            Some(title) if !names::is_pascal(title) => self.report(
                "/title",
                format!("`{title}` is not PascalCase"),
                format!("write {}", names::pascal(title)),
            ),
            Some(title) if RESERVED.contains(&title) => self.report(
                "/title",
                format!("`{title}` is a name that the generated code needs"),
                "write another name",
            ),
            Some(_) => {}
        }
        if json
            .get("readOnly")
            .is_some_and(|value| value != &Value::Bool(true))
        {
            self.report("/readOnly", "is not true", "write true or leave it out");
        }
    }

    fn description(&mut self, at: &str, json: &Json) -> String {
        let text = json
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .trim();
        if text.is_empty() {
            let remedy = if at.is_empty() {
                "say what it is, or when it is written"
            } else {
                "say what the field holds, its unit, and when it is absent"
            };
            self.report(&format!("{at}/description"), "is missing", remedy);
        }
        text.to_owned()
    }

    fn examples(&mut self, json: &Json) -> Vec<Value> {
        match json.get("examples").and_then(Value::as_array) {
            Some(examples) if !examples.is_empty() => examples.clone(),
            _ => {
                self.report(
                    "/examples",
                    "is missing",
                    "write an array of one to three instances",
                );
                Vec::new()
            }
        }
    }

    fn shape(&mut self, json: &Json) -> Option<Shape> {
        if json.contains_key("oneOf") {
            self.keywords("", json, &[&HEAD[..], &UNION].concat());
            self.union_or_either(json)
        } else if json.contains_key("enum") {
            self.keywords("", json, &[&HEAD[..], &ENUM].concat());
            self.values(json).map(Shape::Enum)
        } else if json.contains_key("properties") {
            self.keywords("", json, &[&HEAD[..], &OBJECT].concat());
            self.object(json).map(Shape::Object)
        } else {
            self.keywords("", json, &[&HEAD[..], &OBJECT, &ENUM, &UNION].concat());
            self.report(
                "/type",
                "the file defines no shape",
                "write `properties` (an object), `enum` (strings) or `oneOf` (a union)",
            );
            None
        }
    }

    /// Reports the keys of `json` that are not in `allowed`.
    fn keywords(&mut self, at: &str, json: &Json, allowed: &[&str]) {
        for key in json.keys().filter(|key| !allowed.contains(&key.as_str())) {
            let remedy = match key.as_str() {
                "properties" | "required" => {
                    "move the object to a file of its own in common/ and write `$ref`"
                }
                "enum" => "move the enum to a file of its own in common/ and write `$ref`",
                "additionalProperties" => {
                    "leave it out, the strict bundle closes the object itself"
                }
                "anyOf" | "allOf" => "write a union file: `oneOf` with a `$ref` for each member",
                "examples" => "leave it out, examples stand on the whole file",
                "default" => "leave it out and say in the description what holds when it is absent",
                _ => "leave it out and say it in the description",
            };
            self.report(
                &format!("{at}/{}", escape(key)),
                format!("keyword `{key}` is not in the vocabulary here"),
                remedy,
            );
        }
    }

    fn values(&mut self, json: &Json) -> Option<Vec<String>> {
        if json.get("type").and_then(Value::as_str) != Some("string") {
            self.report(
                "/type",
                "an enum holds strings",
                "write \"type\": \"string\"",
            );
        }
        if !self.path.starts_with("common/") {
            self.report(
                "/enum",
                "an enum outside common/",
                "move the file to common/",
            );
        }
        let mut values: Vec<String> = Vec::new();
        let Some(list) = json
            .get("enum")
            .and_then(Value::as_array)
            .filter(|list| !list.is_empty())
        else {
            self.report(
                "/enum",
                "is not a list of values",
                "write an array of strings",
            );
            return None;
        };
        for (i, value) in list.iter().enumerate() {
            let at = format!("/enum/{i}");
            match value.as_str() {
                None => self.report(&at, "is not a string", "write a string"),
                Some(text) if !names::is_plain(text) => self.report(
                    &at,
                    format!("`{text}` cannot become a name"),
                    "begin with a small letter and use letters, digits, `_` and `-`",
                ),
                Some(text) => {
                    let name = names::pascal(text).to_lowercase();
                    if values
                        .iter()
                        .any(|other| names::pascal(other).to_lowercase() == name)
                    {
                        self.report(
                            &at,
                            format!("`{text}` makes the same name as a value before it"),
                            "write a value that differs in more than case and separators",
                        );
                    }
                    values.push(text.to_owned());
                }
            }
        }
        Some(values)
    }

    fn union_or_either(&mut self, json: &Json) -> Option<Shape> {
        let Some(parts) = json
            .get("oneOf")
            .and_then(Value::as_array)
            .filter(|list| !list.is_empty())
        else {
            self.report("/oneOf", "is not a list", "write an array of `$ref`s");
            return None;
        };
        let is_ref = |part: &Value| part.get("$ref").is_some();
        if !parts.iter().any(is_ref) {
            return self.either(parts);
        }
        let mut members = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            let at = format!("/oneOf/{i}");
            match part
                .as_object()
                .filter(|part| part.len() == 1 && part.contains_key("$ref"))
            {
                None => self.report(
                    &at,
                    "a union holds `$ref`s only",
                    "move the member to a file of its own and write {\"$ref\": …}",
                ),
                Some(part) => members.extend(self.reference(&at, part).map(|title| Member {
                    title,
                    value: String::new(),
                    second: None,
                })),
            }
        }
        let stamp = match json.get("x-stamp") {
            None => None,
            Some(_) if !self.path.starts_with("wire/") => {
                self.report("/x-stamp", "stands outside wire/", "leave it out");
                None
            }
            Some(stamp) => {
                let stamp = stamp.as_object().cloned().unwrap_or_default();
                self.reference("/x-stamp", &stamp)
            }
        };
        // A union that lost a member would make faults of its members' examples.
        (members.len() == parts.len()).then(|| {
            Shape::Union(Union {
                tag: String::new(),
                members,
                stamp,
            })
        })
    }

    fn either(&mut self, parts: &[Value]) -> Option<Shape> {
        let mut string = None;
        let mut array = None;
        for (i, part) in parts.iter().enumerate() {
            let at = format!("/oneOf/{i}");
            let ty = self.ty(&at, part)?;
            let text = self.description(&at, part.as_object()?);
            match ty {
                Type::String if string.is_none() => string = Some(text),
                Type::Array(items) if array.is_none() => array = Some((text, *items)),
                _ => {
                    self.report(
                        &at,
                        "only a string and an array can be told apart without a discriminator",
                        "write one string and one array, or a union of `$ref`s to objects",
                    );
                    return None;
                }
            }
        }
        let (Some(string), Some((array, items))) = (string, array) else {
            self.report(
                "/oneOf",
                "holds one type only",
                "write one string and one array",
            );
            return None;
        };
        Some(Shape::StringOrArray(StringOrArray {
            string,
            array,
            items,
        }))
    }

    fn object(&mut self, json: &Json) -> Option<Object> {
        if json.get("type").and_then(Value::as_str) != Some("object") {
            self.report("/type", "is not \"object\"", "write \"type\": \"object\"");
        }
        let empty = Vec::new();
        let required = match json.get("required") {
            None => &empty,
            Some(Value::Array(list)) => list,
            Some(_) => {
                self.report(
                    "/required",
                    "is not a list",
                    "write an array of field names",
                );
                &empty
            }
        };
        let Some(properties) = json.get("properties").and_then(Value::as_object) else {
            self.report(
                "/properties",
                "is not an object",
                "write the fields by name",
            );
            return None;
        };
        for (i, name) in required.iter().enumerate() {
            let known = name
                .as_str()
                .is_some_and(|name| properties.contains_key(name));
            if !known || required[..i].contains(name) {
                let what = if known {
                    "names a field twice"
                } else {
                    "names no field of `properties`"
                };
                self.report(
                    &format!("/required/{i}"),
                    format!("{name} {what}"),
                    "write the name of each required field once",
                );
            }
        }
        let mut fields: Vec<Field> = Vec::new();
        let mut whole = true;
        for (name, json) in properties {
            let at = format!("/properties/{}", escape(name));
            let flat = |name: &str| name.replace(['_', '-'], "").to_lowercase();
            if !names::is_plain(name) || name.contains('-') {
                self.report(
                    &at,
                    format!("`{name}` cannot become a field"),
                    "begin with a small letter and use letters, digits and `_`",
                );
            } else if fields.iter().any(|other| flat(&other.name) == flat(name)) {
                self.report(
                    &at,
                    format!("`{name}` makes the same name as a field before it"),
                    "write a name that differs in more than case and separators",
                );
            }
            let required = required.iter().any(|other| other.as_str() == Some(name));
            let description = json.as_object().map(|json| self.description(&at, json));
            let Some(ty) = self.ty(&at, json) else {
                whole = false;
                continue;
            };
            if matches!(ty, Type::Nullable(_)) && !required {
                self.report(
                    &at,
                    "is optional and may be null",
                    "drop the null (an optional field is absent instead) or name it in `required`",
                );
            }
            let description = description.unwrap_or_default();
            fields.push(Field {
                name: name.clone(),
                description,
                required,
                ty,
            });
        }
        let tag = self.tag(&fields, whole);
        whole.then_some(Object { fields, tag })
    }

    /// The value of the discriminator: a const string that comes first.
    fn tag(&mut self, fields: &[Field], whole: bool) -> Option<String> {
        let is_tag = |field: &Field| matches!(field.ty, Type::Const(Value::String(_)));
        if let Some(first) = fields.first().filter(|field| is_tag(field)) {
            if !first.required {
                self.report(
                    &format!("/properties/{}", first.name),
                    "a discriminator is always there",
                    format!("name `{}` in `required`", first.name),
                );
            }
            if let Type::Const(Value::String(value)) = &first.ty {
                return Some(value.clone());
            }
        }
        let named = |field: &&Field| is_tag(field) && matches!(&*field.name, "type" | "role");
        if let Some(late) = fields.iter().find(named).filter(|_| whole) {
            self.report(
                &format!("/properties/{}", late.name),
                "the discriminator is not the first field",
                "move it to the top of `properties`",
            );
        }
        None
    }

    /// The type that the schema at `at` describes.
    fn ty(&mut self, at: &str, json: &Value) -> Option<Type> {
        let Some(json) = json.as_object() else {
            self.report(
                at,
                "is not an object",
                "write {\"description\": …} for any JSON value",
            );
            return None;
        };
        let before = self.problems.len();
        let open = json.get("type").and_then(Value::as_str) == Some("object");
        let allowed: Vec<&str> = FIELD
            .into_iter()
            .filter(|key| open || *key != "additionalProperties")
            .collect();
        self.keywords(at, json, &allowed);
        let ty = if json.contains_key("$ref") {
            self.alone(at, json, "$ref", &[]);
            self.reference(at, json).map(Type::Ref)
        } else if json.contains_key("oneOf") {
            self.alone(at, json, "oneOf", &[]);
            self.nullable(at, json)
        } else if let Some(value) = json.get("const") {
            self.alone(at, json, "const", &["type"]);
            self.constant(at, json, value)
        } else {
            self.plain(at, json)
        };
        ty.filter(|_| self.problems.len() == before)
    }

    /// Reports keywords that mean nothing beside `main`.
    fn alone(&mut self, at: &str, json: &Json, main: &str, with: &[&str]) {
        for key in [
            "type",
            "const",
            "minimum",
            "items",
            "additionalProperties",
            "oneOf",
        ] {
            if key != main && json.contains_key(key) && !with.contains(&key) {
                self.report(
                    &format!("{at}/{key}"),
                    format!("keyword `{key}` stands beside `{main}`"),
                    "keep one of them",
                );
            }
        }
    }

    fn nullable(&mut self, at: &str, json: &Json) -> Option<Type> {
        let null = |part: &Value| part.get("type").and_then(Value::as_str) == Some("null");
        match json
            .get("oneOf")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
        {
            Some([inner, second]) if null(second) && !null(inner) => Some(Type::Nullable(
                Box::new(self.ty(&format!("{at}/oneOf/0"), inner)?),
            )),
            _ => {
                self.report(
                    &format!("{at}/oneOf"),
                    "a field's `oneOf` says only that it may be null",
                    "write [{…}, {\"type\": \"null\"}], or make a union file and write `$ref`",
                );
                None
            }
        }
    }

    fn constant(&mut self, at: &str, json: &Json, value: &Value) -> Option<Type> {
        let ty = match value {
            Value::String(text) if names::is_plain(text) => "string",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_u64() => "integer",
            _ => {
                self.report(
                    &format!("{at}/const"),
                    format!("{value} cannot be a const"),
                    "write a plain name, true, false or a whole number",
                );
                return None;
            }
        };
        if json.get("type").and_then(Value::as_str) != Some(ty) {
            self.report(
                &format!("{at}/type"),
                "does not fit the const",
                format!("write \"type\": \"{ty}\""),
            );
            return None;
        }
        Some(Type::Const(value.clone()))
    }

    fn plain(&mut self, at: &str, json: &Json) -> Option<Type> {
        let name = match json.get("type") {
            None => None,
            Some(Value::String(name)) => Some(name.as_str()),
            Some(_) => {
                self.report(
                    &format!("{at}/type"),
                    "is not one type",
                    "write one type's name",
                );
                return None;
            }
        };
        for (key, with) in [("minimum", "integer"), ("items", "array")] {
            if json.contains_key(key) && name != Some(with) {
                self.report(
                    &format!("{at}/{key}"),
                    format!("keyword `{key}` says nothing here"),
                    format!("write \"type\": \"{with}\" or leave it out"),
                );
            }
        }
        match name {
            None => Some(Type::Any),
            Some("string") => Some(Type::String),
            Some("boolean") => Some(Type::Boolean),
            Some("number") => Some(Type::Number),
            Some("integer") => {
                let minimum = json.get("minimum");
                if minimum.is_some_and(|minimum| minimum.as_u64() != Some(0)) {
                    self.report(
                        &format!("{at}/minimum"),
                        "only 0 becomes part of the type",
                        "write 0, or leave it out and say it in the description",
                    );
                }
                Some(Type::Integer {
                    unsigned: minimum.is_some(),
                })
            }
            Some("array") => {
                let Some(items) = json.get("items") else {
                    self.report(
                        &format!("{at}/items"),
                        "is missing",
                        "say what the array holds",
                    );
                    return None;
                };
                Some(Type::Array(Box::new(
                    self.ty(&format!("{at}/items"), items)?,
                )))
            }
            Some("object") => {
                if json.get("additionalProperties") != Some(&Value::Bool(true))
                    && !json.contains_key("properties")
                {
                    self.report(
                        at,
                        "an inline object",
                        "move it to a file of its own in common/ and write `$ref`, or write \
                         \"additionalProperties\": true for an open map",
                    );
                }
                Some(Type::Map)
            }
            Some(other) => {
                self.report(
                    &format!("{at}/type"),
                    format!("`{other}` is no type of the vocabulary"),
                    "write string, boolean, integer, number, array or object",
                );
                None
            }
        }
    }

    /// The title of the file that `$ref` names.
    fn reference(&mut self, at: &str, json: &Json) -> Option<String> {
        let at = format!("{at}/$ref");
        let target = json.get("$ref").and_then(Value::as_str).unwrap_or_default();
        if target.is_empty() || target.contains(['#', ':']) || target.starts_with('/') {
            self.report(
                &at,
                format!("`{target}` is not a relative path of a file"),
                "write the path of a whole file, such as ../common/usage.json",
            );
            return None;
        }
        let mut parts: Vec<&str> = self.path.split('/').collect();
        parts.pop();
        for part in target.split('/') {
            match part {
                "." => {}
                ".." => {
                    parts.pop();
                }
                name => parts.push(name),
            }
        }
        let found = self.titles.get(&parts.join("/")).cloned();
        if found.is_none() {
            let name = parts.last().copied().unwrap_or_default();
            let ending = format!("/{name}");
            let remedy = match self.titles.keys().find(|path| path.ends_with(&ending)) {
                Some(path) => format!("did you mean {}?", relative(self.path, path)),
                None => "write the path of an existing file, relative to this one".to_owned(),
            };
            self.report(&at, format!("there is no file `{target}`"), remedy);
        }
        found
    }
}

/// Names that generated code uses for something else.
const RESERVED: [&str; 7] = ["Box", "Number", "Option", "Self", "String", "Value", "Vec"];

/// `to` as a path relative to the folder of `from`; folders are one deep but for `wire/<name>/`.
fn relative(from: &str, to: &str) -> String {
    let up = "../".repeat(from.matches('/').count());
    match (from.rsplit_once('/'), to.rsplit_once('/')) {
        (Some((from, _)), Some((to, name))) if from == to => name.to_owned(),
        _ => format!("{up}{to}"),
    }
}

/// A key as part of a JSON pointer.
pub(super) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
