#![no_main]
//! Calls the property of this name.

libfuzzer_sys::fuzz_target!(|data: &[u8]| fencepost_fuzz::schemes(data));
