//! `verify`: what the edge makes of a stored delivery, and where it refuses it, what would help.

mod headers;
mod hints;
mod steps;

use std::ffi::OsString;

use clap::Args;
use fencepost_identity::{
    admission::{Delivery, HandshakeAnswer, Refusal, source_of},
    config::{ContentEncoding, Source, Sources},
    key::ReportKey,
    mapping::TenantForm,
    signature::{self, Request},
};
use serde::Serialize;
use sha2::{Digest, Sha256};

use self::{
    hints::{Hint, OtherBody, Tried, clock, hints},
    steps::{Ending, Stored, Trail, Variables, expired_of, judge, secrets_of, signed_bytes},
};
use super::{
    CliError, InputFile, Verdict, output,
    sign::{RouteTenant, source},
    time::Moment,
};
use crate::config::{Environment, Project, process_environment};

/// `verify`
#[derive(Debug, Args)]
pub(super) struct Verify {
    /// The source that the delivery is for.
    #[arg(long, required_unless_present = "path", conflicts_with = "path")]
    source: Option<String>,
    /// The tenant that the route names, for a source that takes it from there.
    #[arg(long, conflicts_with = "path")]
    tenant: Option<String>,
    /// The path instead, as it was sent, with what follows `?`.
    #[arg(long, value_name = "/hooks/…")]
    path: Option<String>,
    /// What follows `?` in the address; only handshakes look at it.
    #[arg(long, conflicts_with = "path")]
    query: Option<String>,
    /// The method, in capitals.
    #[arg(long, default_value = "POST")]
    method: String,
    /// A header, as `name: value`; or `@` and a file that has one on each line.
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    headers: Vec<OsString>,
    /// When it came in: seconds since 1970, or RFC 3339. Without it: now.
    #[arg(long, value_name = "TIME")]
    at: Option<Moment>,
    /// The body, byte for byte; `-` is stdin. Without it the body is empty.
    file: Option<InputFile>,
}

/// What is printed; what has no value is left out.
#[derive(Default, Serialize)]
struct Answer {
    verdict: &'static str,
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// Why a variable does not serve.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// The variable of the secret that signed, or that does not serve.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    /// The variables of the secrets that did not sign.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tried: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    candidate: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skew_seconds: Option<i64>,
    body_bytes: usize,
    body_sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    report_key: Option<ReportKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    covers: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hints: Vec<String>,
}

impl Verify {
    pub(super) fn run(self) -> Result<Verdict, CliError> {
        let mut environment = Environment::new(&process_environment);
        let project = Project::read(&mut environment);
        let sources = std::mem::take(&mut environment.errors).or(project)?.sources;
        let target = match (&self.path, &self.source) {
            (Some(path), _) => path.clone(),
            (None, Some(name)) => {
                let route = format!("/hooks/{}", source(&sources, name)?.name);
                match self.tenant.as_deref().map(RouteTenant::new) {
                    None => route,
                    Some(tenant) => format!("{route}/{}", tenant.segment()),
                }
            }
            (None, None) => return Err(CliError::Usage("name a source or a path".to_owned())),
        };
        let (path, query) = match target.split_once('?') {
            None => (target.as_str(), self.query.as_deref()),
            Some((path, query)) => (path, Some(query)),
        };
        let headers = headers::read(self.headers)?;
        let headers: Vec<_> = headers
            .iter()
            .map(|header| (header.name.as_str(), header.value.as_slice()))
            .collect();
        let body = self.file.as_ref().map(InputFile::read).transpose()?;
        let stored = Stored {
            delivery: Delivery {
                method: &self.method,
                path,
                query,
                headers: &headers,
            },
            body: &body.unwrap_or_default(),
            now: Moment::or_now(self.at),
        };
        let variables = |name: &str| variable(&environment, name);
        let (ending, trail) = judge(&sources, &stored, &variables);
        let hints = help(&sources, &stored, &ending, &trail, &variables);
        let verdict = ending.verdict();
        output::json(&Answer::new(ending, trail, &stored, &hints));
        Ok(verdict)
    }
}

/// The value of an edge's variable as Spin has it, or from a file.
fn variable(environment: &Environment<'_>, name: &str) -> Result<Option<String>, String> {
    let name = format!("SPIN_VARIABLE_{}", name.to_ascii_uppercase());
    let secret = environment.unchecked_secret(&name)?;
    let text = secret.map(|secret| String::from_utf8(secret.expose().to_vec()));
    text.transpose().map_err(|_| format!("{name} is not UTF-8"))
}

impl Ending {
    const fn verdict(&self) -> Verdict {
        match self {
            Self::Accepted(_) | Self::Ignored | Self::Handshake(_) => Verdict::Done,
            Self::Refused(_) => Verdict::No,
            Self::Misconfigured { .. } => Verdict::Misconfigured,
        }
    }
}

impl Answer {
    fn new(ending: Ending, trail: Trail<'_, '_>, stored: &Stored<'_>, hints: &[Hint]) -> Self {
        let covers = trail.entrance.filter(|_| trail.proof.is_some());
        let covers = covers.map(|entrance| match entrance.source.verify.scheme.proof() {
            signature::Proof::Body => "body",
            signature::Proof::SenderOnly => "sender_only",
        });
        let proof = trail.proof.as_ref();
        let known = Self {
            status: 200,
            secret: proof.map(|proof| proof.secret.clone()),
            candidate: proof.map(|proof| proof.candidate),
            skew_seconds: proof.and_then(|proof| proof.skew_seconds),
            body_bytes: stored.body.len(),
            body_sha256: Sha256::digest(stored.body)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
            covers,
            hints: hints.iter().map(ToString::to_string).collect(),
            ..Self::default()
        };
        known.ended(ending)
    }

    fn ended(self, ending: Ending) -> Self {
        match ending {
            Ending::Accepted(key) => Self {
                verdict: "accepted",
                status: 202,
                report_key: Some(key),
                ..self
            },
            Ending::Ignored => Self {
                verdict: "ignored",
                reason: Some("filter"),
                ..self
            },
            Ending::Handshake(answer) => Self {
                verdict: "handshake",
                answer: Some(match answer {
                    HandshakeAnswer::Text(text) | HandshakeAnswer::Json(text) => text,
                    HandshakeAnswer::Empty => String::new(),
                }),
                ..self
            },
            Ending::Refused(refusal) => Self {
                verdict: "refused",
                status: refusal.status(),
                code: Some(refusal.code()),
                reason: Some(refusal.reason()),
                tried: tried(refusal),
                ..self
            },
            Ending::Misconfigured { variable, why } => Self {
                verdict: "misconfigured",
                status: 503,
                code: Some("misconfigured"),
                reason: Some("variable"),
                detail: Some(why),
                secret: Some(variable),
                ..self
            },
        }
    }
}

fn tried(refusal: Refusal) -> Vec<String> {
    if let Refusal::Mismatch { secrets } = refusal {
        return secrets;
    }
    vec![]
}

/// What would help, for a delivery that is refused for its signature, its time or its secret.
fn help(
    sources: &Sources,
    stored: &Stored<'_>,
    ending: &Ending,
    trail: &Trail<'_, '_>,
    variables: Variables<'_>,
) -> Vec<Hint> {
    let found = source_of(sources, stored.delivery.path);
    let (source, segment) = match found {
        Some((source, segment)) => (source, segment),
        None => return vec![],
    };
    match ending {
        Ending::Refused(Refusal::UnknownSource)
            if source.mapping.tenant == TenantForm::Route && segment.is_none() =>
        {
            vec![Hint::NoTenant]
        }
        Ending::Refused(Refusal::OutOfWindow(proof)) => {
            let skew = proof.skew_seconds.unwrap_or_default();
            vec![clock(stored.now, skew)]
        }
        Ending::Refused(Refusal::Signature(_) | Refusal::Mismatch { .. }) => {
            try_settings(source, segment, stored, trail, variables)
        }
        // One that there is, and that has another form than it should.
        Ending::Misconfigured { .. } if !trail.secrets.is_empty() => {
            try_settings(source, segment, stored, trail, variables)
        }
        Ending::Accepted(_)
        | Ending::Ignored
        | Ending::Handshake(_)
        | Ending::Refused(_)
        | Ending::Misconfigured { .. } => vec![],
    }
}

fn try_settings(
    source: &Source,
    segment: Option<&str>,
    stored: &Stored<'_>,
    trail: &Trail<'_, '_>,
    variables: Variables<'_>,
) -> Vec<Hint> {
    let (Some(entrance), Some(coding)) = (&trail.entrance, trail.coding) else {
        return vec![];
    };
    let secrets = match trail.secrets.is_empty() {
        true => secrets_of(entrance, stored.now, variables),
        false => trail.secrets.clone(),
    };
    let expired = expired_of(entrance, stored.now, variables);
    let Some(body) = signed_bytes(source, coding, stored.body) else {
        return vec![];
    };
    let other_body = match source.content_encoding {
        ContentEncoding::Refused => None,
        ContentEncoding::Wire => Some(OtherBody {
            named: "decoded",
            bytes: coding
                .decode(stored.body.into(), source.max_body_bytes)
                .unwrap_or(stored.body.into()),
        }),
        ContentEncoding::Decoded => Some(OtherBody {
            named: "wire",
            bytes: stored.body.into(),
        }),
    };
    hints(&Tried {
        scheme: &source.verify.scheme,
        preset: source.verify.preset.as_deref(),
        request: Request {
            method: stored.delivery.method,
            segment,
            headers: stored.delivery.headers,
        },
        secrets: secrets.iter().map(|secret| secret.text.as_str()).collect(),
        expired: expired
            .iter()
            .map(|secret| (secret.variable.as_str(), secret.text.as_str()))
            .collect(),
        body: &body,
        other_body: other_body.filter(|other| other.bytes != body),
        now: stored.now,
    })
}
