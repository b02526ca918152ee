//! Commands that need nothing to be running.

use fencepost_identity::{
    config::Verify,
    signature::{Presented, Request, SigningKey, Verdict, derive_secret},
};
use serde_json::{Value, json};

use super::{GITHUB_SECRET, Place, project_folder};

fn vectors(file: &str) -> Vec<Value> {
    let path = project_folder().join("identity/tests/vectors").join(file);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn the_keys_of_every_vector_are_derived_from_its_identity() {
    let place = Place::new();
    let vectors = vectors("keys.json");
    assert!(vectors.len() >= 19);
    for vector in vectors {
        let text = |name: &str| vector[name].as_str().unwrap().to_owned();
        let mut arguments = vec![
            "key".to_owned(),
            "--identity=-".to_owned(),
            format!("--classifier-version={}", text("classifier_version")),
            format!("--call={}", vector["call"]),
            format!("--schema-version={}", text("schema_version")),
        ];
        for field in vector["fingerprint"].as_array().unwrap() {
            arguments.push(format!("--fingerprint={}", field.as_str().unwrap()));
        }
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let keys = place
            .run_with(&arguments, &vector["identity"].to_string())
            .json();
        let names = [
            "identity",
            "report_key",
            "claim_key",
            "call_key",
            "result_key",
            "finding_key",
        ];
        for name in names {
            assert_eq!(keys[name], vector[name], "{}: {name}", vector["name"]);
        }
    }
}

#[test]
fn without_versions_only_the_report_key_is_printed() {
    let identity = r#"{"tenant":"a","namespace":"n","report_id":"1","version":"event"}"#;
    let keys = Place::new()
        .run_with(&["key", "--identity", "-"], identity)
        .json();
    let names: Vec<_> = keys.as_object().unwrap().keys().collect();
    assert_eq!(names, ["identity", "report_key"]);
}

#[test]
fn an_identity_or_a_payload_that_is_refused_is_a_no_with_its_code() {
    let place = Place::new();
    let identity = |text: &str| place.run_with(&["key", "--identity", "-"], text);
    let payload = |text: &str| {
        place.run_with(
            &["key", "--source", "reports", "--tenant", "acme", "-"],
            text,
        )
    };
    for (ran, code) in [
        (identity("{"), "invalid_json"),
        (
            identity(r#"{"tenant":"a","tenant":"a"}"#),
            "duplicate_member",
        ),
        (
            identity(r#"{"tenant":"a","namespace":"n","report_id":""}"#),
            "empty_field",
        ),
        (identity(r#"{"tenant":"a","x":1}"#), "malformed_identity"),
        (payload("[1,"), "invalid_json"),
        (payload(r#"{"id":1.5,"revision":1}"#), "not_an_identifier"),
        (payload(r#"{"id":"1","revision":"01"}"#), "not_a_revision"),
        (
            payload(r#"{"id":"1","revision":9223372036854775808}"#),
            "number_out_of_range",
        ),
        (payload(r#"{"id":"1"}"#), "missing_field"),
    ] {
        assert_eq!(
            (ran.code, &ran.document()["error"]["code"]),
            (Some(1), &json!(code))
        );
        assert!(ran.document()["error"]["message"].is_string());
    }
    let tenant = place.run_with(
        &["key", "--source", "reports", "-"],
        r#"{"id":1,"revision":1}"#,
    );
    assert_eq!(tenant.document()["error"]["code"], "missing_field");
}

#[test]
fn a_payload_s_key_is_that_of_its_identity() {
    let place = Place::new();
    let file = project_folder().join("samples/github/issue_comment.created.json");
    let file = file.to_str().unwrap();
    let first = place
        .run(&["key", "--source", "github-comments", file])
        .json();
    let again = place.run_with(&["key", "--identity", "-"], &first["identity"].to_string());
    assert_eq!(again.json(), first);
    let tenant = "100% a/b";
    let arguments = ["key", "--source", "reports", "--tenant", tenant, "-"];
    let routed = place
        .run_with(&arguments, r#"{"id":1,"revision":"7"}"#)
        .json();
    assert_eq!(routed["identity"]["tenant"], tenant);
    assert_eq!(routed["identity"]["version"], json!({"revision": 7}));
}

#[test]
fn what_sign_prints_is_what_a_source_verifies() {
    let place = Place::new();
    let body = r#"{"action":"created"}"#;
    let signed = place.run_with(&["sign", "--source", "github-comments", "-"], body);
    assert_eq!(signed.code, Some(0));
    let (name, value) = signed.stdout.trim_end().split_once(": ").unwrap();
    let github = Verify::parse("verify = \"github\"").unwrap().scheme;
    let request = Request {
        method: "POST",
        segment: None,
        headers: &[(name, value.as_bytes())],
    };
    let presented = Presented::read(&github, &request).unwrap();
    let keys = [SigningKey::parse(&github, GITHUB_SECRET).unwrap()];
    let verdict = presented.verify(&keys, body.as_bytes(), 0);
    assert!(matches!(verdict, Verdict::Signed(_)), "{verdict:?}");
}

#[test]
fn each_tenant_of_a_route_signs_with_a_secret_of_its_own() {
    let place = Place::new().with("SPIN_VARIABLE_REPORTS_MASTER_SECRET", "master-0123456789");
    let sign = |tenant: &str| {
        let arguments = [
            "sign", "--json", "--source", "reports", "--tenant", tenant, "-",
        ];
        place.run_with(&arguments, "{}").json()
    };
    for headers in [sign("acme"), sign("other")] {
        let names: Vec<_> = headers.as_object().unwrap().keys().collect();
        assert_eq!(
            names,
            ["webhook-id", "webhook-signature", "webhook-timestamp"]
        );
    }
    assert_ne!(sign("acme")["webhook-id"], sign("acme")["webhook-id"]);
    assert_eq!(
        place
            .run_with(&["sign", "--source", "reports", "-"], "{}")
            .code,
        Some(2)
    );
}

#[test]
fn the_secret_that_is_printed_for_a_tenant_is_the_one_that_the_edge_derives() {
    let master = "master-0123456789";
    let place = Place::new().with("SPIN_VARIABLE_REPORTS_MASTER_SECRET", master);
    let several = place.run(&["secret", "--tenant", "acme"]);
    assert_eq!(several.code, Some(2), "{several:?}");
    assert!(several.stderr.contains("--source"), "{several:?}");

    // Where one source alone derives secrets, it need not be named.
    let text = std::fs::read_to_string(project_folder().join("fencepost.toml")).unwrap();
    let absolute = format!("{}/backend/", project_folder().display());
    let text = text.replace("backend/", &absolute).replace(
        "secrets = { derive_from = \"code_changes_master_secret\" }",
        "secrets = [\"changes_{tenant}\"]",
    );
    let config = place.folder.path().join("fencepost.toml");
    std::fs::write(&config, text).unwrap();
    let place = place.with("FENCEPOST_CONFIG", config.to_str().unwrap());
    let ran = place.run(&["secret", "--tenant", "acme"]);
    let standard = Verify::parse("verify = \"standard-webhooks\"")
        .unwrap()
        .scheme;
    let expected = derive_secret(&standard, master, "acme").unwrap();
    assert_eq!(
        (ran.code, ran.stdout.trim_end()),
        (Some(0), expected.as_str()),
        "{ran:?}"
    );
    let named = place.run(&["secret", "--source", "reports", "--tenant", "acme"]);
    assert_eq!(named.stdout, ran.stdout);
    let other = place.run(&["secret", "--source", "github-comments", "--tenant", "acme"]);
    assert_eq!(other.code, Some(2), "its secret is not derived");
    let unset = Place::new().run(&["secret", "--source", "reports", "--tenant", "acme"]);
    assert_eq!(unset.code, Some(2), "there is no master secret");
    assert!(
        unset.stderr.contains("SPIN_VARIABLE_REPORTS_MASTER_SECRET"),
        "{}",
        unset.stderr
    );
}

#[test]
fn what_can_not_be_is_exit_code_2_and_says_why() {
    let place = Place::new();
    for (arguments, why) in [
        (&[][..], "Usage"),
        (&["serve", "--role", "boss"], "possible values"),
        (
            &["key", "--source", "nowhere", "-"],
            "there are: code-changes, github-comments",
        ),
        (
            &["key", "--source", "reports", "/nowhere"],
            "/nowhere: No such file",
        ),
        (
            &["sign", "--source", "reports", "--tenant", "t", "-"],
            "SPIN_VARIABLE_REPORTS_MASTER_S",
        ),
        (
            &["sign", "--source", "github-comments", "--tenant", "t", "-"],
            "no tenant in its route",
        ),
        (&["show", "abc"], "64 lower-case hexadecimal digits"),
        (&["list", "--state", "done"], "one of accepted, running"),
        (&["list"], "there is no file"),
        (
            &[
                "send",
                "--source",
                "github-comments",
                "--url",
                "https://x",
                "-",
            ],
            "http://",
        ),
        (&["check", "--spin", "/nowhere"], "/nowhere: No such file"),
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(why), "{ran:?}");
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn serve_says_all_that_is_wrong_and_starts_nothing() {
    let place = Place::new()
        .with("FENCEPOST_EDGE_SECRET", "short")
        .without("FENCEPOST_ADMIN_TOKEN")
        .with("FENCEPOST_LISTEN", "everywhere");
    let ran = place.run(&["serve"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    for told in [
        "FENCEPOST_EDGE_SECRET has 5 bytes",
        "FENCEPOST_ADMIN_TOKEN",
        "`everywhere`",
    ] {
        assert!(ran.stderr.contains(told), "{ran:?}");
    }
    assert!(!place.folder.path().join("fencepost.db").exists());
    assert_eq!(
        Place::new()
            .with("FENCEPOST_LOG", "loud=x")
            .run(&["serve"])
            .code,
        Some(2)
    );
}

#[test]
fn check_compares_configuration_secrets_and_manifest() {
    let manifest = project_folder().join("spin.toml");
    let manifest = manifest.to_str().unwrap();
    let place = Place::new()
        .with(
            "SPIN_VARIABLE_REPORTS_MASTER_SECRET",
            "master-0123456789abcdefg",
        )
        .with(
            "SPIN_VARIABLE_CODE_CHANGES_MASTER_SECRET",
            "master-of-changes-0123456789",
        );
    assert_eq!(place.run(&["migrate"]).code, Some(0));
    let fine = place.run(&["check", "--json", "--spin", manifest]);
    assert_eq!(
        fine.json(),
        json!({"ok": true, "errors": [], "conflicts": [], "warnings": [], "unchecked": []})
    );

    let unset = place.without("SPIN_VARIABLE_REPORTS_MASTER_SECRET");
    let unset = unset.run(&["check", "--json"]).json();
    assert_eq!(unset["unchecked"].as_array().unwrap().len(), 1);

    let short = Place::new()
        .with("SPIN_VARIABLE_GITHUB_SECRET", "canary")
        .run(&["check", "--json"]);
    assert_eq!(
        (short.code, &short.document()["ok"]),
        (Some(2), &json!(false))
    );
    assert!(!short.stdout.contains("canary"));

    let place = Place::new();
    let other = place.folder.path().join("spin.toml");
    std::fs::write(&other, "spin_manifest_version = 2\n").unwrap();
    let ran = place.run(&["check", "--spin", other.to_str().unwrap()]);
    assert_eq!(ran.code, Some(2));
    for told in [
        "`github_secret`",
        "`reports_master_secret`",
        "`code_changes_master_secret`",
        "`fencepost.toml`",
    ] {
        assert!(ran.stderr.contains(told), "{ran:?}");
    }
}

#[test]
fn check_looks_at_a_database_and_makes_none() {
    let place = Place::new().with("SPIN_VARIABLE_REPORTS_MASTER_SECRET", "master-0123456789");
    let database = place.folder.path().join("fencepost.db");
    let unchecked = |told: &str| {
        let answer = place.run(&["check", "--json"]).json();
        assert_eq!(answer["conflicts"], json!([]), "{answer}");
        let line = answer["unchecked"].to_string();
        assert!(
            line.contains("the database") && line.contains(told),
            "{line}"
        );
    };
    unchecked("fencepost.db is not there yet");
    assert!(!database.exists());
    std::fs::write(&database, "").unwrap();
    unchecked("has schema 0");
    assert_eq!(std::fs::read(&database).unwrap(), b"");

    let other = "not a database at all".repeat(100);
    std::fs::write(&database, &other).unwrap();
    let ran = place.run(&["check"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("not a database"), "{ran:?}");
    assert!(!ran.stdout.contains("fine"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&database).unwrap(), other);
}

#[test]
fn migrate_makes_a_database_that_list_finds_empty() {
    let place = Place::new();
    let migrated = place.run(&["migrate", "--json"]).json();
    assert_eq!(migrated["from"], 0);
    assert_eq!(
        place.run(&["migrate", "--json"]).json()["from"],
        migrated["to"]
    );
    let page = place.run(&["list", "--json"]).json();
    assert_eq!(page, json!({"reports": [], "unreadable": [], "next": null}));
    let unknown = place.run(&["show", &"0".repeat(64)]);
    assert_eq!(unknown.code, Some(1));
    let url = "http://127.0.0.1:9";
    assert_eq!(
        place.run(&["probe", url]).code,
        Some(1),
        "nobody listens on the discard port"
    );
}
