//! The document that typify reads.

use crate::codegen::model::{Def, Object, Schema, Shape, Type};
use crate::codegen::names;
use serde_json::{Map, Value, json};

/// What stands for `number`; its replacement writes whole values without a fraction.
pub(super) const NUMBER: &str = "Number";

/// The objects and enums of `schema` as draft-07 definitions. Everything that typify would get
/// wrong (unions, consts, numbers) is a name in [`Input::replaced`] instead.
pub(super) struct Input {
    /// The document.
    pub(super) document: Value,
    /// Definitions that typify is to take as given, with the Rust path of each.
    pub(super) replaced: Vec<(String, String)>,
}

pub(super) fn input(schema: &Schema) -> Input {
    let mut definitions = Map::new();
    let mut replaced = vec![(NUMBER.to_owned(), "crate::event::Number".to_owned())];
    for def in schema.defs.values().filter(|def| !def.read_only) {
        match &def.shape {
            Shape::Object(object) => {
                definitions.insert(def.title.clone(), self::object(def, object, &mut replaced));
            }
            Shape::Enum(values) => {
                let json = json!({ "type": "string", "enum": values });
                definitions.insert(def.title.clone(), json);
            }
            Shape::Union(_) | Shape::StringOrArray(_) => {
                replaced.push((def.title.clone(), format!("self::{}", def.title)));
            }
        }
    }
    for (name, _) in &replaced {
        // typify panics on a reference to a definition that is not there.
        definitions.insert(name.clone(), json!({ "type": "object" }));
    }
    let document = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": definitions,
    });
    Input { document, replaced }
}

fn object(def: &Def, object: &Object, replaced: &mut Vec<(String, String)>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in object.payload() {
        if let Type::Const(_) = field.ty {
            let name = constant(def, &field.name);
            replaced.push((name.clone(), format!("self::{name}")));
        }
        properties.insert(field.name.clone(), ty(def, &field.name, &field.ty));
        if field.required {
            required.push(field.name.as_str());
        }
    }
    // Closed, because typify makes a map of an open object without fields.
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// The name of the unit type of a const field.
pub(super) fn constant(def: &Def, field: &str) -> String {
    format!("{}{}", def.title, names::pascal(field))
}

fn ty(def: &Def, field: &str, ty: &Type) -> Value {
    let reference = |name: &str| json!({ "$ref": format!("#/definitions/{name}") });
    match ty {
        Type::Any => json!(true),
        Type::Map => json!({ "type": "object", "additionalProperties": true }),
        Type::String => json!({ "type": "string" }),
        Type::Boolean => json!({ "type": "boolean" }),
        Type::Integer { unsigned: true } => json!({ "type": "integer", "minimum": 0 }),
        Type::Integer { unsigned: false } => json!({ "type": "integer" }),
        Type::Number => reference(NUMBER),
        Type::Const(_) => reference(&constant(def, field)),
        Type::Array(items) => json!({ "type": "array", "items": self::ty(def, field, items) }),
        Type::Ref(title) => reference(title),
        Type::Nullable(inner) => {
            json!({ "oneOf": [self::ty(def, field, inner), { "type": "null" }] })
        }
    }
}
