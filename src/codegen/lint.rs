//! Checking a folder: every mistake at once, each with its remedy.

use super::file::{DIALECT, Reader};
use super::load::Folder;
use super::model::{Def, Schema, Shape, Type};
use super::validate::Validator;
use super::{Problem, bundle, escape, names, union};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The bundle of session files.
const SESSION: &str = "session";

/// Reads the files of `folder` into a schema.
///
/// # Errors
/// `problems` (those of loading) and every mistake found here, sorted by file and place.
pub fn lint(folder: &Folder, problems: Vec<Problem>) -> Result<Schema, Vec<Problem>> {
    let (schema, problems) = judge(folder, problems);
    if problems.is_empty() {
        Ok(schema)
    } else {
        Err(problems)
    }
}

/// The same, where an example that does not validate is no mistake: a comparison of two schemas
/// asks what they say, not how they show it.
///
/// # Errors
/// As [`lint`], without those of examples.
pub fn lint_all_but_examples(
    folder: &Folder,
    problems: Vec<Problem>,
) -> Result<Schema, Vec<Problem>> {
    let (schema, mut problems) = judge(folder, problems);
    problems.retain(|problem| !problem.place.starts_with("/examples"));
    if problems.is_empty() {
        Ok(schema)
    } else {
        Err(problems)
    }
}

/// What could be read of `folder`, and every mistake, sorted by file and place.
fn judge(folder: &Folder, mut problems: Vec<Problem>) -> (Schema, Vec<Problem>) {
    version(folder, &mut problems);
    let titles = titles(folder, &mut problems);
    let mut defs: BTreeMap<String, Def> = BTreeMap::new();
    let mut lost: BTreeSet<String> = BTreeSet::new();
    for file in &folder.files {
        let mut reader = Reader {
            folder,
            titles: &titles,
            problems: &mut problems,
            path: &file.path,
        };
        match file
            .value
            .as_ref()
            .and_then(Value::as_object)
            .and_then(|json| reader.def(json))
        {
            Some(def) => {
                defs.entry(def.title.clone()).or_insert(def);
            }
            None => lost.extend(titles.get(&file.path).cloned()),
        }
    }
    lost.extend(union::settle(folder, &mut defs, &mut problems));

    let linter = Linter {
        folder,
        defs: &defs,
    };
    let wires = linter.wires(&mut problems);
    let bundles = linter.bundles(&wires, &mut problems);
    linter.stamps(&mut problems);
    linter.read_only(&mut problems);
    linter.constants(&mut problems);
    linter.examples(&lost, &mut problems);
    if lost.is_empty() {
        linter.reachable(&mut problems);
        linter.grammar(&wires, &mut problems);
    }

    problems.sort();
    problems.dedup();
    let schema = Schema {
        version: folder.version.clone(),
        base: base(folder),
        defs,
        bundles,
        wires,
        grammar: folder.grammar.clone(),
    };
    (schema, problems)
}

fn version(folder: &Folder, problems: &mut Vec<Problem>) {
    let core = folder.version.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<_> = core.split('.').collect();
    let number = |part: &&str| part.parse::<u32>().is_ok_and(|n| n.to_string() == **part);
    let is_version = parts.len() == 3 && parts.iter().all(number);
    // A missing file has been reported already.
    if !is_version && !folder.version.is_empty() {
        problems.push(Problem {
            file: folder.display("VERSION"),
            place: "line 1".into(),
            what: format!("`{}` is not a SemVer version", folder.version),
            remedy: "write three numbers, such as 1.0.0".into(),
        });
    }
}

/// The title of each file, made up where it is missing or taken so that references to it still resolve.
fn titles(folder: &Folder, problems: &mut Vec<Problem>) -> BTreeMap<String, String> {
    let mut titles = BTreeMap::new();
    let mut owners: BTreeMap<String, &str> = BTreeMap::new();
    for file in &folder.files {
        let title = file
            .value
            .as_ref()
            .and_then(|value| value.get("title"))
            .and_then(Value::as_str);
        let owner = title.and_then(|title| owners.get(title));
        if let (Some(title), Some(owner)) = (title, owner) {
            problems.push(Problem {
                file: folder.display(&file.path),
                place: "/title".into(),
                what: format!(
                    "`{title}` is already the title of {}",
                    folder.display(owner)
                ),
                remedy: "write a title of its own".into(),
            });
        }
        let title = title.filter(|_| owner.is_none()).map_or_else(
            || names::pascal(file.path.trim_end_matches(".json")),
            str::to_owned,
        );
        owners.entry(title.clone()).or_insert(&file.path);
        titles.insert(file.path.clone(), title);
    }
    titles
}

/// What the `$id` of a file begins with, up to the file's own path.
fn base(folder: &Folder) -> String {
    let mut files = folder.files.iter();
    files
        .find_map(|file| {
            let id = file.value.as_ref()?.get("$id")?.as_str()?;
            id.strip_suffix(&format!("/{}", file.path))
                .map(str::to_owned)
        })
        .unwrap_or_else(|| DIALECT.to_owned())
}

struct Linter<'a> {
    folder: &'a Folder,
    defs: &'a BTreeMap<String, Def>,
}

impl Linter<'_> {
    fn problem(
        &self,
        path: &str,
        place: impl Into<String>,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Problem {
        Problem {
            file: self.folder.display(path),
            place: place.into(),
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    /// The wires: the files directly in `wire/`.
    fn wires(&self, problems: &mut Vec<Problem>) -> BTreeMap<String, String> {
        let mut wires = BTreeMap::new();
        for def in self.defs.values() {
            let stem = def
                .path
                .strip_prefix("wire/")
                .and_then(|name| name.strip_suffix(".json"));
            let Some(stem) = stem.filter(|stem| !stem.contains('/')) else {
                continue;
            };
            if def.union().is_some() {
                wires.insert(stem.to_owned(), def.title.clone());
            } else {
                problems.push(self.problem(
                    &def.path,
                    "/oneOf",
                    "a wire is a union of its lines",
                    "list the header and the events as `$ref`s",
                ));
            }
        }
        if !self
            .folder
            .files
            .iter()
            .any(|file| file.path.starts_with("wire/"))
        {
            problems.push(self.problem(
                "wire",
                "folder",
                "there is no wire",
                "add wire/<name>.json, the union of the lines of a stream",
            ));
        }
        wires
    }

    /// What gets bundles: the wires, and the union of the lines of a session file.
    fn bundles(
        &self,
        wires: &BTreeMap<String, String>,
        problems: &mut Vec<Problem>,
    ) -> BTreeMap<String, String> {
        let mut bundles = wires.clone();
        let is_entry = |def: &&Def| def.path == "session/entry.json";
        let Some(entry) = self.defs.values().find(is_entry) else {
            return bundles;
        };
        if entry.union().is_none() {
            problems.push(self.problem(
                &entry.path,
                "/oneOf",
                "a line of a session file is a union",
                "list the header and the entries as `$ref`s",
            ));
        }
        let taken = bundles.insert(SESSION.to_owned(), entry.title.clone());
        if taken.is_some() {
            problems.push(self.problem(
                "wire/session.json",
                "/title",
                "the bundle `session` is that of session/entry.json",
                "give the wire another file name",
            ));
        }
        bundles
    }

    fn stamps(&self, problems: &mut Vec<Problem>) {
        for def in self.defs.values() {
            let Some((union, stamp)) = def
                .union()
                .and_then(|union| Some((union, self.defs.get(union.stamp.as_ref()?)?)))
            else {
                continue;
            };
            let Some(object) = stamp.object().filter(|object| object.tag.is_none()) else {
                problems.push(self.problem(
                    &def.path,
                    "/x-stamp",
                    format!("{} is not an object without discriminator", stamp.title),
                    "name a file whose fields stand in every line",
                ));
                continue;
            };
            let members = union
                .members
                .iter()
                .filter_map(|member| self.defs.get(&member.title));
            for member in members {
                let fields = member.object().map_or(&[][..], |object| &object.fields);
                let taken = fields
                    .iter()
                    .find(|field| object.fields.iter().any(|f| f.name == field.name));
                if let Some(field) = taken {
                    problems.push(self.problem(
                        &member.path,
                        format!("/properties/{}", field.name),
                        format!("`{}` is a field of {}", field.name, stamp.path),
                        "leave it out, or name it otherwise",
                    ));
                }
            }
        }
    }

    /// What is not emitted can be no field of what is.
    fn read_only(&self, problems: &mut Vec<Problem>) {
        for def in self.defs.values().filter(|def| !def.read_only) {
            for field in def.object().map_or(&[][..], |object| &object.fields) {
                let target = field.ty.target().and_then(|title| self.defs.get(title));
                if target.is_some_and(|target| target.read_only) {
                    problems.push(self.problem(
                        &def.path,
                        format!("/properties/{}", field.name),
                        "names a read-only def, which is never written",
                        "name another def, or mark this file readOnly too",
                    ));
                }
            }
        }
        for def in self
            .defs
            .values()
            .filter(|def| def.read_only && def.object().is_none())
        {
            problems.push(self.problem(
                &def.path,
                "/readOnly",
                "only an object can be read-only",
                "leave it out",
            ));
        }
    }

    /// Const fields become types named title and field.
    fn constants(&self, problems: &mut Vec<Problem>) {
        for def in self.defs.values() {
            for field in def.object().map_or(&[][..], super::model::Object::payload) {
                let name = format!("{}{}", def.title, names::pascal(&field.name));
                if let (Type::Const(_), Some(other)) = (&field.ty, self.defs.get(&name)) {
                    problems.push(self.problem(
                        &other.path,
                        "/title",
                        format!("`{name}` is the type of a const field of {}", def.path),
                        "write another title",
                    ));
                }
            }
        }
    }

    /// A file that nothing refers to is in no bundle: most likely an event left out of its wire.
    fn reachable(&self, problems: &mut Vec<Problem>) {
        let root = |def: &&Def| {
            ["wire/", "session/", "rpc/"]
                .iter()
                .any(|folder| def.path.starts_with(folder))
        };
        let mut queue: Vec<&str> = self
            .defs
            .values()
            .filter(root)
            .map(|def| &*def.title)
            .collect();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        while let Some(title) = queue.pop() {
            if let Some(def) = self.defs.get(title).filter(|_| seen.insert(title)) {
                queue.extend(def.targets());
                queue.extend(def.union().and_then(|union| union.stamp.as_deref()));
            }
        }
        for def in self.defs.values().filter(|def| !seen.contains(&*def.title)) {
            problems.push(self.problem(
                &def.path,
                "/title",
                format!("no wire leads to {}", def.title),
                "name the file in a union or as the type of a field, or delete it",
            ));
        }
    }

    /// Each example is an instance of its own def.
    fn examples(&self, lost: &BTreeSet<String>, problems: &mut Vec<Problem>) {
        let document = bundle::all(self.defs);
        let validator = Validator::new(&document);
        for def in self
            .defs
            .values()
            .filter(|def| !self.leads_to(&def.title, lost))
        {
            for (i, example) in def.examples.iter().enumerate() {
                if let Err(violation) = validator.check(&def.title, example) {
                    problems.push(self.problem(
                        &def.path,
                        format!("/examples/{i}{}", violation.pointer),
                        format!("the example does not validate: {}", violation.message),
                        "correct the example or the field",
                    ));
                }
            }
        }
    }

    /// Whether `title` needs one of `lost`, directly or not.
    fn leads_to(&self, title: &str, lost: &BTreeSet<String>) -> bool {
        if lost.is_empty() {
            return false;
        }
        let mut queue = vec![title];
        let mut seen = BTreeSet::new();
        while let Some(title) = queue.pop() {
            if lost.contains(title) {
                return true;
            }
            if let Some(def) = self.defs.get(title).filter(|_| seen.insert(title)) {
                queue.extend(def.targets());
            }
        }
        false
    }

    /// The grammar and the wires name the same events.
    fn grammar(&self, wires: &BTreeMap<String, String>, problems: &mut Vec<Problem>) {
        let Some(grammar) = self
            .folder
            .grammar
            .as_ref()
            .and_then(|value| value.get("wires"))
        else {
            return;
        };
        for (wire, grammar) in grammar.as_object().into_iter().flatten() {
            let at = format!("/wires/{}", escape(wire));
            let union = wires.get(wire).and_then(|title| self.defs.get(title));
            let Some(Shape::Union(union)) = union.map(|def| &def.shape) else {
                problems.push(self.problem(
                    "grammar.json",
                    at,
                    format!("there is no wire `{wire}`"),
                    format!("add wire/{wire}.json, or leave the grammar out"),
                ));
                continue;
            };
            let mut named = Vec::new();
            events(grammar, &at, &mut named);
            for (place, event) in &named {
                if !union.members.iter().any(|member| member.value == *event) {
                    problems.push(self.problem(
                        "grammar.json",
                        place,
                        format!("`{event}` is no event of the wire `{wire}`"),
                        "write the `type` of one of its events",
                    ));
                }
            }
            let silent = |event: &&str| !named.iter().any(|(_, other)| other == event);
            let values: BTreeSet<&str> =
                union.members.iter().map(|member| &*member.value).collect();
            for event in values.into_iter().filter(silent) {
                problems.push(self.problem(
                    "grammar.json",
                    &at,
                    format!("the event `{event}` has no place in the order"),
                    "name it in a state or under `anywhere`",
                ));
            }
        }
    }
}

/// Every `"event": TYPE` and `"events": [TYPE…]` below `value`, with its place.
fn events<'a>(value: &'a Value, at: &str, found: &mut Vec<(String, &'a str)>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let at = format!("{at}/{}", escape(key));
                match (key.as_str(), value) {
                    ("event", Value::String(event)) => found.push((at, event)),
                    ("events", Value::Array(list)) => {
                        for (i, event) in list.iter().enumerate() {
                            found.extend(event.as_str().map(|event| (format!("{at}/{i}"), event)));
                        }
                    }
                    _ => events(value, &at, found),
                }
            }
        }
        Value::Array(list) => {
            for (i, value) in list.iter().enumerate() {
                events(value, &format!("{at}/{i}"), found);
            }
        }
        _ => {}
    }
}
