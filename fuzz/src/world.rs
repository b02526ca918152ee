//! The edge with a small world around it: sources, secrets, a backend that takes everything.

use std::{cell::RefCell, collections::BTreeMap, sync::LazyLock};

use fencepost_conformance::{
    Case, Configuration, Judgement, Reference, Verdict, cases, configurations, toml, variables,
};
use fencepost_edge::{
    Answer, BACKEND_URL, Delivery, EDGE_SECRET, Host, Interrupted, Post, PostError, Reply,
    VariableUnavailable, handle,
};
use fencepost_identity::{
    admission::Entrance,
    config::{Secrets, Sources},
    signature::derive_secret,
};
use futures::executor::block_on;

/// The sources of the conformance cases.
pub(crate) static WORLD: LazyLock<World> = LazyLock::new(|| {
    let is_right = |case: &Case| match case.expect.verdict {
        Verdict::Accepted | Verdict::Ignored | Verdict::Handshake => true,
        Verdict::Refused | Verdict::Misconfigured => false,
    };
    let right = cases().into_iter().filter(is_right).collect();
    let world = World::of(&configurations(), right);
    world.unwrap_or_else(|errors| panic!("{errors}"))
});

pub(crate) struct World {
    sources: Result<Sources, String>,
    judges: BTreeMap<String, Reference>,
    variables: BTreeMap<String, String>,
    /// Deliveries that are as they should be.
    pub(crate) right: Vec<Case>,
}

impl World {
    /// The world of these sources, if they are right.
    pub(crate) fn of(
        configurations: &BTreeMap<String, Configuration>,
        right: Vec<Case>,
    ) -> Result<Self, String> {
        let mut variables = variables(configurations);
        for (name, value) in [
            (BACKEND_URL, "http://backend.test"),
            (EDGE_SECRET, "fp_edge_secret_0123456789abcdef"),
        ] {
            variables.insert(name.to_owned(), value.to_owned());
        }
        let sources = Sources::parse(&toml(configurations)).map_err(|errors| errors.to_string())?;
        let judges = configurations.iter();
        let judges = judges.map(|(name, one)| (name.clone(), Reference::new(one)));
        Ok(Self {
            sources: Ok(sources),
            judges: judges.collect(),
            variables,
            right,
        })
    }

    pub(crate) fn sources(&self) -> &Sources {
        self.sources
            .as_ref()
            .unwrap_or_else(|errors| panic!("{errors}"))
    }

    /// What another implementation says of a delivery's signature.
    pub(crate) fn judge(&self, sent: &Case) -> Judgement {
        self.judges[&sent.configuration].judge(sent)
    }

    /// The text of a secret that may sign.
    pub(crate) fn secret(&self, entrance: &Entrance<'_, '_>, now: u64) -> Option<String> {
        let wanted = entrance.wanted(now).ok()?;
        let text = self.variables.get(&wanted.first()?.variable)?;
        match (&entrance.source.secrets, &entrance.tenant) {
            (Secrets::DerivedFrom(_), Some(tenant)) => {
                let scheme = &entrance.source.verify.scheme;
                derive_secret(scheme, text, tenant.as_str()).ok()
            }
            _ => Some(text.clone()),
        }
    }

    /// Delivers, and looks at what has to hold whatever came.
    pub(crate) fn deliver(&self, sent: &Case) -> Seen {
        let target = sent.target();
        let path = target.split('?').next().unwrap_or_default();
        let headers = sent.headers.iter();
        let headers: Vec<_> = headers
            .map(|header| (header.name.as_str(), header.value.as_slice()))
            .collect();
        let delivery = Delivery {
            method: &sent.method,
            path,
            query: sent.query.as_deref(),
            headers: &headers,
        };
        let mut host = Around {
            world: self,
            now: sent.clock,
            chunks: sent.pieces(),
            posts: RefCell::default(),
            lines: RefCell::default(),
        };
        host.chunks.reverse();
        let answer = block_on(handle(&self.sources, &delivery, &mut host));
        let seen = Seen {
            answer,
            posts: host.posts.into_inner(),
            lines: host.lines.into_inner(),
        };
        self.check(sent, &seen);
        seen
    }

    fn check(&self, sent: &Case, seen: &Seen) {
        let status = seen.answer.status;
        let known = [200, 202, 400, 401, 403, 404, 405, 413, 415];
        let misconfigured = seen.code().as_deref() == Some("misconfigured");
        assert!(
            known.contains(&status) || misconfigured,
            "{seen:?} of {sent:?}"
        );
        let stored = usize::from(status == 202);
        assert_eq!(seen.posts.len(), stored, "{seen:?} of {sent:?}");
        assert_eq!(seen.lines.len(), 1 - stored, "{seen:?} of {sent:?}");
        for secret in self.variables.values().filter(|value| value.len() >= 16) {
            let told = |text: &String| text.contains(secret.as_str());
            assert!(!seen.lines.iter().any(told), "the log tells a secret");
        }
    }
}

/// What came of a delivery.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) answer: Answer,
    posts: Vec<String>,
    lines: Vec<String>,
}

impl Seen {
    /// Whether its sender counts as known.
    pub(crate) fn is_accepted(&self, sent: &Case) -> bool {
        let unsigned = sent.method != "POST" || sent.body.is_empty();
        let handshake = self
            .lines
            .iter()
            .any(|line| line.contains("\"event\":\"handshake\""));
        matches!(self.answer.status, 200 | 202) && !(unsigned && handshake)
    }

    /// The code of a refusal.
    pub(crate) fn code(&self) -> Option<String> {
        let document: serde_json::Value = serde_json::from_str(&self.answer.body).ok()?;
        Some(document.get("code")?.as_str()?.to_owned())
    }
}

struct Around<'w> {
    world: &'w World,
    now: u64,
    /// Last first.
    chunks: Vec<Vec<u8>>,
    posts: RefCell<Vec<String>>,
    lines: RefCell<Vec<String>>,
}

impl Host for Around<'_> {
    fn now(&self) -> u64 {
        self.now
    }

    async fn next_chunk(&mut self) -> Result<Option<Vec<u8>>, Interrupted> {
        Ok(self.chunks.pop())
    }

    async fn variable(&self, name: &str) -> Result<Option<String>, VariableUnavailable> {
        Ok(self.world.variables.get(name).cloned())
    }

    async fn post(&self, post: Post) -> Result<Reply, PostError> {
        let envelope: serde_json::Value =
            serde_json::from_str(&post.body).unwrap_or_else(|error| panic!("{error}"));
        let key = envelope["report_key"].as_str().unwrap_or_default();
        let body = format!(r#"{{"report_key":"{key}","state":"accepted","duplicate":false}}"#);
        self.posts.borrow_mut().push(post.body);
        Ok(Reply {
            status: 202,
            body: body.into_bytes(),
        })
    }

    fn log(&self, line: &str) {
        self.lines.borrow_mut().push(line.to_owned());
    }
}
