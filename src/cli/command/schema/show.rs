//! `quipu schema show`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::{Format, list, table};
use crate::cli::Failure;
use crate::codegen::bundle;
use crate::codegen::docs;
use crate::codegen::model::{Def, Schema};
use crate::wire::visible;

#[derive(Debug, Args)]
pub(super) struct Show {
    /// The type by its title (`MessageUpdateEvent`), or by its `type` or `role` on the wire
    /// (`message_update`, `text_delta`, `toolResult`)
    #[arg(value_name = "TYPE")]
    name: String,

    /// As this wire, or `session`, has it; else as the first that has it, the native one before
    #[arg(long, value_name = "WIRE|session")]
    wire: Option<String>,

    #[command(flatten)]
    which: super::Which,

    /// Of this schema folder, not of the program's own schema
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// How to print it: a page, or the JSON Schema of the type alone with what it needs
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

impl Show {
    pub(super) fn run(&self) -> Result<ExitCode, Failure> {
        let schema = super::schema(self.dir.as_deref())?;
        let wires = match &self.wire {
            Some(name) => vec![super::chosen(&schema, Some(name))?],
            None => super::names(&schema),
        };
        let found = |wire: &str| named(&schema, wire, &self.name);
        let Some((wire, defs)) = wires
            .iter()
            .map(|wire| (*wire, found(wire)))
            .find(|(_, defs)| !defs.is_empty())
        else {
            return Err(self.unknown(&schema));
        };
        if self.format == Format::Json {
            return self.json(&schema, wire, &defs);
        }
        let mut text = String::new();
        for def in &defs {
            page(&mut text, &schema, wire, def);
        }
        let elsewhere = wires.iter().filter(|other| **other != wire);
        for other in elsewhere {
            let others = found(other);
            let titles = |defs: &[&Def]| defs.iter().map(|d| d.title.clone()).collect::<Vec<_>>();
            if !others.is_empty() && titles(&others) != titles(&defs) {
                let titles = titles(&others).join(", ");
                let _ = writeln!(text, "With --wire {other}: {titles}.");
            }
        }
        Ok(super::report(&visible(&text), false))
    }

    fn json(&self, schema: &Schema, wire: &str, defs: &[&Def]) -> Result<ExitCode, Failure> {
        let document = bundle::document(schema, wire, self.which.mode()).unwrap_or_default();
        let titles: Vec<&str> = defs.iter().map(|def| &*def.title).collect();
        // A stamp is part of the lines there, but is asked for by itself.
        let excerpt = bundle::excerpt(&document, &titles).or_else(|| match &titles[..] {
            [only] => bundle::alone(schema, only, self.which.mode()),
            _ => None,
        });
        let excerpt = excerpt.ok_or_else(|| {
            let (titles, mode) = (titles.join(", "), self.which.mode().name());
            let tip = if self.which.open { "" } else { "; try --open" };
            Failure::usage(format!("the {mode} bundle of {wire} has no {titles}{tip}"))
        })?;
        Ok(super::report(&super::json(&excerpt), false))
    }

    fn unknown(&self, schema: &Schema) -> Failure {
        let name = &self.name;
        if let Some(wire) = &self.wire {
            let others: Vec<&str> = super::names(schema)
                .into_iter()
                .filter(|other| !named(schema, other, name).is_empty())
                .collect();
            if !others.is_empty() {
                let others = others.join(", ");
                return Failure::usage(format!("{wire} has no `{name}`; these have: {others}"));
            }
        }
        let mut near: Vec<(f64, &str)> = Vec::new();
        for def in schema.defs.values() {
            let tag = def.object().and_then(|object| object.tag());
            for known in tag.map(|(_, value)| value).into_iter().chain([&*def.title]) {
                let likeness = strsim::jaro_winkler(&name.to_lowercase(), &known.to_lowercase());
                near.push((likeness, known));
            }
        }
        near.retain(|(likeness, _)| *likeness > 0.8);
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        near.dedup_by_key(|(_, known)| *known);
        let near: Vec<String> = near.iter().take(3).map(|(_, n)| format!("`{n}`")).collect();
        Failure::usage(if near.is_empty() {
            format!("there is no type `{name}`; `quipu schema list` lists them")
        } else {
            format!(
                "there is no type `{name}`; did you mean {}?",
                near.join(", ")
            )
        })
    }
}

/// The defs of a bundle that a name means.
fn named<'a>(schema: &'a Schema, wire: &str, name: &str) -> Vec<&'a Def> {
    let means = |def: &&Def| {
        let tag = def.object().and_then(|object| object.tag());
        def.title == name || tag.is_some_and(|(_, value)| value == name)
    };
    let has = |def: &&Def| list::wires(schema, def).contains(&wire);
    schema.defs.values().filter(means).filter(has).collect()
}

fn page(text: &mut String, schema: &Schema, wire: &str, def: &Def) {
    let markdown = docs::section(schema, wire, &def.title).unwrap_or_default();
    // The heading is this page's own.
    let body = markdown.trim_start().split_once('\n').unwrap_or_default().1;
    let tag = def.object().and_then(|object| object.tag());
    match tag {
        Some((tag, value)) => {
            let _ = writeln!(text, "{} ({tag} `{value}`)", def.title);
        }
        None => {
            let _ = writeln!(text, "{}", def.title);
        }
    }
    let wires = list::wires(schema, def).join(", ");
    let _ = writeln!(text, "{} in {wires}", def.path);
    text.push_str(&table::plain(body));
    let root = schema
        .bundles
        .get(wire)
        .and_then(|title| schema.defs.get(title));
    let stamp = root.and_then(Def::union).and_then(|union| {
        let is_line = union.members.iter().any(|member| member.title == def.title);
        union.stamp.as_ref().filter(|_| is_line)
    });
    if let Some(stamp) = stamp {
        let _ = writeln!(text, "\nA line may also have the fields of {stamp}.");
    }
    text.push('\n');
}
