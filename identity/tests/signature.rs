//! Signing and verifying, against vectors that others published and against a set of our own, made
//! by an independent program.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use fencepost_identity::signature::{
    BadMessageId, FormatError, KeyError, Presented, Preset, SigningKey, Verdict, derive_secret,
    sign,
};
use proptest::prelude::*;

const SECRET: &str = "fp_test_secret_0123456789abcdef";
const OLD_SECRET: &str = "fp_old_secret_0123456789abcdef";
const WHSEC: &str = "whsec_ZnBfdGVzdF9zZWNyZXRfMDEyMzQ1Njc4OWFiY2RlZg==";
const OLD_WHSEC: &str = "whsec_ZnBfb2xkX3NlY3JldF8wMTIzNDU2Nzg5YWJjZGVm";
const NOW: u64 = 1_800_000_000;
const BODY: &[u8] = br#"{"id":"r-1","rev":1}"#;
const GITHUB: &str = "sha256=7ecc9b841c875559e7d3dba817b775de01447900abbf3ee90e859a8981fb72d5";
const STANDARD: &str = "v1,mm2OdA021t2H6MqxqHHknyJP8cKIAf50uJ/0NDwZxpY=";
const OLD_STANDARD: &str = "v1,kX7SGx3JvDYiORIYmCxni5hBpLE04AIRLxVaEiAelSs=";

fn key(preset: Preset, text: &str) -> SigningKey {
    SigningKey::parse(preset, text).unwrap()
}

fn github(value: &[u8], secrets: &[&str], body: &[u8]) -> Result<Verdict, FormatError> {
    let keys: Vec<_> = secrets
        .iter()
        .map(|text| key(Preset::Github, text))
        .collect();
    let presented = Presented::read(Preset::Github, &[("X-Hub-Signature-256", value)])?;
    Ok(presented.verify(&keys, body, NOW))
}

/// A delivery by Standard Webhooks, signed with `WHSEC` unless something is changed.
struct Standard<'a> {
    id: &'a str,
    timestamp: &'a str,
    signature: &'a str,
    secrets: &'a [&'a str],
    body: &'a [u8],
    now: u64,
}

const GOOD: Standard<'_> = Standard {
    id: "msg_1",
    timestamp: "1800000000",
    signature: STANDARD,
    secrets: &[WHSEC],
    body: BODY,
    now: NOW,
};

impl Standard<'_> {
    fn check(&self) -> Result<Verdict, FormatError> {
        let keys = self
            .secrets
            .iter()
            .map(|text| key(Preset::StandardWebhooks, text));
        let keys: Vec<_> = keys.collect();
        let headers = [
            ("webhook-id", self.id.as_bytes()),
            ("webhook-timestamp", self.timestamp.as_bytes()),
            ("webhook-signature", self.signature.as_bytes()),
        ];
        let presented = Presented::read(Preset::StandardWebhooks, &headers)?;
        Ok(presented.verify(&keys, self.body, self.now))
    }
}

const SIGNED: Result<Verdict, FormatError> = Ok(Verdict::Signed { by: 0 });
const MISMATCH: Result<Verdict, FormatError> = Ok(Verdict::Mismatch);

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
    assert_eq!(
        sign(&key(Preset::Github, SECRET), "ignored", NOW, BODY).unwrap(),
        [("x-hub-signature-256", GITHUB.to_owned())]
    );
    assert_eq!(
        sign(&key(Preset::StandardWebhooks, WHSEC), "msg_1", NOW, BODY).unwrap(),
        [
            ("webhook-id", "msg_1".to_owned()),
            ("webhook-timestamp", "1800000000".to_owned()),
            ("webhook-signature", STANDARD.to_owned()),
        ]
    );
    for id in ["", "msg.1", "a b", "é"] {
        let signed = sign(&key(Preset::StandardWebhooks, WHSEC), id, NOW, BODY);
        assert_eq!(signed, Err(BadMessageId), "{id:?}");
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
        Ok(Verdict::Signed { by: 1 })
    );
    let rotated = Standard {
        signature: OLD_STANDARD,
        secrets: &[WHSEC, OLD_WHSEC],
        ..GOOD
    };
    assert_eq!(rotated.check(), Ok(Verdict::Signed { by: 1 }));
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
fn a_key_of_another_preset_never_signs() {
    let headers = [("x-hub-signature-256", GITHUB.as_bytes())];
    let presented = Presented::read(Preset::Github, &headers).unwrap();
    let key = key(Preset::StandardWebhooks, WHSEC); // decodes to the same bytes
    assert_eq!(presented.verify(&[key], BODY, NOW), Verdict::Mismatch);
}

#[test]
fn github_signatures_are_read_exactly() {
    let upper = GITHUB.to_ascii_uppercase().replace("SHA256", "sha256");
    assert_eq!(github(upper.as_bytes(), &[SECRET], BODY), SIGNED);
    let digits = GITHUB.strip_prefix("sha256=").unwrap();
    for value in [
        digits.to_owned(),
        format!("SHA256={digits}"),
        format!("sha256= {digits}"),
        format!("sha256={digits} "),
        format!("xxsha256={digits}"),
        format!("sha1={digits}"),
        format!("sha256={digits}00"),
        format!("sha256={digits},sha256={digits}"),
        "sha256=fsybhByHVVnn09uoF7d13gFEeQCrvz7pDoWaiYH7ctU=".to_owned(),
        format!("sha256={}", "g".repeat(64)),
        "sha256=".to_owned(),
        "sha256=ab".to_owned(),
        "=".to_owned(),
        ",".to_owned(),
        String::new(),
        "a".repeat(10_000),
    ] {
        assert_eq!(
            github(value.as_bytes(), &[SECRET], BODY),
            Err(FormatError::Signature),
            "{value}"
        );
    }
    assert_eq!(
        github(b"sha256=\xff\xfe", &[SECRET], BODY),
        Err(FormatError::Signature)
    );
}

#[test]
fn headers_stand_once_whatever_their_case() {
    let good = GITHUB.as_bytes();
    let read =
        |headers: &[(&str, &'static [u8])]| Presented::read(Preset::Github, headers).map(drop);
    assert_eq!(
        read(&[
            ("x-HUB-signature-256", good),
            ("x-hub-signature", b"sha1=00")
        ]),
        Ok(())
    );
    assert_eq!(read(&[]), Err(FormatError::Unsigned));
    assert_eq!(
        read(&[("x-hub-signature", b"sha1=00")]),
        Err(FormatError::Unsigned)
    );
    let twice = [("x-hub-signature-256", good), ("X-Hub-Signature-256", good)];
    assert_eq!(read(&twice), Err(FormatError::Repeated));
}

#[test]
fn standard_webhooks_headers_stand_once_in_either_spelling() {
    const ALL: [(&str, &[u8]); 3] = [
        ("Webhook-Id", b"msg_1"),
        ("Webhook-Timestamp", b"1800000000"),
        ("Webhook-Signature", STANDARD.as_bytes()),
    ];
    let read = |headers: &[(&str, &'static [u8])]| {
        let presented = Presented::read(Preset::StandardWebhooks, headers)?;
        Ok(presented.verify(&[key(Preset::StandardWebhooks, WHSEC)], BODY, NOW))
    };
    assert_eq!(read(&ALL), SIGNED);
    let svix = ALL.map(|(name, value)| (name.replace("Webhook", "svix"), value));
    let svix: Vec<_> = svix
        .iter()
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    assert_eq!(read(&svix), SIGNED);
    let both: Vec<_> = ALL.iter().chain(&svix).copied().collect();
    assert_eq!(read(&both), Err(FormatError::Repeated));

    let without = |at: usize| ALL.iter().enumerate().filter(move |(i, _)| *i != at);
    let absent = [
        FormatError::MessageId,
        FormatError::Timestamp,
        FormatError::Unsigned,
    ];
    let twice = [
        FormatError::Repeated,
        FormatError::Timestamp,
        FormatError::Repeated,
    ];
    for (at, (absent, twice)) in absent.into_iter().zip(twice).enumerate() {
        let headers: Vec<_> = without(at).map(|(_, header)| *header).collect();
        assert_eq!(read(&headers), Err(absent), "without {at}");
        let headers: Vec<_> = ALL.iter().chain(&ALL[at..=at]).copied().collect();
        assert_eq!(read(&headers), Err(twice), "{at} twice");
    }
    // No header of the other spelling stands in for one that is absent.
    let mixed = [ALL[0], ("svix-timestamp", b"1800000000".as_slice()), ALL[2]];
    assert_eq!(read(&mixed), Err(FormatError::Timestamp));
}

#[test]
fn standard_webhooks_lists_are_read_exactly() {
    let unpadded = STANDARD.trim_end_matches('=');
    let url_safe = STANDARD.replace('/', "_");
    let stray_bits = STANDARD.replace("ZxpY=", "ZxpZ=");
    for signature in [
        "",
        " ",
        "v1",
        ",",
        "v1,",
        "v1,AAAA",
        "v1,!!!!",
        unpadded,
        &url_safe,
        &stray_bits,
        STANDARD.strip_prefix("v1,").unwrap(),
        &STANDARD.replace(',', "="),
        &format!("{STANDARD} v1,AAAA"),
        &format!("{STANDARD}\tv1,AAAA"),
        &"a".repeat(10_000),
    ] {
        let checked = Standard { signature, ..GOOD }.check();
        assert_eq!(checked, Err(FormatError::Signature), "{signature:?}");
    }
    // Well-formed, and of versions that never count: no downgrade.
    let code = STANDARD.strip_prefix("v1,").unwrap();
    for signature in [
        format!("v0,{code}"),
        format!("v1a,{code}"),
        format!("V1,{code}"),
    ] {
        assert_eq!(
            Standard {
                signature: &signature,
                ..GOOD
            }
            .check(),
            MISMATCH,
            "{signature}"
        );
    }
    for id in ["", "msg.1", "msg 1", "msg\u{7f}", "é"] {
        assert_eq!(
            Standard { id, ..GOOD }.check(),
            Err(FormatError::MessageId),
            "{id:?}"
        );
    }
}

#[test]
fn timestamps_are_plain_seconds() {
    for timestamp in [
        "",
        "0x1",
        "1800000000abc",
        " 1800000000",
        "1800000000 ",
        "+1800000000",
        "-1800000000",
        "01800000000",
        "00",
        "1800000000.0",
        "1.8e9",
        "1800000000000",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551616",
        "1111111111111111111111111111111111111111",
        "１８００００００００",
        "2027-01-15T08:00:00Z",
    ] {
        let checked = Standard { timestamp, ..GOOD }.check();
        assert_eq!(checked, Err(FormatError::Timestamp), "{timestamp:?}");
    }
    for timestamp in ["0", "1", "99999999999"] {
        assert_eq!(
            Standard { timestamp, ..GOOD }.check(),
            MISMATCH,
            "{timestamp}"
        );
    }
}

#[test]
fn the_window_is_five_minutes_either_way_and_comes_after_the_code() {
    let at = |now| Standard { now, ..GOOD }.check();
    let outside = |skew_seconds| {
        Ok(Verdict::OutOfWindow {
            by: 0,
            skew_seconds,
        })
    };
    assert_eq!(at(NOW + 300), SIGNED);
    assert_eq!(at(NOW - 300), SIGNED);
    assert_eq!(at(NOW + 301), outside(301));
    assert_eq!(at(NOW - 301), outside(-301));
    assert_eq!(at(0), outside(-1_800_000_000));
    assert_eq!(at(u64::MAX), outside(i64::MAX));
    assert_eq!(
        Standard {
            now: 0,
            secrets: &[OLD_WHSEC],
            ..GOOD
        }
        .check(),
        MISMATCH
    );
    // GitHub signs no time.
    assert_eq!(github(GITHUB.as_bytes(), &[SECRET], BODY), SIGNED);
}

#[test]
fn a_secret_that_is_none_is_refused_without_being_shown() {
    let standard = |text: &str| SigningKey::parse(Preset::StandardWebhooks, text).err();
    assert_eq!(standard("whsec_!!!!"), Some(KeyError::NotBase64));
    assert_eq!(standard("whsec_"), Some(KeyError::TooShort { bytes: 0 }));
    assert_eq!(
        standard("whsec_YQ=="),
        Some(KeyError::TooShort { bytes: 1 })
    );
    assert_eq!(standard(SECRET), Some(KeyError::NoPrefix));
    assert_eq!(
        standard(&format!("v1,{WHSEC}")),
        Some(KeyError::VersionBefore)
    );
    assert_eq!(
        standard(&format!("{WHSEC}\n")),
        Some(KeyError::ControlCharacter)
    );
    let github = |text: &str| SigningKey::parse(Preset::Github, text).err();
    assert_eq!(
        github("fifteen bytes.."),
        Some(KeyError::TooShort { bytes: 15 })
    );
    assert_eq!(github("sixteen bytes..."), None);
    assert_eq!(
        github(&format!("{SECRET}\r\n")),
        Some(KeyError::ControlCharacter)
    );
    let shown = format!("{:?}", key(Preset::Github, SECRET));
    assert_eq!(shown, "SigningKey(github)");
}

#[test]
fn a_tenants_secret_is_derived_from_the_master_secret() {
    // printf acme | openssl dgst -sha256 -hmac fp_test_secret_0123456789abcdef
    const HEX: &str = "8648dbf26a227a7e1a42a1091072e48bc45b1cc01f367db4edcc8655008c9eb8";
    const BASE64: &str = "whsec_hkjb8moien4aQqEJEHLki8RbHMAfNn207cyGVQCMnrg=";
    let github = derive_secret(Preset::Github, SECRET, "acme").unwrap();
    assert_eq!(github, HEX);
    let standard = derive_secret(Preset::StandardWebhooks, SECRET, "acme").unwrap();
    assert_eq!(standard, BASE64);
    assert_ne!(
        derive_secret(Preset::Github, SECRET, "acme2").unwrap(),
        github
    );
    // What is derived is a secret in the preset's form.
    key(Preset::Github, &github);
    key(Preset::StandardWebhooks, &standard);
    let short = derive_secret(Preset::Github, "short", "acme");
    assert_eq!(short, Err(KeyError::TooShort { bytes: 5 }));
}

#[test]
fn presets_are_known_by_name() {
    for name in Preset::NAMES {
        assert_eq!(Preset::from_name(name).unwrap().name(), name);
    }
    assert_eq!(Preset::from_name("GitHub"), None);
}

proptest! {
    #[test]
    fn arbitrary_headers_never_panic(
        names in prop::collection::vec(0..7_usize, 0..6),
        value in prop::collection::vec(any::<u8>(), 0..80),
        now in any::<u64>(),
    ) {
        const NAMES: [&str; 7] = [
            "x-hub-signature-256", "webhook-signature", "webhook-id", "webhook-timestamp",
            "svix-signature", "svix-id", "svix-timestamp",
        ];
        let headers: Vec<_> = names.iter().map(|at| (NAMES[*at], value.as_slice())).collect();
        for preset in [Preset::Github, Preset::StandardWebhooks] {
            if let Ok(presented) = Presented::read(preset, &headers) {
                let text = if preset == Preset::Github { SECRET } else { WHSEC };
                let verdict = presented.verify(&[key(preset, text)], BODY, now);
                let signed = matches!(verdict, Verdict::Signed { .. });
                prop_assert!(!signed, "{headers:?}");
            }
        }
    }

    #[test]
    fn what_is_signed_verifies(
        body in prop::collection::vec(any::<u8>(), 0..200),
        id in "[!-\\-/-~]{1,40}",
        now in 1..99_999_999_999_u64,
        off in -300..=300_i64,
    ) {
        for (preset, text) in [(Preset::Github, SECRET), (Preset::StandardWebhooks, WHSEC)] {
            let key = key(preset, text);
            let headers = sign(&key, &id, now, &body).unwrap();
            let headers: Vec<_> =
                headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
            let presented = Presented::read(preset, &headers).unwrap();
            let verdict = presented.verify(&[key], &body, now.saturating_add_signed(off));
            prop_assert_eq!(verdict, Verdict::Signed { by: 0 });
        }
    }
}
