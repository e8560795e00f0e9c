//! The structs and the enums of strings: typify's, rewritten.

use super::input::{self, Input};
use super::text;
use crate::codegen::model::{Def, Field, Object, Schema, Shape, Type};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit_mut::{self, VisitMut};
use syn::{Item, ItemEnum, ItemStruct, parse_quote};

/// What typify made, by title.
pub(super) struct Types {
    pub(super) items: BTreeMap<String, TokenStream>,
    /// The module of the error that parsing an enum gives.
    pub(super) errors: TokenStream,
}

pub(super) fn types(schema: &Schema) -> Result<Types, String> {
    let file: syn::File =
        syn::parse2(typify(input::input(schema))?).map_err(|error| error.to_string())?;
    let mut types = Types {
        items: BTreeMap::new(),
        errors: TokenStream::new(),
    };
    for mut item in file.items {
        Shorten.visit_item_mut(&mut item);
        match item {
            Item::Struct(item) => {
                let def = schema.defs.get(&item.ident.to_string());
                let Some((def, Shape::Object(object))) = def.map(|def| (def, &def.shape)) else {
                    return Err(format!("typify made a struct {} of its own", item.ident));
                };
                let tokens = structure(schema, def, object, item)?;
                types
                    .items
                    .entry(def.title.clone())
                    .or_default()
                    .extend(tokens);
            }
            Item::Enum(item) => {
                let def = schema.defs.get(&item.ident.to_string());
                let Some((def, Shape::Enum(values))) = def.map(|def| (def, &def.shape)) else {
                    return Err(format!("typify made an enum {} of its own", item.ident));
                };
                let tokens = values_enum(def, values, item);
                types
                    .items
                    .entry(def.title.clone())
                    .or_default()
                    .extend(tokens);
            }
            // Parsing from `&str` and printing; the two `TryFrom`s would only repeat `FromStr`.
            Item::Impl(item) => {
                let name = item
                    .trait_
                    .as_ref()
                    .and_then(|(_, path, _)| path.segments.last());
                let name = name
                    .map(|segment| segment.ident.to_string())
                    .unwrap_or_default();
                if matches!(name.as_str(), "Display" | "FromStr") {
                    let title = item.self_ty.to_token_stream().to_string();
                    types
                        .items
                        .entry(title)
                        .or_default()
                        .extend(item.into_token_stream());
                }
            }
            Item::Mod(item) if item.ident == "error" => {
                types.errors.extend(item.into_token_stream());
            }
            other => {
                return Err(format!(
                    "typify made something unknown: {}",
                    other.into_token_stream()
                ));
            }
        }
    }
    Ok(types)
}

fn typify(input: Input) -> Result<TokenStream, String> {
    let mut settings = typify::TypeSpaceSettings::default();
    for (name, path) in &input.replaced {
        settings.with_replacement(name, path, std::iter::empty());
    }
    let root: schemars08::schema::RootSchema =
        serde_json::from_value(input.document).map_err(|error| error.to_string())?;
    let mut space = typify::TypeSpace::new(&settings);
    space
        .add_root_schema(root)
        .map_err(|error| error.to_string())?;
    Ok(space.to_stream())
}

fn structure(
    schema: &Schema,
    def: &Def,
    object: &Object,
    mut item: ItemStruct,
) -> Result<TokenStream, String> {
    let defaults = item.attrs.iter().any(|attr| {
        attr.path().is_ident("derive") && attr.to_token_stream().to_string().contains("Default")
    });
    let default: Option<TokenStream> = defaults.then(|| quote! { Default, });
    item.attrs = vec![
        text::doc(&def.description),
        parse_quote! { #[derive(Clone, Debug, #default PartialEq, Serialize, Deserialize)] },
    ];
    // After the derive: an attribute before the macro that introduces it is an error.
    if let Some((tag, value)) = object.tag() {
        item.attrs
            .push(parse_quote! { #[serde(tag = #tag, rename = #value, remote = "Self")] });
    }
    let syn::Fields::Named(fields) = &mut item.fields else {
        return Err(format!("typify made {} no struct with fields", def.title));
    };
    let mut made: BTreeMap<String, syn::Field> = BTreeMap::new();
    for field in std::mem::take(&mut fields.named) {
        made.insert(wire_name(&field), field);
    }
    for field in object.payload() {
        let Some(mut rust) = made.remove(&field.name) else {
            return Err(format!("typify left {} out of {}", field.name, def.title));
        };
        if is_recursive(schema, def, field) {
            let mut boxed = Boxing(field.ty.target().unwrap_or_default());
            boxed.visit_type_mut(&mut rust.ty);
        }
        // typify folds an absent array or map into an empty one.
        let ty = &rust.ty;
        if !field.required && !is_option(ty) {
            rust.ty = parse_quote! { Option<#ty> };
        }
        rust.attrs = vec![text::doc(&field.description)];
        rust.attrs.extend(serde_attr(field, &rust));
        fields.named.push(rust);
    }
    let name = &item.ident;
    let tagged = object
        .tag()
        .map(|(tag, value)| quote! { tagged!(#name: #tag = #value); });
    Ok(quote! { #item #tagged })
}

/// The key of a field on the wire: what its `rename` says, else its name.
fn wire_name(field: &syn::Field) -> String {
    let mut name = field
        .ident
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    for attr in field
        .attrs
        .iter()
        .filter(|attr| attr.path().is_ident("serde"))
    {
        // An argument that is no `key = "value"` stops this early, but `rename` comes first.
        let _ = attr.parse_nested_meta(|meta| {
            let value: syn::LitStr = meta.value()?.parse()?;
            if meta.path.is_ident("rename") {
                name = value.value();
            }
            Ok(())
        });
    }
    name
}

fn serde_attr(field: &Field, rust: &syn::Field) -> Option<syn::Attribute> {
    let mut parts: Vec<TokenStream> = Vec::new();
    if rust
        .ident
        .as_ref()
        .is_some_and(|ident| ident != &field.name)
    {
        let name = &field.name;
        parts.push(quote! { rename = #name });
    }
    if !field.required {
        parts.push(quote! { default, skip_serializing_if = "Option::is_none" });
        parts.push(quote! { deserialize_with = "present" });
    } else if matches!(field.ty, Type::Nullable(_)) {
        // Without this serde would take an absent key for null.
        parts.push(quote! { deserialize_with = "Option::deserialize" });
    }
    (!parts.is_empty()).then(|| parse_quote! { #[serde(#(#parts),*)] })
}

/// Whether the value of `field` may hold another `def` without an array or a map in between.
fn is_recursive(schema: &Schema, def: &Def, field: &Field) -> bool {
    fn direct(ty: &Type) -> Option<&str> {
        match ty {
            Type::Ref(title) => Some(title),
            Type::Nullable(inner) => direct(inner),
            _ => None,
        }
    }
    let mut queue: Vec<&str> = direct(&field.ty).into_iter().collect();
    let mut seen = BTreeSet::new();
    while let Some(title) = queue.pop() {
        if title == def.title {
            return true;
        }
        let Some(other) = schema.defs.get(title).filter(|_| seen.insert(title)) else {
            continue;
        };
        match &other.shape {
            Shape::Object(object) => {
                queue.extend(object.fields.iter().filter_map(|field| direct(&field.ty)));
            }
            Shape::Union(union) => {
                queue.extend(union.members.iter().map(|member| member.title.as_str()));
            }
            Shape::Enum(_) | Shape::StringOrArray(_) => {}
        }
    }
    false
}

fn is_option(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Option"))
}

/// Boxes the named type wherever it stands in a type.
struct Boxing<'a>(&'a str);

impl VisitMut for Boxing<'_> {
    fn visit_type_mut(&mut self, ty: &mut syn::Type) {
        if matches!(ty, syn::Type::Path(path) if path.path.is_ident(self.0)) {
            *ty = parse_quote! { Box<#ty> };
        } else {
            visit_mut::visit_type_mut(self, ty);
        }
    }
}

fn values_enum(def: &Def, values: &[String], mut item: ItemEnum) -> TokenStream {
    item.attrs = vec![
        text::doc(&def.description),
        parse_quote! {
            #[derive(
                Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize
            )]
        },
    ];
    let mut variants = Vec::new();
    for (variant, value) in item.variants.iter_mut().zip(values) {
        variant.attrs.retain(|attr| attr.path().is_ident("serde"));
        variant.attrs.insert(0, text::doc(&format!("`{value}`.")));
        variants.push(variant.ident.clone());
    }
    let name = &item.ident;
    quote! {
        #item
        impl #name {
            /// Every value, in the order of the schema.
            pub const ALL: &'static [Self] = &[#(Self::#variants),*];

            /// The value as it stands on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { #(Self::#variants => #values),* }
            }
        }
    }
}

/// Writes `Option<String>` for `::std::option::Option<::std::string::String>` and so on: the lint
/// keeps titles from taking these names.
struct Shorten;

impl VisitMut for Shorten {
    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        visit_mut::visit_path_mut(self, path);
        let names: Vec<String> = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let short = matches!(
            names[..],
            ["std", "option", "Option"]
                | ["std", "string", "String"]
                | ["std", "vec", "Vec"]
                | ["std", "result", "Result"]
                | ["serde_json", "Map" | "Value"]
        ) || matches!(names[..], ["self", name] if name != "error");
        if short && let Some(last) = path.segments.last().cloned() {
            path.leading_colon = None;
            path.segments = std::iter::once(last).collect();
        }
    }
}
