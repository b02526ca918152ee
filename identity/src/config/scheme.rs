//! Reading the parts of a scheme.

pub(super) mod names;
mod signature;
mod stamp;

use self::{
    names::{header, names, one_of, public_url, visible},
    signature::{shape, signature},
    stamp::stamp,
};
use super::{Item, Section};
use crate::{
    pointer::Pointer,
    signature::{
        Algorithm, Place, Scheme, SecretEncoding, SecretForm, Shape, Signed, Stamp, StampSource,
        Template, Token, Word,
    },
};

/// A table, and the preset's that holds what the table doesn't say.
pub(super) struct Layers<'s, 'd> {
    own: Option<Section<'s, 'd>>,
    preset: Option<Section<'s, 'd>>,
}

impl<'s, 'd> Layers<'s, 'd> {
    pub(super) fn of(own: Section<'s, 'd>) -> Self {
        Self {
            own: Some(own),
            preset: None,
        }
    }

    pub(super) fn over(own: Option<Section<'s, 'd>>, preset: Section<'s, 'd>) -> Self {
        Self {
            own,
            preset: Some(preset),
        }
    }

    pub(super) fn get(&mut self, key: &'static str) -> Option<Item<'s, 'd>> {
        let own = self.own.as_mut().and_then(|own| own.get(key));
        let preset = self.preset.as_mut().and_then(|preset| preset.get(key));
        own.or(preset)
    }

    /// Notes each key that nothing asked for.
    pub(super) fn finish(self) {
        if let Some(own) = self.own {
            own.finish();
        }
    }
}

/// Reads the scheme; mistakes of the whole are noted at `item`.
pub(super) fn scheme(item: &Item<'_, '_>, layers: &mut Layers<'_, '_>) -> Option<Scheme> {
    let kind = layers.get("kind");
    match kind.as_ref().map_or(Some("hmac"), Item::text)? {
        "hmac" => {
            let algorithm = algorithm(item, layers);
            Some(Scheme::Signed(signed(item, layers, algorithm)?))
        }
        "ed25519" => {
            let algorithm = Some(Algorithm::Ed25519);
            Some(Scheme::Signed(signed(item, layers, algorithm)?))
        }
        "token" => Some(Scheme::Token(token(item, layers)?)),
        "basic" => Some(Scheme::Basic),
        _ => {
            kind?.error("one of \"hmac\", \"ed25519\", \"token\" and \"basic\"");
            None
        }
    }
}

fn algorithm(item: &Item<'_, '_>, layers: &mut Layers<'_, '_>) -> Option<Algorithm> {
    let named = layers.get("algorithm");
    let weak = layers.get("allow_weak").map(|item| (item.bool(), item));
    let allowed = matches!(&weak, Some((Some(true), _)));
    let algorithm = match named.as_ref().map_or(Some("sha256"), Item::text)? {
        "sha256" => Algorithm::HmacSha256,
        "sha512" => Algorithm::HmacSha512,
        "sha1" if allowed => Algorithm::HmacSha1,
        "sha1" => {
            item.error(
                "this sender signs with SHA-1; where nothing better is to be had, say \
                 `allow_weak = true`, with a preset as \
                 verify = { preset = \"…\", allow_weak = true }",
            );
            return None;
        }
        _ => {
            named?.error("one of \"sha256\", \"sha512\" and \"sha1\"");
            return None;
        }
    };
    if let Some((_, weak)) = weak.filter(|_| algorithm != Algorithm::HmacSha1) {
        weak.error("nothing here is weak; leave it away");
    }
    Some(algorithm)
}

fn signed(
    item: &Item<'_, '_>,
    layers: &mut Layers<'_, '_>,
    algorithm: Option<Algorithm>,
) -> Option<Signed> {
    let template = match layers.get("template") {
        None => Template::parse("{body}").ok(),
        Some(item) => item.parse(Template::parse),
    };
    let url = layers.get("url");
    let signature = required(item, layers, "signature").and_then(signature);
    let timestamp = layers.get("timestamp");
    let id = layers.get("id");
    let tolerance = layers.get("tolerance_seconds");
    let secret = match layers.get("secret") {
        None => Some(SecretForm {
            encoding: SecretEncoding::Text,
            prefix: String::new(),
        }),
        Some(item) => secret(&item),
    };
    let stamp = match &timestamp {
        None => {
            if let Some(item) = &tolerance {
                item.error("there is no `timestamp` that it could be for");
            }
            Some(None)
        }
        Some(item) => stamp(item, tolerance.as_ref()).map(Some),
    };
    let id = id.map(|item| (names(&item, "header"), item));
    let url = url.map(|item| (item.parse(public_url), item));
    let (signature, template, stamp) = (signature?, template?, stamp?);
    used(
        item,
        &template,
        Word::Url,
        url.as_ref().map(|(_, item)| item),
    );
    used(item, &template, Word::Id, id.as_ref().map(|(_, item)| item));
    check_stamp(item, &template, &signature.shape, stamp.as_ref());
    let ids = match id {
        None => vec![],
        Some((ids, _)) => ids?,
    };
    let times = stamp.as_ref().map_or(&[][..], |(_, names)| names);
    let places = places(item, signature.headers, &ids, times)?;
    Some(Signed {
        algorithm: algorithm?,
        places,
        extra_headers: signature.extra_headers,
        shape: signature.shape,
        encoding: signature.encoding,
        template,
        stamp: stamp.map(|(stamp, _)| stamp),
        secret: secret?,
        url: match url {
            None => None,
            Some((url, _)) => Some(url?),
        },
    })
}

/// A sub-table that a scheme must have.
fn required<'s, 'd>(
    item: &Item<'_, '_>,
    layers: &mut Layers<'s, 'd>,
    key: &'static str,
) -> Option<Section<'s, 'd>> {
    let table = layers.get(key);
    if table.is_none() {
        item.error(format!("the table `{key}` is missing"));
    }
    table?.table()
}

/// Notes a part that the template names and nothing gives, or the reverse.
fn used(whole: &Item<'_, '_>, template: &Template, word: Word, given: Option<&Item<'_, '_>>) {
    let (key, name) = match word {
        Word::Url => ("url", "{url}"),
        Word::Id => ("id", "{id}"),
        Word::Body | Word::Timestamp | Word::Method => return,
    };
    match (template.names(word), given) {
        (true, None) => whole.error(format!(
            "`{name}` is signed: say `{key}`, the one that the sender has registered"
        )),
        (false, Some(item)) => item.error(format!("it is not used: no `{name}` in the template")),
        (true, Some(_)) | (false, None) => {}
    }
}

fn check_stamp(
    whole: &Item<'_, '_>,
    template: &Template,
    shape: &Shape,
    stamp: Option<&(Stamp, Vec<String>)>,
) {
    let source = stamp.map(|(stamp, _)| &stamp.source);
    if template.names(Word::Timestamp) && matches!(source, None | Some(StampSource::Body(_))) {
        whole.error("`{timestamp}` is signed: say in `timestamp` which header or pair it is");
    }
    match (source, shape) {
        (Some(StampSource::Pair(name)), Shape::Pairs { keys, .. }) if keys.contains(name) => {
            whole.error("one pair can't hold both a signature and the timestamp");
        }
        (Some(StampSource::Pair(_)), Shape::Pairs { .. }) => {}
        (Some(StampSource::Pair(_)), _) => {
            whole.error("a timestamp in a pair needs a signature of shape \"pairs\"");
        }
        (Some(StampSource::Header | StampSource::Body(_)) | None, _) => {}
    }
}

fn places(
    item: &Item<'_, '_>,
    signatures: Vec<String>,
    ids: &[String],
    times: &[String],
) -> Option<Vec<Place>> {
    let fits = |names: &[String]| names.is_empty() || names.len() == signatures.len();
    if !fits(ids) || !fits(times) {
        item.error("each spelling of a signature's header needs one of the id's and the time's");
        return None;
    }
    let place = |(at, signature)| Place {
        signature,
        id: ids.get(at).cloned(),
        timestamp: times.get(at).cloned(),
    };
    Some(signatures.into_iter().enumerate().map(place).collect())
}

fn secret(item: &Item<'_, '_>) -> Option<SecretForm> {
    const NAMES: [(&str, SecretEncoding); 3] = [
        ("text", SecretEncoding::Text),
        ("base64", SecretEncoding::Base64),
        ("hex", SecretEncoding::Hex),
    ];
    let mut table = item.table()?;
    let encoding = table
        .get("encoding")
        .map_or(Some(SecretEncoding::Text), |item| one_of(&item, &NAMES));
    let prefix = table
        .get("prefix")
        .map_or(Some(String::new()), |item| item.parse(visible));
    table.finish();
    Some(SecretForm {
        encoding: encoding?,
        prefix: prefix?,
    })
}

fn token(item: &Item<'_, '_>, layers: &mut Layers<'_, '_>) -> Option<Token> {
    let mut table = required(item, layers, "signature")?;
    if let Some(pointer) = table.get("pointer") {
        let pointer = pointer.parse(|text| Pointer::new(text));
        table.finish();
        return pointer.map(Token::Body);
    }
    let name = table.require("header").and_then(|item| item.parse(header));
    let shape = shape(&mut table);
    table.finish();
    let prefix = match shape? {
        Shape::Value => String::new(),
        Shape::Prefix(prefix) => prefix,
        Shape::Pairs { .. } | Shape::Versioned { .. } | Shape::List { .. } => {
            item.error("a token stands in its header as a \"value\" or behind a \"prefix\"");
            return None;
        }
    };
    Some(Token::Header {
        name: name?,
        prefix,
    })
}
