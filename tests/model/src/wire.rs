//! The providers' forms, as far as they are needed to be taken for one.

mod chat;
mod converse;
mod generate;
mod messages;
mod responses;

use std::{
    convert::Infallible,
    fmt, mem,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, Response,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
};
use http_body::{Body, Frame};
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use serde_json::{Value, json};

use crate::marks;

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
    /// Absent when it had said all.
    pub(crate) reason: Option<&'a str>,
}

/// How a provider is spoken to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Interface {
    ChatCompletions,
    Responses,
    Messages,
    /// It has the model's name in its path.
    GenerateContent {
        model: String,
        place: Place,
    },
    Converse,
}

/// Whose `generateContent` it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The Gemini API's.
    Gemini,
    /// Vertex AI's, in some project and location.
    Vertex,
}

impl Interface {
    pub(crate) fn at(path: &str) -> Option<Self> {
        match path.strip_prefix("/v1/")? {
            "chat/completions" => Some(Self::ChatCompletions),
            "messages" => Some(Self::Messages),
            "responses" => Some(Self::Responses),
            path => match path.strip_suffix(":generateContent") {
                Some(path) => Self::generating(path),
                None => {
                    let model = path.strip_prefix("model/")?.strip_suffix("/converse")?;
                    (!model.contains('/')).then_some(Self::Converse)
                }
            },
        }
    }

    fn generating(path: &str) -> Option<Self> {
        let (model, place) = match path.split('/').collect::<Vec<_>>()[..] {
            ["models", model] => (model, Place::Gemini),
            [
                "projects",
                _,
                "locations",
                _,
                "publishers",
                "google",
                "models",
                model,
            ] => (model, Place::Vertex),
            _ => return None,
        };
        let model = model.to_owned();
        Some(Self::GenerateContent { model, place })
    }

    /// What its provider refuses before anything is asked of the model: `None` where it is well.
    pub(crate) fn refusal(&self, headers: &HeaderMap, request: &Value) -> Option<Answer> {
        match self {
            Self::ChatCompletions | Self::Responses => None,
            Self::Messages => messages::refusal(headers, request),
            Self::GenerateContent { place, .. } => generate::refusal(headers, *place),
            Self::Converse => converse::refusal(headers),
        }
    }

    pub(crate) fn answer(&self, sequence: u64, request: &Value, said: &Said<'_>) -> Answer {
        match self {
            Self::ChatCompletions => chat::completion(sequence, request, said),
            Self::Responses => responses::response(sequence, request, said),
            Self::Messages => messages::message(sequence, request, said),
            Self::GenerateContent { model, .. } => {
                generate::generated(sequence, model, request, said)
            }
            Self::Converse => converse::conversed(sequence, request, said),
        }
    }
}

/// What is counted as tokens here.
fn tokens(request: &Value, content: &str) -> (usize, usize) {
    (request.to_string().len() / 4, content.len() / 4)
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

/// Any answer. A header that is given takes the place of the usual one; a length that is given is
/// told whether it is right or not, and the connection closes where there was more to come.
pub(crate) fn respond(
    status: u16,
    headers: &[(&'static str, String)],
    body: impl Into<Bytes>,
) -> Answer {
    let given = |name: HeaderName| headers.iter().any(|(given, _)| *given == name.as_str());
    let mut response = Response::builder().status(status);
    if !given(CONTENT_TYPE) {
        response = response.header(CONTENT_TYPE, "application/json");
    }
    for (name, value) in headers {
        response = response.header(*name, value);
    }
    let body = match given(CONTENT_LENGTH) {
        true => Streamed::new(body.into(), Last::End).boxed_unsync(),
        false => Full::new(body.into())
            .map_err(|never: Infallible| match never {})
            .boxed_unsync(),
    };
    response.body(body).unwrap()
}

/// An answer that begins well and then breaks off.
pub(crate) fn broken_off() -> Answer {
    let begun =
        Bytes::from_static(br#"{"id":"chatcmpl-0","object":"chat.completion","choices":[{"#);
    Response::builder()
        .status(200)
        .header(CONTENT_TYPE, "application/json")
        .body(Streamed::new(begun, Last::HangUp).boxed_unsync())
        .unwrap()
}

/// Some bytes of which nobody says before how many they are, time to send them, and what is last.
struct Streamed {
    next: Next,
    last: Last,
}

enum Next {
    Data(Bytes),
    Sending,
    Last,
}

#[derive(Clone, Copy)]
enum Last {
    End,
    HangUp,
}

impl Streamed {
    fn new(data: Bytes, last: Last) -> Self {
        Self {
            next: Next::Data(data),
            last,
        }
    }
}

impl Body for Streamed {
    type Data = Bytes;
    type Error = HangUp;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HangUp>>> {
        match mem::replace(&mut self.next, Next::Last) {
            Next::Data(data) => {
                self.next = Next::Sending;
                Poll::Ready(Some(Ok(Frame::data(data))))
            }
            Next::Sending => {
                // What there is, is sent while a body is waited for.
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Next::Last => Poll::Ready(match self.last {
                Last::End => None,
                Last::HangUp => Some(Err(HangUp)),
            }),
        }
    }
}

/// What was reported, as the user message has it, without its marks.
pub(crate) fn report(request: &Value) -> Value {
    let messages = request["messages"].as_array().into_iter().flatten();
    let contents = request["contents"].as_array().into_iter().flatten();
    let users = messages
        .chain(contents)
        .filter(|message| message["role"] == "user");
    let mut texts = users.filter_map(|message| {
        let text = message["content"].as_str();
        text.or_else(|| message["parts"][0]["text"].as_str())
            .or_else(|| message["content"][0]["text"].as_str())
    });
    let text = texts.next().or_else(|| request["input"].as_str());
    let text = text.unwrap_or_default();
    let mut data: Value = serde_json::from_str(text).unwrap_or_default();
    let report = data.get_mut("report").map(Value::take);
    marks::removed(report.unwrap_or_default())
}

/// A header's text, or nothing.
pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    let value = headers.get(name);
    value
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
}
