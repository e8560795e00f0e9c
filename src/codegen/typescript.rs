//! Definitions for TypeScript: interfaces, and unions that narrow by their discriminator.

use super::client::{Client, Def, Language, Shape, Union, Unusable, list_name, quoted, wrapped};
use super::model::{Field, Type};
use std::fmt::Write as _;

/// The widest a line of a comment gets.
const WIDTH: usize = 100;

/// The definitions as the text of a module.
///
/// # Errors
/// Two names that would meet in one.
pub fn definitions(client: &Client) -> Result<String, Unusable> {
    client.names_apart("TypeScript", [], |def| match &def.shape {
        Shape::Union(union) => vec![def.title.clone(), list_name(&def.title, &union.tag)],
        _ => vec![def.title.clone()],
    })?;
    let mut text = head(client);
    for def in client.root_first() {
        text.push('\n');
        match &def.shape {
            Shape::Object(fields) => interface(&mut text, def, fields),
            Shape::Values(values) => {
                comment(&mut text, "", &def.text());
                let _ = writeln!(text, "export type {} =", def.title);
                for value in values {
                    let _ = writeln!(text, "  | {}", quoted(value));
                }
                // `string` alone would swallow the known values, and editors could not offer them.
                text.push_str("  | (string & {});\n");
            }
            Shape::Union(union) => self::union(&mut text, def, union),
            Shape::StringOrArray(either) => {
                let parts = [
                    def.text(),
                    format!("A string: {}", either.string),
                    format!("An array: {}", either.array),
                ];
                comment(&mut text, "", &parts.join("\n"));
                let _ = writeln!(
                    text,
                    "export type {} = string | {};",
                    def.title,
                    array(&either.items)
                );
            }
        }
    }
    Ok(text)
}

fn head(client: &Client) -> String {
    let root = &client.root;
    let tag = match client.defs.get(root).map(|def| &def.shape) {
        Some(Shape::Union(union)) => union.tag.as_str(),
        _ => "type",
    };
    let mut text = format!(
        "// Made from the schema by `{command}`; do not edit.\n\n\
         /*\n \
         * A reader of JSON Lines parses each line and keeps what it knows:\n \
         *\n \
         *   const value: unknown = JSON.parse(line);\n \
         *   if (is{root}(value)) {{\n \
         *     switch (value.{tag}) {{ … }}\n \
         *   }}\n \
         *\n \
         * A later version may add members to a union, fields to an object, and values to a string that\n \
         * is typed with `(string & {{}})`. So a `switch` over a nested union needs a `default` that lets the\n \
         * rest pass, although the compiler takes it for `never`; the `is…` functions below tell what is\n \
         * known. Fields with `?` are absent, never null, where they have nothing to say.\n \
         */\n",
        command = client.command(Language::TypeScript),
    );
    if let Some(version) = &client.version {
        text.push('\n');
        comment(
            &mut text,
            "",
            "Version of the schema that this was made from.",
        );
        let _ = writeln!(text, "export const SCHEMA_VERSION = {};", quoted(version));
    }
    text.push_str(
        "\nfunction tagIsIn(value: unknown, tag: string, known: readonly string[]): boolean {\n  \
           if (typeof value !== \"object\" || value === null) return false;\n  \
           const found = (value as { [key: string]: unknown })[tag];\n  \
           return typeof found === \"string\" && known.includes(found);\n\
         }\n",
    );
    text
}

fn interface(text: &mut String, def: &Def, fields: &[Field]) {
    comment(text, "", &def.text());
    let _ = writeln!(text, "export interface {} {{", def.title);
    for field in fields {
        comment(text, "  ", &field.description);
        let _ = writeln!(
            text,
            "  {}{}: {};",
            key(&field.name),
            if field.required { "" } else { "?" },
            ty(&field.ty)
        );
    }
    text.push_str("}\n");
}

fn union(text: &mut String, def: &Def, union: &Union) {
    let title = &def.title;
    let tag = &union.tag;
    comment(text, "", &def.text());
    let _ = writeln!(text, "export type {title} =");
    for (i, member) in union.members.iter().enumerate() {
        let end = if i + 1 == union.members.len() {
            ";"
        } else {
            ""
        };
        let _ = writeln!(text, "  | {}{end}", member.title);
    }

    let list = list_name(title, tag);
    let what = format!("Every `{tag}` of {{@link {title}}} that this module knows.");
    text.push('\n');
    comment(text, "", &what);
    let _ = writeln!(text, "export const {list} = [");
    for value in union.values() {
        let _ = writeln!(text, "  {},", quoted(value));
    }
    text.push_str("] as const;\n\n");

    let what = format!(
        "Whether `value` is an object with a `{tag}` that this module knows; the rest of it is taken on \
         trust."
    );
    comment(text, "", &what);
    let _ = writeln!(
        text,
        "export function is{title}(value: unknown): value is {title} {{\n  \
           return tagIsIn(value, {}, {list});\n\
         }}",
        quoted(tag)
    );
}

fn ty(ty: &Type) -> String {
    match ty {
        Type::Any => "unknown".into(),
        // Not `Record`: a schema may have a type of that name.
        Type::Map => "{ [key: string]: unknown }".into(),
        Type::String => "string".into(),
        Type::Boolean => "boolean".into(),
        Type::Integer { .. } | Type::Number => "number".into(),
        Type::Const(value) => value.to_string(),
        Type::Array(items) => array(items),
        Type::Ref(title) => title.clone(),
        Type::Nullable(inner) => format!("{} | null", self::ty(inner)),
    }
}

fn array(items: &Type) -> String {
    match items {
        Type::Nullable(_) => format!("({})[]", ty(items)),
        _ => format!("{}[]", ty(items)),
    }
}

fn key(name: &str) -> String {
    if name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "_$".contains(c))
    {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// A doc comment; none without text.
fn comment(text: &mut String, indent: &str, what: &str) {
    let what = what.replace("*/", "*\\/");
    let lines = wrapped(&what, WIDTH - indent.len() - 3);
    match &lines[..] {
        [] => {}
        [only] if indent.len() + only.chars().count() + 7 <= WIDTH => {
            let _ = writeln!(text, "{indent}/** {only} */");
        }
        lines => {
            let _ = writeln!(text, "{indent}/**");
            for line in lines {
                let _ = writeln!(text, "{}", format!("{indent} * {line}").trim_end());
            }
            let _ = writeln!(text, "{indent} */");
        }
    }
}
