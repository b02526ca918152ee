//! Content that is fetched: by a fetcher alone, or by a rig's workers.

use std::{collections::BTreeMap, io, net::IpAddr, sync::Arc};

use async_trait::async_trait;
use fencepost::{
    clock::UnixMillis,
    fetch::{FetchError, Fetcher, Names},
    secret::Secret,
    store::{CredentialName, Ingested, NewReport},
    tls,
    worker::Source,
};
use fencepost_identity::{
    config::{Fetch, Sources},
    identity::{Identity, Namespace, ReportId, Tenant, Version},
    key::ReportKey,
    mapping::Input,
};
use rustls::ClientConfig;

use crate::rig::{Rig, report};

/// What is presented: never to be seen anywhere but at the host of the address.
pub(crate) const TOKEN: &str = "token-canary-0123456789";

/// What a table of a file says.
pub(crate) fn fetch(table: &str) -> Fetch {
    let file = format!(
        "[source.comments]\nverify = \"github\"\nsecrets = [\"a\"]\npipeline = \"p\"\n\
         input = \"reference\"\n[source.comments.identity]\ntenant = {{ value = \"acme\" }}\n\
         report_id = \"/id\"\nversion = \"event\"\n[source.comments.links]\nhead = \"/head\"\n\
         [source.comments.fetch]\n{table}\n[pipeline.p]\n"
    );
    let sources = Sources::parse(&file).unwrap();
    let source = sources.get("comments").unwrap();
    source.input.fetch().unwrap().clone()
}

/// What every name stands for.
pub(crate) struct Told(pub(crate) Vec<IpAddr>);

impl Told {
    pub(crate) fn of(addresses: &[&str]) -> Self {
        let addresses = addresses.iter().map(|address| address.parse().unwrap());
        Self(addresses.collect())
    }
}

#[async_trait]
impl Names for Told {
    async fn addresses(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        Ok(self.0.clone())
    }
}

fn clock() -> UnixMillis {
    UnixMillis::new(1_800_000_000_000)
}

/// A fetcher with a token, by a table.
pub(crate) fn fetcher(table: &str, names: Told) -> Fetcher {
    protected(table, names, &tls::for_scheme("http").unwrap())
}

/// The same, trusting whomever the configuration trusts.
pub(crate) fn protected(table: &str, names: Told, tls: &ClientConfig) -> Fetcher {
    let token = Secret::new(TOKEN);
    Fetcher::new(fetch(table), Some(&token), tls, Arc::new(names), clock).unwrap()
}

pub(crate) fn identity(id: &str) -> Identity {
    Identity {
        tenant: Tenant::new("acme").unwrap(),
        namespace: Namespace::new("comments").unwrap(),
        report_id: ReportId::new(id).unwrap(),
        version: Version::Event,
    }
}

/// Fetches the content of report 1.
pub(crate) async fn fetched(fetcher: &Fetcher, head: &str) -> Result<String, FetchError> {
    let links = [("head".to_owned(), head.to_owned())];
    let fetched = fetcher.fetch(&identity("1"), &links).await;
    fetched.map(|input: Input| input.as_str().to_owned())
}

impl Rig {
    /// Has the content of its reports fetched, as a table says.
    pub(crate) fn fetches(&mut self, table: &str) {
        let source = Source {
            fetcher: Arc::new(fetcher(table, Told::of(&[]))),
            credential: CredentialName::of_source("comments", Some("CONTENT_TOKEN")),
        };
        self.pipeline.sources = BTreeMap::from([("comments".to_owned(), source)]);
    }

    /// Stores a reference.
    pub(crate) async fn refer(&self, id: &str) -> ReportKey {
        let report = reference(id);
        let key = report.identity.report_key();
        let ingested = self.store.ingest(report).await.unwrap();
        assert!(!matches!(ingested, Ingested::MappingChanged { .. }));
        key
    }
}

/// A report of which only a reference came.
pub(crate) fn reference(id: &str) -> NewReport {
    NewReport {
        input: None,
        links: vec![("head".to_owned(), "abc".to_owned())],
        ..report(id)
    }
}
