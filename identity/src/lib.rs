//! The identity of a report.
