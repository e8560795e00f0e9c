//! A validator for the vocabulary of the bundles, and for nothing beyond it.
//!
//! Total on any document and any instance: a reference that leads nowhere accepts everything,
//! because the linter reports it elsewhere.

use super::escape;
use serde_json::Value;

/// Deeper than any instance that `serde_json` parses; ends a chain of references to themselves.
const MAX_DEPTH: usize = 512;

/// The first fault found in an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where, as a JSON pointer into the instance.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

/// Checks instances against the defs of a document.
#[derive(Debug)]
pub struct Validator<'a> {
    document: &'a Value,
}

impl<'a> Validator<'a> {
    /// A validator for `document`, a bundle.
    #[must_use]
    pub fn new(document: &'a Value) -> Self {
        Self { document }
    }

    /// Checks `instance` against the def `title`; a title that the document lacks is its root.
    ///
    /// # Errors
    /// The first violation.
    pub fn check(&self, title: &str, instance: &Value) -> Result<(), Violation> {
        let def = self.document.get("$defs").and_then(|defs| defs.get(title));
        self.walk(def.unwrap_or(self.document), instance, "", 0)
    }

    fn walk(
        &self,
        schema: &Value,
        instance: &Value,
        at: &str,
        depth: usize,
    ) -> Result<(), Violation> {
        let fail = |message: String| {
            Err(Violation {
                pointer: at.to_owned(),
                message,
            })
        };
        if depth > MAX_DEPTH {
            return fail("is nested too deep".into());
        }
        if schema == &Value::Bool(false) {
            return fail("nothing may stand here".into());
        }
        if let Some(target) = self.target(schema) {
            self.walk(target, instance, at, depth + 1)?;
        }
        if let Some(ty) = schema.get("type").and_then(Value::as_str)
            && !is(instance, ty)
        {
            return fail(format!("expected {ty}, found {}", kind(instance)));
        }
        if let Some(value) = schema.get("const")
            && !equal(value, instance)
        {
            return fail(format!("expected {value}"));
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array)
            && !values.iter().any(|value| equal(value, instance))
        {
            let known: Vec<String> = values.iter().map(Value::to_string).collect();
            return fail(format!("{instance} is not one of {}", known.join(", ")));
        }
        if let (Some(minimum), Some(number)) = (
            schema.get("minimum").and_then(Value::as_f64),
            instance.as_f64(),
        ) && number < minimum
        {
            return fail(format!("{number} is less than {minimum}"));
        }
        if let Some(object) = instance.as_object() {
            self.object(schema, object, at, depth)?;
        }
        if let (Some(items), Some(list)) = (schema.get("items"), instance.as_array()) {
            for (i, item) in list.iter().enumerate() {
                self.walk(items, item, &format!("{at}/{i}"), depth + 1)?;
            }
        }
        for part in schema
            .get("allOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            self.walk(part, instance, at, depth + 1)?;
        }
        match schema.get("oneOf").and_then(Value::as_array) {
            Some(branches) => self.one_of(schema, branches, instance, at, depth),
            None => Ok(()),
        }
    }

    fn object(
        &self,
        schema: &Value,
        object: &serde_json::Map<String, Value>,
        at: &str,
        depth: usize,
    ) -> Result<(), Violation> {
        for name in schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            if name.as_str().is_some_and(|name| !object.contains_key(name)) {
                return Err(Violation {
                    pointer: at.to_owned(),
                    message: format!("the required field {name} is missing"),
                });
            }
        }
        let properties = schema.get("properties");
        for (name, value) in object {
            let at = format!("{at}/{}", escape(name));
            if let Some(property) = properties.and_then(|properties| properties.get(name)) {
                self.walk(property, value, &at, depth + 1)?;
            } else if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
                let message = "there is no such field".to_owned();
                return Err(Violation {
                    pointer: at,
                    message,
                });
            }
        }
        Ok(())
    }

    fn one_of(
        &self,
        schema: &Value,
        branches: &[Value],
        instance: &Value,
        at: &str,
        depth: usize,
    ) -> Result<(), Violation> {
        let mut faults = Vec::new();
        let mut matches = 0;
        for branch in branches {
            match self.walk(branch, instance, at, depth + 1) {
                Ok(()) => matches += 1,
                Err(fault) => faults.push((branch, fault)),
            }
        }
        let fail = |pointer: &str, message: String| {
            Err(Violation {
                pointer: pointer.to_owned(),
                message,
            })
        };
        match matches {
            1 => return Ok(()),
            0 => {}
            _ => return fail(at, "fits more than one member of the union".into()),
        }
        let tag = schema
            .pointer("/discriminator/propertyName")
            .and_then(Value::as_str);
        let Some(tag) = tag else {
            // The branches differ in their JSON type: the one that got past it says more.
            let deepest = faults
                .into_iter()
                .max_by_key(|(_, fault)| fault.pointer.len());
            return match deepest.filter(|(_, fault)| fault.pointer != at) {
                Some((_, fault)) => Err(fault),
                None => fail(
                    at,
                    format!("{} fits no member of the union", kind(instance)),
                ),
            };
        };
        let tag_at = format!("{at}/{tag}");
        let Some(value) = instance.get(tag) else {
            return fail(at, format!("the discriminator \"{tag}\" is missing"));
        };
        // The branches that agree on the discriminator are the ones that were meant; of two, the
        // one that got further.
        let meant = |branch: &Value| {
            let target = self.target(branch).unwrap_or(branch);
            // Members with the same discriminator are a union of their own.
            let group = target.get("oneOf").and_then(Value::as_array);
            group
                .map_or(std::slice::from_ref(target), Vec::as_slice)
                .iter()
                .any(|member| {
                    let member = self.target(member).unwrap_or(member);
                    let constant = member.pointer(&format!("/properties/{tag}/const"));
                    constant.is_some_and(|constant| equal(constant, value))
                })
        };
        let fault = faults
            .into_iter()
            .filter(|(branch, _)| meant(branch))
            .map(|(_, fault)| fault)
            .max_by_key(|fault| fault.pointer.len());
        match fault {
            Some(fault) => Err(fault),
            None => fail(&tag_at, format!("{value} is not a known {tag}")),
        }
    }

    /// The schema that the `$ref` of `schema` names.
    fn target(&self, schema: &Value) -> Option<&'a Value> {
        self.document
            .pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
    }
}

/// Whether `instance` is of the JSON Schema type `ty`.
fn is(instance: &Value, ty: &str) -> bool {
    match ty {
        "integer" => match instance {
            Value::Number(number) => {
                number.is_i64()
                    || number.is_u64()
                    || number.as_f64().is_some_and(|number| number.fract() == 0.0)
            }
            _ => false,
        },
        "number" => instance.is_number(),
        ty => kind(instance) == ty,
    }
}

/// The JSON type of `instance`.
fn kind(instance: &Value) -> &'static str {
    match instance {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Equality as JSON Schema has it: `3` and `3.0` are one number.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        _ => a == b,
    }
}
