//! Where the immutable input of a report comes from.

use super::words;

words! {
    /// Where the immutable input of a report comes from, and whether it is there.
    InputOrigin {
        /// The delivery brought it.
        Forwarded = "forwarded",
        /// The delivery brought a reference; nothing was fetched by it yet.
        Reference = "reference",
        /// It was fetched by a reference.
        Fetched = "fetched",
    }
}
