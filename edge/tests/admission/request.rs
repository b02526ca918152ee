//! Deliveries as they are sent.

use fencepost_identity::{
    config::Verify,
    signature::{Scheme, Sending, SigningKey, sign},
};

use crate::{
    configuration::{SECRET, WHSEC},
    world::NOW,
};

pub(crate) const COMMENT: &str =
    r#"{"action":"created","owner":{"id":7},"comment":{"id":81,"body":"hello"}}"#;

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) chunks: Vec<Vec<u8>>,
    pub(crate) interrupted: bool,
}

impl Request {
    pub(crate) fn new(path: &str, body: impl Into<Vec<u8>>) -> Self {
        let chunks = vec![body.into()];
        let (method, path) = ("POST".to_owned(), path.to_owned());
        Self {
            method,
            path,
            query: None,
            headers: vec![],
            chunks,
            interrupted: false,
        }
    }

    pub(crate) fn signed(path: &str, body: impl Into<Vec<u8>>, preset: &str, secret: &str) -> Self {
        Self::new(path, body).signed_under(&scheme(preset), secret, NOW)
    }

    /// With the headers that a sender under this scheme adds.
    pub(crate) fn signed_under(mut self, scheme: &Scheme, secret: &str, now: u64) -> Self {
        let key = SigningKey::parse(scheme, secret).unwrap();
        let body = self.chunks.concat();
        let sending = Sending {
            method: "POST",
            segment: self.path.split('/').nth(3),
            message_id: "msg_1",
            now,
            body: &body,
        };
        for (name, value) in sign(scheme, &key, &sending).unwrap() {
            let name = name.to_ascii_lowercase();
            self.headers.push((name, value.into_bytes()));
        }
        self
    }

    pub(crate) fn by(self, method: &str) -> Self {
        let method = method.to_owned();
        Self { method, ..self }
    }

    pub(crate) fn asking(self, query: &str) -> Self {
        let query = Some(query.to_owned());
        Self { query, ..self }
    }

    /// The same headers, and another body.
    pub(crate) fn carrying(self, body: impl Into<Vec<u8>>) -> Self {
        let chunks = vec![body.into()];
        Self { chunks, ..self }
    }

    pub(crate) fn header(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub(crate) fn replacing(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        let found = self.headers.iter_mut().find(|(header, _)| header == name);
        found.unwrap().1 = value.into();
        self
    }

    pub(crate) fn dropping(mut self, name: &str) -> Self {
        self.headers.retain(|(header, _)| header != name);
        self
    }
}

/// The scheme of a preset.
pub(crate) fn scheme(preset: &str) -> Scheme {
    Verify::parse(&format!("verify = \"{preset}\""))
        .unwrap()
        .scheme
}

pub(crate) fn comment(body: impl Into<Vec<u8>>) -> Request {
    Request::signed("/hooks/comments", body, "github", SECRET)
}

pub(crate) fn event(body: impl Into<Vec<u8>>) -> Request {
    Request::signed("/hooks/events", body, "standard-webhooks", WHSEC)
}

pub(crate) const EVENT: &str = r#"{"id":"r-1","text":"hello"}"#;
