//! Where the secrets of a source come from.

use super::Item;
use crate::mapping::TenantForm;

/// Where the secrets of a source come from. The file names variables; no secret stands in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// These variables; several while a secret is rotated.
    Named(Vec<SecretName>),
    /// One variable per tenant of the route: the texts around `{tenant}`, with when it ends.
    PerTenant(Vec<SecretName>),
    /// HMAC-SHA256 of the tenant of the route under the master secret in this variable.
    DerivedFrom(String),
}

/// A variable that holds a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretName {
    /// The variable's name, or with a route tenant a name with `{tenant}` in it.
    pub variable: String,
    /// From when on it is refused: seconds since 1970.
    pub not_after: Option<u64>,
}

impl SecretName {
    /// Whether the secret is still taken at a time in seconds since 1970.
    #[must_use]
    pub fn is_live(&self, now: u64) -> bool {
        self.not_after.is_none_or(|end| now <= end)
    }
}

/// Reads the key `secrets`; with a tenant of the route, each tenant has one of its own.
pub(super) fn secrets(item: &Item<'_, '_>, tenant: Option<&TenantForm>) -> Option<Secrets> {
    let route = tenant? == &TenantForm::Route;
    if let Some(mut table) = item.as_table() {
        let master = table
            .require("derive_from")
            .and_then(|item| item.parse(variable));
        table.finish();
        if !route {
            item.error("only a tenant of the route has a secret derived for it");
        }
        return master.map(Secrets::DerivedFrom);
    }
    let items = item.array()?;
    if items.is_empty() {
        item.error("at least one variable that holds a secret");
    }
    let names: Vec<_> = items.iter().map(secret_name).collect::<Option<_>>()?;
    for (item, name) in items.iter().zip(&names) {
        match (route, name.variable.matches("{tenant}").count()) {
            (true, 1) | (false, 0) => {}
            (true, _) => item.error(
                "with a tenant of the route each tenant has its own secret: name the variable with \
                 `{tenant}` in it once, such as `acme_{tenant}`, or use { derive_from = \"…\" }",
            ),
            (false, _) => item.error("`{tenant}` needs tenant = { route = true }"),
        }
    }
    Some(if route {
        Secrets::PerTenant(names)
    } else {
        Secrets::Named(names)
    })
}

fn secret_name(item: &Item<'_, '_>) -> Option<SecretName> {
    let Some(mut table) = item.as_table() else {
        return Some(SecretName {
            variable: item.parse(variable_of_tenants)?,
            not_after: None,
        });
    };
    let variable = table
        .require("name")
        .and_then(|item| item.parse(variable_of_tenants));
    let not_after = match table.get("not_after") {
        None => Some(None),
        Some(item) => item.unix_seconds().map(Some),
    };
    table.finish();
    Some(SecretName {
        variable: variable?,
        not_after: not_after?,
    })
}

/// A variable's name as Spin has it, with `{tenant}` in it or without.
fn variable_of_tenants(text: &str) -> Result<String, &'static str> {
    variable(&text.replacen("{tenant}", "t", 1)).map(|_| text.to_owned())
}

/// A variable's name as Spin has it. A secret itself, pasted here by mistake, is told apart by its
/// characters and not repeated.
pub(super) fn variable(text: &str) -> Result<String, &'static str> {
    let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
    if text.starts_with(|first: char| first.is_ascii_lowercase()) && text.bytes().all(allowed) {
        return Ok(text.to_owned());
    }
    Err("this must be the name of a variable (a-z, 0-9, _), not the secret itself")
}
