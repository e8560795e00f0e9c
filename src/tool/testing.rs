//! What the tests of tools share: a context in its own folder, and short ways to call.

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{InputContent, ToolContext, ToolEnv, ToolOutput, ToolResult, UpdateSink, builtin};

/// A folder with a context in it, and the updates that calls have sent.
pub(super) struct Bench {
    pub(super) dir: TempDir,
    pub(super) ctx: ToolContext,
    pub(super) updates: Arc<Mutex<Vec<ToolResult>>>,
}

impl Bench {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let updates = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&updates);
        let env = ToolEnv {
            output_dir: dir.path().join("out"),
            ..ToolEnv::default()
        };
        let ctx = ToolContext {
            cwd: dir.path().to_owned(),
            cancel: CancellationToken::new(),
            updates: UpdateSink::new(move |update| sink.lock().unwrap().push(update)),
            env: Arc::new(env),
        };
        Self { dir, ctx, updates }
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file, and the folders it is in.
    pub(super) fn put(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// Makes what must never be opened and what must never be followed: a named pipe, a socket, a
    /// link to the folder itself, one to a file outside, one to nothing.
    pub(super) fn put_traps(&self) {
        let fifo = self.path().join("fifo");
        let status = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(status.unwrap().success());
        drop(std::os::unix::net::UnixListener::bind(self.path().join("socket")).unwrap());
        for (target, name) in [
            (".", "loop"),
            ("/dev/zero", "zero"),
            ("nothing", "dangling"),
        ] {
            std::os::unix::fs::symlink(target, self.path().join(name)).unwrap();
        }
    }

    /// Takes all rights to something away. `None` if we are somebody to whom that does not matter.
    pub(super) fn lock(&self, name: &str) -> Option<()> {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.path().join(name);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
        if std::fs::File::open(&path).is_ok() {
            return None;
        }
        Some(())
    }

    pub(super) fn get(&self, name: &str) -> String {
        String::from_utf8(std::fs::read(self.path().join(name)).unwrap()).unwrap()
    }

    /// The output of a call; an error becomes the output that the agent makes of it.
    pub(super) async fn call(&self, tool: &str, args: Value) -> ToolOutput {
        let tool = builtin()
            .into_iter()
            .find(|known| known.name() == tool)
            .unwrap();
        match tool.call(args.as_object().unwrap(), self.ctx.clone()) {
            Ok(work) => work.await.unwrap_or_else(ToolOutput::from),
            Err(invalid) => invalid.into(),
        }
    }

    /// The text and details of a call that must succeed.
    pub(super) async fn ok(&self, tool: &str, args: Value) -> (String, Option<Value>) {
        let output = self.call(tool, args).await;
        assert!(!output.is_error, "{output:?}");
        (text(&output.result), output.result.details)
    }

    /// The text of a call that must fail with empty details.
    pub(super) async fn error(&self, tool: &str, args: Value) -> String {
        let output = self.call(tool, args).await;
        assert!(output.is_error, "{output:?}");
        assert_eq!(output.result.details, Some(json!({})));
        text(&output.result)
    }
}

/// The only text block of a result, or nothing.
pub(super) fn text(result: &ToolResult) -> String {
    match result.content.as_slice() {
        [] => String::new(),
        [InputContent::Text(block)] => block.text.clone(),
        other => panic!("{other:?}"),
    }
}
