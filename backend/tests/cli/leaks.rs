//! A whole run, as talkative as it can be made, with every kind of provider: no key and no text of
//! a report, a prompt or an answer is in anything that the program shows of itself.

use std::time::Instant;

use base64::prelude::{BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD, Engine as _};
use fencepost::config::{Config, Role};
use fencepost_identity::{
    envelope::Envelope,
    identity::{Namespace, ReportId},
};
use fencepost_model::{Asked, Behaviour, ModelServer, moderation};
use serde_json::{Value, json};

use super::{
    Place,
    model::FORMS,
    served::{DEADLINE, Server, client, envelope},
};

const REPORT: &str = "report-canary-7f3a91";
const PROMPT: &str = "prompt-canary-7f3a91";
const ANSWER: &str = "answer-canary-7f3a91";
/// What every secret and text here holds, the keys and the place's own secrets included.
const CANARIES: [&str; 2] = ["canary-7f3a91", "canary-0123456789"];

/// What a provider does with a report, by the number that stands at its end. Each repeats all that
/// it was told, key included, wherever there is room for it. What nobody would take three times in
/// a row stands between answers, as it would pause the pipeline.
const DEEDS: [Deed; 24] = [
    Deed::Good,
    Deed::Status(400),
    Deed::Echo,
    Deed::Status(404),
    Deed::Category,
    Deed::Status(413),
    Deed::Good,
    Deed::Status(422),
    Deed::Refuse,
    Deed::Status(200),
    Deed::Status(302),
    Deed::Status(408),
    Deed::Status(409),
    Deed::Status(429),
    Deed::Status(500),
    Deed::Status(502),
    Deed::Status(503),
    Deed::Status(529),
    Deed::Cut,
    Deed::HangUp,
    Deed::BreakOff,
    Deed::Good,
    Deed::Good,
    // Pauses the credential, so that it is the last.
    Deed::Status(401),
];

#[derive(Clone, Copy)]
enum Deed {
    Good,
    Echo,
    Category,
    Refuse,
    Status(u16),
    Cut,
    HangUp,
    BreakOff,
}

fn key(number: usize) -> String {
    format!("sk-{number}-canary-7f3a91")
}

/// A text as it could stand in a log. Escaping, for JSON, a URL or Rust's `Debug`, leaves ASCII
/// like this as it is; what does not is listed.
fn forms(text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let numbers = format!("{bytes:?}");
    let numbers = numbers.trim_matches(['[', ']']).to_owned();
    let percent: String = bytes.iter().map(|byte| format!("%{byte:02X}")).collect();
    let mut forms = vec![text.to_owned(), hex, numbers, percent];
    // In Base64 a text looks otherwise by where it begins; its ends share letters with what is
    // around it.
    for before in 0..3 {
        let shifted = [&b"\0\0"[..before], bytes].concat();
        for coded in [
            BASE64_STANDARD_NO_PAD.encode(&shifted),
            BASE64_URL_SAFE_NO_PAD.encode(&shifted),
        ] {
            forms.push(coded.chars().skip(4).take(12).collect());
        }
    }
    forms
}

fn assert_shows_nothing(name: &str, shown: &str) {
    let shown = shown.to_ascii_lowercase();
    for form in CANARIES.iter().flat_map(|canary| forms(canary)) {
        let found = shown.contains(&form.to_ascii_lowercase());
        assert!(!found, "{name} shows {form}: {shown}");
    }
}

/// Does what the report's number says, and repeats all that it was told.
fn echo(asked: &Asked) -> Behaviour {
    let number = asked.text().rsplit(' ').next().unwrap();
    let deed = DEEDS[number.parse::<usize>().unwrap()];
    let said = format!("{ANSWER} {:?} {}", asked.headers, asked.request);
    match deed {
        Deed::Good => moderation("other", 0.95, false),
        Deed::Echo => Behaviour::Answer(said),
        Deed::Category => {
            let value = json!({ "category": said, said.clone(): 1 });
            Behaviour::Answer(value.to_string())
        }
        Deed::Refuse => Behaviour::Refuse(said),
        Deed::Cut => Behaviour::Finish {
            content: said,
            reason: "MAX_TOKENS".to_owned(),
        },
        Deed::HangUp => Behaviour::HangUp,
        Deed::BreakOff => Behaviour::BreakOff,
        Deed::Status(status) => {
            let error = json!({
                "message": said, "type": said, "code": said, "status": said, "param": said,
                "details": [{ "@type": said, "reason": said, "retryDelay": said }],
            });
            let body = json!({ "type": "error", "error": error, "request_id": said });
            let said_shortly = format!("{ANSWER} {REPORT} {}", key(0));
            Behaviour::Respond {
                status,
                headers: vec![
                    ("x-echo", said_shortly.clone()),
                    ("location", "http://127.0.0.1:9/elsewhere".to_owned()),
                    ("retry-after", said_shortly),
                ],
                body: body.to_string().into_bytes(),
            }
        }
    }
}

/// A source, a pipeline and an extractor with a key of its own for each form.
fn place(base_url: &str) -> Place {
    let mut place = Place::new();
    let folder = place.folder.path().to_owned();
    let schema = super::project_folder().join("backend/schemas/moderation-v3.json");
    std::fs::copy(schema, folder.join("schema.json")).unwrap();
    std::fs::write(folder.join("prompt.md"), format!("Classify. {PROMPT}")).unwrap();
    let mut text = String::new();
    for (number, form) in FORMS.iter().enumerate() {
        text += &format!(
            r#"
[source.s{number}]
verify = "github"
secrets = ["github_secret"]
sender = "trusted"
pipeline = "p{number}"

[source.s{number}.identity]
tenant = {{ value = "acme" }}
namespace = "reports-{number}"
report_id = "/id"
version = {{ revision = "/revision" }}

[source.s{number}.input]
text = "/text"

[pipeline.p{number}]
kind = "classification"
schema = "schema.json"
schema_version = "v3"
prompt = "prompt.md"
classifier_version = "c{number}"
extractor = "e{number}"
review_when = [{{ pointer = "/category", is = "self_harm" }}]

[extractor.e{number}]
{form}
model = "small"
base_url = "{base_url}"
api_key_env = "KEY_{number}"
"#
        );
        place = place.with(&format!("KEY_{number}"), &key(number));
    }
    let config = folder.join("fencepost.toml");
    std::fs::write(&config, text).unwrap();
    place.with("FENCEPOST_CONFIG", config.to_str().unwrap())
}

fn delivered(form: usize, number: usize) -> Envelope {
    let mut envelope = envelope(&format!("{REPORT} \u{e4}\"\n{number}\u{1b}[31m {number}"));
    envelope.source = format!("s{form}");
    envelope.identity.namespace = Namespace::new(format!("reports-{form}")).unwrap();
    envelope.identity.report_id = ReportId::new(format!("r-{form}-{number}")).unwrap();
    envelope
}

/// The attempts of a report, once the first has ended, without what is kept of answers.
async fn attempted(server: &Server, client: &reqwest::Client, key: &str) -> Value {
    let begun = Instant::now();
    loop {
        let path = format!("/v1/reports/{key}/attempts");
        let (_, mut told) = server.ask(client, &path).await;
        let attempts = told["attempts"].as_array_mut().unwrap();
        for attempt in &mut *attempts {
            attempt.as_object_mut().unwrap().remove("raw");
        }
        if attempts
            .first()
            .is_some_and(|first| !first["outcome"].is_null())
        {
            return told;
        }
        assert!(begun.elapsed() < DEADLINE, "{told}");
    }
}

/// Delivers a report for each deed to one form, one after the other.
async fn asked_all(server: &Server, form: usize) -> String {
    let client = client();
    let mut shown = String::new();
    for number in 0..DEEDS.len() {
        let delivered = delivered(form, number);
        let (status, answer) = server.deliver(&client, &delivered).await;
        assert_eq!(status, 202, "{answer}");
        let key = delivered.identity.report_key().to_string();
        let attempts = attempted(server, &client, &key).await;
        let (_, report) = server.ask(&client, &format!("/v1/reports/{key}")).await;
        shown += &format!("{answer}\n{attempts}\n{report}\n");
    }
    shown
}

#[tokio::test]
async fn a_whole_run_shows_neither_keys_nor_texts() {
    let model = ModelServer::start(echo);
    let place = place(&model.base_url());
    for arguments in [
        &["check"][..],
        &["check", "--online"],
        &["check", "--json", "--online"],
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_shows_nothing("check", &format!("{}\n{}", ran.stdout, ran.stderr));
    }
    let server = Server::start(&place, &["--role", "all"]);
    let forms = (0..FORMS.len()).map(|form| asked_all(&server, form));
    let answers = futures::future::join_all(forms).await;
    for path in ["/v1/stats", "/v1/reports?limit=100", "/v1/reviews"] {
        let (status, told) = server.ask(&client(), path).await;
        assert_eq!(status, 200, "{told}");
        assert_shows_nothing(path, &told.to_string());
    }
    let (_, stats) = server.ask(&client(), "/v1/stats").await;
    assert_eq!(
        stats["pauses"].as_array().unwrap().len(),
        FORMS.len(),
        "{stats}"
    );
    for told in &answers {
        assert_shows_nothing("the listener", told);
    }
    let ran = server.stop();
    assert_eq!(ran.code, Some(0));
    assert!(ran.stderr.matches("The provider did not answer").count() > 50);
    // As talkative as that: what the libraries say is among it.
    assert!(ran.stderr.contains("\"target\":\"sqlx"), "{}", ran.stderr);
    assert_shows_nothing("the log", &ran.stderr);
    assert_shows_nothing("the output", &ran.stdout);
}

#[test]
fn what_is_wrong_with_a_configuration_is_told_without_what_is_secret_in_it() {
    let edited = |from: &str, to: &str| {
        let place = place("http://127.0.0.1:9/v1");
        let file = place.folder.path().join("fencepost.toml");
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{from}");
        std::fs::write(file, text.replace(from, to)).unwrap();
        place
    };
    let with_key = format!("http://u:{}@127.0.0.1:9/v1", key(0));
    let with_query = format!("http://127.0.0.1:9/v1?key={}", key(0));
    let usual = || place("http://127.0.0.1:9/v1");
    let pasted = format!("model = \"small\"\napi_key = \"{}\"", key(0));
    for (place, told) in [
        (
            usual().with("KEY_0", &format!("{}\nx: y", key(0))),
            "KEY_0 holds a control character",
        ),
        (usual().with("KEY_0", CANARIES[0]), "KEY_0 has 13 bytes"),
        (usual().with("KEY_0_FILE", "/dev/null"), "both set"),
        (usual().without("KEY_0"), "is not set"),
        (place(&with_key), "no user or password"),
        (place(&with_query), "ends with its path"),
        (
            edited("\"KEY_0\"", &format!("\"{}\"", key(0))),
            "never the key itself",
        ),
        (edited("model = \"small\"", &pasted), "api_key"),
        (edited("\"schema.json\"", "\"prompt.md\""), "prompt.md"),
    ] {
        for arguments in [&["check"][..], &["check", "--json"], &["serve"]] {
            let ran = place.run(arguments);
            assert_eq!(ran.code, Some(2), "{ran:?}");
            let shown = format!("{}\n{}", ran.stdout, ran.stderr);
            assert!(shown.contains(told), "{told}: {shown}");
            assert_shows_nothing("a refusal", &shown);
        }
    }
}

#[test]
fn the_configuration_as_a_whole_can_be_printed() {
    let place = place("http://127.0.0.1:9/v1");
    let lookup = |name: &str| {
        let mut variables = place.variables.iter();
        let found = variables.find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    };
    let config = Config::from_lookup(&lookup, Role::All).unwrap();
    let shown = format!("{config:?}\n{config:#?}");
    assert!(
        shown.contains("KEY_0") && shown.contains("Secret(redacted)"),
        "{shown}"
    );
    // The prompt is no secret of the configuration: it stands in a file of its own.
    assert_shows_nothing("Debug", &shown.replace(PROMPT, ""));
    let missing = |name: &str| lookup(name).filter(|_| name != "KEY_3");
    let errors = Config::from_lookup(&missing, Role::All).unwrap_err();
    assert!(errors.to_string().contains("KEY_3"), "{errors}");
    assert_shows_nothing("errors", &format!("{errors} {errors:?}"));
}
