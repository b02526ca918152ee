//! Ending in order.

use tokio::sync::watch;

/// How far the end has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Working,
    Draining,
    Halted,
}

/// Ends what listens to its [`StopSignal`]s. When it is dropped, they halt.
#[derive(Debug)]
pub struct Stop(watch::Sender<Phase>);

/// Tells when to end.
#[derive(Clone, Debug)]
pub struct StopSignal(watch::Receiver<Phase>);

/// A switch and its signal.
#[must_use]
pub fn stop() -> (Stop, StopSignal) {
    let (sender, receiver) = watch::channel(Phase::Working);
    (Stop(sender), StopSignal(receiver))
}

impl Stop {
    /// Nothing new is begun; calls that are under way go on.
    pub fn drain(&self) {
        self.0
            .send_if_modified(|phase| advance(phase, Phase::Draining));
    }

    /// Calls that are under way are given up too.
    pub fn halt(&self) {
        self.0
            .send_if_modified(|phase| advance(phase, Phase::Halted));
    }
}

fn advance(phase: &mut Phase, to: Phase) -> bool {
    let forward = to > *phase;
    if forward {
        *phase = to;
    }
    forward
}

impl StopSignal {
    /// Whether nothing new is to be begun.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        *self.0.borrow() >= Phase::Draining || self.0.has_changed().is_err()
    }

    /// Comes back when nothing new is to be begun.
    pub async fn stopping(&self) {
        self.reached(Phase::Draining).await;
    }

    /// Comes back when calls are to be given up.
    pub async fn halted(&self) {
        self.reached(Phase::Halted).await;
    }

    async fn reached(&self, phase: Phase) {
        let mut receiver = self.0.clone();
        // An error means that the switch is gone: whoever held it has ended.
        let _gone = receiver.wait_for(|at| *at >= phase).await.is_err();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_only_goes_forward() {
        let (switch, signal) = stop();
        assert!(!signal.is_stopping());
        switch.halt();
        switch.drain();
        signal.stopping().await;
        signal.halted().await;
        assert!(signal.is_stopping());
    }

    #[tokio::test]
    async fn a_switch_that_is_gone_has_ended_everything() {
        let (switch, signal) = stop();
        drop(switch);
        assert!(signal.is_stopping());
        signal.halted().await;
    }
}
