//! What an instance has around it that no manifest says: the time, and who reads its log.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;
use wasmtime_wasi::{HostWallClock, WasiCtxBuilder};

/// The time that the component is told when it asks for the date. How time passes, which its
/// deadlines go by, is always the machine's.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The machine's.
    #[default]
    OfThisMachine,
    /// Stands still at so many seconds since 1970, until somebody sets it.
    At(Arc<AtomicU64>),
}

/// Where the component's stderr goes, which is its log.
#[derive(Clone, Debug, Default)]
pub enum Stderr {
    /// To that of this process.
    #[default]
    OfThisProcess,
    /// Into memory, for whoever has the other end.
    Kept(MemoryOutputPipe),
}

impl Clock {
    pub(crate) fn give(&self, wasi: &mut WasiCtxBuilder) {
        match self {
            // It is the one that a context has from the beginning.
            Self::OfThisMachine => {}
            Self::At(seconds) => {
                wasi.wall_clock(Standing(Arc::clone(seconds)));
            }
        }
    }
}

impl Stderr {
    pub(crate) fn give(&self, wasi: &mut WasiCtxBuilder) {
        match self {
            Self::OfThisProcess => wasi.inherit_stderr(),
            Self::Kept(pipe) => wasi.stderr(pipe.clone()),
        };
    }
}

struct Standing(Arc<AtomicU64>);

impl HostWallClock for Standing {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::Relaxed))
    }
}
