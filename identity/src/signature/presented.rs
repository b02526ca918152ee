//! The signature that came with a delivery, its form checked.

use std::{borrow::Cow, fmt};

use super::{Encoding, Scheme, Signed, StampSource, Token, Word, scheme::Place, value::Codes};
use crate::pointer::Pointer;

/// The most signatures that a delivery may carry: each is compared with every key's.
pub const SIGNATURES_MAX: usize = 32;

const ID_BYTES_MAX: usize = 255;

/// Why the headers are no signature. No message contains a header's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// There is no signature at all.
    #[error("the delivery carries no signature")]
    Unsigned,
    /// A signature header, or the header of the id, stands twice.
    #[error("a header of the signature stands twice")]
    Repeated,
    /// The signature header's value has another form.
    #[error("the signature header is malformed")]
    Signature,
    /// The id that is signed is absent or malformed.
    #[error("the signed id is absent or malformed")]
    MessageId,
    /// The time that is signed is absent, stands twice, or has another form.
    #[error("the signed timestamp is absent or malformed")]
    Timestamp,
}

/// What of a delivery a signature may cover beside its body.
#[derive(Clone, Copy)]
pub struct Request<'r> {
    /// The method, in capitals.
    pub method: &'r str,
    /// The route's last segment as it was received, where that names the tenant.
    pub segment: Option<&'r str>,
    /// The headers by name in any case; a repeated one stands as often as it was sent.
    pub headers: &'r [(&'r str, &'r [u8])],
}

impl fmt::Debug for Request<'_> {
    /// Without the headers' values: a token may stand there.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        write!(f, "Request({}, {names:?})", self.method)
    }
}

/// A signature as it was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presented<'s, 'r>(pub(super) What<'s, 'r>);

#[derive(Clone, PartialEq, Eq)]
pub(super) enum What<'s, 'r> {
    Signed(Box<Sealed<'s, 'r>>),
    Shown(Cow<'r, [u8]>),
    ShownInBody(&'s Pointer),
}

impl fmt::Debug for What<'_, '_> {
    /// Without what is shown: it may be the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signed(sealed) => sealed.fmt(f),
            Self::Shown(_) => f.write_str("Shown(redacted)"),
            Self::ShownInBody(pointer) => f.debug_tuple("ShownInBody").field(pointer).finish(),
        }
    }
}

/// Codes, and the parts beside the body that are signed, byte for byte as received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sealed<'s, 'r> {
    pub(super) signed: &'s Signed,
    pub(super) codes: Vec<Vec<u8>>,
    pub(super) method: &'r str,
    pub(super) url: String,
    pub(super) id: &'r [u8],
    pub(super) timestamp: &'r [u8],
    /// Seconds since 1970, unless the time stands in the body.
    pub(super) seconds: Option<u64>,
}

impl<'s, 'r> Presented<'s, 'r> {
    /// Takes the signature out of a delivery's headers. Headers that the scheme doesn't name are
    /// not looked at.
    ///
    /// # Errors
    /// The first of the signature's, the id's and the timestamp's [`FormatError`].
    pub fn read(scheme: &'s Scheme, request: &Request<'r>) -> Result<Self, FormatError> {
        let headers = Headers(request.headers);
        Ok(Self(match scheme {
            Scheme::Signed(signed) => {
                What::Signed(Box::new(Sealed::read(signed, request, headers)?))
            }
            Scheme::Token(Token::Header { name, prefix }) => {
                let value = headers.single(name, FormatError::Repeated)?;
                let value = value.ok_or(FormatError::Unsigned)?;
                let shown = value.strip_prefix(prefix.as_bytes());
                What::Shown(Cow::Borrowed(shown.ok_or(FormatError::Signature)?))
            }
            Scheme::Token(Token::Body(pointer)) => What::ShownInBody(pointer),
            Scheme::Basic => What::Shown(Cow::Owned(basic(headers)?)),
        }))
    }
}

impl<'s, 'r> Sealed<'s, 'r> {
    fn read(
        signed: &'s Signed,
        request: &Request<'r>,
        headers: Headers<'r>,
    ) -> Result<Self, FormatError> {
        let (place, values) = headers.place(&signed.places)?;
        let single = !matches!(signed.shape, super::Shape::List { .. });
        if single && values.len() > 1 {
            return Err(FormatError::Repeated);
        }
        let mut codes = Codes::default();
        for value in values {
            codes.read(signed, value)?;
        }
        for name in &signed.extra_headers {
            if let Some(value) = headers.single(name, FormatError::Repeated)? {
                codes.read(signed, value)?;
            }
        }
        let id = match &place.id {
            None => b"".as_slice(),
            Some(name) => {
                let id = headers.single(name, FormatError::Repeated)?;
                let id = id.filter(|id| is_message_id(signed, id));
                id.ok_or(FormatError::MessageId)?
            }
        };
        let (timestamp, seconds) = stamp(signed, place, headers, &codes)?;
        let url = signed.url.as_deref().unwrap_or_default();
        Ok(Self {
            signed,
            codes: codes.codes,
            method: request.method,
            url: url.replace("{tenant}", request.segment.unwrap_or_default()),
            id,
            timestamp,
            seconds,
        })
    }
}

/// The time as it was received, and in seconds unless it stands in the body.
fn stamp<'r>(
    signed: &Signed,
    place: &Place,
    headers: Headers<'r>,
    codes: &Codes<'r>,
) -> Result<(&'r [u8], Option<u64>), FormatError> {
    let Some(stamp) = &signed.stamp else {
        return Ok((b"", None));
    };
    let text = match (&stamp.source, &place.timestamp) {
        (StampSource::Body(_), _) => return Ok((b"", None)),
        (StampSource::Pair(_), _) => match codes.stamps[..] {
            [one] => Some(one),
            _ => None,
        },
        (StampSource::Header, Some(name)) => headers.single(name, FormatError::Timestamp)?,
        (StampSource::Header, None) => None,
    };
    let text = text.ok_or(FormatError::Timestamp)?;
    let seconds = stamp.format.read(text).ok_or(FormatError::Timestamp)?;
    Ok((text, Some(seconds)))
}

/// An id that can't be taken for more than itself: without the character that ends it in the
/// signed text.
pub(super) fn is_message_id(signed: &Signed, id: &[u8]) -> bool {
    let delimiter = signed.template.delimiter_after(Word::Id);
    let allowed = |byte: &u8| byte.is_ascii_graphic() && Some(*byte) != delimiter;
    !id.is_empty() && id.len() <= ID_BYTES_MAX && id.iter().all(allowed)
}

/// `user:password` of an `Authorization: Basic …`.
fn basic(headers: Headers<'_>) -> Result<Vec<u8>, FormatError> {
    let value = headers.single("authorization", FormatError::Repeated)?;
    let value = value.ok_or(FormatError::Unsigned)?;
    let (scheme, credentials) = value
        .split_first_chunk::<6>()
        .ok_or(FormatError::Signature)?;
    if !scheme.eq_ignore_ascii_case(b"basic ") {
        return Err(FormatError::Signature);
    }
    let start = credentials.iter().take_while(|byte| **byte == b' ').count();
    let credentials = credentials.get(start..).unwrap_or_default();
    Encoding::Base64
        .decode(credentials)
        .ok_or(FormatError::Signature)
}

#[derive(Clone, Copy)]
struct Headers<'r>(&'r [(&'r str, &'r [u8])]);

impl<'r> Headers<'r> {
    fn all(self, name: &str) -> impl Iterator<Item = &'r [u8]> {
        let named = self
            .0
            .iter()
            .filter(move |(header, _)| header.eq_ignore_ascii_case(name));
        named.map(|(_, value)| *value)
    }

    /// The value of a header that may stand once.
    fn single(self, name: &str, repeated: FormatError) -> Result<Option<&'r [u8]>, FormatError> {
        let mut values = self.all(name);
        match (values.next(), values.next()) {
            (_, Some(_)) => Err(repeated),
            (first, None) => Ok(first),
        }
    }

    /// The spelling that a delivery uses, and its signatures. Two spellings at once are two
    /// signatures, even where they agree.
    fn place(self, places: &[Place]) -> Result<(&Place, Vec<&'r [u8]>), FormatError> {
        let mut found = places.iter().filter_map(|place| {
            let values: Vec<_> = self.all(&place.signature).collect();
            (!values.is_empty()).then_some((place, values))
        });
        match (found.next(), found.next()) {
            (None, _) => Err(FormatError::Unsigned),
            (Some(_), Some(_)) => Err(FormatError::Repeated),
            (Some(place), None) => Ok(place),
        }
    }
}
