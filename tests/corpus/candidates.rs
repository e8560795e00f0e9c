//! The candidates among which the search chooses: sound lines in an illegal order, of which the
//! witness and the verifier find the same first.

use std::collections::{BTreeMap, BTreeSet};

use quipu::codegen::validate::Validator;
use quipu::contract::Wire;
use serde_json::Value;

use crate::edits;
use crate::lines_judged;
use crate::pool;
use crate::scenarios::filler;
use crate::streams::Illegal;
use crate::verify;
use crate::witness::{Finding, Witness, published, states, words};

/// Legal streams by name.
pub(crate) type Streams = [(String, Vec<Value>)];

/// An edit that makes a stream illegal.
pub(crate) struct Candidate<'s> {
    base: &'s str,
    pub(crate) edit: Value,
    pub(crate) words: Vec<Finding>,
    first: Finding,
    /// The rules of all findings that are seen at once.
    pub(crate) seen: BTreeSet<String>,
    pub(crate) on: &'s [Value],
}

impl Candidate<'_> {
    pub(crate) fn illegal(&self) -> Illegal {
        Illegal {
            name: self.name(),
            base: self.base.to_owned(),
            edit: self.edit.clone(),
            line: self.first.line,
            rule: self.first.rule.clone(),
        }
    }

    pub(crate) fn name(&self) -> String {
        let text = |at: &str| self.edit[at].as_str().unwrap_or_default().to_owned();
        let value = &self.edit["value"];
        let value = match value {
            Value::Object(map) if map.contains_key("type") => {
                let more = [
                    "/message/role",
                    "/message/stopReason",
                    "/assistantMessageEvent/type",
                    "/reason",
                    "/phase",
                    "/source",
                    "/success",
                    "/willRetry",
                    "/aborted",
                    "/status",
                    "/step",
                    "/agentId",
                    "/toolCallId",
                    "/hookRunId",
                    "/event/type",
                    "/message/toolCallId",
                    "/result/summary",
                    "/requestId",
                    "/assistantMessageEvent/contentIndex",
                    "/assistantMessageEvent/delta",
                ];
                let more = more
                    .iter()
                    .filter_map(|at| value.pointer(at))
                    .map(|value| format!(" {value}").replace('"', ""));
                format!(
                    " {}{}",
                    map["type"].as_str().unwrap(),
                    more.collect::<String>()
                )
            }
            Value::Null => String::new(),
            value => format!(" {value}").chars().take(40).collect(),
        };
        let ids = self.edit["values"].as_array().into_iter().flatten();
        let ids = ids.filter_map(|line| line.pointer("/toolCallId").or(line.pointer("/hookRunId")));
        let wide: String = self
            .edit
            .get("to")
            .into_iter()
            .chain(ids)
            .map(|value| format!(" {value}").replace('"', ""))
            .collect();
        format!(
            "{}: {} {}{}{}{wide}",
            self.base,
            text("op"),
            self.edit["line"],
            if text("pointer").is_empty() {
                String::new()
            } else {
                format!(" {}", text("pointer"))
            },
            value
        )
    }
}

/// Whether the verifier finds the same first. Both are right when it does not: what is wrong may be
/// seen at more than one place.
pub(crate) fn agrees(wire: Wire, lines: &[Value], first: &Finding) -> bool {
    verify::first(wire, lines) == Some((first.line, first.rule.clone()))
}

/// The candidates of a wire: sound lines in an illegal order, a few of each sort.
pub(crate) fn candidates(wire: Wire, legal: &Streams) -> Vec<Candidate<'_>> {
    let witness = Witness::new(wire, published(wire));
    let document = &lines_judged::cases(wire.name()).0;
    let validator = Validator::new(document);
    let mut known: BTreeMap<String, bool> = BTreeMap::new();
    let mut sorts: BTreeMap<String, usize> = BTreeMap::new();
    let (mut candidates, mut visited) = (Vec::new(), BTreeMap::new());
    let (mut keys, filler) = (BTreeSet::new(), filler(wire));
    for (base, lines) in legal {
        let states = states(wire, lines);
        for edit in pool::edits(wire, base, lines, &mut visited) {
            let at = usize::try_from(edit["line"].as_u64().unwrap()).unwrap() - 1;
            let op = edit["op"].as_str().unwrap();
            let was = lines
                .get(at)
                .map_or("", |line| line["type"].as_str().unwrap());
            let key = format!(
                "{op} {was} {} {} {}",
                states[at], edit["pointer"], edit["value"]
            );
            let large = matches!(op, "move" | "splice");
            if !keys.insert(key)
                && !large
                && !matches!(op, "delete" | "swap" | "unset")
                && edit["value"] != filler
            {
                continue;
            }
            let edited = edits::apply(lines, &edit);
            let sound = !matches!(
                edit["op"].as_str().unwrap(),
                "set" | "unset" | "insert" | "replace"
            ) || *known
                .entry(edited[at].to_string())
                .or_insert_with(|| validator.check("", &edited[at]).is_ok());
            if !sound {
                continue;
            }
            let order = witness.order(&edited);
            let found: BTreeSet<&str> = order.iter().map(|found| found.rule.as_str()).collect();
            let sort = format!("{found:?} {op} {was} {} {}", edit["pointer"], edit["value"]);
            // Which answer or call it is about makes a difference that the findings do not show.
            let small = matches!(op, "delete" | "swap") || edit["value"] == filler;
            let most = if op == "unset" || large {
                40
            } else if small {
                5
            } else if op == "set" {
                2
            } else {
                1
            };
            let count = sorts.entry(sort).or_default();
            *count += 1;
            if *count > most {
                continue;
            }
            let words = words(wire, &edited);
            let mut findings = order;
            findings.extend(words.iter().cloned());
            findings.sort_by_key(|finding| finding.line);
            let Some(first) = findings.first().cloned() else {
                continue;
            };
            if !agrees(wire, &edited, &first) {
                continue;
            }
            let groups: BTreeSet<String> =
                findings.into_iter().map(|finding| finding.rule).collect();
            let candidate = Candidate {
                base,
                on: lines,
                edit,
                words,
                first,
                seen: groups,
            };
            candidates.push(candidate);
        }
    }
    candidates
}

impl Candidate<'_> {
    pub(crate) fn lines(&self) -> Vec<Value> {
        edits::apply(self.on, &self.edit)
    }

    pub(crate) fn passes(&self, judge: &Witness) -> bool {
        judge.passes(&self.lines(), &self.words)
    }
}
