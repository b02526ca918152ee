//! Leases: who may write, and what it is told when it may no longer.

use std::time::Duration;

use fencepost_identity::key::{CallKey, ReportKey};

use super::{StoreError, Subject};
use crate::{
    clock::UnixMillis,
    report::{AttemptNumber, FencingToken, Nonce, State},
};

/// The right to write to one job until another takes it over.
///
/// Only the store makes one, and what settles the job consumes it: a second commit under the same
/// lease does not compile. Its end says when others may try; until one did, the holder may write.
#[derive(Debug, PartialEq, Eq)]
pub struct Lease {
    pub(super) hold: Hold,
    pub(super) until: UnixMillis,
    pub(super) length: Duration,
}

impl Lease {
    /// The report whose job it is.
    #[must_use]
    pub fn report(&self) -> ReportKey {
        self.hold.report
    }

    /// The attempt that was granted with it.
    #[must_use]
    pub fn attempt(&self) -> AttemptNumber {
        self.hold.attempt
    }

    /// Its fencing token.
    #[must_use]
    pub fn token(&self) -> FencingToken {
        self.hold.token
    }

    /// The key of the question that may be asked under it.
    #[must_use]
    pub fn call_key(&self) -> CallKey {
        self.hold.call_key
    }

    /// The classifier version that the job is bound to.
    #[must_use]
    pub fn classifier_version(&self) -> &str {
        &self.hold.classifier_version
    }

    /// The schema version that an answer is judged by.
    #[must_use]
    pub fn schema_version(&self) -> &str {
        &self.hold.schema_version
    }

    /// When it was to end, by the database's clock, as it was granted.
    #[must_use]
    pub fn until(&self) -> UnixMillis {
        self.until
    }

    /// How long it is from each heartbeat on.
    #[must_use]
    pub fn length(&self) -> Duration {
        self.length
    }
}

/// What a statement compares to know that its lease still stands; never leaves the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hold {
    pub(super) job: i64,
    pub(super) report: ReportKey,
    pub(super) token: FencingToken,
    pub(super) nonce: Nonce,
    pub(super) attempt: AttemptNumber,
    pub(super) call_key: CallKey,
    pub(super) classifier_version: String,
    pub(super) schema_version: String,
    pub(super) max_attempts: u32,
    /// What was not paused when it was granted: its credential, its pipeline.
    pub(super) subjects: [Subject; 2],
}

/// Whether a lease still stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// It does.
    Yes {
        /// When it ends, by the database's clock.
        until: UnixMillis,
    },
    /// It doesn't, and nothing was written: stop the call.
    Lost(Lost),
}

/// Why a lease no longer stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// Another grant, or an end of the attempts, raised the token.
    Superseded {
        /// The token that counts now.
        by: FencingToken,
    },
    /// The token is the same, but it was granted to another: the database was set back.
    GrantedTwice,
    /// The job was settled under this very lease, as when the reply to a commit was lost.
    Settled {
        /// How it was left.
        state: State,
    },
    /// The job is no longer there.
    Gone,
}

/// The database failed while a lease was to be settled. Whether it was is known only by trying
/// again, for which the lease comes back: the second try finds [`Lost::Settled`] or settles it.
#[derive(Debug, thiserror::Error)]
#[error("the job was not settled")]
pub struct Unsettled {
    /// The lease, still good.
    pub lease: Box<Lease>,
    /// What failed.
    #[source]
    pub error: StoreError,
}
