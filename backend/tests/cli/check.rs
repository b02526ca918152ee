//! `check`: what is wrong with a source or a secret is told by its source, its key and its
//! variable; the value is not.

use serde_json::{Value, json};

use super::{Place, verify::project};

const CANARY: &str = "canary";
const GOOD: &str = "canary_0123456789abcdef0";

/// What is printed of one source, whose secret `k` has this value.
fn check(source: &str, secret: &str) -> Value {
    answer(project(&[("hook", source)]).with("SPIN_VARIABLE_K", secret))
}

fn answer(place: Place) -> Value {
    let ran = place.run(&["check", "--json"]);
    assert!(
        !ran.stdout.contains(CANARY) && !ran.stderr.contains(CANARY),
        "{ran:?}"
    );
    let answer = ran.document();
    let ok = answer["ok"] == json!(true);
    assert_eq!(ran.code, Some(if ok { 0 } else { 2 }), "{ran:?}");
    answer
}

fn github(rest: &str) -> String {
    format!("verify = \"github\"\nsecrets = [\"k\"]\n{rest}")
}

fn told(answer: &Value, list: &str, words: &[&str]) {
    let lines = answer[list].as_array().unwrap();
    assert_eq!(lines.len(), 1, "{answer}");
    let line = lines[0].as_str().unwrap();
    for word in words {
        assert!(line.contains(word), "{word}: {line}");
    }
}

#[test]
fn a_secret_that_does_not_serve_is_named() {
    let standard = "verify = \"standard-webhooks\"\nsecrets = [\"k\"]";
    let blank = " ".repeat(20);
    for (source, secret, words) in [
        (github("").as_str(), "", &["SPIN_VARIABLE_K", "empty"][..]),
        (&github(""), &blank, &["SPIN_VARIABLE_K", "`hook`", "blank"]),
        (
            &github(""),
            "canary_0123",
            &["SPIN_VARIABLE_K", "11 bytes", "16"],
        ),
        (
            &github(""),
            "canary_0123456789\tabcdef0",
            &["SPIN_VARIABLE_K", "control character"],
        ),
        (
            standard,
            "whsec_canary!0123456789abcdef=",
            &["SPIN_VARIABLE_K", "`hook`", "not standard base64"],
        ),
        (
            standard,
            "whsec_Y2FuYXJ5MDEyMw==",
            &["SPIN_VARIABLE_K", "`hook`", "10 bytes", "16"],
        ),
        (
            standard,
            "v1,whsec_ZnBfdGVzdF9zZWNyZXRfMDEyMzQ1Njc4OWFiY2RlZg==",
            &["SPIN_VARIABLE_K", "`hook`", "`v1,`"],
        ),
        (standard, GOOD, &["SPIN_VARIABLE_K", "`hook`", "`whsec_`"]),
        (
            "verify = { kind = \"basic\" }\nsecrets = [\"k\"]",
            GOOD,
            &["SPIN_VARIABLE_K", "`hook`", "user:password"],
        ),
        (
            "verify = \"discord\"\nsecrets = [\"k\"]",
            "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531",
            &["SPIN_VARIABLE_K", "`hook`", "Ed25519"],
        ),
    ] {
        told(&check(source, secret), "errors", words);
    }
    assert_eq!(check(&github(""), GOOD)["errors"], json!([]));
}

#[test]
fn one_line_ending_at_the_end_of_a_file_is_taken_away() {
    for (ending, errors) in [
        ("", 0),
        ("\n", 0),
        ("\r\n", 0),
        ("\n\n", 1),
        ("\r\n\r\n", 1),
    ] {
        let place = project(&[("hook", &github(""))]);
        let file = place.folder.path().join("secret");
        std::fs::write(&file, format!("{GOOD}{ending}")).unwrap();
        let answer = answer(place.with("SPIN_VARIABLE_K_FILE", file.to_str().unwrap()));
        assert_eq!(
            answer["errors"].as_array().unwrap().len(),
            errors,
            "{answer}"
        );
        assert_eq!(
            answer["unchecked"].as_array().unwrap().len(),
            1,
            "the database"
        );
    }
}

#[test]
fn a_source_that_can_not_be_is_named_with_its_key() {
    let own = |verify: &str| {
        format!(
            "secrets = [\"k\"]\n[source.hook.verify]\n{verify}\n[source.hook.verify.signature]\n\
             header = \"X-Sig\"\nencoding = \"hex\""
        )
    };
    for (source, words) in [
        (
            "verify = { preset = \"stripe\", tolerance_seconds = 0 }\nsecrets = [\"k\"]".to_owned(),
            &["source.hook.verify.tolerance_seconds", "from 1"][..],
        ),
        (
            github("max_bodybytes = 1"),
            &["source.hook", "max_bodybytes", "max_body_bytes"],
        ),
        (
            own("templat = \"{body}\""),
            &["source.hook.verify", "templat"],
        ),
        (
            "verify = { preset = \"github\", url = \"https://edge.test/\" }\nsecrets = [\"k\"]"
                .to_owned(),
            &["source.hook.verify.url", "not used"],
        ),
        (
            own("tolerance_seconds = 300"),
            &["source.hook.verify.tolerance_seconds"],
        ),
        (
            own("template = \"{timestamp}\""),
            &["source.hook.verify.template", "{body}"],
        ),
        (
            own("algorithm = \"sha1\""),
            &["source.hook.verify", "allow_weak"],
        ),
        (
            "verify = \"intercom\"\nsecrets = [\"k\"]".to_owned(),
            &["source.hook.verify", "allow_weak"],
        ),
        (
            format!("verify = \"github\"\nsecrets = [\"{CANARY}-Not-A-Name\"]"),
            &["source.hook.secrets", "not the secret itself"],
        ),
        (
            "verify = \"meta\"\nsecrets = [\"k\"]".to_owned(),
            &["source.hook.verify", "verify_token"],
        ),
    ] {
        let answer = check(&source, GOOD);
        let lines = answer["errors"].to_string();
        for word in words {
            assert!(lines.contains(word), "{word}: {lines}");
        }
        // The same stops every command, before it has done anything.
        let place = project(&[("hook", &source)]).with("SPIN_VARIABLE_K", GOOD);
        let ran = place.run_with(&["verify", "--source", "hook", "-"], "{}");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
        assert!(
            ran.stderr.contains(words[0]) && !ran.stderr.contains(CANARY),
            "{ran:?}"
        );
    }
}

#[test]
fn each_secret_has_to_stand_in_the_manifest() {
    let source = "verify = { preset = \"meta\", verify_token = \"hello\" }\nsecrets = [\"k\"]";
    let place = project(&[("hook", source)])
        .with("SPIN_VARIABLE_K", GOOD)
        .with("SPIN_VARIABLE_HELLO", "canary_too_0123456789");
    let manifest = place.folder.path().join("spin.toml");
    let check = |secrets: &[&str]| {
        let passed = secrets
            .iter()
            .map(|secret| format!("{secret} = \"{{{{ {secret} }}}}\"\n"));
        let variables = secrets
            .iter()
            .map(|secret| format!("{secret} = {{ required = true }}\n"));
        let text = format!(
            "spin_manifest_version = 2\n[variables]\n{}[component.edge]\nfiles = \
             [\"fencepost.toml\"]\n[component.edge.variables]\n{}",
            variables.collect::<String>(),
            passed.collect::<String>()
        );
        std::fs::write(&manifest, text).unwrap();
        let ran = place.run(&["check", "--json", "--spin", manifest.to_str().unwrap()]);
        ran.document()
    };
    assert_eq!(check(&["hello", "k"])["errors"], json!([]));
    told(&check(&["k"]), "errors", &["`hello`", "manifest"]);
    told(&check(&["hello"]), "errors", &["`k`", "manifest"]);

    let short = place.with("SPIN_VARIABLE_HELLO", "canary");
    told(
        &answer(short),
        "errors",
        &["SPIN_VARIABLE_HELLO", "6 bytes"],
    );
}

#[test]
fn the_token_of_a_handshake_is_a_secret_too() {
    let source = "verify = { preset = \"meta\", verify_token = \"hello\" }\nsecrets = [\"k\"]";
    let place = |token: &str| {
        project(&[("hook", source)])
            .with("SPIN_VARIABLE_K", GOOD)
            .with("SPIN_VARIABLE_HELLO", token)
    };
    assert_eq!(answer(place(GOOD))["errors"], json!([]));
    for (token, why) in [
        ("                ", "the secret is blank"),
        ("sixteen\tbytes--!", "a control character"),
    ] {
        told(
            &answer(place(token)),
            "errors",
            &["SPIN_VARIABLE_HELLO", why],
        );
    }
}

#[test]
fn the_secrets_of_tenants_that_are_given_are_checked() {
    let source = "verify = \"github\"\nsecrets = [\"acme_{tenant}_key\"]";
    let place = |value: &str| project(&[("hook", source)]).with("SPIN_VARIABLE_ACME_T1_KEY", value);
    assert_eq!(answer(place(GOOD))["errors"], json!([]));
    told(
        &answer(place("canary")),
        "errors",
        &["SPIN_VARIABLE_ACME_T1_KEY"],
    );
    let file = project(&[("hook", source)]).with("SPIN_VARIABLE_ACME_T1_KEY_FILE", "/nowhere");
    told(
        &answer(file),
        "errors",
        &["SPIN_VARIABLE_ACME_T1_KEY_FILE", "/nowhere"],
    );
}

#[test]
fn what_a_source_does_without_is_a_warning_and_no_error() {
    let stripe =
        |rest: &str| format!("verify = {{ preset = \"stripe\", {rest} }}\nsecrets = [\"k\"]");
    for (source, secret, words) in [
        (
            "verify = \"gitlab-token\"\nsecrets = [\"k\"]",
            GOOD,
            &["`hook`", "body"][..],
        ),
        (
            &stripe("tolerance_seconds = \"off\""),
            GOOD,
            &["`hook`", "off"],
        ),
        (
            &stripe("template = \"{body}\""),
            GOOD,
            &["`hook`", "not signed"],
        ),
        (
            "verify = { preset = \"intercom\", allow_weak = true }\nsecrets = [\"k\"]",
            GOOD,
            &["`hook`", "SHA-1"],
        ),
        (
            &github(""),
            "canary_012345678",
            &["`hook`", "`k`", "16 bytes", "24"],
        ),
        (
            &github(""),
            "canary_0123456789abcdef",
            &["`hook`", "`k`", "23 bytes", "24"],
        ),
    ] {
        let answer = check(source, secret);
        assert_eq!(answer["ok"], true, "{answer}");
        told(&answer, "warnings", words);
        let place = project(&[("hook", source)]).with("SPIN_VARIABLE_K", secret);
        let told = place.run(&["check"]);
        assert_eq!(told.code, Some(0));
        assert!(told.stdout.contains("warning: source `hook`"), "{told:?}");
    }
    let none = check(&github(""), GOOD);
    assert_eq!((&none["warnings"], &none["ok"]), (&json!([]), &json!(true)));
}

#[test]
fn what_may_be_decided_without_a_person_is_a_warning() {
    let place = project(&[("hook", &github(""))]).with("SPIN_VARIABLE_K", GOOD);
    let file = place.folder.path().join("fencepost.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let rule = "review_when = [{ pointer = \"/category\", is = \"self_harm\" }]";
    for other in [
        "",
        "review_when = [{ pointer = \"/category\", is = \"abuse\" }]",
    ] {
        assert!(text.contains(rule));
        std::fs::write(&file, text.replace(rule, other)).unwrap();
        let ran = place.run(&["check", "--json"]);
        let answer = ran.document();
        assert_eq!((ran.code, &answer["ok"]), (Some(0), &json!(true)));
        let words = ["`moderation`", "`self_harm`", "/category", "review_when"];
        told(&answer, "warnings", &words);
    }
}

#[test]
fn a_limit_beyond_what_a_process_does_is_a_warning() {
    let place = project(&[("hook", &github(""))]).with("SPIN_VARIABLE_K", GOOD);
    let file = place.folder.path().join("fencepost.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    for (calls, expected) in [(8, 0), (9, 1)] {
        let limits = format!("[extractor.baseline.limits]\nconcurrency = {calls}\n");
        std::fs::write(&file, format!("{text}\n{limits}")).unwrap();
        let ran = place.run(&["check", "--json"]);
        let answer = ran.document();
        assert_eq!(
            (ran.code, &answer["ok"]),
            (Some(0), &json!(true)),
            "{ran:?}"
        );
        if expected == 0 {
            assert_eq!(answer["warnings"], json!([]));
        } else {
            let words = ["`baseline`", "`limits.concurrency` is 9", "8 at once"];
            told(&answer, "warnings", &words);
        }
    }
}
