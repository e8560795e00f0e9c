//! Every line against the published strict bundle, by the jsonschema crate.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::check::kind;

/// The bundle as published.
pub(crate) const STRICT: &str = include_str!("../../generated/bundle/quipu.strict.json");

/// The bundle as JSON.
pub(crate) static BUNDLE: LazyLock<Value> = LazyLock::new(|| serde_json::from_str(STRICT).unwrap());

static VALIDATOR: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::validator_for(&BUNDLE).unwrap());

/// The title of what a reference means.
pub(crate) fn title(reference: &Value) -> Option<&str> {
    reference["$ref"].as_str()?.rsplit('/').next()
}

/// The kinds of lines: the type and the title of the definition. A type with two forms has two.
pub(crate) fn kinds() -> Vec<(&'static str, &'static str)> {
    fn members(union: &'static Value, found: &mut Vec<(&'static str, &'static str)>) {
        for title in union["oneOf"].as_array().unwrap().iter().filter_map(title) {
            let definition = &BUNDLE["$defs"][title];
            match definition["properties"]["type"]["const"].as_str() {
                Some(kind) => found.push((kind, title)),
                None => members(definition, found),
            }
        }
    }
    let mut found = Vec::new();
    members(&BUNDLE, &mut found);
    found
}

/// What is wrong with each line by itself.
pub(crate) fn findings(lines: &[Value]) -> Vec<String> {
    let broken = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !VALIDATOR.is_valid(line));
    broken
        .flat_map(|(index, line)| explain(index, line))
        .collect()
}

/// The strict bundles of the wires of other agents.
static OTHERS: LazyLock<BTreeMap<&str, Validator>> = LazyLock::new(|| {
    let bundles = [
        (
            "senpi",
            include_str!("../../generated/bundle/senpi.strict.json"),
        ),
        (
            "dreb",
            include_str!("../../generated/bundle/dreb.strict.json"),
        ),
    ];
    let validator = |text| jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap();
    bundles.map(|(wire, text)| (wire, validator(text))).into()
});

/// What is wrong with each line of another wire by itself.
pub(crate) fn findings_on(wire: &str, lines: &[Value]) -> Vec<String> {
    let validator = &OTHERS[wire];
    let broken = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !validator.is_valid(line));
    broken
        .map(|(index, line)| {
            let mut text = line.to_string();
            text.truncate(text.floor_char_boundary(400));
            format!(
                "line {}: the {wire} bundle has no such line: {text}",
                index + 1
            )
        })
        .collect()
}

/// Compares with the definitions of its type alone: against the whole union the complaint would be
/// that none of thirty members fits.
fn explain(index: usize, line: &Value) -> Vec<String> {
    let at = format!("line {} ({})", index + 1, kind(line));
    let mut findings = Vec::new();
    for (_, title) in kinds()
        .into_iter()
        .filter(|(known, _)| *known == kind(line))
    {
        let schema = json!({
            "$schema": BUNDLE["$schema"],
            "$ref": format!("#/$defs/{title}"),
            "$defs": BUNDLE["$defs"],
        });
        for error in jsonschema::validator_for(&schema)
            .unwrap()
            .iter_errors(line)
        {
            let mut what = error.to_string();
            what.truncate(what.floor_char_boundary(300));
            findings.push(format!("{at}: {}: {what}", error.instance_path()));
        }
    }
    if findings.is_empty() {
        findings.push(format!("{at}: the bundle knows no such type"));
    }
    findings
}
