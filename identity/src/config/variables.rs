//! The variables of the edge, and which of them a tenant of the route could name.

use super::{Handshake, Item, Secrets, Source};
use crate::mapping::TenantForm;

/// The variable with the secret that edge and backend share.
pub const EDGE_SECRET: &str = "edge_secret";
/// The variable with the backend's address: scheme, host and port.
pub const BACKEND_URL: &str = "backend_url";

/// Notes a name with `{tenant}` that some tenant turns into a variable which is no secret of it:
/// who knows that variable's value could sign for this tenant.
pub(super) fn check_tenants(source: &Source, sources: &[Source], item: &Item<'_, '_>) {
    let Secrets::PerTenant(names) = &source.secrets else {
        return;
    };
    for name in names {
        let (before, after) = name.variable.split_once("{tenant}").unwrap_or_default();
        let tenant_of = |variable: &str| {
            let tenant = variable.strip_prefix(before)?.strip_suffix(after)?;
            (!tenant.is_empty()).then(|| tenant.to_owned())
        };
        let own = [EDGE_SECRET, BACKEND_URL].map(|variable| (variable, None));
        for (variable, owner) in sources.iter().flat_map(fixed).chain(own) {
            let tenant = tenant_of(variable);
            if let Some(tenant) = tenant.filter(|tenant| owner != Some(tenant.as_str())) {
                item.error(format!(
                    "the tenant `{tenant}` of the route would have `{variable}` for its secret, \
                     which is another's; give the variables of tenants a beginning of their own, \
                     such as `tenant_secret_{{tenant}}`"
                ));
            }
        }
    }
}

/// Notes a master secret that signs deliveries itself: a signature over a tenant's name would be
/// that tenant's secret.
pub(super) fn check_master(source: &Source, sources: &[Source], item: &Item<'_, '_>) {
    let Secrets::DerivedFrom(master) = &source.secrets else {
        return;
    };
    let signs = |other: &&Source| match &other.secrets {
        Secrets::Named(names) => names.iter().any(|name| name.variable == *master),
        Secrets::PerTenant(_) | Secrets::DerivedFrom(_) => false,
    };
    if let Some(other) = sources.iter().find(signs) {
        item.error(format!(
            "secrets are derived from `{master}`, with which the source `{}` is signed; give the \
             master secret a variable of its own",
            other.name
        ));
    }
}

/// The variables that a source names as they are, with the tenant that each belongs to.
fn fixed(source: &Source) -> Vec<(&str, Option<&str>)> {
    let tenant = match &source.mapping.tenant {
        TenantForm::Value(tenant) => Some(tenant.as_str()),
        TenantForm::Pointer(_) | TenantForm::Route => None,
    };
    let mut fixed = match &source.secrets {
        Secrets::Named(names) => names
            .iter()
            .map(|name| (name.variable.as_str(), tenant))
            .collect(),
        Secrets::DerivedFrom(master) => vec![(master.as_str(), None)],
        Secrets::PerTenant(_) => vec![],
    };
    let handshake = source.verify.handshake.as_ref();
    let token = handshake.and_then(Handshake::token_variable);
    fixed.extend(token.map(|variable| (variable, None)));
    fixed
}
