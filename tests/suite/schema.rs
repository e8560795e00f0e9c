//! Every line against the published strict bundle, by the jsonschema crate.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::check::kind;

/// The bundle as published.
pub(crate) const STRICT: &str = include_str!("../../generated/bundle/quipu.strict.json");

/// One validator per type of line, so that a finding names the field and not thirty members of a
/// union that did not match; and the whole bundle, which has the last word.
static VALIDATORS: LazyLock<(Validator, BTreeMap<String, Vec<Validator>>)> = LazyLock::new(|| {
    let bundle: Value = serde_json::from_str(STRICT).unwrap();
    let mut members: BTreeMap<String, Vec<Validator>> = BTreeMap::new();
    for member in bundle["oneOf"].as_array().unwrap() {
        let title = member["$ref"].as_str().unwrap().rsplit('/').next().unwrap();
        let tag = bundle["$defs"][title]["properties"]["type"]["const"]
            .as_str()
            .unwrap();
        let schema = json!({
            "$schema": bundle["$schema"], "$ref": member["$ref"], "$defs": bundle["$defs"],
        });
        members
            .entry(tag.into())
            .or_default()
            .push(jsonschema::validator_for(&schema).unwrap());
    }
    (jsonschema::validator_for(&bundle).unwrap(), members)
});

/// The types that the bundle knows.
pub(crate) fn types() -> impl Iterator<Item = &'static str> {
    VALIDATORS.1.keys().map(String::as_str)
}

/// What is wrong with each line by itself.
pub(crate) fn findings(lines: &[Value]) -> Vec<String> {
    let mut findings = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let at = format!("line {} ({})", index + 1, kind(line));
        let Some(members) = VALIDATORS.1.get(kind(line)) else {
            findings.push(format!("{at}: the bundle knows no such type"));
            continue;
        };
        if VALIDATORS.0.is_valid(line) {
            continue;
        }
        for error in members.iter().flat_map(|member| member.iter_errors(line)) {
            let mut what = error.to_string();
            what.truncate(what.floor_char_boundary(300));
            findings.push(format!("{at}: {}: {what}", error.instance_path()));
        }
    }
    findings
}
