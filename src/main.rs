//! The `quipu` program; see [`quipu::cli`].

fn main() -> std::process::ExitCode {
    quipu::cli::main()
}
