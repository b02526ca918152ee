//! How a stack is spoken to: deliveries, posts, questions, and what it logged.

use std::sync::Arc;

use fencepost_history::Recorder;
use http::{Method, Request};
use serde_json::Value;
use tokio::{io::AsyncWriteExt as _, net::TcpStream, sync::Barrier, task::JoinSet};

use super::{BACKEND, Stack};
use crate::{
    ADMIN_TOKEN, Answer, Delivery, Sealed,
    client::{Connection, Pieces, announce, send},
    now,
};

/// An edge to deliver to. It writes down what it is promised.
#[derive(Clone, Debug)]
pub struct Target {
    url: String,
    acknowledged: Arc<Recorder>,
}

impl Target {
    /// Delivers once.
    ///
    /// # Panics
    /// When there is no answer: an edge always answers.
    pub async fn deliver(&self, delivery: &Delivery) -> Answer {
        let answer = send(&self.url, delivery.request(&self.url)).await.unwrap();
        self.note(&answer);
        answer
    }

    fn note(&self, answer: &Answer) {
        let json = answer.json();
        if let (200 | 202, Some(key)) = (answer.status, json["report_key"].as_str()) {
            let at_ms = i64::try_from(now() * 1000).unwrap();
            self.acknowledged.ack(key, answer.status, at_ms).unwrap();
        }
    }
}

/// Where a sender hangs up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// When the body is due.
    AfterHead,
    /// In the middle of the body.
    AfterHalf,
    /// When the answer is due.
    AfterAll,
}

impl Stack {
    /// The edge's address, for senders that go on while backends come and go.
    ///
    /// # Panics
    /// When the host doesn't run.
    #[must_use]
    pub fn target(&self) -> Target {
        self.target_at(self.edge_url())
    }

    fn target_at(&self, url: &str) -> Target {
        Target {
            url: url.to_owned(),
            acknowledged: Arc::clone(&self.acknowledged),
        }
    }

    /// Delivers once.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn deliver(&self, delivery: &Delivery) -> Answer {
        self.target().deliver(delivery).await
    }

    /// Delivers all of these at once: every connection is open before the first is used.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn deliver_at_once(&self, deliveries: Vec<Delivery>) -> Vec<Answer> {
        let target = self.target();
        let start = Arc::new(Barrier::new(deliveries.len()));
        let mut under_way = JoinSet::new();
        for delivery in deliveries {
            let (target, start) = (target.clone(), Arc::clone(&start));
            under_way.spawn(async move {
                let connection = Connection::open(&target.url).await;
                start.wait().await;
                let answer = connection.send(delivery.request(&target.url)).await;
                let answer = answer.unwrap();
                target.note(&answer);
                answer
            });
        }
        under_way.join_all().await
    }

    /// Posts to the backend's ingest listener, past the edge.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn ingest(&self, headers: &[(&str, String)], body: impl Into<Vec<u8>>) -> Answer {
        let mut delivery = Delivery::unsigned("/v1/reports", body);
        for (name, value) in headers {
            delivery = delivery.header(name, value);
        }
        let target = self.target_at(self.backend().ingest_url());
        target.deliver(&delivery).await
    }

    /// Posts an envelope to the backend's ingest listener, which may die of it: then there is no
    /// answer.
    pub async fn post(&self, envelope: &Sealed) -> Option<Answer> {
        let target = self.target_at(self.backend().ingest_url());
        let connection = Connection::try_open(&target.url).await?;
        let request = envelope.delivery().request(&target.url);
        let answer = connection.send(request).await.ok()?;
        target.note(&answer);
        Some(answer)
    }

    /// Posts an envelope to the backend's ingest listener and hangs up in the midst of it: nobody
    /// waits for the answer.
    ///
    /// # Panics
    /// When there is no listener.
    pub async fn hang_up(&self, envelope: &Sealed, cut: Cut) {
        let authority = self.backend().ingest_url().strip_prefix("http://").unwrap();
        let delivery = envelope.delivery();
        let mut head = format!("{} {} HTTP/1.1\r\n", delivery.method, delivery.path);
        let length = ("content-length".to_owned(), delivery.body.len().to_string());
        let host = ("host".to_owned(), authority.to_owned());
        for (name, value) in delivery.headers.iter().chain([&length, &host]) {
            head += &format!("{name}: {value}\r\n");
        }
        head += "\r\n";
        let body = match cut {
            Cut::AfterHead => &[],
            Cut::AfterHalf => &delivery.body[..delivery.body.len() / 2],
            Cut::AfterAll => &delivery.body[..],
        };
        let mut connection = TcpStream::connect(authority).await.unwrap();
        let sent = [head.as_bytes(), body].concat();
        connection.write_all(&sent).await.unwrap();
    }

    /// Only announces a body of so many bytes to the ingest listener: who refuses that need not
    /// read it.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn announce(&self, bytes: usize) -> Answer {
        announce(self.backend().ingest_url(), bytes).await
    }

    /// Asks the admin listener.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn admin(&self, path: &str) -> Answer {
        let request = self.admin_request(Method::GET, path, &[], Vec::new());
        send(self.backend().admin_url(), request).await.unwrap()
    }

    /// Tells the admin listener to do something; it may die of it.
    pub async fn command(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Option<Answer> {
        let connection = Connection::try_open(self.backend().admin_url()).await?;
        let body = body.to_string().into_bytes();
        let request = self.admin_request(Method::POST, path, headers, body);
        connection.send(request).await.ok()
    }

    fn admin_request(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Request<Pieces> {
        let base = self.backend().admin_url();
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", base.strip_prefix("http://").unwrap())
            .header("content-type", "application/json")
            .header("authorization", format!("Bearer {ADMIN_TOKEN}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let declared = Some(body.len() as u64);
        let pieces = if body.is_empty() {
            [].into()
        } else {
            [body.into()].into()
        };
        request.body(Pieces { pieces, declared }).unwrap()
    }

    /// A report, if there is one.
    ///
    /// # Panics
    /// When the backend doesn't say.
    pub async fn report(&self, key: &str) -> Option<Value> {
        let answer = self.admin(&format!("/v1/reports/{key}")).await;
        match answer.status {
            200 => Some(answer.json()),
            404 => None,
            _ => panic!("{answer:?}"),
        }
    }

    /// A report's attempts.
    ///
    /// # Panics
    /// When the backend doesn't say.
    pub async fn attempts(&self, key: &str) -> Vec<Value> {
        let answer = self.admin(&format!("/v1/reports/{key}/attempts")).await;
        let json = answer.json();
        json["attempts"]
            .as_array()
            .unwrap_or_else(|| panic!("{answer:?}"))
            .clone()
    }

    /// The counts.
    ///
    /// # Panics
    /// When the backend doesn't say.
    pub async fn stats(&self) -> Value {
        let answer = self.admin("/v1/stats").await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    }

    /// The edge's log lines about deliveries that were refused.
    ///
    /// # Panics
    /// When one is no JSON.
    #[must_use]
    pub fn refusals(&self) -> Vec<Value> {
        let log = self.project.log("host.stderr");
        let lines = log
            .lines()
            .filter_map(|line| line.get(line.find("{\"event\":")?..));
        let events = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
        events.filter(|event| event["event"] == "refused").collect()
    }

    /// The backend's log lines.
    ///
    /// # Panics
    /// When one is no JSON.
    #[must_use]
    pub fn backend_log(&self) -> Vec<Value> {
        let log = self.project.log(&format!("{BACKEND}.stderr"));
        let events = log.lines().map(|line| {
            let event = serde_json::from_str(line);
            event.unwrap_or_else(|error| panic!("the backend's log: {error}: {line}"))
        });
        events.collect()
    }
}
