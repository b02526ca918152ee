//! The table `worker`: how much a process does at once, and how it ends.

use std::{num::NonZeroUsize, time::Duration};

use fencepost_identity::config::Section;

const CONCURRENCY_DEFAULT: u64 = 8;
pub(super) const CONCURRENCY_MAX: u64 = 256;
const DRAIN_SECONDS_DEFAULT: u64 = 8;
const DRAIN_SECONDS_MAX: u64 = 60 * 60;

/// How a process works on reports, and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerConfig {
    /// How many reports it works on at once.
    pub concurrency: NonZeroUsize,
    /// How long calls may go on once the end was asked for.
    pub drain: Duration,
}

impl Default for WorkerConfig {
    fn default() -> Self {
        Self {
            concurrency: at_least_one(CONCURRENCY_DEFAULT),
            drain: Duration::from_secs(DRAIN_SECONDS_DEFAULT),
        }
    }
}

impl WorkerConfig {
    /// Reads the table, if it is there; mistakes are noted in the document.
    pub(super) fn read(root: &mut Section<'_, '_>) -> Option<Self> {
        let Some(item) = root.get("worker") else {
            return Some(Self::default());
        };
        let mut table = item.table()?;
        let concurrency = table
            .get("concurrency")
            .map_or(Some(CONCURRENCY_DEFAULT), |item| {
                item.integer(1, CONCURRENCY_MAX)
            });
        let drain = table
            .get("drain_seconds")
            .map_or(Some(DRAIN_SECONDS_DEFAULT), |item| {
                item.integer(0, DRAIN_SECONDS_MAX)
            });
        table.finish();
        Some(Self {
            concurrency: at_least_one(concurrency?),
            drain: Duration::from_secs(drain?),
        })
    }
}

fn at_least_one(number: u64) -> NonZeroUsize {
    let number = usize::try_from(number).ok().and_then(NonZeroUsize::new);
    number.unwrap_or(NonZeroUsize::MIN)
}

#[cfg(test)]
mod tests {
    use fencepost_identity::config::Document;

    use super::*;

    fn read(text: &str) -> Result<WorkerConfig, String> {
        let document = Document::parse(text).unwrap();
        let mut root = document.root();
        let worker = WorkerConfig::read(&mut root);
        root.finish();
        document.finish(worker).map_err(|errors| errors.to_string())
    }

    fn worker(concurrency: usize, drain: u64) -> WorkerConfig {
        WorkerConfig {
            concurrency: NonZeroUsize::new(concurrency).unwrap(),
            drain: Duration::from_secs(drain),
        }
    }

    #[test]
    fn a_file_may_leave_out_all_of_it() {
        for (text, expected) in [
            ("", worker(8, 8)),
            ("[worker]", worker(8, 8)),
            ("[worker]\nconcurrency = 1\ndrain_seconds = 0", worker(1, 0)),
            ("[worker]\nconcurrency = 256", worker(256, 8)),
            ("[worker]\ndrain_seconds = 3_600", worker(8, 3600)),
        ] {
            assert_eq!(read(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn each_mistake_is_told_with_its_line_and_key() {
        for (text, expected) in [
            (
                "[worker]\nconcurrency = 0",
                "line 2: `worker.concurrency`: this must be an integer from 1 to 256",
            ),
            (
                "[worker]\nconcurrency = 257",
                "line 2: `worker.concurrency`: this must be an integer from 1 to 256",
            ),
            (
                "[worker]\n\ndrain_seconds = 3601",
                "line 3: `worker.drain_seconds`: this must be an integer from 0 to 3600",
            ),
            (
                "[worker]\ndrain_seconds = \"8s\"",
                "line 2: `worker.drain_seconds`: this must be an integer from 0 to 3600",
            ),
            (
                "[worker]\ndrain_second = 8",
                "line 2: `worker.drain_second`: this key is not known; did you mean \
                 `drain_seconds`?",
            ),
            ("worker = 8", "line 1: `worker`: this must be a table"),
        ] {
            assert_eq!(read(text), Err(expected.to_owned()), "{text}");
        }
    }
}
