use std::sync::Arc;

use fencepost_model::{Ending, Gate};
use tokio::net::TcpSocket;

use super::*;

#[tokio::test]
async fn where_nobody_listens_nothing_has_begun() {
    // Kept, so that nobody else gets the port, and never listened on.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    let openai = openai(&format!("http://{address}/v1"), Some(KEY));
    let error = ask(&openai, OutputCap::Ordinary).await.unwrap_err();
    assert_eq!(error.failure, UNSENT);
    assert_eq!(error.call, openai.addressee());
}

#[tokio::test]
async fn without_a_protected_connection_nothing_is_sent() {
    let server = ModelServer::start(in_turn([Behaviour::Answer("{}".to_owned())]));
    let https = server.base_url().replacen("http://", "https://", 1);
    let answer = ask(&openai(&https, Some(KEY)), OutputCap::Ordinary).await;
    assert_eq!(answer.unwrap_err().failure, UNSENT);
    assert_eq!(server.calls(), []);
}

#[tokio::test]
async fn a_connection_that_breaks_may_have_cost_an_inference() {
    for behaviour in [Behaviour::HangUp, Behaviour::BreakOff] {
        assert_eq!(failure(behaviour.clone()).await, BROKEN, "{behaviour:?}");
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_is_no_longer_open_at_the_server() {
    let server = ModelServer::start(in_turn([Behaviour::Hang]));
    let openai = openai(&server.base_url(), Some(KEY));
    let under_way = |calls: &[fencepost_model::Call]| calls.len() == 1;
    tokio::select! {
        answer = ask(&openai, OutputCap::Ordinary) => panic!("{answer:?}"),
        _ = server.wait_until("the call came", under_way) => {}
    }
    let ended = |calls: &[fencepost_model::Call]| calls.iter().all(|call| call.ended.is_some());
    let calls = server.wait_until("the call was given up", ended).await;
    assert_eq!(calls[0].ended.unwrap().0, Ending::Abandoned);
}

#[tokio::test]
async fn many_questions_are_open_at_once() {
    let gate = Gate::closed();
    let server = ModelServer::start(in_turn([Behaviour::Answer("{}".to_owned()).after(&gate)]));
    let openai = Arc::new(openai(&server.base_url(), None));
    let asking: Vec<_> = (0..20)
        .map(|_| {
            let openai = Arc::clone(&openai);
            tokio::spawn(async move { ask(&openai, OutputCap::Ordinary).await })
        })
        .collect();
    let all_came = |calls: &[fencepost_model::Call]| calls.len() == 20;
    server.wait_until("all calls came", all_came).await;
    gate.open();
    for asked in asking {
        assert_eq!(asked.await.unwrap().unwrap().text, "{}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_the_key_and_the_report() {
    let other = ModelServer::start(in_turn([Behaviour::Answer("{}".to_owned())]));
    for status in [301, 302, 303, 307, 308] {
        let location = format!("{}/chat/completions", other.base_url());
        let redirect = Behaviour::error(status, "moved", None).with("location", location);
        assert_eq!(failure(redirect).await, BROKEN, "{status}");
    }
    assert_eq!(other.calls(), []);
}
