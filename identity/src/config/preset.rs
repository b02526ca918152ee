//! The schemes that are known by name: data, in the form that a configuration has for its own.

macro_rules! presets {
    ($($name:literal),* $(,)?) => {
        /// Every preset with its text, by name.
        pub(super) const PRESETS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../presets/", $name, ".toml")))),*];
    };
}

presets![
    "bitbucket",
    "discord",
    "github",
    "gitlab",
    "gitlab-token",
    "intercom",
    "linear",
    "meta",
    "pagerduty",
    "sentry",
    "shopify",
    "slack",
    "square",
    "standard-webhooks",
    "stripe",
    "typeform",
    "zendesk",
    "zoom",
];

/// The names of all presets.
pub fn preset_names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// The text of a preset: the keys of a `verify` table.
#[must_use]
pub fn preset_text(name: &str) -> Option<&'static str> {
    let preset = PRESETS.iter().find(|(known, _)| *known == name);
    preset.map(|(_, text)| *text)
}
