use serde_json::{Value as Json, json};

use super::*;
use crate::contract::lines::Lines;

fn verify(lines: &[Json], contract: Arc<Contract>) -> Vec<String> {
    let text: Vec<String> = lines.iter().map(Json::to_string).collect();
    let text = format!("{}\n", text.join("\n"));
    let options = Options {
        wire: Some(Wire::Quipu),
        ..Options::default()
    };
    let mut verifier = Verifier::with_contract(options, contract);
    let mut lines = Lines::new(text.as_bytes());
    let mut findings = Vec::new();
    while let Some(frame) = lines.next_line().unwrap() {
        verifier.line(&frame, &mut findings);
    }
    verifier.finish(&mut findings);
    let errors = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error);
    errors.map(|finding| finding.rule.clone()).collect()
}

/// A stream that ends at once, and says that it has one line more than it has.
fn miscounted() -> Vec<Json> {
    let none = json!({
        "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0,
        "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0 },
    });
    vec![
        json!({
            "type": "session", "version": 3, "id": "a", "timestamp": "2026-01-01T00:00:00.000Z",
            "cwd": "/", "stream": { "wire": "quipu", "version": "1.0.0", "schema": "sha256:0" },
        }),
        json!({
            "type": "stream_end", "outcome": "completed", "exitCode": 0, "usage": none,
            "turns": 0, "lines": 3,
        }),
    ]
}

#[test]
fn a_rule_that_is_not_in_the_grammar_is_not_checked() {
    assert_eq!(verify(&miscounted(), Arc::default()), ["rule/stream_end"]);
    let mut grammar: Json = serde_json::from_str(crate::contract::GRAMMAR).unwrap();
    let rules = grammar["wires"]["quipu"]["rules"].as_array_mut().unwrap();
    rules.retain(|rule| rule["name"] != "stream_end");
    let contract = Contract::new(Arc::new(Grammar::compile(&grammar).unwrap()));
    assert!(verify(&miscounted(), Arc::new(contract)).is_empty());
}

#[test]
fn a_bundle_can_be_replaced() {
    let mut bundle: Json = serde_json::from_str(Wire::Quipu.strict()).unwrap();
    bundle["$defs"]["SessionHeader"]["required"] = json!(["type", "nonsense"]);
    let checker = Checker::compile(&bundle).unwrap();
    let contract = Contract::default().with_checker(Wire::Quipu, checker);
    let found = verify(&miscounted(), Arc::new(contract));
    assert_eq!(found[0], "schema/required");
}
