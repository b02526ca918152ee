//! How much the ingest listener takes, in bytes and at once, and how the rest is refused.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
};

use axum::body::{Body, Bytes};

use super::{
    call,
    envelope::{NOW, SECRET, envelope, headers, request, signed},
    ingest::{BYTES_MAX, router},
    scripted::{Mood, Scripted},
};

#[tokio::test]
async fn a_body_without_a_length_is_bounded_too() {
    let store = Scripted::new(Mood::Fine);
    let (router, _) = router(&store, 1);
    for (bytes, status) in [(BYTES_MAX, 400), (BYTES_MAX + 1, 413)] {
        let body = " ".repeat(bytes);
        let headers = headers(SECRET, NOW, &body);
        let chunks: Vec<_> = body
            .into_bytes()
            .chunks(1000)
            .map(Bytes::copy_from_slice)
            .collect();
        let chunks = chunks.into_iter().map(Ok::<_, std::io::Error>);
        let body = Body::from_stream(futures::stream::iter(chunks));
        assert_eq!(
            call(&router, request(&headers, body)).await.status,
            status,
            "{bytes}"
        );
    }
}

/// Sends a request over a socket of its own: its head, all of its body, and only then reads.
async fn sent_before_reading(address: SocketAddr, head: &str, body: Vec<u8>) -> String {
    let head = format!("POST /v1/reports HTTP/1.1\r\nhost: test\r\n{head}\r\n");
    let sender = move || {
        let mut connection = TcpStream::connect(address)?;
        connection.write_all(head.as_bytes())?;
        connection.write_all(&body)?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer).map(|_| answer)
    };
    tokio::task::spawn_blocking(sender).await.unwrap().unwrap()
}

#[tokio::test]
async fn who_sends_too_much_before_reading_gets_the_answer() {
    const MUCH: usize = 6 * 1024 * 1024;
    let store = Scripted::new(Mood::Fine);
    let (router, _) = router(&store, 1);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(axum::serve(listener, router).into_future());

    let close = "connection: close\r\n";
    let announced = format!("{close}content-length: {MUCH}\r\n");
    let mut chunks = format!("{MUCH:x}\r\n").into_bytes();
    chunks.resize(chunks.len() + MUCH, b' ');
    chunks.extend_from_slice(b"\r\n0\r\n\r\n");
    let chunked = format!("{close}transfer-encoding: chunked\r\n");
    // Whoever asks first is not told to send what is refused.
    let asking = format!("{announced}expect: 100-continue\r\n");
    for (head, body) in [
        (announced, vec![b' '; MUCH]),
        (chunked, chunks),
        (asking, Vec::new()),
    ] {
        let answer = sent_before_reading(address, &head, body).await;
        assert!(answer.starts_with("HTTP/1.1 413 "), "{head}: {answer}");
        assert!(answer.contains(r#""code":"too_large""#), "{head}: {answer}");
    }
    assert_eq!(store.seen(), []);
    server.abort();
}

#[tokio::test]
async fn beyond_the_bound_a_sender_is_told_to_wait() {
    let store = Scripted::gated(Mood::Fine, 0);
    let (router, _) = router(&store, 1);
    let first = tokio::spawn({
        let router = router.clone();
        async move { call(&router, signed(&envelope().to_json())).await }
    });
    // The only slot is taken as soon as the first one waits for the store; until then, the store
    // is not asked a second time either, since it opens for one.
    let busy = loop {
        let answer = call(&router, request(&[], "")).await;
        if answer.status == 503 {
            break answer;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(busy.code(), "busy");
    store.open();
    assert_eq!(first.await.unwrap().status, 202);
    assert_eq!(
        call(&router, request(&[], "")).await.status,
        401,
        "the slot is free again"
    );
}
