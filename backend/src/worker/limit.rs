//! How much an extractor is asked by this process: so many calls at once, so many in a minute.
//!
//! A permit is had before a job is claimed, so that no lease waits for one. Who is turned away is
//! woken when one may be had again.

use std::{
    num::NonZeroU32,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::Notify;

use super::Timer;

const MINUTE: Duration = Duration::from_secs(60);

/// What an extractor takes; nothing is limited by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// How many calls may be under way at once.
    pub concurrency: Option<NonZeroU32>,
    /// How many calls may begin in a minute, in even steps; after a silence, those of one second
    /// may begin at once.
    pub requests_per_minute: Option<NonZeroU32>,
}

/// Keeps the limits of one extractor, for all pipelines that ask it.
#[derive(Debug)]
pub struct Limiter {
    limits: Limits,
    usage: Mutex<Usage>,
    /// Wakes one who looks for something to do.
    wake: Arc<Notify>,
    /// Tells the herald that somebody waits for the next call of the rate.
    early: Notify,
}

#[derive(Debug, Default)]
struct Usage {
    under_way: u32,
    /// When the next call would begin, were all in even steps.
    next: Option<Instant>,
    turned_away: bool,
}

/// How calls follow each other.
#[derive(Clone, Copy)]
struct Rate {
    step: Duration,
    /// How much earlier than in even steps a call may begin.
    ahead: Duration,
}

impl Rate {
    fn of(per_minute: NonZeroU32) -> Self {
        let step = MINUTE / per_minute.get();
        let of_a_second = (per_minute.get() / 60).max(1);
        Self {
            step,
            ahead: step * (of_a_second - 1),
        }
    }

    /// How long until a call may begin.
    fn wait(self, next: Option<Instant>, now: Instant) -> Duration {
        let early = next.map(|next| next.saturating_duration_since(now));
        early.unwrap_or_default().saturating_sub(self.ahead)
    }
}

/// The right to ask once. Dropped, it makes room for another; where nobody was asked, its part of
/// the rate is given back, too.
#[derive(Debug)]
pub(super) struct Permit {
    limiter: Arc<Limiter>,
    used: Used,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Used {
    No,
    Yes,
}

impl Limiter {
    /// Keeps limits, and tells by `wake` when something may be asked that could not be before.
    #[must_use]
    pub fn new(limits: Limits, wake: Arc<Notify>) -> Arc<Self> {
        Arc::new(Self {
            limits,
            usage: Mutex::default(),
            wake,
            early: Notify::new(),
        })
    }

    /// A permit, if one may be had now.
    pub(super) fn admit(self: &Arc<Self>, now: Instant) -> Option<Permit> {
        let mut usage = self.usage();
        let most = self.limits.concurrency;
        let full = most.is_some_and(|most| usage.under_way >= most.get());
        let rate = self.rate();
        let early = rate.is_some_and(|rate| !rate.wait(usage.next, now).is_zero());
        if full || early {
            usage.turned_away = true;
            if early {
                self.early.notify_one();
            }
            return None;
        }
        usage.under_way += 1;
        if let Some(rate) = rate {
            usage.next = Some(usage.next.map_or(now, |next| next.max(now)) + rate.step);
        }
        Some(Permit {
            limiter: Arc::clone(self),
            used: Used::No,
        })
    }

    /// A permit, as soon as one may be had. For who asks without a herald.
    pub(super) async fn in_turn(self: &Arc<Self>, timer: &dyn Timer) -> Permit {
        loop {
            if let Some(permit) = self.admit(timer.now()) {
                return permit;
            }
            match self.until_next(timer.now()) {
                Some(wait) => timer.sleep(wait).await,
                None => self.wake.notified().await,
            }
        }
    }

    /// Wakes one who was turned away each time that the rate allows another call. It never ends.
    pub(super) async fn herald(&self, timer: &dyn Timer) {
        loop {
            self.early.notified().await;
            while let Some(wait) = self.until_next(timer.now()) {
                timer.sleep(wait).await;
            }
            self.wake.notify_one();
        }
    }

    /// How long the rate allows no further call.
    fn until_next(&self, now: Instant) -> Option<Duration> {
        let wait = self.rate()?.wait(self.usage().next, now);
        (!wait.is_zero()).then_some(wait)
    }

    fn rate(&self) -> Option<Rate> {
        self.limits.requests_per_minute.map(Rate::of)
    }

    fn give_back(&self, used: Used) {
        let mut usage = self.usage();
        usage.under_way = usage.under_way.saturating_sub(1);
        if let (Used::No, Some(rate)) = (used, self.rate()) {
            usage.next = usage.next.and_then(|next| next.checked_sub(rate.step));
        }
        if std::mem::take(&mut usage.turned_away) {
            self.wake.notify_one();
        }
    }

    fn usage(&self) -> MutexGuard<'_, Usage> {
        // Nothing is left half done where the lock is held.
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit {
    /// A call begins: its part of the rate is used up, however it ends.
    pub(super) fn begin(&mut self) {
        self.used = Used::Yes;
    }

    pub(super) fn is_of(&self, limiter: &Arc<Limiter>) -> bool {
        Arc::ptr_eq(&self.limiter, limiter)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.limiter.give_back(self.used);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn is_woken(wake: &Notify) -> bool {
        tokio::select! {
            biased;
            () = wake.notified() => true,
            () = std::future::ready(()) => false,
        }
    }

    #[tokio::test]
    async fn who_was_turned_away_is_woken_once_when_there_is_room() {
        let wake = Arc::<Notify>::default();
        let limits = Limits {
            concurrency: NonZeroU32::new(1),
            requests_per_minute: None,
        };
        let limiter = Limiter::new(limits, Arc::clone(&wake));
        let now = Instant::now();
        drop(limiter.admit(now));
        assert!(!is_woken(&wake).await);
        let permit = limiter.admit(now).unwrap();
        assert!(limiter.admit(now).is_none());
        assert!(!is_woken(&wake).await);
        drop(permit);
        assert!(is_woken(&wake).await);
        drop(limiter.admit(now));
        assert!(!is_woken(&wake).await);
    }

    #[test]
    fn calls_begin_at_their_rate_and_no_silence_saves_more_than_a_second() {
        for (per_minute, at_once, step) in [
            (1, 1, Duration::from_secs(60)),
            (60, 1, Duration::from_secs(1)),
            (119, 1, MINUTE / 119),
            (600, 10, Duration::from_millis(100)),
            (100_000, 1_666, MINUTE / 100_000),
        ] {
            let limits = Limits {
                concurrency: None,
                requests_per_minute: NonZeroU32::new(per_minute),
            };
            let limiter = Limiter::new(limits, Arc::default());
            let mut now = Instant::now();
            let begin = |now| {
                limiter
                    .admit(now)
                    .map(|mut permit| permit.begin())
                    .is_some()
            };
            for _ in 0..2 {
                for n in 0..at_once {
                    assert!(begin(now), "{n} of {per_minute}");
                }
                assert!(!begin(now), "{per_minute}");
                assert_eq!(limiter.until_next(now), Some(step), "{per_minute}");
                assert!(begin(now + step), "{per_minute}");
                now += MINUTE * 10;
            }
        }
    }

    #[test]
    fn a_permit_that_is_not_used_takes_nothing_of_the_rate() {
        let limits = Limits {
            concurrency: None,
            requests_per_minute: NonZeroU32::new(120),
        };
        let limiter = Limiter::new(limits, Arc::default());
        let now = Instant::now();
        for _ in 0..10 {
            let permits = [limiter.admit(now), limiter.admit(now)];
            assert!(permits.iter().all(Option::is_some));
            assert!(limiter.admit(now).is_none());
        }
    }
}
