//! Reading one schema file into the model, with a problem for each fault.

use super::load::Folder;
use super::model::{Def, Field, Member, Object, Shape, StringOrArray, Type, Union};
use super::names;
use super::{Problem, escape};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

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

pub(super) type Json = Map<String, Value>;

impl Reader<'_> {
    pub(super) fn report(
        &mut self,
        place: &str,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) {
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
        // Without a version, which is a mistake of its own, any will do.
        let ending = match self.folder.major() {
            Some(major) => format!("/v{major}/{}", self.path),
            None => format!("/{}", self.path),
        };
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
    pub(super) fn keywords(&mut self, at: &str, json: &Json, allowed: &[&str]) {
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
        let mut taken = BTreeSet::new();
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
                    if !taken.insert(name) {
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
        let mut always: BTreeSet<&str> = BTreeSet::new();
        for (i, name) in required.iter().enumerate() {
            let field = name.as_str().filter(|name| properties.contains_key(*name));
            let known = field.is_some();
            if !field.is_some_and(|field| always.insert(field)) {
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
        let mut taken = BTreeSet::new();
        let mut whole = true;
        for (name, json) in properties {
            let at = format!("/properties/{}", escape(name));
            let flat = name.replace(['_', '-'], "").to_lowercase();
            if !names::is_plain(name) || name.contains('-') {
                self.report(
                    &at,
                    format!("`{name}` cannot become a field"),
                    "begin with a small letter and use letters, digits and `_`",
                );
            } else if !taken.insert(flat) {
                self.report(
                    &at,
                    format!("`{name}` makes the same name as a field before it"),
                    "write a name that differs in more than case and separators",
                );
            }
            let required = always.contains(name.as_str());
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
}

/// Names that generated code uses for something else.
const RESERVED: [&str; 7] = ["Box", "Number", "Option", "Self", "String", "Value", "Vec"];
