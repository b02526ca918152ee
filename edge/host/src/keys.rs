//! Deriving keys with the component's own export, and the JSON forms of its arguments.

use crate::bindings::keys::exports::fencepost::identity::keys as wit;
use crate::bindings::keys::{Edge, EdgePre};
use crate::instance::{Grants, Loaded, State};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use thiserror::Error;
use wasmtime::Store;

/// One instance of the component, used for its keys only.
pub struct Keys {
    store: Store<State>,
    edge: Edge,
}

/// The component cannot be asked. wasmtime's errors are kept as text: they are for people.
#[derive(Debug, Error)]
#[error("the component's export fencepost:identity/keys: {0}")]
pub struct KeysError(String);

/// The component's answer: a value, or why it refused.
pub type Answer<T> = Result<T, Refusal>;

/// Why the component derives no key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// A code of the project's, or `invalid_argument`.
    pub code: String,
    /// For people.
    pub message: String,
}

/// A report's identity, in the form of the test vectors.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Who the report belongs to.
    pub tenant: String,
    /// The space of ids.
    pub namespace: String,
    /// The upstream's own id.
    pub report_id: String,
    /// Which version of the report.
    pub version: Version,
}

/// Which version an identity means.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Version {
    /// Counted by the upstream.
    Revision(u64),
    /// A SHA-256 over chosen members, in hexadecimal.
    Content(String),
    /// The id names one immutable event.
    Event,
}

/// How an identity is read from a payload, in the form of the test vectors.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    tenant: TenantForm,
    namespace: String,
    report_id: String,
    version: VersionForm,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum TenantForm {
    Value(String),
    Pointer(String),
    Route(OnlyTrue),
}

/// `true`, for JSON has no member without a value.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "bool")]
struct OnlyTrue;

impl TryFrom<bool> for OnlyTrue {
    type Error = &'static str;

    fn try_from(value: bool) -> Result<Self, Self::Error> {
        if value {
            Ok(Self)
        } else {
            Err("`route` is `true` or absent")
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum VersionForm {
    Revision(String),
    Content(Vec<String>),
    Event,
}

impl Keys {
    /// Makes an instance. It is granted nothing: no variable, no file, no host.
    pub async fn new(loaded: &Loaded) -> Result<Self, KeysError> {
        let instance = async {
            let pre = EdgePre::new(loaded.linker.instantiate_pre(&loaded.component)?)?;
            let mut store = Grants::default().store(&loaded.engine)?;
            let edge = pre.instantiate_async(&mut store).await?;
            wasmtime::Result::Ok(Self { store, edge })
        };
        instance.await.map_err(failed)
    }

    /// `report-key`.
    pub async fn report_key(&mut self, identity: &Identity) -> Result<Answer<String>, KeysError> {
        let identity = identity.into();
        let keys = self.edge.fencepost_identity_keys();
        answered(keys.call_report_key(&mut self.store, &identity).await)
    }

    /// `claim-key`.
    pub async fn claim_key(
        &mut self,
        report_key: &str,
        classifier_version: &str,
    ) -> Result<Answer<String>, KeysError> {
        let keys = self.edge.fencepost_identity_keys();
        answered(
            keys.call_claim_key(&mut self.store, report_key, classifier_version)
                .await,
        )
    }

    /// `call-key`.
    pub async fn call_key(&mut self, claim_key: &str, n: u32) -> Result<Answer<String>, KeysError> {
        let keys = self.edge.fencepost_identity_keys();
        answered(keys.call_call_key(&mut self.store, claim_key, n).await)
    }

    /// `result-key`.
    pub async fn result_key(
        &mut self,
        report_key: &str,
        schema_version: &str,
    ) -> Result<Answer<String>, KeysError> {
        let keys = self.edge.fencepost_identity_keys();
        answered(
            keys.call_result_key(&mut self.store, report_key, schema_version)
                .await,
        )
    }

    /// `finding-key`.
    pub async fn finding_key(
        &mut self,
        result_key: &str,
        fields: &[String],
    ) -> Result<Answer<String>, KeysError> {
        let keys = self.edge.fencepost_identity_keys();
        answered(
            keys.call_finding_key(&mut self.store, result_key, fields)
                .await,
        )
    }

    /// `event-key`.
    pub async fn event_key(
        &mut self,
        report_key: &str,
        kind: &str,
        sequence: u64,
    ) -> Result<Answer<String>, KeysError> {
        let keys = self.edge.fencepost_identity_keys();
        answered(
            keys.call_event_key(&mut self.store, report_key, kind, sequence)
                .await,
        )
    }

    /// `input-hash`.
    pub async fn input_hash(&mut self, input: &[u8]) -> Result<Answer<String>, KeysError> {
        let keys = self.edge.fencepost_identity_keys();
        answered(keys.call_input_hash(&mut self.store, input).await)
    }

    /// `identify`: the identity and its report key.
    pub async fn identify(
        &mut self,
        payload: &[u8],
        mapping: &Mapping,
        route_tenant: Option<&str>,
    ) -> Result<Answer<(Identity, String)>, KeysError> {
        let mapping = mapping.into();
        let keys = self.edge.fencepost_identity_keys();
        let call = keys
            .call_identify(&mut self.store, payload, &mapping, route_tenant)
            .await;
        let answer = answered(call)?;
        Ok(answer.map(|identified| (identified.identity.into(), identified.report_key)))
    }
}

fn failed(error: wasmtime::Error) -> KeysError {
    KeysError(format!("{error:#}"))
}

fn answered<T>(call: wasmtime::Result<Result<T, wit::Failure>>) -> Result<Answer<T>, KeysError> {
    Ok(call.map_err(failed)?.map_err(Refusal::from))
}

/// What `fencepost-edge key` prints.
#[must_use]
pub fn report(identity: &Identity, answer: &Answer<String>) -> Value {
    match answer {
        Ok(report_key) => json!({ "identity": identity, "report_key": report_key }),
        Err(refusal) => json!({ "error": refusal }),
    }
}

impl From<wit::Failure> for Refusal {
    fn from(failure: wit::Failure) -> Self {
        match failure {
            wit::Failure::Refused(code) => {
                let (code, message) = code_and_message(code);
                Self {
                    code: code.to_owned(),
                    message: message.to_owned(),
                }
            }
            wit::Failure::InvalidArgument(message) => Self {
                code: "invalid_argument".to_owned(),
                message,
            },
        }
    }
}

fn code_and_message(code: wit::RefusalCode) -> (&'static str, &'static str) {
    use wit::RefusalCode as Code;
    match code {
        Code::InvalidJson => ("invalid_json", "not JSON in UTF-8, or too deep"),
        Code::DuplicateMember => ("duplicate_member", "an object has a member twice"),
        Code::MissingField => ("missing_field", "a part of the identity is missing"),
        Code::EmptyField => ("empty_field", "a part of the identity is empty"),
        Code::FieldTooLong => ("field_too_long", "a part of the identity is too long"),
        Code::ControlCharacter => (
            "control_character",
            "a tenant or id has a control character",
        ),
        Code::LoneSurrogate => (
            "lone_surrogate",
            "a tenant or id has half of a surrogate pair",
        ),
        Code::NotAnIdentifier => ("not_an_identifier", "neither a string nor a plain integer"),
        Code::NotARevision => (
            "not_a_revision",
            "not a plain integer without a leading zero",
        ),
        Code::NumberOutOfRange => ("number_out_of_range", "a number is out of range"),
    }
}

impl From<&Identity> for wit::Identity {
    fn from(identity: &Identity) -> Self {
        Self {
            tenant: identity.tenant.clone(),
            namespace: identity.namespace.clone(),
            report_id: identity.report_id.clone(),
            version: match &identity.version {
                Version::Revision(number) => wit::Version::Revision(*number),
                Version::Content(digest) => wit::Version::Content(digest.clone()),
                Version::Event => wit::Version::Event,
            },
        }
    }
}

impl From<wit::Identity> for Identity {
    fn from(identity: wit::Identity) -> Self {
        Self {
            tenant: identity.tenant,
            namespace: identity.namespace,
            report_id: identity.report_id,
            version: match identity.version {
                wit::Version::Revision(number) => Version::Revision(number),
                wit::Version::Content(digest) => Version::Content(digest),
                wit::Version::Event => Version::Event,
            },
        }
    }
}

impl From<&Mapping> for wit::Mapping {
    fn from(mapping: &Mapping) -> Self {
        Self {
            tenant: match &mapping.tenant {
                TenantForm::Value(value) => wit::TenantForm::Value(value.clone()),
                TenantForm::Pointer(pointer) => wit::TenantForm::Pointer(pointer.clone()),
                TenantForm::Route(OnlyTrue) => wit::TenantForm::Route,
            },
            namespace: mapping.namespace.clone(),
            report_id: mapping.report_id.clone(),
            version: match &mapping.version {
                VersionForm::Revision(pointer) => wit::VersionForm::Revision(pointer.clone()),
                VersionForm::Content(pointers) => wit::VersionForm::Content(pointers.clone()),
                VersionForm::Event => wit::VersionForm::Event,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_the_form_of_the_vectors() {
        for (text, version) in [
            ("{\"revision\":3}", Version::Revision(3)),
            ("{\"content\":\"9f\"}", Version::Content("9f".to_owned())),
            ("\"event\"", Version::Event),
        ] {
            assert_eq!(serde_json::from_str::<Version>(text).unwrap(), version);
            assert_eq!(serde_json::to_string(&version).unwrap(), text);
        }
        assert!(serde_json::from_str::<Version>("{\"revision\":-1}").is_err());
        assert!(serde_json::from_str::<Version>("{\"revision\":1,\"content\":\"\"}").is_err());
    }

    #[test]
    fn a_route_tenant_is_asked_for_with_true() {
        assert!(serde_json::from_str::<TenantForm>("{\"route\":true}").is_ok());
        assert!(serde_json::from_str::<TenantForm>("{\"route\":false}").is_err());
    }

    #[test]
    fn an_unknown_member_is_an_error() {
        let text = "{\"tenant\":\"a\",\"namespace\":\"b\",\"report_id\":\"c\",\
                    \"version\":\"event\",\"revision\":1}";
        let error = serde_json::from_str::<Identity>(text)
            .unwrap_err()
            .to_string();
        assert!(error.contains("unknown field `revision`"), "{error}");
    }

    #[test]
    fn a_refusal_prints_its_code() {
        let identity = Identity {
            tenant: "a".to_owned(),
            namespace: "b".to_owned(),
            report_id: "c".to_owned(),
            version: Version::Event,
        };
        let refusal = wit::Failure::Refused(wit::RefusalCode::NotARevision).into();
        let printed = report(&identity, &Err(refusal));
        assert_eq!(printed["error"]["code"], "not_a_revision");
        let printed = report(&identity, &Ok("k".to_owned())).to_string();
        assert_eq!(
            printed,
            "{\"identity\":{\"tenant\":\"a\",\"namespace\":\"b\",\"report_id\":\"c\",\
             \"version\":\"event\"},\"report_key\":\"k\"}"
        );
    }
}
