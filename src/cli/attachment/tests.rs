use std::fs;
use std::os::unix::ffi::OsStringExt as _;

use clap::Parser as _;
use pretty_assertions::assert_eq;

use super::*;

/// The smallest picture: one transparent pixel.
const GIF: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\
    \x01\0\x01\0\0\x02\x01D\0;";

fn args(words: &[&[u8]]) -> Args {
    let words = words.iter().map(|word| OsString::from_vec(word.to_vec()));
    let words = ["quipu", "--mode", "json"]
        .map(OsString::from)
        .into_iter()
        .chain(words);
    Args::try_parse_from(words).unwrap()
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, bytes) in files {
            fs::write(folder.path(name), bytes).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The element of the file `name` with `content` in it.
    fn element(&self, name: &str, content: &str) -> String {
        format!(
            "<file name=\"{}\">{content}</file>\n",
            self.path(name).display()
        )
    }

    fn attach(&self, names: &[&str]) -> Result<Attached, String> {
        let mut attached = Attached::default();
        for name in names {
            attached.add(Path::new(name), self.0.path(), &Images::default())?;
        }
        Ok(attached)
    }

    fn text(&self, name: &str) -> String {
        self.attach(&[name]).unwrap().text
    }

    fn refusal(&self, name: &str) -> String {
        self.attach(&[name]).unwrap_err()
    }
}

fn blocks(text: &str, images: &[&str]) -> UserContent {
    let text = TextContent {
        text: text.to_owned(),
        text_signature: None,
    };
    let images = images.iter().map(|data| {
        InputContent::from(ImageContent {
            data: (*data).to_owned(),
            mime_type: "image/gif".to_owned(),
        })
    });
    UserContent::Array(std::iter::once(text.into()).chain(images).collect())
}

fn attached(text: &str, images: &[&str]) -> Attached {
    let UserContent::Array(blocks) = blocks("", images) else {
        unreachable!()
    };
    let image = |block| match block {
        InputContent::Image(image) => Some(image),
        InputContent::Text(_) => None,
    };
    Attached {
        text: text.to_owned(),
        images: blocks.into_iter().filter_map(image).collect(),
    }
}

fn words(files: &[&str], prompts: &[&str]) -> Words {
    Words {
        files: files.iter().map(PathBuf::from).collect(),
        prompts: prompts.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn an_at_sign_names_a_file_until_the_two_dashes() {
    let sorted = Words::sort(&args(&[b"@a", b"one", b"@b c", b"--", b"@two", b"-three"]));
    let expected = words(&["a", "b c"], &["one", "@two", "-three"]);
    assert_eq!(sorted.unwrap(), expected);
    assert!(expected.ask() && words(&["a"], &[]).ask() && !Words::default().ask());

    let odd = Words::sort(&args(&[b"@\xff"])).unwrap();
    assert_eq!(odd.files, [PathBuf::from(OsString::from_vec(vec![0xff]))]);
    for bad in [&b"@"[..], b"\xff"] {
        let failure = Words::sort(&args(&[bad])).unwrap_err();
        assert_eq!(failure.code, ErrorCode::Usage, "{failure}");
    }
}

#[test]
fn input_files_and_prompt_make_the_first_prompt() {
    let ask = |prompts: &[&str], input: Option<&str>, files: Attached| {
        words(&[], prompts).ask_with(input.map(str::to_owned), files)
    };
    let none = Attached::default;
    assert_eq!(
        ask(&["p", "q"], Some("in"), attached("<f>\n", &["i", "j"])).unwrap(),
        [blocks("in\n\n<f>\np", &["i", "j"]), blocks("q", &[])]
    );
    assert_eq!(
        ask(&[], Some("in"), attached("<f>\n", &[])).unwrap(),
        [blocks("in\n\n<f>\n", &[])]
    );
    assert_eq!(
        ask(&["p"], Some("in"), none()).unwrap(),
        [blocks("in\n\np", &[])]
    );
    assert_eq!(ask(&["p"], None, none()).unwrap(), [blocks("p", &[])]);
    assert_eq!(ask(&[], Some("in"), none()).unwrap(), [blocks("in", &[])]);
    assert_eq!(
        ask(&[], None, attached("<f>\n", &["i"])).unwrap(),
        [blocks("<f>\n", &["i"])]
    );
    for nothing in [&[][..], &[" ", "\n"]] {
        let failure = ask(nothing, None, none()).unwrap_err();
        assert_eq!(failure.code, ErrorCode::Usage);
    }
}

#[test]
fn a_text_comes_whole_under_its_absolute_path() {
    let folder = Folder::new(&[
        ("a.txt", b"\xef\xbb\xbfone\ntwo\n"),
        ("latin", b"caf\xe9"),
        ("empty", b""),
    ]);
    assert_eq!(
        folder.text("./a.txt"),
        folder.element("a.txt", "\none\ntwo\n\n")
    );
    assert_eq!(
        folder.text("latin"),
        folder.element("latin", "\ncaf\u{fffd}\n")
    );
    assert_eq!(
        folder.text("empty"),
        folder.element("empty", "\n[The file is empty.]\n")
    );
    let both = folder.attach(&["empty", "latin"]).unwrap().text;
    assert_eq!(both, folder.text("empty") + &folder.text("latin"));
}

#[test]
fn a_long_text_is_cut_and_says_where_to_read_on() {
    let line = format!("{}\n", "x".repeat(1023));
    let fits = line.repeat(256);
    let folder = Folder::new(&[
        ("fits", fits.as_bytes()),
        ("long", (fits.clone() + "y\nz").as_bytes()),
        ("line", "ä".repeat(TEXT_LIMIT).as_bytes()),
        ("odd", &vec![0xff; TEXT_LIMIT + 1]),
    ]);
    assert_eq!(
        folder.text("fits"),
        folder.element("fits", &format!("\n{fits}\n"))
    );
    let size = fits.len() + 3;
    assert_eq!(
        folder.text("long"),
        folder.element(
            "long",
            &format!(
                "\n{fits}[Cut: lines 1-256 of a file of {size} bytes. Read on with the tool read: \
                 offset=257, and limit for the number of lines.]\n"
            )
        )
    );
    let text = folder.text("line");
    let kept = "ä".repeat(TEXT_LIMIT / 2);
    assert!(text.contains(&format!(
        "\n{kept}\n[Cut: the first {TEXT_LIMIT} bytes of line 1"
    )));
    assert!(folder.text("odd").len() < TEXT_LIMIT + 500);
}

#[test]
fn an_image_is_told_by_its_content() {
    let folder = Folder::new(&[("a.txt", GIF), ("b.png", b"no image")]);
    let found = folder.attach(&["a.txt"]).unwrap();
    assert_eq!(found.text, folder.element("a.txt", ""));
    let [image] = &found.images[..] else {
        panic!("{found:?}")
    };
    assert_eq!(image.mime_type, "image/gif");
    assert!(image.data.starts_with("R0lGODlh"));

    let text = folder.attach(&["b.png"]).unwrap();
    assert_eq!(text.text, folder.element("b.png", "\nno image\n"));
    assert_eq!(text.images, []);

    let mut blocked = Attached::default();
    let images = Images {
        block_images: true,
        ..Images::default()
    };
    blocked
        .add(Path::new("a.txt"), folder.0.path(), &images)
        .unwrap();
    assert_eq!(blocked.images, []);
    assert!(blocked.text.contains("[Image omitted"));
}

#[test]
fn what_is_no_file_is_refused_without_waiting() {
    let folder = Folder::new(&[
        ("nul", b"a\0b"),
        ("cut.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
    ]);
    let fifo = folder.path("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    for (name, why) in [
        ("missing", "there is no file"),
        ("nul/below", "cannot be read"),
        (".", "is a directory"),
        ("fifo", "is a FIFO"),
        ("/dev/zero", "is a device"),
        ("nul", "holds NUL bytes"),
        ("cut.png", "starts like a PNG image but cannot be decoded"),
    ] {
        let refusal = folder.refusal(name);
        assert!(refusal.contains(why), "{name}: {refusal}");
    }
}

#[tokio::test]
async fn the_failure_names_the_file() {
    let words = words(&["no/such"], &[]);
    let failure = words
        .attach(Path::new("/"), &Images::default())
        .await
        .unwrap_err();
    assert_eq!(failure.code, ErrorCode::Usage);
    assert_eq!(
        failure.message,
        "@no/such: there is no file /no/such. A prompt that begins with @ stands behind --."
    );
}
