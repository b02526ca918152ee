//! The backend program.
fn main() {}
