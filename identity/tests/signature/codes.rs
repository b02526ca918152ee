//! The code: over which bytes it is made, and by which secrets.

use fencepost_identity::signature::{Sending, SignError, sign};

use crate::fixtures::{
    BODY, GITHUB, GOOD, MISMATCH, NOW, OLD_SECRET, OLD_STANDARD, OLD_WHSEC, Outcome, SECRET,
    SIGNED, STANDARD, Standard, WHSEC, check, github, key, scheme,
};

#[test]
fn published_vectors_verify() {
    // GitHub's documentation.
    let value = b"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    assert_eq!(
        github(value, &["It's a Secret to Everybody"], b"Hello, World!"),
        SIGNED
    );
    // The Rust library of Standard Webhooks, the libraries of Svix, the documentation of Svix.
    let vectors: [(&str, &str, &str, &[u8], &str); 3] = [
        (
            "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
            "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk",
            "1649367553",
            br#"{"email":"test@example.com","username":"test_user"}"#,
            "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=",
        ),
        (
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "1614265330",
            br#"{"test": 2432232314}"#,
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        ),
        (
            "whsec_plJ3nmyCDGBKInavdOK15jsl",
            "msg_loFOjxBNrRLzqYUf",
            "1731705121",
            br#"{"event_type":"ping","data":{"success":true}}"#,
            "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=",
        ),
    ];
    for (secret, id, timestamp, body, signature) in vectors {
        let now = timestamp.parse().unwrap();
        let secrets = &[secret];
        assert_eq!(
            Standard {
                id,
                timestamp,
                signature,
                secrets,
                body,
                now
            }
            .check(),
            SIGNED,
            "{id}"
        );
    }
}

#[test]
fn our_own_vectors_verify_and_are_what_we_sign() {
    assert_eq!(github(GITHUB.as_bytes(), &[SECRET], BODY), SIGNED);
    assert_eq!(GOOD.check(), SIGNED);
    let signed = |preset: &str, secret: &str, message_id: &str| {
        let sending = Sending {
            method: "POST",
            segment: None,
            message_id,
            now: NOW,
            body: BODY,
        };
        sign(&scheme(preset), &key(preset, secret), &sending)
    };
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        signed("github", SECRET, "ignored").unwrap(),
        [pair("X-Hub-Signature-256", GITHUB)]
    );
    assert_eq!(
        signed("standard-webhooks", WHSEC, "msg_1").unwrap(),
        [
            pair("webhook-id", "msg_1"),
            pair("webhook-timestamp", "1800000000"),
            pair("webhook-signature", STANDARD),
        ]
    );
    for id in ["", "msg.1", "a b", "é"] {
        let signed = signed("standard-webhooks", WHSEC, id);
        assert_eq!(signed, Err(SignError::BadMessageId), "{id:?}");
    }
}

#[test]
fn the_bytes_are_signed_and_not_what_they_mean() {
    let hex = |digits: &str| format!("sha256={digits}").into_bytes();
    let bodies: [(&[u8], &str); 9] = [
        (
            br#"{"rev":1,"id":"r-1"}"#,
            "1f8fa1e1705c55383e606340d6f77acc3f2f428c8dab937010e8502d8d976468",
        ),
        (
            b"payload=%7B%22id%22%3A1%7D&x=a+b",
            "fb5b9fbdda2a454a0e111e0083d34a2e7d077f860180eabac467d64074f6a83c",
        ),
        (
            r#"{"t":"café 😀"}"#.as_bytes(),
            "78cd5d757318cdabc2c6bb55852ddb1a8e281f0211ae35b74422a2aefb546a26",
        ),
        (
            br#"{"t":"caf\u00e9 \ud83d\ude00"}"#,
            "41a555739370fed3ab247289b602847e77e1207afd61176416450f43a50d9498",
        ),
        (
            br#"{"t":"caf\u00E9 \uD83D\uDE00"}"#,
            "4d97a18d32803dbfc4a8c77b7f118a2b06a07b6ad8a94ce06044095520f42eee",
        ),
        (
            b"{\"id\":\"r-1\",\r\n\"rev\":1}",
            "0b749a230ccc4cb3726fab19466369cdf7f18f2e0cb3248377fce0e3f77819c4",
        ),
        (
            b"{\"id\":\"r-1\",\n\"rev\":1}",
            "4814c0633d10eff587fd759269a1ae3add974ac9da68b94ff45438a774cf014a",
        ),
        (
            b"\xef\xbb\xbf{\"id\":\"r-1\",\"rev\":1}",
            "87acd41a5bbf8572559223b337595e8ef0dddaad3ca315a8d7dac831be98d927",
        ),
        (
            b"a\0b",
            "4d8381de55cc9bc6efa8a755fe48d7110aa3a1dd950c0f1d5f4d96cb89966228",
        ),
    ];
    for (signed, (_, digits)) in bodies.iter().enumerate() {
        for (received, (body, _)) in bodies.iter().enumerate() {
            let expected = if signed == received { SIGNED } else { MISMATCH };
            assert_eq!(
                github(&hex(digits), &[SECRET], body),
                expected,
                "{signed} over {received}"
            );
        }
    }
}

#[test]
fn one_changed_byte_or_another_secret_is_a_mismatch() {
    for at in 0..BODY.len() {
        let mut body = BODY.to_vec();
        body[at] ^= 1;
        assert_eq!(
            github(GITHUB.as_bytes(), &[SECRET], &body),
            MISMATCH,
            "byte {at}"
        );
        assert_eq!(
            Standard {
                body: &body,
                ..GOOD
            }
            .check(),
            MISMATCH,
            "byte {at}"
        );
    }
    assert_eq!(github(GITHUB.as_bytes(), &[OLD_SECRET], BODY), MISMATCH);
    assert_eq!(
        Standard {
            secrets: &[OLD_WHSEC],
            ..GOOD
        }
        .check(),
        MISMATCH
    );
    assert_eq!(
        Standard {
            secrets: &[],
            ..GOOD
        }
        .check(),
        MISMATCH
    );
    assert_eq!(
        Standard {
            id: "msg_2",
            ..GOOD
        }
        .check(),
        MISMATCH
    );
    assert_eq!(
        Standard {
            timestamp: "1800000001",
            ..GOOD
        }
        .check(),
        MISMATCH
    );
    // The secret with a file's line ending made this one.
    let newline = b"sha256=5fa1c5514533aab72cf71afebe464358bb1565660c836ba323ea7ed580fe06e5";
    assert_eq!(github(newline, &[SECRET], BODY), MISMATCH);
}

#[test]
fn every_live_secret_is_tried() {
    let old = b"sha256=9e727812447531daec04e4e973423f139d00c807ec0886b45f1d18387399967c";
    assert_eq!(
        github(old, &[SECRET, OLD_SECRET], BODY),
        Ok(Outcome::Signed(1))
    );
    let rotated = Standard {
        signature: OLD_STANDARD,
        secrets: &[WHSEC, OLD_WHSEC],
        ..GOOD
    };
    assert_eq!(rotated.check(), Ok(Outcome::Signed(1)));
    for list in [
        format!("{OLD_STANDARD} {STANDARD}"),
        format!("v1a,AAAA {STANDARD}"),
        format!("v2,! {STANDARD}  v3,x"),
    ] {
        assert_eq!(
            Standard {
                signature: &list,
                ..GOOD
            }
            .check(),
            SIGNED,
            "{list}"
        );
    }
}

#[test]
fn a_key_of_another_scheme_never_signs() {
    let headers = [("x-hub-signature-256", GITHUB.as_bytes())];
    let token = key("gitlab-token", SECRET);
    let checked = check(&scheme("github"), &headers, &[token], BODY, NOW);
    assert_eq!(checked, MISMATCH);
    let shown = [("x-gitlab-token", SECRET.as_bytes())];
    let code = key("github", SECRET);
    let checked = check(&scheme("gitlab-token"), &shown, &[code], BODY, NOW);
    assert_eq!(checked, MISMATCH);
}
