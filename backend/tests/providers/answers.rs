//! What every extractor makes of what a model said.

use fencepost::extractor::{Call, Failure, RequestId};
use fencepost_model::Behaviour;

use crate::who::{ALL, answering};

#[tokio::test]
async fn a_draft_is_the_text_as_it_came_and_what_is_known_of_the_call() {
    for who in ALL {
        let text = " {\"a\": 1}\n";
        let draft = who.once(Behaviour::Answer(text.to_owned())).await.unwrap();
        // What is handed to a tool has no space around it: it stands in the provider's own JSON.
        assert_eq!(draft.text.trim(), "{\"a\": 1}", "{who:?}");
        assert!(draft.text == text || who.is_given_a_tool(), "{who:?}");
        let Call {
            provider,
            model,
            request_id,
            usage,
        } = draft.call;
        assert_eq!(
            (provider.as_str(), model.as_str()),
            (who.provider(), "asked")
        );
        assert_eq!(request_id, RequestId::new(who.first_id()), "{who:?}");
        let counted = usage.tokens_in > Some(0) && usage.tokens_out > Some(0);
        assert!(counted, "{who:?} {usage:?}");
    }
}

#[tokio::test]
async fn what_the_model_says_wrongly_is_a_draft_for_others_to_judge() {
    for (behaviour, text) in [
        (Behaviour::Answer("no json".to_owned()), "no json"),
        (Behaviour::Answer(String::new()), ""),
        (
            Behaviour::Answer("{\"a\":1,\"a\":2}".to_owned()),
            "{\"a\":1,\"a\":2}",
        ),
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
        for who in ALL {
            let draft = who.once(behaviour.clone()).await.unwrap();
            assert_eq!(draft.text, text, "{who:?} {behaviour:?}");
        }
    }
}

#[tokio::test]
async fn a_cut_off_answer_is_told_with_what_it_cost_even_where_it_reads_well() {
    for who in ALL {
        for reason in who.cut_off() {
            for content in ["{\"a\":1}", ""] {
                let behaviour = Behaviour::Finish {
                    content: content.to_owned(),
                    reason: (*reason).to_owned(),
                };
                let error = who.once(behaviour).await.unwrap_err();
                assert_eq!(error.failure, Failure::Truncated, "{who:?} {reason}");
                let call = error.call;
                assert_eq!(call.request_id, RequestId::new(who.first_id()), "{who:?}");
                assert!(call.usage.tokens_in > Some(0), "{who:?} {call:?}");
                let counted = content.is_empty() || call.usage.tokens_out > Some(0);
                assert!(counted, "{who:?} {call:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_model_may_decline() {
    for who in ALL {
        let declined = Behaviour::Refuse("I can't help with that".to_owned());
        let error = who.once(declined).await.unwrap_err();
        assert_eq!(error.failure, Failure::Refused, "{who:?}");
        let id = RequestId::new(who.first_id());
        assert_eq!(error.call.request_id, id, "{who:?}");
    }
}

#[tokio::test]
async fn no_more_than_there_has_to_be_is_an_answer() {
    for who in ALL {
        let draft = who.once(answering(who.barely("{}"))).await.unwrap();
        assert_eq!(draft.text, "{}", "{who:?}");
        assert_eq!(draft.call.model, "asked", "{who:?}");
    }
}
