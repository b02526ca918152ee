//! What the configuration says of an extractor that asks a model over HTTP.

use std::{fmt, num::NonZeroU32};

use reqwest::Url;
use serde_json::{Value, json};

use super::{OutputCap, projection, prompt};

/// After an answer that was cut off, the next may be so many times as long.
const LARGER: u32 = 4;

/// How a server is asked. No secret is among it.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The model's name, as the server knows it.
    pub model: String,
    /// Where the server is.
    pub base_url: BaseUrl,
    /// How many tokens an answer may ordinarily have.
    pub max_output_tokens: NonZeroU32,
    /// How much chance there is in an answer; the server's own setting where it is absent.
    pub temperature: Option<f64>,
}

impl Settings {
    /// What shapes an answer. Where the server is does not: the same model elsewhere is the same
    /// classifier, and where it is another one, it has another name.
    pub(super) fn fingerprint(&self, provider: &str, interface: &str) -> Value {
        json!({
            "provider": provider,
            "interface": interface,
            "model": self.model,
            "max_output_tokens": self.max_output_tokens,
            "temperature": self.temperature,
            "instructions": prompt::INSTRUCTIONS,
            "projection": projection::VERSION,
        })
    }

    /// How many tokens an answer may have.
    pub(super) fn tokens(&self, cap: OutputCap) -> u32 {
        let ordinary = self.max_output_tokens.get();
        match cap {
            OutputCap::Ordinary => ordinary,
            OutputCap::Larger => ordinary.saturating_mul(LARGER),
        }
    }
}

/// A server's address up to the path that its interface begins with, such as
/// `https://api.openai.com/v1`.
#[derive(Clone, PartialEq, Eq)]
pub struct BaseUrl(Url);

impl BaseUrl {
    /// Reads an address.
    ///
    /// # Errors
    /// What is wrong with it; the address itself is not repeated, it may hold a password.
    pub fn new(text: &str) -> Result<Self, &'static str> {
        const EXPECTED: &str =
            "a URL such as https://api.openai.com/v1 or http://127.0.0.1:8000/v1";
        let mut url = Url::parse(text).map_err(|_| EXPECTED)?;
        if !["https", "http"].contains(&url.scheme()) || !url.has_host() {
            return Err(EXPECTED);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("no user or password stands in the URL; name a variable in `api_key_env`");
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err("the URL ends with its path: no `?` and no `#`");
        }
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        Ok(Self(url))
    }

    /// `http` or `https`.
    #[must_use]
    pub fn scheme(&self) -> &str {
        self.0.scheme()
    }

    /// The server's name or address.
    pub(super) fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Host and port, as a connection is made to them.
    #[must_use]
    pub fn authority(&self) -> String {
        let host = self.0.host_str().unwrap_or_default();
        // One of the two schemes, each of which has a port of its own.
        let port = self.0.port_or_known_default().unwrap_or_default();
        format!("{host}:{port}")
    }

    /// Where a path of the interface is.
    pub(super) fn endpoint(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        url.set_path(&format!("{}/{path}", self.0.path().trim_end_matches('/')));
        url
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BaseUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interface_is_found_below_the_base() {
        for (base, endpoint) in [
            ("https://h/v1", "https://h/v1/chat/completions"),
            ("https://h/v1/", "https://h/v1/chat/completions"),
            (
                "http://127.0.0.1:8000",
                "http://127.0.0.1:8000/chat/completions",
            ),
            ("http://[::1]:80/a/b//", "http://[::1]/a/b/chat/completions"),
        ] {
            let url = BaseUrl::new(base).unwrap().endpoint("chat/completions");
            assert_eq!(url.as_str(), endpoint, "{base}");
        }
    }

    #[test]
    fn a_connection_is_made_to_host_and_port() {
        for (base, authority) in [
            ("https://h/v1", "h:443"),
            ("http://h/v1", "h:80"),
            ("http://127.0.0.1:8000", "127.0.0.1:8000"),
            ("https://[::1]/v1", "[::1]:443"),
        ] {
            assert_eq!(BaseUrl::new(base).unwrap().authority(), authority);
        }
    }

    #[test]
    fn what_is_no_base_is_refused_and_not_repeated() {
        for text in [
            "",
            "api.openai.com/v1",
            "ftp://canary/v1",
            "https://",
            "unix:/canary",
            "https://canary:secret@h/v1",
            "https://canary@h/v1",
            "https://h/v1?canary=1",
            "https://h/v1#canary",
        ] {
            let error = BaseUrl::new(text).unwrap_err();
            assert!(!error.contains("canary"), "{text}: {error}");
        }
    }

    #[test]
    fn a_fingerprint_covers_what_shapes_an_answer_and_not_where_the_server_is() {
        let settings = Settings {
            model: "m".to_owned(),
            base_url: BaseUrl::new("https://h/v1").unwrap(),
            max_output_tokens: NonZeroU32::new(1024).unwrap(),
            temperature: None,
        };
        let moved = Settings {
            base_url: BaseUrl::new("https://i/v1").unwrap(),
            ..settings.clone()
        };
        let fingerprint = |settings: &Settings| settings.fingerprint("p", "i");
        assert_eq!(fingerprint(&settings), fingerprint(&moved));
        assert_ne!(fingerprint(&settings), settings.fingerprint("p", "j"));
        for changed in [
            Settings {
                model: "n".to_owned(),
                ..settings.clone()
            },
            Settings {
                temperature: Some(0.0),
                ..settings.clone()
            },
            Settings {
                max_output_tokens: NonZeroU32::MIN,
                ..settings.clone()
            },
        ] {
            assert_ne!(fingerprint(&settings), fingerprint(&changed), "{changed:?}");
        }
    }
}
