//! Reading the schema of a field, of an array's items, or of a reference.

use super::file::{Json, Reader};
use super::model::Type;
use super::names;
use serde_json::Value;

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

/// The greatest whole number that every language has exactly.
const EXACT: u64 = (1 << 53) - 1;

impl Reader<'_> {
    /// The type that the schema at `at` describes.
    pub(super) fn ty(&mut self, at: &str, json: &Value) -> Option<Type> {
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
            Value::Number(number) if number.as_u64().is_some_and(|n| n <= EXACT) => "integer",
            _ => {
                self.report(
                    &format!("{at}/const"),
                    format!("{value} cannot be a const"),
                    "write a plain name, true, false or a whole number up to 2^53 - 1",
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
    pub(super) fn reference(&mut self, at: &str, json: &Json) -> Option<String> {
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

/// `to` as a path relative to the folder of `from`; folders are one deep but for `wire/<name>/`.
fn relative(from: &str, to: &str) -> String {
    let up = "../".repeat(from.matches('/').count());
    match (from.rsplit_once('/'), to.rsplit_once('/')) {
        (Some((from, _)), Some((to, name))) if from == to => name.to_owned(),
        _ => format!("{up}{to}"),
    }
}
