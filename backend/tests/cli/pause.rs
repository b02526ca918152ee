//! A person pauses and resumes, and everybody can see it.

use serde_json::json;

use super::{
    Place,
    served::{Server, client},
};

const PIPELINE: [&str; 2] = ["--pipeline", "moderation"];

#[tokio::test]
async fn a_pipeline_is_paused_and_resumed_by_its_name() {
    let place = Place::new();
    assert_eq!(place.run(&["migrate"]).code, Some(0));
    let act = |verb: &str| place.run(&[&[verb], &PIPELINE[..], &["--json"]].concat());
    assert_eq!(act("resume").code, Some(1));
    assert_eq!(
        act("pause").json(),
        json!({ "subject": { "pipeline": "moderation" }, "changed": true, "before": null })
    );
    assert_eq!(act("pause").json()["changed"], false);

    let server = Server::start(&place, &["--role", "api"]);
    let (_, stats) = server.ask(&client(), "/v1/stats").await;
    assert_eq!(stats["paused"], "1");
    let pause = &stats["pauses"][0];
    assert_eq!(pause["subject"], json!({ "pipeline": "moderation" }));
    assert_eq!(pause["reason"], "operator");
    assert_eq!(pause["next_probe_at"], json!(null));
    let since = pause["paused_at"].as_str().unwrap().to_owned();
    assert_eq!(server.stop().code, Some(0));

    let resumed = place.run(&[&["resume"], &PIPELINE[..]].concat());
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert!(resumed.stdout.contains(&since), "{resumed:?}");
}

#[test]
fn what_is_not_in_the_configuration_is_not_paused() {
    let place = Place::new();
    assert_eq!(place.run(&["migrate"]).code, Some(0));
    let credential = ["pause", "--credential", "extractor baseline"];
    assert_eq!(place.run(&credential).code, Some(0));
    for arguments in [
        &["pause", "--pipeline", "moderatoin"][..],
        &["pause", "--credential", "OPENAI_API_KEY"],
    ] {
        let refused = place.run(arguments);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(
            refused.stderr.contains("pipeline moderation"),
            "{refused:?}"
        );
    }
    for arguments in [
        &["pause"][..],
        &["resume"],
        &["pause", "--pipeline", "a", "--credential", "b"],
    ] {
        assert_eq!(place.run(arguments).code, Some(2), "{arguments:?}");
    }
}
