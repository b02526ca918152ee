//! Properties of identities and keys.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use fencepost_identity::{
    envelope::EnvelopeError,
    identity::{Identity, Namespace, ReportId, Revision, Tenant, Version},
    json,
    key::ContentHash,
    mapping::{Input, Mapping, TenantForm, VersionForm, tenant_of_segment},
    pointer::{NotAPointer, Pointer},
    refusal::Refusal,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn any_identity() -> impl Strategy<Value = Identity> {
    let version = prop_oneof![
        any::<i64>().prop_map(|n| Version::Revision(Revision::new(n.unsigned_abs() >> 1).unwrap())),
        any::<[u8; 32]>().prop_map(|bytes| Version::Content(ContentHash::from_bytes(bytes))),
        Just(Version::Event),
    ];
    let id = "[^\\x00-\\x1f\\x7f]{1,20}";
    (id, "[a-z0-9_-]{1,64}", id, version).prop_map(|(tenant, namespace, report_id, version)| {
        Identity {
            tenant: Tenant::new(tenant).unwrap(),
            namespace: Namespace::new(namespace).unwrap(),
            report_id: ReportId::new(report_id).unwrap(),
            version,
        }
    })
}

proptest! {
    #[test]
    fn equal_keys_mean_equal_identities(one in any_identity(), other in any_identity()) {
        prop_assert_eq!(one == other, one.report_key() == other.report_key());
    }

    /// Whatever moves from one field to its neighbour makes another report.
    #[test]
    fn a_character_that_changes_fields_changes_the_key(
        identity in any_identity(),
        moved in "[a-z0-9]",
    ) {
        let mut left = identity.clone();
        left.tenant = Tenant::new(format!("{}{moved}", identity.tenant)).unwrap();
        let mut right = identity.clone();
        right.report_id = ReportId::new(format!("{moved}{}", identity.report_id)).unwrap();
        prop_assert_ne!(left.report_key(), identity.report_key());
        prop_assert_ne!(left.report_key(), right.report_key());
    }

    #[test]
    fn the_json_form_is_read_back(identity in any_identity()) {
        let text = serde_json::to_string(&identity).unwrap();
        prop_assert_eq!(Identity::from_json(text.as_bytes()), Ok(identity.clone()));
        prop_assert_eq!(identity.version.to_string().parse(), Ok(identity.version));
    }

    /// Order, white space, escapes and every member that no pointer names change nothing; a changed
    /// field always does.
    #[test]
    fn only_the_fields_count(
        tenant in "[^\\x00-\\x1f\\x7f]{1,20}",
        id in any::<i64>(),
        body in any::<String>(),
        noise in any::<String>(),
        other in any::<String>(),
    ) {
        let identify = |text: &str| {
            json::parse(text.as_bytes()).and_then(|payload| mapping().identify(&payload, None))
        };
        let plain = json!({"tenant": tenant, "id": id, "body": body}).to_string();
        let noisy = json!({"body": body, "noise": {"id": noise}, "id": id, "tenant": tenant});
        let expected = identify(&plain).unwrap();
        prop_assert_eq!(&identify(&noisy.to_string()).unwrap(), &expected);
        let spaced = serde_json::to_string_pretty(&noisy).unwrap();
        prop_assert_eq!(&identify(&spaced).unwrap(), &expected);
        prop_assert_eq!(&identify(&escaped(&noisy)).unwrap(), &expected);
        let changed = json!({"tenant": tenant, "id": id, "body": other}).to_string();
        prop_assert_eq!(identify(&changed).unwrap() == expected, body == other);
        let next = json!({"tenant": tenant, "id": id.wrapping_add(1), "body": body}).to_string();
        prop_assert_ne!(identify(&next).unwrap().report_key(), expected.report_key());
    }

    #[test]
    fn no_segment_makes_it_panic(segment in "(%|[0-9a-fA-F]|é|.){0,20}") {
        let _outcome = tenant_of_segment(&segment);
    }

    #[test]
    fn no_pointer_makes_it_panic(
        pointer in "[/~01a\u{e9}]{0,12}",
        document in "[\\[\\]{}:,\"a01]{0,20}",
    ) {
        let value = json::parse(document.as_bytes());
        if let (Ok(pointer), Ok(value)) = (Pointer::new(pointer), value) {
            let _found = pointer.find(&value);
        }
    }
}

fn mapping() -> Mapping {
    Mapping {
        tenant: TenantForm::Pointer(Pointer::new("/tenant").unwrap()),
        namespace: Namespace::new("test").unwrap(),
        report_id: Pointer::new("/id").unwrap(),
        version: VersionForm::Content(vec![Pointer::new("/body").unwrap()]),
    }
}

/// The document with every character of every string as an escape sequence.
fn escaped(value: &Value) -> String {
    match value {
        Value::String(text) => {
            let units = text.encode_utf16().map(|unit| format!("\\u{unit:04X}"));
            format!("\"{}\"", units.collect::<String>())
        }
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| {
                format!(
                    "{} : {}",
                    escaped(&Value::String(name.clone())),
                    escaped(value)
                )
            });
            format!("{{{}}}", members.collect::<Vec<_>>().join(",\n"))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => value.to_string(),
    }
}

#[test]
fn every_field_of_a_mapping_is_in_its_digest() {
    let base = mapping();
    let mut others = vec![base.clone(); 7];
    others[0].namespace = Namespace::new("other").unwrap();
    others[1].tenant = TenantForm::Route;
    others[2].tenant = TenantForm::Value(Tenant::new("/tenant").unwrap());
    others[3].report_id = Pointer::new("/di").unwrap();
    others[4].version = VersionForm::Event;
    others[5].version = VersionForm::Revision(Pointer::new("/body").unwrap());
    let pointers = ["/body", "/id"].map(|text| Pointer::new(text).unwrap());
    others[6].version = VersionForm::Content(pointers.to_vec());
    let mut swapped = base.clone();
    swapped.version = VersionForm::Content(pointers.into_iter().rev().collect());
    others.push(swapped);
    others.push(base);
    let digests: std::collections::BTreeSet<_> = others.iter().map(Mapping::digest).collect();
    assert_eq!(digests.len(), others.len());
}

#[test]
fn bounds_are_exact() {
    assert!(Tenant::new("t".repeat(255)).is_ok());
    assert_eq!(Tenant::new("t".repeat(256)), Err(Refusal::FieldTooLong));
    // Bytes, not characters.
    assert_eq!(Tenant::new("é".repeat(128)), Err(Refusal::FieldTooLong));
    assert!(ReportId::new("x".repeat(1024)).is_ok());
    assert_eq!(ReportId::new("x".repeat(1025)), Err(Refusal::FieldTooLong));
    assert!(Namespace::new("n".repeat(64)).is_ok());
    assert_eq!(Namespace::new("n".repeat(65)), Err(Refusal::FieldTooLong));
    assert_eq!(Namespace::new("Zendesk"), Err(Refusal::NotAnIdentifier));
    assert_eq!(Tenant::new("a\u{7f}"), Err(Refusal::ControlCharacter));
    assert!(
        Tenant::new("a\u{80}").is_ok(),
        "only the named control characters are refused"
    );
    assert_eq!(Revision::new(1 << 63), Err(Refusal::NumberOutOfRange));
    assert_eq!(
        Revision::from_digits(&"9".repeat(100)),
        Err(Refusal::NumberOutOfRange)
    );
}

#[test]
fn an_identity_document_is_read_strictly() {
    let read = |document: Value| Identity::from_json(document.to_string().as_bytes());
    let base = json!({"tenant": "t", "namespace": "n", "report_id": "1", "version": "event"});
    assert!(read(base.clone()).is_ok());
    for version in [
        json!("events"),
        json!({}),
        json!({"revision": 1, "content": "x"}),
        json!(null),
        json!({"content": "AB"}),
        json!({"revision": "1"}),
        json!(1),
    ] {
        let mut document = base.clone();
        document["version"] = version.clone();
        assert!(read(document).is_err(), "{version}");
    }
    let mut document = base.clone();
    document["extra"] = json!(1);
    assert_eq!(read(document), Err(EnvelopeError::UnknownMember("tenant")));
    let mut document = base.clone();
    document["report_id"] = json!(1);
    assert_eq!(
        read(document),
        Err(EnvelopeError::Identity(Refusal::NotAnIdentifier))
    );
}

#[test]
fn pointers_follow_the_standard() {
    let document = br#"{"foo":["bar","baz"],"":0,"a/b":1,"m~n":8,"~1":9,"0":3}"#;
    let value = json::parse(document).unwrap();
    let found = |pointer: &str| {
        Pointer::new(pointer)
            .unwrap()
            .find(&value)
            .map(|v| format!("{v:?}").contains("Number"))
    };
    for number in ["/", "/a~1b", "/m~0n", "/~01", "/0"] {
        assert_eq!(found(number), Some(true), "{number}");
    }
    for nothing in [
        "/foo/2", "/foo/01", "/foo/-", "/foo/+1", "/foo/0/x", "/nothing", "/foo/",
    ] {
        assert_eq!(found(nothing), None, "{nothing}");
    }
    assert_eq!(Pointer::new("a"), Err(NotAPointer::NoSlash));
    assert_eq!(Pointer::new("/a~"), Err(NotAPointer::BadEscape));
    assert_eq!(Pointer::new("/a~2"), Err(NotAPointer::BadEscape));
}

#[test]
fn an_input_leaves_out_what_is_absent_and_keeps_null() {
    let payload = json::parse(br#"{"a":null,"b":"x"}"#).unwrap();
    let names = ["b", "a", "c"].map(|name| {
        (
            name.to_uppercase(),
            Pointer::new(format!("/{name}")).unwrap(),
        )
    });
    let input = Input::collect(&payload, &names).unwrap();
    assert_eq!(input.as_str(), r#"{"A":null,"B":"x"}"#);
    assert_eq!(
        format!("{input:?}"),
        "Input(18 bytes)",
        "a report's text is not for logs"
    );
}

#[test]
fn a_route_segment_is_decoded_once_or_refused() {
    assert_eq!(tenant_of_segment("a%20b%252F").unwrap().as_str(), "a b%2F");
    for bad in ["%", "%2", "%zz", "a%ff", "%c3%28", "%+1"] {
        assert_eq!(
            tenant_of_segment(bad),
            Err(Refusal::NotAnIdentifier),
            "{bad}"
        );
    }
    assert_eq!(tenant_of_segment(""), Err(Refusal::EmptyField));
}
