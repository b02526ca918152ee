use fencepost::extractor::RequestId;

use super::*;

#[tokio::test]
async fn a_draft_is_the_text_as_it_came_and_what_is_known_of_the_call() {
    let draft = once(Behaviour::Answer(" {\"a\": 1}\n".to_owned()))
        .await
        .unwrap();
    assert_eq!(draft.text, " {\"a\": 1}\n");
    let Call {
        provider,
        model,
        request_id,
        usage,
    } = draft.call;
    assert_eq!((provider.as_str(), model.as_str()), ("openai", "asked"));
    assert_eq!(request_id, RequestId::new("req_1"));
    assert!(
        usage.tokens_in > Some(0) && usage.tokens_out > Some(0),
        "{usage:?}"
    );
}

#[tokio::test]
async fn what_the_model_says_wrongly_is_a_draft_for_others_to_judge() {
    for (behaviour, text) in [
        (Behaviour::Answer("no json".to_owned()), "no json"),
        (Behaviour::Answer(String::new()), ""),
        (
            Behaviour::Answer("{\"a\":\"\\u0000\"}".to_owned()),
            "{\"a\":\"\\u0000\"}",
        ),
        (
            Behaviour::Answer("{\"a\":\"\\ud800\"}".to_owned()),
            "{\"a\":\"\\ud800\"}",
        ),
        (Behaviour::Answer("a\u{0}b".to_owned()), "a\u{0}b"),
        // Half a pair in the server's own JSON, where no string of Rust's can hold it.
        (
            Behaviour::Escaped(r#"{\"a\":\"\ud800\"}"#.to_owned()),
            "{\"a\":\"\\ud800\"}",
        ),
    ] {
        let draft = once(behaviour.clone()).await.unwrap();
        assert_eq!(draft.text, text, "{behaviour:?}");
    }
}

#[tokio::test]
async fn a_cut_off_answer_is_told_with_what_it_cost() {
    let behaviour = Behaviour::Finish {
        content: "{\"a\":1}".to_owned(),
        reason: "length".to_owned(),
    };
    let error = once(behaviour).await.unwrap_err();
    assert_eq!(error.failure, Failure::Truncated);
    assert_eq!(error.call.request_id, RequestId::new("req_1"));
    assert!(error.call.usage.tokens_out > Some(0), "{:?}", error.call);
}

#[tokio::test]
async fn a_model_or_its_filter_may_decline() {
    let filtered = Behaviour::Finish {
        content: "{".to_owned(),
        reason: "content_filter".to_owned(),
    };
    for behaviour in [
        Behaviour::Refuse("I can't help with that".to_owned()),
        filtered,
        Behaviour::error(400, "invalid_request_error", Some("content_filter")),
    ] {
        assert_eq!(
            failure(behaviour.clone()).await,
            Failure::Refused,
            "{behaviour:?}"
        );
    }
}

fn responding(body: Vec<u8>) -> Behaviour {
    Behaviour::Respond {
        status: 200,
        headers: Vec::new(),
        body,
    }
}

#[tokio::test]
async fn what_is_not_the_providers_answer_may_be_paid_for() {
    for body in [
        "",
        "<html>sign in</html>",
        "{}",
        r#"{"choices":[]}"#,
        r#"{"error":"busy"}"#,
    ] {
        assert_eq!(failure(responding(body.into())).await, BROKEN, "{body}");
    }
}

#[tokio::test]
async fn an_answer_is_read_up_to_a_bound() {
    let body = |bytes: usize| {
        let empty = r#"{"choices":[{"message":{"content":""}}]}"#;
        let content = "x".repeat(bytes - empty.len());
        format!(r#"{{"choices":[{{"message":{{"content":"{content}"}}}}]}}"#).into_bytes()
    };
    let bound = 1024 * 1024;
    assert!(once(responding(body(bound))).await.is_ok());
    assert_eq!(failure(responding(body(bound + 1))).await, BROKEN);
}
