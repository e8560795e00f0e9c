//! `grammar.json` as it is written.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(rename = "description")]
    _description: Option<IgnoredAny>,
    #[serde(rename = "format")]
    _format: Option<IgnoredAny>,
    pub(super) wires: BTreeMap<String, Wire>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wire {
    pub(super) initial: String,
    pub(super) r#final: Vec<String>,
    #[serde(default)]
    pub(super) interrupted: Vec<String>,
    #[serde(default)]
    pub(super) undocumented: BTreeMap<String, Vec<String>>,
    pub(super) states: BTreeMap<String, State>,
    #[serde(default)]
    pub(super) anywhere: Vec<Anywhere>,
    #[serde(default)]
    pub(super) pairs: Vec<Pair>,
    #[serde(default)]
    pub(super) rules: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) promise: Option<Promise>,
    #[serde(default)]
    pub(super) on: Vec<Step>,
}

/// Who promises what the grammar asks for, if not the document of the wire.
#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Promise {
    Quipu,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub(super) to: String,
    #[serde(default)]
    pub(super) foreign: bool,
    pub(super) event: String,
    #[serde(default)]
    pub(super) r#where: BTreeMap<String, Vec<Value>>,
    #[serde(default)]
    pub(super) absent: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pattern {
    pub(super) event: String,
    #[serde(default)]
    pub(super) r#where: BTreeMap<String, Vec<Value>>,
    #[serde(default)]
    pub(super) absent: Vec<String>,
    #[serde(default)]
    pub(super) r#in: Option<Vec<String>>,
    #[serde(default)]
    pub(super) same: Vec<String>,
    #[serde(default)]
    pub(super) promise: Option<Promise>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Anywhere {
    #[serde(default)]
    pub(super) foreign: bool,
    pub(super) events: Vec<String>,
    pub(super) r#in: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pair {
    pub(super) name: String,
    #[serde(rename = "description")]
    _description: Option<IgnoredAny>,
    #[serde(default)]
    pub(super) promise: Option<Promise>,
    #[serde(default)]
    pub(super) open: Vec<Pattern>,
    #[serde(default)]
    pub(super) within: Vec<Pattern>,
    #[serde(default)]
    pub(super) close: Vec<Pattern>,
    #[serde(default)]
    pub(super) alone: Vec<Pattern>,
    #[serde(default)]
    pub(super) inside: Vec<Pattern>,
    #[serde(default)]
    pub(super) key: Option<String>,
    #[serde(default)]
    pub(super) same: Vec<String>,
    #[serde(default)]
    pub(super) scope: Option<Scope>,
    #[serde(default)]
    pub(super) unique: bool,
    #[serde(default)]
    pub(super) closed_before: Vec<Pattern>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scope {
    #[serde(default)]
    pub(super) reset: Vec<Pattern>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub(super) name: String,
    pub(super) events: Vec<String>,
    #[serde(rename = "description")]
    _description: Option<IgnoredAny>,
    #[serde(default)]
    pub(super) promise: Option<Promise>,
}
