//! Tokens, by Google's own library: it finds the credentials, asks for a token and keeps it as long
//! as it holds.

use std::{fmt, time::Duration};

use google_cloud_auth::{
    credentials::{Builder, CacheableResource, Credentials},
    errors::CredentialsError,
};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use rustls::crypto::ring;
use tokio::{sync::Mutex, time::timeout};

use super::super::super::{Failure, Inference};

const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
/// Whose quota is used, where the credentials say it.
const PROJECT: &str = "x-goog-user-project";
/// For how long a token is waited for.
const LIMIT: Duration = Duration::from_secs(10);
/// Whatever happens here, no model was asked.
const LATER: Failure = Failure::Transport(Inference::NotBegun);

/// The tokens of one credential.
pub(super) struct Tokens {
    /// Made at the first question, since it begins to ask for tokens; and again after a failure,
    /// so that all of it is looked for anew.
    credentials: Mutex<Option<Credentials>>,
}

impl Tokens {
    /// Of what Google's programs would find: Application Default Credentials.
    pub(super) fn found() -> Self {
        // The library's own HTTP client takes the cryptography of the process. Whoever set one
        // before has set this one: there is no other in this program.
        drop(ring::default_provider().install_default());
        Self {
            credentials: Mutex::new(None),
        }
    }

    /// What to send with a question.
    ///
    /// # Errors
    /// [`Failure::Auth`], or that it has to be tried later.
    pub(super) async fn headers(&self) -> Result<Vec<(&'static str, HeaderValue)>, Failure> {
        let found = match timeout(LIMIT, self.fetched()).await {
            Ok(found) => found,
            Err(_) => Err(LATER),
        };
        if let Err(failure) = &found {
            self.forget().await;
            tracing::warn!("The provider was not asked: {failure}");
        }
        found
    }

    /// Has all of it looked for anew the next time.
    pub(super) async fn forget(&self) {
        *self.credentials.lock().await = None;
    }

    async fn fetched(&self) -> Result<Vec<(&'static str, HeaderValue)>, Failure> {
        let credentials = self.made().await?;
        // In a task of its own, since the library panics where its HTTP client can't be set up.
        let asked = tokio::spawn(async move { credentials.headers(Default::default()).await });
        match asked.await {
            Ok(Ok(CacheableResource::New { data, .. })) => Ok(sent(&data)),
            // Only whoever has a token already is told so, and nobody here says that they have.
            Ok(Ok(CacheableResource::NotModified)) | Err(_) => Err(LATER),
            Ok(Err(error)) => Err(refused(&error)),
        }
    }

    async fn made(&self) -> Result<Credentials, Failure> {
        let mut made = self.credentials.lock().await;
        if let Some(credentials) = &*made {
            return Ok(credentials.clone());
        }
        let found = Builder::default().with_scopes([SCOPE]).build();
        // A file that can't be read, or whose form is not known.
        let found = found.map_err(|_| Failure::Auth)?;
        *made = Some(found.clone());
        Ok(found)
    }
}

impl fmt::Debug for Tokens {
    /// Leaves the credentials out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").finish_non_exhaustive()
    }
}

fn sent(headers: &HeaderMap) -> Vec<(&'static str, HeaderValue)> {
    let names = [AUTHORIZATION.as_str(), PROJECT];
    let known = names.map(|name| {
        let mut value = headers.get(name)?.clone();
        value.set_sensitive(true);
        Some((name, value))
    });
    known.into_iter().flatten().collect()
}

/// What the library makes of it: what may pass, and what stays until somebody mends it.
fn refused(error: &CredentialsError) -> Failure {
    match error.is_transient() {
        true => LATER,
        false => Failure::Auth,
    }
}
