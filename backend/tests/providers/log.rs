//! What a test's own thread logs.

use std::{cell::RefCell, io, sync::OnceLock};

thread_local! {
    /// What this thread logged, which is what its test did.
    static LOG: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

struct ToLog;

impl io::Write for ToLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.with_borrow_mut(|log| log.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Logs from now on, for all threads: what one thread alone wants to know of, others can make
/// `tracing` forget.
pub(crate) fn log() {
    static LOGGING: OnceLock<()> = OnceLock::new();
    LOGGING.get_or_init(|| {
        tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .with_writer(|| ToLog)
            .init();
        tracing::callsite::rebuild_interest_cache();
    });
    LOG.take();
}

pub(crate) fn logged() -> String {
    LOG.with_borrow(|log| String::from_utf8(log.clone()).unwrap())
}
