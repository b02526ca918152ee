//! What the backend's admin listener answers.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::Value;
use ureq::http::Response;
use ureq::{Agent, Body};

/// The backend's admin listener, seen by somebody with the first token.
pub(crate) struct Admin {
    agent: Agent,
    url: String,
    token: String,
}

/// What is looked at of a report.
#[derive(Deserialize)]
pub(crate) struct Report {
    pub(crate) state: String,
    outcome: Option<String>,
    attempt_count: String,
    result: Option<Value>,
    findings: Vec<Finding>,
    review: Option<Value>,
}

/// One of those that a record lists.
#[derive(Deserialize)]
struct Finding {
    /// Whether the version before listed it; none for what is listed no more.
    since: Option<String>,
    value: Value,
}

#[derive(Deserialize)]
struct Page {
    reports: Vec<Value>,
    next: Option<Value>,
}

impl Admin {
    pub(crate) fn new(url: String, token: String) -> Self {
        Self {
            agent: agent(),
            url,
            token,
        }
    }

    /// One report by its key.
    pub(crate) fn report(&self, key: &str) -> Result<Report> {
        self.get(&format!("/v1/reports/{key}"))
    }

    /// How many reports there are; as few as fit on one page.
    pub(crate) fn report_count(&self) -> Result<usize> {
        let page: Page = self.get("/v1/reports?limit=100")?;
        if page.next.is_some() {
            bail!("there are more reports than were ever delivered");
        }
        Ok(page.reports.len())
    }

    /// The JSON document at `path`.
    pub(crate) fn get<T: for<'de> Deserialize<'de>>(&self, path: &str) -> Result<T> {
        let bearer = format!("Bearer {}", self.token);
        let request = self.agent.get(format!("{}{path}", self.url));
        read(path, request.header("authorization", &bearer).call()?)
    }
}

impl Report {
    /// Whether the machine is done with it: what follows is up to a person, if to anybody.
    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.state.as_str(), "terminal" | "ready_for_review")
    }

    /// Whether it came to what it should: a result, a question to a person, or a newer version.
    pub(crate) fn came_to_something(&self) -> bool {
        self.result.is_some()
            || self.review.is_some()
            || self.outcome.as_deref() == Some("superseded")
    }

    pub(crate) fn review_items(&self) -> u64 {
        u64::from(self.review.is_some())
    }

    /// What it lists, as `new RULE`, or `still RULE` where the version before listed it too.
    pub(crate) fn findings(&self) -> Vec<String> {
        let listed = self.findings.iter().filter_map(|finding| {
            let since = finding.since.as_ref()?;
            let rule = finding.value.get("rule").and_then(Value::as_str);
            Some(format!("{since} {}", rule.unwrap_or("?")))
        });
        listed.collect()
    }

    pub(crate) fn extractions(&self) -> Result<u64> {
        self.attempt_count
            .parse()
            .context("attempt_count is a number")
    }
}

/// The JSON document at `url`, where anybody may ask.
pub(crate) fn get<T: for<'de> Deserialize<'de>>(url: &str) -> Result<T> {
    read(url, agent().get(url).call()?)
}

fn read<T: for<'de> Deserialize<'de>>(what: &str, mut answer: Response<Body>) -> Result<T> {
    let body = answer.body_mut().read_to_string()?;
    if answer.status() != 200 {
        bail!("GET {what} answered {}: {body}", answer.status());
    }
    serde_json::from_str(&body).with_context(|| format!("GET {what} answered: {body}"))
}

/// Whether `url` answers with 200.
pub(crate) fn is_ready(url: &str) -> bool {
    agent()
        .get(url)
        .call()
        .is_ok_and(|answer| answer.status() == 200)
}

/// Whether somebody answers HTTP at `url`, whatever the answer is.
pub(crate) fn answers(url: &str) -> bool {
    agent().get(url).call().is_ok()
}

fn agent() -> Agent {
    let limit = Some(Duration::from_secs(5));
    Agent::config_builder()
        .timeout_global(limit)
        .http_status_as_error(false)
        .proxy(None)
        .build()
        .into()
}
