//! How much memory a delivery takes: some for itself, and the rest in proportion to its body,
//! whatever its headers say and whatever it claims to be.

#![expect(
    clippy::unwrap_used,
    unsafe_code,
    reason = "a test fails by panicking, and an allocator that counts is unsafe to write"
)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use fencepost_edge::{
    Answer, Delivery, Host, Interrupted, Post, PostError, Reply, VariableUnavailable, handle,
};
use fencepost_identity::{
    config::{Sources, Verify},
    signature::{Sending, SigningKey, sign},
};
use flate2::{Compress, Compression, FlushCompress, Status};
use futures::executor::block_on;

const SECRET: &str = "fp_test_secret_0123456789abcdef";
const NOW: u64 = 1_800_000_000;
const KB: usize = 1 << 10;
const MB: usize = 1 << 20;

/// What a delivery may take for itself.
const ITSELF: usize = 24 * KB;

thread_local! {
    /// Bytes that this thread holds, and the most since it last looked.
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: all is done by the system's allocator; what is added neither allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(layout.size().cast_signed().wrapping_neg());
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // While it moves, both are held.
        count(size.cast_signed());
        count(layout.size().cast_signed().wrapping_neg());
        // SAFETY: the caller keeps the contract, which is the same.
        unsafe { System.realloc(memory, layout, size) }
    }
}

fn count(bytes: isize) {
    HELD.set(HELD.get().wrapping_add(bytes));
    MOST.set(MOST.get().max(HELD.get()));
}

/// The most bytes that were held beside those before.
fn most<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    MOST.set(before);
    let result = run();
    (result, usize::try_from(MOST.get() - before).unwrap())
}

/// Gives a body out in parts, as a runtime does, and stores every report.
struct Bounded<'b> {
    rest: &'b [u8],
}

impl Host for Bounded<'_> {
    fn now(&self) -> u64 {
        NOW
    }

    async fn next_chunk(&mut self) -> Result<Option<Vec<u8>>, Interrupted> {
        let (chunk, rest) = self.rest.split_at(self.rest.len().min(16 * KB));
        self.rest = rest;
        Ok((!chunk.is_empty()).then(|| chunk.to_vec()))
    }

    async fn variable(&self, name: &str) -> Result<Option<String>, VariableUnavailable> {
        let url = "http://127.0.0.1:8080";
        Ok(Some(
            if name == "backend_url" { url } else { SECRET }.to_owned(),
        ))
    }

    async fn post(&self, _: Post) -> Result<Reply, PostError> {
        Err(PostError::Unreachable)
    }

    fn log(&self, _: &str) {}
}

fn sources() -> Result<Sources, String> {
    let mut text = "[pipeline.p]\n".to_owned();
    for (name, more) in [
        ("github", "verify = \"github\"\ncontent_encoding = \"wire\""),
        (
            "decoded",
            "verify = \"github\"\ncontent_encoding = \"decoded\"",
        ),
        (
            "list",
            "verify = { signature = { header = \"x-sig\", shape = \"list\", encoding = \"hex\" } }",
        ),
        ("stripe", "verify = \"stripe\""),
        ("standard", "verify = \"standard-webhooks\""),
    ] {
        text.push_str(&format!(
            "[source.{name}]\n{more}\nsecrets = [\"secret\"]\npipeline = \"p\"\n\
             max_body_bytes = 4194304\ninput = {{ text = \"/text\" }}\n\
             identity = {{ tenant = {{ value = \"a\" }}, report_id = \"/id\", \
             version = \"event\" }}\n"
        ));
    }
    Ok(Sources::parse(&text).unwrap())
}

fn signature(body: &[u8]) -> String {
    let scheme = Verify::parse("verify = \"github\"").unwrap().scheme;
    let key = SigningKey::parse(&scheme, SECRET).unwrap();
    let sending = Sending {
        method: "POST",
        segment: None,
        message_id: "",
        now: NOW,
        body,
    };
    sign(&scheme, &key, &sending).unwrap().remove(0).1
}

/// The answer, and the most memory that it took.
fn deliver(
    sources: &Result<Sources, String>,
    source: &str,
    headers: &[(&str, &[u8])],
    body: &[u8],
) -> (Answer, usize) {
    let path = format!("/hooks/{source}");
    let delivery = Delivery {
        method: "POST",
        path: &path,
        query: None,
        headers,
    };
    most(|| block_on(handle(sources, &delivery, &mut Bounded { rest: body })))
}

/// JSON of about so many bytes, each in another way.
fn bodies(bytes: usize) -> [String; 4] {
    let text = "a".repeat(bytes);
    let escapes = "\\u0041".repeat(bytes / 6);
    let numbers = "1,".repeat(bytes / 2);
    let members: String = (0..bytes / 13)
        .map(|at| format!("\"{at:08}\":0,"))
        .collect();
    [
        format!(r#"{{"id":1,"text":"{text}"}}"#),
        format!(r#"{{"id":1,"text":"{escapes}"}}"#),
        format!(r#"{{"id":1,"text":[{numbers}1]}}"#),
        format!(r#"{{"id":1,"text":{{{members}"x":0}}}}"#),
    ]
}

#[test]
fn a_report_takes_memory_in_proportion_to_its_body() {
    let sources = sources();
    for bytes in [KB, 32 * KB, 256 * KB, 2 * MB] {
        for (body, times) in bodies(bytes).iter().zip([6, 4, 64, 20]) {
            let signature = signature(body.as_bytes());
            let headers = [("x-hub-signature-256", signature.as_bytes())];
            let (answer, most) = deliver(&sources, "github", &headers, body.as_bytes());
            assert!(
                answer.body.contains("not_stored"),
                "it gets as far as the backend"
            );
            assert!(
                most <= ITSELF + times * body.len(),
                "{most} for {}",
                body.len()
            );
        }
    }
}

#[test]
fn what_nobody_signed_takes_no_more_than_its_bytes() {
    let sources = sources();
    let forged = format!("sha256={}", "0".repeat(64));
    for body in bodies(2 * MB) {
        for headers in [
            [("x-hub-signature-256", forged.as_bytes())].as_slice(),
            &[("x-hub-signature-256", b"junk")],
            &[],
        ] {
            let (answer, most) = deliver(&sources, "github", headers, body.as_bytes());
            assert!(matches!(answer.status, 400 | 401), "{answer:?}");
            // Twice while it grows, for the old place and the new one.
            assert!(most <= ITSELF + 3 * body.len(), "{most} for {}", body.len());
        }
    }
}

#[test]
fn a_body_beyond_the_bound_is_not_kept() {
    let sources = sources();
    let body = vec![b' '; 64 * MB];
    let (answer, most) = deliver(&sources, "github", &[], &body);
    assert_eq!(answer.status, 413);
    assert!(most <= ITSELF + 3 * 4 * MB, "{most}");
    let declared = [("content-length", b"67108864".as_slice())];
    let (answer, most) = deliver(&sources, "github", &declared, &body);
    assert_eq!(answer.status, 413);
    assert!(most <= ITSELF, "{most}");
}

#[test]
fn headers_take_nothing_whatever_stands_in_them() {
    let sources = sources();
    let body = br#"{"id":1}"#;
    let long = "a".repeat(10 * KB);
    let very_long = "0".repeat(MB);
    let pairs = format!("t=1800000000{}", ",v1=0".repeat(200_000));
    let codes = format!("sha256={}", "0".repeat(64));
    let list = vec!["0".repeat(64); 20_000].join(",");
    let versions = format!("v1,{}= ", "A".repeat(43)).repeat(20_000);
    let blanks = " ".repeat(MB);
    for (source, name, value) in [
        ("github", "x-hub-signature-256", &long),
        ("github", "x-hub-signature-256", &very_long),
        ("github", "content-encoding", &very_long),
        ("github", "content-length", &very_long),
        ("stripe", "stripe-signature", &pairs),
        ("stripe", "stripe-signature", &",".repeat(MB)),
        ("list", "x-sig", &list),
        ("list", "x-sig", &blanks),
        ("list", "x-sig", &very_long),
        ("standard", "webhook-signature", &versions),
        ("standard", "webhook-signature", &blanks),
        ("standard", "webhook-id", &very_long),
        ("standard", "webhook-timestamp", &very_long),
    ] {
        let headers = [(name, value.as_bytes())];
        let (answer, most) = deliver(&sources, source, &headers, body);
        assert!((400..500).contains(&answer.status), "{answer:?}");
        assert!(most <= ITSELF, "{most} for {} in {name}", value.len());
    }
    for (source, name) in [
        ("github", "x-hub-signature-256"),
        ("github", "x-other"),
        ("github", "content-encoding"),
        ("list", "x-sig"),
        ("standard", "webhook-signature"),
    ] {
        let headers = vec![(name, codes.as_bytes()); 10_000];
        let (answer, most) = deliver(&sources, source, &headers, body);
        assert!((400..500).contains(&answer.status), "{answer:?}");
        // A pointer and a length for each of them.
        assert!(most <= ITSELF + 3 * 16 * headers.len(), "{most} in {name}");
    }
}

/// Zeros, compressed to a thousandth: the same block again and again. Its end, which nobody gets
/// to, is absent.
fn bomb(bytes: usize) -> Vec<u8> {
    let mut block = Vec::with_capacity(MB);
    let mut compress = Compress::new(Compression::best(), false);
    let status = compress.compress_vec(&vec![0; MB], &mut block, FlushCompress::Full);
    assert_eq!(
        (status.unwrap(), compress.total_in()),
        (Status::Ok, 1 << 20)
    );
    let mut bomb = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    bomb.extend(block.repeat(bytes / MB));
    bomb
}

#[test]
fn what_inflates_to_a_gigabyte_takes_no_more_than_the_bound() {
    let sources = sources();
    let bomb = bomb(1 << 30);
    assert!(
        bomb.len() > 900 * KB && bomb.len() < 2 * MB,
        "{}",
        bomb.len()
    );
    let signed = signature(&bomb);
    for source in ["github", "decoded"] {
        let headers = [
            ("content-encoding", b"gzip".as_slice()),
            ("x-hub-signature-256", signed.as_bytes()),
        ];
        let (answer, most) = deliver(&sources, source, &headers, &bomb);
        assert_eq!(answer.status, 413, "{answer:?}");
        assert!(most <= ITSELF + 3 * bomb.len() + 3 * 4 * MB, "{most}");
    }
}
