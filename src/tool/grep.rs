//! `grep`: lines that match a regular expression, in a file or in all files of a folder.

mod rows;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use regex_syntax::ParserBuilder;
use rustix::fs::OFlags;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use self::rows::{Collector, Hits, Sheet};
use super::glob::Pattern;
use super::limit::{add_notes, higher, size};
use super::walk::{Front, Stop, Target, Tree};
use super::{InvalidArguments, Tool, ToolContext, ToolError, ToolFuture, ToolOutput};
use super::{arguments, path, reading};

/// Most matches when the call does not say.
const USUAL: u64 = 100;

/// Most matches that a call can ask for; far more than the limits of a text let through.
const MOST: u64 = 10_000;

/// Most lines of context on each side of a match.
const MOST_CONTEXT: u64 = 200;

/// Least memory for rows, in bytes.
const BUDGET: usize = 1 << 20;

/// Memory of one thread for the lines around the place it is at. Files with longer lines are
/// skipped and counted.
const LINE: usize = 16 << 20;

/// Memory for the compiled pattern, and for the automaton that each thread makes of it.
const PATTERN: usize = 16 << 20;

/// Arguments of `grep`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    /// Regular expression (Rust syntax) to look for in each line, or plain text with literal
    pattern: String,
    /// File or folder to search (default: the working directory)
    #[serde(default)]
    #[schemars(with = "String")]
    path: Option<String>,
    /// Search only files that this glob names, such as '*.ts' or 'src/**/*.{js,jsx}'; '!' before it
    /// leaves them out
    #[serde(default)]
    #[schemars(with = "String")]
    glob: Option<String>,
    /// Let upper and lower case match each other
    #[serde(default, deserialize_with = "arguments::switch")]
    #[schemars(with = "bool")]
    ignore_case: bool,
    /// Take the pattern as plain text
    #[serde(default, deserialize_with = "arguments::switch")]
    #[schemars(with = "bool")]
    literal: bool,
    /// Lines to show before and after each match (default 0)
    #[serde(default, deserialize_with = "arguments::count")]
    #[schemars(with = "u64", range(min = 0))]
    context: Option<u64>,
    /// Most matches to return (default 100)
    #[serde(default, deserialize_with = "arguments::ordinal")]
    #[schemars(with = "u64", range(min = 1))]
    limit: Option<u64>,
}

/// The tool `grep`.
pub(super) struct Grep;

impl Tool for Grep {
    fn name(&self) -> &'static str {
        "grep"
    }

    fn description(&self) -> &'static str {
        "Search the contents of files. Returns rows `path:LINE: text`, sorted by path (relative to \
         the working directory), and `path-LINE- text` for context. Hidden files are searched, \
         files that .gitignore excludes are not, unless path names an excluded file or folder; \
         binary files are skipped. At most 100 matches (or limit) or 50 KB; long lines are cut at \
         500 characters."
    }

    fn parameters(&self) -> Value {
        arguments::schema::<Arguments>()
    }

    fn call(
        &self,
        args: &Map<String, Value>,
        ctx: ToolContext,
    ) -> Result<ToolFuture, InvalidArguments> {
        let args: Arguments = arguments::parse("grep", args)?;
        Ok(Box::pin(async move {
            let cancel = ctx.cancel.clone();
            reading(&cancel, move |stop| {
                Search::new(&args, &ctx, Stop::new(stop))?.run()
            })
            .await
        }))
    }
}

struct Search<'a> {
    args: &'a Arguments,
    ctx: &'a ToolContext,
    matcher: RegexMatcher,
    context: usize,
    limit: usize,
    stop: Stop,
    unreadable: AtomicU64,
    long_lines: AtomicU64,
}

/// What became of a file.
enum Looked {
    /// Searched; the hits may be none.
    At(Hits),
    /// It is no text.
    Binary,
    /// Too long a line.
    LongLine,
}

impl<'a> Search<'a> {
    fn new(args: &'a Arguments, ctx: &'a ToolContext, stop: Stop) -> Result<Self, ToolError> {
        let at_most = |number: u64, most: u64| usize::try_from(number.min(most)).unwrap_or(0);
        Ok(Self {
            args,
            ctx,
            matcher: matcher(args)?,
            context: at_most(args.context.unwrap_or(0), MOST_CONTEXT),
            limit: at_most(args.limit.unwrap_or(USUAL), MOST),
            stop,
            unreadable: AtomicU64::new(0),
            long_lines: AtomicU64::new(0),
        })
    }

    fn run(&self) -> Result<ToolOutput, ToolError> {
        let given = self.args.path.as_deref().unwrap_or(".");
        let mut sheet = Sheet::new(self.limit, self.context > 0);
        match Target::find("search", &self.ctx.cwd, given)? {
            Target::File(file) => {
                if let Some(hits) = self.one_file(&file, given)? {
                    sheet.add(&path::show(Path::new(given)), &hits);
                }
            }
            Target::Tree(tree) => {
                let front = Front::new(self.limit, self.budget());
                let unreadable = self.tree(&tree, &front)?;
                self.unreadable.fetch_add(unreadable, Ordering::Relaxed);
                for (relative, hits) in front.into_finds() {
                    sheet.add(&tree.show(&relative), &hits);
                }
            }
        }
        let late = self.stop.outcome()?;
        Ok(self.output(sheet, late))
    }

    /// Memory for rows: more than the limits of a text let through.
    fn budget(&self) -> usize {
        let shown = self.ctx.env.limits.max_bytes;
        shown.saturating_mul(4).max(BUDGET)
    }

    fn one_file(&self, file: &Path, given: &str) -> Result<Option<Hits>, ToolError> {
        let io = |error| ToolError::io("search", given)(error);
        let file = path::open(file, OFlags::empty()).map_err(io)?;
        match self.look(&mut self.searcher(), &self.matcher, &file) {
            Ok(Looked::At(hits)) => Ok(Some(hits)),
            Ok(Looked::Binary) => Err(ToolError::Binary {
                path: given.to_owned(),
                why: "it holds NUL bytes",
            }),
            Ok(Looked::LongLine) => {
                self.long_lines.fetch_add(1, Ordering::Relaxed);
                Ok(None)
            }
            Err(_) if self.stop.now() => Ok(None),
            Err(error) => Err(io(error)),
        }
    }

    fn tree(&self, tree: &Tree, front: &Front<Hits>) -> Result<u64, ToolError> {
        let (wanted, unwanted) = match &self.args.glob {
            None => (None, None),
            Some(glob) => match glob.strip_prefix('!') {
                Some(glob) => (None, Some(Pattern::new(glob, tree.root())?)),
                None => (Some(Pattern::new(glob, tree.root())?), None),
            },
        };
        let is_wanted = |path: &Path| {
            wanted
                .as_ref()
                .is_none_or(|glob| glob.is_match(path, false))
                && !unwanted
                    .as_ref()
                    .is_some_and(|glob| glob.is_match(path, false))
        };
        let is_wanted = &is_wanted;
        Ok(tree.walk(&self.stop, front, || {
            let mut searcher = self.searcher();
            let matcher = self.matcher.clone();
            move |relative, entry| {
                // Only this is opened: not a FIFO, not a device, not what a link points to.
                if !entry.file_type().is_some_and(|found| found.is_file()) || !is_wanted(relative) {
                    return;
                }
                let looked = path::open(entry.path(), OFlags::NOFOLLOW)
                    .and_then(|file| self.look(&mut searcher, &matcher, &file));
                match looked {
                    Ok(Looked::At(hits)) if !hits.is_empty() => front.take(relative, hits),
                    Ok(Looked::At(_) | Looked::Binary) => {}
                    Ok(Looked::LongLine) => {
                        self.long_lines.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(_) if self.stop.now() => {}
                    Err(_) => {
                        self.unreadable.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        }))
    }

    fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            .binary_detection(BinaryDetection::quit(0))
            .before_context(self.context)
            .after_context(self.context)
            .heap_limit(Some(LINE))
            // A mapped file that shrinks kills the process.
            .memory_map(MmapChoice::never())
            .build()
    }

    fn look(
        &self,
        searcher: &mut Searcher,
        matcher: &RegexMatcher,
        file: &File,
    ) -> io::Result<Looked> {
        let mut collector = Collector {
            matcher,
            most: self.limit,
            most_bytes: self.budget(),
            hits: Hits::default(),
            is_binary: false,
        };
        let mut reader = Stoppable {
            file,
            stop: &self.stop,
            failed: false,
        };
        match searcher.search_reader(matcher, &mut reader, &mut collector) {
            Ok(()) if collector.is_binary => Ok(Looked::Binary),
            Ok(()) => Ok(Looked::At(collector.hits)),
            // The searcher's own complaint can only be about its buffer.
            Err(_) if !reader.failed => Ok(Looked::LongLine),
            Err(error) => Err(error),
        }
    }

    fn output(&self, sheet: Sheet, late: Option<String>) -> ToolOutput {
        let mut details = Map::new();
        let mut notes = Vec::new();
        let Sheet {
            mut text,
            more,
            long_rows,
            ..
        } = sheet;
        if text.is_empty() {
            text.push_str("No matches found");
        }
        if more {
            let limit = self.limit;
            details.insert("matchLimitReached".to_owned(), limit.into());
            let higher = higher(limit as u64, MOST);
            notes.push(format!(
                "There are more than {limit} matches; use a narrower pattern, path or glob{higher}"
            ));
        }
        if let Some(truncation) = self.ctx.env.limits.cut_rows(&mut text) {
            notes.push(truncation.note());
            details.insert("truncation".to_owned(), truncation.to_value());
        }
        if long_rows {
            details.insert("linesTruncated".to_owned(), true.into());
            notes.push(format!(
                "Lines over {} characters are cut; use read for whole lines",
                rows::LONGEST
            ));
        }
        notes.extend(late);
        let skipped = self.long_lines.load(Ordering::Relaxed);
        if skipped > 0 {
            let size = size(LINE as u64);
            notes.push(format!("Skipped for a line over {size}: {skipped} file(s)"));
        }
        let unreadable = self.unreadable.load(Ordering::Relaxed);
        if unreadable > 0 {
            notes.push(format!(
                "Could not be read: {unreadable} file(s) or folder(s)"
            ));
        }
        add_notes(&mut text, &notes);
        let details = (!details.is_empty()).then_some(Value::Object(details));
        ToolOutput::text(text, details)
    }
}

fn matcher(args: &Arguments) -> Result<RegexMatcher, ToolError> {
    RegexMatcherBuilder::new()
        .case_insensitive(args.ignore_case)
        .fixed_strings(args.literal)
        .multi_line(true)
        .crlf(true)
        .size_limit(PATTERN)
        .dfa_size_limit(PATTERN)
        .build(&args.pattern)
        .map_err(|error| match error.kind() {
            grep_regex::ErrorKind::NotAllowed(_) => ToolError::LineBreak,
            // The builder's own complaint is about a pattern that it has put in a group.
            _ => match ParserBuilder::new()
                .utf8(false)
                .build()
                .parse(&args.pattern)
            {
                Err(plain) => ToolError::Regex(plain.to_string()),
                Ok(_) => ToolError::Regex(error.to_string()),
            },
        })
}

/// A file whose reading ends with the search, even if the file never does.
struct Stoppable<'a> {
    file: &'a File,
    stop: &'a Stop,
    failed: bool,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = if self.stop.now() {
            Err(io::Error::other("the search was stopped"))
        } else {
            self.file.read(buffer)
        };
        // The searcher goes on after an interruption.
        self.failed |= result
            .as_ref()
            .is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        result
    }
}

#[cfg(test)]
mod tests;
