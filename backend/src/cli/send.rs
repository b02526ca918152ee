//! `send`: deliveries to the edge, as a source's sender would make them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use clap::Args;
use fencepost_identity::signature::SignError;
use reqwest::header::CONTENT_TYPE;
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use super::{
    CliError, InputFile, Verdict,
    output::{self, Shape, ShapeFlag},
    probe::{cause, client},
    sign::Signer,
    time::Moment,
};

/// Longer than any edge waits for its backend.
const TIMEOUT: Duration = Duration::from_secs(90);

/// `send`
#[derive(Debug, Args)]
pub(super) struct Send {
    /// The source whose sender delivers.
    #[arg(long)]
    source: String,
    /// The tenant that the route names, for a source that takes it from there.
    #[arg(long)]
    tenant: Option<String>,
    /// The payload; `-` is stdin.
    file: InputFile,
    /// How often to deliver it, each time signed anew.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    times: u32,
    /// How many deliveries to have under way at once.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    concurrency: u32,
    /// Where the edge listens; plain HTTP, as this is for trying out.
    #[arg(long, default_value = "http://127.0.0.1:3000")]
    url: String,
    /// Another header, as `name: value`, such as `x-github-event: issue_comment`.
    #[arg(long = "header", value_name = "HEADER")]
    headers: Vec<Header>,
    #[command(flatten)]
    shape: ShapeFlag,
}

/// A header as a person writes it.
#[derive(Clone, Debug)]
struct Header(reqwest::header::HeaderName, reqwest::header::HeaderValue);

impl std::str::FromStr for Header {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once(':').ok_or("a header is `name: value`")?;
        let name = name
            .trim()
            .parse()
            .map_err(|_| "not the name of a header".to_owned())?;
        let value = value
            .trim()
            .parse()
            .map_err(|_| "not the value of a header".to_owned())?;
        Ok(Self(name, value))
    }
}

/// What became of all deliveries together.
#[derive(Debug, Default, Serialize)]
struct Summary {
    deliveries: u32,
    accepted: u32,
    duplicates: u32,
    conflicts: u32,
    ignored: u32,
    /// By code.
    refused: BTreeMap<String, u32>,
    /// By reason.
    unreached: BTreeMap<String, u32>,
    report_keys: BTreeSet<String>,
}

/// The edge's answer, of which each kind has some members.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    report_key: Option<String>,
    duplicate: bool,
    conflict: bool,
    ignored: bool,
    code: Option<String>,
}

/// What became of one delivery.
enum Delivery {
    Answered(reqwest::StatusCode, Answer),
    Unreached(String),
}

/// One payload on its way.
struct Courier {
    client: reqwest::Client,
    url: String,
    signer: Signer,
    headers: Vec<Header>,
    body: Vec<u8>,
}

impl Send {
    pub(super) async fn run(self) -> Result<Verdict, CliError> {
        if !self.url.starts_with("http://") {
            return Err(CliError::Usage(
                "`--url` has to begin with http://".to_owned(),
            ));
        }
        let signer = Signer::new(&self.source, self.tenant.as_deref(), Moment::or_now(None))?;
        let courier = Arc::new(Courier {
            client: client(TIMEOUT)?,
            url: format!("{}{}", self.url.trim_end_matches('/'), signer.path),
            signer,
            headers: self.headers,
            body: self.file.read()?,
        });
        let summary = deliver(&courier, self.times, self.concurrency).await?;
        match self.shape.shape() {
            Shape::Json => output::json(&summary),
            Shape::Table => summary.print(),
        }
        let all = summary.refused.is_empty() && summary.unreached.is_empty();
        Ok(if all { Verdict::Done } else { Verdict::No })
    }
}

async fn deliver(
    courier: &Arc<Courier>,
    times: u32,
    concurrency: u32,
) -> Result<Summary, CliError> {
    let mut summary = Summary::default();
    let mut under_way = JoinSet::new();
    let mut left = times;
    loop {
        while left > 0 && under_way.len() < concurrency as usize {
            left -= 1;
            let courier = Arc::clone(courier);
            under_way.spawn(async move { courier.deliver().await });
        }
        match under_way.join_next().await {
            None => return Ok(summary),
            Some(Ok(delivery)) => summary.count(delivery?),
            Some(Err(error)) => return Err(CliError::Failed(error.to_string())),
        }
    }
}

impl Courier {
    /// The headers that say who sends, for a payload that doesn't say it itself.
    fn signature(&self) -> Result<Vec<(String, String)>, CliError> {
        match self.signer.headers(&self.body, Moment::or_now(None)) {
            Ok(headers) => Ok(headers),
            Err(SignError::InPayload) => Ok(vec![]),
            Err(error @ (SignError::BadMessageId | SignError::PublicKey)) => {
                Err(CliError::Failed(error.to_string()))
            }
        }
    }

    async fn deliver(&self) -> Result<Delivery, CliError> {
        let mut request = self.client.post(&self.url);
        let typed = self
            .headers
            .iter()
            .any(|Header(name, _)| name == CONTENT_TYPE);
        if !typed {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        for Header(name, value) in &self.headers {
            request = request.header(name, value);
        }
        for (name, value) in self.signature()? {
            request = request.header(name, value);
        }
        let response = match request.body(self.body.clone()).send().await {
            Ok(response) => response,
            Err(error) => return Ok(Delivery::Unreached(cause(&error))),
        };
        let status = response.status();
        let answer = match response.bytes().await {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
            Err(error) => return Ok(Delivery::Unreached(cause(&error))),
        };
        Ok(Delivery::Answered(status, answer))
    }
}

impl Summary {
    fn count(&mut self, delivery: Delivery) {
        self.deliveries += 1;
        match delivery {
            Delivery::Unreached(reason) => *self.unreached.entry(reason).or_default() += 1,
            Delivery::Answered(status, answer) if status.is_success() => self.count_good(answer),
            Delivery::Answered(status, answer) => {
                let code = answer.code.unwrap_or_else(|| status.as_u16().to_string());
                *self.refused.entry(code).or_default() += 1;
            }
        }
    }

    fn count_good(&mut self, answer: Answer) {
        if answer.ignored {
            self.ignored += 1;
            return;
        }
        self.report_keys.extend(answer.report_key);
        self.conflicts += u32::from(answer.conflict);
        match answer.duplicate {
            true => self.duplicates += 1,
            false => self.accepted += 1,
        }
    }

    fn print(&self) {
        let mut rows = vec![
            row("deliveries", self.deliveries),
            row("accepted", self.accepted),
            row("duplicates", self.duplicates),
            row("conflicts", self.conflicts),
            row("ignored", self.ignored),
        ];
        let refused = self
            .refused
            .iter()
            .map(|(code, count)| row(&format!("refused: {code}"), *count));
        rows.extend(refused);
        let unreached = self.unreached.iter();
        rows.extend(unreached.map(|(reason, count)| row(&format!("unreached: {reason}"), *count)));
        output::table(&["what", "count"], &rows);
        for key in &self.report_keys {
            output::line(&format!("report {key}"));
        }
    }
}

fn row(what: &str, count: u32) -> Vec<String> {
    vec![what.to_owned(), count.to_string()]
}
