//! From a bundle to the table.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::names::Names;
use super::sink::escape;
use super::{Branch, Checker, Node, Object, Property, Rule, TRACKED, Union};
use crate::contract::json::types::Types;

/// The node of the whole bundle.
pub(super) const ROOT: usize = 0;

/// Keywords that say nothing about what is valid.
const ANNOTATIONS: [&str; 9] = [
    "$schema",
    "$id",
    "$defs",
    "title",
    "description",
    "examples",
    "readOnly",
    "discriminator",
    "x-known-values",
];

/// How many references are followed at once: a way in a circle has to end, and is found later.
const MAX_STEPS: usize = 64;

/// Why a document is no bundle. Each place is a JSON pointer into it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// A keyword that bundles do not have.
    #[error("{pointer}: bundles have no such keyword")]
    UnknownKeyword {
        /// The keyword.
        pointer: String,
    },
    /// A keyword, or a place for a schema, that holds something else.
    #[error("{pointer}: expected {expected}")]
    Malformed {
        /// The place.
        pointer: String,
        /// What should be there.
        expected: &'static str,
    },
    /// A reference that leads nowhere in the bundle.
    #[error("{pointer}: nothing is at {target}")]
    Dangling {
        /// The reference.
        pointer: String,
        /// Where it should lead.
        target: String,
    },
    /// References that lead back to themselves for the same value.
    #[error("{pointer}: leads back to itself")]
    Endless {
        /// One of the schemas on the way.
        pointer: String,
    },
}

pub(super) fn compile(bundle: &Value) -> Result<Checker, CompileError> {
    let mut compiler = Compiler {
        bundle,
        nodes: Vec::new(),
        known: HashMap::new(),
    };
    // The root is the first, also where it is no more than a reference.
    compiler.place("", bundle)?;
    let mut defs = Vec::new();
    let title = bundle.get("title").and_then(Value::as_str);
    defs.extend(title.map(|title| (title, ROOT)));
    if let Some(all) = bundle.get("$defs") {
        let all = object(all, "/$defs")?;
        for (title, schema) in all {
            let pointer = format!("/$defs/{}", escape(title));
            defs.push((title, compiler.node(pointer, schema)?));
        }
    }
    let titles = Names::new(defs.iter().map(|(title, _)| *title));
    let mut nodes = compiler.nodes;
    finite(&nodes)?;
    tie(&mut nodes);
    Ok(Checker {
        nodes: nodes.into(),
        titles,
        defs: defs.into_iter().map(|(_, node)| node).collect(),
    })
}

struct Compiler<'b> {
    bundle: &'b Value,
    nodes: Vec<Node>,
    /// The node of each place.
    known: HashMap<String, usize>,
}

impl<'b> Compiler<'b> {
    /// The node of a schema, after the references that it may be made of.
    fn node(&mut self, pointer: String, schema: &'b Value) -> Result<usize, CompileError> {
        let (pointer, schema) = self.follow(pointer, schema)?;
        match self.known.get(&pointer) {
            Some(node) => Ok(*node),
            None => self.place(&pointer, schema),
        }
    }

    /// Where a schema leads that is no more than a reference, or an `allOf` of one.
    fn follow(
        &self,
        mut pointer: String,
        mut schema: &'b Value,
    ) -> Result<(String, &'b Value), CompileError> {
        for _ in 0..MAX_STEPS {
            let Some(map) = schema.as_object() else { break };
            let mut keywords = map.iter().filter(|(key, _)| !is_annotation(key));
            let (Some((key, value)), None) = (keywords.next(), keywords.next()) else {
                break;
            };
            match (key.as_str(), value) {
                ("$ref", target) => (pointer, schema) = self.target(&pointer, target)?,
                ("allOf", Value::Array(parts)) if parts.len() == 1 => {
                    (pointer, schema) = (format!("{pointer}/allOf/0"), &parts[0]);
                }
                _ => break,
            }
            if pointer.is_empty() {
                break;
            }
        }
        Ok((pointer, schema))
    }

    /// What a reference at `pointer` leads to.
    fn target(&self, pointer: &str, target: &Value) -> Result<(String, &'b Value), CompileError> {
        let pointer = format!("{pointer}/$ref");
        let Some(target) = target.as_str() else {
            return Err(malformed(pointer, "a reference"));
        };
        let place = target.strip_prefix('#');
        place
            .and_then(|place| Some((place.to_owned(), self.bundle.pointer(place)?)))
            .ok_or_else(|| CompileError::Dangling {
                pointer,
                target: target.to_owned(),
            })
    }

    /// Adds the node of a schema that is not known yet.
    fn place(&mut self, pointer: &str, schema: &'b Value) -> Result<usize, CompileError> {
        let index = self.nodes.len();
        self.known.insert(pointer.to_owned(), index);
        self.nodes.push(Node {
            place: pointer.into(),
            types: Types::ALL,
            rules: Box::default(),
        });
        let map = object(schema, pointer)?;
        let at = |keyword: &str| format!("{pointer}/{}", escape(keyword));
        let mut rules = Vec::new();
        let mut types = Types::ALL;
        let mut fields = false;
        for (keyword, value) in map {
            match keyword.as_str() {
                "type" => {
                    types = value
                        .as_str()
                        .and_then(Types::named)
                        .ok_or_else(|| malformed(at(keyword), "a type"))?;
                }
                "const" => rules.push(Rule::Const(value.clone())),
                "enum" => rules.push(Rule::Enum(array(value, &at(keyword))?.into())),
                "minimum" => match value {
                    Value::Number(minimum) => rules.push(Rule::Minimum(minimum.clone())),
                    _ => return Err(malformed(at(keyword), "a number")),
                },
                "properties" | "required" | "additionalProperties" => fields = true,
                "items" => rules.push(Rule::Items(self.node(at(keyword), value)?)),
                "$ref" => {
                    let (pointer, target) = self.target(pointer, value)?;
                    rules.push(Rule::All(self.node(pointer, target)?));
                }
                "allOf" => {
                    for (index, part) in array(value, &at(keyword))?.iter().enumerate() {
                        let pointer = format!("{}/{index}", at(keyword));
                        rules.push(Rule::All(self.node(pointer, part)?));
                    }
                }
                "oneOf" => {
                    let tag = map.get("discriminator");
                    let tag = tag.map(|tag| {
                        let name = tag.get("propertyName").and_then(Value::as_str);
                        name.ok_or_else(|| malformed(at("discriminator"), "a property name"))
                    });
                    let mut branches = Vec::new();
                    for (index, branch) in array(value, &at(keyword))?.iter().enumerate() {
                        let pointer = format!("{}/{index}", at(keyword));
                        branches.push(Branch {
                            node: self.node(pointer, branch)?,
                            types: Types::ALL,
                            tags: None,
                        });
                    }
                    rules.push(Rule::OneOf(Union {
                        tag: tag.transpose()?.map(Into::into),
                        branches: branches.into(),
                        tags: Names::default(),
                        tied: None,
                    }));
                }
                keyword if is_annotation(keyword) => {}
                _ => {
                    let pointer = at(keyword);
                    return Err(CompileError::UnknownKeyword { pointer });
                }
            }
        }
        if fields {
            rules.push(Rule::Object(self.object(pointer, map)?));
        }
        let node = &mut self.nodes[index];
        node.types = types;
        node.rules = rules.into();
        Ok(index)
    }

    fn object(
        &mut self,
        pointer: &str,
        schema: &'b Map<String, Value>,
    ) -> Result<Object, CompileError> {
        let mut properties = Vec::new();
        if let Some(all) = schema.get("properties") {
            let pointer = format!("{pointer}/properties");
            for (name, property) in object(all, &pointer)? {
                let pointer = format!("{pointer}/{}", escape(name));
                properties.push(Property {
                    name: name.as_str().into(),
                    node: Some(self.node(pointer, property)?),
                    required: false,
                });
            }
        }
        if let Some(required) = schema.get("required") {
            let pointer = format!("{pointer}/required");
            for name in array(required, &pointer)? {
                let Some(name) = name.as_str() else {
                    return Err(malformed(pointer, "names of fields"));
                };
                match properties.iter_mut().find(|known| *known.name == *name) {
                    Some(property) => property.required = true,
                    None => properties.push(Property {
                        name: name.into(),
                        node: None,
                        required: true,
                    }),
                }
            }
        }
        let closed = match schema.get("additionalProperties") {
            None | Some(Value::Bool(true)) => false,
            Some(Value::Bool(false)) => true,
            Some(_) => {
                let pointer = format!("{pointer}/additionalProperties");
                return Err(malformed(pointer, "true or false"));
            }
        };
        let tracked = properties.iter().take(TRACKED).enumerate();
        Ok(Object {
            required: tracked.fold(0, |all, (bit, known)| {
                all | u64::from(known.required) << bit
            }),
            names: Names::new(properties.iter().map(|property| &*property.name)),
            properties: properties.into(),
            closed,
        })
    }
}

fn is_annotation(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword)
}

fn object<'v>(value: &'v Value, pointer: &str) -> Result<&'v Map<String, Value>, CompileError> {
    let object = value.as_object();
    object.ok_or_else(|| malformed(pointer.to_owned(), "an object"))
}

fn array<'v>(value: &'v Value, pointer: &str) -> Result<&'v [Value], CompileError> {
    match value {
        Value::Array(list) => Ok(list),
        _ => Err(malformed(pointer.to_owned(), "an array")),
    }
}

fn malformed(pointer: String, expected: &'static str) -> CompileError {
    CompileError::Malformed { pointer, expected }
}

/// The nodes that have to hold for the same value.
fn inner(node: &Node) -> impl Iterator<Item = usize> {
    node.rules.iter().flat_map(|rule| {
        let (other, branches) = match rule {
            Rule::All(other) => (Some(*other), &[][..]),
            Rule::OneOf(union) => (None, &union.branches[..]),
            _ => (None, &[][..]),
        };
        other
            .into_iter()
            .chain(branches.iter().map(|branch| branch.node))
    })
}

/// Whether a walk comes to an end: no schema leads to itself for the same value.
fn finite(nodes: &[Node]) -> Result<(), CompileError> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; nodes.len()];
    for start in 0..nodes.len() {
        if states[start] != State::New {
            continue;
        }
        states[start] = State::Open;
        let mut stack = vec![(start, inner(&nodes[start]))];
        while let Some((node, rest)) = stack.last_mut() {
            let Some(next) = rest.next() else {
                states[*node] = State::Done;
                stack.pop();
                continue;
            };
            match states[next] {
                State::Done => {}
                State::Open => {
                    return Err(CompileError::Endless {
                        pointer: nodes[next].place.to_string(),
                    });
                }
                State::New => {
                    states[next] = State::Open;
                    stack.push((next, inner(&nodes[next])));
                }
            }
        }
    }
    Ok(())
}

/// Fills in what the unions know of their branches.
fn tie(nodes: &mut [Node]) {
    for node in 0..nodes.len() {
        for rule in 0..nodes[node].rules.len() {
            let Rule::OneOf(union) = &nodes[node].rules[rule] else {
                continue;
            };
            let tag = union.tag.clone();
            let branches: Box<[Branch]> = union
                .branches
                .iter()
                .map(|branch| Branch {
                    node: branch.node,
                    types: possible(nodes, branch.node),
                    tags: tag
                        .as_deref()
                        .and_then(|tag| tags(nodes, branch.node, tag))
                        .map(Into::into),
                })
                .collect();
            let (tags, tied) = ties(&branches).unzip();
            if let Rule::OneOf(union) = &mut nodes[node].rules[rule] {
                union.branches = branches;
                union.tags = tags.unwrap_or_default();
                union.tied = tied;
            }
        }
    }
}

/// The discriminators and the one branch of each; `None` unless every branch has its own.
fn ties(branches: &[Branch]) -> Option<(Names, Box<[usize]>)> {
    let mut all: Vec<(&str, usize)> = Vec::new();
    for branch in branches {
        for tag in branch.tags.as_ref()? {
            if all.iter().any(|(known, _)| **known == **tag) {
                return None;
            }
            all.push((tag, branch.node));
        }
    }
    let names = Names::new(all.iter().map(|(tag, _)| *tag));
    Some((names, all.into_iter().map(|(_, node)| node).collect()))
}

/// The types that can hold at `node`.
fn possible(nodes: &[Node], node: usize) -> Types {
    let node = &nodes[node];
    node.rules
        .iter()
        .fold(node.types, |types, rule| match rule {
            Rule::All(other) => types & possible(nodes, *other),
            Rule::OneOf(union) => {
                let branches = union.branches.iter();
                types
                    & branches.fold(Types::NONE, |all, branch| {
                        all | possible(nodes, branch.node)
                    })
            }
            _ => types,
        })
}

/// The strings that can stand in the field `tag` at `node`, where it is there; `None` if it may
/// hold anything else.
fn tags(nodes: &[Node], node: usize, tag: &str) -> Option<Vec<Box<str>>> {
    let constant = |node: usize| {
        nodes[node].rules.iter().find_map(|rule| match rule {
            Rule::Const(Value::String(value)) => Some(vec![value.as_str().into()]),
            _ => None,
        })
    };
    nodes[node].rules.iter().find_map(|rule| match rule {
        Rule::Object(object) => {
            let property = object.names.find(tag)?;
            constant(object.properties[property].node?)
        }
        Rule::All(other) => tags(nodes, *other, tag),
        Rule::OneOf(union) => {
            let branches = union.branches.iter();
            let all: Option<Vec<_>> = branches
                .map(|branch| tags(nodes, branch.node, tag))
                .collect();
            let mut all = all?.concat();
            all.sort();
            all.dedup();
            Some(all)
        }
        _ => None,
    })
}
