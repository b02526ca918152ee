//! What a signature covers, put together from the delivery's parts.

/// A part of a delivery that a template names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// The body's bytes.
    Body,
    /// The time as it was received.
    Timestamp,
    /// The id as it was received.
    Id,
    /// The public URL of the configuration.
    Url,
    /// The method, in capitals.
    Method,
}

impl Word {
    const NAMES: [(&'static str, Self); 5] = [
        ("body", Self::Body),
        ("timestamp", Self::Timestamp),
        ("id", Self::Id),
        ("url", Self::Url),
        ("method", Self::Method),
    ];
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Word(Word),
}

/// Fixed texts and parts of the delivery, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<Part>);

/// Why a text is no template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A brace without its other half.
    #[error("a brace opens or closes nothing")]
    Brace,
    /// A word in braces that names no part.
    #[error(
        "`{{{0}}}` is not known; known are {{body}}, {{timestamp}}, {{id}}, {{url}}, {{method}}"
    )]
    Unknown(String),
    /// The body is not signed.
    #[error("`{{body}}` has to stand in it, once: what is not signed can be exchanged")]
    NotOneBody,
    /// A part stands twice.
    #[error("no part may stand in it twice")]
    Repeated,
}

impl Template {
    /// Reads `{timestamp}.{body}` and the like.
    ///
    /// # Errors
    /// [`TemplateError`] says what is wrong.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (literal, after) = rest.split_once('{').unwrap_or((rest, ""));
            if literal.contains('}') {
                return Err(TemplateError::Brace);
            }
            if !literal.is_empty() {
                parts.push(Part::Literal(literal.to_owned()));
            }
            if literal.len() == rest.len() {
                break;
            }
            let (name, after) = after.split_once('}').ok_or(TemplateError::Brace)?;
            let word = Word::NAMES.iter().find(|(known, _)| *known == name);
            let (_, word) = word.ok_or_else(|| TemplateError::Unknown(name.to_owned()))?;
            if parts.contains(&Part::Word(*word)) {
                return Err(match word {
                    Word::Body => TemplateError::NotOneBody,
                    Word::Timestamp | Word::Id | Word::Url | Word::Method => {
                        TemplateError::Repeated
                    }
                });
            }
            parts.push(Part::Word(*word));
            rest = after;
        }
        let template = Self(parts);
        match template.names(Word::Body) {
            true => Ok(template),
            false => Err(TemplateError::NotOneBody),
        }
    }

    /// Whether a part of the delivery stands in it.
    #[must_use]
    pub fn names(&self, word: Word) -> bool {
        self.0.contains(&Part::Word(word))
    }

    /// The first byte of the fixed text that follows a part: what the part must not contain, lest
    /// one signed text be read in two ways.
    pub(super) fn delimiter_after(&self, word: Word) -> Option<u8> {
        let at = self.0.iter().position(|part| *part == Part::Word(word))?;
        match self.0.get(at.checked_add(1)?)? {
            Part::Literal(text) => text.bytes().next(),
            Part::Word(_) => None,
        }
    }

    /// The bytes in their order, each part's taken from `part`.
    pub(super) fn fill<'p>(
        &'p self,
        part: impl Fn(Word) -> &'p [u8],
    ) -> impl Iterator<Item = &'p [u8]> {
        self.0.iter().map(move |piece| match piece {
            Part::Literal(text) => text.as_bytes(),
            Part::Word(word) => part(*word),
        })
    }
}
