//! What is done in one transaction: the fences stand in here, the same for every kind of database.

mod bind;
mod candidate;
mod claim;
mod current;
mod decide;
mod erase;
mod findings;
mod hold;
mod ingest;
mod keep;
mod pause;
mod record;
mod replay;
mod settle;
mod turn;
mod version;

use async_trait::async_trait;
use fencepost_identity::key::ReportKey;

pub(super) use self::{
    bind::{BindVersions, RebindSource},
    candidate::{call_record, identity, links, version_status},
    claim::ClaimJob,
    decide::Decide,
    erase::Erase,
    hold::{Heartbeat, KeepInput, StoreRaw},
    ingest::{Ingest, Look},
    keep::{EmptyAnswer, Expired, Last},
    pause::{
        Change, Learning, PauseSubject, ResumeSubject, Settled, Settlement, read as read_pause,
        readable,
    },
    replay::Replay,
    settle::{CommitJob, RejectJob, ReleaseJob},
};
use super::{
    StoreError, postgres,
    row::Row,
    session::{Session, statement},
    sql, sqlite,
};
use crate::{clock::UnixMillis, failpoint::Written, report::VersionStatus};

/// What is done in one transaction. An error leaves nothing of it behind. It may be run again
/// after an error, from the beginning.
#[async_trait]
pub(super) trait Operation: Send + Sync + 'static {
    /// What it answers.
    type Done: Send + 'static;

    /// Which others it may share a transaction with.
    const LANE: Lane = Lane::Own;

    /// By what operations that share a transaction are sorted, so that two transactions which lock
    /// the same things lock them in the same order: the report's key, or what stands for its thing.
    fn rank(&self) -> [u8; 32] {
        [0; 32]
    }

    /// Does it.
    async fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Done, StoreError>;
}

/// Who shares a transaction with whom, where several may write at once. A database with one writer
/// puts all that waits into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// A transaction of its own.
    Own,
    /// Reports that come in.
    Ingest,
    /// Results that are committed.
    Commit,
}

/// What is known of a report once it is locked.
pub(super) struct Locked {
    /// Which of the versions it is; none where they have no order.
    pub(super) version: Option<VersionStatus>,
    /// The job whose state is the report's.
    pub(super) current_job: Option<i64>,
}

impl Locked {
    /// Whether a newer version took the report's place: nothing more is to be begun for it.
    pub(super) fn is_superseded(&self) -> bool {
        self.version == Some(VersionStatus::Superseded)
    }
}

/// A transaction that may write.
pub(super) struct Tx<'c> {
    session: Session<'c>,
    /// The database's time: read after the right to write was had, or the lock on the report.
    pub(super) now: UnixMillis,
    /// What was written so far.
    pub(super) written: Written,
}

impl<'c> Tx<'c> {
    /// Takes a session in which a transaction was begun.
    pub(super) async fn of(mut session: Session<'c>) -> Result<Self, StoreError> {
        let now = now(&mut session).await?;
        Ok(Self {
            session,
            now,
            written: Written::default(),
        })
    }

    /// Where statements go.
    pub(super) fn session(&mut self) -> &mut Session<'c> {
        &mut self.session
    }

    /// Whether nobody else can write before this transaction ends.
    pub(super) fn is_alone(&self) -> bool {
        match self.session {
            Session::Sqlite(_) => true,
            Session::Postgres(..) => false,
        }
    }

    /// Locks a report: whatever hangs on it is written by one transaction at a time. Every
    /// operation on a report that is there locks it before anything else, so that none waits for
    /// another in a circle. Where a transaction is alone in writing anyway, this only looks.
    pub(super) async fn lock(&mut self, report: ReportKey) -> Result<Locked, StoreError> {
        let row = match self.session {
            Session::Sqlite(_) => {
                let look = statement(sql::VERSION_STATUS).bind(report.as_bytes());
                self.session.row(look).await?
            }
            Session::Postgres(..) => {
                let lock = statement(postgres::LOCK_REPORT).bind(report.as_bytes());
                let row = self.session.row(lock).await?;
                // It may have waited.
                self.now = now(&mut self.session).await?;
                row
            }
        };
        let Some(row) = row else {
            return Ok(Locked {
                version: None,
                current_job: None,
            });
        };
        let row = Row::new(&row, report);
        Ok(Locked {
            version: version_status(&row)?,
            current_job: row.number_or_none("report.current_job")?,
        })
    }

    /// Locks what is known of a thing, whichever of its versions: they are put in order one at a
    /// time. Others of the same name may be locked with it, which only makes them wait.
    pub(super) async fn lock_thing(&mut self, thing: [u8; 32]) -> Result<(), StoreError> {
        match self.session {
            Session::Sqlite(_) => Ok(()),
            Session::Postgres(..) => {
                let [a, b, c, d, e, f, g, h, ..] = thing;
                let number = i64::from_be_bytes([a, b, c, d, e, f, g, h]);
                let lock = statement(postgres::LOCK_NUMBER).bind(number);
                self.session.one(lock).await?;
                Ok(())
            }
        }
    }

    /// Of two statements that read the same, the one that locks it where others may write, too.
    pub(super) fn locking(&self, alone: &'static str, locking: &'static str) -> &'static str {
        match self.session {
            Session::Sqlite(_) => alone,
            Session::Postgres(..) => locking,
        }
    }

    /// Of a statement that each kind of database says in its own way, the one for this.
    pub(super) fn in_dialect(&self, sqlite: &'static str, postgres: &'static str) -> &'static str {
        match self.session {
            Session::Sqlite(_) => sqlite,
            Session::Postgres(..) => postgres,
        }
    }

    /// Locks what is paused: nobody else begins, probes or ends a pause meanwhile. Whoever has
    /// locked a report must not ask for it.
    pub(super) async fn lock_pauses(&mut self) -> Result<(), StoreError> {
        match self.session {
            Session::Sqlite(_) => Ok(()),
            Session::Postgres(..) => {
                self.session.run(postgres::LOCK_PAUSES).await?;
                self.now = now(&mut self.session).await?;
                Ok(())
            }
        }
    }

    /// Locks what is bound, so that nobody else binds anything meanwhile.
    pub(super) async fn lock_bindings(&mut self) -> Result<(), StoreError> {
        match self.session {
            Session::Sqlite(_) => Ok(()),
            Session::Postgres(..) => self.session.run(postgres::LOCK_BINDINGS).await,
        }
    }
}

/// Milliseconds, by the database's clock.
pub(super) async fn now(session: &mut Session<'_>) -> Result<UnixMillis, StoreError> {
    let clock = match session {
        Session::Sqlite(_) => sqlite::NOW,
        Session::Postgres(..) => postgres::NOW,
    };
    let row = session.one(statement(clock)).await?;
    Row::new(&row, "").time("clock.now")
}

/// What a reading that asks several things sees of what is written meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// Each statement sees what is there when it runs.
    Each,
    /// All see one moment.
    Moment,
}

/// Reads without writing anything.
#[async_trait]
pub(super) trait Reading: Send + Sync + 'static {
    /// What it answers.
    type Found: Send + 'static;

    /// Whether its statements have to see one moment.
    const SIGHT: Sight = Sight::Each;

    /// Does it.
    async fn run(&self, session: &mut Session<'_>) -> Result<Self::Found, StoreError>;
}
