//! `erase`, and what became of what was erased.

use fencepost_identity::identity::{ReportId, Tenant};
use serde_json::{Value, json};

use super::{
    Place,
    served::{Server, TEXT, client, envelope},
};

/// A place with one report that was judged, and no server any more; and the report's key.
pub(super) async fn judged() -> (Place, String) {
    let place = Place::new();
    let server = Server::start(&place, &[]);
    let client = client();
    let key = envelope(TEXT).identity.report_key().to_string();
    assert_eq!(server.deliver(&client, &envelope(TEXT)).await.0, 202);
    server.settled(&client, &key).await;
    assert_eq!(server.stop().code, Some(0));
    (place, key)
}

/// Whether any of the database's files holds a text.
fn holds(place: &Place, text: &str) -> bool {
    let files = std::fs::read_dir(place.folder.path()).unwrap();
    let databases = files
        .map(|file| file.unwrap().path())
        .filter(|file| file.to_str().unwrap().contains("fencepost.db"));
    let mut holds = databases.map(|file| {
        let bytes = std::fs::read(file).unwrap();
        bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    });
    holds.any(|holds| holds)
}

#[tokio::test]
async fn what_was_erased_is_not_in_the_files_any_more() {
    let (place, key) = judged().await;
    assert!(holds(&place, "text-canary") && holds(&place, "example.test"));
    let erased = place.run(&["erase", &key, "--json"]).json();
    assert_eq!(
        erased,
        json!({"erased": [key], "already": [], "unknown": []})
    );
    for text in ["text-canary", "acme", "example.test"] {
        assert!(!holds(&place, text), "{text}");
    }
    let again = place.run(&["erase", &key]);
    assert_eq!(again.code, Some(0));
    assert_eq!(again.stdout, format!("{key}: was erased before\n"));
    let shown = place.run(&["show", &key, "--json"]).json();
    assert_eq!(shown["report"]["identity"], Value::Null);
    assert_eq!(shown["report"]["outcome"], "erased");
    let shown = place.run(&["show", &key]);
    assert!(
        shown.code == Some(0) && shown.stdout.contains("terminal: erased"),
        "{shown:?}"
    );
    let listed = place.run(&["list"]);
    assert!(
        listed.code == Some(0) && listed.stdout.contains(&key),
        "{listed:?}"
    );
    let replayed = place.run(&["replay", &key]);
    assert_eq!(replayed.code, Some(1));
    assert!(replayed.stderr.contains("was erased"), "{replayed:?}");
    // A redelivery is a duplicate still.
    let server = Server::start(&place, &[]);
    let (status, answer) = server.deliver(&client(), &envelope(TEXT)).await;
    assert_eq!((status, &answer["state"]), (200, &json!("terminal")));
    assert_eq!(answer["conflict"], Value::Null);
    assert_eq!(server.stop().code, Some(0));
}

#[tokio::test]
async fn a_tenant_is_erased_and_no_other() {
    let place = Place::new();
    let server = Server::start(&place, &["--role", "api"]);
    let client = client();
    for (tenant, id) in [("acme", "r-1"), ("acme", "r-2"), ("other", "r-3")] {
        let mut delivered = envelope(TEXT);
        delivered.identity.tenant = Tenant::new(tenant).unwrap();
        delivered.identity.report_id = ReportId::new(id).unwrap();
        assert_eq!(server.deliver(&client, &delivered).await.0, 202);
    }
    assert_eq!(server.stop().code, Some(0));
    let erased = place.run(&["erase", "--tenant", "acme", "--json"]).json();
    assert_eq!(erased["erased"].as_array().unwrap().len(), 2);
    let left = place.run(&["list", "--json"]).json();
    let tenants: Vec<_> = left["reports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|report| report["identity"]["tenant"].as_str())
        .collect();
    assert_eq!(tenants, [Some("other"), None, None]);
    let nothing = place.run(&["erase", "--tenant", "acme"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (Some(1), ""));
    assert!(nothing.stderr.contains("no report of this tenant"));
}

#[test]
fn what_is_not_there_is_neither_erased_nor_replayed() {
    let place = Place::new();
    assert_eq!(place.run(&["migrate"]).code, Some(0));
    let key = "0".repeat(64);
    for command in ["erase", "replay"] {
        let ran = place.run(&[command, &key]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{command}");
        assert!(ran.stderr.contains("no report has the key"), "{ran:?}");
        assert_eq!(place.run(&[command]).code, Some(2));
    }
    let both = place.run(&["erase", &key, "--tenant", "acme"]);
    assert_eq!(both.code, Some(2));
}
