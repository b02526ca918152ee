//! Answers as texts that can be compared: times are minutes from now, and nothing is left out, as
//! the types' own `Debug` leaves out what logs must not show.

use std::fmt::{Debug, Write as _};

use fencepost::{
    clock::UnixMillis,
    store::{
        AttemptView, FindingView, FindingsView, Held, Rejected, Released, ReportSummary,
        ReportView, Stats, StoredAnswer,
    },
};

use super::reference::claim::{Claimed, Granted};

/// The clock that an answer's times are told by.
#[derive(Clone, Copy)]
pub(crate) struct Teller {
    pub(crate) now: UnixMillis,
}

/// What needs no telling but that of its type.
pub(crate) fn plainly(answer: impl Debug) -> String {
    format!("{answer:?}")
}

/// An answer of a store. None of what is done to it gives it a reason to fail.
pub(crate) fn told<T, E: Debug>(answer: Result<T, E>, tell: impl FnOnce(T) -> String) -> String {
    match answer {
        Ok(answer) => tell(answer),
        Err(error) => format!("it failed: {error:?}"),
    }
}

impl Teller {
    /// The nearest minute: on the way here the database's clock went on a little.
    fn minutes(self, time: UnixMillis) -> i64 {
        (time.get() - self.now.get() + 30_000).div_euclid(60_000)
    }

    fn perhaps(self, time: Option<UnixMillis>) -> Option<i64> {
        time.map(|time| self.minutes(time))
    }

    pub(crate) fn held(self, answer: Held) -> String {
        match answer {
            Held::Yes { until } => format!("held until {}", self.minutes(until)),
            Held::Lost(lost) => plainly(lost),
        }
    }

    pub(crate) fn rejected(self, answer: Rejected) -> String {
        match answer {
            Rejected::Again { due } => format!("again in {}", self.minutes(due)),
            Rejected::SentToReview(_) | Rejected::Superseded | Rejected::Lost(_) => plainly(answer),
        }
    }

    pub(crate) fn released(self, answer: Released) -> String {
        match answer {
            Released::Rescheduled { due, charge } => {
                format!("again in {}, {charge:?}", self.minutes(due))
            }
            Released::SentToReview(_) | Released::Superseded | Released::Lost(_) => plainly(answer),
        }
    }

    pub(crate) fn claimed(self, answer: &Claimed) -> String {
        match answer {
            Claimed::Granted(granted) => self.granted(granted),
            Claimed::Idle { wait } => {
                let due = wait.map(|wait| self.minutes(self.now.plus(wait)));
                format!("idle, due in {due:?}")
            }
            Claimed::Exhausted(key) => format!("attempts of {key} are spent"),
            Claimed::Elapsed(key) => format!("time of {key} is over"),
            Claimed::Superseded(key) => format!("{key} is superseded"),
            Claimed::Other(what) => what.clone(),
        }
    }

    fn granted(self, granted: &Granted) -> String {
        let Granted {
            report,
            token,
            attempt,
            call_key,
            classifier_version,
            schema_version,
            until,
            length,
            identity,
            source,
            pipeline,
            input,
            links,
            stored,
            last_verdict,
            failures,
        } = granted;
        let until = self.minutes(*until);
        let stored = stored.as_ref().map(|StoredAnswer { answer, attempt }| {
            format!("{:?} {:?} of {attempt}", answer.raw, answer.call)
        });
        format!(
            "granted {report} token {token} attempt {attempt} call {call_key} \
             {classifier_version} {schema_version} until {until} length {length:?} {identity:?} \
             {source} {pipeline} {input:?} {links:?} stored {stored:?} verdict {last_verdict:?} \
             failures {failures}"
        )
    }

    pub(crate) fn summary(self, line: &ReportSummary) -> String {
        let ReportSummary {
            key,
            identity,
            state,
            source,
            pipeline,
            received,
            updated,
            attempts,
            charged,
        } = line;
        let (received, updated) = (self.minutes(*received), self.minutes(*updated));
        format!(
            "{key} {identity:?} {state:?} {source} {pipeline} received {received} updated \
             {updated} attempts {attempts} charged {charged}\n"
        )
    }

    pub(crate) fn report(self, view: Option<&ReportView>) -> String {
        let Some(view) = view else {
            return "no such report".to_owned();
        };
        let mut text = self.summary(&view.summary);
        writeln!(
            text,
            "{} {:?} order {:?} {:?} {:?} token {} conflicts {}",
            view.input_from,
            view.links,
            view.order,
            view.version_status,
            view.classifier_version,
            view.token,
            view.conflicts
        )
        .unwrap();
        if let Some(result) = &view.result {
            writeln!(
                text,
                "result {} {} {} attempt {} created {}",
                result.key,
                result.schema_version,
                result.value,
                plainly(result.attempt),
                self.minutes(result.created)
            )
            .unwrap();
        }
        if let Some(list) = &view.findings {
            text += &self.findings(list);
        }
        if let Some(review) = &view.review {
            writeln!(
                text,
                "review {} {} {} {:?} opened {} closed {:?}",
                review.revision,
                review.status,
                review.reason,
                review.note,
                self.minutes(review.opened),
                self.perhaps(review.closed)
            )
            .unwrap();
        }
        text
    }

    fn findings(self, list: &FindingsView) -> String {
        let FindingsView {
            findings,
            more,
            compared_with,
            gone,
        } = list;
        let mut text = format!("compared with {compared_with:?}, more {more}, gone {gone:?}\n");
        for finding in findings {
            let FindingView {
                key,
                lineage,
                status,
                since,
                value,
                collapsed,
                attempt,
                created,
                updated,
            } = finding;
            let (created, updated) = (self.minutes(*created), self.minutes(*updated));
            writeln!(
                text,
                "finding {key} {lineage} {status} {since:?} {value} collapsed {collapsed} attempt \
                 {attempt:?} created {created} updated {updated}"
            )
            .unwrap();
        }
        text
    }

    pub(crate) fn attempts(self, views: &[AttemptView]) -> String {
        views.iter().map(|view| self.attempt(view)).collect()
    }

    fn attempt(self, view: &AttemptView) -> String {
        let AttemptView {
            number,
            charged,
            worker,
            token,
            classifier_version,
            schema_version,
            call,
            call_key,
            started,
            ended,
            outcome,
            reason,
            raw,
            raw_emptied,
            verdict,
        } = view;
        let (started, ended) = (self.minutes(*started), self.perhaps(*ended));
        format!(
            "attempt {number} charged {charged} {worker} token {token} {classifier_version} \
             {schema_version} started {started} ended {ended:?} {outcome:?} {reason:?}\n    \
             {call:?} {call_key:?} {raw:?} emptied {raw_emptied:?} verdict {verdict:?}\n"
        )
    }

    /// Databases count in no particular order.
    pub(crate) fn stats(self, mut stats: Stats) -> String {
        for line in &mut stats.states {
            line.oldest_ms = (line.oldest_ms + 30_000) / 60_000;
        }
        stats.states.sort_by_key(|line| plainly(line.state));
        let version = |line: &fencepost::store::VersionCount| plainly(line);
        stats.unfinished.sort_by_key(version);
        plainly(stats)
    }
}
