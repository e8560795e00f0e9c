//! The unions and the const fields, which typify would take for anything.

use super::input;
use super::text;
use crate::codegen::model::{Def, Member, Object, Schema, StringOrArray, Type, Union};
use crate::codegen::names;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use serde_json::Value;

/// An enum with one variant for each member, told apart by the discriminator.
pub(super) fn tagged(schema: &Schema, def: &Def, union: &Union) -> TokenStream {
    let members: Vec<&Member> = union
        .members
        .iter()
        .filter(|member| {
            schema
                .defs
                .get(&member.title)
                .is_some_and(|def| !def.read_only)
        })
        .collect();
    let name = ident(&def.title);
    let variants: Vec<Ident> = members
        .iter()
        .map(|member| ident(&member.variant()))
        .collect();
    let structs: Vec<Ident> = members.iter().map(|member| ident(&member.title)).collect();
    let values: Vec<&str> = members.iter().map(|member| member.value.as_str()).collect();
    let mut kinds = values.clone();
    kinds.dedup_by(|a, b| a == b);

    let tag = &union.tag;
    let doc = text::doc(&def.description);
    let list = format_ident!(
        "{}_{}S",
        names::screaming(&def.title),
        names::screaming(tag)
    );
    let list_doc = format!(" What the `{tag}` of [`{name}`] may be.");
    let kind_doc = text::doc(&format!("The `{tag}` as it stands on the wire."));
    let docs = structs.iter().zip(&values).map(|(name, value)| {
        let doc = format!(" `{value}`: see [`{name}`].");
        quote! { #[doc = #doc] }
    });
    let arms = arms(&members);
    quote! {
        #doc
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum #name { #(#docs #variants(#structs),)* }

        #[doc = #list_doc]
        pub const #list: &[&str] = &[#(#kinds),*];

        impl #name {
            #kind_doc
            #[must_use]
            pub const fn kind(&self) -> &'static str {
                match self { #(Self::#variants(_) => #values,)* }
            }
        }

        impl<'de> Deserialize<'de> for #name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                tag::read(from)
            }
        }

        impl<'de> Tagged<'de> for #name {
            const TAG: &'static str = #tag;
            const VALUES: &'static [&'static str] = #list;

            fn fields<D: Deserializer<'de>>(
                value: &'static str,
                rest: D,
            ) -> Result<Self, D::Error> {
                match value {
                    #arms
                    _ => Err(de::Error::unknown_variant(value, Self::VALUES)),
                }
            }
        }

        #(impl From<#structs> for #name {
            fn from(value: #structs) -> Self { Self::#variants(value) }
        })*
    }
}

/// The arms that read the fields of each member.
fn arms(members: &[&Member]) -> TokenStream {
    let mut arms = TokenStream::new();
    for (i, member) in members.iter().enumerate() {
        let value = &member.value;
        let (variant, name) = (ident(&member.variant()), ident(&member.title));
        let Some((key, _)) = &member.second else {
            arms.extend(quote! { #value => #name::deserialize(rest).map(Self::#variant), });
            continue;
        };
        // All members of one value in one arm, at the place of the first.
        if members[..i].iter().any(|other| other.value == *value) {
            continue;
        }
        let group = members[i..].iter().filter(|other| other.value == *value);
        let inner = group.filter_map(|member| {
            let (variant, name) = (ident(&member.variant()), ident(&member.title));
            let (_, second) = member.second.as_ref()?;
            Some(quote! { #second => #name::deserialize(rest).map(Self::#variant), })
        });
        arms.extend(quote! {
            #value => {
                let (second, rest) = tag::second(rest, #key)?;
                match second.as_str() {
                    #(#inner)*
                    other => Err(de::Error::custom(format_args!(
                        concat!("unknown ", #key, " `{}`"), other,
                    ))),
                }
                .map_err(de::Error::custom)
            }
        });
    }
    arms
}

/// An enum of a string and an array.
pub(super) fn string_or_array(def: &Def, either: &StringOrArray) -> TokenStream {
    let name = ident(&def.title);
    let doc = text::doc(&def.description);
    let (string_doc, array_doc) = (text::doc(&either.string), text::doc(&either.array));
    let item = rust_type(&either.items);
    quote! {
        #doc
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum #name {
            #string_doc
            String(String),
            #array_doc
            Array(Vec<#item>),
        }

        impl<'de> Deserialize<'de> for #name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                tag::string_or_array(from, Self::String, Self::Array)
            }
        }

        impl From<String> for #name {
            fn from(value: String) -> Self { Self::String(value) }
        }

        impl From<Vec<#item>> for #name {
            fn from(value: Vec<#item>) -> Self { Self::Array(value) }
        }
    }
}

/// The Rust type of the items of a string-or-array.
fn rust_type(ty: &Type) -> TokenStream {
    match ty {
        Type::Any | Type::Const(_) => quote! { Value },
        Type::Map => quote! { Map<String, Value> },
        Type::String => quote! { String },
        Type::Boolean => quote! { bool },
        Type::Integer { unsigned: true } => quote! { u64 },
        Type::Integer { unsigned: false } => quote! { i64 },
        Type::Number => quote! { crate::event::Number },
        Type::Array(items) => {
            let items = rust_type(items);
            quote! { Vec<#items> }
        }
        Type::Ref(title) => {
            let name = ident(title);
            quote! { #name }
        }
        Type::Nullable(inner) => {
            let inner = rust_type(inner);
            quote! { Option<#inner> }
        }
    }
}

/// A unit type for each const field but the discriminator.
pub(super) fn constants(def: &Def, object: &Object) -> TokenStream {
    let fields = object.payload().iter().filter_map(|field| match &field.ty {
        Type::Const(value) => Some((field, value)),
        _ => None,
    });
    fields
        .map(|(field, value)| {
            let name = ident(&input::constant(def, &field.name));
            let doc = format!(
                " The `{}` of [`{}`]: always `{value}`.",
                field.name, def.title
            );
            let (read, value) = match value {
                Value::String(value) => (quote! { String }, quote! { #value }),
                Value::Bool(value) => (quote! { bool }, quote! { #value }),
                value => {
                    let value = value.as_u64().unwrap_or_default();
                    (quote! { u64 }, quote! { #value })
                }
            };
            quote! {
                #[doc = #doc]
                #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
                pub struct #name;
                constant!(#name: #read = #value);
            }
        })
        .collect()
}

fn ident(name: &str) -> Ident {
    format_ident!("{name}")
}
