//! From what the file says of sources whose content is fetched to those who fetch it.

use std::{collections::BTreeMap, sync::Arc};

use super::StartError;
use crate::{
    clock::UnixMillis,
    config::{Project, ProviderKeys},
    fetch::{FetchSetupError, Fetcher, SystemNames},
    store::CredentialName,
    tls::{self, TlsError},
    worker::Source,
};

/// Why content can't be fetched.
#[derive(Debug, thiserror::Error)]
pub enum Unfetchable {
    /// What it is fetched with can't be set up.
    #[error("{0}")]
    Setup(#[from] FetchSetupError),
    /// Connections can't be protected.
    #[error("{0}")]
    Tls(#[from] TlsError),
}

/// The sources whose content is fetched, by the pipelines that they lead to. No connection is made
/// yet.
pub(super) fn sources(
    project: &Project,
    keys: &ProviderKeys,
) -> Result<BTreeMap<String, BTreeMap<String, Source>>, StartError> {
    let mut by_pipeline = BTreeMap::<String, BTreeMap<_, _>>::new();
    for source in project.sources.iter() {
        let name = &source.name;
        let Some(made) = set_up(source, keys) else {
            continue;
        };
        let made = made.map_err(|error| StartError::Source {
            name: name.clone(),
            error,
        })?;
        let of_pipeline = by_pipeline.entry(source.pipeline.clone()).or_default();
        of_pipeline.insert(name.clone(), made);
    }
    Ok(by_pipeline)
}

fn set_up(
    source: &fencepost_identity::config::Source,
    keys: &ProviderKeys,
) -> Option<Result<Source, Unfetchable>> {
    let fetch = source.input.fetch()?.clone();
    let variable = fetch.token_variable.as_deref();
    let credential = CredentialName::of_source(&source.name, variable);
    let token = variable.and_then(|variable| keys.get(variable)).cloned();
    // One without TLS may lead on to one with it; where there are no authorities, to none.
    let tls = match tls::for_scheme("https") {
        Err(TlsError::NoAuthorities) if fetch.address.is_plain() => tls::for_scheme("http"),
        tls => tls,
    };
    let fetcher = tls.map_err(Unfetchable::from).and_then(|tls| {
        let clock = UnixMillis::of_this_machine;
        let names = Arc::new(SystemNames);
        Ok(Fetcher::new(fetch, token.as_ref(), &tls, names, clock)?)
    });
    Some(fetcher.map(|fetcher| Source {
        fetcher: Arc::new(fetcher),
        credential,
    }))
}
