//! Reading how a source is verified: a preset by its name, or a table with every part of a scheme,
//! on top of a preset or without one.

use super::{
    ConfigErrors, Document, Item, Section,
    preset::{preset_names, preset_text},
    scheme::{Layers, names::header, scheme},
    secrets::variable,
};
use crate::signature::{Algorithm, Scheme};

/// How a source's deliveries are verified, and what else their sender expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verify {
    /// The preset that it builds on.
    pub preset: Option<String>,
    /// How a delivery proves who sent it.
    pub scheme: Scheme,
    /// What the sender asks before or beside its deliveries.
    pub handshake: Option<Handshake>,
    /// The field that holds the JSON, where a body begins with its name and `=`: a form.
    pub form: Option<String>,
}

/// What a provider asks to see whether the address is ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// A signed `url_verification`, whose challenge is sent back.
    Slack,
    /// GET with a token that only we know, and a challenge that is sent back.
    Meta {
        /// The variable that holds the token.
        verify_token: String,
    },
    /// POST with `validationToken` in the query and no body: the token is sent back.
    MicrosoftGraph,
    /// A signed `endpoint.url_validation`, whose token is sent back with a code over it.
    Zoom,
    /// GET with a challenge that is sent back.
    Dropbox,
    /// A signed `{"type":1}`, which is sent back.
    Discord,
    /// HEAD, which wants 200.
    Trello,
}

impl Handshake {
    /// The variable of the token that it shows, where it shows one.
    #[must_use]
    pub fn token_variable(&self) -> Option<&str> {
        match self {
            Self::Meta { verify_token } => Some(verify_token),
            Self::Slack
            | Self::MicrosoftGraph
            | Self::Zoom
            | Self::Dropbox
            | Self::Discord
            | Self::Trello => None,
        }
    }
}

impl Verify {
    /// Reads a document whose one key `verify` is how something is verified.
    ///
    /// # Errors
    /// Every mistake in it.
    pub fn parse(text: &str) -> Result<Self, ConfigErrors> {
        let document = Document::parse(text)?;
        let mut root = document.root();
        let read = root.require("verify").and_then(|item| verify(&item));
        root.finish();
        document.finish(read)
    }
}

impl Handshake {
    const NAMES: [&'static str; 7] = [
        "discord",
        "dropbox",
        "meta",
        "microsoft-graph",
        "slack",
        "trello",
        "zoom",
    ];
}

/// Reads the key `verify`; mistakes are noted in the document.
pub(super) fn verify(item: &Item<'_, '_>) -> Option<Verify> {
    if item.as_text().is_some() {
        let name = item.text()?;
        return on_preset(item, None, name);
    }
    let mut own = item.as_table();
    if own.is_none() {
        item.error("the name of a preset, or a table that describes a scheme");
    }
    match own.as_mut()?.get("preset") {
        Some(name) => on_preset(&name, own, name.text()?),
        None => read(item, Layers::of(own?), None),
    }
}

fn on_preset<'s, 'd>(
    item: &Item<'s, 'd>,
    own: Option<Section<'s, 'd>>,
    name: &str,
) -> Option<Verify> {
    let Some(text) = preset_text(name) else {
        let near = |known: &&str| strsim::damerau_levenshtein(name, known);
        let nearest = preset_names().min_by_key(near).unwrap_or_default();
        item.error(format!(
            "this preset is not known; did you mean `{nearest}`?"
        ));
        return None;
    };
    // Presets are read in tests, every one.
    let document = Document::parse(text).ok()?;
    let preset = document.root();
    let verify = read(item, Layers::over(own, preset), Some(name.to_owned()));
    // What stands in the preset can be wrong together with what stands in the file.
    for error in document.noted() {
        item.error(format!(
            "this doesn't fit the preset, in `{}`: {}",
            error.key, error.message
        ));
    }
    verify
}

fn read(item: &Item<'_, '_>, mut layers: Layers<'_, '_>, preset: Option<String>) -> Option<Verify> {
    let scheme = scheme(item, &mut layers);
    let handshake = handshake(item, &mut layers);
    let form = layers.get("form").map(|item| item.parse(header));
    layers.finish();
    let (scheme, handshake) = (scheme?, handshake?);
    fits(item, &scheme, handshake.as_ref());
    Some(Verify {
        preset,
        scheme,
        handshake,
        form: match form {
            None => None,
            Some(form) => Some(form?),
        },
    })
}

fn handshake(item: &Item<'_, '_>, layers: &mut Layers<'_, '_>) -> Option<Option<Handshake>> {
    let Some(name) = layers.get("handshake") else {
        return Some(None);
    };
    let handshake = match name.text()? {
        "discord" => Handshake::Discord,
        "dropbox" => Handshake::Dropbox,
        "meta" => {
            let token = layers.get("verify_token");
            if token.is_none() {
                item.error(
                    "Meta asks with a token of yours: say `verify_token = \"…\"`, the name of the \
                     variable that holds it; with the preset, \
                     verify = { preset = \"meta\", verify_token = \"…\" }",
                );
            }
            let verify_token = token?.parse(variable)?;
            Handshake::Meta { verify_token }
        }
        "microsoft-graph" => Handshake::MicrosoftGraph,
        "slack" => Handshake::Slack,
        "trello" => Handshake::Trello,
        "zoom" => Handshake::Zoom,
        _ => {
            let known = Handshake::NAMES.join(", ");
            name.error(format!("this handshake is not known; known are: {known}"));
            return None;
        }
    };
    Some(Some(handshake))
}

/// Notes a handshake that its scheme can't carry.
fn fits(item: &Item<'_, '_>, scheme: &Scheme, handshake: Option<&Handshake>) {
    let makes_code = matches!(scheme, Scheme::Signed(signed)
        if signed.algorithm == Algorithm::HmacSha256);
    if handshake == Some(&Handshake::Zoom) && !makes_code {
        item.error("Zoom's handshake is answered with a code by HMAC-SHA256");
    }
}
