//! Checking a folder: every mistake at once, each with its remedy.

use super::client::{Client, Language, Unusable};
use super::file::{DIALECT, Reader};
use super::load::Folder;
use super::model::{Def, Schema, Type};
use super::validate::Validator;
use super::{Problem, bundle, grammar, names, union};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The bundle of session files.
const SESSION: &str = "session";

/// Reads the files of `folder` into a schema.
///
/// # Errors
/// `problems` (those of loading) and every mistake found here, sorted by file and place.
pub fn lint(folder: &Folder, problems: Vec<Problem>) -> Result<Schema, Vec<Problem>> {
    let (schema, mut problems) = judge(folder, problems);
    if problems.is_empty() {
        problems = unusable(&schema, folder);
    }
    if problems.is_empty() {
        Ok(schema)
    } else {
        Err(problems)
    }
}

/// The same, where an example that does not validate is no mistake: a comparison of two schemas
/// asks what they say, not how they show it. Nor is what stands in the grammar, where a later one may
/// hold more than this program knows, or a name that another language has a use for.
///
/// # Errors
/// As [`lint`], without those.
pub fn lint_to_compare(folder: &Folder, problems: Vec<Problem>) -> Result<Schema, Vec<Problem>> {
    let (schema, mut problems) = judge(folder, problems);
    let grammar = folder.display("grammar.json");
    problems.retain(|Problem { file, place, .. }| {
        let is_of_form = place.starts_with("line ");
        !place.starts_with("/examples") && (*file != grammar || is_of_form)
    });
    if problems.is_empty() {
        Ok(schema)
    } else {
        Err(problems)
    }
}

/// Names that definitions for another language cannot have; of each bundle and language the first.
fn unusable(schema: &Schema, folder: &Folder) -> Vec<Problem> {
    let mut problems = Vec::new();
    for name in schema.bundles.keys() {
        let document = bundle::document(schema, name, bundle::Mode::Open).unwrap_or_default();
        let version = Some(&*schema.version);
        let told = match Client::read(&document, name, version) {
            Ok(client) => Language::ALL.map(|language| language.definitions(&client).err()),
            Err(error) => [Some(error), None, None],
        };
        for Unusable { place, what } in told.into_iter().flatten() {
            let inner = place.strip_prefix("/$defs/").unwrap_or_default();
            let (title, inner) = inner.split_once('/').unwrap_or((inner, "title"));
            let def = schema.defs.get(title);
            let (path, place) = match def.or_else(|| schema.defs.get(&schema.bundles[name])) {
                Some(def) if def.title == title => (&*def.path, format!("/{inner}")),
                // A title that is made of those of the members of a union.
                Some(root) => (&*root.path, format!("the type {title}")),
                None => ("", place),
            };
            problems.push(Problem {
                file: folder.display(path),
                place,
                what,
                remedy: "write another name".into(),
            });
        }
    }
    problems.sort();
    problems.dedup();
    problems
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
        if let Some(grammar) = &folder.grammar {
            let file = folder.display("grammar.json");
            grammar::check(grammar, &file, &defs, &wires, &mut problems);
        }
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
    let file = folder.display("VERSION");
    // A missing file has been reported already.
    if folder.major().is_none() && !problems.iter().any(|problem| problem.file == file) {
        problems.push(Problem {
            file,
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
            if !names::is_plain(stem) {
                problems.push(self.problem(
                    &def.path,
                    "file name",
                    format!("`{stem}` cannot be the name of a wire"),
                    "begin with a small letter and use letters, digits, `_` and `-`",
                ));
            } else if def.union().is_some() {
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
}
