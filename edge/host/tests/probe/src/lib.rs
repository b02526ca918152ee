//! Does on demand what the real component never may: traps, counts, waits and calls out.

#[cfg(target_family = "wasm")]
mod probe;
