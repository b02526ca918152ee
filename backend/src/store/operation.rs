//! What is done in one transaction: the fences stand in here, the same for every kind of database.

mod bind;
mod candidate;
mod claim;
mod hold;
mod ingest;
mod record;
mod settle;

use async_trait::async_trait;
use fencepost_identity::key::ReportKey;

pub(super) use self::{
    bind::{BindVersions, RebindSource},
    candidate::{call_record, identity},
    claim::ClaimJob,
    hold::{Heartbeat, StoreRaw},
    ingest::{Ingest, Look},
    settle::{CommitJob, RejectJob, ReleaseJob},
};
use super::{StoreError, postgres, row::Row, session::Session, session::statement, sqlite};
use crate::clock::UnixMillis;

/// What is done in one transaction. An error leaves nothing of it behind. It may be run again
/// after an error, from the beginning.
#[async_trait]
pub(super) trait Operation: Send + Sync + 'static {
    /// What it answers.
    type Done: Send + 'static;

    /// Which others it may share a transaction with.
    const LANE: Lane = Lane::Own;

    /// The report that it is about, by which operations that share a transaction are sorted: two
    /// transactions that lock the same reports lock them in the same order.
    fn report(&self) -> Option<ReportKey> {
        None
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

/// A transaction that may write.
pub(super) struct Tx<'c> {
    session: Session<'c>,
    /// The database's time: read after the right to write was had, or the lock on the report.
    pub(super) now: UnixMillis,
}

impl<'c> Tx<'c> {
    /// Takes a session in which a transaction was begun.
    pub(super) async fn of(mut session: Session<'c>) -> Result<Self, StoreError> {
        let now = now(&mut session).await?;
        Ok(Self { session, now })
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
    /// another in a circle. Where a transaction is alone in writing anyway, there is nothing to do.
    pub(super) async fn lock(&mut self, report: ReportKey) -> Result<(), StoreError> {
        match self.session {
            Session::Sqlite(_) => Ok(()),
            Session::Postgres(..) => {
                let lock = statement(postgres::LOCK_REPORT).bind(report.as_bytes());
                self.session.row(lock).await?;
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

/// Reads without writing anything.
#[async_trait]
pub(super) trait Reading: Send + Sync + 'static {
    /// What it answers.
    type Found: Send + 'static;

    /// Does it.
    async fn run(&self, session: &mut Session<'_>) -> Result<Self::Found, StoreError>;
}
