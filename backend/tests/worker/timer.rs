//! A timer whose waits end when a test says so, and whose time stands still until then.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use fencepost::worker::Timer;
use tokio::{
    sync::{Notify, oneshot},
    time::timeout,
};

/// Ends a test that waits for what never comes. No test waits for it otherwise.
pub(crate) async fn within<F: IntoFuture>(waiting: F) -> F::Output {
    let waited = timeout(Duration::from_secs(60), waiting).await;
    waited.expect("it comes within a minute")
}

pub(crate) struct ManualTimer {
    now: Mutex<Instant>,
    waits: Mutex<Vec<(Duration, oneshot::Sender<()>)>>,
    begun: Notify,
}

#[async_trait]
impl Timer for ManualTimer {
    fn now(&self) -> Instant {
        *self.now.lock().unwrap()
    }

    async fn sleep(&self, wait: Duration) {
        let (end, ended) = oneshot::channel();
        self.waits.lock().unwrap().push((wait, end));
        self.begun.notify_waiters();
        ended.await.expect("the timer outlives what waits");
    }
}

impl Default for ManualTimer {
    fn default() -> Self {
        Self {
            now: Mutex::new(Instant::now()),
            waits: Mutex::default(),
            begun: Notify::default(),
        }
    }
}

impl ManualTimer {
    /// Lets time pass; no wait ends by it.
    pub(crate) fn pass(&self, time: Duration) {
        *self.now.lock().unwrap() += time;
    }

    /// Ends a wait of this length, as soon as somebody waits that long.
    pub(crate) async fn end(&self, wait: Duration) {
        loop {
            let begun = self.begun.notified();
            if let Some(end) = self.take(wait) {
                return end.send(()).unwrap();
            }
            within(begun).await;
        }
    }

    /// Comes back as soon as somebody waits that long.
    pub(crate) async fn begun(&self, wait: Duration) {
        loop {
            let begun = self.begun.notified();
            if let Some(end) = self.take(wait) {
                return self.waits.lock().unwrap().push((wait, end));
            }
            within(begun).await;
        }
    }

    fn take(&self, wait: Duration) -> Option<oneshot::Sender<()>> {
        let mut waits = self.waits.lock().unwrap();
        waits.retain(|(_, end)| !end.is_closed());
        let at = waits.iter().position(|(length, _)| *length == wait)?;
        Some(waits.remove(at).1)
    }
}
