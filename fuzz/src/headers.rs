//! The headers of a signature, under a scheme of any form.

use std::sync::LazyLock;

use fencepost_identity::{
    config::Verify,
    signature::{Presented, Request, Scheme, SigningKey, Verdict},
};

use crate::Choices;

const NOW: u64 = 1_800_000_000;
const BODY: &[u8] = br#"{"id":"r-1","rev":1}"#;
const SECRET: &str = "fp_test_secret_0123456789abcdef";
/// HMAC-SHA256 of the body and of `1800000000.` and the body, in hexadecimal digits and base64.
const CODES: [&str; 4] = [
    "7ecc9b841c875559e7d3dba817b775de01447900abbf3ee90e859a8981fb72d5",
    "fsybhByHVVnn09uoF7d13gFEeQCrvz7pDoWaiYH7ctU=",
    "98ea336e77518e19d3795c9c6c25e8d11bfc2c379966d4d419469988e50bee66",
    "mOozbndRjhnTeVycbCXo0Rv8LDeZZtTUGUaZiOUL7mY=",
];
const PIECES: &[&str] = &[
    "",
    "sha256=",
    "v1=",
    "v0=",
    "t=1800000000",
    "t=",
    "v1,",
    "v1a,",
    ",",
    ";",
    " ",
    "=",
    "\t",
    "SHA256=",
    CODES[0],
    CODES[1],
    CODES[2],
    CODES[3],
    "0000000000000000000000000000000000000000000000000000000000000000",
    SECRET,
    "Bearer ",
    "Basic ",
    "ZnBfdGVzdF9zZWNyZXRfMDEyMzQ1Njc4OWFiY2RlZg==",
    "1800000000",
    "1800000301",
    "msg.1",
];
const NAMES: &[&str] = &[
    "X-S",
    "x-s",
    "X-Old",
    "X-More",
    "X-T",
    "X-I",
    "Authorization",
    "Other",
];

const SIGNATURES: &[&str] = &[
    "",
    ", shape = \"prefix\", prefix = \"sha256=\"",
    ", shape = \"pairs\", key = \"v1\"",
    ", shape = \"pairs\", key = [\"v1\", \"v0\"], separator = \";\", equals = \"=\"",
    ", shape = \"versioned\", key = \"v1\"",
    ", shape = \"list\", extra_headers = [\"X-More\"]",
    ", shape = \"list\", prefix = \"sha256=\"",
];

/// Every form of a signature with every encoding, dated and not.
static SCHEMES: LazyLock<Vec<Scheme>> = LazyLock::new(|| {
    let mut texts = vec![
        "{ kind = \"basic\" }".to_owned(),
        "{ kind = \"token\", signature = { header = \"X-S\" } }".to_owned(),
        "{ kind = \"token\", signature = { header = \"X-S\", shape = \"prefix\", \
         prefix = \"Bearer \" } }"
            .to_owned(),
    ];
    for signature in SIGNATURES {
        for encoding in ["hex", "base64"] {
            let form = format!(
                "signature = {{ header = [\"X-S\", \"X-Old\"], \
                                encoding = \"{encoding}\"{signature} }}"
            );
            texts.push(format!("{{ {form} }}"));
            let time = match signature.contains("pairs") {
                true => "pair = \"t\"",
                false => "header = \"X-T\"",
            };
            texts.push(format!(
                "{{ {form}, template = \"{{timestamp}}.{{body}}\", \
                 timestamp = {{ {time}, format = \"unix-seconds\" }} }}"
            ));
            texts.push(format!(
                "{{ {form}, template = \"{{id}}.{{body}}\", id = {{ header = \"X-I\" }} }}"
            ));
        }
    }
    let schemes = texts
        .iter()
        .filter_map(|text| Verify::parse(&format!("verify = {text}")).ok());
    schemes.map(|verify| verify.scheme).collect()
});

/// Headers: a signature holds only where a right code, or the secret, stands in them as it is.
pub fn headers(data: &[u8]) {
    let mut choices = Choices::new(data);
    let scheme = &SCHEMES[choices.below(SCHEMES.len())];
    let mut lines: Vec<(&str, Vec<u8>)> = Vec::new();
    for _ in 0..choices.below(6) {
        let name = choices.of(NAMES);
        let mut value = Vec::new();
        for _ in 0..choices.below(9) {
            value.extend_from_slice(choices.of(PIECES).as_bytes());
        }
        choices.damage(&mut value);
        lines.push((name, value));
    }
    lines.push((choices.of(NAMES), choices.clone().rest().to_vec()));
    let borrowed: Vec<(&str, &[u8])> = lines
        .iter()
        .map(|(name, value)| (*name, value.as_slice()))
        .collect();
    let request = Request {
        method: "POST",
        segment: None,
        headers: &borrowed,
    };
    let secret = match scheme {
        Scheme::Basic => "fp_test_secret:0123456789abcdef",
        Scheme::Signed(_) | Scheme::Token(_) => SECRET,
    };
    let key = SigningKey::parse(scheme, secret).unwrap_or_else(|error| panic!("{error}"));
    let Ok(presented) = Presented::read(scheme, &request) else {
        return;
    };
    let told = format!("{presented:?}");
    assert!(!told.contains(SECRET), "a secret is printed");
    let verdict = presented.verify(&[key], BODY, NOW);
    if matches!(verdict, Verdict::Signed(_)) {
        let stands = |text: &str| {
            let stands = |value: &Vec<u8>| {
                let windows = value.windows(text.len());
                windows
                    .into_iter()
                    .any(|part| part.eq_ignore_ascii_case(text.as_bytes()))
            };
            lines.iter().any(|(_, value)| stands(value))
        };
        let basic = "ZnBfdGVzdF9zZWNyZXQ6MDEyMzQ1Njc4OWFiY2RlZg==";
        let any = CODES.iter().chain([&SECRET, &basic]);
        assert!(
            any.into_iter().any(|text| stands(text)),
            "{scheme:?}: {lines:?}"
        );
    }
}
