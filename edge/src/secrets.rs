//! Which secrets may sign a delivery. They are read for each one and dropped with it.

use fencepost_identity::{
    config::{SecretName, Secrets},
    identity::Tenant,
    signature::{SigningKey, derive_secret},
};

use crate::{
    admission::{Entrance, LiveKey},
    handler::{Host, VariableUnavailable},
    refusal::{Misconfigured, Refusal},
};

/// The keys of a source, or of the route's tenant in it, that are live.
pub(crate) async fn live_keys<H: Host>(
    entrance: &Entrance<'_, '_>,
    now: u64,
    host: &H,
) -> Result<Vec<LiveKey>, Refusal> {
    match (&entrance.source.secrets, &entrance.tenant) {
        (Secrets::Named(names), _) => named(entrance, names, now, host).await,
        (Secrets::PerTenant(names), Some(tenant)) => {
            per_tenant(entrance, names, tenant, now, host).await
        }
        (Secrets::DerivedFrom(master), Some(tenant)) => {
            let text = required(host, master).await?;
            let secret = derive_secret(entrance.source.verify, &text, tenant.as_str());
            let secret = secret.map_err(|error| unusable(master, error))?;
            Ok(vec![live_key(entrance, master, &secret)?])
        }
        // Such secrets belong to tenants of the route, which the configuration makes sure of.
        (Secrets::PerTenant(_) | Secrets::DerivedFrom(_), None) => Err(Refusal::NoSecret),
    }
}

async fn named<H: Host>(
    entrance: &Entrance<'_, '_>,
    names: &[SecretName],
    now: u64,
    host: &H,
) -> Result<Vec<LiveKey>, Refusal> {
    let mut keys = Vec::with_capacity(names.len());
    for name in names.iter().filter(|name| name.is_live(now)) {
        let text = required(host, &name.variable).await?;
        keys.push(live_key(entrance, &name.variable, &text)?);
    }
    Ok(keys)
}

/// A tenant whose name fits no variable, or whose variable isn't there, is a stranger.
async fn per_tenant<H: Host>(
    entrance: &Entrance<'_, '_>,
    names: &[SecretName],
    tenant: &Tenant,
    now: u64,
    host: &H,
) -> Result<Vec<LiveKey>, Refusal> {
    let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
    if !tenant.as_str().bytes().all(allowed) {
        return Err(Refusal::NoSecret);
    }
    let mut keys = Vec::with_capacity(names.len());
    for name in names.iter().filter(|name| name.is_live(now)) {
        let variable = name.variable.replacen("{tenant}", tenant.as_str(), 1);
        if let Some(text) = optional(host, &variable).await? {
            keys.push(live_key(entrance, &variable, &text)?);
        }
    }
    if keys.is_empty() {
        Err(Refusal::NoSecret)
    } else {
        Ok(keys)
    }
}

fn live_key(entrance: &Entrance<'_, '_>, variable: &str, text: &str) -> Result<LiveKey, Refusal> {
    let key = SigningKey::parse(entrance.source.verify, text);
    let key = key.map_err(|error| unusable(variable, error))?;
    Ok(LiveKey {
        variable: variable.to_owned(),
        key,
    })
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
