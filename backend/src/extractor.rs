//! The one place that speaks to models.
//!
//! A provider's wire types never leave its file. What leaves it is a [`Draft`], which nobody has
//! validated yet, or an [`ExtractError`], which says what follows from it.

pub mod anthropic;
pub mod baseline;
#[cfg(feature = "bedrock")]
pub mod bedrock;
mod client;
pub mod code_baseline;
pub mod gemini;
pub mod openai;
pub mod projection;
pub(crate) mod prompt;
mod provider;
mod settings;
mod status;
mod text;

use std::{fmt, time::Duration};

use async_trait::async_trait;
use fencepost_identity::key::CallKey;
use serde_json::Value;

use self::projection::Unprojectable;
pub use self::{
    client::SetupError,
    settings::{BaseUrl, Settings},
};

/// Asks a model one question.
///
/// Dropping the future of [`Extractor::extract`] gives the call up: the lease was lost, or the
/// time is over. An implementation keeps nothing that has to be tidied up after that.
#[async_trait]
pub trait Extractor: Send + Sync {
    /// What shapes an answer besides the pipeline's prompt: provider, model, parameters, built-in
    /// instructions. It goes into the digest that a classifier version is bound to, so it holds no
    /// secret and is the same at every start.
    fn fingerprint(&self) -> Value;

    /// Who is asked, as far as that is known without an answer: what the row of an attempt tells
    /// when nothing came in time.
    fn addressee(&self) -> Call;

    /// A pipeline's schema in the provider's words, as it goes along with each question; none
    /// where nothing is sent.
    ///
    /// # Errors
    /// [`Unprojectable`]: a mistake of configuration.
    fn sent_schema(&self, _schema: &Value) -> Result<Option<Value>, Unprojectable> {
        Ok(None)
    }

    /// Whether a pipeline's schema can be said in the provider's words, or can hold what it
    /// answers: asked when a pipeline is loaded, so that no report meets a provider that can't
    /// take it.
    ///
    /// # Errors
    /// [`Unfit`]: a mistake of configuration.
    fn check_schema(&self, schema: &Value) -> Result<(), Unfit> {
        Ok(self.sent_schema(schema).map(drop)?)
    }

    /// Asks, once. Retries, timeouts and leases are the caller's.
    ///
    /// # Errors
    /// No answer that could be judged; [`ExtractError::disposition`] says what follows.
    async fn extract(&self, question: &Question<'_>) -> Result<Draft, ExtractError>;
}

/// Why an extractor can't work with a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// It can't be said in the provider's words.
    #[error("{0}")]
    Unsayable(#[from] Unprojectable),
    /// It refuses what an extractor answers that knows one form of answer alone.
    #[error("the schema can't hold an answer of this extractor: {0}")]
    Answers(String),
}

/// One question about one report.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The provider's idempotency key: the same key is the same question.
    pub call_key: CallKey,
    /// The immutable input: canonical JSON of an object.
    pub input: &'a [u8],
    /// The pipeline's prompt.
    pub prompt: &'a str,
    /// The pipeline's JSON Schema, for providers that constrain their output by one.
    pub schema: &'a Value,
    /// How long the answer may become.
    pub cap: OutputCap,
}

impl fmt::Debug for Question<'_> {
    /// Leaves the report's texts out, so that no log can show them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("call_key", &self.call_key)
            .field("input_bytes", &self.input.len())
            .field("cap", &self.cap)
            .finish_non_exhaustive()
    }
}

/// How long an answer may become; the extractor knows how many tokens that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputCap {
    /// The configured one.
    Ordinary,
    /// A larger one, because the answer was cut off the last time.
    Larger,
}

/// What a model answered. Nobody has validated it: only `schema` can make a report's value of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Draft {
    /// The answer as it came.
    pub text: String,
    /// What is known of the call that brought it.
    pub call: Call,
}

impl fmt::Debug for Draft {
    /// Leaves the text out: a model may have copied the report into it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Draft")
            .field("text_bytes", &self.text.len())
            .field("call", &self.call)
            .finish()
    }
}

/// What an attempt's row tells of a call, whether it brought an answer or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// Who was asked.
    pub provider: String,
    /// Which model answered, as the provider names it.
    pub model: String,
    /// The provider's own id of the request.
    pub request_id: Option<RequestId>,
    /// What it cost.
    pub usage: Usage,
}

/// Tokens, where the provider counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the question.
    pub tokens_in: Option<u64>,
    /// Tokens of the answer.
    pub tokens_out: Option<u64>,
}

/// A provider's id of a request: up to 128 printable ASCII characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(String);

impl RequestId {
    const BYTES_MAX: usize = 128;

    /// Takes what a provider sent, or nothing where it would not be fit to print.
    pub fn new(text: &str) -> Option<Self> {
        let printable = text.bytes().all(|byte| byte.is_ascii_graphic());
        let fits = (1..=Self::BYTES_MAX).contains(&text.len());
        (printable && fits).then(|| Self(text.to_owned()))
    }

    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A call that brought no answer which could be judged.
///
/// Its text is made of fixed words and of numbers: a provider's own message may quote the report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{failure}")]
pub struct ExtractError {
    /// What went wrong.
    pub failure: Failure,
    /// What is known of the call all the same.
    pub call: Call,
}

/// The failures of a call, as in the taxonomy of the fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The model, or a filter of its provider, declines to answer.
    #[error("the model declined to answer")]
    Refused,
    /// The answer was cut off at the output cap.
    #[error("the answer was cut off at the output cap")]
    Truncated,
    /// No connection, a broken one, or an answer that is not the provider's.
    #[error("the provider could not be reached, or not be understood")]
    Transport(Inference),
    /// Too many requests; the provider may say for how long.
    #[error("the provider limits the rate")]
    RateLimited {
        /// What the provider asked for.
        retry_after: Option<Duration>,
    },
    /// The provider has no room; it may say for how long.
    #[error("the provider is overloaded")]
    Overloaded {
        /// What the provider asked for.
        retry_after: Option<Duration>,
    },
    /// Nothing came in time.
    #[error("no answer within the time for a call")]
    Timeout,
    /// The credential is wrong, or may not do this.
    #[error("the provider does not accept the credential")]
    Auth,
    /// The credential is used up.
    #[error("the credential's quota is used up")]
    Quota {
        /// What the provider asked for.
        retry_after: Option<Duration>,
    },
    /// The provider will never take this question.
    #[error("the provider does not accept the request")]
    InvalidRequest,
    /// The question is longer than the model takes.
    #[error("the input is longer than the model takes")]
    ContextTooLong,
}

/// Whether a model can have begun to work, and so whether somebody pays for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inference {
    /// Certainly not: the request was not sent.
    NotBegun,
    /// Nobody can tell.
    MayHaveBegun,
}

/// What follows from a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// Asking again would not help: a person looks at it.
    Review,
    /// Once more with [`OutputCap::Larger`]; after that a person looks at it.
    LargerCap,
    /// Later, and not before the provider's own time where it named one.
    Snooze {
        /// What the provider asked for.
        retry_after: Option<Duration>,
        /// Whether the attempt counts.
        inference: Inference,
    },
    /// No report can be worked on with this credential.
    PauseCredential {
        /// What the provider asked for.
        retry_after: Option<Duration>,
    },
}

impl ExtractError {
    /// What follows, decided where the failure is understood.
    pub fn disposition(&self) -> Disposition {
        self.failure.disposition()
    }
}

impl Failure {
    /// What follows, decided where the failure is understood.
    pub fn disposition(self) -> Disposition {
        match self {
            Self::Refused | Self::InvalidRequest | Self::ContextTooLong => Disposition::Review,
            Self::Truncated => Disposition::LargerCap,
            Self::Transport(inference) => Disposition::Snooze {
                retry_after: None,
                inference,
            },
            Self::RateLimited { retry_after } | Self::Overloaded { retry_after } => {
                Disposition::Snooze {
                    retry_after,
                    inference: Inference::NotBegun,
                }
            }
            Self::Timeout => Disposition::Snooze {
                retry_after: None,
                inference: Inference::MayHaveBegun,
            },
            Self::Auth => Disposition::PauseCredential { retry_after: None },
            Self::Quota { retry_after } => Disposition::PauseCredential { retry_after },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_has_its_consequence() {
        let after = Some(Duration::from_secs(7));
        let snooze = |retry_after, inference| Disposition::Snooze {
            retry_after,
            inference,
        };
        for (failure, expected) in [
            (Failure::Refused, Disposition::Review),
            (Failure::Truncated, Disposition::LargerCap),
            (
                Failure::Transport(Inference::NotBegun),
                snooze(None, Inference::NotBegun),
            ),
            (
                Failure::Transport(Inference::MayHaveBegun),
                snooze(None, Inference::MayHaveBegun),
            ),
            (
                Failure::RateLimited { retry_after: after },
                snooze(after, Inference::NotBegun),
            ),
            (
                Failure::Overloaded { retry_after: None },
                snooze(None, Inference::NotBegun),
            ),
            (Failure::Timeout, snooze(None, Inference::MayHaveBegun)),
            (
                Failure::Auth,
                Disposition::PauseCredential { retry_after: None },
            ),
            (
                Failure::Quota { retry_after: after },
                Disposition::PauseCredential { retry_after: after },
            ),
            (Failure::InvalidRequest, Disposition::Review),
            (Failure::ContextTooLong, Disposition::Review),
        ] {
            assert_eq!(failure.disposition(), expected, "{failure:?}");
        }
    }

    #[test]
    fn what_a_report_or_a_model_wrote_is_not_in_the_debug_output() {
        let schema = Value::Null;
        let question = Question {
            call_key: CallKey::from_bytes([7; 32]),
            input: br#"{"text":"canary"}"#,
            prompt: "canary",
            schema: &schema,
            cap: OutputCap::Ordinary,
        };
        let draft = Draft {
            text: "canary".to_owned(),
            call: Call::default(),
        };
        assert!(!format!("{question:?}{draft:?}").contains("canary"));
    }

    #[test]
    fn an_unprintable_request_id_is_dropped() {
        assert_eq!(
            RequestId::new("req_1").map(|id| id.as_str().to_owned()),
            Some("req_1".into())
        );
        for text in ["", "a b", "a\n", "ä", &"x".repeat(129)] {
            assert_eq!(RequestId::new(text), None, "{text:?}");
        }
    }
}
