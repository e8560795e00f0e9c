//! Reading a JSON file so that a mistake in it is reported with line, column and field.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::error::Category;

use super::ConfigError;

/// No hand-written configuration comes near this; it bounds what a wrong file can cost.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// The text of `file` without a byte order mark; `None` if there is no such file.
pub(super) fn read(file: &Path) -> Result<Option<String>, ConfigError> {
    let fail = |source| ConfigError::Read {
        file: file.to_owned(),
        source,
    };
    let unfit = |problem: &str| ConfigError::Unfit {
        file: file.to_owned(),
        problem: problem.to_owned(),
    };
    // Looked at before it is opened: opening a pipe waits for its writer.
    let about = match std::fs::metadata(file) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(error)),
    };
    if !about.is_file() {
        return Err(unfit(if about.is_dir() {
            "is a folder"
        } else {
            "is not a regular file"
        }));
    }
    let mut bytes = Vec::new();
    File::open(file)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(fail)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(unfit("is larger than 8 MiB"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let start = good
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        ConfigError::Syntax {
            file: file.to_owned(),
            line: memchr::memchr_iter(b'\n', good).count() + 1,
            column: good.len() - start + 1,
            problem: "a byte that is not UTF-8".to_owned(),
            repair: "Save the file as UTF-8.".to_owned(),
        }
    })?;
    Ok(Some(
        text.strip_prefix('\u{feff}')
            .map(str::to_owned)
            .unwrap_or(text),
    ))
}

/// Parses `text`, the content of `file`. `remedy` ends the message about a wrong field.
pub(super) fn parse<T: DeserializeOwned>(
    file: &Path,
    text: &str,
    remedy: &str,
) -> Result<T, ConfigError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let field = error.path().to_string();
        let error = error.into_inner();
        match error.classify() {
            Category::Data => ConfigError::Field {
                file: file.to_owned(),
                line: error.line(),
                column: error.column(),
                field,
                problem: field_problem(&message(&error)),
                repair: remedy.to_owned(),
            },
            Category::Io | Category::Syntax | Category::Eof => syntax(file, text, &error),
        }
    })?;
    reader.end().map_err(|error| syntax(file, text, &error))?;
    Ok(value)
}

fn syntax(file: &Path, text: &str, error: &serde_json::Error) -> ConfigError {
    let line = text
        .lines()
        .nth(error.line().saturating_sub(1))
        .unwrap_or_default();
    let rest = line
        .get(error.column().saturating_sub(1)..)
        .unwrap_or_default();
    let repair = if rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with('#') {
        "A comment stands there, and plain JSON has none: remove it."
    } else if error.classify() == Category::Eof {
        "The file ends too early: a quote, `}` or `]` is missing."
    } else if message(error) == "trailing comma" {
        "Remove the comma before the closing bracket; plain JSON allows none there."
    } else if rest.starts_with('\'') {
        "Strings and keys stand in double quotes."
    } else {
        "Correct it there; the file must be plain JSON, without comments or trailing commas."
    };
    ConfigError::Syntax {
        file: file.to_owned(),
        line: error.line(),
        column: error.column(),
        problem: message(error),
        repair: repair.to_owned(),
    }
}

/// The parser's message without its position, which stands at the front of ours.
fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rfind(" at line ")
        .map(|at| text[..at].to_owned())
        .unwrap_or(text)
}

/// Rewords serde's message for someone who wrote the file, and drops the value it quotes, which
/// may be a key.
fn field_problem(message: &str) -> String {
    if let Some((kind, expected)) = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "))
        .and_then(|rest| rest.rsplit_once(", expected "))
    {
        let kind = match kind.split([' ', ',']).next().unwrap_or_default() {
            "string" | "character" => "a string",
            "integer" | "floating" => "a number",
            "boolean" => "true or false",
            "null" | "unit" | "Option" => "null",
            "sequence" => "a list",
            "map" => "an object",
            _ => "something else",
        };
        let expected = match expected {
            "a boolean" => "true or false",
            "u32" | "u64" | "usize" => "a whole number (0 or more)",
            "f64" => "a number",
            "a sequence" => "a list",
            "a map" => "an object",
            other if other.starts_with("struct ") => "an object",
            other => other,
        };
        return format!("is {kind}, expected {expected}");
    }
    if message.starts_with("unknown variant ") {
        let expected = message
            .rsplit_once(", expected ")
            .map_or("", |(_, expected)| expected);
        return format!(
            "has a value that is not known, expected {}",
            expected.replace('`', "\"")
        );
    }
    if let Some(name) = message.strip_prefix("missing field ") {
        return format!("lacks {name}");
    }
    if let Some(name) = message.strip_prefix("duplicate field ") {
        return format!("has {name} twice");
    }
    message.to_owned()
}

/// The keys of an object that its type does not know, in file order. Their values are dropped: they
/// are not used, and one may be a secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnknownKeys(Vec<String>);

impl UnknownKeys {
    /// Adds the paths of these keys, which stand in the object at `path` (empty: the whole file).
    pub(super) fn collect(&self, path: &str, into: &mut Vec<String>) {
        let dot = if path.is_empty() { "" } else { "." };
        into.extend(self.0.iter().map(|key| format!("{path}{dot}{key}")));
    }
}

impl<'de> Deserialize<'de> for UnknownKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = UnknownKeys;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a map")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<UnknownKeys, A::Error> {
                let mut keys = Vec::new();
                while let Some((key, IgnoredAny)) = map.next_entry()? {
                    keys.push(key);
                }
                Ok(UnknownKeys(keys))
            }
        }
        deserializer.deserialize_map(Keys)
    }
}
