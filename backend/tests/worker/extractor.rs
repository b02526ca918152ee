//! A model whose answers a test gives, call by call.

use async_trait::async_trait;
use fencepost::extractor::{
    Call, Draft, ExtractError, Extractor, Failure, OutputCap, Question, RequestId, Usage,
};
use fencepost_identity::key::CallKey;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::timer::within;

pub(crate) struct Scripted {
    calls: mpsc::UnboundedSender<Asked>,
}

/// A call that waits for its answer.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) call_key: CallKey,
    pub(crate) cap: OutputCap,
    pub(crate) input: Vec<u8>,
    reply: oneshot::Sender<Reply>,
}

#[derive(Debug)]
enum Reply {
    Answer(String),
    Failure(Failure),
    Panic,
}

impl Scripted {
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<Asked>) {
        let (calls, asked) = mpsc::unbounded_channel();
        (Self { calls }, asked)
    }
}

impl Asked {
    pub(crate) fn answer(self, text: &str) {
        self.reply.send(Reply::Answer(text.to_owned())).unwrap();
    }

    pub(crate) fn fail(self, failure: Failure) {
        self.reply.send(Reply::Failure(failure)).unwrap();
    }

    pub(crate) fn panic(self) {
        self.reply.send(Reply::Panic).unwrap();
    }

    /// Comes back when the call was given up.
    pub(crate) async fn given_up(mut self) {
        within(self.reply.closed()).await;
    }
}

pub(crate) fn call() -> Call {
    Call {
        request_id: RequestId::new("req-1"),
        usage: Usage {
            tokens_in: Some(40),
            tokens_out: Some(12),
        },
        ..addressee()
    }
}

fn addressee() -> Call {
    Call {
        provider: "scripted".into(),
        model: "scripted-1".into(),
        ..Call::default()
    }
}

#[async_trait]
impl Extractor for Scripted {
    fn fingerprint(&self) -> Value {
        json!("scripted")
    }

    fn addressee(&self) -> Call {
        addressee()
    }

    async fn extract(&self, question: &Question<'_>) -> Result<Draft, ExtractError> {
        let (reply, replied) = oneshot::channel();
        let asked = Asked {
            call_key: question.call_key,
            cap: question.cap,
            input: question.input.to_vec(),
            reply,
        };
        self.calls.send(asked).unwrap();
        match replied.await.unwrap() {
            Reply::Answer(text) => Ok(Draft { text, call: call() }),
            Reply::Failure(failure) => Err(ExtractError {
                failure,
                call: call(),
            }),
            Reply::Panic => panic!("the script says so"),
        }
    }
}
