//! `quipu schema list`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::Format;
use crate::cli::Failure;
use crate::codegen::model::{Def, Schema};
use crate::wire::visible_line;

#[derive(Debug, Args)]
pub(super) struct List {
    /// Only what this wire, or `session`, has
    #[arg(long, value_name = "WIRE|session")]
    wire: Option<String>,

    /// Of this schema folder, not of the program's own schema
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// How to print the list
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// One type.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    /// `event`, `delta`, `message`, `block`, `common`, `session`, or `wire`: the union of its lines.
    kind: &'a str,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    event: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'a str>,
    title: &'a str,
    /// The wires, and `session`, that have it.
    wires: Vec<&'a str>,
    file: &'a str,
    /// The first sentence of its description.
    about: &'a str,
}

/// The order of the list.
const KINDS: [&str; 7] = [
    "wire", "event", "delta", "message", "block", "session", "common",
];

impl List {
    pub(super) fn run(&self) -> Result<ExitCode, Failure> {
        let schema = super::schema(self.dir.as_deref())?;
        let only = match &self.wire {
            Some(name) => Some(super::chosen(&schema, Some(name))?),
            None => None,
        };
        let mut rows: Vec<Row> = schema.defs.values().map(|def| row(&schema, def)).collect();
        rows.retain(|row| only.is_none_or(|wire| row.wires.contains(&wire)));
        rows.sort_by_key(|row| (KINDS.iter().position(|kind| *kind == row.kind), row.file));
        if self.format == Format::Json {
            return Ok(super::report(&super::json(&rows), false));
        }
        let heads = ["TYPE", "TITLE", "KIND", "WIRES", "FILE", "ABOUT"];
        let mut table = vec![heads.map(str::to_owned).to_vec()];
        for row in &rows {
            let role = row.role.map(|role| format!("role {role}"));
            let name = row.event.map(str::to_owned).or(role);
            let cells = [
                name.as_deref().unwrap_or("-"),
                row.title,
                row.kind,
                &row.wires.join(","),
                row.file,
                row.about,
            ];
            table.push(cells.map(|cell| visible_line(cell).into_owned()).to_vec());
        }
        let mut text = String::new();
        super::table::write(&mut text, &table);
        Ok(super::report(&text, false))
    }
}

fn row<'a>(schema: &'a Schema, def: &'a Def) -> Row<'a> {
    let tag = def.object().and_then(|object| object.tag());
    let tagged = |name: &str| tag.filter(|(tag, _)| *tag == name).map(|(_, value)| value);
    Row {
        kind: kind(schema, def),
        event: tagged("type"),
        role: tagged("role"),
        title: &def.title,
        wires: wires(schema, def),
        file: &def.path,
        about: first_sentence(&def.description),
    }
}

/// The bundles that have a def.
pub(super) fn wires<'a>(schema: &'a Schema, def: &Def) -> Vec<&'a str> {
    let has = |name: &&str| {
        let Some(root) = schema.bundles.get(*name) else {
            return false;
        };
        let stamp = schema.defs.get(root).and_then(Def::union);
        let stamp = stamp.and_then(|union| union.stamp.as_deref());
        schema.reachable(root).contains(&*def.title) || stamp == Some(&*def.title)
    };
    super::names(schema).into_iter().filter(has).collect()
}

/// What a def is: a line of a wire, or what its folder says. A file of one wire is of the kind of
/// the file that it stands for.
fn kind<'a>(schema: &'a Schema, def: &'a Def) -> &'a str {
    let roots = schema.wires.values();
    let mut roots = roots.filter_map(|title| schema.defs.get(title));
    if roots.clone().any(|root| root.title == def.title) {
        return "wire";
    }
    let is_line = roots.any(|root| {
        let members = root.union().map_or(&[][..], |union| &union.members);
        members.iter().any(|member| member.title == def.title)
    });
    if is_line {
        return "event";
    }
    let (folder, file) = def.path.split_once('/').unwrap_or(("common", &def.path));
    if folder != "wire" {
        return folder;
    }
    let name = file.rsplit('/').next().unwrap_or(file);
    let mut others = schema.defs.values();
    let stands_for = others.find_map(|other| {
        let (folder, file) = other.path.split_once('/')?;
        (folder != "wire" && file == name).then_some(folder)
    });
    stands_for.unwrap_or("common")
}

fn first_sentence(text: &str) -> &str {
    match text.find(". ") {
        Some(end) => &text[..=end],
        None => text,
    }
}
