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
        // Text may begin with the letters of a format.
        if let Some(format) = image::sniff(&chunk[..got]).filter(|_| !is_text(&chunk[..got])) {
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

/// Whether the start of a file is UTF-8, but for a character cut at its end, without NUL.
fn is_text(start: &[u8]) -> bool {
    let is_utf8 = match std::str::from_utf8(start) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    is_utf8 && memchr::memchr(0, start).is_none()
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
mod tests {
    use std::fmt::Write as _;
    use std::fs::File;

    use pretty_assertions::assert_eq;
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    use super::super::testing::{Bench, text};
    use super::{Request, Tool};
    use crate::tool::Limits;

    fn numbered(lines: usize) -> String {
        (1..=lines).fold(String::new(), |mut all, n| {
            writeln!(all, "line {n}").unwrap();
            all
        })
    }

    #[test]
    fn the_schema_is_what_a_model_needs() {
        assert_eq!(
            super::Read.parameters(),
            json!({
                "type": "object",
                "properties": {
                    "path": {
                        "description": "Path of the file, absolute or relative to the working directory",
                        "type": "string"
                    },
                    "offset": {
                        "description": "Line to start from, counted from 1",
                        "type": "integer",
                        "minimum": 1
                    },
                    "limit": {
                        "description": "Most lines to read",
                        "type": "integer",
                        "minimum": 1
                    }
                },
                "required": ["path"]
            })
        );
    }

    #[tokio::test]
    async fn a_small_file_comes_as_it_is() {
        let bench = Bench::new();
        for text in [
            "alpha\nbeta\ngamma\n",
            "no end",
            "",
            "\n",
            "win\r\ndows\r\n",
        ] {
            bench.put("a.txt", text);
            let got = bench
                .ok("read", json!({"path": "a.txt", "unknown": 1}))
                .await;
            assert_eq!(got, (text.to_owned(), None));
        }
        assert!(bench.updates.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn offset_and_limit_select_lines() {
        let bench = Bench::new();
        bench.put("a.txt", "a\nb\nc\nd\n");
        let rest = "\n\n[4 lines in the file. Continue with offset=";
        for (args, expected) in [
            (json!({"path": "a.txt", "offset": 3}), "c\nd\n".to_owned()),
            (
                json!({"path": "a.txt", "offset": 3, "limit": 2}),
                "c\nd\n".to_owned(),
            ),
            (
                json!({"path": "a.txt", "offset": 3, "limit": 99}),
                "c\nd\n".to_owned(),
            ),
            (
                json!({"path": "a.txt", "limit": 2}),
                format!("a\nb{rest}3.]"),
            ),
            (
                json!({"path": "a.txt", "offset": "2", "limit": 1.0}),
                format!("b{rest}3.]"),
            ),
            (
                json!({"path": "a.txt", "offset": null, "limit": " 1 "}),
                format!("a{rest}2.]"),
            ),
        ] {
            assert_eq!(
                bench.ok("read", args.clone()).await,
                (expected, None),
                "{args}"
            );
        }
        let past = bench
            .error("read", json!({"path": "a.txt", "offset": 5}))
            .await;
        assert_eq!(
            past,
            "Offset 5 is past the end of a.txt, which has 4 line(s)"
        );
        bench.put("empty", "");
        assert_eq!(
            bench
                .ok("read", json!({"path": "empty", "offset": 1}))
                .await
                .0,
            ""
        );
        bench
            .error("read", json!({"path": "empty", "offset": 2}))
            .await;
    }

    #[tokio::test]
    async fn long_files_are_cut_at_the_line_limit() {
        let bench = Bench::new();
        bench.put("a.txt", numbered(2001));
        let (text, details) = bench.ok("read", json!({"path": "a.txt"})).await;
        assert!(
            text.ends_with("line 2000\n\n[Lines 1-2000 of 2001. Continue with offset=2001.]"),
            "{text}"
        );
        let truncation = &details.unwrap()["truncation"];
        assert_eq!(truncation["content"], numbered(2000).trim_end());
        assert_eq!(
            truncation
                .as_object()
                .unwrap()
                .iter()
                .skip(1)
                .collect::<Vec<_>>(),
            json!({
                "truncated": true, "truncatedBy": "lines", "totalLines": 2001,
                "totalBytes": numbered(2001).len(), "outputLines": 2000,
                "outputBytes": numbered(2000).len() - 1, "lastLinePartial": false,
                "firstLineExceedsLimit": false, "maxLines": 2000, "maxBytes": 51200
            })
            .as_object()
            .unwrap()
            .iter()
            .collect::<Vec<_>>()
        );
        let rest = bench
            .ok("read", json!({"path": "a.txt", "offset": 2001}))
            .await;
        assert_eq!(rest, ("line 2001\n".to_owned(), None));
        bench.put("a.txt", numbered(2000));
        assert_eq!(
            bench.ok("read", json!({"path": "a.txt"})).await,
            (numbered(2000), None)
        );
    }

    #[tokio::test]
    async fn long_lines_are_cut_at_the_byte_limit() {
        let bench = Bench::new();
        let line = format!("{}\n", "é".repeat(500));
        bench.put("a.txt", line.repeat(100));
        let (text, details) = bench
            .ok("read", json!({"path": "a.txt", "offset": 11}))
            .await;
        let (shown, note) = text.split_once("\n\n").unwrap();
        assert_eq!(shown, line.repeat(51).trim_end());
        assert_eq!(
            note,
            "[Lines 11-61 of 100 (50.0KB limit). Continue with offset=62.]"
        );
        let details = details.unwrap();
        assert_eq!(details["truncation"]["truncatedBy"], "bytes");
        assert_eq!(details["truncation"]["totalLines"], 90);

        bench.put("a.txt", format!("ok\n{}", "x".repeat(60_000)));
        let (text, details) = bench
            .ok("read", json!({"path": "a.txt", "offset": 2}))
            .await;
        assert!(
            text.starts_with("[Line 2 is 58.5KB long, over the 50.0KB limit."),
            "{text}"
        );
        assert_eq!(
            details.unwrap()["truncation"]["firstLineExceedsLimit"],
            true
        );
    }

    #[tokio::test]
    async fn bytes_that_are_no_text_are_replaced_or_refused() {
        let bench = Bench::new();
        bench.put("a.txt", b"caf\xe9\n\xf0\x9f\n");
        assert_eq!(
            bench.ok("read", json!({"path": "a.txt"})).await.0,
            "caf\u{fffd}\n\u{fffd}\n"
        );
        bench.put("a.bin", b"\x7fELF\x00\x01");
        let text = bench.error("read", json!({"path": "a.bin"})).await;
        assert!(text.contains("a.bin looks like a binary file"), "{text}");
    }

    #[tokio::test]
    async fn only_regular_files_are_opened() {
        let bench = Bench::new();
        let fifo = bench.path().join("fifo");
        assert!(
            std::process::Command::new("mkfifo")
                .arg(&fifo)
                .status()
                .unwrap()
                .success()
        );
        std::os::unix::fs::symlink("fifo", bench.path().join("link")).unwrap();
        let socket = std::os::unix::net::UnixListener::bind(bench.path().join("socket")).unwrap();
        for (path, part) in [
            (
                "missing/a.txt",
                "Cannot read missing/a.txt: no such file or directory (ENOENT)",
            ),
            (
                ".",
                "it is a directory, not a regular file; list it with ls",
            ),
            ("fifo", "it is a named pipe"),
            ("link", "it is a named pipe"),
            ("socket", "it is a socket"),
            ("/dev/zero", "it is a device"),
        ] {
            let text = bench.error("read", json!({"path": path})).await;
            assert!(text.contains(part), "{text}");
        }
        drop(socket);
    }

    #[tokio::test]
    async fn wrong_arguments_are_told_by_field() {
        let bench = Bench::new();
        let text = bench.error("read", json!({"file": 7})).await;
        assert_eq!(
            text,
            "Invalid arguments for the tool \"read\":\n  - missing field `path`\n\nReceived arguments:\n{\n  \"file\": 7\n}"
        );
        for (limit, got) in [
            (json!("two"), "\"two\""),
            (json!(0), "0"),
            (json!(1.5), "1.5"),
        ] {
            let text = bench
                .error("read", json!({"path": "a", "limit": limit}))
                .await;
            let part = format!("  - limit: expected a whole number from 1, got {got}\n");
            assert!(text.contains(&part), "{text}");
        }
    }

    #[test]
    fn a_huge_file_is_neither_loaded_nor_counted_for_ever() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("huge");
        std::fs::write(&path, "start\n".repeat(10_000)).unwrap();
        // Sparse: loading it would need a terabyte.
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(1 << 40)
            .unwrap();
        let request = Request {
            path: &path,
            shown: "huge",
            first: 0,
            lines: u64::MAX,
            limits: Limits::default(),
            count: 4 << 20,
            resize_images: true,
        };
        let output = request.run(&CancellationToken::new()).unwrap();
        let text = text(&output.result);
        assert!(
            text.contains("[Lines 1-2000 of more than 10000. Continue"),
            "{text}"
        );
    }

    #[tokio::test]
    async fn an_aborted_read_says_so() {
        let bench = Bench::new();
        bench.put("a.txt", "text");
        bench.ctx.cancel.cancel();
        assert_eq!(
            bench.error("read", json!({"path": "a.txt"})).await,
            "The call was aborted; nothing was changed"
        );
    }
}
