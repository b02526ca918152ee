//! How a text is cut into words. Training and classifying must cut alike, so both call this.

/// Stands for any address of a page: the hosts of the training mails say nothing about a report.
pub const URL: &str = "<url>";
/// Stands for any e-mail address.
pub const EMAIL: &str = "<email>";
/// Stands for any number that is not an amount of money, and for what begins with a digit.
pub const NUMBER: &str = "<number>";
/// Stands for any amount that has a currency sign at it.
pub const MONEY: &str = "<money>";

/// Longer words are encoded data or a language written without spaces, and never repeat.
const WORD_CHARS_MAX: usize = 24;

/// The words of `text` in lower case, in order. Letters and digits of any script make a word;
/// an apostrophe of any shape inside one is kept as `'`; everything else separates.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for c in text.chars() {
        if is_invisible(c) {
            continue;
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        } else if is_apostrophe(c) && !word.is_empty() {
            word.push('\'');
        } else {
            finish(&mut word, &mut words);
        }
    }
    finish(&mut word, &mut words);
    words
}

/// The tokens that naive Bayes counts: words, and one token per kind of thing whose exact value
/// carries no meaning across texts ([`URL`], [`EMAIL`], [`NUMBER`], [`MONEY`]).
pub fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    for chunk in text.split_whitespace() {
        if is_url(chunk) {
            tokens.push(URL.to_owned());
        } else if is_email(chunk) {
            tokens.push(EMAIL.to_owned());
        } else {
            let number = if chunk.contains(['$', '€', '£', '¥']) {
                MONEY
            } else {
                NUMBER
            };
            tokens.extend(
                words(chunk)
                    .into_iter()
                    .filter_map(|word| token(word, number)),
            );
        }
    }
    tokens
}

fn token(word: String, number: &str) -> Option<String> {
    if word.starts_with(char::is_numeric) {
        return Some(number.to_owned());
    }
    (word.chars().count() <= WORD_CHARS_MAX).then_some(word)
}

fn finish(word: &mut String, words: &mut Vec<String>) {
    let trimmed = word.trim_end_matches('\'');
    if !trimmed.is_empty() {
        words.push(trimmed.to_owned());
    }
    word.clear();
}

fn is_url(chunk: &str) -> bool {
    chunk.contains("://")
        || chunk
            .get(..4)
            .is_some_and(|head| head.eq_ignore_ascii_case("www."))
}

/// Only an address with a domain: `@name` is a mention, and stays a word.
fn is_email(chunk: &str) -> bool {
    chunk.split_once('@').is_some_and(|(name, domain)| {
        name.ends_with(|c: char| c.is_alphanumeric()) && domain.contains('.')
    })
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '`' | '´' | 'ʼ' | '‘' | '’' | '＇')
}

/// Zero-width characters and the soft hyphen: they hide inside a word without being seen.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded_and_keep_inner_apostrophes() {
        assert_eq!(
            words("I’ll DON'T 'quoted' x\u{0}y"),
            ["i'll", "don't", "quoted", "x", "y"]
        );
        assert_eq!(words("k\u{200b}ill  you\n\tr"), ["kill", "you", "r"]);
        assert_eq!(words("Привет, МИР"), ["привет", "мир"]);
        assert!(words("… ''' !?").is_empty());
    }

    #[test]
    fn values_become_their_kind() {
        let text =
            "See https://a.example/x?y=1 (www.b.example) me@c.example $5,000 2026 3pm @octocat";
        assert_eq!(
            tokens(text),
            [
                "see", URL, "www", "b", "example", EMAIL, MONEY, MONEY, NUMBER, NUMBER, "octocat"
            ]
        );
        assert_eq!(tokens("WWW.B.example now"), [URL, "now"]);
    }

    #[test]
    fn encoded_data_is_no_word() {
        assert!(tokens(&"a1".repeat(40)).is_empty());
    }
}
