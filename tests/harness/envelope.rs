//! A report as the edge forwards it, made without one.

use fencepost_identity::{
    config::{InputForm, Source},
    envelope::{EdgeSecret, Envelope, HEADER_KEY_ID, HEADER_SIGNATURE, HEADER_TIME, seal},
    json,
    mapping::{Input, text_of},
};
use serde_json::Value;

use crate::{Delivery, EDGE_SECRET, Project, now};

/// An envelope, not sealed yet: that is done when it is posted, as a seal is of its moment.
#[derive(Clone, Debug)]
pub struct Sealed {
    key: String,
    body: String,
}

impl Sealed {
    /// What a source of the project makes of a payload.
    ///
    /// # Panics
    /// When it refuses it.
    #[must_use]
    pub fn of(project: &Project, source: &str, tenant: Option<&str>, payload: &Value) -> Self {
        let sources = project.sources();
        let source = sources.get(source).unwrap();
        let envelope = envelope(source, tenant, payload);
        Self {
            key: envelope.identity.report_key().to_string(),
            body: envelope.to_json(),
        }
    }

    /// A note, as [`Delivery::note`].
    ///
    /// # Panics
    /// When the project has no such source.
    #[must_use]
    pub fn note(project: &Project, id: &str, text: &str) -> Self {
        let payload = serde_json::json!({ "id": id, "text": text });
        Self::of(project, "notes", None, &payload)
    }

    /// The report's key, as 64 hexadecimal digits.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The post, sealed now.
    pub(crate) fn delivery(&self) -> Delivery {
        let secret = EdgeSecret::new(EDGE_SECRET).unwrap();
        let values = seal(&secret, now(), self.body.as_bytes());
        let names = [HEADER_TIME, HEADER_KEY_ID, HEADER_SIGNATURE];
        let post = Delivery::unsigned("/v1/reports", self.body.as_bytes());
        let headers = names.into_iter().zip(values);
        headers.fold(post, |post, (name, value)| post.header(name, &value))
    }
}

fn envelope(source: &Source, tenant: Option<&str>, payload: &Value) -> Envelope {
    let text = payload.to_string();
    let payload = json::parse(text.as_bytes()).unwrap();
    let order = source.order.as_ref();
    Envelope {
        source: source.name.clone(),
        identity: source.mapping.identify(&payload, tenant).unwrap(),
        input: match &source.input {
            InputForm::Forwarded(names) => Some(Input::collect(&payload, names).unwrap()),
            InputForm::Reference(_) => None,
        },
        order: order.and_then(|at| Some(text_of(at, &payload)?.into_owned())),
        links: Vec::new(),
        mapping_digest: source.mapping.digest(),
    }
}
