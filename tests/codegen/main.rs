//! The schema, and everything that is made of it.
//!
//! `UPDATE=1 cargo test --test codegen` writes `generated/` anew.

use quipu::codegen;

#[path = "../../src/codegen/rust/mod.rs"]
mod rust;

mod bundles;
mod drift;
mod mistakes;
mod types;

use codegen::model::Schema;
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
