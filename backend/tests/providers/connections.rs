use tokio::net::TcpSocket;

use super::*;

#[tokio::test]
async fn where_nobody_listens_nothing_has_begun() {
    // Kept, so that nobody else gets the port, and never listened on.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    for who in BOTH {
        let extractor = who.at(&format!("http://{address}/v1"));
        let error = ask(&*extractor, OutputCap::Ordinary).await.unwrap_err();
        assert_eq!(error.failure, UNSENT, "{who:?}");
        assert_eq!(error.call, extractor.addressee(), "{who:?}");
    }
}

#[tokio::test]
async fn a_connection_that_breaks_may_have_cost_an_inference() {
    for who in BOTH {
        for behaviour in [Behaviour::HangUp, Behaviour::BreakOff] {
            let failure = who.failure(behaviour.clone()).await;
            assert_eq!(failure, BROKEN, "{who:?} {behaviour:?}");
        }
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_the_key_and_the_report() {
    let other = ModelServer::start(in_turn([Behaviour::Answer("{}".to_owned())]));
    for who in BOTH {
        for (status, path) in [(302, "messages"), (307, "messages"), (308, "models/asked")] {
            let location = format!("{}/{path}", other.base_url());
            let redirect = responding(status, "").with("location", location);
            assert_eq!(who.failure(redirect).await, BROKEN, "{who:?} {status}");
        }
    }
    assert_eq!(other.calls(), []);
}

#[tokio::test]
async fn what_is_not_the_providers_answer_may_be_paid_for() {
    for who in BOTH {
        for body in [
            "",
            "<html>sign in</html>",
            "{}",
            "[]",
            "null",
            r#"{"error":{"message":"upstream"}}"#,
            r#"{"content":"{}"}"#,
            r#"{"candidates":[]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"{}"}]}}]"#,
        ] {
            assert_eq!(who.failure(answering(body)).await, BROKEN, "{who:?} {body}");
        }
        let too_long = " ".repeat(1024 * 1024 + 1);
        assert_eq!(who.failure(answering(too_long)).await, BROKEN, "{who:?}");
        let broken = b"{\"content\":[],\"candidates\":[{}],\"model\":\"\xff\"}";
        assert_eq!(who.failure(answering(broken)).await, BROKEN, "{who:?}");
    }
}

#[tokio::test]
async fn the_providers_own_time_is_heard() {
    use std::time::Duration;
    for who in BOTH {
        for (name, value, milliseconds) in [
            ("retry-after", "7", Some(7_000)),
            ("retry-after", "1.5", Some(1_500)),
            ("retry-after-ms", "250", Some(250)),
            ("retry-after", "Mon, 01 Mar 2027 10:00:42 GMT", Some(42_000)),
            ("retry-after", "Mon, 01 Mar 2027 09:59:59 GMT", None),
            ("retry-after", "-5", None),
            ("retry-after", "soon", None),
        ] {
            let retry_after = milliseconds.map(Duration::from_millis);
            let limited = who.failure(responding(429, "").with(name, value)).await;
            assert_eq!(
                limited,
                Failure::RateLimited { retry_after },
                "{who:?} {value}"
            );
            let overloaded = who.failure(responding(503, "").with(name, value)).await;
            let expected = Failure::Overloaded { retry_after };
            assert_eq!(overloaded, expected, "{who:?} {value}");
        }
    }
}
