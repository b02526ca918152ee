//! Whether a question was sent, and whether its answer came, is the same for all.

use std::sync::Arc;

use fencepost::extractor::OutputCap;
use fencepost_model::{Behaviour, Call, Ending, Gate, ModelServer, in_turn};
use tokio::net::TcpSocket;

use crate::who::{ALL, BROKEN, UNSENT, ask, responding};

fn good() -> Behaviour {
    Behaviour::Answer("{}".to_owned())
}

#[tokio::test]
async fn where_nobody_listens_nothing_has_begun() {
    // Kept, so that nobody else gets the port, and never listened on.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    for who in ALL {
        let extractor = who.at(&format!("http://{address}/v1"));
        let error = ask(&*extractor, OutputCap::Ordinary).await.unwrap_err();
        assert_eq!(error.failure, UNSENT, "{who:?}");
        assert_eq!(error.call, extractor.addressee(), "{who:?}");
    }
}

#[tokio::test]
async fn without_a_protected_connection_nothing_is_sent() {
    let server = ModelServer::start(in_turn([good()]));
    let https = server.base_url().replacen("http://", "https://", 1);
    for who in ALL {
        let answer = ask(&*who.at(&https), OutputCap::Ordinary).await;
        assert_eq!(answer.unwrap_err().failure, UNSENT, "{who:?}");
    }
    assert_eq!(server.calls(), []);
}

#[tokio::test]
async fn a_connection_that_breaks_may_have_cost_an_inference() {
    for who in ALL {
        for behaviour in [Behaviour::HangUp, Behaviour::BreakOff] {
            let failure = who.failure(behaviour.clone()).await;
            assert_eq!(failure, BROKEN, "{who:?} {behaviour:?}");
        }
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_is_no_longer_open_at_the_server() {
    for who in ALL {
        let server = ModelServer::start(in_turn([Behaviour::Hang]));
        let extractor = who.at(&server.base_url());
        let under_way = |calls: &[Call]| calls.len() == 1;
        tokio::select! {
            answer = ask(&*extractor, OutputCap::Ordinary) => panic!("{who:?} {answer:?}"),
            _ = server.wait_until("the call came", under_way) => {}
        }
        let ended = |calls: &[Call]| calls.iter().all(|call| call.ended.is_some());
        let calls = server.wait_until("the call was given up", ended).await;
        assert_eq!(calls[0].ended.unwrap().0, Ending::Abandoned, "{who:?}");
    }
}

#[tokio::test]
async fn many_questions_are_open_at_once() {
    for who in ALL {
        let gate = Gate::closed();
        let server = ModelServer::start(in_turn([good().after(&gate)]));
        let extractor: Arc<dyn fencepost::extractor::Extractor> = who.at(&server.base_url()).into();
        let asking: Vec<_> = (0..20)
            .map(|_| {
                let extractor = Arc::clone(&extractor);
                tokio::spawn(async move { ask(&*extractor, OutputCap::Ordinary).await })
            })
            .collect();
        let all_came = |calls: &[Call]| calls.len() == 20;
        server.wait_until("all calls came", all_came).await;
        gate.open();
        for asked in asking {
            assert_eq!(asked.await.unwrap().unwrap().text, "{}", "{who:?}");
        }
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_the_key_and_the_report() {
    let other = ModelServer::start(in_turn([good()]));
    for who in ALL {
        for status in [301, 302, 303, 307, 308] {
            let location = format!("{}/{}", other.base_url(), who.path());
            let redirect = responding(status, "").with("location", location);
            assert_eq!(who.failure(redirect).await, BROKEN, "{who:?} {status}");
        }
    }
    assert_eq!(other.calls(), []);
}
