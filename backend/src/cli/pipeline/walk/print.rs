//! The same for people. Whatever comes from a payload or a model is made fit for a terminal.

use super::{Answered, Asked, Called, Report, Shown, Walk, Would};
use crate::cli::output::{self, printable};

impl Walk {
    pub(in crate::cli::pipeline) fn print_json(&self) {
        output::json(self);
    }

    pub(in crate::cli::pipeline) fn print(&self) {
        for line in self.not_checked {
            output::line(&format!("not checked: {line}"));
        }
        row("source", &self.source);
        self.print_filter();
        if let Some(refused) = &self.refused {
            let told = format!("{} {}: {}", refused.status, refused.code, refused.message);
            row("answer", &told);
        }
        if let Some(report) = &self.report {
            report.print();
        }
        if let Some(fetch) = &self.fetch {
            row("fetch", &format!("{}: {}", fetch.outcome, fetch.reason));
        }
        if let Some(question) = &self.question {
            question.print();
        }
        if let Some(call) = &self.call {
            call.print();
        }
        if let Some(answer) = &self.answer {
            answer.print();
        }
        if let Some(call) = &self.call {
            call.print_outcome();
        }
        self.print_end();
    }

    fn print_filter(&self) {
        let places = self.filter.join(", ");
        match self.end.would {
            // Whether the filter was come to, the refusal does not say.
            Would::Refuse => {}
            _ if self.filter.is_empty() => row("filter", "none"),
            Would::Ignore => row("filter", &format!("not met: {places}")),
            Would::Commit
            | Would::Review
            | Would::AskAgain
            | Would::FetchAgain
            | Would::Pause
            | Would::Ask
            | Would::Fetch => row("filter", &format!("met: {places}")),
        }
    }

    fn print_end(&self) {
        let would = match self.end.would {
            Would::Ignore => "it would be ignored",
            Would::Refuse => "it would be refused",
            Would::Commit => "the value would be committed",
            Would::Review => "a person would be asked",
            Would::AskAgain => "the model would be asked again",
            Would::FetchAgain => "the content would be fetched again",
            Would::Pause => "the credential would be paused",
            Would::Ask => "a model would be asked",
            Would::Fetch => "the content would be fetched",
        };
        output::line(&format!("{would}: {}", printable(&self.end.why)));
        output::line("nothing was stored");
    }
}

impl Report {
    fn print(&self) {
        // Strings in their JSON form: a blank at an end shows.
        let identity = serde_json::to_string(&self.identity).unwrap_or_default();
        row("identity", &identity);
        row("order", self.order.as_deref().unwrap_or("none"));
        for (name, link) in &self.links {
            row("link", &format!("{name}: {link}"));
        }
        row("report key", &self.report_key.to_string());
        let claim = format!("{}, under {}", self.claim_key, self.classifier_version);
        row("claim key", &claim);
        row("call key", &self.call_key.to_string());
        let result = format!("{}, under {}", self.result_key, self.schema_version);
        row("result key", &result);
        if let Some(input) = &self.input {
            input.print();
        }
    }
}

impl Shown {
    fn print(&self) {
        row("input hash", &self.input_hash.to_string());
        let length = format!(
            "{} bytes, {} characters, {} of them hidden",
            self.input_bytes, self.input_characters, self.hidden_characters
        );
        row("input", &length);
    }
}

impl Asked {
    fn print(&self) {
        text("what a model would be told", &self.system);
        text("and shown of the report, as data", &self.user);
        match &self.schema {
            Some(schema) => text("the schema as it is sent", &schema.to_string()),
            None => row("schema", "is not sent: this extractor takes none"),
        }
    }
}

impl Called {
    fn print(&self) {
        row("asked", &format!("{}, {}", self.provider, self.model));
        if let Some(request_id) = &self.request_id {
            row("request", request_id);
        }
        let tokens =
            |tokens: Option<u64>| tokens.map_or("not counted".to_owned(), |n| n.to_string());
        let (asked, answered) = (tokens(self.tokens_in), tokens(self.tokens_out));
        row("tokens", &format!("{asked} in, {answered} out"));
        row("took", &format!("{} ms", self.latency_ms));
    }

    fn print_outcome(&self) {
        let reason = self.reason.as_deref();
        let reason = reason
            .map(|reason| format!(": {reason}"))
            .unwrap_or_default();
        row("attempt", &format!("{}{reason}", self.outcome));
    }
}

impl Answered {
    fn print(&self) {
        text("the answer as it came", &self.raw);
        if let Some(value) = &self.value {
            text("its value", value);
        }
        if let Some(findings) = &self.findings {
            row("findings", &findings.len().to_string());
            for finding in findings {
                finding.print();
            }
        }
    }
}

pub(super) fn row(name: &str, text: &str) {
    output::line(&format!("{name:<11} {}", printable(text)));
}

/// A text of several lines, set off from what is said of it.
pub(super) fn text(name: &str, text: &str) {
    output::line(&format!("{name}:"));
    for line in text.lines() {
        output::line(&format!("    {}", printable(line)));
    }
}
