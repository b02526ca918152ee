//! Whether whoever is asked can take the schemas, and can be reached.

use std::{collections::BTreeSet, time::Duration};

use tokio::{net::TcpStream, task::JoinSet};

use super::Findings;
use crate::{
    app,
    config::{Environment, ExtractorConfig, Project, ProviderKeys, process_environment},
};

/// How long a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Whether connections are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// They are; nothing is sent over them.
    Tried,
    /// They are not.
    Untried,
}

/// Checks the extractors that pipelines name.
pub(super) async fn check_models(project: &Project, reach: Reach, findings: &mut Findings) {
    // That a key is missing is among the errors already.
    let keys = ProviderKeys::read(&mut Environment::new(&process_environment), project);
    for error in app::misfits(project, &keys) {
        findings.errors.push(error.to_string());
    }
    let used: BTreeSet<&str> = project
        .pipelines
        .iter()
        .map(|pipeline| pipeline.extractor.as_str())
        .collect();
    for name in &used {
        let config = project.extractors.get(*name);
        if let Some(whose) = config.and_then(ExtractorConfig::found_credentials) {
            findings.unchecked.push(format!(
                "extractor `{name}`: whether {whose} has credentials for it; they are looked for \
                 at the first question"
            ));
        }
    }
    let servers = used.into_iter().filter_map(|name| {
        let base_url = project.extractors.get(name)?.base_url()?;
        Some((
            format!("extractor `{name}`: {base_url}"),
            base_url.authority(),
        ))
    });
    match reach {
        Reach::Tried => findings.conflicts.extend(unreachable(servers).await),
        Reach::Untried => {
            let lines = servers.map(|(server, _)| {
                format!("{server}: whether it can be reached; `--online` tries")
            });
            findings.unchecked.extend(lines);
        }
    }
}

/// A line for each server that takes no connection, in the order of their names.
async fn unreachable(servers: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let mut tries = JoinSet::new();
    for (server, authority) in servers {
        tries.spawn(async move {
            let tried = TcpStream::connect(authority);
            match tokio::time::timeout(CONNECT_TIMEOUT, tried).await {
                Ok(Ok(_)) => None,
                Ok(Err(error)) => Some(format!("{server} can't be reached: {error}")),
                Err(_) => Some(format!(
                    "{server} can't be reached: no connection within {} s",
                    CONNECT_TIMEOUT.as_secs()
                )),
            }
        });
    }
    let mut lines: Vec<_> = tries.join_all().await.into_iter().flatten().collect();
    lines.sort_unstable();
    lines
}
