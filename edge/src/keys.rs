//! The interface `fencepost:identity/keys`: the derivation that every delivery goes through,
//! callable on its own.

use fencepost_identity::{
    identity::{Identity, Namespace, ReportId, Revision, Tenant, Version},
    json,
    key::{CallKey, ClaimKey, EventKey, FindingKey, ReportKey, ResultKey},
    mapping::{Input, Mapping, TenantForm, VersionForm},
    pointer::Pointer,
    refusal::Refusal,
};

use bindings::exports::fencepost::identity::keys::{self as wit, Failure};

#[expect(unsafe_code, reason = "generated from wit/")]
mod bindings {
    wit_bindgen::generate!({ path: "../wit", world: "edge" });
    export!(Keys);
    use super::Keys;
}

struct Keys;

impl wit::Guest for Keys {
    fn report_key(identity: wit::Identity) -> Result<String, Failure> {
        Ok(read_identity(identity)?.report_key().to_string())
    }

    fn claim_key(report_key: String, classifier_version: String) -> Result<String, Failure> {
        let report: ReportKey = key(&report_key)?;
        Ok(ClaimKey::of(&report, &classifier_version).to_string())
    }

    fn call_key(claim_key: String, n: u32) -> Result<String, Failure> {
        let claim: ClaimKey = key(&claim_key)?;
        Ok(CallKey::of(&claim, n).to_string())
    }

    fn result_key(report_key: String, schema_version: String) -> Result<String, Failure> {
        let report: ReportKey = key(&report_key)?;
        Ok(ResultKey::of(&report, &schema_version).to_string())
    }

    fn finding_key(result_key: String, fields: Vec<String>) -> Result<String, Failure> {
        let result: ResultKey = key(&result_key)?;
        Ok(FindingKey::of(&result, &fields).to_string())
    }

    fn event_key(report_key: String, kind: String, sequence: u64) -> Result<String, Failure> {
        let report: ReportKey = key(&report_key)?;
        Ok(EventKey::of(&report, &kind, sequence).to_string())
    }

    fn input_hash(input: Vec<u8>) -> Result<String, Failure> {
        let object = json::parse(&input)?;
        Ok(Input::of_object(&object)?.hash().to_string())
    }

    fn identify(
        payload: Vec<u8>,
        mapping: wit::Mapping,
        route_tenant: Option<String>,
    ) -> Result<wit::Identified, Failure> {
        let mapping = read_mapping(mapping)?;
        let payload = json::parse(&payload)?;
        let identity = mapping.identify(&payload, route_tenant.as_deref())?;
        let report_key = identity.report_key().to_string();
        Ok(wit::Identified {
            identity: write_identity(identity),
            report_key,
        })
    }
}

fn key<K: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<K, Failure> {
    text.parse().map_err(invalid)
}

fn invalid(error: impl std::fmt::Display) -> Failure {
    Failure::InvalidArgument(error.to_string())
}

fn read_identity(identity: wit::Identity) -> Result<Identity, Failure> {
    Ok(Identity {
        tenant: Tenant::new(identity.tenant)?,
        namespace: Namespace::new(identity.namespace)?,
        report_id: ReportId::new(identity.report_id)?,
        version: match identity.version {
            wit::Version::Revision(number) => Version::Revision(Revision::new(number)?),
            wit::Version::Content(hash) => Version::Content(hash.parse().map_err(invalid)?),
            wit::Version::Event => Version::Event,
        },
    })
}

fn write_identity(identity: Identity) -> wit::Identity {
    wit::Identity {
        tenant: identity.tenant.to_string(),
        namespace: identity.namespace.to_string(),
        report_id: identity.report_id.to_string(),
        version: match identity.version {
            Version::Revision(revision) => wit::Version::Revision(revision.get()),
            Version::Content(hash) => wit::Version::Content(hash.to_string()),
            Version::Event => wit::Version::Event,
        },
    }
}

/// What is wrong with a mapping is wrong with an argument: no payload is at fault.
fn read_mapping(mapping: wit::Mapping) -> Result<Mapping, Failure> {
    let pointer = |text: String| Pointer::new(text).map_err(invalid);
    Ok(Mapping {
        tenant: match mapping.tenant {
            wit::TenantForm::Value(text) => TenantForm::Value(Tenant::new(text).map_err(invalid)?),
            wit::TenantForm::Pointer(text) => TenantForm::Pointer(pointer(text)?),
            wit::TenantForm::Route => TenantForm::Route,
        },
        namespace: Namespace::new(mapping.namespace).map_err(invalid)?,
        report_id: pointer(mapping.report_id)?,
        version: match mapping.version {
            wit::VersionForm::Revision(text) => VersionForm::Revision(pointer(text)?),
            wit::VersionForm::Content(texts) => {
                VersionForm::Content(texts.into_iter().map(pointer).collect::<Result<_, _>>()?)
            }
            wit::VersionForm::Event => VersionForm::Event,
        },
    })
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        use wit::RefusalCode as Code;
        Self::Refused(match refusal {
            Refusal::InvalidJson => Code::InvalidJson,
            Refusal::DuplicateMember => Code::DuplicateMember,
            Refusal::MissingField => Code::MissingField,
            Refusal::EmptyField => Code::EmptyField,
            Refusal::FieldTooLong => Code::FieldTooLong,
            Refusal::ControlCharacter => Code::ControlCharacter,
            Refusal::LoneSurrogate => Code::LoneSurrogate,
            Refusal::NotAnIdentifier => Code::NotAnIdentifier,
            Refusal::NotARevision => Code::NotARevision,
            Refusal::NumberOutOfRange => Code::NumberOutOfRange,
        })
    }
}
