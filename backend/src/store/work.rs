//! What a worker asks, and what it is answered.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
    time::Duration,
};

use fencepost_identity::{
    identity::Identity,
    key::{ReportKey, ResultKey},
};

use super::{Corruption, CredentialName, Lease, Lost, NewInput, Subject, Turns};
use crate::{
    clock::UnixMillis,
    report::{AttemptNumber, AttemptOutcome, Finding, Nonce, ReviewReason, WorkerId},
};

/// A worker looks for something to do.
#[derive(Clone, Debug)]
pub struct ClaimRequest {
    /// Who asks.
    pub worker: WorkerId,
    /// Drawn at random for this one request.
    pub nonce: Nonce,
    /// The pipelines that it can work for, each at most once.
    pub pipelines: Vec<PipelineTerms>,
    /// Who was served before.
    pub turns: Arc<Turns>,
}

/// On what terms a pipeline's jobs are granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineTerms {
    /// The pipeline's name.
    pub pipeline: String,
    /// What an unbound job is bound to; jobs bound to another are left alone.
    pub classifier_version: String,
    /// What answers are judged by.
    pub schema_version: String,
    /// What is presented to whoever is asked.
    pub credential: CredentialName,
    /// What is presented to those whom inputs are fetched from, by source.
    pub fetched_with: BTreeMap<String, CredentialName>,
    /// How long a lease is, from the grant and from each heartbeat on.
    pub lease: Duration,
    /// How many charged attempts a job has.
    pub max_attempts: u32,
    /// How long a job may take in all.
    pub max_elapsed: Duration,
}

impl PipelineTerms {
    /// What may be paused because of what was asked, or not.
    #[must_use]
    pub fn subjects(&self) -> [Subject; 2] {
        [
            Subject::Credential(self.credential.clone()),
            Subject::Pipeline(self.pipeline.clone()),
        ]
    }

    /// All that may be paused for these jobs.
    #[must_use]
    pub fn depends_on(&self) -> Vec<Subject> {
        // Several sources may present one.
        let fetched_with: BTreeSet<_> = self.fetched_with.values().cloned().collect();
        let fetched_with = fetched_with.into_iter().map(Subject::Credential);
        self.subjects().into_iter().chain(fetched_with).collect()
    }
}

/// What a worker gets to do.
#[derive(Debug)]
pub enum Claim {
    /// A job.
    Granted(Box<Grant>),
    /// Nothing now.
    Idle {
        /// How long until something is due, as things stand.
        wait: Option<Duration>,
    },
    /// A job's attempts were spent: it went to review, and nothing is to be called.
    Exhausted(ReportKey),
    /// A job's time was over: it went to review, and nothing is to be called.
    Elapsed(ReportKey),
    /// A newer version took the report's place while a worker had it, whose lease ran out, or a
    /// person has decided and the job's attempts or time are spent: the job ended, and nothing is
    /// to be called.
    Superseded(ReportKey),
    /// A job can't be understood: it was set aside, so that the others go on.
    SetAside(Corruption),
}

impl Claim {
    /// Whether what comes next shows if something that these terms depend on works.
    pub(super) fn tries(&self, subject: &Subject, terms: &PipelineTerms) -> bool {
        match self {
            Self::Granted(grant) => {
                let asks = grant.stored.is_none() && terms.subjects().contains(subject);
                let fetched_with = grant
                    .unfetched
                    .as_ref()
                    .and_then(|_| terms.fetched_with.get(&grant.source));
                let fetches =
                    fetched_with.is_some_and(|name| *subject == Subject::Credential(name.clone()));
                asks || fetches
            }
            Self::Idle { .. }
            | Self::Exhausted(_)
            | Self::Elapsed(_)
            | Self::Superseded(_)
            | Self::SetAside(_) => false,
        }
    }
}

/// A job that was granted.
#[derive(PartialEq, Eq)]
pub struct Grant {
    /// The right to write to it.
    pub lease: Lease,
    /// What the report is.
    pub identity: Identity,
    /// The source that it came from.
    pub source: String,
    /// The pipeline that it is for.
    pub pipeline: String,
    /// The immutable input: canonical JSON. Empty while it is to be fetched.
    pub input: Vec<u8>,
    /// The links by which the input is to be fetched before anything else, where it is not there
    /// yet.
    pub unfetched: Option<Vec<(String, String)>>,
    /// An answer to the lease's very question that was paid for and never judged: judge it
    /// instead of asking again.
    pub stored: Option<StoredAnswer>,
    /// The last verdict on an answer of this job.
    pub last_verdict: Option<AttemptOutcome>,
    /// How often in a row the provider failed in a way that passes by itself.
    pub failures: u32,
}

impl fmt::Debug for Grant {
    /// Leaves the report's texts out, so that no log can show them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grant")
            .field("lease", &self.lease)
            .field("pipeline", &self.pipeline)
            .field("input_bytes", &self.input.len())
            .field("stored", &self.stored)
            .finish_non_exhaustive()
    }
}

/// An input that was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The input.
    pub input: NewInput,
    /// What was presented to whoever had it, and so works.
    pub with: CredentialName,
}

/// What became of an input that was fetched.
#[derive(Clone, PartialEq, Eq)]
pub enum KeptInput {
    /// The report has this input from now on: the one that was fetched, unless there was one.
    Kept(Vec<u8>),
    /// The lease no longer stands; nothing was written.
    Lost(Lost),
}

impl fmt::Debug for KeptInput {
    /// Leaves the report's text out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept(input) => write!(f, "Kept({} bytes)", input.len()),
            Self::Lost(lost) => write!(f, "Lost({lost:?})"),
        }
    }
}

/// What is known of a call to a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallRecord {
    /// Who was asked.
    pub provider: String,
    /// Which model answered.
    pub model: String,
    /// The provider's own id of the request.
    pub request_id: Option<String>,
    /// Tokens of the question, where they are counted.
    pub tokens_in: Option<u64>,
    /// Tokens of the answer, where they are counted.
    pub tokens_out: Option<u64>,
    /// How long it took, whatever came of it; absent in what an older program wrote.
    pub latency_ms: Option<u64>,
}

impl CallRecord {
    /// The same call, which took so long.
    #[must_use]
    pub fn after(self, took: Duration) -> Self {
        let latency_ms = Some(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        Self { latency_ms, ..self }
    }
}

/// An answer as it came, not yet judged.
#[derive(Clone, PartialEq, Eq)]
pub struct RawAnswer {
    /// The answer.
    pub raw: Vec<u8>,
    /// The call that brought it.
    pub call: CallRecord,
}

impl fmt::Debug for RawAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawAnswer")
            .field("raw_bytes", &self.raw.len())
            .field("call", &self.call)
            .finish()
    }
}

/// A stored answer that nobody judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnswer {
    /// The answer and its call.
    pub answer: RawAnswer,
    /// The attempt that it came in.
    pub attempt: AttemptNumber,
}

/// A valid value, ready to be committed under the lease's schema version.
#[derive(Clone, PartialEq, Eq)]
pub struct Commitment {
    /// Canonical JSON.
    pub value: String,
    /// What it lists, where its pipeline makes findings: they are stored each under its own key.
    pub findings: Option<Vec<Finding>>,
    /// Why a person has to see it before it is final.
    pub review: Option<ReviewNeed>,
    /// What its attempt tells of the answer that it was read from: never a text of it.
    pub remark: Option<String>,
    /// The call that brought it; none when a stored answer was judged.
    pub call: Option<CallRecord>,
}

impl fmt::Debug for Commitment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commitment")
            .field("value_bytes", &self.value.len())
            .field("findings", &self.findings.as_ref().map(Vec::len))
            .field("review", &self.review)
            .field("remark", &self.remark)
            .field("call", &self.call)
            .finish()
    }
}

/// Why a person is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewNeed {
    /// The kind of reason.
    pub reason: ReviewReason,
    /// More of it, for the reviewer: names and limits, never a text of the report.
    pub note: Option<String>,
}

impl From<ReviewReason> for ReviewNeed {
    fn from(reason: ReviewReason) -> Self {
        Self { reason, note: None }
    }
}

/// What became of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// The value is the report's result, and final.
    Final(ResultKey),
    /// The value is the report's result, and a person has to see it.
    InReview(ResultKey),
    /// The value is the report's result; a person would have to see it, had a newer version not
    /// taken the report's place meanwhile.
    Superseded(ResultKey),
    /// A person had decided about the report before: the value is kept beside, and replaces
    /// nothing.
    Candidate(ResultKey),
    /// The lease no longer stands; nothing was written.
    Lost(Lost),
}

/// An attempt that failed for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// How.
    pub outcome: AttemptOutcome,
    /// What was wrong: places and rules, never a text of the report.
    pub reason: Option<String>,
    /// The call, where one was made in this attempt.
    pub call: Option<CallRecord>,
    /// What the worker thinks should follow.
    pub next: AfterRejection,
}

/// What should follow a rejection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AfterRejection {
    /// Another attempt after this wait, or review when the attempts are spent.
    Again(Duration),
    /// Review.
    Review(ReviewNeed),
}

/// What became of a rejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejected {
    /// Another attempt is due.
    Again {
        /// When.
        due: UnixMillis,
    },
    /// A person is asked.
    SentToReview(ReviewReason),
    /// A newer version took the report's place meanwhile, or a person decided: nothing follows.
    Superseded,
    /// The lease no longer stands; nothing was written.
    Lost(Lost),
}

/// A lease that is given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// How the attempt ended.
    pub outcome: AttemptOutcome,
    /// More of it.
    pub reason: Option<String>,
    /// The call, where one was made.
    pub call: Option<CallRecord>,
    /// As for [`AttemptOutcome::Auth`] and [`AttemptOutcome::Quota`], the credential that is meant,
    /// where it is not the one that is presented to who is asked.
    pub refused: Option<CredentialName>,
    /// How long the job is to wait; as for [`AttemptOutcome::Auth`] and [`AttemptOutcome::Quota`],
    /// the credential too, at least.
    pub after: Duration,
    /// Whether the attempt counts.
    pub charge: Charge,
}

/// Whether an attempt counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    /// It does.
    Keep,
    /// No inference can have begun, so it doesn't; at most `max_attempts` times per job.
    GiveBack,
}

/// What became of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Released {
    /// The job is claimed again later.
    Rescheduled {
        /// When, at the earliest.
        due: UnixMillis,
        /// Whether the attempt counts in the end.
        charge: Charge,
    },
    /// The attempts are spent: a person is asked.
    SentToReview(ReviewReason),
    /// A newer version took the report's place meanwhile, or a person decided: nothing follows.
    Superseded,
    /// The lease no longer stands; nothing was written.
    Lost(Lost),
}
