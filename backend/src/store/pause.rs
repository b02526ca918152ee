//! What is paused: no job that depends on it is granted meanwhile, and the time of those jobs
//! stands still.

use std::{fmt, str::FromStr, time::Duration};

use crate::{
    clock::UnixMillis,
    report::{AttemptOutcome, UnknownWord, words},
};

/// The name of what an extractor presents to its provider, or of what content is fetched with;
/// never the credential itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CredentialName(String);

impl CredentialName {
    /// Takes the name that people know it by.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The credential of an extractor: extractors that read one variable share it, and where none
    /// is read, the extractor stands for its own.
    #[must_use]
    pub fn of_extractor(extractor: &str, key_variable: Option<&str>) -> Self {
        match key_variable {
            Some(variable) => Self::new(variable),
            None => Self(format!("extractor {extractor}")),
        }
    }

    /// The credential that a source's content is fetched with, by the same rule.
    #[must_use]
    pub fn of_source(source: &str, token_variable: Option<&str>) -> Self {
        match token_variable {
            Some(variable) => Self::new(variable),
            None => Self(format!("source {source}")),
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What can be paused.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// Every pipeline whose extractor, or one of whose sources, presents this.
    Credential(CredentialName),
    /// One pipeline.
    Pipeline(String),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Credential(name) => write!(f, "credential {}", name.as_str()),
            Self::Pipeline(name) => write!(f, "pipeline {name}"),
        }
    }
}

impl FromStr for Subject {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text.split_once(' ') {
            Some(("credential", name)) => Ok(Self::Credential(CredentialName::new(name))),
            Some(("pipeline", name)) => Ok(Self::Pipeline(name.to_owned())),
            Some(_) | None => Err(UnknownWord),
        }
    }
}

words! {
    /// Why something is paused.
    PauseReason {
        /// The provider does not accept the credential.
        Auth = "auth",
        /// The credential's quota is used up.
        Quota = "quota",
        /// The provider does not accept the requests of several reports in a row.
        InvalidRequest = "invalid_request",
        /// Several reports in a row do not fit the model.
        ContextTooLong = "context_too_long",
        /// A person wanted it. Only a person ends it.
        Operator = "operator",
    }
}

impl PauseReason {
    /// Why an attempt that ended like this pauses its credential, if it does.
    pub(super) const fn of_credential(outcome: AttemptOutcome) -> Option<Self> {
        match outcome {
            AttemptOutcome::Auth => Some(Self::Auth),
            AttemptOutcome::Quota => Some(Self::Quota),
            AttemptOutcome::Committed
            | AttemptOutcome::LeaseLost
            | AttemptOutcome::Released
            | AttemptOutcome::SyntaxInvalid
            | AttemptOutcome::SchemaInvalid
            | AttemptOutcome::PolicyInvalid
            | AttemptOutcome::Refused
            | AttemptOutcome::Truncated
            | AttemptOutcome::Transport
            | AttemptOutcome::RateLimited
            | AttemptOutcome::Overloaded
            | AttemptOutcome::Timeout
            | AttemptOutcome::InvalidRequest
            | AttemptOutcome::ContextTooLong
            | AttemptOutcome::Database => None,
        }
    }

    /// Why several attempts in a row that ended like this pause their pipeline, if they do.
    pub(super) const fn of_pipeline(outcome: AttemptOutcome) -> Option<Self> {
        match outcome {
            AttemptOutcome::InvalidRequest => Some(Self::InvalidRequest),
            AttemptOutcome::ContextTooLong => Some(Self::ContextTooLong),
            AttemptOutcome::Committed
            | AttemptOutcome::LeaseLost
            | AttemptOutcome::Released
            | AttemptOutcome::SyntaxInvalid
            | AttemptOutcome::SchemaInvalid
            | AttemptOutcome::PolicyInvalid
            | AttemptOutcome::Refused
            | AttemptOutcome::Truncated
            | AttemptOutcome::Transport
            | AttemptOutcome::RateLimited
            | AttemptOutcome::Overloaded
            | AttemptOutcome::Timeout
            | AttemptOutcome::Auth
            | AttemptOutcome::Quota
            | AttemptOutcome::Database => None,
        }
    }
}

/// A pause that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pause {
    /// What is paused.
    pub subject: Subject,
    /// Why.
    pub reason: PauseReason,
    /// Since when.
    pub since: UnixMillis,
    /// When one job is let through to see whether it is over; never where a person paused it.
    pub probe: Option<UnixMillis>,
    /// How many were let through so far.
    pub probes: u32,
}

/// What became of a person's wish to pause something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paused {
    /// It is paused from now on.
    Begun,
    /// It was paused for another reason, and is now until a person resumes it.
    TakenOver {
        /// Why it was paused.
        from: PauseReason,
    },
    /// A person had paused it already; nothing was changed.
    Already,
}

/// What became of a person's wish to resume something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resumed {
    /// It was paused like this, and is no longer.
    Ended(Pause),
    /// It was not paused; nothing was changed.
    NotPaused,
}

/// How long until a probe, after so many: each wait is twice the last one, up to an hour.
pub(super) fn until_probe(probes: u32) -> Duration {
    const MINUTE: Duration = Duration::from_secs(60);
    const LONGEST: Duration = Duration::from_secs(60 * 60);
    MINUTE.saturating_mul(1 << probes.min(6)).min(LONGEST)
}

/// How long the times from `from` to `to` add up to that `pauses` name by beginning and end, sorted
/// by their beginning. What two of them share counts once; one without an end goes on.
pub(super) fn stood_still(
    from: UnixMillis,
    to: UnixMillis,
    pauses: &[(UnixMillis, Option<UnixMillis>)],
) -> Duration {
    let mut counted = from;
    let mut sum = Duration::ZERO;
    for (begun, ended) in pauses {
        let begun = counted.max(*begun);
        let ended = ended.map_or(to, |ended| ended.min(to));
        sum = sum.saturating_add(ended.since(begun));
        counted = counted.max(ended);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_read_back_from_its_text() {
        let of = |variable| CredentialName::of_extractor("gpt", variable);
        for (subject, text) in [
            (
                Subject::Credential(of(Some("OPENAI_API_KEY"))),
                "credential OPENAI_API_KEY",
            ),
            (Subject::Credential(of(None)), "credential extractor gpt"),
            (
                Subject::Pipeline("moderation".to_owned()),
                "pipeline moderation",
            ),
        ] {
            assert_eq!(subject.to_string(), text);
            assert_eq!(text.parse(), Ok(subject));
        }
        for text in ["", "pipeline", "tenant acme"] {
            assert_eq!(text.parse::<Subject>(), Err(UnknownWord), "{text:?}");
        }
    }

    #[test]
    fn waits_for_a_probe_double_up_to_an_hour() {
        let minutes: Vec<_> = [0, 1, 2, 5, 6, 7, u32::MAX]
            .map(|probes| until_probe(probes).as_secs() / 60)
            .into();
        assert_eq!(minutes, [1, 2, 4, 32, 60, 60, 60]);
    }

    #[test]
    fn what_two_pauses_share_counts_once() {
        let sum = |pauses: &[(i64, Option<i64>)]| {
            let time = UnixMillis::new;
            let pauses: Vec<_> = pauses
                .iter()
                .map(|(begun, ended)| (time(*begun), ended.map(time)))
                .collect();
            stood_still(time(100), time(200), &pauses).as_millis()
        };
        for (pauses, expected) in [
            (&[][..], 0),
            (&[(110, Some(120))], 10),
            (&[(110, Some(120)), (130, Some(150))], 30),
            // One begins in the other, one lies in it, one is as long.
            (&[(110, Some(140)), (120, Some(150))], 40),
            (&[(110, Some(150)), (120, Some(130)), (140, Some(160))], 50),
            (&[(110, Some(120)), (110, Some(120))], 10),
            // Before, after, around.
            (&[(10, Some(90)), (210, None)], 0),
            (&[(10, Some(110)), (190, Some(250))], 20),
            (&[(10, Some(250)), (20, None)], 100),
            (&[(150, None), (160, Some(170))], 50),
            // An end before its beginning, as when a clock was set back.
            (&[(150, Some(140)), (160, Some(170))], 10),
        ] {
            assert_eq!(sum(pauses), expected, "{pauses:?}");
        }
    }
}
