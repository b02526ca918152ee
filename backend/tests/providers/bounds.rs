//! What is taken for an answer at all.

use crate::who::{ALL, BROKEN, answering};

#[tokio::test]
async fn what_is_not_the_providers_answer_may_be_paid_for() {
    for who in ALL {
        for body in [
            "",
            "<html>sign in</html>",
            "{}",
            "[]",
            "null",
            r#"{"error":"busy"}"#,
            r#"{"error":{"message":"upstream"}}"#,
            r#"{"choices":[]}"#,
            r#"{"output":null}"#,
            r#"{"content":"{}"}"#,
            r#"{"candidates":[]}"#,
        ] {
            assert_eq!(who.failure(answering(body)).await, BROKEN, "{who:?} {body}");
        }
        let whole = who.barely("{}");
        let half = whole.strip_suffix('}').unwrap();
        assert_eq!(who.failure(answering(half)).await, BROKEN, "{who:?}");
        let broken = [who.barely("x").replace('x', "").as_bytes(), b"\xff"].concat();
        assert_eq!(who.failure(answering(broken)).await, BROKEN, "{who:?}");
    }
}

#[tokio::test]
async fn an_answer_is_read_up_to_a_bound() {
    let bound = 1024 * 1024;
    for who in ALL {
        let empty = who.barely("").len();
        let body = |bytes: usize| who.barely(&"x".repeat(bytes - empty));
        let draft = who.once(answering(body(bound))).await.unwrap();
        assert_eq!(draft.text.len(), bound - empty, "{who:?}");
        let failure = who.failure(answering(body(bound + 1))).await;
        assert_eq!(failure, BROKEN, "{who:?}");
    }
}
