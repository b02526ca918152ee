//! The program with a model at Amazon Bedrock: what it signs with, and where it has that from.

use fencepost_model::{Asked, Behaviour};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{
    Place,
    credentials::{Giver, closed, good, header, model, told, unasked},
    model::{KEY, VARIABLE, asking_as, attempts},
};

const MODEL: &str = "vendor.small-v1:0";
const CONTAINER: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";

fn asking(base_url: &str) -> Place {
    let place = asking_as(&format!(
        "kind = \"bedrock\"\nmodel = \"{MODEL}\"\nregion = \"eu-central-1\"\n\
         base_url = \"{base_url}\""
    ));
    // This machine may be one of Amazon's.
    place.with("AWS_EC2_METADATA_DISABLED", "true")
}

/// What a place needs to sign by itself. `KEY` is what is looked for in all that it shows.
fn signing(place: Place, id: &str) -> Place {
    place
        .with("AWS_ACCESS_KEY_ID", id)
        .with("AWS_SECRET_ACCESS_KEY", &secret(id))
        .with("AWS_SESSION_TOKEN", &token(id))
}

fn secret(id: &str) -> String {
    format!("{KEY}/secret of {id}")
}

fn token(id: &str) -> String {
    format!("{KEY}/token-of-{id}")
}

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    let mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.chain_update(text).finalize().into_bytes().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What `Authorization` has to be, by Signature Version 4 alone.
fn authorization(asked: &Asked, body_sha256: &str, id: &str) -> String {
    let told = header(asked, "authorization");
    let signed = told.split_once("SignedHeaders=").unwrap().1;
    let signed = signed.split_once(',').unwrap().0;
    let headers: String = signed
        .split(';')
        .map(|name| format!("{name}:{}\n", header(asked, name).trim()))
        .collect();
    // The path is encoded once to be sent, and once more to be signed.
    let path = format!("/v1/model/{}/converse", MODEL.replace(':', "%253A"));
    let request = format!("POST\n{path}\n\n{headers}\n{signed}\n{body_sha256}");
    let time = header(asked, "x-amz-date");
    let date = time.split('T').next().unwrap();
    let scope = format!("{date}/eu-central-1/bedrock/aws4_request");
    let digest = hex(&Sha256::digest(request));
    let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{digest}");
    let key = format!("AWS4{}", secret(id));
    let parts = [date, "eu-central-1", "bedrock", "aws4_request", &text];
    let signature = parts
        .iter()
        .fold(key.into_bytes(), |key, part| hmac(&key, part));
    format!(
        "AWS4-HMAC-SHA256 Credential={id}/{scope}, SignedHeaders={signed}, Signature={}",
        hex(&signature)
    )
}

#[tokio::test]
async fn what_is_sent_is_what_was_signed() {
    let (model, heard) = model(vec![good()]);
    let place = signing(asking(&model.base_url()), "AKIDFIRST");
    let (report, attempts) = attempts(&place).await;
    assert_eq!(report["outcome"], "committed", "{report}");
    let call = &attempts[0]["call"];
    assert_eq!(
        (&call["provider"], &call["model"], &call["request_id"]),
        (&json!("bedrock"), &json!(MODEL), &json!("req_1"))
    );
    let asked = heard.lock().unwrap().pop().unwrap();
    let body_sha256 = &model.calls()[0].body_sha256;
    let expected = authorization(&asked, body_sha256, "AKIDFIRST");
    assert_eq!(header(&asked, "authorization"), expected);
    let signed = expected.split_once("SignedHeaders=").unwrap().1;
    for name in ["host", "x-amz-date", "x-amz-security-token"] {
        assert!(signed.contains(name), "{name}: {expected}");
    }
    assert_eq!(header(&asked, "x-amz-security-token"), token("AKIDFIRST"));
}

#[tokio::test]
async fn a_key_of_its_own_comes_before_all_other_credentials() {
    let (model, heard) = model(vec![good()]);
    let table = format!(
        "kind = \"bedrock\"\nmodel = \"{MODEL}\"\nregion = \"eu-central-1\"\nbase_url = \"{}\"\n\
         api_key_env = \"{VARIABLE}\"",
        model.base_url()
    );
    let place = signing(asking_as(&table).with(VARIABLE, KEY), "AKIDFIRST");
    let (report, _) = attempts(&place).await;
    assert_eq!(report["outcome"], "committed", "{report}");
    let asked = heard.lock().unwrap().pop().unwrap();
    assert_eq!(header(&asked, "authorization"), format!("Bearer {KEY}"));
}

/// Credentials as a container's machine gives them.
fn given(id: &str) -> (u16, Value) {
    let credentials = json!({
        "AccessKeyId": id, "SecretAccessKey": secret(id), "Token": token(id),
        "Expiration": "2999-01-01T00:00:00Z",
    });
    (200, credentials)
}

#[tokio::test]
async fn credentials_that_have_run_out_are_fetched_anew_once() {
    let expired = || Behaviour::amazon_error(403, "ExpiredTokenException", "expired");
    let (model, heard) = model(vec![expired(), good()]);
    let giver = Giver::start([given("AKIDFIRST"), given("AKIDSECOND")]).await;
    let place = asking(&model.base_url()).with(CONTAINER, &giver.url);
    let (report, attempts) = attempts(&place).await;
    assert_eq!(report["outcome"], "committed", "{report}");
    assert_eq!(attempts.len(), 1, "{attempts:?}");
    let calls = model.calls();
    assert_eq!(calls[0].body_sha256, calls[1].body_sha256);
    let heard = heard.lock().unwrap();
    for (asked, id) in heard.iter().zip(["AKIDFIRST", "AKIDSECOND"]) {
        let expected = authorization(asked, &calls[0].body_sha256, id);
        assert_eq!(header(asked, "authorization"), expected);
    }
    assert_eq!((heard.len(), giver.asked().len()), (2, 2));
}

#[tokio::test]
async fn without_credentials_the_extractor_is_paused() {
    let (model, _) = model(vec![good()]);
    let refusing = Giver::start([(403, json!({ "code": "no", "message": "no" }))]).await;
    for credentials in ["", &refusing.url] {
        let place = asking(&model.base_url()).with(CONTAINER, credentials);
        let (attempt, pauses) = unasked(&place).await;
        assert_eq!(told(&attempt).0, "auth", "{attempt}");
        let subject = json!({ "credential": "extractor gpt" });
        assert_eq!(pauses[0]["subject"], subject, "{pauses}");
    }
    assert_eq!(model.calls(), []);
}

#[tokio::test]
async fn where_credentials_can_not_be_asked_for_the_attempt_does_not_count() {
    let (model, _) = model(vec![good()]);
    let (_kept, url) = closed();
    let place = asking(&model.base_url()).with(CONTAINER, &url);
    let (attempt, pauses) = unasked(&place).await;
    assert_eq!(told(&attempt), ("transport", false), "{attempt}");
    assert_eq!(pauses, json!([]));
    assert_eq!(model.calls(), []);
}

#[test]
fn check_says_what_it_can_not_know_of_credentials() {
    let place = asking("http://127.0.0.1:9/v1");
    let told = "extractor `gpt`: whether AWS has credentials for it";
    let unchecked = place.run(&["check", "--json"]).json()["unchecked"].to_string();
    assert!(unchecked.contains(told), "{unchecked}");
    let table = format!(
        "kind = \"bedrock\"\nmodel = \"m\"\nregion = \"eu-central-1\"\napi_key_env = \"{VARIABLE}\""
    );
    let ran = asking_as(&table).run(&["check"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.stderr
            .contains("MODEL_KEY (or MODEL_KEY_FILE) is not set"),
        "{ran:?}"
    );
    let unchecked = asking_as(&table)
        .with(VARIABLE, KEY)
        .run(&["check", "--json"])
        .json();
    let unchecked = unchecked["unchecked"].to_string();
    assert!(!unchecked.contains("credentials"), "{unchecked}");
    let home = "https://bedrock-runtime.eu-central-1.amazonaws.com: whether it can be reached";
    assert!(unchecked.contains(home), "{unchecked}");
}
