//! Where the built programs are.

use std::{env, path::PathBuf};

use crate::workspace;

/// What is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// `fencepost`
    Backend,
    /// `fencepost` with points where it can be made to die.
    Failpoints,
    /// `fencepost-edge`
    Host,
    /// The WebAssembly component.
    Component,
}

impl Program {
    /// Its file: what the environment names, else where a debug build of the workspace puts it.
    ///
    /// # Panics
    /// When it isn't there. Nothing is built here, and nothing skipped.
    #[must_use]
    pub fn path(self) -> PathBuf {
        let (variable, file) = match self {
            Self::Backend => ("FENCEPOST_BACKEND", "target/debug/fencepost"),
            Self::Failpoints => ("FENCEPOST_FAILPOINTS", "target/debug/fencepost-failpoints"),
            Self::Host => ("FENCEPOST_HOST", "target/debug/fencepost-edge"),
            Self::Component => (
                "FENCEPOST_COMPONENT",
                "target/component/wasm32-wasip2/component/fencepost_edge.wasm",
            ),
        };
        let path = env::var_os(variable).map_or_else(|| workspace().join(file), PathBuf::from);
        assert!(
            path.is_file(),
            "{} is not there. `cargo xtask test` builds it and runs these tests; or name a built \
             one in {variable}",
            path.display()
        );
        path
    }
}
