//! The provider's form, as far as it is needed to be taken for one.

use std::{
    convert::Infallible,
    fmt, mem,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderMap, Response, header::CONTENT_TYPE};
use http_body::{Body, Frame};
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use serde_json::{Value, json};

/// The connection is to be closed.
#[derive(Debug)]
pub(crate) struct HangUp;

impl fmt::Display for HangUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the script has the connection closed")
    }
}

impl std::error::Error for HangUp {}

pub(crate) type Answer = Response<UnsyncBoxBody<Bytes, HangUp>>;

/// What the model said, and how it came to an end.
pub(crate) struct Said<'a> {
    /// Escaped for JSON, without quotes; absent when it declined.
    pub(crate) content: Option<&'a str>,
    pub(crate) refusal: Option<&'a str>,
    pub(crate) reason: &'a str,
}

/// A completion of the provider. Written by hand, as the content may be no string of Rust's.
pub(crate) fn completion(sequence: u64, request: &Value, said: &Said<'_>) -> Answer {
    let content = said
        .content
        .map_or_else(|| "null".to_owned(), |content| format!("\"{content}\""));
    let prompt_tokens = request.to_string().len() / 4;
    let completion_tokens = content.len() / 4;
    let usage = json!({
        "prompt_tokens": prompt_tokens, "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
    });
    let body = format!(
        r#"{{"id":"chatcmpl-{sequence}","object":"chat.completion","created":1741570283,"#
    ) + &format!(
        r#""model":{},"choices":[{{"index":0,"logprobs":null,"finish_reason":{},"#,
        request["model"],
        json!(said.reason),
    ) + &format!(
        r#""message":{{"role":"assistant","content":{content},"refusal":{}}}}}],"usage":{usage}}}"#,
        json!(said.refusal),
    );
    respond(200, &[("x-request-id", format!("req_{sequence}"))], body)
}

/// A string as it stands between the quotes of JSON.
pub(crate) fn escaped(text: &str) -> String {
    let quoted = json!(text).to_string();
    quoted
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
        .unwrap()
        .to_owned()
}

/// Any answer.
pub(crate) fn respond(
    status: u16,
    headers: &[(&'static str, String)],
    body: impl Into<Bytes>,
) -> Answer {
    let mut response = Response::builder()
        .status(status)
        .header(CONTENT_TYPE, "application/json");
    for (name, value) in headers {
        response = response.header(*name, value);
    }
    let body = Full::new(body.into()).map_err(|never: Infallible| match never {});
    response.body(body.boxed_unsync()).unwrap()
}

/// An answer that begins well and then breaks off.
pub(crate) fn broken_off() -> Answer {
    let begun =
        Bytes::from_static(br#"{"id":"chatcmpl-0","object":"chat.completion","choices":[{"#);
    Response::builder()
        .status(200)
        .header(CONTENT_TYPE, "application/json")
        .body(BrokenOff::After(begun).boxed_unsync())
        .unwrap()
}

/// Some bytes, time to send them, and the end of the connection.
enum BrokenOff {
    After(Bytes),
    Sending,
    Now,
}

impl Body for BrokenOff {
    type Data = Bytes;
    type Error = HangUp;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HangUp>>> {
        match mem::replace(&mut *self, Self::Now) {
            Self::After(begun) => {
                *self = Self::Sending;
                Poll::Ready(Some(Ok(Frame::data(begun))))
            }
            Self::Sending => {
                // What there is, is sent while a body is waited for.
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Self::Now => Poll::Ready(Some(Err(HangUp))),
        }
    }
}

/// What was reported, as the user message has it.
pub(crate) fn report(request: &Value) -> Value {
    let messages = request["messages"].as_array().into_iter().flatten();
    let users = messages.filter(|message| message["role"] == "user");
    let mut contents = users.filter_map(|message| message["content"].as_str());
    let content = contents.next().unwrap_or_default();
    let mut data: Value = serde_json::from_str(content).unwrap_or_default();
    data.get_mut("report").map(Value::take).unwrap_or_default()
}

/// A header's text, or nothing.
pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    let value = headers.get(name);
    value
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}
