//! `read`: the text of a file, or some lines of it.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;

use rustix::fs::OFlags;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::limit::{Limits, TruncatedBy, Truncation, size};
use super::{InvalidArguments, Tool, ToolContext, ToolError, ToolFuture, ToolOutput};
use super::{arguments, image, path, reading};

/// How far lines are counted behind the text that is shown. Far enough for any file that people
/// read; short enough for `/proc/kcore`.
const COUNT: u64 = 2 << 30;

/// Arguments of `read`.
#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// Path of the file, absolute or relative to the working directory
    path: String,
    /// Line to start from, counted from 1
    #[serde(default, deserialize_with = "arguments::ordinal")]
    #[schemars(with = "u64", range(min = 1))]
    offset: Option<u64>,
    /// Most lines to read
    #[serde(default, deserialize_with = "arguments::ordinal")]
    #[schemars(with = "u64", range(min = 1))]
    limit: Option<u64>,
}

/// The tool `read`.
pub(super) struct Read;

impl Tool for Read {
    fn name(&self) -> &'static str {
        "read"
    }

    fn description(&self) -> &'static str {
        "Read a file: text, or an image (PNG, JPEG, GIF, WebP, BMP) to look at. At most 2000 lines \
         or 50 KB of text are returned, whichever comes first; a note at the end then gives the \
         offset to go on from. Use offset and limit for parts of large files."
    }

    fn parameters(&self) -> Value {
        arguments::schema::<Arguments>()
    }

    fn call(
        &self,
        args: &Map<String, Value>,
        ctx: ToolContext,
    ) -> Result<ToolFuture, InvalidArguments> {
        let Arguments {
            path: shown,
            offset,
            limit,
        } = arguments::parse("read", args)?;
        Ok(Box::pin(async move {
            let cancel = ctx.cancel.clone();
            reading(&cancel, move |stop| {
                let request = Request {
                    path: &path::resolve(&ctx.cwd, &shown),
                    shown: &shown,
                    first: offset.unwrap_or(1) - 1,
                    lines: limit.unwrap_or(u64::MAX),
                    limits: ctx.env.limits,
                    count: COUNT,
                    resize_images: ctx.env.resize_images,
                };
                request.run(&stop)
            })
            .await
        }))
    }
}

struct Request<'a> {
    path: &'a Path,
    shown: &'a str,
    /// The first line wanted, from 0.
    first: u64,
    /// Most lines wanted.
    lines: u64,
    limits: Limits,
    /// Most bytes to read behind the lines wanted, to count the rest.
    count: u64,
    resize_images: bool,
}

impl Request<'_> {
    fn run(&self, cancel: &CancellationToken) -> Result<ToolOutput, ToolError> {
        let io = |error| ToolError::io("read", self.shown)(error);
        path::require_file("read", self.shown, &self.path.metadata().map_err(io)?)?;
        let mut file = path::open(self.path, OFlags::empty()).map_err(io)?;

        let mut chunk = vec![0; 64 * 1024];
        let mut got = fill(&mut file, &mut chunk).map_err(io)?;
        if let Some(format) = image::format(&chunk[..got]) {
            file.rewind().map_err(io)?;
            return image::show(&file, self.shown, format, self.resize_images);
        }
        let mut scan = Scan::new(self);
        loop {
            scan.take(&chunk[..got]);
            if got == 0 {
                scan.finish();
            }
            if got == 0 || !scan.wants_more() {
                break;
            }
            if cancel.is_cancelled() {
                return Err(ToolError::Aborted);
            }
            got = fill(&mut file, &mut chunk).map_err(io)?;
        }
        self.output(&scan)
    }

    fn output(&self, scan: &Scan<'_>) -> Result<ToolOutput, ToolError> {
        if self.first > 0 && self.first >= scan.line {
            let (offset, path) = (self.first + 1, self.shown.to_owned());
            return Err(ToolError::OffsetPastEnd {
                offset,
                path,
                lines: scan.line,
            });
        }
        if memchr::memchr(0, &scan.kept).is_some() {
            let (path, why) = (self.shown.to_owned(), "it holds NUL bytes");
            return Err(ToolError::Binary { path, why });
        }
        let text = String::from_utf8_lossy(&scan.kept);
        let kept = self.limits.head(&text);
        let next = self.first + kept.lines + 1;
        let all = if scan.complete {
            scan.line.to_string()
        } else {
            format!("more than {}", scan.line)
        };
        let Some(by) = kept.by else {
            if scan.line == self.first + kept.lines {
                return Ok(ToolOutput::text(text, None));
            }
            let text = text.strip_suffix('\n').unwrap_or(&text);
            let note = format!("{all} lines in the file. Continue with offset={next}.");
            return Ok(ToolOutput::text(format!("{text}\n\n[{note}]"), None));
        };
        let too_long = kept.lines == 0;
        let text = if too_long {
            let (most, shown) = (self.limits.max_bytes, self.shown);
            format!(
                "[Line {next} is {} long, over the {} limit. Read a part of it with bash: sed -n \
                 '{next}p' '{shown}' | head -c {most}]",
                size(scan.first_line),
                size(most as u64)
            )
        } else {
            let limit = match by {
                TruncatedBy::Lines => String::new(),
                TruncatedBy::Bytes => format!(" ({} limit)", size(self.limits.max_bytes as u64)),
            };
            let first = self.first + 1;
            let last = next - 1;
            format!(
                "{}\n\n[Lines {first}-{last} of {all}{limit}. Continue with offset={next}.]",
                kept.text
            )
        };
        let truncation = Truncation {
            content: kept.text.to_owned(),
            truncated: true,
            truncated_by: by,
            total_lines: scan.lines,
            total_bytes: scan.bytes,
            output_lines: kept.lines,
            output_bytes: kept.text.len() as u64,
            last_line_partial: false,
            first_line_exceeds_limit: too_long,
            max_lines: self.limits.max_lines as u64,
            max_bytes: self.limits.max_bytes as u64,
        };
        Ok(ToolOutput::text(
            text,
            Some(json!({ "truncation": truncation })),
        ))
    }
}

/// Reads until `chunk` is full or the file ends.
fn fill(file: &mut File, chunk: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < chunk.len() {
        match file.read(&mut chunk[got..]) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

/// One pass over the file: keeps what may be shown and counts the rest, in flat memory.
struct Scan<'a> {
    request: &'a Request<'a>,
    /// The wanted lines, up to just over the limits.
    kept: Vec<u8>,
    /// Lines of the file that have ended so far.
    line: u64,
    /// Lines and bytes of the wanted part so far, and the bytes of its first line.
    lines: u64,
    bytes: u64,
    first_line: u64,
    /// Bytes behind what is kept.
    counted: u64,
    /// The last byte was no line break: the line counts when the file ends.
    open: bool,
    /// The whole file was seen.
    complete: bool,
}

impl<'a> Scan<'a> {
    fn new(request: &'a Request<'a>) -> Self {
        Self {
            request,
            kept: Vec::new(),
            line: 0,
            lines: 0,
            bytes: 0,
            first_line: 0,
            counted: 0,
            open: false,
            complete: false,
        }
    }

    fn wants_more(&self) -> bool {
        self.counted < self.request.count
    }

    fn take(&mut self, chunk: &[u8]) {
        let mut rest = chunk;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest);
            let (piece, after) = rest.split_at(end.map_or(rest.len(), |at| at + 1));
            if self.line >= self.request.first && self.lines < self.request.lines {
                self.keep(piece, end.is_some());
            } else if self.line >= self.request.first {
                self.counted += piece.len() as u64;
            }
            self.line += u64::from(end.is_some());
            self.open = end.is_none();
            rest = after;
        }
    }

    fn keep(&mut self, piece: &[u8], ends: bool) {
        let Limits {
            max_lines,
            max_bytes,
        } = self.request.limits;
        // One byte and one line over the limits tell that there is more. Bytes that are no UTF-8
        // only grow when they are replaced, so this is never too little.
        let room = (max_bytes + 2).saturating_sub(self.kept.len());
        let fits = if self.lines <= max_lines as u64 {
            room.min(piece.len())
        } else {
            0
        };
        self.kept.extend_from_slice(&piece[..fits]);
        self.counted += (piece.len() - fits) as u64;
        self.bytes += piece.len() as u64;
        if self.lines == 0 {
            self.first_line += piece.len() as u64 - u64::from(ends);
        }
        self.lines += u64::from(ends);
    }

    fn finish(&mut self) {
        if self.open {
            let wanted = self.line >= self.request.first && self.lines < self.request.lines;
            self.lines += u64::from(wanted);
            self.line += 1;
        }
        self.complete = true;
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
