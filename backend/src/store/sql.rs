//! Every statement, once, each with the fence that it relies on.
//!
//! The text stays in what SQLite and Postgres have in common. A selected column is named after
//! where it stands, `"table.column"`, so that an unreadable value can be reported as such. Words
//! of states and outcomes stand here and in the schema only.

mod findings;
mod ingress;
mod keeping;
mod ordering;
mod pausing;
mod people;
mod reading;
mod settling;
mod working;

pub(super) use findings::*;
pub(super) use ingress::*;
pub(super) use keeping::*;
pub(super) use ordering::*;
pub(super) use pausing::*;
pub(super) use people::*;
pub(super) use reading::*;
pub(super) use settling::*;
pub(super) use working::*;

/// All statements, for the test that each of them prepares.
#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    let lists = [
        FINDING, INGRESS, KEEPING, ORDERING, PAUSING, PEOPLE, READING, SETTLING, WORKING,
    ];
    lists.into_iter().flatten().copied()
}
