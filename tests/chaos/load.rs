//! Senders that go on while backends come and go.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use fencepost_tests::{Answer, Delivery, Random, Target};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{error::Elapsed, timeout},
};

use crate::model::text;

pub(crate) const SENDERS: u64 = 4;

/// How long a sender waits for another backend before it delivers again anyway.
const COME_AGAIN: Duration = Duration::from_millis(100);
/// Far longer than the slowest blow takes to get over.
const PATIENCE: Duration = Duration::from_secs(120);

/// What all senders know.
#[derive(Debug, Default)]
struct Shared {
    /// Counts up with each report that anybody sends.
    next: AtomicU64,
    acknowledged: Mutex<BTreeSet<String>>,
    deliveries: AtomicU64,
    refused: AtomicU64,
    duplicates: AtomicU64,
}

/// What the senders wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// So many blows have been got over.
    Up(u64),
    /// That was all.
    Over,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sent {
    /// The keys that somebody was promised.
    pub(crate) acknowledged: BTreeSet<String>,
    pub(crate) deliveries: u64,
    pub(crate) duplicates: u64,
    pub(crate) refused: u64,
}

/// The senders, at work.
pub(crate) struct Load {
    shared: Arc<Shared>,
    phase: watch::Sender<Phase>,
    acks: watch::Receiver<u64>,
    senders: JoinSet<()>,
}

impl Load {
    pub(crate) fn start(target: &Target, random: &mut Random) -> Self {
        let shared = Arc::new(Shared::default());
        let (phase, phases) = watch::channel(Phase::Up(0));
        let (counted, acks) = watch::channel(0);
        let mut senders = JoinSet::new();
        for _ in 0..SENDERS {
            let sender = Sender {
                target: target.clone(),
                shared: Arc::clone(&shared),
                random: random.fork(),
                phase: phases.clone(),
                acks: counted.clone(),
            };
            senders.spawn(sender.run());
        }
        Self {
            shared,
            phase,
            acks,
            senders,
        }
    }

    /// How many acknowledgements there were.
    pub(crate) fn count(&self) -> u64 {
        *self.acks.borrow()
    }

    /// Waits for so many more acknowledgements.
    ///
    /// # Panics
    /// When they don't come.
    pub(crate) async fn acknowledged(&mut self, more: u64) {
        let wait_for = self.count() + more;
        let waited: Result<_, Elapsed> =
            timeout(PATIENCE, self.acks.wait_for(|acks| *acks >= wait_for))
                .await
                .map(drop);
        assert!(waited.is_ok(), "nothing is acknowledged any more");
    }

    /// A blow was got over: who was refused may come again.
    pub(crate) fn recovered(&self) {
        self.phase.send_modify(|phase| {
            if let Phase::Up(blows) = phase {
                *blows += 1;
            }
        });
    }

    /// Ends the senders.
    ///
    /// # Panics
    /// When one of them did.
    pub(crate) async fn end(mut self) -> Sent {
        self.phase.send_replace(Phase::Over);
        while let Some(sender) = self.senders.join_next().await {
            sender.unwrap();
        }
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Sent {
            acknowledged: self.shared.acknowledged.lock().unwrap().clone(),
            deliveries: count(&self.shared.deliveries),
            duplicates: count(&self.shared.duplicates),
            refused: count(&self.shared.refused),
        }
    }
}

struct Sender {
    target: Target,
    shared: Arc<Shared>,
    random: Random,
    phase: watch::Receiver<Phase>,
    acks: watch::Sender<u64>,
}

impl Sender {
    /// Delivers new reports, sometimes an old one again, and after a refusal the same one as soon
    /// as there is another backend: as senders do, until it is acknowledged.
    async fn run(mut self) {
        loop {
            let again = self.random.below(5) == 0;
            let newest = self.shared.next.load(Ordering::Relaxed);
            let number = match again && newest > 0 {
                true => self.random.below(newest),
                false => self.shared.next.fetch_add(1, Ordering::Relaxed),
            };
            let delivery = report(number);
            loop {
                let seen = *self.phase.borrow_and_update();
                if seen == Phase::Over {
                    return;
                }
                let answer = self.target.deliver(&delivery).await;
                if self.takes(&answer) {
                    self.acks.send_modify(|acks| *acks += 1);
                    break;
                }
                // The backend of `seen` is gone or about to be; or it was merely too busy.
                let next = self.phase.wait_for(|phase| *phase != seen);
                drop(timeout(COME_AGAIN, next).await);
            }
        }
    }

    /// Whether it was acknowledged.
    fn takes(&self, answer: &Answer) -> bool {
        let shared = &self.shared;
        shared.deliveries.fetch_add(1, Ordering::Relaxed);
        if answer.status == 503 {
            shared.refused.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        if answer.status == 200 {
            shared.duplicates.fetch_add(1, Ordering::Relaxed);
            assert!(answer.json().get("conflict").is_none(), "{answer:?}");
        }
        shared.acknowledged.lock().unwrap().insert(answer.key());
        true
    }
}

/// Every tenth is a newer revision of the one before it, and takes its place if that is in time.
fn report(number: u64) -> Delivery {
    let (thing, revision) = match number % 10 {
        9 => (number - 1, 2),
        _ => (number, 1),
    };
    Delivery::report("acme", &format!("r-{thing}"), revision, &text(number))
}
