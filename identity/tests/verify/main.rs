//! How a source says that it is verified: presets, schemes of its own, and every mistake in one.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod mistakes;
mod schemes;

use fencepost_identity::config::Verify;

fn parse(table: &str) -> Result<Verify, String> {
    Verify::parse(&format!("verify = {table}")).map_err(|errors| errors.to_string())
}
