//! Whose question it is: credentials, kept as long as they hold, and the signature.

use std::{error::Error, fmt};

use aws_config::BehaviorVersion;
use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_bedrockruntime::{
    Client,
    config::{
        Builder, Config, Region as SdkRegion, StalledStreamProtectionConfig, Token,
        retry::RetryConfig, timeout::TimeoutConfig,
    },
    error::SdkError,
};
use aws_smithy_runtime_api::client::{
    auth::http::HTTP_BEARER_AUTH_SCHEME_ID,
    orchestrator::{HttpRequest, HttpResponse},
};
use aws_smithy_types::body::SdkBody;
use fencepost_identity::key::CallKey;
use rustls::ClientConfig;
use tokio::sync::{Mutex, mpsc};
use tracing::{instrument::WithSubscriber as _, subscriber::NoSubscriber};

use super::{
    super::{
        Failure, Inference, SetupError,
        client::{Http, KeyHeader, Reply, STRANGE},
        settings::BaseUrl,
    },
    Region, failure,
    sender::{Sender, Unreached},
};
use crate::{clock::UnixMillis, secret::Secret};

/// What the SDK does by itself, by the date that is its name.
fn behaviour() -> BehaviorVersion {
    BehaviorVersion::v2026_01_12()
}

/// One account in one region.
pub(super) struct Account {
    home: String,
    region: SdkRegion,
    /// A key of Bedrock's own, in place of all other credentials.
    key: Option<Token>,
    http: Http,
    /// Made at the first question, since credentials may have to be asked for; and again when they
    /// are not accepted any more, so that all of them are looked for anew.
    client: Mutex<Option<Client>>,
}

impl Account {
    pub(super) fn new(
        base_url: &BaseUrl,
        region: &Region,
        key: Option<&Secret>,
        tls: ClientConfig,
        clock: fn() -> UnixMillis,
    ) -> Result<Self, SetupError> {
        let key = match key {
            Some(key) => Some(token(key)?),
            None => None,
        };
        Ok(Self {
            home: base_url.to_string(),
            region: SdkRegion::new(region.as_str().to_owned()),
            key,
            http: Http::new(None, tls, clock)?,
            client: Mutex::new(None),
        })
    }

    /// Asks once. Credentials that have run out are looked for anew, and the same is asked with
    /// them: what was refused for them was shown to no model.
    ///
    /// # Errors
    /// There is no reply.
    pub(super) async fn ask(
        &self,
        model: &str,
        call_key: CallKey,
        body: Vec<u8>,
    ) -> Result<Reply, Failure> {
        let reply = self.send(model, call_key, body.clone()).await?;
        if self.key.is_some() || !failure::has_expired(&reply) {
            return Ok(reply);
        }
        *self.client.lock().await = None;
        self.send(model, call_key, body).await
    }

    async fn send(&self, model: &str, call_key: CallKey, body: Vec<u8>) -> Result<Reply, Failure> {
        let (tell, mut told) = mpsc::unbounded_channel();
        let sender = Sender::telling(self.http.clone(), tell);
        let sent = async {
            let client = self.client().await;
            let request = client.converse().model_id(model).customize();
            request
                .config_override(Config::builder().http_client(sender))
                .mutate_request(move |request| put(request, call_key, &body))
                .send()
                .await
        };
        // At its finest level the SDK logs requests as they are: credentials, report and all.
        let sent = sent.with_subscriber(NoSubscriber::default()).await;
        match (told.try_recv(), sent) {
            (Ok(told), _) => told,
            (Err(_), Err(error)) => Err(unsent(&error)),
            (Err(_), Ok(_)) => Err(STRANGE),
        }
    }

    async fn client(&self) -> Client {
        let mut made = self.client.lock().await;
        match &*made {
            Some(client) => client.clone(),
            None => {
                let client = self.new_client().await;
                *made = Some(client.clone());
                client
            }
        }
    }

    async fn new_client(&self) -> Client {
        let http = Sender::new(self.http.clone());
        let config = match &self.key {
            Some(key) => Builder::new()
                .behavior_version(behaviour())
                .region(self.region.clone())
                .http_client(http)
                .bearer_token(key.clone())
                .auth_scheme_preference([HTTP_BEARER_AUTH_SCHEME_ID]),
            None => {
                let found = aws_config::defaults(behaviour())
                    .region(self.region.clone())
                    .http_client(http);
                Builder::from(&found.load().await)
            }
        };
        // The address is the configuration's, whatever the environment says; retries and the time
        // of a call are the worker's.
        let config = config
            .endpoint_url(&self.home)
            .use_fips(false)
            .use_dual_stack(false)
            .retry_config(RetryConfig::disabled())
            .timeout_config(TimeoutConfig::disabled())
            .stalled_stream_protection(StalledStreamProtectionConfig::disabled());
        Client::from_conf(config.build())
    }
}

impl fmt::Debug for Account {
    /// Leaves key and credentials out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account")
            .field("home", &self.home)
            .field("region", &self.region)
            .finish_non_exhaustive()
    }
}

fn token(key: &Secret) -> Result<Token, SetupError> {
    KeyHeader::Bearer.with(key)?;
    let text = str::from_utf8(key.expose()).map_err(|_| SetupError::Key)?;
    Ok(Token::new(text, None))
}

/// Makes the request ours, before it is signed.
fn put(request: &mut HttpRequest, call_key: CallKey, body: &[u8]) {
    let headers = request.headers_mut();
    headers.insert("content-type", "application/json");
    headers.insert("content-length", body.len().to_string());
    // A gateway that knows this header answers a repeated question once; the provider does not.
    headers.insert("idempotency-key", call_key.to_string());
    *request.body_mut() = SdkBody::from(body.to_vec());
}

/// Why nothing was sent.
fn unsent<E: Error + 'static>(error: &SdkError<E, HttpResponse>) -> Failure {
    let failure = if matches!(error, SdkError::ConstructionFailure(_)) {
        Failure::InvalidRequest
    } else {
        uncredited(error)
    };
    tracing::warn!("The provider was not asked: {failure}");
    failure
}

/// What it means that there are no credentials.
fn uncredited(error: &(dyn Error + 'static)) -> Failure {
    const LATER: Failure = Failure::Transport(Inference::NotBegun);
    let mut reason = Some(error);
    let mut missing = LATER;
    while let Some(error) = reason {
        if error.is::<Unreached>() {
            return LATER;
        }
        match error.downcast_ref::<CredentialsError>() {
            // Where it took too long, the SDK's own clock may say so without this error.
            None | Some(CredentialsError::ProviderTimedOut(_)) => {}
            Some(_) => missing = Failure::Auth,
        }
        reason = error.source();
    }
    missing
}
