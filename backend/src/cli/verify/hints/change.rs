//! A setting that is often wrong, or a file that is not what was sent.

use std::{borrow::Cow, fmt, mem::discriminant};

use fencepost_identity::signature::{
    Algorithm, Encoding, Scheme, SecretEncoding, SecretForm, Shape, Signed, Stamp, StampFormat,
    StampSource, Template, Token, WINDOW_SECONDS, Window,
};

use super::{Attempt, Tried};

const BOM: &[u8] = b"\xef\xbb\xbf";

/// One change to how a delivery is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli::verify) enum Change {
    /// How the secret is written.
    Secret(SecretForm),
    /// The blanks and line endings around the secret are no part of it.
    TrimmedSecret,
    Algorithm(Algorithm),
    /// How the code is written.
    Encoding(Encoding),
    /// What stands before the code, or before a token; perhaps nothing.
    Prefix(&'static str),
    /// The text of a template.
    Template(&'static str),
    /// A template that names a time, and where the time is.
    Dated {
        template: &'static str,
        at: TimeAt,
        format: StampFormat,
    },
    /// How the time is written.
    TimeFormat(StampFormat),
    Url(String),
    /// The other `content_encoding`.
    ContentEncoding(&'static str),
    Body(BodyChange),
}

/// Where a time stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli::verify) enum TimeAt {
    Header(String),
    Pair(&'static str),
}

/// What happened to a body on its way into a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli::verify) enum BodyChange {
    /// It has got a final line ending.
    WithoutFinalLineEnding,
    /// It has lost its final LF.
    WithFinalLf,
    /// It has lost its final CR LF.
    WithFinalCrLf,
    /// Its LF have become CR LF.
    CrLfToLf,
    /// Its CR LF have become LF.
    LfToCrLf,
    /// It has got a byte order mark.
    WithoutBom,
    /// It has lost its byte order mark.
    WithBom,
}

impl Change {
    /// Whether two changes can't both be made.
    pub(super) fn is_of_one_kind_with(&self, other: &Self) -> bool {
        let template = |change: &Self| matches!(change, Self::Template(_) | Self::Dated { .. });
        discriminant(self) == discriminant(other) || (template(self) && template(other))
    }

    pub(super) fn apply<'t>(&self, tried: &'t Tried<'_>, attempt: &mut Attempt<'t>) {
        match (self, &mut attempt.scheme) {
            (Self::TrimmedSecret, _) => {
                for text in &mut attempt.secrets {
                    *text = Cow::Owned(text.trim().to_owned());
                }
            }
            (Self::ContentEncoding(_), _) => {
                if let Some(other) = &tried.other_body {
                    attempt.body = Cow::Borrowed(&other.bytes);
                }
            }
            (Self::Body(change), _) => {
                attempt.body = Cow::Owned(change.apply(&attempt.body));
            }
            (Self::Prefix(text), Scheme::Token(Token::Header { prefix, .. })) => {
                (*text).clone_into(prefix);
            }
            (_, Scheme::Signed(signed)) => self.apply_to_code(signed),
            (_, Scheme::Token(_) | Scheme::Basic) => {}
        }
    }

    fn apply_to_code(&self, signed: &mut Signed) {
        match self {
            Self::Secret(form) => signed.secret = form.clone(),
            Self::Algorithm(algorithm) => signed.algorithm = *algorithm,
            Self::Encoding(encoding) => signed.encoding = *encoding,
            Self::Prefix("") => signed.shape = Shape::Value,
            Self::Prefix(prefix) => signed.shape = Shape::Prefix((*prefix).to_owned()),
            Self::Template(text) => set_template(signed, text),
            Self::Dated {
                template,
                at,
                format,
            } => {
                set_template(signed, template);
                date(signed, at, *format);
            }
            Self::TimeFormat(format) => {
                if let Some(stamp) = &mut signed.stamp {
                    stamp.format = *format;
                }
            }
            Self::Url(url) => signed.url = Some(url.clone()),
            Self::TrimmedSecret | Self::ContentEncoding(_) | Self::Body(_) => {}
        }
    }
}

fn set_template(signed: &mut Signed, text: &str) {
    if let Ok(template) = Template::parse(text) {
        signed.template = template;
    }
}

fn date(signed: &mut Signed, at: &TimeAt, format: StampFormat) {
    let source = match at {
        TimeAt::Pair(name) => StampSource::Pair((*name).to_owned()),
        TimeAt::Header(name) => {
            for place in &mut signed.places {
                place.timestamp = Some(name.clone());
            }
            StampSource::Header
        }
    };
    let window = Window::Within {
        past: WINDOW_SECONDS,
        future: WINDOW_SECONDS,
    };
    signed.stamp = Some(Stamp {
        source,
        format,
        window,
    });
}

impl BodyChange {
    pub(super) const ALL: [Self; 7] = [
        Self::WithoutFinalLineEnding,
        Self::WithFinalLf,
        Self::WithFinalCrLf,
        Self::CrLfToLf,
        Self::LfToCrLf,
        Self::WithoutBom,
        Self::WithBom,
    ];

    fn apply(self, body: &[u8]) -> Vec<u8> {
        let without_crlf = |body: &[u8]| {
            let mut plain = Vec::with_capacity(body.len());
            for (index, byte) in body.iter().enumerate() {
                if *byte != b'\r' || body.get(index + 1) != Some(&b'\n') {
                    plain.push(*byte);
                }
            }
            plain
        };
        match self {
            Self::WithoutFinalLineEnding => {
                let rest = body.strip_suffix(b"\n").unwrap_or(body);
                rest.strip_suffix(b"\r").unwrap_or(rest).to_vec()
            }
            Self::WithFinalLf => [body, b"\n"].concat(),
            Self::WithFinalCrLf => [body, b"\r\n"].concat(),
            Self::CrLfToLf => without_crlf(body),
            Self::LfToCrLf => {
                let lines: Vec<_> = body.split(|byte| *byte == b'\n').collect();
                lines.join(&b"\r\n"[..])
            }
            Self::WithoutBom => body.strip_prefix(BOM).unwrap_or(body).to_vec(),
            Self::WithBom => [BOM, body].concat(),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Secret(SecretForm { encoding, prefix }) => {
                let encoding = match encoding {
                    SecretEncoding::Text => "text",
                    SecretEncoding::Base64 => "base64",
                    SecretEncoding::Hex => "hex",
                };
                write!(f, "secret = {{ encoding = \"{encoding}\"")?;
                if !prefix.is_empty() {
                    write!(f, ", prefix = \"{prefix}\"")?;
                }
                f.write_str(" }")
            }
            Self::TrimmedSecret => {
                f.write_str("the secret without the blanks or line endings around it")
            }
            Self::Algorithm(algorithm) => f.write_str(match algorithm {
                Algorithm::HmacSha1 => "algorithm = \"sha1\" (and allow_weak = true)",
                Algorithm::HmacSha256 => "algorithm = \"sha256\"",
                Algorithm::HmacSha512 => "algorithm = \"sha512\"",
                Algorithm::Ed25519 => "kind = \"ed25519\"",
            }),
            Self::Encoding(encoding) => {
                let name = name_of(&Encoding::NAMES, encoding);
                write!(f, "encoding = \"{name}\" in `signature`")
            }
            Self::Prefix("") => f.write_str("shape = \"value\" in `signature`"),
            Self::Prefix(prefix) => {
                write!(
                    f,
                    "shape = \"prefix\", prefix = \"{prefix}\" in `signature`"
                )
            }
            Self::Template(text) => write!(f, "template = \"{text}\""),
            Self::Dated {
                template,
                at,
                format,
            } => {
                let (key, name) = match at {
                    TimeAt::Header(name) => ("header", name.as_str()),
                    TimeAt::Pair(name) => ("pair", *name),
                };
                let format = name_of(&StampFormat::NAMES, format);
                write!(
                    f,
                    "template = \"{template}\" and timestamp = {{ {key} = \"{name}\", format = \
                     \"{format}\" }}"
                )
            }
            Self::TimeFormat(format) => {
                let name = name_of(&StampFormat::NAMES, format);
                write!(f, "format = \"{name}\" in `timestamp`")
            }
            Self::Url(url) => write!(f, "url = \"{url}\""),
            Self::ContentEncoding(name) => write!(f, "content_encoding = \"{name}\""),
            Self::Body(change) => f.write_str(change.words()),
        }
    }
}

impl BodyChange {
    const fn words(self) -> &'static str {
        match self {
            Self::WithoutFinalLineEnding => {
                "the body without its final line ending, which was added when it was stored"
            }
            Self::WithFinalLf => {
                "a final LF behind the body, which was lost when it was stored or on its way"
            }
            Self::WithFinalCrLf => {
                "a final CR LF behind the body, which was lost when it was stored or on its way"
            }
            Self::CrLfToLf => "LF in the body where it has CR LF now",
            Self::LfToCrLf => "CR LF in the body where it has LF now",
            Self::WithoutBom => {
                "the body without its byte order mark, which was added when it was stored"
            }
            Self::WithBom => {
                "a byte order mark before the body, which was lost when it was stored or on its way"
            }
        }
    }
}

fn name_of<T: PartialEq>(names: &[(&'static str, T)], value: &T) -> &'static str {
    let named = names.iter().find(|(_, known)| known == value);
    named.map(|(name, _)| *name).unwrap_or_default()
}
