//! Every statement, once, each with the fence that it relies on.
//!
//! The text stays in what SQLite and Postgres have in common. A selected column is named after
//! where it stands, `"table.column"`, so that an unreadable value can be reported as such. Words
//! of states and outcomes stand here and in the schema only.

mod ingress;
mod ordering;
mod people;
mod reading;
mod settling;
mod working;

pub(super) use ingress::*;
pub(super) use ordering::*;
pub(super) use people::*;
pub(super) use reading::*;
pub(super) use settling::*;
pub(super) use working::*;

/// All statements, for the test that each of them prepares.
#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    [INGRESS, ORDERING, PEOPLE, READING, SETTLING, WORKING]
        .into_iter()
        .flatten()
        .copied()
}
