//! The table `limits` of an extractor: how much a process asks it.

use std::num::NonZeroU32;

use fencepost_identity::config::Section;

use crate::worker::Limits;

use super::worker::CONCURRENCY_MAX;

const REQUESTS_PER_MINUTE_MAX: u64 = 100_000;

/// Reads the table, if it is there; mistakes are noted in the document.
pub(super) fn read(extractor: &mut Section<'_, '_>) -> Limits {
    let Some(mut table) = extractor.get("limits").and_then(|item| item.table()) else {
        return Limits::default();
    };
    let limits = Limits {
        concurrency: number(&mut table, "concurrency", CONCURRENCY_MAX),
        requests_per_minute: number(&mut table, "requests_per_minute", REQUESTS_PER_MINUTE_MAX),
    };
    table.finish();
    limits
}

fn number(table: &mut Section<'_, '_>, key: &'static str, max: u64) -> Option<NonZeroU32> {
    let number = table.get(key)?.integer(1, max)?;
    u32::try_from(number).ok().and_then(NonZeroU32::new)
}

#[cfg(test)]
mod tests {
    use fencepost_identity::config::Document;

    use super::*;

    fn read_text(text: &str) -> Result<Limits, String> {
        let document = Document::parse(text).unwrap();
        let mut root = document.root();
        let limits = read(&mut root);
        root.finish();
        document
            .finish(Some(limits))
            .map_err(|errors| errors.to_string())
    }

    #[test]
    fn what_is_left_out_is_not_limited() {
        for (text, concurrency, requests_per_minute) in [
            ("", None, None),
            ("[limits]", None, None),
            ("[limits]\nconcurrency = 4", NonZeroU32::new(4), None),
            (
                "limits = { concurrency = 256, requests_per_minute = 100_000 }",
                NonZeroU32::new(256),
                NonZeroU32::new(100_000),
            ),
        ] {
            let expected = Limits {
                concurrency,
                requests_per_minute,
            };
            assert_eq!(read_text(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn each_mistake_is_told_with_its_line_and_key() {
        for (text, expected) in [
            (
                "[limits]\nconcurrency = 0",
                "line 2: `limits.concurrency`: this must be an integer from 1 to 256",
            ),
            (
                "[limits]\nrequests_per_minute = 0.5",
                "line 2: `limits.requests_per_minute`: this must be an integer from 1 to 100000",
            ),
            (
                "[limits]\nrequest_per_minute = 5",
                "line 2: `limits.request_per_minute`: this key is not known; did you mean \
                 `requests_per_minute`?",
            ),
            ("limits = 4", "line 1: `limits`: this must be a table"),
        ] {
            assert_eq!(read_text(text), Err(expected.to_owned()), "{text}");
        }
    }
}
