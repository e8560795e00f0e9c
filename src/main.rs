//! Quipu.
fn main() {}
