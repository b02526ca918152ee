//! What a database has bound, and who is told when it stands for something else now.

use reqwest::Client;
use serde_json::{Value, json};

use super::{
    Place,
    served::{Server, TEXT, client, envelope},
};

/// The same place with a configuration of the same names and another prompt.
pub(super) fn with_another_prompt(place: Place) -> Place {
    let folder = place.folder.path();
    let from = super::project_folder();
    let text = std::fs::read_to_string(from.join("fencepost.toml")).unwrap();
    let text = text.replace("backend/prompts/moderation-7.md", "prompt.md");
    let text = text.replace("backend/", &format!("{}/backend/", from.display()));
    std::fs::write(folder.join("fencepost.toml"), text).unwrap();
    std::fs::write(folder.join("prompt.md"), "Judge otherwise.\n").unwrap();
    let config = folder.join("fencepost.toml").to_str().unwrap().to_owned();
    place.with("FENCEPOST_CONFIG", &config)
}

/// What its `readyz` warns of.
async fn warnings(server: &Server, client: &Client) -> Vec<Value> {
    let (status, readiness) = server.ask(client, "/readyz").await;
    assert_eq!(status, 200);
    readiness["warnings"].as_array().unwrap().clone()
}

fn is_of_moderation_7(told: &Value) -> bool {
    let told = told.as_str().unwrap();
    let written = "under [pipeline.moderation]: classifier_version = \"moderation-8\"";
    told.contains("`moderation-7`") && told.contains("fencepost.toml: ") && told.ends_with(written)
}

#[tokio::test]
async fn a_version_that_stands_for_something_else_is_told_and_reports_come_in() {
    let place = Place::new();
    let client = client();
    assert_eq!(Server::start(&place, &[]).stop().code, Some(0));
    let place = with_another_prompt(place);

    for role in ["all", "api"] {
        let server = Server::start(&place, &["--role", role]);
        let warnings = warnings(&server, &client).await;
        assert!(
            warnings.len() == 1 && is_of_moderation_7(&warnings[0]),
            "{warnings:?}"
        );
        let (status, _) = server.deliver(&client, &envelope(TEXT)).await;
        assert_eq!(status, if role == "all" { 202 } else { 200 });
        assert_eq!(server.stop().code, Some(0));
    }
    let worker = Server::start(&place, &["--role", "worker"]);
    assert_eq!(worker.ask(&client, "/readyz").await.0, 503);
    let ran = worker.stop();
    assert_eq!(ran.code, Some(0));
    let logged = r#"under [pipeline.moderation]: classifier_version = \"moderation-8\""#;
    let config = place.folder.path().join("fencepost.toml");
    let mut lines = ran.stderr.lines();
    let config = config.to_str().unwrap();
    assert!(
        lines.any(|line| line.contains(logged) && line.contains(config)),
        "{ran:?}"
    );
}

/// How much an extractor is asked is no part of what a version stands for.
#[tokio::test]
async fn limits_of_an_extractor_are_bound_to_nothing() {
    let place = Place::new();
    let client = client();
    assert_eq!(Server::start(&place, &[]).stop().code, Some(0));
    let from = super::project_folder();
    let text = std::fs::read_to_string(from.join("fencepost.toml")).unwrap();
    let text = text.replace("backend/", &format!("{}/backend/", from.display()));
    let limits = "[extractor.baseline.limits]\nconcurrency = 1\nrequests_per_minute = 60\n";
    let config = place.folder.path().join("fencepost.toml");
    std::fs::write(&config, format!("{text}\n{limits}")).unwrap();
    let place = place.with("FENCEPOST_CONFIG", config.to_str().unwrap());
    let answer = place.run(&["check", "--json"]).json();
    assert_eq!(answer["conflicts"], json!([]));
    let server = Server::start(&place, &[]);
    assert_eq!(warnings(&server, &client).await, [] as [Value; 0]);
    let (_, taken) = server.deliver(&client, &envelope(TEXT)).await;
    let key = taken["report_key"].as_str().unwrap();
    server.settled(&client, key).await;
    assert_eq!(server.stop().code, Some(0));
}

#[tokio::test]
async fn who_only_takes_reports_in_binds_no_version_and_learns_of_it_from_others() {
    let place = Place::new();
    let client = client();
    let api = Server::start(&place, &["--role", "api"]);
    assert_eq!(warnings(&api, &client).await, [] as [Value; 0]);
    let place = with_another_prompt(place);
    let worker = Server::start(&place, &["--role", "worker"]);
    assert_eq!(warnings(&worker, &client).await, [] as [Value; 0]);
    let warnings = warnings(&api, &client).await;
    assert!(
        warnings.len() == 1 && is_of_moderation_7(&warnings[0]),
        "{warnings:?}"
    );
    assert_eq!(worker.stop().code, Some(0));
    assert_eq!(api.stop().code, Some(0));
}

#[tokio::test]
async fn check_says_what_the_database_has_bound_to_something_else() {
    let place = Place::new();
    let server = Server::start(&place, &[]);
    let client = client();
    assert_eq!(server.deliver(&client, &envelope(TEXT)).await.0, 202);
    assert_eq!(server.stop().code, Some(0));
    let files = |place: &Place| {
        let files = std::fs::read_dir(place.folder.path()).unwrap();
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.sort_unstable();
        let contents: Vec<_> = files
            .iter()
            .map(|file| std::fs::read(file).unwrap())
            .collect();
        (files, contents)
    };

    let place = with_another_prompt(place);
    let before = files(&place);
    let ran = place.run(&["check", "--json"]);
    let answer = ran.document();
    assert_eq!(
        (ran.code, &answer["ok"]),
        (Some(1), &json!(false)),
        "{ran:?}"
    );
    assert_eq!(answer["errors"], json!([]));
    let conflicts = answer["conflicts"].as_array().unwrap();
    assert_eq!(conflicts.len(), 2, "{conflicts:?}");
    assert!(is_of_moderation_7(&conflicts[0]), "{conflicts:?}");
    // The test's envelope was not made with the mapping of the file.
    let remedy = "`fencepost source rebind reports`";
    assert!(
        conflicts[1].as_str().unwrap().contains(remedy),
        "{conflicts:?}"
    );
    let ran = place.run(&["check"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    for conflict in conflicts {
        assert!(ran.stderr.contains(conflict.as_str().unwrap()), "{ran:?}");
    }
    assert!(!ran.stdout.contains("fine"), "{ran:?}");
    assert!(files(&place) == before, "check writes nothing");

    // Both remedies.
    let config = place.folder.path().join("fencepost.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(
        &config,
        text.replace("\"moderation-7\"", "\"moderation-8\""),
    )
    .unwrap();
    assert_eq!(place.run(&["source", "rebind", "reports"]).code, Some(0));
    let answer = place.run(&["check", "--json"]).json();
    assert_eq!(
        (&answer["ok"], &answer["conflicts"]),
        (&json!(true), &json!([]))
    );
    // A wrong configuration goes first, and the conflicts are told all the same.
    std::fs::write(&config, text).unwrap();
    let place = place.without("FENCEPOST_ADMIN_TOKEN");
    let ran = place.run(&["check"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    for told in ["FENCEPOST_ADMIN_TOKEN", "`moderation-7`"] {
        assert!(ran.stderr.contains(told), "{ran:?}");
    }
}
