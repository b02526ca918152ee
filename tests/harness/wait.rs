//! Waiting for a condition, never for a time.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, timeout};

/// Far longer than anything here takes on a slow machine: who reaches it waits in vain.
const DEADLINE: Duration = Duration::from_secs(120);
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Looks until there is something to see.
///
/// # Panics
/// With `what`, when there is nothing in two minutes.
pub async fn wait_until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let mut ticks = interval(LOOK_AGAIN);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let seen = timeout(DEADLINE, async {
        loop {
            ticks.tick().await;
            if let Some(seen) = look().await {
                return seen;
            }
        }
    });
    seen.await
        .unwrap_or_else(|_| panic!("waited in vain until {what}"))
}
