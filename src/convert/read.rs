//! A line of a wire as its own generated type.
//!
//! What the type does not know is left out and listed: fields, whole events, and lines with a value
//! that is not one of the known ones. So are updates of a message that lack something, since the end
//! of the message has all that they tell. Anything else that does not fit is an error.

use serde::Deserialize;
use serde::de::{DeserializeOwned, Error as _, IgnoredAny};
use serde_ignored::Path;

use super::ConvertError;
use super::report::{Loss, Report};
use crate::contract::Wire;
use crate::event::Stamp;
use crate::model::repair_surrogates;

/// How reading a line went.
pub(super) enum Reading<T> {
    Event(T),
    /// It was left out, and listed.
    Skipped,
}

/// Reads a line of a wire. `stamped`: whether its stamp is kept, which is of the line and not of its
/// event.
pub(super) fn read<T: DeserializeOwned>(
    wire: Wire,
    number: u64,
    bytes: &[u8],
    stamped: bool,
    report: &mut Report,
) -> Result<Reading<T>, Box<Fault>> {
    let fault = |event: Option<&str>, pointer: String, error: &serde_json::Error| {
        Box::new(Fault {
            cut: error.is_eof(),
            error: ConvertError::Line {
                line: number,
                event: event.map(str::to_owned),
                pointer,
                message: message(error),
            },
        })
    };
    let repaired;
    let (bytes, head) = match head(bytes) {
        Ok(head) => (bytes, head),
        // A producer that cuts strings in UTF-16 leaves halves of characters.
        Err(error) => match std::str::from_utf8(bytes).ok().and_then(repair_surrogates) {
            Some(text) => {
                repaired = text;
                let bytes = repaired.as_bytes();
                let head = head(bytes).map_err(|error| fault(None, head_place(bytes), &error))?;
                report.add(Loss::Changed, format!("{} (lone surrogates)", head.kind));
                (repaired.as_bytes(), head)
            }
            None => return Err(fault(None, head_place(bytes), &error)),
        },
    };
    let Some(kind) = wire.types().iter().copied().find(|kind| *kind == head.kind) else {
        report.add(Loss::UnknownEvent, head.kind);
        return Ok(Reading::Skipped);
    };
    let mut unknown = Vec::new();
    let mut track = serde_path_to_error::Track::new();
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let tracked = serde_path_to_error::Deserializer::new(&mut json, &mut track);
    let event = serde_ignored::deserialize(tracked, |path| {
        unknown.push(format!("{kind}{}", Shown(&path)));
    });
    match event {
        Ok(event) => {
            for name in unknown {
                match name.strip_prefix(kind) {
                    Some("/seq" | "/at") if wire == Wire::Quipu => {
                        if stamped {
                            continue;
                        }
                        report.add(Loss::Field, format!("*{}", &name[kind.len()..]));
                    }
                    _ => report.add(Loss::UnknownField, name),
                }
            }
            Ok(Reading::Event(event))
        }
        Err(error) => {
            let pointer = pointer(&track.path());
            if is_unknown_value(&error) {
                report.add(Loss::UnknownValue, format!("{kind}{}", general(&pointer)));
                return Ok(Reading::Skipped);
            }
            // An update is dispensable: the end of its message has all that it tells.
            if kind == "message_update" && error.is_data() {
                report.add(Loss::Malformed, format!("{kind}{}", general(&pointer)));
                return Ok(Reading::Skipped);
            }
            Err(fault(Some(kind), pointer, &error))
        }
    }
}

/// The stamp of a line, if it has one.
pub(super) fn stamp(bytes: &[u8]) -> Option<Stamp> {
    serde_json::from_slice(bytes).ok()
}

/// A line that cannot be read.
pub(super) struct Fault {
    /// Whether it ends within a value.
    pub(super) cut: bool,
    pub(super) error: ConvertError,
}

struct Head {
    kind: String,
}

/// What every line has.
#[derive(Deserialize)]
struct Typed {
    #[serde(rename = "type")]
    kind: String,
}

/// The place of the fault of a line whose type cannot be read.
fn head_place(bytes: &[u8]) -> String {
    if !is_object(bytes) {
        return String::new();
    }
    let mut json = serde_json::Deserializer::from_slice(bytes);
    match serde_path_to_error::deserialize::<_, Typed>(&mut json) {
        Err(error) if error.inner().is_data() => pointer(error.path()),
        _ => String::new(),
    }
}

fn is_object(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().first() == Some(&b'{')
}

/// Reads the type of a line; all of the line is JSON then.
fn head(bytes: &[u8]) -> serde_json::Result<Head> {
    if is_object(bytes) {
        return serde_json::from_slice(bytes).map(|Typed { kind }| Head { kind });
    }
    serde_json::from_slice::<IgnoredAny>(bytes)?;
    Err(serde_json::Error::custom("a line is a JSON object"))
}

/// Whether a value of an enum, or a discriminator, is none of the known ones.
fn is_unknown_value(error: &serde_json::Error) -> bool {
    let text = error.to_string();
    error.is_data()
        && ["unknown variant `", "unknown type `", "unknown role `"]
            .iter()
            .any(|sign| text.starts_with(sign))
}

/// The message of `serde_json`, with its place in the text only where that is no JSON.
fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match (text.rfind(" at line 1 column "), error.column()) {
        (Some(at), column) if error.is_syntax() || error.is_eof() => {
            format!("is not JSON: {} at column {column}", &text[..at])
        }
        (Some(at), _) => text[..at].to_owned(),
        (None, _) => text,
    }
}

/// A path as a JSON pointer.
fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    path.iter()
        .map(|segment| match segment {
            Segment::Seq { index } => format!("/{index}"),
            Segment::Map { key } => format!("/{}", escaped(key)),
            Segment::Enum { .. } | Segment::Unknown => String::new(),
        })
        .collect()
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// A pointer with `*` for each index.
fn general(pointer: &str) -> String {
    let steps = pointer.split('/').map(|step| {
        let index = !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
        if index { "*" } else { step }
    });
    steps.collect::<Vec<_>>().join("/")
}

/// The path of a field that was left out, with `*` for each index.
struct Shown<'a>(&'a Path<'a>);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Path::Root => Ok(()),
            Path::Seq { parent, .. } => write!(f, "{}/*", Shown(parent)),
            Path::Map { parent, key } => write!(f, "{}/{}", Shown(parent), escaped(key)),
            Path::Some { parent }
            | Path::NewtypeStruct { parent }
            | Path::NewtypeVariant { parent } => Shown(parent).fmt(f),
        }
    }
}
