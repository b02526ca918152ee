//! Timestamps, the window, secrets, names; and that no bytes make it panic.

use fencepost_identity::signature::{
    FormatError, KeyError, Sending, SigningKey, derive_secret, sign,
};
use proptest::prelude::*;

use crate::fixtures::{
    BODY, GITHUB, GOOD, MISMATCH, NOW, OLD_WHSEC, Outcome, SECRET, SIGNED, Standard, WHSEC, check,
    github, key, scheme,
};

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
    let outside = |skew_seconds| Ok(Outcome::OutOfWindow(skew_seconds));
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
    let standard = |text: &str| SigningKey::parse(&scheme("standard-webhooks"), text).err();
    assert_eq!(standard("whsec_!!!!"), Some(KeyError::NotBase64));
    assert_eq!(standard("whsec_"), Some(KeyError::TooShort { bytes: 0 }));
    assert_eq!(
        standard("whsec_YQ=="),
        Some(KeyError::TooShort { bytes: 1 })
    );
    assert_eq!(
        standard(SECRET),
        Some(KeyError::NoPrefix("whsec_".to_owned()))
    );
    assert_eq!(
        standard(&format!("v1,{WHSEC}")),
        Some(KeyError::VersionBefore)
    );
    assert_eq!(
        standard(&format!("{WHSEC}\n")),
        Some(KeyError::ControlCharacter)
    );
    let github = |text: &str| SigningKey::parse(&scheme("github"), text).err();
    assert_eq!(
        github("fifteen bytes.."),
        Some(KeyError::TooShort { bytes: 15 })
    );
    assert_eq!(github("sixteen bytes..."), None);
    assert_eq!(
        github(&format!("{SECRET}\r\n")),
        Some(KeyError::ControlCharacter)
    );
    let shown = format!("{:?}", key("github", SECRET));
    assert_eq!(shown, "SigningKey(redacted)");
}

#[test]
fn a_tenants_secret_is_derived_from_the_master_secret() {
    // printf acme | openssl dgst -sha256 -hmac fp_test_secret_0123456789abcdef
    const HEX: &str = "8648dbf26a227a7e1a42a1091072e48bc45b1cc01f367db4edcc8655008c9eb8";
    const BASE64: &str = "whsec_hkjb8moien4aQqEJEHLki8RbHMAfNn207cyGVQCMnrg=";
    let github = derive_secret(&scheme("github"), SECRET, "acme").unwrap();
    assert_eq!(github, HEX);
    let standard = derive_secret(&scheme("standard-webhooks"), SECRET, "acme").unwrap();
    assert_eq!(standard, BASE64);
    assert_ne!(
        derive_secret(&scheme("github"), SECRET, "acme2").unwrap(),
        github
    );
    // What is derived is a secret in the preset's form.
    key("github", &github);
    key("standard-webhooks", &standard);
    let short = derive_secret(&scheme("github"), "short", "acme");
    assert_eq!(short, Err(KeyError::TooShort { bytes: 5 }));
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
        for (preset, text) in [("github", SECRET), ("standard-webhooks", WHSEC)] {
            let checked = check(&scheme(preset), &headers, &[key(preset, text)], BODY, now);
            prop_assert!(!matches!(checked, Ok(Outcome::Signed(_))), "{headers:?}");
        }
    }

    #[test]
    fn what_is_signed_verifies(
        body in prop::collection::vec(any::<u8>(), 0..200),
        id in "[!-\\-/-~]{1,40}",
        now in 1..99_999_999_999_u64,
        off in -300..=300_i64,
    ) {
        for (preset, text) in [("github", SECRET), ("standard-webhooks", WHSEC)] {
            let (scheme, key) = (scheme(preset), key(preset, text));
            let sending =
                Sending { method: "POST", segment: None, message_id: &id, now, body: &body };
            let headers = sign(&scheme, &key, &sending).unwrap();
            let headers: Vec<_> =
                headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
            let then = now.saturating_add_signed(off);
            prop_assert_eq!(check(&scheme, &headers, &[key], &body, then), SIGNED);
        }
    }
}
