//! Reading the two sides of a comparison.

use super::node::Bundle;
use crate::codegen::bundle::{self, Mode};
use crate::codegen::load::Folder;
use crate::codegen::{self, Problem};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// One side of a comparison.
#[derive(Clone, Debug)]
pub struct Contract {
    /// What it was read from, for messages.
    pub(super) source: String,
    /// The version that it declares, if it has one.
    pub(super) version: Option<String>,
    pub(super) bundles: Vec<Bundle>,
    /// Whether it is a single bundle, which is compared with the one like it.
    pub(super) single: bool,
    /// Whether it says something about the order: a folder of bundles by having a grammar, a schema
    /// folder by having none too.
    pub(super) has_grammar: bool,
    pub(super) grammar: Option<Value>,
}

/// Why a side cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// A file or folder cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not JSON.
    #[error("{} is not JSON: {source}", path.display())]
    NotJson {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: serde_json::Error,
    },
    /// A file starts with a byte order mark, which JSON does not have.
    #[error("{} starts with a byte order mark; save it without", path.display())]
    Marked {
        /// The file.
        path: PathBuf,
    },
    /// A file holds no bundle.
    #[error(
        "{path} is no bundle: {why}; name a schema folder, or a file that `quipu schema bundle` printed"
    )]
    NoBundle {
        /// The file.
        path: String,
        /// What is missing.
        why: String,
    },
    /// A schema folder has mistakes; examples that do not validate are none here.
    #[error("{path} has mistakes; `quipu schema lint {path}` lists them")]
    Mistakes {
        /// The folder.
        path: String,
        /// The mistakes.
        problems: Vec<Problem>,
    },
    /// The folder has no bundle like the single one on the other side.
    #[error("{folder} has no `{name}`, of which {file} is a bundle; it has {}", names.join(", "))]
    NoPair {
        /// The side with several bundles.
        folder: String,
        /// The single bundle.
        file: String,
        /// Its name.
        name: String,
        /// The names of the other side.
        names: Vec<String>,
    },
}

/// Reads a schema folder, a folder of released bundles, or a bundle file, strict or open; `-` is
/// standard input.
///
/// # Errors
/// If it is none of these.
pub fn read(path: &Path) -> Result<Contract, InputError> {
    let unreadable = |source| InputError::Unreadable {
        path: path.to_owned(),
        source,
    };
    if path == Path::new("-") || !fs::metadata(path).map_err(unreadable)?.is_dir() {
        return Contract::of_bundles(path, &[path.to_owned()], false);
    }
    let mut bundles = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?.path();
        let name = entry.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".strict.json") || name.ends_with(".open.json") {
            bundles.push(entry);
        }
    }
    if bundles.is_empty() || path.join("wire").is_dir() {
        let (folder, unreadable) = codegen::load::load(path);
        return Contract::of_folder(&folder, unreadable);
    }
    // An open bundle says all that the strict one does.
    let strict = |path: &Path| path.to_string_lossy().ends_with(".strict.json");
    let open = |path: &Path| {
        path.to_string_lossy()
            .replace(".strict.json", ".open.json")
            .into()
    };
    let files = bundles.clone();
    bundles.retain(|path| !(strict(path) && files.contains(&open(path))));
    bundles.sort();
    let mut contract = Contract::of_bundles(path, &bundles, true)?;
    contract.single = false;
    let version = path.join("VERSION");
    if version.exists() {
        let text = String::from_utf8_lossy(&bytes(&version, true)?).into_owned();
        contract.version = Some(text.trim().to_owned());
    }
    let grammar = path.join("grammar.json");
    contract.has_grammar = grammar.exists();
    if contract.has_grammar {
        contract.grammar = Some(json(&grammar, true)?);
    }
    Ok(contract)
}

/// The content of a file, or of standard input for `-`. In a folder only regular files count: a pipe
/// may never come to an end.
fn bytes(path: &Path, in_folder: bool) -> Result<Vec<u8>, InputError> {
    let read = || {
        let mut bytes = Vec::new();
        if in_folder && !fs::metadata(path)?.is_file() {
            return Err(io::Error::other("is no regular file"));
        }
        if path == Path::new("-") {
            io::stdin().read_to_end(&mut bytes)?;
        } else {
            fs::File::open(path)?.read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    };
    read().map_err(|source| InputError::Unreadable {
        path: path.to_owned(),
        source,
    })
}

fn json(path: &Path, in_folder: bool) -> Result<Value, InputError> {
    let bytes = bytes(path, in_folder)?;
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err(InputError::Marked {
            path: path.to_owned(),
        });
    }
    serde_json::from_slice(&bytes).map_err(|source| InputError::NotJson {
        path: path.to_owned(),
        source,
    })
}

impl Contract {
    /// The contract of a schema folder; `unreadable` are the problems of loading it.
    ///
    /// # Errors
    /// The mistakes in the folder, but for examples that do not validate.
    pub fn of_folder(folder: &Folder, unreadable: Vec<Problem>) -> Result<Self, InputError> {
        let schema = codegen::lint::lint_to_compare(folder, unreadable).map_err(|problems| {
            InputError::Mistakes {
                path: folder.name.clone(),
                problems,
            }
        })?;
        let mut bundles = Vec::new();
        for name in schema.bundles.keys() {
            let document = bundle::document(&schema, name, Mode::Open).unwrap_or_default();
            bundles.push(Bundle {
                name: name.clone(),
                ..Bundle::read(&document).map_err(|why| InputError::NoBundle {
                    path: folder.name.clone(),
                    why,
                })?
            });
        }
        Ok(Self {
            source: folder.name.clone(),
            version: Some(schema.version),
            bundles,
            single: false,
            has_grammar: true,
            grammar: schema.grammar,
        })
    }

    fn of_bundles(source: &Path, files: &[PathBuf], in_folder: bool) -> Result<Self, InputError> {
        let mut bundles = Vec::new();
        for file in files {
            let bundle =
                Bundle::read(&json(file, in_folder)?).map_err(|why| InputError::NoBundle {
                    path: file.display().to_string(),
                    why,
                })?;
            bundles.push(bundle);
        }
        Ok(Self {
            source: source.display().to_string(),
            version: None,
            bundles,
            single: true,
            has_grammar: false,
            grammar: None,
        })
    }

    /// The types of the lines of the wire `name`.
    pub(super) fn lines(&self, name: &str) -> Vec<&str> {
        let bundle = self.bundles.iter().find(|bundle| bundle.name == name);
        bundle
            .into_iter()
            .flat_map(Bundle::lines)
            .map(|(value, _)| value)
            .collect()
    }
}

/// What is compared with what, by name.
type Pairs<'a> = BTreeMap<String, (Option<&'a Bundle>, Option<&'a Bundle>)>;

/// The bundles of both sides by name. A single bundle is compared with the one of its name or root;
/// two single ones with each other.
pub(super) fn pairs<'a>(old: &'a Contract, new: &'a Contract) -> Result<Pairs<'a>, InputError> {
    let partner = |one: &Contract, all: &'a Contract| {
        let Some(bundle) = one.bundles.first() else {
            return Ok(None);
        };
        let mut others = all.bundles.iter();
        let same_name = others.clone().find(|other| other.name == bundle.name);
        let found = same_name.or_else(|| others.find(|other| other.root == bundle.root));
        found.map(Some).ok_or_else(|| InputError::NoPair {
            folder: all.source.clone(),
            file: one.source.clone(),
            name: bundle.name.clone(),
            names: all.bundles.iter().map(|other| other.name.clone()).collect(),
        })
    };
    let mut pairs = Pairs::new();
    let (old_one, new_one) = (old.bundles.first(), new.bundles.first());
    let name = |bundle: Option<&Bundle>| bundle.map(|b| b.name.clone()).unwrap_or_default();
    match (old.single, new.single) {
        (true, true) => {
            pairs.insert(name(new_one), (old_one, new_one));
        }
        (true, false) => {
            let new = partner(old, new)?;
            pairs.insert(name(new), (old_one, new));
        }
        (false, true) => {
            let old = partner(new, old)?;
            pairs.insert(name(old), (old, new_one));
        }
        (false, false) => {
            for bundle in &old.bundles {
                pairs.entry(bundle.name.clone()).or_default().0 = Some(bundle);
            }
            for bundle in &new.bundles {
                pairs.entry(bundle.name.clone()).or_default().1 = Some(bundle);
            }
        }
    }
    Ok(pairs)
}
