//! Definitions for Go: structs, and for each union a wrapper that reads the member its
//! discriminator names and keeps what it does not know.

use super::client::{Client, Def, Language, Shape, Union, Unusable, quoted, wrapped};
use super::model::{Field, StringOrArray, Type};
use super::names;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The widest a line of a comment gets.
const WIDTH: usize = 100;

/// Words that Go writes in capitals.
const INITIALS: [&str; 7] = ["api", "http", "id", "ids", "json", "ui", "url"];

const KEYWORDS: [&str; 25] = [
    "break",
    "case",
    "chan",
    "const",
    "continue",
    "default",
    "defer",
    "else",
    "fallthrough",
    "for",
    "func",
    "go",
    "goto",
    "if",
    "import",
    "interface",
    "map",
    "package",
    "range",
    "return",
    "select",
    "struct",
    "switch",
    "type",
    "var",
];

/// What is declared besides the defs.
const UNKNOWN: &str = "Unknown";
const VERSION: &str = "SchemaVersion";

/// The definitions as the text of a file, formatted as gofmt does.
///
/// # Errors
/// Two names that would meet in one.
pub fn definitions(client: &Client) -> Result<String, Unusable> {
    let mut page = Page {
        client,
        text: String::new(),
        names: names_of(client)?,
    };
    page.head();
    for def in client.root_first() {
        page.text.push('\n');
        match &def.shape {
            Shape::Object(fields) => page.structure(def, fields)?,
            Shape::Values(values) => page.values(def, values),
            Shape::Union(union) => page.union(def, union),
            Shape::StringOrArray(either) => page.either(def, either),
        }
    }
    page.unknown();
    Ok(page.text)
}

/// The names at the top level of the package, the constants of known values aside.
fn names_of(client: &Client) -> Result<BTreeSet<String>, Unusable> {
    let mut functions: BTreeMap<String, &str> = BTreeMap::new();
    for (title, def) in &client.defs {
        if let Shape::Union(Union { tag, .. }) = &def.shape
            && let Some(other) = functions.insert(tag_function(tag), tag)
            && other != tag
        {
            return Err(Unusable {
                place: format!("/$defs/{title}"),
                what: format!("its discriminator `{tag}` is spelled as `{other}` in Go"),
            });
        }
    }
    let taken = [UNKNOWN.to_owned(), VERSION.to_owned()];
    client.names_apart("Go", taken, |def| {
        let title = &def.title;
        let value = matches!(def.shape, Shape::Union(_)).then(|| format!("{title}Value"));
        [Some(title.clone()), value].into_iter().flatten().collect()
    })
}

struct Page<'a> {
    client: &'a Client,
    text: String,
    names: BTreeSet<String>,
}

impl Page<'_> {
    fn head(&mut self) {
        let root = &self.client.root;
        let package: String = names::snake(&self.client.name).replace('_', "");
        // A package `main` is a program, and one `documentation` is left out.
        let special = ["main", "documentation"].contains(&package.as_str());
        let package = if special || KEYWORDS.contains(&package.as_str()) {
            package + "wire"
        } else {
            package
        };
        let _ = write!(
            self.text,
            "// Code generated from the schema by `{command}`. DO NOT EDIT.\n\n\
             // Package {package} has the types of a line of JSON that {root} describes.\n\
             //\n\
             // Unmarshal a line into a {root} and switch over its Value:\n\
             //\n\
             //\tvar line {package}.{root}\n\
             //\tif err := json.Unmarshal(data, &line); err != nil {{ … }}\n\
             //\tswitch value := line.Value.(type) {{ … }}\n\
             //\n\
             // A later version may add members to a union, fields to an object, and values to a string type.\n\
             // Members that this package does not know are read as *{UNKNOWN} and written as they were, new\n\
             // values are kept, and new fields are passed over. A pointer that is nil, an empty\n\
             // json.RawMessage and an empty value of a string type stand for an absent field. Fields with one\n\
             // possible value, such as the discriminators, are filled in by MarshalJSON.\n\
             package {package}\n\n",
            command = self.client.command(Language::Go),
        );
        let imports: &[&str] = if self.has_either() {
            &["bytes", "encoding/json"]
        } else {
            &["encoding/json"]
        };
        match imports {
            [only] => {
                let _ = writeln!(self.text, "import {}", quoted(only));
            }
            imports => {
                self.text.push_str("import (\n");
                for import in imports {
                    let _ = writeln!(self.text, "\t{}", quoted(import));
                }
                self.text.push_str(")\n");
            }
        }
        if let Some(version) = &self.client.version {
            let _ = write!(
                self.text,
                "\n// {VERSION} is the version of the schema that this was made from.\n\
                 const {VERSION} = {}\n",
                quoted(version)
            );
        }
    }

    fn has_either(&self) -> bool {
        let mut defs = self.client.root_first().into_iter();
        defs.any(|def| matches!(def.shape, Shape::StringOrArray(_)))
    }

    /// The comment of a def, which begins with its name.
    fn comment(&mut self, def: &Def) {
        match def.text().as_str() {
            "" => comment(&mut self.text, "", &def.title),
            text => comment(&mut self.text, "", &format!("{}: {text}", def.title)),
        }
    }

    fn structure(&mut self, def: &Def, fields: &[Field]) -> Result<(), Unusable> {
        let title = &def.title;
        self.comment(def);
        if fields.is_empty() {
            let _ = writeln!(self.text, "type {title} struct{{}}");
            return Ok(());
        }
        let _ = writeln!(self.text, "type {title} struct {{");
        let mut taken = BTreeMap::new();
        for (i, field) in fields.iter().enumerate() {
            let name = exported(&field.name);
            if let Some(other) = taken.insert(name.clone(), &field.name) {
                return Err(Unusable {
                    place: format!("/$defs/{title}/properties/{}", field.name),
                    what: format!("would be the same field as `{other}` in Go, `{name}`"),
                });
            }
            if i > 0 {
                self.text.push('\n');
            }
            comment(&mut self.text, "\t", &field.description);
            let (ty, omit) = self.field(field);
            let _ = writeln!(self.text, "\t{name} {ty} `json:\"{}{omit}\"`", field.name);
        }
        self.text.push_str("}\n");
        self.write_whole(title, fields);
        Ok(())
    }

    /// `MarshalJSON` for a struct whose zero value would not be one of its kind.
    fn write_whole(&mut self, title: &str, fields: &[Field]) {
        let mut body = String::new();
        for field in fields.iter().filter(|field| field.required) {
            let name = exported(&field.name);
            let (zero, value) = match &field.ty {
                Type::Const(Value::String(value)) => ("\"\"".to_owned(), quoted(value)),
                Type::Const(Value::Bool(true)) => {
                    let _ = writeln!(body, "\tv.{name} = true");
                    continue;
                }
                Type::Const(value @ Value::Number(_)) => ("0".to_owned(), value.to_string()),
                Type::Array(_) => ("nil".to_owned(), format!("{}{{}}", ty(&field.ty))),
                Type::Map => ("nil".to_owned(), "json.RawMessage(\"{}\")".to_owned()),
                _ => continue,
            };
            let _ = writeln!(
                body,
                "\tif v.{name} == {zero} {{\n\t\tv.{name} = {value}\n\t}}"
            );
        }
        if !body.is_empty() {
            let _ = write!(
                self.text,
                "\n// MarshalJSON fills in what every {title} has.\n\
                 func (v {title}) MarshalJSON() ([]byte, error) {{\n\
                 \ttype plain {title}\n\
                 {body}\
                 \treturn json.Marshal(plain(v))\n\
                 }}\n"
            );
        }
    }

    fn values(&mut self, def: &Def, values: &[String]) {
        let title = &def.title;
        self.comment(def);
        let _ = write!(
            self.text,
            "type {title} string\n\n// The values of {title} that this package knows.\nconst (\n"
        );
        let mut constants = Vec::new();
        for value in values {
            let mut name = format!("{title}{}", exported_part(value));
            while !self.names.insert(name.clone()) {
                name.push('_');
            }
            constants.push((name, value));
        }
        let width = constants.iter().map(|(name, _)| name.len()).max();
        let width = width.unwrap_or_default();
        for (name, value) in constants {
            let _ = writeln!(self.text, "\t{name:width$} {title} = {}", quoted(value));
        }
        self.text.push_str(")\n");
    }

    fn union(&mut self, def: &Def, union: &Union) {
        let title = &def.title;
        let tag = &union.tag;
        self.comment(def);
        let _ = write!(
            self.text,
            "type {title} struct {{\n\
             \tValue {title}Value\n\
             }}\n\n\
             // {title}Value is one of the pointers that follow, told apart by `{tag}`.\n\
             type {title}Value interface {{\n\
             \tis{title}()\n\
             }}\n\n"
        );
        let members = union.members.iter().map(|member| member.title.as_str());
        let members: Vec<&str> = members.chain([UNKNOWN]).collect();
        let width = members.iter().map(|member| member.len()).max();
        let width = width.unwrap_or_default();
        for member in members {
            let pad = width - member.len();
            let _ = writeln!(self.text, "func (*{member}) is{title}(){:pad$} {{}}", "");
        }
        let _ = write!(
            self.text,
            "\n// UnmarshalJSON reads the member that `{tag}` names, and *{UNKNOWN} where it names none.\n\
             func (u *{title}) UnmarshalJSON(data []byte) error {{\n\
             \tif string(data) == \"null\" {{\n\
             \t\treturn nil\n\
             \t}}\n\
             \ttag := {function}(data)\n\
             \tvar value {title}Value\n\
             \tswitch tag {{\n",
            function = tag_function(tag)
        );
        for member in &union.members {
            let values: Vec<String> = member.values.iter().map(|value| quoted(value)).collect();
            let _ = write!(
                self.text,
                "\tcase {}:\n\t\tvalue = new({})\n",
                values.join(", "),
                member.title
            );
        }
        let _ = write!(
            self.text,
            "\tdefault:\n\
             \t\tu.Value = &{UNKNOWN}{{Tag: tag, Raw: append(json.RawMessage(nil), data...)}}\n\
             \t\treturn nil\n\
             \t}}\n\
             \tif err := json.Unmarshal(data, value); err != nil {{\n\
             \t\treturn err\n\
             \t}}\n\
             \tu.Value = value\n\
             \treturn nil\n\
             }}\n\n\
             // MarshalJSON writes the member.\n\
             func (u {title}) MarshalJSON() ([]byte, error) {{\n\
             \treturn json.Marshal(u.Value)\n\
             }}\n"
        );
    }

    fn either(&mut self, def: &Def, either: &StringOrArray) {
        let title = &def.title;
        let items = ty(&either.items);
        self.comment(def);
        let _ = writeln!(self.text, "type {title} struct {{");
        let string = format!("{} Used while Items is nil.", either.string);
        comment(&mut self.text, "\t", string.trim_start());
        self.text.push_str("\tText string\n\n");
        let array = format!("{} Nil for a string.", either.array);
        comment(&mut self.text, "\t", array.trim_start());
        let _ = write!(
            self.text,
            "\tItems []{items}\n\
             }}\n\n\
             // UnmarshalJSON reads a string or an array.\n\
             func (v *{title}) UnmarshalJSON(data []byte) error {{\n\
             \t*v = {title}{{}}\n\
             \tif bytes.HasPrefix(data, []byte(\"[\")) {{\n\
             \t\treturn json.Unmarshal(data, &v.Items)\n\
             \t}}\n\
             \treturn json.Unmarshal(data, &v.Text)\n\
             }}\n\n\
             // MarshalJSON writes the array if there is one, else the string.\n\
             func (v {title}) MarshalJSON() ([]byte, error) {{\n\
             \tif v.Items != nil {{\n\
             \t\treturn json.Marshal(v.Items)\n\
             \t}}\n\
             \treturn json.Marshal(v.Text)\n\
             }}\n"
        );
    }

    /// What unions hold when they do not know their member, and how a discriminator is found.
    fn unknown(&mut self) {
        let mut tags = BTreeSet::new();
        for def in self.client.root_first() {
            if let Shape::Union(union) = &def.shape {
                tags.insert(union.tag.as_str());
            }
        }
        let _ = write!(
            self.text,
            "\n// {UNKNOWN} is a member of a union that this package does not know.\n\
             type {UNKNOWN} struct {{\n\
             \t// The value of the discriminator, empty if there is none.\n\
             \tTag string\n\n\
             \t// The member as it was read.\n\
             \tRaw json.RawMessage\n\
             }}\n\n\
             // MarshalJSON writes the member as it was read.\n\
             func (v {UNKNOWN}) MarshalJSON() ([]byte, error) {{\n\
             \treturn v.Raw.MarshalJSON()\n\
             }}\n"
        );
        for tag in tags {
            let _ = write!(
                self.text,
                "\nfunc {function}(data []byte) string {{\n\
                 \tvar tag struct {{\n\
                 \t\tValue any `json:\"{tag}\"`\n\
                 \t}}\n\
                 \t// What is no object has no discriminator.\n\
                 \t_ = json.Unmarshal(data, &tag)\n\
                 \ttext, _ := tag.Value.(string)\n\
                 \treturn text\n\
                 }}\n",
                function = tag_function(tag)
            );
        }
    }

    /// The type of a field, and what its tag says of absence.
    fn field(&self, field: &Field) -> (String, &'static str) {
        let ty = ty(&field.ty);
        if field.required {
            return (ty, "");
        }
        // Those that can tell absence by themselves are spared the pointer. An empty array is not an
        // absent one.
        let bare = match &field.ty {
            Type::Any | Type::Map => true,
            Type::Ref(title) => self.is_values(title),
            _ => false,
        };
        (if bare { ty } else { format!("*{ty}") }, ",omitempty")
    }

    fn is_values(&self, title: &str) -> bool {
        let def = self.client.defs.get(title);
        def.is_some_and(|def| matches!(def.shape, Shape::Values(_)))
    }
}

fn ty(of: &Type) -> String {
    match of {
        // As it was written: keys in order, numbers in full.
        Type::Any | Type::Map | Type::Const(Value::Null | Value::Array(_) | Value::Object(_)) => {
            "json.RawMessage".into()
        }
        Type::String | Type::Const(Value::String(_)) => "string".into(),
        Type::Boolean | Type::Const(Value::Bool(_)) => "bool".into(),
        Type::Integer { .. } | Type::Const(Value::Number(_)) => "int64".into(),
        Type::Number => "float64".into(),
        Type::Array(items) => format!("[]{}", ty(items)),
        Type::Ref(title) => title.clone(),
        Type::Nullable(inner) => format!("*{}", ty(inner)),
    }
}

/// The function that finds the discriminator `tag`.
fn tag_function(tag: &str) -> String {
    format!("tag{}", exported_part(tag))
}

/// `contentIndex` becomes `ContentIndex`, `agentId` becomes `AgentID`.
fn exported(name: &str) -> String {
    let part = exported_part(name);
    // A field cannot be called as a method.
    let method = ["MarshalJSON", "UnmarshalJSON"].contains(&part.as_str());
    if part.starts_with(|c: char| c.is_ascii_uppercase()) && !method {
        part
    } else {
        format!("X{part}")
    }
}

fn exported_part(name: &str) -> String {
    let words = names::words(name).into_iter().map(|word| {
        if INITIALS.contains(&word.as_str()) {
            return word.to_ascii_uppercase().replace("IDS", "IDs");
        }
        names::pascal(&word)
    });
    words.collect()
}

/// A comment; none without text.
fn comment(text: &mut String, indent: &str, what: &str) {
    for mut line in wrapped(what, WIDTH - indent.len() - 3) {
        // It would tell for which systems the file is.
        if line.starts_with("+build") {
            line.insert(0, '\\');
        }
        let _ = writeln!(text, "{}", format!("{indent}// {line}").trim_end());
    }
}
