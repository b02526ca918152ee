//! The secrets of a delivery. They are read for each one and dropped with it.

use fencepost_identity::admission::{self, Entrance, IfAbsent, Keys};

use crate::{
    handler::{Host, VariableUnavailable},
    refusal::{Misconfigured, Refusal},
};

/// The keys of a source, or of the route's tenant in it, that are live.
pub(crate) async fn live_keys<H: Host>(
    entrance: &Entrance<'_, '_>,
    now: u64,
    host: &H,
) -> Result<Keys, Refusal> {
    let mut keys = Keys::default();
    let mut strangers = false;
    for wanted in entrance.wanted(now)? {
        let text = match (optional(host, &wanted.variable).await?, wanted.if_absent) {
            (Some(text), _) => text,
            (None, IfAbsent::Misconfigured) => {
                return Err(unusable(&wanted.variable, "it has no value"));
            }
            (None, IfAbsent::Stranger) => {
                strangers = true;
                continue;
            }
        };
        let added = keys.add(entrance, &wanted, &text);
        added.map_err(|error| unusable(&wanted.variable, error))?;
    }
    match strangers && keys.is_empty() {
        true => Err(admission::Refusal::NoSecret.into()),
        false => Ok(keys),
    }
}

/// The value of a variable that must have one.
pub(crate) async fn required<H: Host>(host: &H, name: &str) -> Result<String, Refusal> {
    let value = optional(host, name).await?;
    value.ok_or_else(|| unusable(name, "it has no value"))
}

async fn optional<H: Host>(host: &H, name: &str) -> Result<Option<String>, Refusal> {
    let value = host.variable(name).await;
    value.map_err(|VariableUnavailable| unusable(name, "its provider does not answer"))
}

/// Why the variable's value doesn't serve, never the value.
pub(crate) fn unusable(name: &str, why: impl std::fmt::Display) -> Refusal {
    Misconfigured::Variable {
        name: name.to_owned(),
        why: why.to_string(),
    }
    .into()
}
