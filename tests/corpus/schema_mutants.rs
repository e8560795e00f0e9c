//! No rule of a bundle could go without a line of the corpus telling.

use quipu::codegen::validate::Validator;
use serde_json::Value;

use crate::BUNDLES;
use crate::lines::Case;
use crate::lines_judged::{cases, none};
use crate::rules::{Kind, Rule, rules, without};

fn passes(document: &Value, case: &Case) -> bool {
    Validator::new(document).check("", &case.line).is_ok()
}

/// The lines that aim at the rule, at a part of it or at what it is a part of; then those that aim
/// at a union, of which the rule's def may be a member.
fn aimed<'c>(cases: &'c [Case], rule: &Rule) -> impl Iterator<Item = &'c Case> {
    let near = |aim: &str| aim.starts_with(&rule.pointer) || rule.pointer.starts_with(aim);
    let (near, rest): (Vec<&Case>, Vec<&Case>) = cases
        .iter()
        .filter(|case| case.fault.is_some())
        .partition(|case| near(&case.aim));
    near.into_iter()
        .chain(rest.into_iter().filter(|case| case.aim.ends_with("/oneOf")))
}

fn killed(document: &mut Value, cases: &[Case], rule: &Rule) -> bool {
    match rule.kind {
        Kind::Limit => without(document, &rule.pointer, |document| {
            aimed(cases, rule).any(|case| passes(document, case))
        }),
        Kind::Reference => {
            let (branch, _) = rule.pointer.rsplit_once('/').unwrap();
            let place = document.pointer_mut(branch).unwrap();
            let whole = std::mem::replace(place, Value::Bool(true));
            // What the other members allow now fits two of them, so sound lines may tell as well.
            let sound = cases.iter().filter(|case| case.fault.is_none());
            let killed = aimed(cases, rule).any(|case| passes(document, case))
                || sound.clone().any(|case| !passes(document, case));
            *document.pointer_mut(branch).unwrap() = whole;
            killed
        }
        // The values beside it have that type, so alone it can never tell. It is held against the
        // two together: a line that passes without both, and does not pass while the type is there.
        Kind::Implied => {
            let (parent, _) = rule.pointer.rsplit_once('/').unwrap();
            let schema = document.pointer(parent).unwrap();
            let values = if schema.get("const").is_some() {
                "const"
            } else {
                "enum"
            };
            without(document, &format!("{parent}/{values}"), |document| {
                let type_alone: Vec<&Case> = aimed(cases, rule)
                    .filter(|case| !passes(document, case))
                    .collect();
                without(document, &rule.pointer, |document| {
                    type_alone.into_iter().any(|case| passes(document, case))
                })
            })
        }
        Kind::Allowance => without(document, &rule.pointer, |document| {
            let valid = || cases.iter().filter(|case| case.fault.is_none());
            let def = rule
                .pointer
                .split('/')
                .take(3)
                .collect::<Vec<_>>()
                .join("/");
            let near = valid().filter(|case| case.aim.starts_with(&def));
            let far = valid().filter(|case| !case.aim.starts_with(&def));
            near.chain(far).any(|case| !passes(document, case))
        }),
    }
}

/// A type beside values is implied by them if each has it.
#[test]
fn implied_types_are_those_of_the_values() {
    for name in BUNDLES {
        let (document, _) = cases(name);
        for rule in rules(document)
            .iter()
            .filter(|rule| rule.kind == Kind::Implied)
        {
            let (parent, _) = rule.pointer.rsplit_once('/').unwrap();
            let schema = document.pointer(parent).unwrap();
            let typed = Value::Object(
                [("type".to_owned(), schema["type"].clone())]
                    .into_iter()
                    .collect(),
            );
            let values = schema.get("enum").and_then(Value::as_array).cloned();
            for value in values.unwrap_or_else(|| vec![schema["const"].clone()]) {
                assert!(
                    Validator::new(&typed).check("", &value).is_ok(),
                    "{}",
                    rule.pointer
                );
            }
        }
    }
}

#[test]
fn no_rule_of_a_schema_goes_unnoticed() {
    let mut survivors = Vec::new();
    for name in BUNDLES {
        let (document, cases) = cases(name);
        let mut document = document.clone();
        let rules = rules(&document);
        for rule in &rules {
            if !killed(&mut document, cases, rule) {
                survivors.push(format!("{name}: {} ({:?})", rule.pointer, rule.kind));
            }
        }
        println!("{name}: {} rules, {} lines", rules.len(), cases.len());
    }
    none(&survivors);
}
