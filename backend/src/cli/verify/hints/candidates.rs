//! What is tried.

use fencepost_identity::signature::{
    Algorithm, Encoding, Scheme, SecretEncoding, SecretForm, Shape, Signed, StampFormat,
    StampSource, Token, Word,
};

use super::{
    Tried,
    change::{BodyChange, Change, TimeAt},
};

const TEMPLATES: [&str; 9] = [
    "{body}",
    "{timestamp}.{body}",
    "{timestamp}{body}",
    "{timestamp}:{body}",
    "v0:{timestamp}:{body}",
    "{body}{timestamp}",
    "{id}.{timestamp}.{body}",
    "{id}{timestamp}{body}",
    "{url}{body}",
];

const PREFIXES: [&str; 6] = ["", "sha256=", "sha1=", "sha512=", "v0=", "v1="];

const TIME_PAIRS: [&str; 3] = ["t", "ts", "time"];

/// Every change that this delivery could need.
pub(super) fn candidates(tried: &Tried<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    if tried.secrets.iter().any(|text| text.trim() != *text) {
        changes.push(Change::TrimmedSecret);
    }
    match tried.scheme {
        Scheme::Signed(signed) => of_code(tried, signed, &mut changes),
        Scheme::Token(Token::Header { prefix, .. }) => {
            let others = ["", "Bearer "].into_iter().filter(|it| it != prefix);
            changes.extend(others.map(Change::Prefix));
        }
        Scheme::Token(Token::Body(_)) | Scheme::Basic => {}
    }
    changes
}

fn of_code(tried: &Tried<'_>, signed: &Signed, changes: &mut Vec<Change>) {
    changes.extend(secrets(&signed.secret));
    if signed.algorithm != Algorithm::Ed25519 {
        let algorithms = [
            Algorithm::HmacSha256,
            Algorithm::HmacSha512,
            Algorithm::HmacSha1,
        ];
        let others = algorithms.into_iter().filter(|it| *it != signed.algorithm);
        changes.extend(others.map(Change::Algorithm));
    }
    let encodings = Encoding::NAMES.into_iter().map(|(_, encoding)| encoding);
    let others = encodings.filter(|encoding| *encoding != signed.encoding);
    changes.extend(others.map(Change::Encoding));
    if let Some(prefix) = match &signed.shape {
        Shape::Value => Some(""),
        Shape::Prefix(prefix) => Some(prefix.as_str()),
        Shape::Pairs { .. } | Shape::Versioned { .. } | Shape::List { .. } => None,
    } {
        let others = PREFIXES.into_iter().filter(|other| *other != prefix);
        changes.extend(others.map(Change::Prefix));
    }
    if let Some(stamp) = &signed.stamp {
        let formats = StampFormat::NAMES.into_iter().map(|(_, format)| format);
        let others = formats.filter(|format| *format != stamp.format);
        changes.extend(others.map(Change::TimeFormat));
    }
    templates(tried, signed, changes);
    changes.extend(urls(signed).map(Change::Url));
    if let Some(other) = &tried.other_body {
        changes.push(Change::ContentEncoding(other.named));
    }
    changes.extend(BodyChange::ALL.into_iter().map(Change::Body));
}

fn secrets(own: &SecretForm) -> impl Iterator<Item = Change> + '_ {
    let forms = [
        (SecretEncoding::Text, ""),
        (SecretEncoding::Base64, ""),
        (SecretEncoding::Base64, "whsec_"),
        (SecretEncoding::Hex, ""),
    ];
    let forms = forms.map(|(encoding, prefix)| SecretForm {
        encoding,
        prefix: prefix.to_owned(),
    });
    let others = forms.into_iter().filter(move |form| form != own);
    others.map(Change::Secret)
}

fn templates(tried: &Tried<'_>, signed: &Signed, changes: &mut Vec<Change>) {
    let dated = signed.stamp.as_ref();
    let dated = dated.is_some_and(|stamp| !matches!(stamp.source, StampSource::Body(_)));
    for text in TEMPLATES {
        let names = |word: &str| text.contains(word);
        let id = signed.places.iter().all(|place| place.id.is_some());
        if (names("{id}") && !id) || (names("{url}") && signed.url.is_none()) {
            continue;
        }
        match names("{timestamp}") && !dated {
            false => changes.push(Change::Template(text)),
            true => changes.extend(times(tried, signed).map(|(at, format)| Change::Dated {
                template: text,
                at,
                format,
            })),
        }
    }
    // A time that another header has than the one that is named.
    if dated && signed.template.names(Word::Timestamp) {
        let template = TEMPLATES.into_iter().find(|text| {
            fencepost_identity::signature::Template::parse(text).as_ref() == Ok(&signed.template)
        });
        if let Some(template) = template {
            changes.extend(times(tried, signed).map(|(at, format)| Change::Dated {
                template,
                at,
                format,
            }));
        }
    }
}

/// Where a delivery could have its time: in a header that reads as one, or in a pair.
fn times(tried: &Tried<'_>, signed: &Signed) -> impl Iterator<Item = (TimeAt, StampFormat)> {
    let mut times = Vec::new();
    for (_, format) in StampFormat::NAMES {
        let headers = tried.request.headers.iter();
        let of_format = headers.filter(|(_, value)| format.read(value).is_some());
        times.extend(of_format.map(|(name, _)| (TimeAt::Header((*name).to_owned()), format)));
        if matches!(signed.shape, Shape::Pairs { .. }) {
            times.extend(TIME_PAIRS.map(|name| (TimeAt::Pair(name), format)));
        }
    }
    times.into_iter()
}

/// The URL as it may be registered instead.
fn urls(signed: &Signed) -> impl Iterator<Item = String> {
    let url = signed.url.as_deref();
    let slash = url.map(|url| match url.strip_suffix('/') {
        Some(without) => without.to_owned(),
        None => format!("{url}/"),
    });
    let scheme = url.map(|url| match url.strip_prefix("https://") {
        Some(rest) => format!("http://{rest}"),
        None => url.replacen("http://", "https://", 1),
    });
    slash.into_iter().chain(scheme)
}
