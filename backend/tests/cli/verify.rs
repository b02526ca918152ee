//! `verify` and `sign`: whether a stored delivery would be taken in, and why not.

use serde_json::{Value, json};

use super::{Place, Ran, project_folder};

pub(super) const SECRET: &str = "fp_test_secret_0123456789abcdef";
pub(super) const STANDARD_SECRET: &str = "whsec_ZnBfdGVzdF9zZWNyZXRfMDEyMzQ1Njc4OWFiY2RlZg==";
pub(super) const AT: &str = "1800000000";
pub(super) const BODY: &str = r#"{"id":"r-1","rev":1}"#;
/// The code over the body by the secret, as GitHub has it.
const GITHUB: &str = "X-Hub-Signature-256: \
                      sha256=7ecc9b841c875559e7d3dba817b775de01447900abbf3ee90e859a8981fb72d5";

/// A project with these sources, each of which has its tenant and identity already.
pub(super) fn project(sources: &[(&str, &str)]) -> Place {
    let mut text = String::from(
        r#"
        [pipeline.moderation]
        kind = "classification"
        schema = "backend/schemas/moderation-v3.json"
        schema_version = "moderation-v3"
        prompt = "backend/prompts/moderation-7.md"
        classifier_version = "moderation-7"
        extractor = "baseline"
        review_when = [{ pointer = "/category", is = "self_harm" }]
        [extractor.baseline]
        kind = "baseline"
        "#,
    );
    for (name, source) in sources {
        let tenant = match source.contains("{tenant}") || source.contains("derive_from") {
            true => "{ route = true }",
            false => "{ value = \"acme\" }",
        };
        text.push_str(&format!(
            "\n[source.{name}]\npipeline = \"moderation\"\nidentity = {{ tenant = {tenant}, \
             report_id = \"/id\", version = \"event\" }}\ninput = {{ text = \"/id\" }}\n{source}\n"
        ));
    }
    let place = Place::new().with("FENCEPOST_CONFIG", "fencepost.toml");
    std::fs::write(place.folder.path().join("fencepost.toml"), text).unwrap();
    let backend = project_folder().join("backend");
    std::os::unix::fs::symlink(backend, place.folder.path().join("backend")).unwrap();
    place
}

fn github() -> Place {
    let source = "verify = \"github\"\nsecrets = [\"k\"]\nfilter = { \"/rev\" = [1] }";
    project(&[("hook", source)]).with("SPIN_VARIABLE_K", SECRET)
}

fn verify(place: &Place, arguments: &[&str], body: &str) -> Ran {
    let all = [
        &["verify", "--source", "hook", "--at", AT],
        arguments,
        &["-"],
    ]
    .concat();
    place.run_with(&all, body)
}

/// What is printed, with the exit code.
pub(super) fn answer(ran: &Ran) -> (Option<i32>, Value) {
    assert_eq!(ran.stderr, "", "{ran:?}");
    (ran.code, ran.document())
}

#[test]
fn what_holds_is_told_with_all_that_is_known_of_it() {
    let (code, answer) = answer(&verify(&github(), &["-H", GITHUB], BODY));
    assert_eq!(code, Some(0));
    let key = answer["report_key"].as_str().unwrap();
    let identity = r#"{"tenant":"acme","namespace":"hook","report_id":"r-1","version":"event"}"#;
    let derived = github().run_with(&["key", "--identity", "-"], identity);
    assert_eq!(derived.json()["report_key"], key);
    let expected = json!({
        "verdict": "accepted",
        "status": 202,
        "secret": "k",
        "candidate": 0,
        "body_bytes": 20,
        "body_sha256": "24d97586e45f475d58381e4e433d23871e1ff5e651e0ca4cf36ab8f3cea35628",
        "report_key": key,
        "covers": "body",
    });
    assert_eq!(answer, expected);
}

#[test]
fn what_the_payload_is_refused_for_is_told_with_who_signed_it() {
    let signed = |code: &str| format!("x-hub-signature-256:sha256={code}");
    for (body, code, verdict, refused) in [
        (
            "no json",
            "8d69dcfa31ddde8a50ab44aafb5fdde6e027f9d668d1cdefcaf503ace532da8e",
            "refused",
            json!("invalid_json"),
        ),
        (
            r#"{"id":"r-1","rev":2}"#,
            "4ea3fd0d7158a65b91f67f79dc22daf3e935c19a4b7fb2d5f8262aadcc87ede7",
            "ignored",
            Value::Null,
        ),
    ] {
        let (exit, answer) = answer(&verify(&github(), &["-H", &signed(code)], body));
        assert_eq!(exit, Some(i32::from(verdict == "refused")));
        assert_eq!(
            (&answer["verdict"], &answer["code"]),
            (&json!(verdict), &refused)
        );
        assert_eq!(
            (&answer["secret"], &answer["candidate"]),
            (&json!("k"), &json!(0))
        );
        assert_eq!(answer["hints"], Value::Null);
    }
}

#[test]
fn what_does_not_hold_is_a_no_with_what_would_help() {
    let place = github();
    for (headers, body, code, reason, hint) in [
        (
            vec![],
            BODY,
            "unauthorized",
            "no_signature",
            "X-Hub-Signature-256",
        ),
        (
            vec!["-H", GITHUB, "-H", GITHUB],
            BODY,
            "bad_signature_format",
            "repeated_header",
            "",
        ),
        (
            vec!["-H", GITHUB],
            "{\"id\":\"r-1\",\"rev\":1}\n",
            "unauthorized",
            "signature_mismatch",
            "without its final line ending",
        ),
        (
            vec!["-H", GITHUB],
            "{}",
            "unauthorized",
            "signature_mismatch",
            "",
        ),
    ] {
        let (exit, answer) = answer(&verify(&place, &headers, body));
        assert_eq!((exit, &answer["verdict"]), (Some(1), &json!("refused")));
        assert_eq!(
            (&answer["code"], &answer["reason"]),
            (&json!(code), &json!(reason))
        );
        assert_eq!(answer["covers"], Value::Null);
        let hints = answer["hints"].to_string();
        assert_eq!(answer["hints"].is_array(), !hint.is_empty(), "{hints}");
        assert!(hints.contains(hint), "{hints}");
    }
    let tried = verify(&place, &["-H", GITHUB], "{}").document();
    assert_eq!(tried["tried"], json!(["k"]));
}

#[test]
fn an_old_delivery_is_told_its_age_and_holds_at_its_time() {
    let source = "verify = \"stripe\"\nsecrets = [\"k\"]";
    let place = project(&[("hook", source)]).with("SPIN_VARIABLE_K", SECRET);
    let header = "Stripe-Signature: t=1800000000,v1=\
                  98ea336e77518e19d3795c9c6c25e8d11bfc2c379966d4d419469988e50bee66";
    let at = |time: &str| {
        let arguments = [
            "verify",
            "--path",
            "/hooks/hook",
            "--at",
            time,
            "-H",
            header,
            "-",
        ];
        answer(&place.run_with(&arguments, BODY))
    };
    let (code, late) = at("2027-01-15T08:10:00Z");
    assert_eq!((code, &late["reason"]), (Some(1), &json!("outside_window")));
    assert_eq!(
        (&late["secret"], &late["skew_seconds"]),
        (&json!("k"), &json!(600))
    );
    let hint = late["hints"][0].as_str().unwrap();
    assert!(hint.contains("600 s ago"), "{hint}");
    let (code, then) = at(hint.rsplit(' ').next().unwrap());
    assert_eq!((code, &then["skew_seconds"]), (Some(0), &json!(0)));
}

#[test]
fn a_secret_that_is_not_taken_any_more_is_told_apart_from_a_wrong_one() {
    let source = "verify = \"github\"\nsecrets = [\"k\", { name = \"old\", not_after = \
                  2027-01-15T07:59:59Z }]";
    let place = project(&[("hook", source)])
        .with("SPIN_VARIABLE_K", "fp_new_secret_0123456789abcdef")
        .with("SPIN_VARIABLE_OLD", SECRET);
    let (code, late) = answer(&verify(&place, &["-H", GITHUB], BODY));
    assert_eq!((code, &late["tried"]), (Some(1), &json!(["k"])));
    let hints = late["hints"].to_string();
    assert!(
        hints.contains("`old`") && hints.contains("`not_after`"),
        "{hints}"
    );
    let before = [
        "verify",
        "--path",
        "/hooks/hook",
        "--at",
        "1799999999",
        "-H",
        GITHUB,
        "-",
    ];
    let (code, taken) = answer(&place.run_with(&before, BODY));
    assert_eq!((code, &taken["secret"]), (Some(0), &json!("old")));
}

#[test]
fn which_bytes_of_a_compressed_body_are_signed_is_told() {
    const GZIP: &str = "1f8b0800000000000203ab56ca4c51b2522ad23554d2512a4a2d53b232ac0500c8b2d31714\
                        000000";
    let digits = GZIP.as_bytes().chunks(2);
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    let body: Vec<u8> = digits.map(byte).collect();
    let wire = "X-Hub-Signature-256: sha256=\
                99c00527b163f161143b3cdcf16ded049ca0d61dd7e9f5c7140bd10a619f5f6a";
    for (own, others, right, wrong) in [
        ("wire", "decoded", wire, GITHUB),
        ("decoded", "wire", GITHUB, wire),
    ] {
        let source =
            format!("verify = \"github\"\nsecrets = [\"k\"]\ncontent_encoding = \"{own}\"");
        let place = project(&[("hook", &source)]).with("SPIN_VARIABLE_K", SECRET);
        std::fs::write(place.folder.path().join("body"), &body).unwrap();
        let verify = |header: &str| {
            let gzip = "content-encoding: gzip";
            let command = [
                "verify", "--source", "hook", "-H", gzip, "-H", header, "body",
            ];
            answer(&place.run(&command))
        };
        assert_eq!(verify(right).0, Some(0));
        let (code, refused) = verify(wrong);
        let hint = format!("the signature would hold with content_encoding = \"{others}\"");
        assert_eq!((code, &refused["hints"]), (Some(1), &json!([hint])));
    }
}

#[test]
fn handshakes_are_answered() {
    let meta = "verify = { preset = \"meta\", verify_token = \"t\" }\nsecrets = [\"k\"]";
    let slack = "verify = \"slack\"\nsecrets = [\"k\"]";
    let place = project(&[("meta", meta), ("slack", slack)])
        .with("SPIN_VARIABLE_K", SECRET)
        .with("SPIN_VARIABLE_T", "meta-token-0123456789");
    let ask = |token: &str| {
        let query = format!("hub.mode=subscribe&hub.verify_token={token}&hub.challenge=c-1");
        let arguments = [
            "verify", "--source", "meta", "--method", "GET", "--query", &query,
        ];
        answer(&place.run(&arguments))
    };
    let (code, right) = ask("meta-token-0123456789");
    assert_eq!(code, Some(0));
    assert_eq!(
        (&right["verdict"], &right["answer"]),
        (&json!("handshake"), &json!("c-1"))
    );
    let (code, wrong) = ask("another-0123456789");
    assert_eq!(
        (code, &wrong["code"]),
        (Some(1), &json!("handshake_refused"))
    );

    let headers = place.folder.path().join("headers");
    let text = "X-Slack-Request-Timestamp: 1800000000\nX-Slack-Signature: v0=\
                175f8eba1aff5e7c4b00ca67893e6f8a799416abbd91677d8f410cd5314d2c83\n";
    std::fs::write(&headers, text).unwrap();
    let file = format!("@{}", headers.display());
    let arguments = ["verify", "--source", "slack", "--at", AT, "-H", &file, "-"];
    let body = r#"{"type":"url_verification","challenge":"c-1"}"#;
    let (code, signed) = answer(&place.run_with(&arguments, body));
    assert_eq!((code, &signed["answer"]), (Some(0), &json!("c-1")));
    assert_eq!(
        (&signed["covers"], &signed["secret"]),
        (&json!("body"), &json!("k"))
    );
}

#[test]
fn a_secret_that_does_not_serve_is_named_and_not_shown() {
    let text = STANDARD_SECRET.trim_start_matches("whsec_");
    let source = "verify = \"standard-webhooks\"\nsecrets = [\"k\"]";
    let place = project(&[("hook", source)]);
    let sender = project(&[(
        "hook",
        "verify = { preset = \"standard-webhooks\", secret = { encoding = \"base64\" } }\n\
         secrets = [\"k\"]",
    )]);
    let sign = ["sign", "--source", "hook", "--at", AT, "-"];
    let signed = sender.with("SPIN_VARIABLE_K", text).run_with(&sign, BODY);
    let headers: Vec<_> = signed
        .stdout
        .lines()
        .flat_map(|line| ["-H", line])
        .collect();
    for (place, detail, hint) in [
        (place.with("SPIN_VARIABLE_K", text), "begins with", "base64"),
        (project(&[("hook", source)]), "no value", ""),
        (
            project(&[("hook", source)]).with("SPIN_VARIABLE_K", "whsec_canary"),
            "base64",
            "",
        ),
    ] {
        let (code, answer) = answer(&verify(&place, &headers, BODY));
        assert_eq!(
            (code, &answer["verdict"]),
            (Some(2), &json!("misconfigured"))
        );
        assert_eq!(
            (&answer["status"], &answer["code"]),
            (&json!(503), &json!("misconfigured"))
        );
        assert_eq!(
            (&answer["secret"], &answer["reason"]),
            (&json!("k"), &json!("variable"))
        );
        assert!(
            answer["detail"].as_str().unwrap().contains(detail),
            "{answer}"
        );
        assert!(answer["hints"].to_string().contains(hint), "{answer}");
        assert!(!answer.to_string().contains("canary") && !answer.to_string().contains(text));
    }
}

#[test]
fn a_tenant_of_the_route_has_its_own_secret_or_is_a_stranger() {
    let named = "verify = \"github\"\nsecrets = [\"acme_{tenant}\"]";
    let url = "verify = { preset = \"square\", url = \"https://edge.test/hook/{tenant}\" }\n\
               secrets = { derive_from = \"master\" }";
    let place = project(&[("hook", named), ("square", url)])
        .with("SPIN_VARIABLE_ACME_T1", SECRET)
        .with("SPIN_VARIABLE_MASTER", "fp_master_secret_0123456789");
    for (source, tenant, code, reason) in [
        ("hook", "t1", 0, Value::Null),
        ("hook", "t2", 1, json!("tenant_without_secret")),
        ("square", "t 1", 0, Value::Null),
    ] {
        let signer = if tenant == "t2" { "t1" } else { tenant };
        let sign = [
            "sign", "--source", source, "--tenant", signer, "--at", AT, "-",
        ];
        let signed = place.run_with(&sign, BODY);
        let header = signed.stdout.trim_end();
        let arguments = [
            "verify", "--source", source, "--tenant", tenant, "--at", AT, "-H", header, "-",
        ];
        let (exit, answer) = answer(&place.run_with(&arguments, BODY));
        assert_eq!((exit, &answer["reason"]), (Some(code), &reason), "{answer}");
    }
    let (code, answer) = answer(&verify(&place, &["-H", GITHUB], BODY));
    assert_eq!((code, &answer["code"]), (Some(1), &json!("unknown_source")));
    assert!(answer["hints"].to_string().contains("--tenant"), "{answer}");
    let sign = ["sign", "--source", "hook", "--tenant", "T-1", "-"];
    assert_eq!(place.run_with(&sign, BODY).code, Some(2));
}

#[test]
fn what_can_not_be_said_is_exit_code_2() {
    let place = github();
    for (arguments, why) in [
        (&["verify", "-"][..], "--source"),
        (&["verify", "--source", "nowhere", "-"], "there are: hook"),
        (
            &["verify", "--source", "hook", "--at", "soon", "-"],
            "2027-01-15T08:00:00Z",
        ),
        (
            &["verify", "--source", "hook", "-H", "canary", "-"],
            "`name: value`",
        ),
        (
            &["verify", "--source", "hook", "-H", "@/nowhere", "-"],
            "/nowhere",
        ),
        (&["verify", "--source", "hook", "/nowhere"], "/nowhere"),
        (
            &["verify", "--path", "/hooks/hook", "--tenant", "t", "-"],
            "cannot be used with",
        ),
    ] {
        let ran = place.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.stderr.contains(why), "{ran:?}");
        assert!(!ran.stderr.contains("canary"), "{ran:?}");
    }
}
