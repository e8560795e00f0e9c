//! Settling the unions: one discriminator each, and a way to tell every two members apart.

use super::Problem;
use super::load::Folder;
use super::model::{Def, Field, Member, Shape, Type, Union, group_title};
use super::names;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Fills in the discriminator of each union and the values of its members.
///
/// Gives back the titles of the unions that could not be settled.
pub(super) fn settle(
    folder: &Folder,
    defs: &mut BTreeMap<String, Def>,
    problems: &mut Vec<Problem>,
) -> BTreeSet<String> {
    let unions: Vec<(String, String, Union)> = defs
        .values()
        .filter_map(|def| Some((def.title.clone(), def.path.clone(), def.union()?.clone())))
        .collect();
    let mut unsettled = BTreeSet::new();
    for (title, path, mut union) in unions {
        let before = problems.len();
        let settling = Settling {
            folder,
            path: &path,
            defs,
        };
        let whole = settling.settle(&mut union, problems);
        if let Some(def) = defs.get_mut(&title) {
            def.shape = Shape::Union(union);
        }
        if !whole || problems.len() > before {
            unsettled.insert(title);
        }
    }
    unsettled
}

struct Settling<'a> {
    folder: &'a Folder,
    path: &'a str,
    defs: &'a BTreeMap<String, Def>,
}

impl Settling<'_> {
    fn problem(&self, file: &str, place: String, what: String, remedy: String) -> Problem {
        Problem {
            file: self.folder.display(file),
            place,
            what,
            remedy,
        }
    }

    /// `false` if a member's own file is at fault, which has been said there.
    fn settle(&self, union: &mut Union, problems: &mut Vec<Problem>) -> bool {
        let mut whole = true;
        let mut tags: BTreeMap<&str, usize> = BTreeMap::new();
        for member in &union.members {
            let object = self.defs.get(&member.title).and_then(Def::object);
            if let Some((tag, _)) = object.and_then(super::model::Object::tag) {
                *tags.entry(tag).or_default() += 1;
            }
        }
        let tag = tags
            .iter()
            .max_by_key(|(_, count)| **count)
            .map(|(tag, _)| (*tag).to_owned());
        let tag = tag.unwrap_or_else(|| "type".to_owned());
        let mut seen: Vec<(usize, Member)> = Vec::new();
        let mut listed = BTreeSet::new();
        for (i, member) in union.members.iter_mut().enumerate() {
            let Some(def) = self.defs.get(&member.title) else {
                whole = false;
                continue;
            };
            let Some(object) = def.object() else {
                problems.push(self.problem(
                    self.path,
                    format!("/oneOf/{i}/$ref"),
                    format!("{} is not an object", member.title),
                    "list the objects themselves".into(),
                ));
                continue;
            };
            match object.tag() {
                Some((name, value)) if name == tag => value.clone_into(&mut member.value),
                _ => {
                    let named = object.fields.iter().any(|field| field.name == tag);
                    let place = if named {
                        format!("/properties/{tag}")
                    } else {
                        "/properties".to_owned()
                    };
                    problems.push(self.problem(
                        &def.path,
                        place,
                        format!(
                            "a member of {} does not begin with its discriminator",
                            self.folder.display(self.path)
                        ),
                        format!(
                            "make `{tag}` the first field: {{\"type\": \"string\", \"const\": …}}"
                        ),
                    ));
                    continue;
                }
            }
            if !listed.insert(member.title.clone()) {
                problems.push(self.problem(
                    self.path,
                    format!("/oneOf/{i}/$ref"),
                    format!("{} is listed twice", member.title),
                    "keep one".into(),
                ));
                continue;
            }
            seen.push((i, member.clone()));
        }
        union.tag = tag;
        self.tell_apart(union, &seen, problems);
        whole
    }

    /// Finds a second discriminator for the members whose first one has the same value.
    fn tell_apart(&self, union: &mut Union, seen: &[(usize, Member)], problems: &mut Vec<Problem>) {
        let mut groups: BTreeMap<&str, Vec<&(usize, Member)>> = BTreeMap::new();
        for entry in seen {
            groups.entry(&entry.1.value).or_default().push(entry);
        }
        let path = |title: &str| self.defs.get(title).map_or("", |def| &*def.path);
        for (value, group) in groups.iter().filter(|(_, group)| group.len() > 1) {
            let candidates = self.second(&group[0].1.title, &union.tag);
            let second = candidates.iter().find_map(|name| {
                let values: Vec<String> = group
                    .iter()
                    .map(|(_, member)| self.constant(&member.title, name))
                    .collect::<Option<_>>()?;
                let distinct: BTreeSet<_> = values.iter().collect();
                (distinct.len() == values.len()).then_some((name, values))
            });
            if let Some((name, values)) = second {
                for ((i, _), value) in group.iter().zip(values) {
                    union.members[*i].second = Some((name.clone(), value));
                }
                let members: Vec<&Member> = group.iter().map(|(_, member)| member).collect();
                let title = group_title(&members);
                if !names::is_pascal(&title) || self.defs.contains_key(&title) {
                    problems.push(
                        self.problem(
                            self.path,
                            format!("/oneOf/{}/$ref", group[0].0),
                            format!(
                                "the forms of \"{value}\" have no name in common but `{title}`"
                            ),
                            "let their titles begin or end alike, in a way that is no other title"
                                .into(),
                        ),
                    );
                }
            } else {
                let (first, last) = (&group[0].1.title, group[group.len() - 1]);
                problems.push(self.problem(
                    self.path,
                    format!("/oneOf/{}/$ref", last.0),
                    format!(
                        "{} and {} both have `{}` \"{value}\"",
                        path(first),
                        path(&last.1.title),
                        union.tag
                    ),
                    "give them different values, or one more required const string whose values differ"
                        .into(),
                ));
            }
        }
        let mut variants: BTreeMap<String, &str> = BTreeMap::new();
        for (i, _) in seen {
            let member = &union.members[*i];
            if let Some(other) = variants.insert(member.variant().to_lowercase(), &member.value)
                && other != member.value
            {
                problems.push(self.problem(
                    self.path,
                    format!("/oneOf/{i}/$ref"),
                    format!("\"{other}\" and \"{}\" make the same name", member.value),
                    "write a value that differs in more than case and separators".into(),
                ));
            }
        }
    }

    /// The names of the required const strings of `title` but its discriminator.
    fn second(&self, title: &str, tag: &str) -> Vec<String> {
        let fields = self
            .defs
            .get(title)
            .and_then(Def::object)
            .map(|object| &object.fields);
        fields
            .map_or(&[][..], Vec::as_slice)
            .iter()
            .filter(|field| field.name != tag && constant(field).is_some())
            .map(|field| field.name.clone())
            .collect()
    }

    fn constant(&self, title: &str, name: &str) -> Option<String> {
        let object = self.defs.get(title)?.object()?;
        constant(object.fields.iter().find(|field| field.name == name)?)
    }
}

fn constant(field: &Field) -> Option<String> {
    match &field.ty {
        Type::Const(Value::String(value)) if field.required => Some(value.clone()),
        _ => None,
    }
}
