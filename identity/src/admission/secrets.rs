//! Which secrets may sign a delivery, and the keys that they make.

use super::{Entrance, Proof, Refusal};
use crate::{
    config::{SecretName, Secrets},
    signature::{self, KeyError, SigningKey, Verdict, derive_secret},
};

/// A variable whose secret may sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Its name.
    pub variable: String,
    /// What it means that the variable has no value.
    pub if_absent: IfAbsent,
    /// The tenant whose secret is derived from it.
    derived_for: Option<String>,
}

/// What it means that a variable has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfAbsent {
    /// Somebody forgot it.
    Misconfigured,
    /// The route names a tenant that isn't ours.
    Stranger,
}

/// The keys that are live, with the names of their variables.
#[derive(Debug, Default)]
pub struct Keys {
    variables: Vec<String>,
    pub(super) keys: Vec<SigningKey>,
}

impl Keys {
    /// Adds the key that a variable's value stands for.
    ///
    /// # Errors
    /// [`KeyError`] for a value that is no secret of the source's scheme.
    pub fn add(
        &mut self,
        entrance: &Entrance<'_, '_>,
        wanted: &Wanted,
        text: &str,
    ) -> Result<(), KeyError> {
        let scheme = &entrance.source.verify.scheme;
        let key = match &wanted.derived_for {
            None => SigningKey::parse(scheme, text)?,
            Some(tenant) => SigningKey::parse(scheme, &derive_secret(scheme, text, tenant)?)?,
        };
        self.variables.push(wanted.variable.clone());
        self.keys.push(key);
        Ok(())
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The proof that a verdict is, or the refusal.
    pub(super) fn proof(&self, verdict: &Verdict<'_>) -> Result<Proof, Refusal> {
        let proof = |proven: &signature::Proven| Proof {
            secret: self.variables.get(proven.by).cloned().unwrap_or_default(),
            by: proven.by,
            candidate: proven.candidate,
            skew_seconds: proven.skew_seconds,
        };
        match verdict {
            Verdict::Signed(proven) => Ok(proof(proven)),
            Verdict::OutOfWindow(proven) => Err(Refusal::OutOfWindow(proof(proven))),
            Verdict::Mismatch | Verdict::Payload(_) => Err(Refusal::Mismatch {
                secrets: self.variables.clone(),
            }),
        }
    }
}

impl Entrance<'_, '_> {
    /// The variables of the secrets that are live at `now`, in seconds since 1970.
    ///
    /// # Errors
    /// [`Refusal::NoSecret`] where the route's tenant can have none.
    pub fn wanted(&self, now: u64) -> Result<Vec<Wanted>, Refusal> {
        let live = |names: &'_ [SecretName]| {
            let live = names.iter().filter(|name| name.is_live(now));
            live.map(|name| name.variable.clone()).collect::<Vec<_>>()
        };
        let wanted = |variable, if_absent| Wanted {
            variable,
            if_absent,
            derived_for: None,
        };
        match (&self.source.secrets, &self.tenant) {
            (Secrets::Named(names), _) => Ok(live(names)
                .into_iter()
                .map(|variable| wanted(variable, IfAbsent::Misconfigured))
                .collect()),
            (Secrets::PerTenant(names), Some(tenant)) => {
                let tenant = tenant.as_str();
                let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
                // A tenant whose name fits no variable is a stranger.
                if !tenant.bytes().all(allowed) {
                    return Err(Refusal::NoSecret);
                }
                let variables = live(names).into_iter();
                Ok(variables
                    .map(|variable| variable.replacen("{tenant}", tenant, 1))
                    .map(|variable| wanted(variable, IfAbsent::Stranger))
                    .collect())
            }
            (Secrets::DerivedFrom(master), Some(tenant)) => Ok(vec![Wanted {
                variable: master.clone(),
                if_absent: IfAbsent::Misconfigured,
                derived_for: Some(tenant.as_str().to_owned()),
            }]),
            // Such secrets belong to tenants of the route, which the configuration makes sure of.
            (Secrets::PerTenant(_) | Secrets::DerivedFrom(_), None) => Err(Refusal::NoSecret),
        }
    }
}
