//! What people do to a report, as documents.

use fencepost_identity::key::ReportKey;
use serde::Serialize;

use super::{ReviewWire, SummaryWire};
use crate::{
    report::{Outcome, State},
    store::{OpenReview, ReviewPage},
};

/// A report that waits for a person.
#[derive(Debug, Serialize)]
pub struct OpenReviewWire {
    #[serde(flatten)]
    summary: SummaryWire,
    review: ReviewWire,
}

impl From<OpenReview> for OpenReviewWire {
    fn from(open: OpenReview) -> Self {
        Self {
            summary: open.summary.into(),
            review: open.review.into(),
        }
    }
}

/// A page of the reports that wait for a person, the one that waits longest first.
#[derive(Debug, Serialize)]
pub struct ReviewPageWire {
    reviews: Vec<OpenReviewWire>,
    /// Rows that can't be understood: table, column and key.
    unreadable: Vec<String>,
    /// What `cursor` is for the next page; null on the last one.
    next: Option<String>,
}

impl From<ReviewPage> for ReviewPageWire {
    fn from(page: ReviewPage) -> Self {
        Self {
            reviews: page.reviews.into_iter().map(OpenReviewWire::from).collect(),
            unreadable: page.unreadable.iter().map(ToString::to_string).collect(),
            next: page.next.map(|cursor| cursor.to_string()),
        }
    }
}

/// A decision that counts.
#[derive(Debug, Serialize)]
pub struct DecidedWire {
    report_key: ReportKey,
    state: &'static str,
    outcome: Option<Outcome>,
}

impl DecidedWire {
    /// A report and the state that it is in now.
    #[must_use]
    pub fn new(report_key: ReportKey, state: State) -> Self {
        Self {
            report_key,
            state: state.as_str(),
            outcome: state.outcome(),
        }
    }
}
