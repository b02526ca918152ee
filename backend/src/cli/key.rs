//! `key`: the keys of a payload as a source reads it, or of an identity.

use clap::Args;
use fencepost_identity::{
    envelope::EnvelopeError,
    identity::Identity,
    json,
    key::{CallKey, ClaimKey, FindingKey, ReportKey, ResultKey},
    refusal::Refusal,
};
use serde::Serialize;

use super::{CliError, InputFile, Verdict, output, sign::RouteTenant};
use crate::config::{Environment, Project, process_environment};

/// `key`
#[derive(Debug, Args)]
pub(super) struct Key {
    /// The source whose mapping reads the payload.
    #[arg(
        long,
        required_unless_present = "identity",
        conflicts_with = "identity"
    )]
    source: Option<String>,
    /// The tenant that the route names, for a source that takes it from there.
    #[arg(long, requires = "source")]
    tenant: Option<String>,
    /// A file with an identity: {"tenant", "namespace", "report_id", "version"}; `-` is stdin.
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    identity: Option<InputFile>,
    /// The payload; `-` is stdin.
    #[arg(required_unless_present = "identity")]
    file: Option<InputFile>,
    /// Add the claim key under this version.
    #[arg(long, value_name = "VERSION")]
    classifier_version: Option<String>,
    /// Add the key of the claim's n-th question to a model, too.
    #[arg(long, value_name = "N", requires = "classifier_version")]
    call: Option<u32>,
    /// Add the result key under this version.
    #[arg(long, value_name = "VERSION")]
    schema_version: Option<String>,
    /// Add the key of the finding with these fields, in their order.
    #[arg(long, value_name = "FIELD", requires = "schema_version")]
    fingerprint: Vec<String>,
}

#[derive(Serialize)]
struct Keys {
    identity: Identity,
    report_key: ReportKey,
    #[serde(skip_serializing_if = "Option::is_none")]
    claim_key: Option<ClaimKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_key: Option<CallKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_key: Option<ResultKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finding_key: Option<FindingKey>,
}

#[derive(Serialize)]
struct Refused {
    error: RefusedError,
}

#[derive(Serialize)]
struct RefusedError {
    code: &'static str,
    message: String,
}

impl Key {
    pub(super) fn run(self) -> Result<Verdict, CliError> {
        match self.identity()? {
            Ok(identity) => {
                output::json(&self.keys(identity));
                Ok(Verdict::Done)
            }
            Err(error) => {
                output::json(&Refused { error });
                Ok(Verdict::No)
            }
        }
    }

    fn identity(&self) -> Result<Result<Identity, RefusedError>, CliError> {
        if let Some(file) = &self.identity {
            return Ok(Identity::from_json(&file.read()?).map_err(RefusedError::from));
        }
        let (Some(source), Some(file)) = (&self.source, &self.file) else {
            return Err(CliError::Usage(
                "name a source and a file, or an identity".to_owned(),
            ));
        };
        let mut environment = Environment::new(&process_environment);
        let project = Project::read(&mut environment);
        let project = environment.errors.or(project)?;
        let source = super::sign::source(&project.sources, source)?;
        let tenant = self.tenant.as_deref().map(RouteTenant::new);
        let payload = file.read()?;
        let identity = json::parse(&payload).and_then(|payload| {
            source
                .mapping
                .identify(&payload, tenant.as_ref().map(RouteTenant::segment))
        });
        Ok(identity.map_err(RefusedError::from))
    }

    fn keys(&self, identity: Identity) -> Keys {
        let report_key = identity.report_key();
        let claim_key = self
            .classifier_version
            .as_ref()
            .map(|version| ClaimKey::of(&report_key, version));
        let result_key = self
            .schema_version
            .as_ref()
            .map(|version| ResultKey::of(&report_key, version));
        let fingerprint = Some(&self.fingerprint).filter(|fields| !fields.is_empty());
        Keys {
            identity,
            report_key,
            claim_key,
            call_key: claim_key
                .zip(self.call)
                .map(|(claim, n)| CallKey::of(&claim, n)),
            result_key,
            finding_key: result_key
                .zip(fingerprint)
                .map(|(result, fields)| FindingKey::of(&result, fields)),
        }
    }
}

impl From<Refusal> for RefusedError {
    fn from(refusal: Refusal) -> Self {
        Self {
            code: refusal.code(),
            message: refusal.to_string(),
        }
    }
}

impl From<EnvelopeError> for RefusedError {
    fn from(error: EnvelopeError) -> Self {
        match error {
            EnvelopeError::Unreadable(refusal) | EnvelopeError::Identity(refusal) => refusal.into(),
            EnvelopeError::Malformed(_)
            | EnvelopeError::UnknownMember(_)
            | EnvelopeError::KeyMismatch
            | EnvelopeError::HashMismatch => Self {
                code: "malformed_identity",
                message: "not {\"tenant\", \"namespace\", \"report_id\", \"version\"} with a \
                          version of {\"revision\": 3}, {\"content\": \"<hex>\"} or \"event\""
                    .to_owned(),
            },
        }
    }
}
