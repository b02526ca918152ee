//! The table `policy` of a pipeline.

use fencepost_identity::config::{Item, Section};

use crate::policy::{HiddenCharacters, Policy};

/// No source takes a body that is longer.
const INPUT_MAX: u64 = 64 * 1024 * 1024;
/// No answer is longer.
const TEXT_MAX: u64 = 256 * 1024;

/// Reads the table; mistakes are noted in the document.
pub(super) fn read(item: &Item<'_, '_>) -> Option<Policy> {
    let mut table = item.table()?;
    let usual = Policy::default();
    let mut limit = |key, usual, max| limit(&mut table, key, usual, max);
    let input_characters_max = limit(
        "max_input_characters",
        usual.input_characters_max,
        INPUT_MAX,
    );
    let input_bytes_max = limit("max_input_bytes", usual.input_bytes_max, INPUT_MAX);
    let text_characters_max = limit("max_text_characters", usual.text_characters_max, TEXT_MAX);
    let hidden = table
        .get("hidden_characters")
        .map_or(Some(usual.hidden), |item| item.parse(hidden));
    table.finish();
    Some(Policy {
        input_characters_max: input_characters_max?,
        input_bytes_max: input_bytes_max?,
        text_characters_max: text_characters_max?,
        hidden: hidden?,
    })
}

fn limit(table: &mut Section<'_, '_>, key: &'static str, usual: usize, max: u64) -> Option<usize> {
    table.get(key).map_or(Some(usual), |item| {
        usize::try_from(item.integer(1, max)?).ok()
    })
}

fn hidden(text: &str) -> Result<HiddenCharacters, &'static str> {
    match text {
        "review" => Ok(HiddenCharacters::Review),
        "ignore" => Ok(HiddenCharacters::Ignore),
        _ => Err("\"review\" or \"ignore\""),
    }
}
