//! Where the immutable input of a source's reports comes from.

use super::{
    Item, Section,
    fetch::{Fetch, Surroundings, fetch},
};
use crate::pointer::Pointer;

/// Where the immutable input of a source's reports comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputForm {
    /// From the delivery: these members of the payload, by name.
    Forwarded(Vec<(String, Pointer)>),
    /// From elsewhere: the edge forwards what a report is, and the backend fetches by it, once.
    Reference(Box<Fetch>),
}

impl InputForm {
    /// How the input is fetched, where it is.
    #[must_use]
    pub fn fetch(&self) -> Option<&Fetch> {
        match self {
            Self::Forwarded(_) => None,
            Self::Reference(fetch) => Some(fetch),
        }
    }
}

/// Reads the keys `input` and `fetch` of a source.
pub(super) fn input(table: &mut Section<'_, '_>, around: Surroundings<'_>) -> Option<InputForm> {
    let input = table.require("input");
    let fetched = table.get("fetch");
    let by_reference = input.as_ref().and_then(Item::as_text) == Some("reference");
    match (input?, fetched) {
        (_, Some(item)) if by_reference => {
            fetch(&item, around).map(|fetch| InputForm::Reference(Box::new(fetch)))
        }
        (item, None) if by_reference => {
            item.error("by reference: say how the content is fetched, in a table `fetch`");
            None
        }
        (item, fetched) => {
            if let Some(fetched) = fetched {
                fetched.error("nothing is fetched unless the source says input = \"reference\"");
            }
            forwarded(&item).map(InputForm::Forwarded)
        }
    }
}

fn forwarded(item: &Item<'_, '_>) -> Option<Vec<(String, Pointer)>> {
    if item.as_text().is_some() {
        item.error(
            "this must be a table of what to forward, by name, or \"reference\" where the backend \
             fetches the content",
        );
        return None;
    }
    let table = item.table()?;
    if table.is_empty() {
        item.error("at least one name: a report without input can't be extracted from");
    }
    let input = pointers(&table)?;
    if input.iter().any(|(_, pointer)| pointer.as_str().is_empty()) {
        item.error("the pointer \"\" would forward the whole payload; name what is needed");
    }
    Some(input)
}

/// The entries of a table, each a pointer by a name.
pub(super) fn pointers(table: &Section<'_, '_>) -> Option<Vec<(String, Pointer)>> {
    let pointers = table
        .entries()
        .map(|(name, item)| Some((name.to_owned(), item.parse(|text| Pointer::new(text))?)));
    let pointers: Vec<Option<_>> = pointers.collect();
    pointers.into_iter().collect()
}
