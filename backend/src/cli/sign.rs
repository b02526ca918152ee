//! `sign`: what a source's sender adds to a delivery.

use std::collections::BTreeMap;

use clap::Args;
use fencepost_identity::{
    config::{SecretName, Secrets, Source, Sources},
    signature::{Scheme, Sending, SignError, SigningKey, derive_secret, sign},
};

use super::{
    CliError, InputFile, Verdict,
    output::{self, Shape, ShapeFlag},
    time::Moment,
};
use crate::config::{Environment, Project, process_environment};

/// `sign`
#[derive(Debug, Args)]
pub(super) struct Sign {
    /// The source whose sender signs.
    #[arg(long)]
    source: String,
    /// The tenant that the route names, for a source that takes it from there.
    #[arg(long)]
    tenant: Option<String>,
    /// When it is signed: seconds since 1970, or RFC 3339. Without it: now.
    #[arg(long, value_name = "TIME")]
    at: Option<Moment>,
    /// The payload; `-` is stdin.
    file: InputFile,
    #[command(flatten)]
    shape: ShapeFlag,
}

impl Sign {
    pub(super) fn run(self) -> Result<Verdict, CliError> {
        let now = Moment::or_now(self.at);
        let signer = Signer::new(&self.source, self.tenant.as_deref(), now)?;
        let headers = signer.headers(&self.file.read()?, now);
        let headers = headers.map_err(|error| CliError::Failed(error.to_string()))?;
        match self.shape.shape() {
            Shape::Json => output::json(&headers.into_iter().collect::<BTreeMap<_, _>>()),
            Shape::Table => {
                for (name, value) in headers {
                    output::line(&format!("{name}: {value}"));
                }
            }
        }
        Ok(Verdict::Done)
    }
}

/// A source's sender.
pub(super) struct Signer {
    /// The path of the source's hook at the edge.
    pub(super) path: String,
    segment: Option<String>,
    scheme: Scheme,
    key: SigningKey,
}

impl Signer {
    /// Takes the secret from the variable of the edge that the source names, as Spin has it:
    /// `github_secret` is `SPIN_VARIABLE_GITHUB_SECRET`, or a file that `…_FILE` names. Of several
    /// it is the first that is live at `now`.
    pub(super) fn new(name: &str, tenant: Option<&str>, now: u64) -> Result<Self, CliError> {
        let mut environment = Environment::new(&process_environment);
        let project = Project::read(&mut environment);
        let project = std::mem::take(&mut environment.errors).or(project)?;
        let source = source(&project.sources, name)?;
        let secret = secret(&mut environment, source, tenant, now)?;
        let scheme = source.verify.scheme.clone();
        let key = SigningKey::parse(&scheme, &secret)
            .map_err(|error| CliError::Usage(format!("the secret of source `{name}`: {error}")))?;
        let segment = tenant.map(|tenant| RouteTenant::new(tenant).0);
        let mut path = format!("/hooks/{name}");
        if let Some(segment) = &segment {
            path = format!("{path}/{segment}");
        }
        Ok(Self {
            path,
            segment,
            scheme,
            key,
        })
    }

    /// The headers of one delivery. Each has a message id of its own: none of them says which
    /// report it is.
    pub(super) fn headers(
        &self,
        body: &[u8],
        now: u64,
    ) -> Result<Vec<(String, String)>, SignError> {
        let message_id = format!("msg_{:032x}", rand::random::<u128>());
        let sending = Sending {
            method: "POST",
            segment: self.segment.as_deref(),
            message_id: &message_id,
            now,
            body,
        };
        sign(&self.scheme, &self.key, &sending)
    }
}

/// The source of a name, or which ones there are.
pub(super) fn source<'p>(sources: &'p Sources, name: &str) -> Result<&'p Source, CliError> {
    sources.get(name).ok_or_else(|| {
        let names: Vec<_> = sources.iter().map(|source| source.name.as_str()).collect();
        CliError::Usage(format!(
            "there is no source `{name}`; there are: {}",
            names.join(", ")
        ))
    })
}

/// The secret that the sender of a source, or of one of its tenants, signs with.
pub(super) fn secret(
    environment: &mut Environment<'_>,
    source: &Source,
    tenant: Option<&str>,
    now: u64,
) -> Result<String, CliError> {
    let first = |names: &[SecretName]| {
        let live = names.iter().find(|name| name.is_live(now));
        let live = live.map(|name| name.variable.clone());
        live.ok_or_else(|| CliError::Usage("no secret of this source is live then".to_owned()))
    };
    let needs_tenant = || CliError::Usage("this source needs `--tenant`".to_owned());
    let variable = match (&source.secrets, tenant) {
        (Secrets::Named(names), None) => first(names)?,
        (Secrets::Named(_), Some(_)) => {
            return Err(CliError::Usage(
                "this source has no tenant in its route".to_owned(),
            ));
        }
        (Secrets::PerTenant(names), Some(tenant)) => {
            let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
            if !tenant.bytes().all(allowed) {
                return Err(CliError::Usage(
                    "this tenant can have no variable: its name has more than a-z, 0-9 and _"
                        .to_owned(),
                ));
            }
            first(names)?.replace("{tenant}", tenant)
        }
        (Secrets::DerivedFrom(variable), Some(_)) => variable.clone(),
        (Secrets::PerTenant(_) | Secrets::DerivedFrom(_), None) => return Err(needs_tenant()),
    };
    let name = format!("SPIN_VARIABLE_{}", variable.to_ascii_uppercase());
    let purpose = format!("the source names the variable `{variable}`");
    let secret = environment.required_secret(&name, &purpose);
    let secret = std::mem::take(&mut environment.errors).or(secret)?;
    let text = String::from_utf8_lossy(secret.expose()).into_owned();
    match (&source.secrets, tenant) {
        (Secrets::DerivedFrom(_), Some(tenant)) => {
            derive_secret(&source.verify.scheme, &text, tenant)
                .map_err(|error| CliError::Usage(format!("{name}: {error}")))
        }
        (Secrets::Named(_) | Secrets::PerTenant(_) | Secrets::DerivedFrom(_), _) => Ok(text),
    }
}

/// A tenant as a segment of a route: everything but plain characters is percent-encoded.
pub(super) struct RouteTenant(String);

impl RouteTenant {
    pub(super) fn new(tenant: &str) -> Self {
        let encode = |byte: u8| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            // `.` too: a segment of one or two dots is no segment to a URL.
            _ => format!("%{byte:02X}"),
        };
        Self(tenant.bytes().map(encode).collect())
    }

    pub(super) fn segment(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use fencepost_identity::mapping::tenant_of_segment;

    use super::*;

    #[test]
    fn a_tenant_comes_back_from_its_segment() {
        for tenant in ["acme", "a/b", "100%", "..", "é 😀", "a.b~c"] {
            let route = RouteTenant::new(tenant);
            assert!(
                !route.segment().contains(['/', ' ', '.']),
                "{}",
                route.segment()
            );
            assert_eq!(tenant_of_segment(route.segment()).unwrap().as_str(), tenant);
        }
    }
}
