//! What models and providers were seen to do, and what has to come of it. A worker on a database
//! tries each row with every extractor that can meet it, and looks at what the attempt and the
//! report tell.
//!
//! Numbers are those of the public reports that the corpus was gathered from; other rows stand for
//! what follows from the providers' own descriptions.

mod answers;
mod bench;
mod bodies;
mod chains;
mod endings;
mod fences;
mod refusals;
mod schemas;
mod statuses;
mod times;
mod values;

use std::{collections::BTreeSet, time::Duration};

use fencepost::{
    report::{AttemptOutcome, ReviewReason},
    store::{Charge, PauseReason},
};
use fencepost_model::Behaviour;

use self::bench::hold;
use crate::who::Who;

/// Every public report of the corpus.
const NUMBERS: [u8; 19] = [
    5, 7, 12, 14, 15, 16, 18, 19, 24, 28, 31, 33, 42, 45, 49, 51, 52, 53, 54,
];

/// Those that a test of its own is about, as they are no single answer.
const BY_THEMSELVES: [(u8, &str); 2] = [
    (52, "schemas::what_a_provider_can_not_take_is_never_sent"),
    (
        54,
        "chains::another_prompt_is_another_extraction_of_the_same_report",
    ),
];

/// What belongs to something that is not there yet, and so has no test.
const NOT_YET: [(u8, &str); 2] = [
    (
        42,
        "a custom id of 65 characters: there are no remote batches",
    ),
    (
        45,
        "a job that is not found just after it was made: there are no remote batches",
    ),
];

/// What was seen, and what has to come of it.
pub(crate) struct Row {
    /// Its number, where it is one of the public reports.
    number: Option<u8>,
    /// Where it was reported, or what it stands for.
    origin: &'static str,
    asked: Asked,
    said: Said,
    comes: Comes,
}

/// What the pipeline asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// The shipped schema and rules.
    Moderation,
    /// A list that is held to the reviewed revision.
    Findings,
    /// A schema that lets a model say what it likes.
    Free,
}

/// What comes back.
enum Said {
    /// The same of all, in the form of each.
    ByAll(Behaviour),
    /// In a provider's own words; nothing of those who have none for it.
    By(Box<dyn Fn(Who) -> Option<Behaviour>>),
}

/// What has to come of it.
#[derive(Clone, Debug, PartialEq)]
enum Comes {
    /// This value is committed as it stands.
    Committed(String),
    /// The same, without the fence that it stood in.
    Unfenced(String),
    /// This value is committed, and a person looks, for this reason.
    Doubted(String, String),
    /// The attempt counts, its reason names the place, and the question is put anew.
    Again(AttemptOutcome, String),
    /// The job is put off, for a provider's own time where it names one.
    Later(AttemptOutcome, Charge, Option<Duration>),
    /// The attempt counts, and a person looks at once.
    Person(AttemptOutcome, ReviewReason),
    /// The attempt does not count, and the credential waits.
    Paused(PauseReason, Option<Duration>),
}

/// Paid for, perhaps: the attempt counts.
const BROKEN: Comes = Comes::Later(AttemptOutcome::Transport, Charge::Keep, None);
const LIMITED: Comes = Comes::Later(AttemptOutcome::RateLimited, Charge::GiveBack, None);
const OVERLOADED: Comes = Comes::Later(AttemptOutcome::Overloaded, Charge::GiveBack, None);
const QUOTA: Comes = Comes::Paused(PauseReason::Quota, None);
const AUTH: Comes = Comes::Paused(PauseReason::Auth, None);
const REFUSED: Comes = Comes::Person(AttemptOutcome::Refused, ReviewReason::Refused);
const INVALID: Comes = Comes::Person(AttemptOutcome::InvalidRequest, ReviewReason::InvalidRequest);
const TOO_LONG: Comes = Comes::Person(AttemptOutcome::ContextTooLong, ReviewReason::ContextTooLong);

const FINE: &str = r#"{"category":"other","confidence":0.9,"needsHumanReview":false}"#;

impl Row {
    /// A text that a model answered.
    fn answer(origin: &'static str, asked: Asked, text: impl Into<String>, comes: Comes) -> Self {
        let said = Said::ByAll(Behaviour::Answer(text.into()));
        Self {
            number: None,
            origin,
            asked,
            said,
            comes,
        }
    }

    /// What all servers may do.
    fn behaviour(origin: &'static str, behaviour: Behaviour, comes: Comes) -> Self {
        Self {
            number: None,
            origin,
            asked: Asked::Moderation,
            said: Said::ByAll(behaviour),
            comes,
        }
    }

    /// What some say in their own words.
    fn own(
        origin: &'static str,
        said: impl Fn(Who) -> Option<Behaviour> + 'static,
        comes: Comes,
    ) -> Self {
        Self {
            number: None,
            origin,
            asked: Asked::Moderation,
            said: Said::By(Box::new(said)),
            comes,
        }
    }

    fn numbered(self, number: u8) -> Self {
        Self {
            number: Some(number),
            ..self
        }
    }
}

/// The rows of all tables, each of which a test of its own holds.
fn tables() -> [Vec<Row>; 9] {
    [
        answers::rows(),
        fences::rows(),
        values::rows(),
        endings::rows(),
        refusals::rows(),
        statuses::rows(),
        bodies::rows(),
        times::rows(),
        schemas::rows(),
    ]
}

#[test]
fn every_public_report_is_tried_or_said_not_to_be() {
    let tables = tables();
    let in_tables = tables.iter().flatten().filter_map(|row| row.number);
    let elsewhere = BY_THEMSELVES.iter().map(|(number, _)| *number);
    let tried: BTreeSet<_> = in_tables.chain(elsewhere).collect();
    let not_yet = NOT_YET.iter().map(|(number, _)| *number);
    let known: BTreeSet<_> = tried.iter().copied().chain(not_yet.clone()).collect();
    assert_eq!(known, BTreeSet::from(NUMBERS));
    assert!(not_yet.clone().all(|number| !tried.contains(&number)));
    assert_eq!(not_yet.collect::<Vec<_>>(), [42, 45]);
}

#[tokio::test]
async fn text_that_would_have_to_be_guessed_at_is_no_answer() {
    hold(&answers::rows()).await;
}

#[tokio::test]
async fn one_fence_around_all_is_taken_away_and_nothing_else() {
    hold(&fences::rows()).await;
}

#[tokio::test]
async fn what_reads_well_is_held_to_the_schema_and_the_policy() {
    hold(&values::rows()).await;
}

#[tokio::test]
async fn how_an_answer_ended_comes_before_what_it_says() {
    hold(&endings::rows()).await;
}

#[tokio::test]
async fn a_model_or_a_filter_that_declines_is_a_persons_matter() {
    hold(&refusals::rows()).await;
}

#[tokio::test]
async fn a_status_and_what_is_said_with_it_decide_what_follows() {
    hold(&statuses::rows()).await;
}

#[tokio::test]
async fn what_is_no_answer_of_the_provider_is_never_taken_for_one() {
    hold(&bodies::rows()).await;
}

#[tokio::test]
async fn a_providers_own_time_is_kept_and_junk_is_no_time() {
    hold(&times::rows()).await;
}

#[tokio::test]
async fn a_schema_that_the_provider_refuses_is_a_persons_matter() {
    hold(&schemas::rows()).await;
}
