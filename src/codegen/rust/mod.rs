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

/// What the generated text begins with.
const HEAD: &str = "\
// Made from schema/ by the build script. Do not edit; the copy in generated/ is for reading.

";

/// The Rust types of `schema` as formatted source text, for a child module of `crate::event`.
///
/// # Errors
/// What typify or syn refused; the linter should have prevented it.
pub(crate) fn generate(schema: &Schema) -> Result<String, String> {
    let mut types = types::types(schema)?;
    let mut items = quote! {
        use super::tag::{self, Tagged, constant, present, tagged};
        use serde::{Deserialize, Deserializer, Serialize, de};
        use serde_json::{Map, Value};
    };
    for def in schema.defs.values().filter(|def| !def.read_only) {
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
    items.extend(types.errors);
    print(items)
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
