//! From the linted schema to Rust: typify makes the structs and the enums of strings, this module
//! gives them tags, key order and docs, and writes the unions and const fields itself.
//!
//! Compiled by the build script and the tests only, each of which has a `crate::codegen`.

mod input;
mod text;
mod types;
mod unions;

use crate::codegen::model::{Schema, Shape};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use std::collections::{BTreeMap, BTreeSet};

/// The wire whose text also holds everything that no other wire has for itself.
const NATIVE: &str = "quipu";

/// What the generated text begins with.
const HEAD: &str = "\
// Made from schema/ by the build script. Do not edit; the copy in generated/ is for reading.

";

/// The Rust types of `schema` as formatted source texts by name, each for a child module of
/// `crate::event`: `quipu`, and for each other wire the types that only it has.
///
/// # Errors
/// What typify or syn refused; the linter should have prevented it.
pub(crate) fn generate(schema: &Schema) -> Result<BTreeMap<String, String>, String> {
    let mut types = types::types(schema)?;
    let owners = owners(schema);
    let mut texts: BTreeMap<&str, TokenStream> = BTreeMap::new();
    for name in schema.wires.keys().map(String::as_str).chain([NATIVE]) {
        let native = (name != NATIVE).then(|| quote! { use super::generated::*; });
        texts.insert(
            name,
            quote! {
                #native
                use super::tag::{self, Tagged, constant, present, tagged};
                use serde::{Deserialize, Deserializer, Serialize, de};
                use serde_json::{Map, Value};
            },
        );
    }
    for def in schema.defs.values().filter(|def| !def.read_only) {
        let owner = owners.get(&*def.title).copied().unwrap_or(NATIVE);
        let Some(items) = texts.get_mut(owner) else {
            continue;
        };
        match &def.shape {
            Shape::Object(object) => {
                items.extend(types.items.remove(&def.title));
                items.extend(unions::constants(def, object));
            }
            Shape::Enum(_) => items.extend(types.items.remove(&def.title)),
            Shape::Union(union) => items.extend(unions::tagged(schema, def, union)),
            Shape::StringOrArray(either) => items.extend(unions::string_or_array(def, either)),
        }
    }
    if let Some(items) = texts.get_mut(NATIVE) {
        items.extend(types.errors);
    }
    let printed = texts
        .into_iter()
        .map(|(name, items)| Ok((name.to_owned(), print(items)?)));
    printed.collect()
}

/// The wire of each def that only one wire leads to, by title; the native wire's are left out.
fn owners(schema: &Schema) -> BTreeMap<&str, &str> {
    let mut owners = BTreeMap::new();
    for (wire, root) in schema.wires.iter().filter(|(wire, _)| *wire != NATIVE) {
        let others = schema.roots().filter(|other| other != root);
        let shared: BTreeSet<&str> = others.flat_map(|other| schema.reachable(other)).collect();
        let own = schema
            .reachable(root)
            .into_iter()
            .filter(|title| !shared.contains(title));
        owners.extend(own.map(|title| (title, wire.as_str())));
    }
    owners
}

/// A function `round_trip(title, json)` that reads `json` as the type `title` and writes it again,
/// so that the tests need no list of the types.
///
/// # Errors
/// What syn refused.
pub(crate) fn round_trip(schema: &Schema) -> Result<String, String> {
    let defs = schema.defs.values().filter(|def| !def.read_only);
    let arms: TokenStream = defs
        .map(|def| {
            let (title, ident) = (&def.title, format_ident!("{}", def.title));
            quote! { #title => again::<quipu::event::#ident>(json), }
        })
        .collect();
    print(quote! {
        #[allow(clippy::too_many_lines, reason = "one arm for each type")]
        fn round_trip(title: &str, json: &str) -> serde_json::Result<String> {
            match title { #arms _ => panic!("no type {title}") }
        }
        fn again<T>(json: &str) -> serde_json::Result<String>
        where
            T: serde::Serialize + serde::de::DeserializeOwned,
        {
            serde_json::to_string(&serde_json::from_str::<T>(json)?)
        }
    })
}

fn print(items: TokenStream) -> Result<String, String> {
    let file = syn::parse2(items).map_err(|error| error.to_string())?;
    Ok(format!(
        "{HEAD}{}",
        text::space(&prettyplease::unparse(&file))
    ))
}
