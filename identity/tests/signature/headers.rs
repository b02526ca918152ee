//! The headers: read exactly, or refused.

use fencepost_identity::signature::{FormatError, Presented, Request};

use crate::fixtures::{
    BODY, GITHUB, GOOD, MISMATCH, NOW, SECRET, SIGNED, STANDARD, Standard, WHSEC, check, github,
    key, scheme,
};

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
    let github = scheme("github");
    let read = |headers: &[(&str, &'static [u8])]| {
        let request = Request {
            method: "POST",
            segment: None,
            headers,
        };
        Presented::read(&github, &request).map(drop)
    };
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
        let keys = [key("standard-webhooks", WHSEC)];
        check(&scheme("standard-webhooks"), headers, &keys, BODY, NOW)
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
