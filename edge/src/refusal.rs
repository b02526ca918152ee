//! Why a delivery is not taken in: what its sender is told, and what only the log says.

use fencepost_identity::admission;

/// A delivery that nothing was stored of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The delivery is at fault.
    Delivery(admission::Refusal),
    /// The edge can't do its work, whatever the sender does.
    Misconfigured(Misconfigured),
    /// The backend hasn't said in time that the report is stored.
    NotStored(NotStored),
}

/// What is wrong with the edge's own surroundings. No text in it contains a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misconfigured {
    /// The configuration file: which key on which line, and what would be right.
    File(String),
    /// A variable that isn't there, or has no value that serves: its name, and why.
    Variable {
        /// The variable.
        name: String,
        /// Why it doesn't serve.
        why: String,
    },
}

/// Why it is not known that a report is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotStored {
    /// The backend didn't answer within the source's deadline.
    Deadline,
    /// There was no answer: no connection, or it broke.
    Unreachable,
    /// The runtime doesn't allow calls to the backend's address.
    Denied,
    /// The backend answered that it hasn't stored the report.
    Refused {
        /// The status of its answer.
        status: u16,
        /// The code of its answer, where it is one that a backend has.
        code: Option<&'static str>,
    },
    /// The answer isn't one that a backend gives for this report.
    Odd {
        /// The status of the answer.
        status: u16,
    },
}

impl Refusal {
    /// The HTTP status that the sender gets.
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::Delivery(refusal) => refusal.status(),
            Self::Misconfigured(_) | Self::NotStored(_) => 503,
        }
    }

    /// The stable code that the sender gets.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Delivery(refusal) => refusal.code(),
            Self::Misconfigured(_) => "misconfigured",
            Self::NotStored(NotStored::Refused {
                code: Some(code), ..
            }) => code,
            Self::NotStored(
                NotStored::Deadline
                | NotStored::Unreachable
                | NotStored::Denied
                | NotStored::Refused { code: None, .. }
                | NotStored::Odd { .. },
            ) => "not_stored",
        }
    }

    /// One sentence for the sender.
    #[must_use]
    pub const fn title(&self) -> &'static str {
        match self {
            Self::Delivery(refusal) => refusal.title(),
            Self::Misconfigured(_) => "This source can't take deliveries now",
            Self::NotStored(_) => "The report is not known to be stored; deliver it again",
        }
    }

    /// What the log says beside the code: a token for each cause.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Delivery(refusal) => refusal.reason(),
            Self::Misconfigured(Misconfigured::File(_)) => "configuration_file",
            Self::Misconfigured(Misconfigured::Variable { .. }) => "variable",
            Self::NotStored(NotStored::Deadline) => "backend_too_slow",
            Self::NotStored(NotStored::Unreachable) => "backend_unreachable",
            Self::NotStored(NotStored::Denied) => "backend_not_an_allowed_host",
            Self::NotStored(NotStored::Refused { .. }) => "backend_refused",
            Self::NotStored(NotStored::Odd { .. }) => "backend_answer_not_understood",
        }
    }
}

impl From<admission::Refusal> for Refusal {
    fn from(refusal: admission::Refusal) -> Self {
        Self::Delivery(refusal)
    }
}

impl From<Misconfigured> for Refusal {
    fn from(what: Misconfigured) -> Self {
        Self::Misconfigured(what)
    }
}

impl From<NotStored> for Refusal {
    fn from(why: NotStored) -> Self {
        Self::NotStored(why)
    }
}
