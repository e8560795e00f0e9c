//! Definitions for Python: a `TypedDict` for each object, so that what `json.loads` gives needs no
//! conversion, and unions that type checkers narrow by their discriminator.

use super::client::{Client, Def, Language, Shape, Union, Unusable, list_name, quoted, wrapped};
use super::model::{Field, Type};
use super::names;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The widest a line of a comment gets.
const WIDTH: usize = 100;

/// What cannot be a name.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// What the annotations use: a field of this name would hide it from those that follow.
const USED: [&str; 7] = ["bool", "dict", "float", "int", "list", "str", "typing"];

/// The definitions as the text of a module.
///
/// # Errors
/// Two names that would meet in one, or a title that is a word of the language.
pub fn definitions(client: &Client) -> Result<String, Unusable> {
    let words = KEYWORDS.iter().map(|word| (*word).to_owned());
    client.names_apart(
        "Python",
        words.chain(["SCHEMA_VERSION".to_owned()]),
        |def| match &def.shape {
            Shape::Union(union) => vec![def.title.clone(), list_name(&def.title, &union.tag)],
            _ => vec![def.title.clone()],
        },
    )?;
    let mut page = Page {
        text: head(client),
        defined: BTreeSet::new(),
    };
    for def in client.root_last() {
        page.text.push_str("\n\n");
        match &def.shape {
            Shape::Object(fields) if fields.iter().all(|field| can_be_a_name(&field.name)) => {
                page.class(def, fields);
            }
            Shape::Object(fields) => page.call(def, fields),
            Shape::Values(values) => {
                let title = &def.title;
                let _ = writeln!(page.text, "{title}: typing.TypeAlias = typing.Union[");
                page.text.push_str("    typing.Literal[\n");
                for value in values {
                    let _ = writeln!(page.text, "        {},", quoted(value));
                }
                page.text.push_str("    ],\n    str,\n]\n");
                docstring(&mut page.text, "", &def.text());
            }
            Shape::Union(union) => page.union(def, union),
            Shape::StringOrArray(either) => {
                let items = page.ty(&either.items);
                let title = &def.title;
                let _ = writeln!(
                    page.text,
                    "{title}: typing.TypeAlias = typing.Union[str, list[{items}]]"
                );
                let parts = [
                    def.text(),
                    format!("A string: {}", either.string),
                    format!("A list: {}", either.array),
                ];
                docstring(&mut page.text, "", &parts.join("\n"));
            }
        }
        page.defined.insert(&def.title);
    }
    Ok(page.text)
}

fn head(client: &Client) -> String {
    let root = &client.root;
    let guard = names::snake(root);
    let tag = match client.defs.get(root).map(|def| &def.shape) {
        Some(Shape::Union(union)) => union.tag.as_str(),
        _ => "type",
    };
    let mut text = format!(
        "# Made from the schema by `{command}`; do not edit.\n\
         \"\"\"Types of what `json.loads` makes of each line; for Python 3.11 and later.\n\n\
         A reader keeps what it knows, and narrows by the discriminator:\n\n    \
             value = json.loads(line)\n    \
             if is_{guard}(value):\n        \
                 if value[\"{tag}\"] == …:\n\n\
         A later version may add members to a union, keys to a dictionary, and values to a string that is\n\
         typed as a union of literals and `str`, so let what no branch takes pass. Keys that are not\n\
         required are absent, never None, where they have nothing to say.\n\
         \"\"\"\n\n\
         import typing\n",
        command = client.command(Language::Python),
    );
    if let Some(version) = &client.version {
        let _ = writeln!(text, "\nSCHEMA_VERSION: typing.Final = {}", quoted(version));
        docstring(
            &mut text,
            "",
            "Version of the schema that this was made from.",
        );
    }
    text.push_str(
        "\n\n\
         def _tag(value: object, key: str) -> object:\n    \
             if isinstance(value, dict):\n        \
                 return typing.cast(\"dict[str, object]\", value).get(key)\n    \
             return None\n",
    );
    text
}

/// Whether a field can stand in the body of a class: it is a name there, and hides no type.
fn can_be_a_name(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with("__")
        && !name.starts_with(|c: char| c.is_ascii_uppercase())
        && !KEYWORDS.contains(&name)
        && !USED.contains(&name)
}

struct Page<'a> {
    text: String,
    /// The titles that stand above; the others are named in quotes.
    defined: BTreeSet<&'a str>,
}

impl Page<'_> {
    fn class(&mut self, def: &Def, fields: &[Field]) {
        let _ = writeln!(self.text, "class {}(typing.TypedDict):", def.title);
        docstring(&mut self.text, "    ", &def.text());
        for field in fields {
            let ty = self.field(field);
            let _ = writeln!(self.text, "\n    {}: {ty}", field.name);
            docstring(&mut self.text, "    ", &field.description);
        }
        // A class needs a body.
        if def.text().is_empty() && fields.is_empty() {
            self.text.push_str("    pass\n");
        }
    }

    /// The other notation, for keys that are no names.
    fn call(&mut self, def: &Def, fields: &[Field]) {
        let title = &def.title;
        let _ = writeln!(
            self.text,
            "{title} = typing.TypedDict(\n    {},\n    {{",
            quoted(title)
        );
        for field in fields {
            comment(&mut self.text, "        ", &field.description);
            let ty = self.field(field);
            let _ = writeln!(self.text, "        {}: {ty},", quoted(&field.name));
        }
        self.text.push_str("    },\n)\n");
        docstring(&mut self.text, "", &def.text());
    }

    fn union(&mut self, def: &Def, union: &Union) {
        let title = &def.title;
        let tag = &union.tag;
        let _ = writeln!(self.text, "{title}: typing.TypeAlias = typing.Union[");
        for member in &union.members {
            let member = self.name(&member.title);
            let _ = writeln!(self.text, "    {member},");
        }
        self.text.push_str("]\n");
        docstring(&mut self.text, "", &def.text());

        let list = list_name(title, tag);
        let _ = writeln!(self.text, "\n{list}: typing.Final = (");
        for value in union.values() {
            let _ = writeln!(self.text, "    {},", quoted(value));
        }
        self.text.push_str(")\n");
        let what = format!("Every `{tag}` of {title} that this module knows.");
        docstring(&mut self.text, "", &what);

        let _ = writeln!(
            self.text,
            "\n\ndef is_{}(value: object) -> typing.TypeGuard[{title}]:",
            names::snake(title)
        );
        let what = format!(
            "Whether `value` is a dictionary with a `{tag}` that this module knows; the rest of it is \
             taken on trust."
        );
        docstring(&mut self.text, "    ", &what);
        let _ = writeln!(
            self.text,
            "    return _tag(value, {}) in {list}",
            quoted(tag)
        );
    }

    fn field(&self, field: &Field) -> String {
        let ty = self.ty(&field.ty);
        if field.required {
            ty
        } else {
            format!("typing.NotRequired[{ty}]")
        }
    }

    fn ty(&self, ty: &Type) -> String {
        match ty {
            Type::Any => "typing.Any".into(),
            Type::Map => "dict[str, typing.Any]".into(),
            Type::String => "str".into(),
            Type::Boolean => "bool".into(),
            Type::Integer { .. } => "int".into(),
            Type::Number => "float".into(),
            Type::Const(value) => format!("typing.Literal[{}]", literal(value)),
            Type::Array(items) => format!("list[{}]", self.ty(items)),
            Type::Ref(title) => self.name(title),
            Type::Nullable(inner) => format!("typing.Optional[{}]", self.ty(inner)),
        }
    }

    fn name(&self, title: &str) -> String {
        if self.defined.contains(title) {
            title.to_owned()
        } else {
            quoted(title)
        }
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::Null => "None".into(),
        value => value.to_string(),
    }
}

/// A string that stands below what it describes; none without text.
fn docstring(text: &mut String, indent: &str, what: &str) {
    let mut what = what.trim_end().replace('\\', "\\\\");
    // The last quote would meet those that follow, unless it is escaped below with its neighbours.
    let quotes = what.len() - what.trim_end_matches('"').len();
    if !quotes.is_multiple_of(3) {
        what.insert(what.len() - 1, '\\');
    }
    let what = what.replace("\"\"\"", "\\\"\\\"\\\"");
    let lines = wrapped(&what, WIDTH - indent.len() - 3);
    match &lines[..] {
        [] => {}
        [only] if indent.len() + only.chars().count() + 6 <= WIDTH => {
            let _ = writeln!(text, "{indent}\"\"\"{only}\"\"\"");
        }
        lines => {
            for (i, line) in lines.iter().enumerate() {
                let quotes = if i == 0 { "\"\"\"" } else { "" };
                let _ = writeln!(text, "{}", format!("{indent}{quotes}{line}").trim_end());
            }
            let _ = writeln!(text, "{indent}\"\"\"");
        }
    }
}

fn comment(text: &mut String, indent: &str, what: &str) {
    for line in wrapped(what, WIDTH - indent.len() - 2) {
        let _ = writeln!(text, "{}", format!("{indent}# {line}").trim_end());
    }
}
