//! The states of a report, and the one function that says what follows what.

use super::{UnknownWord, words};

words! {
    /// How a report came to rest.
    Outcome {
        /// A model's answer was committed, and no person was needed.
        Committed = "committed",
        /// A person decided.
        Decided = "decided",
        /// A person set it aside.
        Dismissed = "dismissed",
        /// A newer version of the report took its place.
        Superseded = "superseded",
        /// Its contents were erased; only its key is left.
        Erased = "erased",
    }
}

/// What a person sees of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Stored; nobody works on it.
    Accepted,
    /// A worker holds its lease.
    Running,
    /// The last answer was not valid, and another attempt is due.
    ValidationRejected,
    /// A person has to look at it.
    ReadyForReview,
    /// It came to rest.
    Terminal(Outcome),
}

words! {
    /// The word for a state; the outcome of a terminal one stands beside it, not in it.
    StateWord {
        /// [`State::Accepted`].
        Accepted = "accepted",
        /// [`State::Running`].
        Running = "running",
        /// [`State::ValidationRejected`].
        ValidationRejected = "validation_rejected",
        /// [`State::ReadyForReview`].
        ReadyForReview = "ready_for_review",
        /// [`State::Terminal`].
        Terminal = "terminal",
    }
}

impl State {
    /// The word, as databases and answers spell it.
    #[must_use]
    pub const fn word(self) -> StateWord {
        match self {
            Self::Accepted => StateWord::Accepted,
            Self::Running => StateWord::Running,
            Self::ValidationRejected => StateWord::ValidationRejected,
            Self::ReadyForReview => StateWord::ReadyForReview,
            Self::Terminal(_) => StateWord::Terminal,
        }
    }

    /// The word, as text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.word().as_str()
    }

    /// How it came to rest, if it did.
    #[must_use]
    pub const fn outcome(self) -> Option<Outcome> {
        match self {
            Self::Terminal(outcome) => Some(outcome),
            Self::Accepted | Self::Running | Self::ValidationRejected | Self::ReadyForReview => {
                None
            }
        }
    }

    /// Puts a state together from its two words.
    ///
    /// # Errors
    /// A word is unknown, or there is an outcome where none can be, or none where one must be.
    pub fn from_words(state: &str, outcome: Option<&str>) -> Result<Self, UnknownWord> {
        match (state.parse()?, outcome) {
            (StateWord::Accepted, None) => Ok(Self::Accepted),
            (StateWord::Running, None) => Ok(Self::Running),
            (StateWord::ValidationRejected, None) => Ok(Self::ValidationRejected),
            (StateWord::ReadyForReview, None) => Ok(Self::ReadyForReview),
            (StateWord::Terminal, Some(outcome)) => outcome.parse().map(Self::Terminal),
            (StateWord::Terminal, None) | (_, Some(_)) => Err(UnknownWord),
        }
    }

    /// What follows when `event` happens to a report in this state.
    #[must_use]
    pub const fn after(self, event: Event) -> Transition {
        transition(Some(self), event)
    }
}

/// What can happen to a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A delivery of it arrived.
    Ingest,
    /// A worker is given the lease.
    Grant,
    /// A worker is given the lease of another whose time ran out.
    Takeover,
    /// The worker gives it back.
    Release,
    /// The provider failed for a while, so the job is put off.
    Snooze,
    /// The provider's credential fails, so the job waits for it.
    Pause,
    /// An answer was not valid, and attempts are left.
    Reject,
    /// A person is needed: for the answer, or because no attempt is left.
    NeedReview,
    /// What the job was allowed is over before a worker could take it: its time, or its attempts
    /// when they were lowered meanwhile.
    Elapse,
    /// A valid answer that needs no person.
    Commit,
    /// A person decides.
    Decide,
    /// A person sets it aside.
    Dismiss,
    /// A person asks for another attempt.
    AskAgain,
    /// A newer version took its place.
    Supersede,
    /// Its contents are erased.
    Erase,
}

/// What an event does to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// It becomes this one.
    To(State),
    /// Nothing changes, and that is fine: a duplicate.
    Stays,
    /// This can't happen to that state.
    Refused,
}

/// The table of transitions. `None` is a report that is not there yet.
///
/// An erased report stays erased, whatever happens; otherwise a newer version or an erasure ends
/// any state.
#[must_use]
pub const fn transition(state: Option<State>, event: Event) -> Transition {
    use State::{Accepted, ReadyForReview, Running, Terminal, ValidationRejected};
    use Transition::{Refused, Stays, To};
    let Some(state) = state else {
        return match event {
            Event::Ingest => To(Accepted),
            Event::Grant
            | Event::Takeover
            | Event::Release
            | Event::Snooze
            | Event::Pause
            | Event::Reject
            | Event::NeedReview
            | Event::Elapse
            | Event::Commit
            | Event::Decide
            | Event::Dismiss
            | Event::AskAgain
            | Event::Supersede
            | Event::Erase => Refused,
        };
    };
    match event {
        Event::Ingest => Stays,
        Event::Grant => match state {
            Accepted | ValidationRejected => To(Running),
            Running | ReadyForReview | Terminal(_) => Refused,
        },
        Event::Takeover => from_running(state, Running),
        Event::Release | Event::Snooze | Event::Pause => from_running(state, Accepted),
        Event::Reject => from_running(state, ValidationRejected),
        Event::Commit => from_running(state, Terminal(Outcome::Committed)),
        Event::NeedReview => match state {
            Running | ValidationRejected => To(ReadyForReview),
            Accepted | ReadyForReview | Terminal(_) => Refused,
        },
        Event::Elapse => match state {
            Accepted | Running | ValidationRejected => To(ReadyForReview),
            ReadyForReview | Terminal(_) => Refused,
        },
        Event::Decide => from_review(state, Terminal(Outcome::Decided)),
        Event::Dismiss => from_review(state, Terminal(Outcome::Dismissed)),
        Event::AskAgain => from_review(state, Accepted),
        Event::Supersede => ends(state, Outcome::Superseded),
        Event::Erase => ends(state, Outcome::Erased),
    }
}

/// What only the holder of a lease, or who takes it over, can bring about.
const fn from_running(state: State, to: State) -> Transition {
    match state {
        State::Running => Transition::To(to),
        State::Accepted
        | State::ValidationRejected
        | State::ReadyForReview
        | State::Terminal(_) => Transition::Refused,
    }
}

/// What only a reviewer can bring about.
const fn from_review(state: State, to: State) -> Transition {
    match state {
        State::ReadyForReview => Transition::To(to),
        State::Accepted | State::Running | State::ValidationRejected | State::Terminal(_) => {
            Transition::Refused
        }
    }
}

/// What ends any state but that of an erased report; once is enough.
const fn ends(state: State, outcome: Outcome) -> Transition {
    match (state, outcome) {
        (State::Terminal(Outcome::Erased), _)
        | (State::Terminal(Outcome::Superseded), Outcome::Superseded) => Transition::Stays,
        _ => Transition::To(State::Terminal(outcome)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table as a person would draw it: a column per state, a row per event. `=` stays, `.`
    /// is refused, another letter is the state that follows (that of its column).
    const TABLE: &str = "
                     - A R V P C D X S E
        Ingest       A = = = = = = = = =
        Grant        . R . R . . . . . .
        Takeover     . . R . . . . . . .
        Release      . . A . . . . . . .
        Snooze       . . A . . . . . . .
        Pause        . . A . . . . . . .
        Reject       . . V . . . . . . .
        NeedReview   . . P P . . . . . .
        Elapse       . P P P . . . . . .
        Commit       . . C . . . . . . .
        Decide       . . . . D . . . . .
        Dismiss      . . . . X . . . . .
        AskAgain     . . . . A . . . . .
        Supersede    . S S S S S S S = =
        Erase        . E E E E E E E E =
    ";

    const EVENTS: [Event; 15] = [
        Event::Ingest,
        Event::Grant,
        Event::Takeover,
        Event::Release,
        Event::Snooze,
        Event::Pause,
        Event::Reject,
        Event::NeedReview,
        Event::Elapse,
        Event::Commit,
        Event::Decide,
        Event::Dismiss,
        Event::AskAgain,
        Event::Supersede,
        Event::Erase,
    ];

    fn state(letter: &str) -> Option<State> {
        Some(match letter {
            "-" => return None,
            "A" => State::Accepted,
            "R" => State::Running,
            "V" => State::ValidationRejected,
            "P" => State::ReadyForReview,
            "C" => State::Terminal(Outcome::Committed),
            "D" => State::Terminal(Outcome::Decided),
            "X" => State::Terminal(Outcome::Dismissed),
            "S" => State::Terminal(Outcome::Superseded),
            "E" => State::Terminal(Outcome::Erased),
            other => panic!("{other} is no state"),
        })
    }

    #[test]
    fn every_pair_of_state_and_event_is_as_drawn() {
        let mut lines = TABLE.lines().map(str::trim).filter(|line| !line.is_empty());
        let columns: Vec<_> = lines
            .next()
            .unwrap()
            .split_whitespace()
            .map(state)
            .collect();
        assert_eq!(columns.len(), 1 + 4 + Outcome::ALL.len());
        let rows: Vec<_> = lines.collect();
        assert_eq!(rows.len(), EVENTS.len());
        for (row, event) in rows.iter().zip(EVENTS) {
            let mut cells = row.split_whitespace();
            assert_eq!(cells.next(), Some(format!("{event:?}").as_str()));
            let cells: Vec<_> = cells.collect();
            assert_eq!(cells.len(), columns.len(), "{event:?}");
            for (cell, from) in cells.iter().zip(&columns) {
                let expected = match *cell {
                    "=" => Transition::Stays,
                    "." => Transition::Refused,
                    letter => Transition::To(state(letter).unwrap()),
                };
                assert_eq!(transition(*from, event), expected, "{event:?} in {from:?}");
            }
        }
    }

    #[test]
    fn states_are_read_back_from_their_words() {
        let terminal = Outcome::ALL.iter().map(|outcome| State::Terminal(*outcome));
        let others = ["A", "R", "V", "P"].map(|letter| state(letter).unwrap());
        for state in terminal.chain(others) {
            let outcome = state.outcome().map(Outcome::as_str);
            assert_eq!(State::from_words(state.as_str(), outcome), Ok(state));
            assert!(StateWord::ALL.contains(&state.word()));
        }
        for (state, outcome) in [
            ("terminal", None),
            ("terminal", Some("done")),
            ("running", Some("committed")),
            ("Running", None),
            ("", None),
        ] {
            assert_eq!(
                State::from_words(state, outcome),
                Err(UnknownWord),
                "{state} {outcome:?}"
            );
        }
    }
}
