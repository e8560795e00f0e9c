//! `@file` arguments: what goes to the model with the first prompt.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::{Args, Failure};
use crate::config::settings::Images;
use crate::config::{Environment, expand_home};
use crate::event::{ErrorCode, ImageContent, InputContent, TextContent, UserContent};
use crate::tool;

/// The most of a text that is attached, in bytes. The model can read the rest.
const TEXT_LIMIT: usize = 256 << 10;

/// What stands for an image when the settings send none.
const IMAGE_OMITTED: &str = "[Image omitted: the settings send no images.]";

/// The arguments that are no options: files to attach, and prompts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    /// As the user wrote them, without the `@`.
    files: Vec<PathBuf>,
    prompts: Vec<String>,
}

impl Words {
    /// Tells files from prompts: before `--` an argument that begins with `@` names a file.
    ///
    /// # Errors
    /// A [`Failure`] for a prompt that is not UTF-8, or an `@` without a name.
    pub(super) fn sort(args: &Args) -> Result<Self, Failure> {
        let mut words = Self::default();
        for word in &args.prompts {
            match word.as_bytes().strip_prefix(b"@") {
                Some(b"") => {
                    return Err(Failure::usage(
                        "@ names no file: write the path of a file right after it.",
                    ));
                }
                Some(name) => words.files.push(OsStr::from_bytes(name).into()),
                None => words.prompts.push(text(word)?),
            }
        }
        for word in &args.literal_prompts {
            words.prompts.push(text(word)?);
        }
        Ok(words)
    }

    /// Whether there is something to ask without standard input.
    pub(super) fn ask(&self) -> bool {
        !(self.files.is_empty() && self.prompts.is_empty())
    }

    /// Reads the files, on a thread where that may take its time.
    ///
    /// # Errors
    /// A [`Failure`] that names the first file that cannot be attached.
    pub(super) async fn attach(&self, cwd: &Path, images: &Images) -> Result<Attached, Failure> {
        if self.files.is_empty() {
            return Ok(Attached::default());
        }
        let (files, cwd, images) = (self.files.clone(), cwd.to_owned(), images.clone());
        let work = move || {
            let mut attached = Attached::default();
            for file in &files {
                attached
                    .add(file, &cwd, &images)
                    .map_err(|why| Failure::usage(format!("@{}: {why}", file.display())))?;
            }
            Ok(attached)
        };
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|error| Failure::new(ErrorCode::Internal, error.to_string()))?
    }

    /// The prompts as they go to the model. Standard input, the files and the first prompt make the
    /// first one.
    ///
    /// # Errors
    /// A [`Failure`] if nothing is asked.
    pub(super) fn ask_with(
        self,
        input: Option<String>,
        attached: Attached,
    ) -> Result<Vec<UserContent>, Failure> {
        let mut prompts = self.prompts;
        if let Some(mut input) = input {
            if !prompts.is_empty() || !attached.text.is_empty() {
                input.push_str("\n\n");
            }
            prepend(&mut prompts, input + &attached.text);
        } else if !attached.text.is_empty() {
            prepend(&mut prompts, attached.text);
        }
        if prompts.iter().all(|prompt| prompt.trim().is_empty()) {
            return Err(Failure::usage(
                "There is no prompt: give one as an argument (quipu --mode json \"List the files \
                 here\") or on standard input.",
            ));
        }
        let mut images = attached.images;
        let content = |text| {
            let text = TextContent {
                text,
                text_signature: None,
            };
            let images = std::mem::take(&mut images).into_iter();
            let blocks = std::iter::once(text.into()).chain(images.map(InputContent::from));
            UserContent::Array(blocks.collect())
        };
        Ok(prompts.into_iter().map(content).collect())
    }
}

fn text(word: &OsString) -> Result<String, Failure> {
    word.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::usage(format!(
            "The prompt \"{}\" is not valid UTF-8.",
            word.display()
        ))
    })
}

/// Puts `before` in front of the first prompt.
fn prepend(prompts: &mut Vec<String>, before: String) {
    match prompts.first_mut() {
        Some(first) => first.insert_str(0, &before),
        None => prompts.push(before),
    }
}

/// What is attached.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Attached {
    /// The texts and the names of the images, each in its `file` element.
    text: String,
    images: Vec<ImageContent>,
}

impl Attached {
    /// Adds `file`; the error says why that is not possible.
    fn add(&mut self, file: &Path, cwd: &Path, images: &Images) -> Result<(), String> {
        let path = cwd.join(expand_home(file, &Environment::current()));
        let path = std::path::absolute(&path).unwrap_or(path);
        let unreadable = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => format!(
                "there is no file {}. A prompt that begins with @ stands behind --.",
                path.display()
            ),
            _ => format!("{} cannot be read: {error}", path.display()),
        };
        // Looked at before it is opened, because opening a pipe waits for its writer; the flag is for
        // one that took the file's place since.
        require_file(&path, &path.metadata().map_err(unreadable)?)?;
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let source = File::options()
            .read(true)
            .custom_flags(flags)
            .open(&path)
            .map_err(unreadable)?;
        let about = source.metadata().map_err(unreadable)?;
        require_file(&path, &about)?;

        let mut bytes = Vec::new();
        let mut head = (&source).take(TEXT_LIMIT as u64 + 1);
        head.read_to_end(&mut bytes).map_err(unreadable)?;
        let content = match tool::image_format(&bytes) {
            Some(_) if images.block_images => IMAGE_OMITTED.to_owned(),
            Some(format) => {
                let whole = bytes.as_slice().chain(&source);
                let shown = path.to_string_lossy();
                let (image, notes) = tool::load_image(whole, &shown, format, images.auto_resize)
                    .map_err(|error| error.to_string())?;
                self.images.push(image);
                notes.join(". ")
            }
            None => {
                let size = about.len().max(bytes.len() as u64);
                format!("\n{}\n", text_of(&bytes, size)?)
            }
        };
        let _ = writeln!(
            self.text,
            "<file name=\"{}\">{content}</file>",
            path.display()
        );
        Ok(())
    }
}

fn require_file(path: &Path, about: &Metadata) -> Result<(), String> {
    let kind = about.file_type();
    let what = if kind.is_file() {
        return Ok(());
    } else if kind.is_dir() {
        "a directory"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    Err(format!(
        "{} is {what}; only regular files can be attached.",
        path.display()
    ))
}

/// The text of a file of `size` bytes that begins with `bytes`, cut at the limit.
fn text_of(bytes: &[u8], size: u64) -> Result<String, String> {
    if bytes.is_empty() {
        return Ok("[The file is empty.]".to_owned());
    }
    if memchr::memchr(0, bytes).is_some() {
        return Err(
            "the file holds NUL bytes, so it is neither text nor an image (PNG, JPEG, GIF, WebP, BMP); \
             name its path in the prompt instead."
                .to_owned(),
        );
    }
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if bytes.len() <= TEXT_LIMIT {
        return Ok(text.to_owned());
    }
    // The limit lies before what stands for a character that was cut.
    let kept = &text[..text.floor_char_boundary(TEXT_LIMIT)];
    let whole = memchr::memrchr(b'\n', kept.as_bytes()).map(|at| &kept[..at]);
    Ok(if let Some(lines) = whole {
        let count = memchr::memchr_iter(b'\n', lines.as_bytes()).count() + 1;
        format!(
            "{lines}\n[Cut: lines 1-{count} of a file of {size} bytes. Read on with the tool read: \
             offset={}, and limit for the number of lines.]",
            count + 1
        )
    } else {
        format!(
            "{kept}\n[Cut: the first {} bytes of line 1 of a file of {size} bytes. The line is too \
             long for offset and limit of the tool read; take parts of it with a command.]",
            kept.len()
        )
    })
}

#[cfg(test)]
mod tests;
