//! A bundle as a graph of types: what the comparison looks at.

use crate::codegen::bundle;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// One bundle.
#[derive(Clone, Debug)]
pub(super) struct Bundle {
    /// The wire, `session`, or what the root is called.
    pub(super) name: String,
    /// The title of the root.
    pub(super) root: String,
    /// Whether it has what is only read: an open bundle.
    pub(super) open: bool,
    /// Every def by its title, the root included.
    pub(super) defs: BTreeMap<String, Def>,
}

/// One def.
#[derive(Clone, Debug)]
pub(super) struct Def {
    pub(super) description: String,
    /// Those of a string and an array that the def is one of.
    pub(super) parts: Vec<Value>,
    pub(super) examples: Value,
    pub(super) read_only: bool,
    pub(super) node: Node,
}

/// What values look like.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Any,
    /// An object with any keys.
    Map,
    String,
    Boolean,
    Integer(Option<i64>),
    Number(Option<i64>),
    Const(Value),
    /// Strings; `fixed` if readers cannot count on more of them.
    Enum {
        values: Vec<String>,
        fixed: bool,
    },
    Array(Box<Node>),
    Nullable(Box<Node>),
    /// A string, or an array of this.
    Either(Box<Node>),
    Ref(String),
    Object(Vec<Field>),
    /// The discriminator, and the titles of the members by its values.
    Union {
        tag: String,
        members: Vec<(String, String)>,
    },
    /// What the vocabulary of our bundles does not have.
    Other(Value),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) required: bool,
    pub(super) node: Node,
}

/// Keywords that say nothing about what is valid.
const WORDS: [&str; 9] = [
    "$schema",
    "$id",
    "$comment",
    "$defs",
    "title",
    "description",
    "examples",
    "readOnly",
    "discriminator",
];

impl Bundle {
    /// Reads the document of a bundle.
    ///
    /// # Errors
    /// Why it is none.
    pub(super) fn read(document: &Value) -> Result<Self, String> {
        let root = document
            .get("title")
            .and_then(Value::as_str)
            .ok_or("it has no `title`")?;
        let defs = document
            .get("$defs")
            .and_then(Value::as_object)
            .ok_or("it has no `$defs`")?;
        if document.get("oneOf").is_none() {
            return Err("its root is no union (`oneOf`)".to_owned());
        }
        let is_empty = |def: &Value| def.get("oneOf").is_some_and(|all| all == &json!([]));
        let mut all = defs.iter().map(|(title, def)| (title.as_str(), def));
        let empty = all.find(|(_, def)| is_empty(def));
        if let Some((title, _)) = is_empty(document).then_some((root, document)).or(empty) {
            return Err(format!("`{title}` is a union without members"));
        }
        let mut reader = Reader {
            root,
            raw: defs,
            open: !is_closed(document),
            missing: None,
        };
        let mut all = BTreeMap::from([(root.to_owned(), reader.def(document))]);
        for (title, def) in defs {
            let def = reader.def(def);
            if all.insert(title.clone(), def).is_some() {
                return Err(format!("`{title}` is its root and one of its `$defs`"));
            }
        }
        if let Some(missing) = reader.missing {
            return Err(format!("it refers to `{missing}`, which it does not have"));
        }
        let name = bundle::name(document).unwrap_or(root);
        let mut bundle = Self {
            name: name.to_owned(),
            root: root.to_owned(),
            open: reader.open,
            defs: all,
        };
        bundle.settle();
        Ok(bundle)
    }

    /// The node that a reference leads to.
    pub(super) fn resolve<'a>(&'a self, mut node: &'a Node) -> &'a Node {
        // A chain of references to references ends after as many as there are defs.
        for _ in 0..=self.defs.len() {
            match node {
                Node::Ref(title) => match self.defs.get(title) {
                    Some(def) => node = &def.node,
                    None => return &Node::Any,
                },
                node => return node,
            }
        }
        &Node::Any
    }

    /// The const field `tag` of the object `title`, or of all members of the union it is.
    fn value(&self, title: &str, tag: &str, depth: usize) -> Option<String> {
        match &self.defs.get(title)?.node {
            Node::Object(fields) => {
                let field = fields.iter().find(|field| field.name == tag)?;
                match (&field.node, field.required) {
                    (Node::Const(Value::String(value)), true) => Some(value.clone()),
                    _ => None,
                }
            }
            Node::Union { members, .. } if depth < 8 => {
                let mut values = members
                    .iter()
                    .map(|(_, title)| self.value(title, tag, depth + 1));
                let first = values.next()??;
                values
                    .all(|value| value.as_ref() == Some(&first))
                    .then_some(first)
            }
            _ => None,
        }
    }

    /// Gives the members of unions their values; a union that is not told apart by them is `Other`.
    fn settle(&mut self) {
        let mut settled = Vec::new();
        for (title, def) in &self.defs {
            let Node::Union { tag, members } = &def.node else {
                continue;
            };
            let values = members.iter().map(|(_, member)| {
                let value = self.value(member, tag, 0)?;
                Some((value, member.clone()))
            });
            let node = match values.collect::<Option<Vec<_>>>() {
                Some(members) => Node::Union {
                    tag: tag.clone(),
                    members,
                },
                None => Node::Other(
                    members
                        .iter()
                        .map(|(_, title)| Value::from(title.as_str()))
                        .collect(),
                ),
            };
            settled.push((title.clone(), node));
        }
        for (title, node) in settled {
            if let Some(def) = self.defs.get_mut(&title) {
                def.node = node;
            }
        }
    }

    /// The titles that a node refers to.
    pub(super) fn targets(node: &Node) -> Vec<&str> {
        match node {
            Node::Ref(title) => vec![title],
            Node::Array(inner) | Node::Nullable(inner) | Node::Either(inner) => {
                Self::targets(inner)
            }
            Node::Object(fields) => fields
                .iter()
                .flat_map(|field| Self::targets(&field.node))
                .collect(),
            Node::Union { members, .. } => members.iter().map(|(_, title)| &**title).collect(),
            _ => Vec::new(),
        }
    }

    /// The discriminator's value of the def `title` in the unions that it is a member of.
    pub(super) fn event(&self, title: &str) -> Option<&str> {
        self.defs.values().find_map(|def| match &def.node {
            Node::Union { members, .. } => members
                .iter()
                .find(|(_, member)| member == title)
                .map(|(value, _)| &**value),
            _ => None,
        })
    }

    /// The values of the root's discriminator.
    pub(super) fn lines(&self) -> impl Iterator<Item = (&str, &str)> {
        let members = match self.defs.get(&self.root).map(|def| &def.node) {
            Some(Node::Union { members, .. }) => &members[..],
            _ => &[],
        };
        members.iter().map(|(value, title)| (&**value, &**title))
    }
}

/// Whether an object in it takes no further fields, as in strict bundles.
fn is_closed(value: &Value) -> bool {
    match value {
        Value::Object(map) => {
            (map.get("additionalProperties") == Some(&Value::Bool(false))
                && map.contains_key("properties"))
                || map
                    .iter()
                    .any(|(key, value)| key != "examples" && is_closed(value))
        }
        Value::Array(list) => list.iter().any(is_closed),
        _ => false,
    }
}

struct Reader<'a> {
    root: &'a str,
    raw: &'a Map<String, Value>,
    open: bool,
    missing: Option<String>,
}

impl Reader<'_> {
    fn def(&mut self, json: &Value) -> Def {
        let text = |key: &str| json.get(key).and_then(Value::as_str).unwrap_or_default();
        let mut description = text("description");
        if json.get("x-known-values").is_some()
            && let Some((words, _)) = description.rsplit_once(" Known values: ")
        {
            // The bundler adds these; the values are compared by themselves.
            description = words;
        }
        let parts = json.get("oneOf").and_then(Value::as_array);
        Def {
            description: description.to_owned(),
            parts: parts
                .into_iter()
                .flatten()
                .filter_map(|part| part.get("description").cloned())
                .collect(),
            examples: json.get("examples").cloned().unwrap_or_default(),
            read_only: json.get("readOnly") == Some(&Value::Bool(true)),
            node: self.node(json),
        }
    }

    fn node(&mut self, json: &Value) -> Node {
        if json == &Value::Bool(true) {
            return Node::Any;
        }
        let Some(json) = json.as_object() else {
            return Node::Other(json.clone());
        };
        let said: Map<String, Value> = json
            .iter()
            .filter(|(key, _)| !WORDS.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        self.known(json, &said).unwrap_or(Node::Other(said.into()))
    }

    /// The node, if `said` is in the vocabulary of our bundles.
    fn known(&mut self, json: &Map<String, Value>, said: &Map<String, Value>) -> Option<Node> {
        let only = |keys: &[&str]| said.keys().all(|key| keys.contains(&key.as_str()));
        if said.is_empty() {
            return Some(Node::Any);
        }
        if let Some(target) = said.get("$ref") {
            return only(&["$ref"]).then(|| self.reference(target.as_str()?))?;
        }
        if let Some(parts) = said.get("allOf").and_then(Value::as_array) {
            return match &parts[..] {
                [part] if only(&["allOf"]) => Some(self.node(part)),
                _ => None,
            };
        }
        if let Some(members) = said.get("oneOf").and_then(Value::as_array) {
            return only(&["oneOf"]).then(|| self.one_of(json, members))?;
        }
        if let Some(value) = said.get("const") {
            return only(&["type", "const"]).then(|| Node::Const(value.clone()));
        }
        let strings = |value: &Value| -> Option<Vec<String>> {
            let values = value.as_array()?.iter();
            values
                .map(|value| value.as_str().map(str::to_owned))
                .collect()
        };
        if let Some(values) = said.get("enum") {
            let values = strings(values)?;
            return only(&["type", "enum"]).then_some(Node::Enum {
                values,
                fixed: self.open,
            });
        }
        let minimum = match said.get("minimum") {
            Some(minimum) => Some(minimum.as_i64()?),
            None => None,
        };
        match said.get("type")?.as_str()? {
            "string" => match said.get("x-known-values") {
                Some(values) => only(&["type", "x-known-values"]).then_some(Node::Enum {
                    values: strings(values)?,
                    fixed: false,
                }),
                None => only(&["type"]).then_some(Node::String),
            },
            "boolean" => only(&["type"]).then_some(Node::Boolean),
            "integer" => only(&["type", "minimum"]).then_some(Node::Integer(minimum)),
            "number" => only(&["type", "minimum"]).then_some(Node::Number(minimum)),
            "array" => only(&["type", "items"]).then(|| {
                let items = said
                    .get("items")
                    .map_or(Node::Any, |items| self.node(items));
                Node::Array(Box::new(items))
            }),
            "object" => self.object(said),
            _ => None,
        }
    }

    fn reference(&mut self, target: &str) -> Option<Node> {
        if target == "#" {
            return Some(Node::Ref(self.root.to_owned()));
        }
        let title = target.strip_prefix("#/$defs/")?;
        if !self.raw.contains_key(title) {
            self.missing.get_or_insert_with(|| target.to_owned());
        }
        Some(Node::Ref(title.to_owned()))
    }

    fn one_of(&mut self, json: &Map<String, Value>, members: &[Value]) -> Option<Node> {
        let ty = |member: &Value| {
            member
                .get("type")
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        if let [first, second] = members {
            if ty(second).as_deref() == Some("null") {
                return Some(Node::Nullable(Box::new(self.node(first))));
            }
            let nodes = (self.node(first), self.node(second));
            if let (Node::String, Node::Array(items)) = nodes {
                return Some(Node::Either(items));
            }
        }
        let titles = members.iter().map(|member| match self.node(member) {
            Node::Ref(title) => Some((String::new(), title)),
            _ => None,
        });
        let members: Vec<_> = titles.collect::<Option<_>>()?;
        let tag = json
            .get("discriminator")
            .and_then(|discriminator| discriminator.get("propertyName")?.as_str())
            .unwrap_or("type");
        Some(Node::Union {
            tag: tag.to_owned(),
            members,
        })
    }

    fn object(&mut self, said: &Map<String, Value>) -> Option<Node> {
        let more = said.get("additionalProperties");
        let Some(properties) = said.get("properties") else {
            let open = more.is_none_or(|more| more == &Value::Bool(true));
            let alone = said
                .keys()
                .all(|key| ["type", "additionalProperties"].contains(&key.as_str()));
            return (open && alone).then_some(Node::Map);
        };
        let known = ["type", "properties", "required", "additionalProperties"];
        let closed = more.is_none_or(|more| more == &Value::Bool(false));
        if !closed || said.keys().any(|key| !known.contains(&key.as_str())) {
            return None;
        }
        let required: Vec<&str> = said
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let properties = properties.as_object()?;
        if required.iter().any(|name| !properties.contains_key(*name)) {
            return None;
        }
        let fields = properties.iter().map(|(name, field)| Field {
            name: name.clone(),
            description: field
                .get("description")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            required: required.contains(&name.as_str()),
            node: self.node(field),
        });
        Some(Node::Object(fields.collect()))
    }
}
