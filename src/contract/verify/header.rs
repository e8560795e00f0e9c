//! What the header of a native stream says of its version.

use super::finding::{Finding, Place, Severity};
use crate::contract::json::Value;
use crate::contract::{SCHEMA_HASH, SCHEMA_VERSION};

/// Tells of a version or schema other than this program's. `true` if the stream is newer, so that
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
