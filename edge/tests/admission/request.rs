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
        let mut request = Self::new(path, body);
        let scheme = scheme(preset);
        let key = SigningKey::parse(&scheme, secret).unwrap();
        let sending = Sending {
            method: "POST",
            segment: None,
            message_id: "msg_1",
            now: NOW,
            body: &request.chunks[0],
        };
        for (name, value) in sign(&scheme, &key, &sending).unwrap() {
            let name = name.to_ascii_lowercase();
            request.headers.push((name, value.into_bytes()));
        }
        request
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
