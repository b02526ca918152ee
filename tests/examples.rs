//! The ready sources of examples/: each fits the shipped configuration as it is, and makes of its
//! sender's samples the reports that it should, in the component and natively.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::{collections::BTreeMap, fs, path::PathBuf, process::Command};

use fencepost_tests::{Output, Project, Setup, Stack, run, workspace};
use serde_json::{Value, json};

/// A ready source.
#[derive(Clone, Copy)]
struct Ready {
    name: &'static str,
    /// The variable of its secret.
    variable: &'static str,
}

const READY: [Ready; 3] = [
    Ready {
        name: "intercom",
        variable: "intercom_secret",
    },
    Ready {
        name: "sentry",
        variable: "sentry_secret",
    },
    Ready {
        name: "zendesk",
        variable: "zendesk_secret",
    },
];

/// The one whose secret is that of the shipped sources, and whose content is fetched.
const PULL_REQUESTS: &str = "github-code-review.toml";

const SECRET: &str = "secret-of-a-ready-source-of-the-tests-0001";

/// A record that comes of a sample.
struct Record {
    sample: &'static str,
    tenant: &'static str,
    namespace: &'static str,
    report_id: &'static str,
    /// Its report key: it stays what it is for ever.
    key: &'static str,
    order: &'static str,
    /// Where a person finds it.
    page: &'static str,
}

const INTERCOM_PAGE: &str =
    "https://app.intercom.com/a/apps/exmpl123/conversations/215470001234567";
const SENTRY_PAGE: &str = "https://example.sentry.io/issues/5512340987/";
const ZENDESK_PAGE: &str = "https://example.zendesk.com/agent/tickets/4711";

const RECORDS: [Record; 6] = [
    Record {
        sample: "intercom/conversation.user.created.json",
        tenant: "exmpl123",
        namespace: "intercom-conversation",
        report_id: "215470001234567",
        key: "9b8d298da64cfacf2d9ee45b8246fe8ef600e15541d7b672050216f3879f2843",
        order: "1799740800",
        page: INTERCOM_PAGE,
    },
    Record {
        sample: "intercom/conversation.user.replied.json",
        tenant: "exmpl123",
        namespace: "intercom-conversation",
        report_id: "215470001234567",
        key: "cc246507802fa9459d34babc4dbcfce662bbbf62b4178c7527c9b59afd4f2908",
        order: "1799741400",
        page: INTERCOM_PAGE,
    },
    Record {
        sample: "sentry/issue.created.json",
        tenant: "example",
        namespace: "sentry-issue",
        report_id: "5512340987",
        key: "d3b4b4fdf4011470682e10c0d99d6e801f5e4619d9768c967341797a8ed20a16",
        order: "2027-01-11T08:14:27.391000Z",
        page: SENTRY_PAGE,
    },
    Record {
        sample: "sentry/issue.unresolved.json",
        tenant: "example",
        namespace: "sentry-issue",
        report_id: "5512340987",
        key: "a369f805f097fcd899340eb2409ef2aaca48df85f5f66fd65a9cb8e62e1a95a5",
        order: "2027-01-20T06:45:01.220000Z",
        page: SENTRY_PAGE,
    },
    Record {
        sample: "zendesk/ticket.created.json",
        tenant: "example",
        namespace: "zendesk-ticket",
        report_id: "4711",
        key: "67114e5148c765a9fb296e910b7204d9d5a1496dad8792cfcb9e0a23f8bd0f19",
        order: "2027-01-12T09:30Z",
        page: ZENDESK_PAGE,
    },
    Record {
        sample: "zendesk/ticket.replied.json",
        tenant: "example",
        namespace: "zendesk-ticket",
        report_id: "4711",
        key: "d4b2325f8fc35124727b340edc9159414dd653bbb9ea14ad228ed8b9153f2906",
        order: "2027-01-14T16:05Z",
        page: ZENDESK_PAGE,
    },
];

fn expected(sample: &str) -> &'static Record {
    let found = RECORDS.iter().find(|record| record.sample == sample);
    found.unwrap_or_else(|| panic!("{sample} is not listed"))
}

impl Ready {
    fn tables(self) -> String {
        let file = workspace().join(format!("examples/{}.toml", self.name));
        fs::read_to_string(file).unwrap()
    }

    fn paste_into(self, project: &mut Project) {
        project.paste(&self.tables(), self.variable, SECRET);
    }

    fn fencepost(self, project: &Project, arguments: &[&str]) -> Output {
        let mut command: Command = project.fencepost();
        let variable = format!("SPIN_VARIABLE_{}", self.variable.to_ascii_uppercase());
        run(command.env(variable, SECRET).args(arguments))
    }

    fn samples(self) -> Vec<Sample> {
        let folder = workspace().join("samples").join(self.name);
        let lines = fs::read(folder.join("deliveries.json")).unwrap();
        let lines: Vec<Value> = serde_json::from_slice(&lines).unwrap();
        let samples = lines.into_iter().map(|line| {
            let file = line["file"].as_str().unwrap();
            Sample {
                name: format!("{}/{file}", self.name),
                path: folder.join(file),
                becomes: line["becomes"].as_str().unwrap().to_owned(),
            }
        });
        samples.collect()
    }
}

struct Sample {
    name: String,
    path: PathBuf,
    becomes: String,
}

#[test]
fn every_example_is_a_ready_source() {
    let entries = fs::read_dir(workspace().join("examples")).unwrap();
    let mut files: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let mut ready: Vec<String> = READY.iter().map(|it| format!("{}.toml", it.name)).collect();
    ready.push(PULL_REQUESTS.to_owned());
    ready.sort();
    assert_eq!(files, ready);
}

#[test]
fn each_ready_source_fits_the_shipped_configuration() {
    for ready in READY {
        let mut project = Project::create();
        ready.paste_into(&mut project);
        let check = ["check", "--spin", "spin.toml"];
        let output = ready.fencepost(&project, &check);
        assert_eq!(output.code, Some(0), "{}: {output:?}", ready.name);

        // A manifest that doesn't pass the secret on is told.
        let project = Project::create();
        project.extend_config(&format!("\n{}", ready.tables()));
        let output = ready.fencepost(&project, &check);
        assert_eq!(output.code, Some(2), "{}: {output:?}", ready.name);
        assert!(output.stderr.contains(ready.variable), "{output:?}");
    }
}

#[test]
fn pull_requests_by_reference_fit_the_shipped_configuration() {
    let project = Project::create();
    let tables = fs::read_to_string(workspace().join("examples").join(PULL_REQUESTS)).unwrap();
    project.extend_config(&format!("\n{tables}"));
    let output = run(project.fencepost().args(["check", "--spin", "spin.toml"]));
    assert_eq!(output.code, Some(0), "{output:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_samples_of_each_become_the_records_that_they_should() {
    let mut stack = Stack::prepared(Setup::default()).await;
    stack.stop_host().await;
    for ready in READY {
        ready.paste_into(&mut stack.project);
    }
    stack.start_backend().await;
    stack.start_host().await;

    let mut keys = BTreeMap::new();
    for ready in READY {
        for sample in ready.samples() {
            println!("{}", sample.name);
            if let Some(key) = deliver(&stack, ready, &sample) {
                keys.insert(sample.name, key);
            }
        }
    }
    assert_eq!(keys.len(), RECORDS.len());
    stack.settle().await;
    for (name, key) in &keys {
        let record = expected(name);
        let shown = stack.fencepost(&["show", "--json", key]).json();
        let report = &shown["report"];
        let identity = &report["identity"];
        let found = ["tenant", "namespace", "report_id"].map(|member| &identity[member]);
        let named = [record.tenant, record.namespace, record.report_id];
        assert_eq!(found, named, "{name}");
        assert!(identity["version"]["content"].is_string(), "{name}");
        assert_eq!(report["links"], json!({ "page": record.page }), "{name}");
        assert_eq!(report["order"], record.order, "{name}");
    }
    stack.finish().await;
}

/// Signs a sample as its sender does and delivers it; the key, where it is a record of its own.
fn deliver(stack: &Stack, ready: Ready, sample: &Sample) -> Option<String> {
    let (name, path) = (&sample.name, sample.path.to_str().unwrap());
    let send = ["send", "--json", "--times", "2", "--source", ready.name];
    let to = ["--url", stack.edge_url(), path];
    let sent = ready.fencepost(&stack.project, &[&send[..], &to].concat());
    assert_eq!(sent.code, Some(0), "{name}: {sent:?}");
    let sent = sent.json();
    let counts = ["accepted", "duplicates", "ignored"].map(|of| sent[of].as_u64().unwrap());
    let native = || {
        let key = ["key", "--source", ready.name, path];
        let keys = ready.fencepost(&stack.project, &key).json();
        keys["report_key"].as_str().unwrap().to_owned()
    };
    match sample.becomes.as_str() {
        "record" => {
            assert_eq!(counts, [1, 1, 0], "{name}");
            assert_eq!(sent["report_keys"], json!([native()]), "{name}");
            assert_eq!(native(), expected(name).key, "{name}");
            Some(native())
        }
        "known" => {
            assert_eq!(counts, [0, 2, 0], "{name}");
            assert_eq!(sent["report_keys"], json!([native()]), "{name}");
            None
        }
        "nothing" => {
            assert_eq!(counts, [0, 0, 2], "{name}");
            None
        }
        other => panic!("{name} becomes {other}"),
    }
}

/// What stands in the comment of the Zendesk source is what the samples were made by.
#[test]
fn the_body_for_zendesk_s_trigger_has_the_members_of_the_samples() {
    let ready = READY[2];
    let tables = ready.tables();
    let lines = tables.lines().filter_map(|line| line.strip_prefix("# "));
    let lines = lines.skip_while(|line| *line != "{");
    let mut body: Vec<&str> = lines.take_while(|line| *line != "}").collect();
    body.push("}");
    let body: Value = serde_json::from_str(&body.join("\n")).unwrap();
    let reported = ready.samples();
    let reported = reported.iter().filter(|sample| sample.becomes != "nothing");
    let mut compared = 0;
    for sample in reported {
        let payload: Value = serde_json::from_slice(&fs::read(&sample.path).unwrap()).unwrap();
        assert_eq!(payload["event"], body["event"], "{}", sample.name);
        let members = |of: &Value| -> Vec<String> {
            let ticket = of["ticket"].as_object().unwrap();
            ticket.keys().cloned().collect()
        };
        assert_eq!(members(&payload), members(&body), "{}", sample.name);
        compared += 1;
    }
    assert_eq!(compared, 3);
}
