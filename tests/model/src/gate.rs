//! What holds a call back until the test lets it go.

use std::sync::Arc;

use tokio::sync::watch;

/// Closed at first. Its clones are the same gate.
#[derive(Clone, Debug)]
pub struct Gate(Arc<watch::Sender<bool>>);

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn closed() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Lets everything through that waits, and that comes later.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    pub(crate) async fn passed(&self) {
        // The sender is at hand, so this ends when the gate is open and never before.
        self.0.subscribe().wait_for(|open| *open).await.unwrap();
    }
}
