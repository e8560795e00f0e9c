//! Each single rule of a bundle, and the bundle without it.

use serde_json::Value;

use crate::bundle::{fields, list};

/// One thing that a bundle says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Pointer to it in the bundle.
    pub(crate) pointer: String,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A value may be less than that: a keyword, or an entry of `required`.
    Limit,
    /// The type of values that are listed beside it: they have that type.
    Implied,
    /// A reference in a list of members; without it the member is anything.
    Reference,
    /// A field, a value of an enum or a member of a union; without it there is less.
    Allowance,
}

/// Every rule of the bundle.
pub(crate) fn rules(document: &Value) -> Vec<Rule> {
    let mut rules = Vec::new();
    walk(document, "", &mut rules);
    for (title, def) in document["$defs"].as_object().unwrap() {
        walk(def, &format!("/$defs/{title}"), &mut rules);
    }
    rules
}

fn walk(schema: &Value, at: &str, rules: &mut Vec<Rule>) {
    let mut add = |pointer: String, kind| rules.push(Rule { pointer, kind });
    let Some(schema_map) = schema.as_object() else {
        return;
    };
    for (keyword, value) in schema_map {
        let place = format!("{at}/{keyword}");
        match keyword.as_str() {
            "type" if schema.get("const").is_some() || schema.get("enum").is_some() => {
                add(place, Kind::Implied)
            }
            "type" | "const" | "minimum" | "items" | "$ref" | "allOf" => add(place, Kind::Limit),
            "additionalProperties" if value == false => add(place, Kind::Limit),
            "enum" => {
                add(place.clone(), Kind::Limit);
                (0..value.as_array().unwrap().len())
                    .for_each(|i| add(format!("{place}/{i}"), Kind::Allowance));
            }
            "required" => (0..value.as_array().unwrap().len())
                .for_each(|i| add(format!("{place}/{i}"), Kind::Limit)),
            "oneOf" => {
                add(place.clone(), Kind::Limit);
                for (i, branch) in value.as_array().unwrap().iter().enumerate() {
                    add(format!("{place}/{i}"), Kind::Allowance);
                    if branch.get("$ref").is_some() {
                        add(format!("{place}/{i}/$ref"), Kind::Reference);
                    }
                }
            }
            "properties" => fields(schema)
                .for_each(|(field, _)| add(format!("{place}/{field}"), Kind::Allowance)),
            // Words, and what is walked below or counts for nothing.
            "$schema"
            | "$id"
            | "$defs"
            | "title"
            | "description"
            | "examples"
            | "discriminator"
            | "additionalProperties" => {}
            other => panic!("{at}: nobody knows what {other} means"),
        }
    }
    for (field, schema) in fields(schema) {
        walk(schema, &format!("{at}/properties/{field}"), rules);
    }
    if let Some(items) = schema.get("items") {
        walk(items, &format!("{at}/items"), rules);
    }
    for (i, branch) in list(schema, "oneOf").enumerate() {
        if branch.get("$ref").is_none() {
            walk(branch, &format!("{at}/oneOf/{i}"), rules);
        }
    }
}

/// Calls `then` with the document as it is without what is at `pointer`, and puts it back.
pub(crate) fn without<T>(
    document: &mut Value,
    pointer: &str,
    then: impl FnOnce(&mut Value) -> T,
) -> T {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let place = document
        .pointer_mut(parent)
        .unwrap_or_else(|| panic!("no {parent}"));
    let whole = match place {
        // The order of the fields is not what this is about.
        Value::Object(map) => map.remove(key).unwrap(),
        Value::Array(list) => list.remove(key.parse().unwrap()),
        _ => unreachable!("{parent} holds nothing"),
    };
    let outcome = then(document);
    match document.pointer_mut(parent).unwrap() {
        Value::Object(map) => {
            map.insert(key.to_owned(), whole);
        }
        Value::Array(list) => list.insert(key.parse().unwrap(), whole),
        _ => unreachable!(),
    }
    outcome
}
