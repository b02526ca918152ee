//! The server, started as a process of its own and asked over its sockets.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, ChildStdout, Command, Stdio},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use fencepost::{clock::UnixMillis, config::Project, tls};
use fencepost_identity::{
    envelope::{
        EdgeSecret, Envelope, HEADER_KEY_ID, HEADER_SIGNATURE, HEADER_TIME, REPORTS_PATH, seal,
    },
    identity::{Identity, Namespace, ReportId, Revision, Tenant, Version},
    json,
    key::MappingDigest,
    mapping::Input,
};
use reqwest::Client;
use serde_json::{Value, json};

use super::{ADMIN_TOKEN, EDGE_SECRET, Place, Ran};

pub(super) const TEXT: &str = "text-canary: thank you for the quick answer, this works for me now";

/// Far longer than anything here takes on a slow machine: who reaches it waits in vain.
pub(super) const DEADLINE: Duration = Duration::from_secs(120);

/// A client for plain HTTP on this machine.
pub(super) fn client() -> Client {
    let tls = tls::for_scheme("http").unwrap();
    let builder = Client::builder().tls_backend_preconfigured(tls);
    builder.no_proxy().build().unwrap()
}

/// A server that is up; it is killed if a test ends before it is stopped.
pub(super) struct Server {
    child: Option<Child>,
    /// Kept open, so that the server never writes to nobody.
    stdout: BufReader<ChildStdout>,
    /// Reads the log all the time, so that the server never waits for its reader.
    log: Option<JoinHandle<String>>,
    ingest: Option<String>,
    admin: String,
}

impl Server {
    pub(super) fn start(place: &Place, arguments: &[&str]) -> Self {
        let mut command = place.command();
        command.arg("serve").args(arguments);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let log = std::thread::spawn(move || {
            let mut log = String::new();
            stderr.read_to_string(&mut log).unwrap();
            log
        });
        let ready: Value = serde_json::from_str(&line).unwrap();
        let address = |name: &str| ready[name].as_str().map(str::to_owned);
        Self {
            child: Some(child),
            stdout,
            log: Some(log),
            ingest: address("ingest"),
            admin: address("admin").unwrap(),
        }
    }

    /// Asks it to end, waits for that, and gives what it logged, and what it printed since its
    /// first line.
    pub(super) fn stop(mut self) -> Ran {
        let child = self.child.take().unwrap();
        let kill = Command::new("kill")
            .arg("-TERM")
            .arg(child.id().to_string())
            .status();
        assert!(kill.unwrap().success());
        let mut output = child.wait_with_output().unwrap();
        output.stderr = self.log.take().unwrap().join().unwrap().into_bytes();
        self.stdout.read_to_end(&mut output.stdout).unwrap();
        Ran::of(output)
    }

    pub(super) async fn deliver(&self, client: &Client, envelope: &Envelope) -> (u16, Value) {
        let body = envelope.to_json();
        let now = u64::try_from(UnixMillis::of_this_machine().get() / 1000).unwrap();
        let secret = EdgeSecret::new(EDGE_SECRET).unwrap();
        let url = format!("{}{REPORTS_PATH}", self.ingest.as_ref().unwrap());
        let mut request = client.post(url);
        let names = [HEADER_TIME, HEADER_KEY_ID, HEADER_SIGNATURE];
        for (name, value) in names.into_iter().zip(seal(&secret, now, body.as_bytes())) {
            request = request.header(name, value);
        }
        let response = request.body(body).send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    pub(super) async fn ask(&self, client: &Client, path: &str) -> (u16, Value) {
        let request = client
            .get(format!("{}{path}", self.admin))
            .bearer_auth(ADMIN_TOKEN);
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    pub(super) async fn tell(&self, client: &Client, path: &str, body: &Value) -> (u16, Value) {
        let request = client
            .post(format!("{}{path}", self.admin))
            .bearer_auth(ADMIN_TOKEN)
            .header("idempotency-key", "one");
        let response = request.body(body.to_string()).send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    /// Asks until the report has come to rest or waits for a person.
    pub(super) async fn settled(&self, client: &Client, key: &str) -> Value {
        let rests = |report: &Value| {
            ["terminal", "ready_for_review"].contains(&report["state"].as_str().unwrap())
        };
        self.ask_until(client, key, rests).await
    }

    /// Asks until the report is so.
    pub(super) async fn ask_until(
        &self,
        client: &Client,
        key: &str,
        so: impl Fn(&Value) -> bool,
    ) -> Value {
        let begun = Instant::now();
        loop {
            let (status, report) = self.ask(client, &format!("/v1/reports/{key}")).await;
            assert_eq!(status, 200);
            if so(&report) {
                return report;
            }
            assert!(begun.elapsed() < DEADLINE, "still {report}");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

pub(super) fn envelope(text: &str) -> Envelope {
    let input = json!({"text": text}).to_string();
    Envelope {
        source: "reports".to_owned(),
        identity: Identity {
            tenant: Tenant::new("acme").unwrap(),
            namespace: Namespace::new("reports").unwrap(),
            report_id: ReportId::new("r-1").unwrap(),
            version: Version::Revision(Revision::new(9_007_199_254_740_993).unwrap()),
        },
        input: Input::of_object(&json::parse(input.as_bytes()).unwrap()).ok(),
        order: None,
        links: vec![("page".to_owned(), "https://example.test/1".to_owned())],
        mapping_digest: MappingDigest::from_bytes([1; 32]),
    }
}

#[tokio::test]
async fn many_deliveries_of_one_report_become_one_record_that_everybody_can_look_at() {
    let place = Place::new();
    let server = Server::start(&place, &[]);
    let client = client();
    let delivered = envelope(TEXT);
    let key = delivered.identity.report_key().to_string();

    let deliveries = (0..50).map(|_| server.deliver(&client, &delivered));
    let answers = futures::future::join_all(deliveries).await;
    let count = |status: u16| {
        answers
            .iter()
            .filter(|(answered, _)| *answered == status)
            .count()
    };
    assert_eq!((count(202), count(200)), (1, 49), "{answers:?}");
    for (_, answer) in &answers {
        assert_eq!(answer["report_key"], key);
    }

    let report = server.settled(&client, &key).await;
    assert_eq!(
        report["identity"]["version"],
        json!({"revision": "9007199254740993"})
    );
    assert_eq!(report["attempt_count"], "1");
    assert_eq!(report["token"], "1");
    assert_eq!(report["classifier_version"], "moderation-7");
    assert_eq!(report["result"]["schema_version"], "moderation-v3");
    assert!(report["result"]["value"]["confidence"].is_number());
    assert_eq!(report["links"]["page"], "https://example.test/1");
    assert_eq!(report["findings"], json!([]));
    assert!(report["received_at"].as_str().unwrap().ends_with('Z'));

    let (_, conflict) = server.deliver(&client, &envelope("another text")).await;
    assert_eq!(
        (&conflict["duplicate"], &conflict["conflict"]),
        (&json!(true), &json!(true))
    );
    let (_, attempts) = server
        .ask(&client, &format!("/v1/reports/{key}/attempts"))
        .await;
    assert_eq!(attempts["attempts"].as_array().unwrap().len(), 1);
    assert_eq!(attempts["attempts"][0]["outcome"], "committed");
    assert_eq!(attempts["attempts"][0]["call"]["provider"], "baseline");
    let (_, stats) = server.ask(&client, "/v1/stats").await;
    assert_eq!(
        (&stats["results"], &stats["charged_attempts"]),
        (&json!("1"), &json!("1"))
    );
    assert_eq!(
        (&stats["conflicts"], &stats["stranded"]),
        (&json!("1"), &json!("0"))
    );
    let ran = server.stop();
    assert_eq!(ran.code, Some(0));
    assert!(!ran.stderr.contains("text-canary") && !ran.stderr.contains("another text"));
}

#[tokio::test]
async fn commands_read_from_the_database_what_the_listener_answers() {
    let place = Place::new();
    let server = Server::start(&place, &[]);
    let client = client();
    let key = envelope(TEXT).identity.report_key().to_string();
    assert_eq!(server.deliver(&client, &envelope(TEXT)).await.0, 202);
    let report = server.settled(&client, &key).await;
    let (_, page) = server.ask(&client, "/v1/reports?tenant=acme").await;
    let shown = place.run(&["show", &key, "--json"]).json();
    assert_eq!(
        (
            &shown["report"],
            shown["attempts"].as_array().unwrap().len()
        ),
        (&report, 1)
    );
    assert_eq!(server.stop().code, Some(0));
    // While no server is up, too.
    assert_eq!(
        place.run(&["list", "--tenant", "acme", "--json"]).json(),
        page
    );
    let shown = place.run(&["show", &key]);
    assert!(
        shown.stdout.contains(&key) && shown.stdout.contains("r-1"),
        "{shown:?}"
    );
    let listed = place.run(&["list", "--state", "accepted"]);
    assert!(
        listed.code == Some(0) && !listed.stdout.contains(&key),
        "{listed:?}"
    );
    let copy = place.folder.path().join("copy.db");
    let arguments = ["backup", copy.to_str().unwrap()];
    assert_eq!(place.run(&arguments).code, Some(0));
    assert_eq!(
        place.run(&arguments).code,
        Some(2),
        "a file is never overwritten"
    );
    let place = place.with(
        "FENCEPOST_DATABASE_URL",
        &format!("sqlite://{}", copy.display()),
    );
    assert_eq!(place.run(&["list", "--json"]).json(), page);
}

#[tokio::test]
async fn a_server_that_ended_leaves_its_reports_in_the_one_file() {
    let place = Place::new();
    let server = Server::start(&place, &[]);
    let client = client();
    let key = envelope(TEXT).identity.report_key().to_string();
    assert_eq!(server.deliver(&client, &envelope(TEXT)).await.0, 202);
    let report = server.settled(&client, &key).await;
    let (file, log) = ["fencepost.db", "fencepost.db-wal"]
        .map(|name| place.folder.path().join(name))
        .into();
    let log_bytes = || std::fs::metadata(&log).map_or(0, |log| log.len());
    assert_ne!(
        log_bytes(),
        0,
        "while it runs, part of it stands in the log"
    );
    assert_eq!(server.stop().code, Some(0));
    assert_eq!(log_bytes(), 0);

    let copy = place.folder.path().join("copy.db");
    std::fs::copy(file, &copy).unwrap();
    let url = format!("sqlite://{}", copy.display());
    let place = place.with("FENCEPOST_DATABASE_URL", &url);
    let shown = place.run(&["show", &key, "--json"]).json();
    assert_eq!(shown["report"], report);
}

#[tokio::test]
async fn a_source_with_another_mapping_is_refused_until_it_is_bound_anew() {
    let place = Place::new();
    let server = Server::start(&place, &["--role", "api"]);
    let client = client();
    assert_eq!(server.deliver(&client, &envelope(TEXT)).await.0, 202);
    let mut changed = envelope(TEXT);
    changed.identity.report_id = ReportId::new("r-2").unwrap();
    changed.mapping_digest = Project::load(&super::project_folder().join("fencepost.toml"))
        .unwrap()
        .sources
        .get("reports")
        .unwrap()
        .mapping
        .digest();
    let (status, problem) = server.deliver(&client, &changed).await;
    assert_eq!((status, &problem["code"]), (503, &json!("mapping_changed")));
    let rebound = place.run(&["source", "rebind", "reports"]);
    assert_eq!(rebound.code, Some(0));
    assert_eq!(server.deliver(&client, &changed).await.0, 202);
    assert_eq!(server.deliver(&client, &envelope(TEXT)).await.0, 503);
    assert_eq!(server.stop().code, Some(0));
}

#[tokio::test]
async fn a_page_ends_where_the_next_begins() {
    let place = Place::new();
    let server = Server::start(&place, &["--role", "api"]);
    let client = client();
    for number in 0..5 {
        let mut report = envelope(TEXT);
        report.identity.report_id = ReportId::new(format!("r-{number}")).unwrap();
        assert_eq!(server.deliver(&client, &report).await.0, 202);
    }
    let mut seen = Vec::new();
    let mut path = "/v1/reports?limit=2".to_owned();
    loop {
        let (_, page) = server.ask(&client, &path).await;
        for report in page["reports"].as_array().unwrap() {
            seen.push(report["identity"]["report_id"].as_str().unwrap().to_owned());
        }
        let Some(next) = page["next"].as_str() else {
            break;
        };
        path = format!("/v1/reports?limit=2&cursor={next}");
    }
    seen.sort_unstable();
    assert_eq!(seen, ["r-0", "r-1", "r-2", "r-3", "r-4"]);
    // Nobody works in this role.
    let (_, page) = server.ask(&client, "/v1/reports?state=accepted").await;
    assert_eq!(page["reports"].as_array().unwrap().len(), 5);
    assert_eq!(server.stop().code, Some(0));
}

#[tokio::test]
async fn a_worker_takes_nothing_in_and_finishes_what_another_process_took_in() {
    let place = Place::new();
    let api = Server::start(&place, &["--role", "api"]);
    let client = client();
    let key = envelope(TEXT).identity.report_key().to_string();
    assert_eq!(api.deliver(&client, &envelope(TEXT)).await.0, 202);
    let worker = Server::start(&place, &["--role", "worker"]);
    assert_eq!(worker.ingest, None);
    let report = api.settled(&client, &key).await;
    assert_eq!(report["attempt_count"], "1");
    assert_eq!(worker.stop().code, Some(0));
    assert_eq!(place.run(&["probe", &api.admin]).code, Some(0));
    assert_eq!(api.stop().code, Some(0));
}
