//! What can be said of a scheme.

use fencepost_identity::{
    config::{Handshake, Verify, preset_names, preset_text},
    signature::{
        Algorithm, Encoding, Place, Proof, Scheme, SecretEncoding, Shape, Signed, StampFormat,
        StampSource, Token, Window, Word,
    },
};

use crate::parse;

/// What a preset needs beside its name.
fn needed(name: &str) -> &'static str {
    match name {
        "intercom" => ", allow_weak = true",
        "meta" => ", verify_token = \"meta_token\"",
        "square" => ", url = \"https://edge.test/hook\"",
        _ => "",
    }
}

fn preset(name: &str) -> Verify {
    parse(&format!("{{ preset = \"{name}\"{} }}", needed(name))).unwrap()
}

fn signed(verify: &Verify) -> &Signed {
    match &verify.scheme {
        Scheme::Signed(signed) => signed,
        Scheme::Token(_) | Scheme::Basic => panic!("no signature: {verify:?}"),
    }
}

#[test]
fn every_preset_is_one_and_says_what_it_is() {
    let names: Vec<_> = preset_names().collect();
    assert_eq!(names.len(), 18);
    assert!(names.is_sorted(), "{names:?}");
    for name in names {
        let text = preset_text(name).unwrap();
        assert!(text.starts_with("# "), "{name}");
        let verify = preset(name);
        assert_eq!(verify.preset.as_deref(), Some(name));
        let by_name = Verify::parse(&format!("verify = \"{name}\""));
        assert_eq!(by_name.is_ok(), needed(name).is_empty(), "{name}");
        // A preset is what one would write oneself: every key of it is read and known.
        let lines = text.lines().map(|line| match line.strip_prefix('[') {
            Some(table) => format!("[verify.{table}\n"),
            None => format!("{line}\n"),
        });
        let own = format!("[verify]\n{}", lines.collect::<String>());
        let more = needed(name).trim_start_matches(", ");
        let own = own.replacen("[verify]\n", &format!("[verify]\n{more}\n"), 1);
        let own = Verify::parse(&own).unwrap_or_else(|errors| panic!("{name}: {errors}"));
        assert_eq!(own.scheme, verify.scheme, "{name}");
        assert_eq!(own.handshake, verify.handshake, "{name}");
        assert_eq!(own.form, verify.form, "{name}");
    }
}

#[test]
fn what_a_preset_lacks_is_told() {
    for (name, told) in [
        ("intercom", "allow_weak = true"),
        ("meta", "verify_token = "),
        ("square", "`{url}` is signed: say `url`"),
    ] {
        let mistakes = parse(&format!("\"{name}\"")).unwrap_err();
        assert!(mistakes.contains(told), "{mistakes}");
        assert!(mistakes.starts_with("line 1: `verify`: "), "{mistakes}");
    }
    assert!(
        parse("\"strip\"")
            .unwrap_err()
            .contains("did you mean `stripe`?")
    );
}

#[test]
fn a_scheme_of_ones_own_has_every_part() {
    let verify = Verify::parse(
        r#"
        [verify]
        algorithm = "sha512"
        template = "{method}:{url}:{id}:{timestamp}:{body}"
        tolerance_seconds = { past = 600, future = 60 }
        url = "https://edge.test/hooks/{tenant}"
        form = "payload"
        handshake = "dropbox"
        [verify.signature]
        header = "X-Sig"
        extra_headers = ["X-Sig-2"]
        shape = "pairs"
        key = ["v2", "v1"]
        separator = ";"
        equals = ":"
        encoding = "base64url-unpadded"
        [verify.timestamp]
        pair = "ts"
        format = "imf-fixdate"
        [verify.id]
        header = "X-Id"
        [verify.secret]
        encoding = "hex"
        prefix = "key_"
        "#,
    );
    let verify = verify.unwrap();
    let signed = signed(&verify);
    assert_eq!(signed.algorithm, Algorithm::HmacSha512);
    assert_eq!(signed.encoding, Encoding::Base64UrlUnpadded);
    let place = Place {
        signature: "X-Sig".to_owned(),
        id: Some("X-Id".to_owned()),
        timestamp: None,
    };
    assert_eq!(signed.places, [place]);
    assert_eq!(signed.extra_headers, ["X-Sig-2"]);
    let pairs = Shape::Pairs {
        separator: ';',
        equals: ':',
        keys: vec!["v2".to_owned(), "v1".to_owned()],
    };
    assert_eq!(signed.shape, pairs);
    let stamp = signed.stamp.as_ref().unwrap();
    assert_eq!(stamp.source, StampSource::Pair("ts".to_owned()));
    assert_eq!(stamp.format, StampFormat::ImfFixdate);
    let window = Window::Within {
        past: 600,
        future: 60,
    };
    assert_eq!(stamp.window, window);
    assert_eq!(signed.secret.encoding, SecretEncoding::Hex);
    assert_eq!(signed.secret.prefix, "key_");
    assert!(signed.template.names(Word::Method) && signed.template.names(Word::Url));
    assert_eq!(verify.handshake, Some(Handshake::Dropbox));
    assert_eq!(verify.form.as_deref(), Some("payload"));
    assert_eq!(verify.scheme.proof(), Proof::Body);
}

#[test]
fn what_a_source_says_replaces_what_its_preset_says() {
    let verify =
        parse("{ preset = \"stripe\", tolerance_seconds = 600, secret = { encoding = \"hex\" } }");
    let verify = verify.unwrap();
    let own = signed(&verify);
    let window = Window::Within {
        past: 600,
        future: 600,
    };
    assert_eq!(own.stamp.as_ref().unwrap().window, window);
    assert_eq!(own.secret.encoding, SecretEncoding::Hex);
    assert_eq!(own.shape, signed(&preset("stripe")).shape);
    let off = parse("{ preset = \"slack\", tolerance_seconds = \"off\" }").unwrap();
    assert_eq!(signed(&off).stamp.as_ref().unwrap().window, Window::Off);
}

#[test]
fn a_secret_that_is_shown_proves_the_sender_alone() {
    let header = parse(
        "{ kind = \"token\", signature = \
         { header = \"Authorization\", shape = \"prefix\", prefix = \"Bearer \" } }",
    );
    let token = Token::Header {
        name: "Authorization".to_owned(),
        prefix: "Bearer ".to_owned(),
    };
    assert_eq!(header.unwrap().scheme, Scheme::Token(token));
    let body = parse("{ kind = \"token\", signature = { pointer = \"/value/0/clientState\" } }");
    assert!(matches!(
        body.unwrap().scheme,
        Scheme::Token(Token::Body(_))
    ));
    let basic = parse("{ kind = \"basic\" }").unwrap();
    assert_eq!(basic.scheme, Scheme::Basic);
    assert_eq!(basic.scheme.proof(), Proof::SenderOnly);
}
