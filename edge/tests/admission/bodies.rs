//! Method, route and body, before any signature is looked at.

use crate::{
    request::{COMMENT, EVENT, Request, comment, event},
    world::World,
};

#[test]
fn method_and_route_come_first() {
    let world = World::new();
    for method in ["GET", "PUT", "PATCH", "HEAD", "OPTIONS", "DELETE", "post"] {
        let request = Request {
            method: method.into(),
            ..comment(COMMENT)
        };
        let seen = world.deliver(&request);
        seen.is_refused(405, "method_not_allowed", "method_not_allowed");
        assert_eq!(seen.header("allow"), Some("POST"));
    }
    for path in [
        "/hooks/none",
        "/hooks/",
        "/hooks",
        "/",
        "",
        "/hooks/comments/",
        "/hooks/comments/acme",
        "/hooks/COMMENTS",
        "/hooks/comments%20",
        "//hooks/comments",
        "/hooks/derived",
        "/hooks/derived/acme/more",
        "/HOOKS/comments",
    ] {
        let seen = world.deliver(&Request {
            path: path.into(),
            ..comment(COMMENT)
        });
        seen.is_refused(404, "unknown_source", "unknown_source");
    }
    let seen = world.deliver(&Request::new("/hooks/none-canary", vec![b' '; 5000]));
    assert!(
        !seen.lines[0].contains("canary"),
        "a path is the sender's word"
    );
    // No tenant, no secret: told before anything is read.
    for (segment, code) in [
        ("", "empty_field"),
        ("%00", "control_character"),
        ("%ff", "not_an_identifier"),
    ] {
        let path = format!("/hooks/derived/{segment}");
        world
            .deliver(&Request::new(&path, EVENT))
            .is_refused(400, code, code);
    }
}

#[test]
fn the_body_is_bounded_to_the_byte_with_and_without_a_declared_length() {
    let world = World::new();
    let padded = |bytes: usize| format!("{COMMENT}{}", " ".repeat(bytes - COMMENT.len()));
    world.deliver(&comment(padded(600))).is_stored();
    world
        .deliver(&comment(padded(600)).header("content-length", "600"))
        .is_stored();
    let too_large = comment(padded(601));
    for request in [
        too_large.clone(),
        too_large.clone().header("Content-Length", "601"),
        too_large
            .clone()
            .header("content-length", "18446744073709551615"),
        // The bound comes before the signature.
        too_large.dropping("x-hub-signature-256"),
        Request {
            chunks: vec![vec![b' '; 100]; 20_000],
            ..comment(COMMENT)
        },
    ] {
        let seen = world.deliver(&request);
        seen.is_refused(413, "too_large", "too_large");
        assert!(seen.asked.is_empty(), "no secret is read for it");
        assert_eq!(seen.line()["limit_bytes"], 600);
        assert_eq!(
            seen.taken,
            request.chunks.concat().len(),
            "the rest is read and dropped"
        );
    }
    // But not for ever.
    let endless = Request {
        chunks: vec![vec![b' '; 1 << 20]; 64],
        ..comment(COMMENT)
    };
    assert!(world.deliver(&endless).taken <= 9 << 20);
    // And never past the method and the route.
    let request = Request {
        method: "PUT".into(),
        ..comment(padded(601))
    };
    assert_eq!(world.deliver(&request).answer.status, 405);
}

#[test]
fn what_grows_beyond_an_envelopes_bound_is_refused_for_good() {
    let world = World::new();
    let numbers = |count: usize| format!(r#"{{"id":"e","text":[1e20{}]}}"#, ",1e20".repeat(count));
    world.deliver(&event(numbers(100_000))).is_stored();
    let seen = world.deliver(&event(numbers(200_000)));
    seen.is_refused(413, "too_large", "too_large");
}

#[test]
fn chunks_make_no_difference_and_an_early_end_does() {
    let world = World::new();
    let whole = world.deliver(&comment(COMMENT));
    for at in 0..COMMENT.len() {
        let (head, tail) = COMMENT.as_bytes().split_at(at);
        let chunks = vec![head.to_vec(), vec![], tail.to_vec()];
        let seen = world.deliver(&Request {
            chunks,
            ..comment(COMMENT)
        });
        assert_eq!(seen.posts, whole.posts, "split at {at}");
    }
    let bytes = COMMENT.bytes().map(|byte| vec![byte]).collect();
    let seen = world.deliver(&Request {
        chunks: bytes,
        ..comment(COMMENT)
    });
    assert_eq!(seen.posts, whole.posts);
    let seen = world.deliver(&Request {
        interrupted: true,
        ..comment(COMMENT)
    });
    seen.is_refused(400, "incomplete_body", "incomplete_body");
}

#[test]
fn content_encodings_are_refused_and_other_headers_change_nothing() {
    let world = World::new();
    for encoding in ["gzip", "br", "deflate", "identity, gzip", "", "x"] {
        let seen = world.deliver(&comment(COMMENT).header("Content-Encoding", encoding));
        let code = "unsupported_content_encoding";
        seen.is_refused(415, code, code);
    }
    let posts = world.deliver(&comment(COMMENT)).posts;
    for (name, value) in [
        ("content-encoding", "identity"),
        ("content-type", "text/plain"),
        (
            "content-type",
            "application/cloudevents+json; charset=utf-8",
        ),
        ("content-type", "application/x-www-form-urlencoded"),
        ("origin", "https://x.test"),
        ("access-control-request-method", "POST"),
        ("host", "evil.test"),
        ("x-forwarded-proto", "http"),
        ("x-github-delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958"),
        ("content-length", "not a number"),
    ] {
        let seen = world.deliver(&comment(COMMENT).header(name, value));
        assert_eq!(seen.posts, posts, "{name}: {value}");
        assert_eq!(seen.answer.status, 202);
        assert!(
            !seen
                .answer
                .headers
                .iter()
                .any(|(name, _)| name.starts_with("access-control"))
        );
    }
}
