//! What a header says of its time, and that of a native stream of its form and version.

use super::finding::{Finding, Place, Severity};
use crate::contract::json::Value;
use crate::contract::moment::iso;
use crate::contract::{SCHEMA_HASH, SCHEMA_VERSION, Wire};

/// Tells of a time that is none. It is that of the stored session, so the writer of the stream may
/// have no part in it.
pub(super) fn time(line: Value<'_, '_>, place: Place<'_>, findings: &mut Vec<Finding>) {
    let text = line.get("timestamp").and_then(Value::as_str);
    if text.is_some_and(|text| iso(text).is_none()) {
        let what = "is no time in the form of ISO 8601, such as 2026-01-01T00:00:00.000Z";
        let rule = "header/timestamp".to_owned();
        findings.push(place.finding(rule, "/timestamp", Severity::Note, false, what.to_owned()));
    }
}

/// Tells of another form than the native one, and of a version or schema other than this program's. `true` if the stream is newer, so that
/// what is not known in it may be right.
pub(super) fn check(line: Value<'_, '_>, place: Place<'_>, findings: &mut Vec<Finding>) -> bool {
    let Some(stream) = line.get("stream") else {
        return false;
    };
    let Some(version) = stream.get("version").and_then(Value::as_str) else {
        return false;
    };
    let mut tell = |rule: &str, pointer: &str, severity, what: String| {
        findings.push(place.finding(rule.to_owned(), pointer, severity, false, what));
    };
    // The values of the field are those of the schema.
    let wire = stream.get("wire").and_then(Value::as_str);
    let wire = wire.and_then(|wire| wire.parse::<Wire>().ok());
    if let Some(wire) = wire.filter(|wire| *wire != Wire::Quipu) {
        let what = format!(
            "is {}, but a header with `stream` is one of the {} wire",
            wire.name(),
            Wire::Quipu.name()
        );
        tell("header/wire", "/stream/wire", Severity::Error, what);
    }
    let at = "/stream/version";
    let (Some(theirs), Some(ours)) = (parts(version), parts(SCHEMA_VERSION)) else {
        let what = format!("{version:?} is no semantic version");
        tell("header/version", at, Severity::Error, what);
        return false;
    };
    if theirs.0 != ours.0 {
        let what = format!(
            "the stream is of version {version}, this program knows {SCHEMA_VERSION}: take a quipu \
             of major version {}",
            theirs.0
        );
        tell("header/version", at, Severity::Error, what);
        return theirs > ours;
    }
    if theirs > ours {
        let what = format!(
            "the stream is of version {version}, newer than {SCHEMA_VERSION}: what is not known is \
             a note"
        );
        tell("header/version", at, Severity::Note, what);
        return true;
    }
    let hash = stream.get("schema").and_then(Value::as_str);
    if let Some(hash) = hash.filter(|hash| theirs == ours && *hash != SCHEMA_HASH) {
        let what = format!("is {hash}, the schema of this version is {SCHEMA_HASH}");
        tell("header/schema", "/stream/schema", Severity::Note, what);
    }
    false
}

/// Major, minor and patch.
fn parts(version: &str) -> Option<(u64, u64, u64)> {
    let core = version.split(['-', '+']).next()?;
    let mut parts = core.split('.').map(|part| part.parse().ok());
    let version = (parts.next()??, parts.next()??, parts.next()??);
    parts.next().is_none().then_some(version)
}
