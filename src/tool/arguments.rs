//! Arguments of a call: one struct a tool gives the model's schema and parses what comes back.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// How much of the received arguments an error repeats, in bytes.
const ECHO: usize = 2000;

/// Arguments that a tool cannot take. The text names the tool, the field, what was expected and
/// what came, so that the model can repair the call.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidArguments(String);

impl InvalidArguments {
    pub(super) fn new(tool: &str, problem: &str, args: &Map<String, Value>) -> Self {
        let mut echo = serde_json::to_string_pretty(args).unwrap_or_default();
        if echo.len() > ECHO {
            let start = &echo[..echo.floor_char_boundary(ECHO)];
            echo = format!("{start}… ({} bytes in all)", echo.len());
        }
        Self(format!(
            "Invalid arguments for the tool \"{tool}\":\n  - {problem}\n\nReceived arguments:\n{echo}"
        ))
    }
}

/// Reads `args` as `T`. Unknown keys are ignored: they do no harm.
pub(crate) fn parse<T: DeserializeOwned>(
    tool: &str,
    args: &Map<String, Value>,
) -> Result<T, InvalidArguments> {
    serde_path_to_error::deserialize(args).map_err(|error| {
        let path = error.path().to_string();
        let problem = error.inner();
        let problem = if path == "." {
            problem.to_string()
        } else {
            format!("{path}: {problem}")
        };
        InvalidArguments::new(tool, &problem, args)
    })
}

/// The schema of `T` for a model: everything inline, and only what tells the model something.
pub(crate) fn schema<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12().for_deserialize();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    if let Some(root) = schema.as_object_mut() {
        root.shift_remove("description"); // the tool has its own
    }
    prune(&mut schema);
    schema
}

/// Takes out titles, Rust's number formats and `null` defaults, at every schema position.
fn prune(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    object.shift_remove("title");
    object.shift_remove("format");
    if object.get("default").is_some_and(Value::is_null) {
        object.shift_remove("default");
    }
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(prune);
    }
    if let Some(items) = object.get_mut("items") {
        prune(items);
    }
}

/// An optional whole number from 1: also as `"5"` or `5.0`, which models send now and then.
pub(super) fn ordinal<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    whole(from, 1)
}

/// An optional whole number from 0, as lenient as [`ordinal`].
pub(super) fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    whole(from, 0)
}

fn whole<'de, D: Deserializer<'de>>(from: D, least: u64) -> Result<Option<u64>, D::Error> {
    const MOST: f64 = 9_007_199_254_740_992.0; // 2^53: every whole number below it is exact
    let value = Value::deserialize(from)?;
    let number = match &value {
        Value::Null => return Ok(None),
        Value::Number(number) => number.as_u64().or_else(|| {
            let float = number.as_f64()?;
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "whole and within 0..2^53"
            )]
            (float.fract() == 0.0 && (0.0..MOST).contains(&float)).then_some(float as u64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    match number {
        Some(number) if number >= least => Ok(Some(number)),
        _ => Err(D::Error::custom(format!(
            "expected a whole number from {least}, got {value}"
        ))),
    }
}

/// A switch that is off when absent: also as `"true"` or `"false"`.
pub(super) fn switch<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    let value = Value::deserialize(from)?;
    match &value {
        Value::Null => Ok(false),
        Value::Bool(on) => Ok(*on),
        Value::String(text) if text.trim() == "true" => Ok(true),
        Value::String(text) if text.trim() == "false" => Ok(false),
        _ => Err(D::Error::custom(format!(
            "expected true or false, got {value}"
        ))),
    }
}

/// An optional positive number of seconds, also as a numeric string.
pub(super) fn seconds<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    let value = Value::deserialize(from)?;
    let number = match &value {
        Value::Null => return Ok(None),
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    match number {
        Some(number) if number > 0.0 && number.is_finite() => Ok(Some(number)),
        _ => Err(D::Error::custom(format!(
            "expected a number of seconds above 0, got {value}"
        ))),
    }
}
