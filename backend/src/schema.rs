//! From a draft to a value that may be committed.
//!
//! Strict JSON first, then the pipeline's JSON Schema, then exact keys. Nothing is repaired: text
//! that has to be guessed at is an answer that has to be asked for again. The reasons given here
//! name places, by line and column or in the schema, and never a word of the answer, which may
//! quote the report.

mod described;
mod syntax;

use std::{collections::BTreeSet, fmt};

use fencepost_identity::{canonical, json, pointer::Pointer, refusal::Refusal};
use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Number, Value};
use sha2::{Digest, Sha256};

pub use self::described::Described;
use self::syntax::Inside;
pub use self::syntax::{ANSWER_BYTES_MAX, ANSWER_DEPTH_MAX, Place, Syntax, SyntaxError, Wrapping};

/// The most bytes of a schema. Its levels are bounded by the reader: [`json::DEPTH_MAX`].
pub const SCHEMA_BYTES_MAX: usize = 256 * 1024;
/// The only dialect.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
/// The most places that a reason names.
const PLACES_MAX: usize = 4;

/// A pipeline's schema, compiled once. It reads no file and opens no connection.
pub struct Schema {
    document: Value,
    digest: [u8; 32],
    validator: Validator,
}

/// Why a schema can't be used: a mistake of configuration.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// It has more than [`SCHEMA_BYTES_MAX`].
    #[error("the schema has more than {SCHEMA_BYTES_MAX} bytes")]
    TooLong,
    /// It is no JSON, or a member stands twice in it.
    #[error("the schema is not usable as JSON: {0}")]
    Json(Refusal),
    /// It names another dialect.
    #[error("`$schema` has to be {DIALECT}, or absent")]
    Dialect,
    /// Exact keys need the top level to list them.
    #[error("the top level needs `\"type\": \"object\"` and `properties`")]
    NotAnObject,
    /// The rules of JSON Schema, or a reference out of the document.
    #[error("{0}")]
    Rules(String),
}

/// A value that passed: made by [`Schema::read`] and by nothing else.
#[derive(Clone, PartialEq, Eq)]
pub struct ValidReport {
    value: Value,
    canonical: String,
    wrapping: Wrapping,
}

/// Why an answer was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// It is not one JSON value.
    #[error("{0}")]
    Syntax(SyntaxError),
    /// It is JSON, but not what the schema asks for.
    #[error("{0}")]
    Schema(Violations),
}

/// The places of the schema that an answer does not satisfy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violations {
    places: BTreeSet<String>,
    wrapping: Wrapping,
}

impl Schema {
    /// Reads and compiles a schema.
    ///
    /// # Errors
    /// [`SchemaError`], for whoever wrote the schema.
    pub fn compile(text: &[u8]) -> Result<Self, SchemaError> {
        if text.len() > SCHEMA_BYTES_MAX {
            return Err(SchemaError::TooLong);
        }
        let parsed = json::parse(text).map_err(SchemaError::Json)?;
        let canonical = canonical::to_canonical(&parsed).map_err(SchemaError::Json)?;
        let document = plain(&parsed).map_err(SchemaError::Json)?;
        if document
            .get("$schema")
            .is_some_and(|dialect| dialect != DIALECT)
        {
            return Err(SchemaError::Dialect);
        }
        let is_object = document.get("type").is_some_and(|kind| kind == "object");
        if !is_object || !document.get("properties").is_some_and(Value::is_object) {
            return Err(SchemaError::NotAnObject);
        }
        let validator = jsonschema::draft202012::options()
            .offline()
            .should_validate_formats(true)
            .should_ignore_unknown_formats(false)
            // Linear time, whatever text a model was talked into. Look-around is refused.
            .with_pattern_options(PatternOptions::regex())
            .build(&document)
            .map_err(|error| SchemaError::Rules(error.to_string()))?;
        let digest = Sha256::digest(canonical.as_bytes()).into();
        Ok(Self {
            document,
            digest,
            validator,
        })
    }

    /// The schema itself.
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// SHA-256 of the schema's canonical form: what a schema version is bound to.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Whether the schema may allow what a pointer names: a rule on a misspelt member would never
    /// hold, and nobody would notice.
    pub fn describes(&self, pointer: &Pointer) -> bool {
        self.described(pointer) != Described::NotListed
    }

    /// Reads a draft's text.
    ///
    /// # Errors
    /// [`Invalid`]: the answer has to be asked for again.
    pub fn read(&self, text: &str) -> Result<ValidReport, Invalid> {
        let inside = Inside::of(text).map_err(Invalid::Syntax)?;
        let parsed = inside.parse().map_err(Invalid::Syntax)?;
        let out_of_bounds = |refusal| Invalid::Syntax(inside.refused(refusal));
        let canonical = canonical::to_canonical(&parsed).map_err(out_of_bounds)?;
        let value = plain(&parsed).map_err(out_of_bounds)?;
        let errors = self.validator.iter_errors(&value);
        let mut places: BTreeSet<_> = errors
            .map(|error| error.schema_path().as_str().to_owned())
            .collect();
        if !self.lists_every_member_of(&value) {
            places.insert("/additionalProperties".to_owned());
        }
        if places.is_empty() {
            return Ok(ValidReport {
                value,
                canonical,
                wrapping: inside.wrapping,
            });
        }
        Err(Invalid::Schema(Violations {
            places,
            wrapping: inside.wrapping,
        }))
    }

    /// Exact keys: held even when the schema forgot `additionalProperties: false`. What is no
    /// object has no members; that it is none, the schema's own type says.
    fn lists_every_member_of(&self, value: &Value) -> bool {
        let properties = self.document.get("properties").and_then(Value::as_object);
        match (properties, value) {
            (Some(listed), Value::Object(members)) => {
                members.keys().all(|name| listed.contains_key(name))
            }
            (
                Some(_),
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_),
            ) => true,
            (None, _) => false,
        }
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema")
            .field("document", &self.document)
            .finish_non_exhaustive()
    }
}

impl ValidReport {
    /// The value, to judge by.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The value's canonical bytes, in which an integer keeps all its digits.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// How the value stood in the answer.
    pub fn wrapping(&self) -> Wrapping {
        self.wrapping
    }
}

impl fmt::Debug for ValidReport {
    /// Leaves the value out: a member may hold prose about the report.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValidReport")
            .field("bytes", &self.canonical.len())
            .finish()
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer does not satisfy the schema at ")?;
        for (index, place) in self.places.iter().take(PLACES_MAX).enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{place}")?;
        }
        match self.places.len().saturating_sub(PLACES_MAX) {
            0 => {}
            more => write!(f, " and {more} more")?,
        }
        match self.wrapping {
            Wrapping::Bare => Ok(()),
            Wrapping::Fenced => write!(f, "; {}", Wrapping::FENCED),
        }
    }
}

/// The same value as the validator takes it. Converted, not parsed again: two parsers could differ.
fn plain(value: &json::Value<'_>) -> Result<Value, Refusal> {
    Ok(match value {
        json::Value::Null => Value::Null,
        json::Value::Bool(truth) => Value::Bool(*truth),
        json::Value::Number(number) => plain_number(&number.canonical()?)?,
        json::Value::String(text) => Value::String(text.to_str_lossy().to_owned()),
        json::Value::Array(items) => {
            Value::Array(items.iter().map(plain).collect::<Result<_, _>>()?)
        }
        json::Value::Object(members) => {
            let mut object = Map::with_capacity(members.len());
            for (name, value) in members {
                // In a schema two names that differ only in a half surrogate become one.
                if object
                    .insert(name.to_str_lossy().to_owned(), plain(value)?)
                    .is_some()
                {
                    return Err(Refusal::DuplicateMember);
                }
            }
            Value::Object(object)
        }
    })
}

fn plain_number(digits: &str) -> Result<Value, Refusal> {
    if let Ok(number) = digits.parse::<u64>() {
        return Ok(number.into());
    }
    if let Ok(number) = digits.parse::<i64>() {
        return Ok(number.into());
    }
    let double = digits.parse().ok().and_then(Number::from_f64);
    double.map(Value::Number).ok_or(Refusal::NumberOutOfRange)
}

#[cfg(test)]
mod tests;
