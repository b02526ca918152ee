//! The program with a model at Vertex AI: which token it shows, and where it has that from.

use fencepost_model::Behaviour;
use serde_json::{Value, json};

use super::{
    Place,
    credentials::{Giver, closed, first_attempt, good, header, model, told, unasked},
    model::{KEY, asking_as, attempts},
};

fn asking(base_url: &str) -> Place {
    asking_as(&format!(
        "kind = \"gemini\"\napi = \"vertex\"\nmodel = \"small\"\nproject = \"my-project\"\n\
         location = \"europe-west4\"\nbase_url = \"{base_url}\""
    ))
}

/// A person's credentials, whose tokens come from there.
fn of_a_person(place: Place, token_url: &str) -> Place {
    let file = place.folder.path().join("credentials.json");
    let credentials = json!({
        "type": "authorized_user", "client_id": "id", "client_secret": format!("{KEY}/secret"),
        "refresh_token": format!("{KEY}/refresh"), "token_uri": token_url,
        "quota_project_id": "whose-quota",
    });
    std::fs::write(&file, credentials.to_string()).unwrap();
    place.with("GOOGLE_APPLICATION_CREDENTIALS", file.to_str().unwrap())
}

/// `KEY` is what is looked for in all that the program shows.
fn token(name: &str) -> String {
    format!("{KEY}/token-{name}")
}

fn given(name: &str) -> (u16, Value) {
    let token = json!({
        "access_token": token(name), "expires_in": 3600, "token_type": "Bearer",
    });
    (200, token)
}

fn unauthorized() -> Behaviour {
    Behaviour::google_error(401, "UNAUTHENTICATED", "told by the script", &[])
}

#[tokio::test]
async fn the_question_is_sent_with_a_token_and_the_report_as_data() {
    let (model, heard) = model(vec![good()]);
    let giver = Giver::start([given("first")]).await;
    let place = of_a_person(asking(&model.base_url()), &giver.url);
    let (report, attempts) = attempts(&place).await;
    assert_eq!(report["outcome"], "committed", "{report}");
    let call = &attempts[0]["call"];
    assert_eq!(
        (&call["provider"], &call["model"], &call["request_id"]),
        (&json!("vertex"), &json!("small"), &json!("response-1"))
    );
    let asked = heard.lock().unwrap().pop().unwrap();
    let shown = format!("Bearer {}", token("first"));
    assert_eq!(header(&asked, "authorization"), shown);
    assert_eq!(header(&asked, "x-goog-user-project"), "whose-quota");
    assert_eq!(asked.headers.get("x-goog-api-key"), None);
    assert_eq!(header(&asked, "idempotency-key"), asked.call_key);
    assert!(asked.text().contains("text-canary"), "{asked:?}");
    let members: Vec<_> = asked.request.as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        ["systemInstruction", "contents", "generationConfig"]
    );
    assert_eq!(giver.asked().len(), 1);
}

#[tokio::test]
async fn a_token_that_is_not_accepted_is_fetched_anew_once() {
    let (model, heard) = model(vec![unauthorized(), good()]);
    let giver = Giver::start([given("first"), given("second")]).await;
    let place = of_a_person(asking(&model.base_url()), &giver.url);
    let (report, attempts) = attempts(&place).await;
    assert_eq!(report["outcome"], "committed", "{report}");
    assert_eq!(attempts.len(), 1, "{attempts:?}");
    let heard = heard.lock().unwrap();
    let shown: Vec<_> = heard
        .iter()
        .map(|asked| header(asked, "authorization").to_owned())
        .collect();
    assert_eq!(
        shown,
        ["first", "second"].map(|name| format!("Bearer {}", token(name)))
    );
}

#[tokio::test]
async fn a_credential_that_gets_no_token_is_paused() {
    let (model, _) = model(vec![good()]);
    let refused = json!({ "error": "invalid_grant", "error_description": KEY });
    let giver = Giver::start([(400, refused)]).await;
    let of_a_person = of_a_person(asking(&model.base_url()), &giver.url);
    let nowhere = asking(&model.base_url()).with("GOOGLE_APPLICATION_CREDENTIALS", "nowhere.json");
    for place in [of_a_person, nowhere] {
        let (attempt, pauses) = unasked(&place).await;
        assert_eq!(told(&attempt).0, "auth", "{attempt}");
        let subject = json!({ "credential": "extractor gpt" });
        assert_eq!(pauses[0]["subject"], subject, "{pauses}");
    }
    assert_eq!(model.calls(), []);
}

#[tokio::test]
async fn where_tokens_can_not_be_asked_for_the_attempt_does_not_count() {
    let (model, _) = model(vec![good()]);
    let (_kept, url) = closed();
    let busy = Giver::start([(503, json!({ "error": KEY }))]).await;
    for url in [&url, &busy.url] {
        let place = of_a_person(asking(&model.base_url()), url);
        let (attempt, pauses) = unasked(&place).await;
        assert_eq!(told(&attempt), ("transport", false), "{attempt}");
        assert_eq!(pauses, json!([]));
    }
    assert_eq!(model.calls(), []);
}

#[tokio::test]
async fn a_machine_of_googles_gives_tokens_without_a_file() {
    let (model, heard) = model(vec![good()]);
    let giver = Giver::start([given("of-the-machine")]).await;
    let host = giver.url.trim_start_matches("http://");
    let host = host.split('/').next().unwrap();
    let place = asking(&model.base_url()).with("GCE_METADATA_HOST", host);
    let (report, _) = attempts(&place).await;
    assert_eq!(report["outcome"], "committed", "{report}");
    let asked = heard.lock().unwrap().pop().unwrap();
    let shown = format!("Bearer {}", token("of-the-machine"));
    assert_eq!(header(&asked, "authorization"), shown);
    let asked = giver.asked();
    assert!(asked[0].contains("metadata-flavor: google"), "{asked:?}");
}

#[tokio::test]
async fn what_the_provider_says_has_the_same_meaning_as_with_a_key() {
    let refusals = [
        ("UNAUTHENTICATED", 401, "auth"),
        ("PERMISSION_DENIED", 403, "auth"),
        ("INVALID_ARGUMENT", 400, "invalid_request"),
        ("NOT_FOUND", 404, "invalid_request"),
        ("RESOURCE_EXHAUSTED", 429, "rate_limited"),
        ("UNAVAILABLE", 503, "overloaded"),
        ("DEADLINE_EXCEEDED", 504, "transport"),
    ];
    for (name, status, outcome) in refusals {
        let said = Behaviour::google_error(status, name, "told by the script", &[]);
        let (model, heard) = model(vec![said]);
        let giver = Giver::start([given("first")]).await;
        let place = of_a_person(asking(&model.base_url()), &giver.url);
        let attempt = first_attempt(&place).await.0;
        assert_eq!(told(&attempt).0, outcome, "{name} {attempt}");
        // A token that was not accepted is shown once more, and only then it is wrong.
        let times = if status == 401 { 2 } else { 1 };
        assert_eq!(heard.lock().unwrap().len(), times, "{name}");
    }
}

#[test]
fn check_says_what_it_can_not_know_of_credentials() {
    let told = "extractor `gpt`: whether Google has credentials for it";
    let place = asking("http://127.0.0.1:9/v1");
    let unchecked = place.run(&["check", "--json"]).json()["unchecked"].to_string();
    assert!(unchecked.contains(told), "{unchecked}");
}
