//! From the schema folder to everything that is made of it.
//!
//! [`read`] loads a folder and lints it; what it returns is a [`model::Schema`] that holds no
//! authoring mistake, so the later steps ([`bundle`], [`docs`] and, in the build script, the Rust
//! types) need no checks of their own. [`client`] goes on from a bundle to other languages. This half
//! uses the standard library and `serde_json` only, because it is part of the product; the half that
//! writes Rust is compiled by the build script and the tests alone.

pub mod bundle;
pub mod client;
pub mod docs;
mod field;
mod file;
pub mod go;
pub mod grammar;
pub mod lint;
pub mod load;
pub mod model;
pub mod names;
mod order;
pub mod python;
pub mod typescript;
mod union;
pub mod validate;

use std::fmt;
use std::path::Path;

/// One authoring mistake: where it is, what is wrong, and what to write instead.
///
/// Prints as `schema/event/x.json: /properties/foo: <what is wrong>; <what to write instead>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The file, as a path that starts with the folder as the caller named it.
    pub file: String,
    /// A JSON pointer into the file, or `line L, column C` where the file is not JSON.
    pub place: String,
    /// What is wrong.
    pub what: String,
    /// What to write instead.
    pub remedy: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            place,
            what,
            remedy,
        } = self;
        write!(f, "{file}: {place}: {what}; {remedy}")
    }
}

/// A key as part of a JSON pointer.
#[must_use]
pub fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Loads and lints the schema folder `dir`.
///
/// # Errors
/// Every mistake in the folder, sorted by file and place.
pub fn read(dir: &Path) -> Result<model::Schema, Vec<Problem>> {
    let (folder, unreadable) = load::load(dir);
    lint::lint(&folder, unreadable)
}
