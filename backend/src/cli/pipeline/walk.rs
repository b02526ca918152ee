//! What a payload met on its way, step by step.

mod findings;
mod print;

use fencepost_identity::{
    admission::Refusal,
    config::Source,
    envelope::Envelope,
    key::{CallKey, ClaimKey, InputHash, ReportKey, ResultKey},
    mapping::Input,
};
use serde::Serialize;
use serde_json::Value;
use std::{collections::BTreeMap, time::Duration};

use self::findings::Found;
pub(super) use self::findings::Names;
use crate::{
    cli::Verdict,
    extractor::{
        Call, Disposition, Question,
        prompt::{Prompt, measure},
    },
    fetch::Consequence,
    http::wire::IdentityWire,
    judge::{self, Judgement},
    report::AttemptOutcome,
    store::PipelineVersions,
    worker::{FetchFailed, Trial},
};

/// What decides about a real delivery, and is not looked at here.
const NOT_CHECKED: [&str; 2] = [
    "the signature: whoever sent this, and when, it is taken as it stands, and as no handshake",
    "the database: whether the report is there already, and what the versions are bound to",
];

/// The way of one payload, as far as it came.
#[derive(Serialize)]
pub(super) struct Walk {
    pipeline: String,
    source: String,
    not_checked: [&'static str; 2],
    /// The places of the payload that the source's filter looks at.
    filter: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<Refused>,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<Report>,
    /// What came of fetching the input, where nothing did.
    #[serde(skip_serializing_if = "Option::is_none")]
    fetch: Option<Fetched>,
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<Asked>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<Called>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Answered>,
    end: End,
}

/// What the sender would be told.
#[derive(Serialize)]
struct Refused {
    status: u16,
    code: &'static str,
    message: &'static str,
}

#[derive(Serialize)]
struct Report {
    identity: IdentityWire,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<String>,
    links: BTreeMap<String, String>,
    classifier_version: String,
    schema_version: String,
    report_key: ReportKey,
    claim_key: ClaimKey,
    call_key: CallKey,
    result_key: ResultKey,
    /// None where it would be fetched, and was not.
    #[serde(flatten)]
    input: Option<Shown>,
}

/// What is told of an input.
#[derive(Serialize)]
struct Shown {
    input_hash: InputHash,
    input_bytes: usize,
    input_characters: usize,
    /// Those of them that no model is shown.
    hidden_characters: usize,
}

/// The keys of a report and of what is made of it.
pub(super) struct Keys {
    pub(super) report: ReportKey,
    pub(super) claim: ClaimKey,
    pub(super) call: CallKey,
    pub(super) result: ResultKey,
}

/// A fetch that brought nothing.
#[derive(Serialize)]
struct Fetched {
    outcome: AttemptOutcome,
    reason: String,
}

/// What a model would be asked.
#[derive(Serialize)]
struct Asked {
    system: String,
    user: String,
    /// In the provider's words; none where none is sent.
    schema: Option<Value>,
}

#[derive(Serialize)]
struct Called {
    provider: String,
    model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_in: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_out: Option<u64>,
    latency_ms: u64,
    outcome: AttemptOutcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Serialize)]
struct Answered {
    /// As it came.
    raw: String,
    /// Canonical JSON of what would be stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// What the list says, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    findings: Option<Vec<Found>>,
}

/// How it ends.
#[derive(Serialize)]
struct End {
    would: Would,
    why: String,
}

/// What would come of the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Would {
    /// Nothing: it is no report, or not taken.
    Ignore,
    Refuse,
    /// The value is the report's result.
    Commit,
    /// A person is asked.
    Review,
    /// The model is asked once more.
    AskAgain,
    /// The credential waits, and so do all that present it.
    Pause,
    /// The content would be fetched later.
    FetchAgain,
    /// The model, which was left out here.
    Ask,
    /// The content, whose fetch was left out here.
    Fetch,
}

impl Walk {
    pub(super) fn of(pipeline: &str, source: &Source) -> Self {
        let filter = source.filter.iter();
        Self {
            pipeline: pipeline.to_owned(),
            source: source.name.clone(),
            not_checked: NOT_CHECKED,
            filter: filter
                .map(|filter| filter.pointer.as_str().to_owned())
                .collect(),
            refused: None,
            report: None,
            fetch: None,
            question: None,
            call: None,
            answer: None,
            end: End {
                would: Would::Ask,
                why: String::new(),
            },
        }
    }

    /// Whether the report would come to rest.
    pub(super) fn verdict(&self) -> Verdict {
        match self.end.would {
            Would::Commit | Would::Review | Would::Ask | Would::Fetch => Verdict::Done,
            Would::Ignore | Would::Refuse | Would::AskAgain | Would::FetchAgain | Would::Pause => {
                Verdict::No
            }
        }
    }

    fn ends(&mut self, would: Would, why: impl Into<String>) {
        let why = why.into();
        self.end = End { would, why };
    }

    pub(super) fn refused(&mut self, refusal: &Refusal) {
        self.refused = Some(Refused {
            status: refusal.status(),
            code: refusal.code(),
            message: refusal.title(),
        });
        self.ends(Would::Refuse, refusal.reason());
    }

    pub(super) fn ignored(&mut self) {
        self.ends(Would::Ignore, "the source's filter asks for other payloads");
    }

    pub(super) fn report(&mut self, envelope: &Envelope, versions: &PipelineVersions, keys: Keys) {
        self.report = Some(Report {
            identity: envelope.identity.clone().into(),
            order: envelope.order.clone(),
            links: envelope.links.iter().cloned().collect(),
            classifier_version: versions.classifier_version.clone(),
            schema_version: versions.schema_version.clone(),
            report_key: keys.report,
            claim_key: keys.claim,
            call_key: keys.call,
            result_key: keys.result,
            input: None,
        });
    }

    /// The input that a model would be shown.
    pub(super) fn input(&mut self, input: &Input) {
        let bytes = input.as_str().as_bytes();
        let measured = measure(bytes);
        if let Some(report) = &mut self.report {
            report.input = Some(Shown {
                input_hash: input.hash(),
                input_bytes: bytes.len(),
                input_characters: measured.characters,
                hidden_characters: measured.hidden,
            });
        }
    }

    pub(super) fn not_fetched(&mut self) {
        self.ends(Would::Fetch, "nothing was fetched");
    }

    pub(super) fn fetch_failed(&mut self, failed: &FetchFailed) {
        self.fetch = Some(Fetched {
            outcome: failed.outcome,
            reason: failed.error.to_string(),
        });
        match failed.error.consequence() {
            Consequence::Review => self.ends(Would::Review, "fetching again would not help"),
            Consequence::Later { retry_after } => {
                let why = format!("later{}", after(retry_after));
                self.ends(Would::FetchAgain, why);
            }
            Consequence::PauseCredential => {
                self.ends(Would::Pause, "nothing is fetched with this credential");
            }
        }
    }

    pub(super) fn question(&mut self, question: &Question<'_>, schema: Option<Value>) {
        self.question = Prompt::of(question).map(|prompt| Asked {
            system: prompt.system,
            user: prompt.user,
            schema,
        });
    }

    pub(super) fn not_answerable(&mut self, refusal: &judge::Refusal) {
        let why = format!("no model is asked: {}", refusal.reason);
        self.ends(Would::Review, why);
    }

    pub(super) fn not_asked(&mut self, doubt: Option<String>) {
        let asked = "no model was asked";
        let why = match doubt {
            Some(doubt) => format!("{asked}; whatever it says, a person is: {doubt}"),
            None => asked.to_owned(),
        };
        self.ends(Would::Ask, why);
    }

    pub(super) fn answered(&mut self, trial: Trial, max_attempts: u32, names: &Names<'_>) {
        match trial {
            Trial::Failed {
                error,
                outcome,
                took,
            } => {
                let reason = Some(error.to_string());
                let (would, why) = follows(error.disposition());
                self.call = Some(Called::new(error.call, took, outcome, reason));
                self.ends(would, why);
            }
            Trial::Answered {
                draft,
                took,
                judgement,
            } => {
                let (outcome, reason, value, findings) = match judgement {
                    Judgement::Valid {
                        value,
                        findings,
                        doubt,
                        remark,
                    } => {
                        match doubt {
                            Some(doubt) => self.ends(Would::Review, doubt),
                            None => self.ends(Would::Commit, "no rule asks a person"),
                        }
                        let findings = findings.map(|found| names.of_all(found));
                        (AttemptOutcome::Committed, remark, Some(value), findings)
                    }
                    Judgement::Invalid { outcome, reason } => {
                        let why = format!(
                            "the answer is not taken; after {max_attempts} attempts a person is \
                             asked"
                        );
                        self.ends(Would::AskAgain, why);
                        (outcome, Some(reason), None, None)
                    }
                };
                self.call = Some(Called::new(draft.call, took, outcome, reason));
                self.answer = Some(Answered {
                    raw: draft.text,
                    value,
                    findings,
                });
            }
        }
    }
}

/// The time that whoever was asked wants to be left alone.
fn after(retry_after: Option<Duration>) -> String {
    match retry_after {
        Some(time) => format!(", not before {} s are over", time.as_secs()),
        None => String::new(),
    }
}

/// What follows from a call without an answer.
fn follows(disposition: Disposition) -> (Would, String) {
    match disposition {
        Disposition::Review => (Would::Review, "asking again would not help".to_owned()),
        Disposition::LargerCap => (
            Would::AskAgain,
            "once, for a longer answer; then a person is asked".to_owned(),
        ),
        Disposition::Snooze { retry_after, .. } => (
            Would::AskAgain,
            format!("the same question later{}", after(retry_after)),
        ),
        Disposition::PauseCredential { retry_after } => (
            Would::Pause,
            format!(
                "nothing that presents this credential is asked{}",
                after(retry_after)
            ),
        ),
    }
}

impl Called {
    fn new(call: Call, took: Duration, outcome: AttemptOutcome, reason: Option<String>) -> Self {
        Self {
            provider: call.provider,
            model: call.model,
            request_id: call.request_id.map(|id| id.as_str().to_owned()),
            tokens_in: call.usage.tokens_in,
            tokens_out: call.usage.tokens_out,
            latency_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            outcome,
            reason,
        }
    }
}
