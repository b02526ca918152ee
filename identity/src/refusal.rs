//! Why a payload or an identity is refused.

use std::fmt;

/// The stable code of a refusal: the same at the edge, in the backend and in the component's
/// interface. The set is that of the identity's definition and never shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{}", self.describe())]
pub enum Refusal {
    /// Not RFC 8259 JSON in UTF-8, or more than 64 containers deep.
    InvalidJson,
    /// An object names a member twice, escaped or not.
    DuplicateMember,
    /// A field that the identity needs is absent or `null`.
    MissingField,
    /// A field is the empty text.
    EmptyField,
    /// A field has more bytes than its bound.
    FieldTooLong,
    /// U+0000 to U+001F or U+007F in a tenant or an id.
    ControlCharacter,
    /// Half of a surrogate pair in a tenant or an id.
    LoneSurrogate,
    /// Neither a string nor an integer without fraction and exponent.
    NotAnIdentifier,
    /// Neither a non-negative integer nor a string of digits without a leading zero.
    NotARevision,
    /// A revision above 2^63-1, or a number that no finite double stands for.
    NumberOutOfRange,
}

impl Refusal {
    /// Every refusal, in the order of the definition.
    pub const ALL: [Self; 10] = [
        Self::InvalidJson,
        Self::DuplicateMember,
        Self::MissingField,
        Self::EmptyField,
        Self::FieldTooLong,
        Self::ControlCharacter,
        Self::LoneSurrogate,
        Self::NotAnIdentifier,
        Self::NotARevision,
        Self::NumberOutOfRange,
    ];

    /// The code as it stands in answers and logs.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::InvalidJson => "invalid_json",
            Self::DuplicateMember => "duplicate_member",
            Self::MissingField => "missing_field",
            Self::EmptyField => "empty_field",
            Self::FieldTooLong => "field_too_long",
            Self::ControlCharacter => "control_character",
            Self::LoneSurrogate => "lone_surrogate",
            Self::NotAnIdentifier => "not_an_identifier",
            Self::NotARevision => "not_a_revision",
            Self::NumberOutOfRange => "number_out_of_range",
        }
    }

    /// One sentence for a person; it never contains a value from the payload.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::InvalidJson => "the document is not valid JSON in UTF-8, at most 64 levels deep",
            Self::DuplicateMember => "an object of the document names a member twice",
            Self::MissingField => "a field that the identity needs is absent or null",
            Self::EmptyField => "a field that the identity needs is empty",
            Self::FieldTooLong => "a field of the identity is longer than its bound",
            Self::ControlCharacter => "a field of the identity contains a control character",
            Self::LoneSurrogate => "a field of the identity contains half of a surrogate pair",
            Self::NotAnIdentifier => "an id is neither a string nor an integer",
            Self::NotARevision => "the revision is neither a non-negative integer nor its digits",
            Self::NumberOutOfRange => "a number is out of range",
        }
    }
}

impl serde::Serialize for Refusal {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

/// Writes lower-case hexadecimal digits.
pub(crate) fn write_hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}
