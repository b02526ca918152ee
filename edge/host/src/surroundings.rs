//! What an instance has around it that no manifest says: the time, and who reads its log.

use std::sync::Arc;
use std::time::Duration;
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;
use wasmtime_wasi::{HostWallClock, WasiCtxBuilder};

/// The time that the component is told when it asks for the date. How time passes, which its
/// deadlines go by, is always the machine's.
#[derive(Clone, Default)]
pub enum Clock {
    /// The machine's.
    #[default]
    OfThisMachine,
    /// Whatever this says, in seconds since 1970. It is asked as often as the component asks.
    Told(Arc<dyn Fn() -> u64 + Send + Sync>),
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
            Self::Told(seconds) => {
                wasi.wall_clock(Told(Arc::clone(seconds)));
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

struct Told(Arc<dyn Fn() -> u64 + Send + Sync>);

impl HostWallClock for Told {
    fn resolution(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn now(&self) -> Duration {
        Duration::from_secs((self.0)())
    }
}
