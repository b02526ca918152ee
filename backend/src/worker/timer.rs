//! Time, as an argument.

use std::time::{Duration, Instant};

use async_trait::async_trait;

/// What a worker waits with: for its next heartbeat, for the end of a call, before it tries again,
/// before it may ask again; and what it measures calls by.
#[async_trait]
pub trait Timer: Send + Sync {
    /// A moment that others can be measured from. It never goes back.
    fn now(&self) -> Instant;

    /// Comes back after a time. It may be dropped before.
    async fn sleep(&self, wait: Duration);
}

/// The runtime's own clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioTimer;

#[async_trait]
impl Timer for TokioTimer {
    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }

    async fn sleep(&self, wait: Duration) {
        tokio::time::sleep(wait).await;
    }
}
