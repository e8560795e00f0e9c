//! The schema, and everything that is made of it.
//!
//! `UPDATE=1 cargo test --test codegen` writes `generated/` anew.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use quipu::codegen;

#[path = "../../src/codegen/rust/mod.rs"]
mod rust;

mod apis;
mod bundles;
mod checker;
mod clients;
mod clients_sample;
mod compaction;
mod def_mistakes;
mod definitions;
mod drift;
mod folder;
mod grammar;
mod mistakes;
mod odd_schemas;
mod released;
mod types;

use codegen::bundle::{self, Mode};
use codegen::model::Schema;
use serde_json::{Value, json};
use std::path::Path;

/// The schema folder of the package.
fn schema() -> Schema {
    match codegen::read(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("schema")
            .as_path(),
    ) {
        Ok(schema) => schema,
        Err(problems) => panic!("{problems:#?}"),
    }
}

/// Every bundle of the mode.
fn documents(schema: &Schema, mode: Mode) -> Vec<Value> {
    let names = schema.bundles.keys();
    names
        .map(|name| bundle::document(schema, name, mode).unwrap())
        .collect()
}

/// Whether `document` holds the def `title`: the root is a union itself.
fn holds(document: &Value, title: &str) -> bool {
    document["title"] == title || document["$defs"].get(title).is_some()
}

/// `value` and what it becomes by one small change: a key gone, renamed or new, a value of another
/// type or beyond its limits.
fn mutants(value: &Value) -> Vec<Value> {
    let mut all = vec![
        json!(null),
        json!("?"),
        json!(-1),
        json!(0.5),
        json!(3.0),
        json!(true),
        json!([]),
        json!({}),
    ];
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let mut without = map.clone();
                without.shift_remove(key);
                all.push(Value::Object(without.clone()));
                without.insert(format!("{key}X"), inner.clone());
                all.push(Value::Object(without));
                for mutant in mutants(inner) {
                    let mut changed = map.clone();
                    changed[key] = mutant;
                    all.push(Value::Object(changed));
                }
            }
            let mut more = map.clone();
            more.insert("more".into(), json!(1));
            all.push(Value::Object(more));
        }
        Value::Array(list) => {
            for (i, inner) in list.iter().enumerate() {
                for mutant in mutants(inner) {
                    let mut changed = list.clone();
                    changed[i] = mutant;
                    all.push(Value::Array(changed));
                }
            }
        }
        _ => {}
    }
    all
}
