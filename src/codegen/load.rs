//! Reading a schema folder from disk.

use super::Problem;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A schema folder as it lies on disk: parsed, not yet checked.
#[derive(Clone, Debug)]
pub struct Folder {
    /// The folder as the caller named it; messages begin with it.
    pub name: String,
    /// The text of `VERSION`, trimmed; empty if the file is missing.
    pub version: String,
    /// Every `*.json` but `grammar.json` and what lies in `released/`, sorted by path.
    pub files: Vec<File>,
    /// `grammar.json`, if there is one.
    pub grammar: Option<Value>,
}

/// One schema file.
#[derive(Clone, Debug)]
pub struct File {
    /// The path below the folder, with `/` between its parts: `event/agent_start.json`.
    pub path: String,
    /// Its content; `None` if it could not be read or is not JSON (a problem says so).
    pub value: Option<Value>,
}

impl Folder {
    /// The whole folder as one document, for [`Folder::unpack`].
    #[must_use]
    pub fn pack(&self) -> Value {
        let files = self.files.iter();
        let files: Map<String, Value> = files
            .filter_map(|file| Some((file.path.clone(), file.value.clone()?)))
            .collect();
        json!({ "version": self.version, "files": files, "grammar": self.grammar })
    }

    /// The folder that was packed, called `name`; what is not there is empty.
    #[must_use]
    pub fn unpack(name: &str, mut packed: Value) -> Self {
        let mut take = |key: &str| packed.get_mut(key).map(Value::take).unwrap_or_default();
        let files = match take("files") {
            Value::Object(files) => files,
            _ => Map::new(),
        };
        let files = files.into_iter().map(|(path, value)| File {
            path,
            value: Some(value),
        });
        Self {
            name: name.to_owned(),
            version: take("version").as_str().unwrap_or_default().to_owned(),
            files: files.collect(),
            grammar: Some(take("grammar")).filter(|grammar| !grammar.is_null()),
        }
    }

    /// How messages name the file `path`.
    #[must_use]
    pub fn display(&self, path: &str) -> String {
        format!("{}/{path}", self.name)
    }

    /// The first number of `VERSION`; `None` if that is no semantic version.
    #[must_use]
    pub fn major(&self) -> Option<&str> {
        let core = self.version.split(['-', '+']).next()?;
        let parts: Vec<_> = core.split('.').collect();
        let number = |part: &&str| part.parse::<u32>().is_ok_and(|n| n.to_string() == **part);
        (parts.len() == 3 && parts.iter().all(number)).then(|| parts[0])
    }

    /// The file at `path`.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }
}

/// Reads the folder `dir`, with a problem for each file that cannot be read or is not JSON.
#[must_use]
pub fn load(dir: &Path) -> (Folder, Vec<Problem>) {
    let name = dir
        .to_string_lossy()
        .trim_end_matches(['/', '\\'])
        .replace('\\', "/");
    let mut folder = Folder {
        name,
        version: String::new(),
        files: Vec::new(),
        grammar: None,
    };
    let mut problems = Vec::new();

    let mut paths = Vec::new();
    walk(dir, &mut paths, &mut |path, error| {
        let below = relative(dir, path);
        problems.push(Problem {
            file: if below.is_empty() {
                folder.name.clone()
            } else {
                folder.display(&below)
            },
            place: "folder".into(),
            what: format!("cannot be read ({error})"),
            remedy: "name a folder of schema files".into(),
        });
    });
    paths.sort();
    for path in paths {
        let relative = relative(dir, &path);
        let value = match parse(&path) {
            Ok(value) => Some(value),
            Err((place, what)) => {
                problems.push(Problem {
                    file: folder.display(&relative),
                    place,
                    what,
                    remedy: "write one JSON object".into(),
                });
                None
            }
        };
        if relative == "grammar.json" {
            folder.grammar = value;
        } else {
            folder.files.push(File {
                path: relative,
                value,
            });
        }
    }
    match text(&dir.join("VERSION")) {
        Ok(text) => text.trim().clone_into(&mut folder.version),
        Err(what) => problems.push(Problem {
            file: folder.display("VERSION"),
            place: "line 1".into(),
            what,
            remedy: "write the SemVer version of the schema, such as 1.0.0".into(),
        }),
    }
    (folder, problems)
}

/// The text of a file, which has to be one: a pipe, a socket or a device may never come to an end.
fn text(path: &Path) -> Result<String, String> {
    let unreadable = |error| format!("cannot be read ({error})");
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err("is no regular file".into());
    }
    let text = fs::read_to_string(path).map_err(unreadable)?;
    if text.starts_with('\u{feff}') {
        return Err("starts with a byte order mark, which has to go; save it without".into());
    }
    Ok(text)
}

fn parse(path: &Path) -> Result<Value, (String, String)> {
    let text = text(path).map_err(|what| ("line 1".to_owned(), what))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| {
        let text = error.to_string();
        let what = text.split(" at line ").next().unwrap_or(&text);
        (
            format!("line {}, column {}", error.line(), error.column()),
            format!("is not JSON ({what})"),
        )
    })?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(("line 1".into(), "is not an object".into()))
    }
}

/// All `*.json` below `dir`, without `released/` (frozen bundles are no sources) and hidden ones.
fn walk(dir: &Path, paths: &mut Vec<PathBuf>, fail: &mut impl FnMut(&Path, io::Error)) {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => return fail(dir, error),
    };
    for entry in entries {
        let (entry, kind) = match entry.and_then(|entry| Ok((entry.file_type()?, entry))) {
            Ok((kind, entry)) => (entry, kind),
            Err(error) => return fail(dir, error),
        };
        let path = entry.path();
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        if name.starts_with('.') || name == "released" {
            continue;
        }
        // A link to a folder is not followed: it may lead back.
        if kind.is_dir() {
            walk(&path, paths, fail);
        } else if path.extension().is_some_and(|ext| ext == "json") {
            paths.push(path);
        }
    }
}

fn relative(dir: &Path, path: &Path) -> String {
    let parts: Vec<_> = path
        .strip_prefix(dir)
        .unwrap_or(path)
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    parts.join("/")
}
