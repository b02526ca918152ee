//! One question about one input of which nothing is stored: what a worker would make of it.

use std::time::Duration;

use fencepost_identity::{identity::Identity, key::CallKey, mapping::Input};

use super::{Pipeline, Timer as _, TokioTimer, fetch, settle::outcome_of};
use crate::{
    extractor::{Draft, ExtractError, OutputCap, Question},
    fetch::FetchError,
    judge::{Answer, Judgement},
    report::AttemptOutcome,
};

/// What a first attempt came to.
#[derive(Debug)]
pub enum Trial {
    /// The call brought an answer.
    Answered {
        /// As it came.
        draft: Draft,
        /// How long the call took.
        took: Duration,
        /// What it is worth.
        judgement: Judgement,
    },
    /// The call brought none.
    Failed {
        /// Why, and what follows.
        error: ExtractError,
        /// What the attempt would be called.
        outcome: AttemptOutcome,
        /// How long the call took.
        took: Duration,
    },
}

/// An input that was not fetched.
#[derive(Debug)]
pub struct FetchFailed {
    /// Why, and what follows.
    pub error: FetchError,
    /// What the attempt would be called.
    pub outcome: AttemptOutcome,
}

impl Pipeline {
    /// What a model would be asked first about an input.
    #[must_use]
    pub fn first_question<'a>(&'a self, call_key: CallKey, input: &'a [u8]) -> Question<'a> {
        self.question(call_key, input, OutputCap::Ordinary)
    }

    /// Fetches the input of a report of a source once, as a worker does; nothing for a source that
    /// does not leave it to the backend.
    pub async fn try_fetch(
        &self,
        source: &str,
        identity: &Identity,
        links: &[(String, String)],
    ) -> Option<Result<Input, FetchFailed>> {
        let fetcher = &self.sources.get(source)?.fetcher;
        let fetched = tokio::select! {
            biased;
            fetched = fetcher.fetch(identity, links) => fetched,
            () = TokioTimer.sleep(fetcher.timeout()) => Err(FetchError::Timeout),
        };
        Some(fetched.map_err(|error| FetchFailed {
            outcome: fetch::outcome_of(&error),
            error,
        }))
    }

    /// Asks it once, as a worker does and as soon as the limits allow, and judges the answer.
    pub async fn try_out(&self, question: &Question<'_>) -> Trial {
        let mut permit = self.limiter.in_turn(&TokioTimer).await;
        permit.begin();
        match self.call(question, &TokioTimer).await {
            (Ok(draft), took) => {
                let judgement = self.judge.judge(Answer {
                    text: &draft.text,
                    call_key: question.call_key,
                    input: question.input,
                });
                Trial::Answered {
                    draft,
                    took,
                    judgement,
                }
            }
            (Err(error), took) => Trial::Failed {
                outcome: outcome_of(error.failure),
                error,
                took,
            },
        }
    }
}
