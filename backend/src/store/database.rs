//! The store on any kind of database: what is asked becomes an operation or a reading.

use std::path::Path;

use async_trait::async_trait;
use fencepost_identity::key::{MappingDigest, ReportKey};

use super::{
    AttemptView, Backup, Bindings, Bound, Claim, ClaimRequest, Commit, Commitment, Cursor, Decided,
    Decision, Emptied, Erasure, ExpiredAnswer, ExpiredAnswers, Fetched, Filter, Held, Ingested,
    InputPage, Keeping, KeptInput, KeptPlace, LastAnswer, Lease, NewReport, Page, Pause, Paused,
    PipelineVersions, RawAnswer, Rebound, Rejected, Rejection, Release, Released, Replayed,
    ReportView, Resumed, ReviewPage, Stats, Store, StoreError, Subject, Unsettled,
    lease::Hold,
    operation::{
        BindVersions, Change, ClaimJob, CommitJob, Decide, EmptyAnswer, Erase, Expired, Heartbeat,
        Ingest, KeepInput, Last, Learning, Look, Operation, PauseSubject, Reading, RebindSource,
        RejectJob, ReleaseJob, Replay, ResumeSubject, Settled, Settlement, StoreRaw,
    },
    reading,
};

/// What each kind of database does its own way.
#[async_trait]
pub(super) trait Engine: Send + Sync + 'static {
    /// Has an operation carried out by a task of its own: a caller that goes away in the middle
    /// leaves no connection behind in a transaction.
    async fn write<O: Operation>(&self, operation: O) -> Result<O::Done, StoreError>
    where
        O::Done: Sync;

    /// Reads, in a task of its own as well.
    async fn read<R: Reading>(&self, reading: R) -> Result<R::Found, StoreError>;

    /// Writes a consistent copy to a file.
    async fn backup(&self, file: &Path) -> Result<Backup, StoreError>;

    /// Whether a transaction can begin.
    async fn ready(&self) -> Result<(), StoreError>;

    /// Ends the use of the database.
    async fn close(&self);
}

/// A database, open.
#[derive(Debug)]
pub struct Database<E> {
    pub(super) engine: E,
}

/// Settles a job; should the database fail, the lease comes back.
async fn settle<O: Settlement>(
    engine: &impl Engine,
    lease: Lease,
    settlement: impl FnOnce(Hold) -> O,
) -> Result<O::Done, Unsettled>
where
    O::Done: Sync,
{
    let settlement = Learning(settlement(lease.hold.clone()));
    match engine.write(settlement).await {
        Ok(Settled { answer, changes }) => {
            changes.iter().for_each(tell);
            Ok(answer)
        }
        Err(error) => Err(Unsettled {
            lease: Box::new(lease),
            error,
        }),
    }
}

/// Tells people of what they may have to mend, once: now that it is committed.
fn tell(change: &Change) {
    match change {
        Change::Began(pause) => {
            let probe = pause.probe.map(tracing::field::display);
            tracing::error!(
                subject = %pause.subject, reason = %pause.reason, probe,
                "Paused: nothing is asked until a probe shows that it works again"
            );
        }
        Change::Ended(pause) => tracing::info!(
            subject = %pause.subject, reason = %pause.reason, since = %pause.since,
            "No longer paused: a probe was answered"
        ),
    }
}

#[async_trait]
impl<E: Engine> Store for Database<E> {
    async fn ingest(&self, report: NewReport) -> Result<Ingested, StoreError> {
        let ingest = Ingest::new(report);
        // A duplicate that brings nothing new is told without a transaction that could write.
        match self.engine.read(Look(ingest.clone())).await? {
            Some(ingested) => Ok(ingested),
            None => self.engine.write(ingest).await,
        }
    }

    async fn bind_versions(&self, versions: PipelineVersions) -> Result<Bound, StoreError> {
        // What stands as it was needs no right to write: a start does not wait for those who write.
        let bindings = self.engine.read(reading::AllBindings).await?;
        if bindings.hold(&versions) {
            return Ok(Bound::Bound);
        }
        self.engine.write(BindVersions(versions)).await
    }

    async fn bindings(&self) -> Result<Bindings, StoreError> {
        self.engine.read(reading::AllBindings).await
    }

    async fn claim(&self, request: ClaimRequest) -> Result<Claim, StoreError> {
        self.engine.write(ClaimJob(request)).await
    }

    async fn heartbeat(&self, lease: &Lease) -> Result<Held, StoreError> {
        let heartbeat = Heartbeat {
            hold: lease.hold.clone(),
            length: lease.length,
        };
        self.engine.write(heartbeat).await
    }

    async fn keep_input(&self, lease: &Lease, fetched: Fetched) -> Result<KeptInput, StoreError> {
        let hold = lease.hold.clone();
        let kept = self.engine.write(KeepInput { hold, fetched }).await?;
        kept.changes.iter().for_each(tell);
        Ok(kept.answer)
    }

    async fn store_raw(&self, lease: &Lease, answer: RawAnswer) -> Result<Held, StoreError> {
        let hold = lease.hold.clone();
        self.engine.write(StoreRaw { hold, answer }).await
    }

    async fn commit(&self, lease: Lease, value: Commitment) -> Result<Commit, Unsettled> {
        settle(&self.engine, lease, |hold| CommitJob { hold, value }).await
    }

    async fn reject(&self, lease: Lease, rejection: Rejection) -> Result<Rejected, Unsettled> {
        settle(&self.engine, lease, |hold| RejectJob { hold, rejection }).await
    }

    async fn release(&self, lease: Lease, release: Release) -> Result<Released, Unsettled> {
        settle(&self.engine, lease, |hold| ReleaseJob { hold, release }).await
    }

    async fn decide(&self, key: ReportKey, decision: Decision) -> Result<Decided, StoreError> {
        self.engine.write(Decide { key, decision }).await
    }

    async fn replay(
        &self,
        key: ReportKey,
        classifier_version: String,
        who: String,
    ) -> Result<Replayed, StoreError> {
        let replay = Replay {
            key,
            classifier_version,
            who,
        };
        self.engine.write(replay).await
    }

    async fn last_answer(
        &self,
        key: ReportKey,
        classifier_version: String,
    ) -> Result<Option<LastAnswer>, StoreError> {
        let last = Last {
            key,
            classifier_version,
        };
        self.engine.read(last).await
    }

    async fn expired_answers(
        &self,
        keeping: Keeping,
        after: Option<KeptPlace>,
    ) -> Result<ExpiredAnswers, StoreError> {
        self.engine.read(Expired { keeping, after }).await
    }

    async fn empty_answer(&self, answer: ExpiredAnswer) -> Result<Emptied, StoreError> {
        self.engine.write(EmptyAnswer(answer)).await
    }

    async fn erase(&self, key: ReportKey, who: String) -> Result<Erasure, StoreError> {
        self.engine.write(Erase { key, who }).await
    }

    async fn reviews(&self, after: Option<Cursor>, limit: u32) -> Result<ReviewPage, StoreError> {
        self.engine
            .read(reading::OpenReviews { after, limit })
            .await
    }

    async fn report(&self, key: ReportKey) -> Result<Option<ReportView>, StoreError> {
        self.engine.read(reading::Report(key)).await
    }

    async fn input(&self, key: ReportKey) -> Result<Option<Vec<u8>>, StoreError> {
        self.engine.read(reading::Input(key)).await
    }

    async fn attempts(&self, key: ReportKey) -> Result<Vec<AttemptView>, StoreError> {
        self.engine.read(reading::Attempts(key)).await
    }

    async fn list(
        &self,
        filter: Filter,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<Page, StoreError> {
        let list = reading::List {
            filter,
            after,
            limit,
        };
        self.engine.read(list).await
    }

    async fn inputs(
        &self,
        pipeline: String,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<InputPage, StoreError> {
        let inputs = reading::Inputs {
            pipeline,
            after,
            limit,
        };
        self.engine.read(inputs).await
    }

    async fn stats(&self) -> Result<Stats, StoreError> {
        self.engine.read(reading::AllStats).await
    }

    async fn rebind_source(
        &self,
        source: String,
        digest: MappingDigest,
        actor: String,
    ) -> Result<Rebound, StoreError> {
        let rebind = RebindSource {
            source,
            digest,
            actor,
        };
        self.engine.write(rebind).await
    }

    async fn pause(&self, subject: Subject, actor: String) -> Result<Paused, StoreError> {
        self.engine.write(PauseSubject { subject, actor }).await
    }

    async fn resume(&self, subject: Subject, actor: String) -> Result<Resumed, StoreError> {
        self.engine.write(ResumeSubject { subject, actor }).await
    }

    async fn pauses(&self) -> Result<Vec<Pause>, StoreError> {
        self.engine.read(reading::Pauses).await
    }

    async fn backup(&self, file: &Path) -> Result<Backup, StoreError> {
        self.engine.backup(file).await
    }

    async fn ready(&self) -> Result<(), StoreError> {
        self.engine.ready().await
    }

    async fn close(&self) {
        self.engine.close().await;
    }
}
