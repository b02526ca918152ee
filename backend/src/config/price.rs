//! The table `price` of an extractor: what its provider takes for tokens. Nothing is decided by
//! it: it only turns tokens into money where people compare.

use fencepost_identity::config::{Item, Section};

const CURRENCY_BYTES_MAX: usize = 16;
const PRICE_MAX: f64 = 1_000_000.0;

/// What a provider takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// For a million tokens of questions.
    pub input_per_million: f64,
    /// For a million tokens of answers.
    pub output_per_million: f64,
    /// Of what: a word for people, such as `USD`.
    pub currency: String,
}

impl Price {
    /// What so many tokens cost.
    #[must_use]
    pub fn of(&self, tokens_in: u64, tokens_out: u64) -> f64 {
        let million =
            tokens_in as f64 * self.input_per_million + tokens_out as f64 * self.output_per_million;
        million / 1_000_000.0
    }
}

/// Reads the table, if it is there; mistakes are noted in the document.
pub(super) fn read(extractor: &mut Section<'_, '_>) -> Option<Price> {
    let mut table = extractor.get("price")?.table()?;
    let input = table.require("input_per_million");
    let input_per_million = input.and_then(|item| amount(&item));
    let output = table.require("output_per_million");
    let output_per_million = output.and_then(|item| amount(&item));
    let currency = table.require("currency");
    let currency = currency.and_then(|item| item.parse(currency_of));
    table.finish();
    Some(Price {
        input_per_million: input_per_million?,
        output_per_million: output_per_million?,
        currency: currency?,
    })
}

fn amount(item: &Item<'_, '_>) -> Option<f64> {
    let amount = item.number()?;
    if (0.0..=PRICE_MAX).contains(&amount) {
        return Some(amount);
    }
    item.error("this must be a number from 0 to 1000000");
    None
}

fn currency_of(text: &str) -> Result<String, &'static str> {
    let printable = text.bytes().all(|byte| byte.is_ascii_graphic());
    if printable && (1..=CURRENCY_BYTES_MAX).contains(&text.len()) {
        return Ok(text.to_owned());
    }
    Err("a currency is a word such as \"USD\"")
}

#[cfg(test)]
mod tests {
    use fencepost_identity::config::Document;

    use super::*;

    fn read_text(text: &str) -> Result<Option<Price>, String> {
        let document = Document::parse(text).unwrap();
        let mut root = document.root();
        let price = read(&mut root);
        root.finish();
        document
            .finish(Some(price))
            .map_err(|errors| errors.to_string())
    }

    #[test]
    fn tokens_cost_what_the_table_says() {
        assert_eq!(read_text(""), Ok(None));
        let text =
            "price = { input_per_million = 2, output_per_million = 0.5, currency = \"EUR\" }";
        let price = read_text(text).unwrap().unwrap();
        assert_eq!(price.currency, "EUR");
        assert_eq!(format!("{:.6}", price.of(1_500_000, 3)), "3.000002");
        assert_eq!(format!("{:.6}", price.of(0, 0)), "0.000000");
    }

    #[test]
    fn each_mistake_is_told_with_its_line_and_key() {
        let text = "[price]\ninput_per_million = -1\noutput_per_milion = 1\ncurrency = \"\"";
        let told = read_text(text).unwrap_err();
        for expected in [
            "line 2: `price.input_per_million`: this must be a number from 0 to 1000000",
            "line 3: `price.output_per_milion`: this key is not known; did you mean \
             `output_per_million`?",
            "`price`: the key `output_per_million` is missing",
            "line 4: `price.currency`: a currency is a word such as \"USD\"",
        ] {
            assert!(told.contains(expected), "{expected}: {told}");
        }
    }
}
