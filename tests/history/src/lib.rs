//! Checks what acknowledgements, model calls and rows say of a run.
//!
//! Clients write down every acknowledgement and a model server every call; what was granted,
//! committed, asked of a person and announced stands in the database. [`check`] looks at nothing
//! else: it knows no process, no log and no statement of the program, so it can judge a run that
//! was killed, paused and restarted at will. Reports don't depend on each other, so its time grows
//! with the number of rows and no faster.
//!
//! Times are compared only with each other and only where one database stamped both. A run whose
//! database clock goes backwards can't be judged.

mod check;
mod describe;
mod read;
mod record;
mod rows;
mod verdict;
mod violation;
mod words;

pub use check::{Finished, Terms, check};
pub use read::{Database, ReadError};
pub use record::{RecordError, Recorded, Recorder};
pub use rows::{
    Acknowledgement, Attempt, Decision, Event, Finding, History, Job, ModelCall, Report, ResultRow,
    Review,
};
pub use verdict::{Counts, Verdict};
pub use violation::Violation;
pub use words::{
    AttemptOutcome, DecisionKind, Ending, EventKind, FindingStatus, JobState, ResultStatus,
    ReviewStatus, UnknownWord,
};
