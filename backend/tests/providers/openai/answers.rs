use fencepost::extractor::Failure;
use fencepost_model::Behaviour;

use crate::who::{CHAT, RESPONSES};

#[tokio::test]
async fn a_model_or_its_filter_may_decline() {
    let filtered = Behaviour::Finish {
        content: "{".to_owned(),
        reason: "content_filter".to_owned(),
    };
    for behaviour in [
        filtered,
        Behaviour::error(400, "invalid_request_error", Some("content_filter")),
    ] {
        for who in [CHAT, RESPONSES] {
            let failure = who.failure(behaviour.clone()).await;
            assert_eq!(failure, Failure::Refused, "{who:?} {behaviour:?}");
        }
    }
}
