//! Whether the secrets that are given here, as the edge would get them, have the form that their
//! sources need.

use fencepost_identity::{
    config::{Handshake, Secrets, Source},
    signature::{KeyError, SigningKey, derive_secret, key_bytes},
};

use super::Findings;
use crate::config::{Environment, Project, process_environment, process_variables};

/// From so many bytes on nothing is said of a key.
const KEY_BYTES_GOOD: usize = 24;

const PREFIX: &str = "SPIN_VARIABLE_";

/// Checks each variable that a source names, and those of tenants that are set.
pub(super) fn check_secrets(project: &Project, findings: &mut Findings) {
    let mut environment = Environment::new(&process_environment);
    let named = project.secret_variables();
    for variable in &named {
        let name = format!("{PREFIX}{}", variable.to_ascii_uppercase());
        check_variable(project, variable, &name, &mut environment, findings);
    }
    let of_tenants = tenant_variables(project);
    for variable in of_tenants.iter().filter(|it| !named.contains(it)) {
        let name = format!("{PREFIX}{}", variable.to_ascii_uppercase());
        check_variable(project, variable, &name, &mut environment, findings);
    }
    findings.errors.append(environment.errors);
}

fn check_variable(
    project: &Project,
    variable: &str,
    name: &str,
    environment: &mut Environment<'_>,
    findings: &mut Findings,
) {
    let errors = environment.errors.len();
    let Some(secret) = environment.secret(name) else {
        if environment.errors.len() > errors {
            return;
        }
        match environment.unchecked_secret(name) {
            // A process would get it, and could do nothing with it.
            Ok(Some(_)) => environment.errors.push(format!("{name} is empty")),
            Ok(None) | Err(_) => {
                let line = format!("the secret `{variable}`: {name} is not set here");
                findings.unchecked.push(line);
            }
        }
        return;
    };
    let text = String::from_utf8_lossy(secret.expose()).into_owned();
    for source in project.sources.iter() {
        let named = &source.name;
        match check_secret(source, variable, &text) {
            Some(Err(error)) => {
                let line = format!("{name}: source `{named}`: {error}");
                environment.errors.push(line);
            }
            Some(Ok(bytes)) if bytes < KEY_BYTES_GOOD => findings.warnings.push(format!(
                "source `{named}`: the secret `{variable}` stands for {bytes} bytes; \
                 {KEY_BYTES_GOOD} or more are better"
            )),
            Some(Ok(_)) | None => {}
        }
    }
}

/// The bytes of the key that a secret stands for, if it has the form that a source needs; nothing
/// where the source does not use it.
fn check_secret(source: &Source, variable: &str, text: &str) -> Option<Result<usize, KeyError>> {
    let scheme = &source.verify.scheme;
    let handshake = source.verify.handshake.as_ref();
    if handshake.and_then(Handshake::token_variable) == Some(variable) {
        return Some(SigningKey::shown(text).map(|_| text.len()));
    }
    let uses = match &source.secrets {
        Secrets::Named(names) => names.iter().any(|name| name.variable == variable),
        Secrets::PerTenant(names) => names
            .iter()
            .any(|name| tenant_in(&name.variable, variable).is_some()),
        Secrets::DerivedFrom(master) if master == variable => {
            return Some(derive_secret(scheme, text, "tenant").map(|_| text.len()));
        }
        Secrets::DerivedFrom(_) => false,
    };
    let parsed = uses.then(|| SigningKey::parse(scheme, text));
    parsed.map(|key| key.and_then(|_| key_bytes(scheme, text)))
}

/// The variables of tenants that are set here, or whose files are named.
fn tenant_variables(project: &Project) -> Vec<String> {
    let patterns = project
        .sources
        .iter()
        .flat_map(|source| match &source.secrets {
            Secrets::PerTenant(names) => names.as_slice(),
            Secrets::Named(_) | Secrets::DerivedFrom(_) => &[],
        });
    let patterns: Vec<_> = patterns.map(|name| name.variable.as_str()).collect();
    let set = process_variables().into_iter().filter_map(|name| {
        let variable = name.strip_prefix(PREFIX)?.to_ascii_lowercase();
        let variable = variable.strip_suffix("_file").unwrap_or(&variable);
        let fits = |pattern: &&str| tenant_in(pattern, variable).is_some();
        patterns.iter().any(fits).then(|| variable.to_owned())
    });
    let mut variables: Vec<_> = set.collect();
    variables.dedup();
    variables
}

/// The tenant whose variable it is, by a name with `{tenant}` in it.
fn tenant_in<'v>(pattern: &str, variable: &'v str) -> Option<&'v str> {
    let (before, after) = pattern.split_once("{tenant}")?;
    let tenant = variable.strip_prefix(before)?.strip_suffix(after)?;
    (!tenant.is_empty()).then_some(tenant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_is_what_stands_where_its_name_has_to() {
        for (variable, tenant) in [
            ("acme_t1_secret", Some("t1")),
            ("acme_a_b_secret", Some("a_b")),
            ("acme__secret", None),
            ("acme_secret", None),
            ("other_t1_secret", None),
        ] {
            assert_eq!(tenant_in("acme_{tenant}_secret", variable), tenant);
        }
        assert_eq!(tenant_in("acme", "acme"), None);
    }
}
