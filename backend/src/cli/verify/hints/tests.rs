use fencepost_identity::{
    config::Verify,
    signature::{Sending, Token, sign},
};

use super::{change::BodyChange, *};

const SECRET: &str = "fp_test_secret_0123456789abcdef";
const EXPIRED: &str = "fp_gone_secret_0123456789abcdef";
const NOW: u64 = 1_800_000_000;
const BODY: &[u8] = b"{\"id\":\"r-1\",\r\n\"rev\":1}";

/// How a source is configured, and what its sender does instead.
struct Odd<'o> {
    /// `verify = …`
    verify: &'o str,
    sender: &'o str,
    secret: &'o str,
    sender_secret: &'o str,
    body: &'o [u8],
    sender_body: &'o [u8],
}

const USUAL: Odd<'static> = Odd {
    verify: "verify = \"github\"",
    sender: "verify = \"github\"",
    secret: SECRET,
    sender_secret: SECRET,
    body: BODY,
    sender_body: BODY,
};

const STANDARD: &str = "verify = \"standard-webhooks\"";
const STRIPE: &str = "verify = \"stripe\"";
const SQUARE: &str = "verify = { preset = \"square\", url = \"https://edge.test/hook\" }";

impl Odd<'_> {
    fn hints(&self) -> Vec<Hint> {
        let sender = Verify::parse(self.sender).unwrap().scheme;
        let key = SigningKey::parse(&sender, self.sender_secret).unwrap();
        let sending = Sending {
            method: "POST",
            segment: None,
            message_id: "msg_1",
            now: NOW - 86_400,
            body: self.sender_body,
        };
        let headers = sign(&sender, &key, &sending).unwrap();
        let headers: Vec<_> = headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes()))
            .collect();
        let verify = Verify::parse(self.verify).unwrap();
        hints(&Tried {
            scheme: &verify.scheme,
            preset: verify.preset.as_deref(),
            request: Request {
                method: "POST",
                segment: None,
                headers: &headers,
            },
            secrets: vec![self.secret],
            expired: vec![("old", EXPIRED)],
            body: self.body,
            other_body: None,
            now: NOW,
        })
    }

    /// Whether one of the hints is exactly this, in words.
    fn tells(&self, words: &str) {
        let hints: Vec<_> = self.hints().iter().map(ToString::to_string).collect();
        let expected = format!("the signature would hold with {words}");
        assert!(hints.contains(&expected), "{expected}\n{hints:#?}");
        let said = hints.join("\n");
        assert!(!said.contains(self.secret) && !said.contains(self.sender_secret.trim()));
        assert!(!said.contains("r-1"));
    }
}

/// A source of the scheme that GitHub has, with one key otherwise.
fn custom(rest: &str) -> String {
    format!(
        "[verify]\n{rest}\n[verify.signature]\nheader = \"X-Sig\"\nshape = \"value\"\nencoding = \
         \"hex\"\n"
    )
}

#[test]
fn a_secret_of_another_form_is_told() {
    const BASE64: &str = "whsec_ZnBfdGVzdF9zZWNyZXRfMDEyMzQ1Njc4OWFiY2RlZg==";
    const HEX: &str = "66705f746573745f7365637265745f30313233343536373839616263646566";
    let text = "[verify]\npreset = \"standard-webhooks\"\n[verify.secret]\nencoding = \"text\"\n";
    let hex = text.replace("\"text\"", "\"hex\"");
    let bare = text.replace("\"text\"", "\"base64\"");
    for (verify, sender, secret, words) in [
        (STANDARD, text, BASE64, "secret = { encoding = \"text\" }"),
        (
            text,
            STANDARD,
            BASE64,
            "secret = { encoding = \"base64\", prefix = \"whsec_\" }",
        ),
        (
            STANDARD,
            bare.as_str(),
            BASE64.trim_start_matches("whsec_"),
            "secret = { encoding = \"base64\" }",
        ),
        (text, hex.as_str(), HEX, "secret = { encoding = \"hex\" }"),
    ] {
        let odd = Odd {
            verify,
            sender,
            secret,
            sender_secret: secret,
            ..USUAL
        };
        odd.tells(words);
    }
}

#[test]
fn blanks_around_a_secret_are_told() {
    for secret in [format!("{SECRET}\n"), format!(" {SECRET}")] {
        Odd {
            secret: &secret,
            ..USUAL
        }
        .tells("the secret without the blanks or line endings around it");
    }
    let token = Odd {
        verify: "verify = \"gitlab-token\"",
        sender: "verify = \"gitlab-token\"",
        secret: &format!("{SECRET} "),
        ..USUAL
    };
    token.tells("the secret without the blanks or line endings around it");
}

#[test]
fn a_body_that_was_changed_on_its_way_into_the_file_is_told() {
    for (sender_body, change) in [
        (&b"{\"id\":1}"[..], BodyChange::WithoutFinalLineEnding),
        (b"{\"id\":1}\n\n", BodyChange::WithFinalLf),
        (b"{\"id\":1}\n\r\n", BodyChange::WithFinalCrLf),
        (b"\xef\xbb\xbf{\"id\":1}\n", BodyChange::WithBom),
    ] {
        let odd = Odd {
            body: b"{\"id\":1}\n",
            sender_body,
            ..USUAL
        };
        odd.tells(&Change::Body(change).to_string());
    }
    let lf = b"{\"id\":\n1}";
    let crlf = b"{\"id\":\r\n1}";
    let bom = [b"\xef\xbb\xbf", &lf[..]].concat();
    for (body, sender_body, change) in [
        (&crlf[..], &lf[..], BodyChange::CrLfToLf),
        (lf, crlf, BodyChange::LfToCrLf),
        (&bom, lf, BodyChange::WithoutBom),
        (b"{}\r\n", b"{}", BodyChange::WithoutFinalLineEnding),
    ] {
        let odd = Odd {
            body,
            sender_body,
            ..USUAL
        };
        odd.tells(&Change::Body(change).to_string());
    }
}

#[test]
fn another_algorithm_and_another_encoding_are_told() {
    let weak = "algorithm = \"sha1\"\nallow_weak = true";
    for (verify, sender, words) in [
        (
            custom(""),
            custom("algorithm = \"sha512\""),
            "algorithm = \"sha512\"",
        ),
        (custom(weak), custom(""), "algorithm = \"sha256\""),
        (
            custom(""),
            custom(weak),
            "algorithm = \"sha1\" (and allow_weak = true)",
        ),
        (
            custom(""),
            custom("").replace("hex", "base64"),
            "encoding = \"base64\" in `signature`",
        ),
        (
            custom("").replace("hex", "base64"),
            custom(""),
            "encoding = \"hex\" in `signature`",
        ),
        (
            custom(""),
            custom("").replace("\"value\"", "\"prefix\"\nprefix = \"sha256=\""),
            "shape = \"prefix\", prefix = \"sha256=\" in `signature`",
        ),
        (
            custom("").replace("\"value\"", "\"prefix\"\nprefix = \"sha256=\""),
            custom(""),
            "shape = \"value\" in `signature`",
        ),
    ] {
        let odd = Odd {
            verify: &verify,
            sender: &sender,
            ..USUAL
        };
        odd.tells(words);
    }
}

#[test]
fn another_template_is_told() {
    let body_alone = "verify = { preset = \"stripe\", template = \"{body}\" }";
    let glued = "verify = { preset = \"stripe\", template = \"{timestamp}{body}\" }";
    for (verify, sender, words) in [
        (STRIPE, body_alone, "template = \"{body}\""),
        (body_alone, STRIPE, "template = \"{timestamp}.{body}\""),
        (STRIPE, glued, "template = \"{timestamp}{body}\""),
    ] {
        let odd = Odd {
            verify,
            sender,
            ..USUAL
        };
        odd.tells(words);
    }
}

#[test]
fn a_time_that_the_source_does_not_know_of_is_told() {
    let dated = |header: &str, format: &str| {
        custom("template = \"{timestamp}.{body}\"")
            + &format!("[verify.timestamp]\nheader = \"{header}\"\nformat = \"{format}\"\n")
    };
    let words = "template = \"{timestamp}.{body}\" and timestamp = { header = \"X-Ts\", format = \
                 \"unix-seconds\" }";
    for verify in [custom(""), dated("X-Time", "unix-seconds")] {
        let odd = Odd {
            verify: &verify,
            sender: &dated("X-Ts", "unix-seconds"),
            ..USUAL
        };
        odd.tells(words);
    }
    let no_stamp = "[verify.signature]\nheader = \"Stripe-Signature\"\nshape = \"pairs\"\nkey = \
                    \"v1\"\nencoding = \"hex\"\n";
    let pairs = Odd {
        verify: no_stamp,
        sender: STRIPE,
        ..USUAL
    };
    pairs.tells(
        "template = \"{timestamp}.{body}\" and timestamp = { pair = \"t\", format = \
         \"unix-seconds\" }",
    );
    for (own, others) in [
        ("unix-seconds", "unix-milliseconds"),
        ("unix-milliseconds", "unix-seconds"),
        ("unix-seconds", "rfc3339"),
    ] {
        let odd = Odd {
            verify: &dated("X-Ts", own),
            sender: &dated("X-Ts", others),
            ..USUAL
        };
        odd.tells(&format!("format = \"{others}\" in `timestamp`"));
    }
}

#[test]
fn a_time_in_the_body_is_read_in_its_other_form() {
    let body = b"{\"webhookTimestamp\":1800000000}";
    let odd = Odd {
        verify: "verify = \"linear\"",
        sender: "verify = \"linear\"",
        body,
        sender_body: body,
        ..USUAL
    };
    assert_eq!(
        odd.hints().first(),
        Some(&Hint::Settings(vec![Change::TimeFormat(
            fencepost_identity::signature::StampFormat::UnixSeconds
        )]))
    );
}

#[test]
fn another_url_is_told() {
    for (from, to) in [
        ("https://edge.test/hook", "https://edge.test/hook/"),
        ("https://edge.test/hook", "http://edge.test/hook"),
        ("https://edge.test/hook/", "https://edge.test/hook"),
        ("http://edge.test/hook", "https://edge.test/hook"),
    ] {
        let odd = Odd {
            verify: &SQUARE.replace("https://edge.test/hook", from),
            sender: &SQUARE.replace("https://edge.test/hook", to),
            ..USUAL
        };
        odd.tells(&format!("url = \"{to}\""));
    }
}

#[test]
fn another_preset_is_told() {
    let odd = Odd {
        sender: "verify = \"shopify\"",
        ..USUAL
    };
    odd.tells("verify = \"shopify\"");
    assert_eq!(odd.hints(), [Hint::Preset("shopify")]);
}

#[test]
fn the_other_content_encoding_is_told() {
    let github = Verify::parse(USUAL.verify).unwrap().scheme;
    let key = SigningKey::parse(&github, SECRET).unwrap();
    let sending = Sending {
        method: "POST",
        segment: None,
        message_id: "msg_1",
        now: NOW,
        body: BODY,
    };
    let headers = sign(&github, &key, &sending).unwrap();
    let headers: Vec<_> = headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_bytes()))
        .collect();
    let mut tried = Tried {
        scheme: &github,
        preset: Some("github"),
        request: Request {
            method: "POST",
            segment: None,
            headers: &headers,
        },
        secrets: vec![SECRET],
        expired: vec![],
        body: b"compressed",
        other_body: Some(OtherBody {
            named: "decoded",
            bytes: Cow::Borrowed(BODY),
        }),
        now: NOW,
    };
    let expected = Hint::Settings(vec![Change::ContentEncoding("decoded")]);
    assert_eq!(hints(&tried), [expected]);
    tried.other_body = None;
    assert_eq!(hints(&tried), []);
}

#[test]
fn a_token_behind_a_word_is_told() {
    let token = |prefix: &str| {
        Scheme::Token(Token::Header {
            name: "Authorization".to_owned(),
            prefix: prefix.to_owned(),
        })
    };
    let value = format!("Bearer {SECRET}");
    let tried = Tried {
        scheme: &token(""),
        preset: None,
        request: Request {
            method: "POST",
            segment: None,
            headers: &[("authorization", value.as_bytes())],
        },
        secrets: vec![SECRET],
        expired: vec![],
        body: BODY,
        other_body: None,
        now: NOW,
    };
    let expected = Hint::Settings(vec![Change::Prefix("Bearer ")]);
    assert_eq!(hints(&tried), [expected]);
}

#[test]
fn two_things_at_once_are_told_where_neither_helps_alone() {
    let odd = Odd {
        verify: &custom(""),
        sender: &custom("").replace("hex", "base64"),
        sender_body: b"{}",
        body: b"{}\n",
        ..USUAL
    };
    let hints = odd.hints();
    let [Hint::Settings(changes)] = &hints[..] else {
        panic!("{hints:?}");
    };
    assert_eq!(
        changes[..],
        [
            Change::Encoding(fencepost_identity::signature::Encoding::Base64),
            Change::Body(BodyChange::WithoutFinalLineEnding),
        ]
    );
    assert!(hints[0].to_string().contains(", and the body without"));
}

#[test]
fn another_secret_or_another_body_has_no_hint() {
    for odd in [
        Odd {
            sender_secret: "fp_old_secret_0123456789abcdef",
            ..USUAL
        },
        Odd {
            sender_body: b"{\"id\":2}",
            ..USUAL
        },
    ] {
        assert_eq!(odd.hints(), []);
    }
}

#[test]
fn a_secret_that_is_not_taken_any_more_is_named() {
    let odd = Odd {
        sender_secret: EXPIRED,
        ..USUAL
    };
    assert_eq!(odd.hints(), [Hint::Expired("old".to_owned())]);
}

#[test]
fn what_holds_needs_no_other_setting() {
    assert_eq!(USUAL.hints(), []);
}

#[test]
fn a_header_that_is_not_there_is_named() {
    let odd = Odd {
        verify: STANDARD,
        secret: "whsec_ZnBfdGVzdF9zZWNyZXRfMDEyMzQ1Njc4OWFiY2RlZg==",
        sender_secret: "fp_old_secret_0123456789abcdef",
        ..USUAL
    };
    let names = ["webhook-signature", "svix-signature"].map(str::to_owned);
    assert_eq!(odd.hints(), [Hint::NoHeader(names.to_vec())]);
}

#[test]
fn an_old_delivery_has_the_time_that_it_was_signed_at() {
    let hint = clock(NOW, 600);
    assert_eq!(
        hint.to_string(),
        "the delivery was signed 600 s ago; if it was stored since, say --at 1799999400"
    );
    let ahead = clock(NOW, -600).to_string();
    assert!(
        ahead.contains("future") && ahead.ends_with("--at 1800000600"),
        "{ahead}"
    );
}
