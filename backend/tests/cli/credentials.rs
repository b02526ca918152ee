//! Whoever gives credentials to the program, and what comes of it where they don't.

use std::sync::{Arc, Mutex};

use fencepost_model::{Asked, Behaviour, ModelServer, in_turn, moderation};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpSocket, TcpStream},
};

use super::{
    Place,
    model::KEY,
    served::{Server, TEXT, client, envelope},
};

pub(super) fn good() -> Behaviour {
    moderation("other", 0.95, false)
}

/// A model that behaves so, and what it was asked.
pub(super) fn model(behaviours: Vec<Behaviour>) -> (ModelServer, Arc<Mutex<Vec<Asked>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&heard);
    let behave = in_turn(behaviours);
    let server = ModelServer::start(move |asked| {
        listener.lock().unwrap().push(asked.clone());
        behave(asked)
    });
    (server, heard)
}

pub(super) fn header<'a>(asked: &'a Asked, name: &str) -> &'a str {
    asked.headers[name].to_str().unwrap()
}

/// Gives these answers, one after the other, and the last to all that ask later.
pub(super) struct Giver {
    pub(super) url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Giver {
    pub(super) async fn start(answers: impl Into<Vec<(u16, Value)>>) -> Self {
        let answers = answers.into();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/credentials", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&asked);
        tokio::spawn(async move {
            loop {
                let mut connection = listener.accept().await.unwrap().0;
                let head = head(&mut connection).await;
                let nth = all.lock().unwrap().len();
                all.lock().unwrap().push(head);
                let (status, body) = answers.get(nth).or(answers.last()).unwrap();
                let body = body.to_string();
                let answer = format!(
                    "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n\
                     metadata-flavor: Google\r\nconnection: close\r\ncontent-length: {}\r\n\r\n\
                     {body}",
                    body.len()
                );
                connection.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        Self { url, asked }
    }

    /// The heads of all requests so far.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// A request's head in small letters; its body is read, too.
async fn head(connection: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(connection.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let length = length.map_or(0, |length| length.parse().unwrap());
    connection.read_exact(&mut vec![0; length]).await.unwrap();
    head
}

/// Where nobody listens. The socket keeps the port from everybody else.
pub(super) fn closed() -> (TcpSocket, String) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}/credentials", socket.local_addr().unwrap());
    (socket, url)
}

/// The first attempt, once it has ended without a question, and the pauses at that time.
pub(super) async fn unasked(place: &Place) -> (Value, Value) {
    let (attempt, pauses, log) = first_attempt(place).await;
    assert!(log.contains("The provider was not asked"), "{log}");
    (attempt, pauses)
}

/// The first attempt, once it has ended, the pauses at that time, and the log.
pub(super) async fn first_attempt(place: &Place) -> (Value, Value, String) {
    let server = Server::start(place, &[]);
    let client = client();
    let delivered = envelope(TEXT);
    let key = delivered.identity.report_key().to_string();
    assert_eq!(server.deliver(&client, &delivered).await.0, 202);
    let path = format!("/v1/reports/{key}/attempts");
    let attempt = loop {
        let (_, attempts) = server.ask(&client, &path).await;
        let ended = |attempt: &&Value| !attempt["outcome"].is_null();
        let attempts = attempts["attempts"].as_array().unwrap();
        if let Some(attempt) = attempts.first().filter(ended) {
            break attempt.clone();
        }
    };
    let (_, stats) = server.ask(&client, "/v1/stats").await;
    let ran = server.stop();
    assert!(!ran.stderr.contains(KEY), "{ran:?}");
    (attempt, stats["pauses"].clone(), ran.stderr)
}

/// Outcome, and whether it counts.
pub(super) fn told(attempt: &Value) -> (&str, bool) {
    let outcome = attempt["outcome"].as_str().unwrap();
    (outcome, attempt["charged"].as_bool().unwrap())
}
