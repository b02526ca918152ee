//! Reading a TOML file so that every mistake in it is told: which key, on which line, and the
//! nearest key that is known.

use std::{cell::RefCell, fmt, ops::Range};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// One mistake in a configuration file. It names keys and lines; never the value of a secret, since
/// no secret stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Counted from 1.
    pub line: usize,
    /// The key with the tables it stands in, joined by dots; empty for the file as a whole.
    pub key: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key.as_str() {
            "" => write!(f, "line {}: {}", self.line, self.message),
            key => write!(f, "line {}: `{key}`: {}", self.line, self.message),
        }
    }
}

/// All mistakes of a file, by line. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct ConfigErrors(pub Vec<ConfigError>);

/// A parsed file, and the mistakes found in it so far.
pub struct Document<'d> {
    text: &'d str,
    root: DeTable<'d>,
    errors: RefCell<Vec<ConfigError>>,
}

impl<'d> Document<'d> {
    /// Parses a file.
    ///
    /// # Errors
    /// The first place where it is no TOML.
    pub fn parse(text: &'d str) -> Result<Self, ConfigErrors> {
        match DeTable::parse(text) {
            Ok(root) => Ok(Self {
                text,
                root: root.into_inner(),
                errors: RefCell::default(),
            }),
            Err(error) => Err(ConfigErrors(vec![ConfigError {
                line: line_of(text, error.span().unwrap_or_default()),
                key: String::new(),
                message: error.message().to_owned(),
            }])),
        }
    }

    /// The table that the file is.
    pub fn root(&self) -> Section<'_, 'd> {
        Section {
            document: self,
            table: &self.root,
            path: String::new(),
            span: 0..0,
            known: vec![],
        }
    }

    /// The value that was read, unless a mistake was found.
    ///
    /// # Errors
    /// Every mistake. Also when `value` is nothing although none was noted, which is ours.
    pub fn finish<T>(self, value: Option<T>) -> Result<T, ConfigErrors> {
        let mut errors = self.errors.into_inner();
        errors.sort_by(|one, other| (one.line, &one.key).cmp(&(other.line, &other.key)));
        match (value, errors.is_empty()) {
            (Some(value), true) => Ok(value),
            (None, true) => Err(ConfigErrors(vec![ConfigError {
                line: 1,
                key: String::new(),
                message: "the file could not be read".into(),
            }])),
            (_, false) => Err(ConfigErrors(errors)),
        }
    }

    /// The mistakes that were found so far.
    pub(super) fn noted(&self) -> Vec<ConfigError> {
        self.errors.borrow().clone()
    }

    fn note(&self, span: Range<usize>, key: &str, message: impl Into<String>) {
        let line = line_of(self.text, span);
        let error = ConfigError {
            line,
            key: key.to_owned(),
            message: message.into(),
        };
        self.errors.borrow_mut().push(error);
    }
}

fn line_of(text: &str, span: Range<usize>) -> usize {
    1 + text
        .bytes()
        .take(span.start)
        .filter(|byte| *byte == b'\n')
        .count()
}

/// A table of the file, which remembers the keys that were asked for.
pub struct Section<'s, 'd> {
    document: &'s Document<'d>,
    table: &'s DeTable<'d>,
    path: String,
    span: Range<usize>,
    known: Vec<&'static str>,
}

impl<'s, 'd> Section<'s, 'd> {
    /// The value of a key, if it stands there.
    pub fn get(&mut self, key: &'static str) -> Option<Item<'s, 'd>> {
        self.known.push(key);
        self.table.get(key).map(|value| self.item(key, value))
    }

    /// The value of a key that must stand there.
    pub fn require(&mut self, key: &'static str) -> Option<Item<'s, 'd>> {
        let item = self.get(key);
        if item.is_none() {
            self.error(format!("the key `{key}` is missing"));
        }
        item
    }

    /// All entries of a table whose keys are free: names, pointers.
    pub fn entries(&self) -> impl Iterator<Item = (&'s str, Item<'s, 'd>)> {
        self.table.iter().map(|(key, value)| {
            let name: &'s str = key.get_ref();
            (name, self.item(name, value))
        })
    }

    /// Whether the table has no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Notes a mistake of the table as a whole.
    pub fn error(&self, message: impl Into<String>) {
        self.document.note(self.span.clone(), &self.path, message);
    }

    /// Notes each key that nothing asked for, with the nearest of those that were asked for.
    pub fn finish(self) {
        for (key, _) in self.table.iter() {
            let name: &str = key.get_ref();
            if self.known.contains(&name) {
                continue;
            }
            let near = |known: &&&str| strsim::damerau_levenshtein(name, known);
            let nearest = self
                .known
                .iter()
                .min_by_key(near)
                .copied()
                .unwrap_or_default();
            let message = if near(&&nearest) <= 3 {
                format!("this key is not known; did you mean `{nearest}`?")
            } else {
                format!(
                    "this key is not known; known here are: {}",
                    self.known.join(", ")
                )
            };
            self.document
                .note(key.span(), &join(&self.path, name), message);
        }
    }

    fn item(&self, key: &str, value: &'s Spanned<DeValue<'d>>) -> Item<'s, 'd> {
        Item {
            document: self.document,
            value,
            path: join(&self.path, key),
        }
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

/// A value of the file with the place it stands at.
pub struct Item<'s, 'd> {
    document: &'s Document<'d>,
    value: &'s Spanned<DeValue<'d>>,
    path: String,
}

impl<'s, 'd> Item<'s, 'd> {
    /// Notes a mistake of this value.
    pub fn error(&self, message: impl Into<String>) {
        self.document.note(self.value.span(), &self.path, message);
    }

    /// The value as a Rust value, or a note of what it should have been.
    pub fn parse<T, E: fmt::Display>(&self, read: impl FnOnce(&str) -> Result<T, E>) -> Option<T> {
        match read(self.text()?) {
            Ok(value) => Some(value),
            Err(error) => {
                self.error(error.to_string());
                None
            }
        }
    }

    /// A string.
    pub fn text(&self) -> Option<&'s str> {
        self.or_expected(self.value.get_ref().as_str(), "a string")
    }

    /// An integer from `min` to `max`.
    pub fn integer(&self, min: u64, max: u64) -> Option<u64> {
        let integer = self.value.get_ref().as_integer();
        let digits = integer.map(|integer| (integer.as_str().replace('_', ""), integer.radix()));
        let number = digits.and_then(|(digits, radix)| u64::from_str_radix(&digits, radix).ok());
        let number = number.filter(|number| (min..=max).contains(number));
        self.or_expected(number, &format!("an integer from {min} to {max}"))
    }

    /// A number, whole or not.
    pub fn number(&self) -> Option<f64> {
        let value = self.value.get_ref();
        let lexeme = value.as_float().map(|float| float.as_str());
        let lexeme = lexeme.or_else(|| value.as_integer().map(|integer| integer.as_str()));
        let number = lexeme.and_then(|lexeme| lexeme.replace('_', "").parse().ok());
        self.or_expected(number.filter(|number: &f64| number.is_finite()), "a number")
    }

    /// `true` or `false`.
    pub fn bool(&self) -> Option<bool> {
        self.or_expected(self.value.get_ref().as_bool(), "true or false")
    }

    /// A date and time with its offset, in seconds since 1970.
    pub fn unix_seconds(&self) -> Option<u64> {
        let time = self.value.get_ref().as_datetime().map(ToString::to_string);
        let time = time.and_then(|time| time.parse::<jiff::Timestamp>().ok());
        let seconds = time.and_then(|time| u64::try_from(time.as_second()).ok());
        self.or_expected(
            seconds,
            "a date and time with offset, such as 2027-01-01T00:00:00Z",
        )
    }

    /// A table.
    pub fn table(&self) -> Option<Section<'s, 'd>> {
        let section = self.as_table();
        self.or_expected(section, "a table")
    }

    /// The items of an array.
    pub fn array(&self) -> Option<Vec<Item<'s, 'd>>> {
        let items = self.value.get_ref().as_array().map(|array| {
            let place = |(index, value)| {
                let path = format!("{}[{index}]", self.path);
                Item {
                    document: self.document,
                    value,
                    path,
                }
            };
            array.iter().enumerate().map(place).collect()
        });
        self.or_expected(items, "an array")
    }

    /// The table, where this is one.
    #[must_use]
    pub fn as_table(&self) -> Option<Section<'s, 'd>> {
        let table = self.value.get_ref().as_table()?;
        let (path, span) = (self.path.clone(), self.value.span());
        Some(Section {
            document: self.document,
            table,
            path,
            span,
            known: vec![],
        })
    }

    /// The string, where this is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&'s str> {
        self.value.get_ref().as_str()
    }

    /// The integer by its digits or the truth value, for comparison with a JSON value.
    #[must_use]
    pub fn as_scalar(&self) -> Option<String> {
        match self.value.get_ref() {
            DeValue::Boolean(value) => Some(value.to_string()),
            DeValue::Integer(integer) if integer.radix() == 10 => {
                let digits = integer.as_str().replace('_', "");
                let digits = digits.strip_prefix('+').unwrap_or(&digits);
                Some(if digits == "-0" { "0" } else { digits }.to_owned())
            }
            DeValue::Integer(_)
            | DeValue::String(_)
            | DeValue::Float(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => None,
        }
    }

    fn or_expected<T>(&self, value: Option<T>, expected: &str) -> Option<T> {
        if value.is_none() {
            self.error(format!("this must be {expected}"));
        }
        value
    }
}
