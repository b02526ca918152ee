//! Our HTTP client, as the SDK wants to see one: the same bounds, the same authorities, no
//! redirects and no proxies for questions and for credentials.

use std::time::Duration;

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::{
    orchestrator::{HttpRequest, HttpResponse},
    result::ConnectorError,
    runtime_components::RuntimeComponents,
};
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;
use reqwest::{
    Method, Request, Url,
    header::{HeaderName, HeaderValue},
};
use tokio::{sync::mpsc::UnboundedSender, time::timeout};

use super::super::{
    Failure, Inference,
    client::{Http, Reply},
};

/// What came of a request.
type Told = Result<Reply, Failure>;

/// Sends what the SDK has signed.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    http: Http,
    /// Who wants to know what came of it.
    tell: Option<UnboundedSender<Told>>,
    /// For how long an answer is waited for.
    limit: Option<Duration>,
}

/// No connection could be made.
#[derive(Debug, thiserror::Error)]
#[error("no connection")]
pub(super) struct Unreached;

/// What came back is no answer.
#[derive(Debug, thiserror::Error)]
#[error("no answer")]
struct Unanswered;

impl Sender {
    /// For credentials, which are the SDK's own business.
    pub(super) fn new(http: Http) -> Self {
        Self {
            http,
            tell: None,
            limit: None,
        }
    }

    /// For one question: also tells us what came back, as it came.
    pub(super) fn telling(http: Http, tell: UnboundedSender<Told>) -> Self {
        Self {
            tell: Some(tell),
            ..Self::new(http)
        }
    }

    async fn send(self, request: HttpRequest) -> Result<HttpResponse, ConnectorError> {
        let request = converted(&request)
            .ok_or_else(|| ConnectorError::user("not to be sent by this client".into()))?;
        let sent = self.http.send(request);
        let sent = match self.limit {
            None => sent.await,
            Some(limit) => match timeout(limit, sent).await {
                Ok(sent) => sent,
                // So long nobody connects whose answer is a matter of milliseconds.
                Err(_) => return Err(ConnectorError::timeout(Unreached.into())),
            },
        };
        let response = match &sent {
            Ok(reply) => response(reply),
            Err(Failure::Transport(Inference::NotBegun)) => {
                Err(ConnectorError::io(Unreached.into()))
            }
            Err(_) => Err(ConnectorError::io(Unanswered.into())),
        };
        if let Some(tell) = self.tell {
            // Nobody listens any more where the call was given up.
            drop(tell.send(sent));
        }
        response
    }
}

impl HttpClient for Sender {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        _components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        let connect = settings.connect_timeout().unwrap_or_default();
        SharedHttpConnector::new(Self {
            limit: settings.read_timeout().map(|read| read + connect),
            ..self.clone()
        })
    }
}

impl HttpConnector for Sender {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        HttpConnectorFuture::new(self.clone().send(request))
    }
}

fn converted(request: &HttpRequest) -> Option<Request> {
    let method = Method::from_bytes(request.method().as_bytes()).ok()?;
    let mut converted = Request::new(method, Url::parse(request.uri()).ok()?);
    for (name, value) in request.headers() {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        let mut value = HeaderValue::from_str(value).ok()?;
        value.set_sensitive(true);
        converted.headers_mut().append(name, value);
    }
    // Nothing that is asked here is streamed.
    let body = request.body().bytes()?;
    *converted.body_mut() = Some(body.to_vec().into());
    Some(converted)
}

fn response(reply: &Reply) -> Result<HttpResponse, ConnectorError> {
    let unanswered = |_| ConnectorError::other(Unanswered.into(), None);
    let status = StatusCode::try_from(reply.status.as_u16()).map_err(unanswered)?;
    let Some(body) = &reply.body else {
        return Err(ConnectorError::io(Unanswered.into()));
    };
    let mut response = HttpResponse::new(status, SdkBody::from(body.clone()));
    for (name, value) in &reply.headers {
        if let Ok(value) = value.to_str() {
            let headers = response.headers_mut();
            // What the SDK can't hold, it need not see.
            drop(headers.try_append(name.as_str().to_owned(), value.to_owned()));
        }
    }
    Ok(response)
}
