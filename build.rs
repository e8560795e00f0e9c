//! Makes the types and bundles of the wire from `schema/`, on every build, into `OUT_DIR`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

#[allow(dead_code, unreachable_pub, reason = "the library uses the rest of it")]
#[path = "src/codegen/mod.rs"]
mod codegen;
#[path = "src/codegen/rust/mod.rs"]
mod rust;

use codegen::bundle::{self, Mode};
use sha2::{Digest, Sha256};

#[allow(
    clippy::print_stderr,
    reason = "how a build script tells the author what is wrong"
)]
fn main() -> ExitCode {
    for path in ["schema", "src/codegen", "build.rs"] {
        println!("cargo::rerun-if-changed={path}");
    }
    match generate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(errors) => {
            for error in errors {
                eprintln!("error: {error}");
            }
            ExitCode::FAILURE
        }
    }
}

fn generate() -> Result<(), Vec<String>> {
    let (folder, unreadable) = codegen::load::load(Path::new("schema"));
    let schema = codegen::lint::lint(&folder, unreadable)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    let fail = |error: String| vec![error];
    let out = env::var("OUT_DIR").map_err(|error| fail(format!("OUT_DIR: {error}")))?;
    let write = |name: &str, text: String| {
        fs::write(Path::new(&out).join(name), text)
            .map_err(|error| fail(format!("{name}: {error}")))
    };

    for (name, text) in rust::generate(&schema).map_err(fail)? {
        write(&format!("{name}.rs"), text)?;
    }
    write("round_trip.rs", rust::round_trip(&schema).map_err(fail)?)?;
    for name in schema.bundles.keys() {
        for mode in Mode::ALL {
            let text = bundle::text(&schema, name, mode).unwrap_or_default();
            write(&format!("{name}.{}.json", mode.name()), text)?;
        }
    }
    write("schema.json", folder.pack().to_string())?;
    // The header of a stream names the exact bytes of the contract it keeps.
    let strict = bundle::text(&schema, "quipu", Mode::Strict)
        .ok_or_else(|| fail("schema/wire: there is no wire `quipu`".into()))?;
    let mut hash = String::from("sha256:");
    for byte in Sha256::digest(strict.as_bytes()) {
        let _ = write!(hash, "{byte:02x}");
    }
    write(
        "contract.rs",
        format!(
            "/// Semantic version of the native wire.\n\
             pub const SCHEMA_VERSION: &str = {:?};\n\
             /// `sha256:` and the hex digest of the native wire's strict bundle.\n\
             pub const SCHEMA_HASH: &str = \"{hash}\";\n",
            schema.version,
        ),
    )
}
