//! What must hold at the end of a round beside what every history is judged by, and what must have
//! happened for it to prove anything.

use fencepost_tests::Stack;

use crate::load::{SENDERS, Sent};

/// Whatever was acknowledged is there, and everything is finished as it should be.
pub(crate) async fn assert_all_there_and_finished(stack: &Stack, sent: &Sent) {
    let database = stack.db();
    let stored = database.keys("SELECT report_key FROM report").await;
    let unknown = stored
        .iter()
        .filter(|key| !sent.acknowledged.contains(*key));
    // What was stored and not acknowledged was delivered again, so it is acknowledged, too, unless
    // the end came first.
    let unknown = unknown.count() as u64;
    assert!(
        unknown <= SENDERS,
        "{unknown} reports that nobody was told of"
    );
    let other = "SELECT count(*) FROM job WHERE NOT (state = 'ready_for_review'
                 OR (state = 'terminal' AND outcome IN ('committed', 'superseded')))";
    assert_eq!(database.number(other).await, 0, "finished otherwise");
    let open = "SELECT count(*) FROM attempt WHERE outcome IS NULL";
    assert_eq!(database.number(open).await, 0, "attempts that nobody ended");
    let without = "SELECT count(*) FROM review v WHERE v.reason = 'policy' AND NOT EXISTS
                   (SELECT 1 FROM result s WHERE s.report_key = v.report_key)";
    assert_eq!(database.number(without).await, 0, "a review of no result");
}

/// Blows have hit deliveries, extraction and commits of both kinds, or the round proves too little.
pub(crate) async fn assert_proves_enough(stack: &Stack, sent: &Sent) {
    assert!(
        sent.refused > 0,
        "no kill hit a delivery: this proves nothing"
    );
    let database = stack.db();
    let count = async |statement: &'static str| database.number(statement).await;
    let committed = count("SELECT count(*) FROM job WHERE outcome = 'committed'").await;
    let superseded = count("SELECT count(*) FROM job WHERE outcome = 'superseded'").await;
    let policy = count("SELECT count(*) FROM review WHERE reason = 'policy'").await;
    let spent = count("SELECT count(*) FROM review WHERE reason = 'attempts_spent'").await;
    let cut_off = count("SELECT count(*) FROM attempt WHERE outcome = 'lease_lost'").await;
    println!(
        "{committed} committed, {superseded} superseded, {policy} for a person by policy, {spent} \
         with their attempts spent; {cut_off} attempts were cut off"
    );
    assert!(committed > 0 && superseded > 0 && policy > 0 && cut_off > 0);
    for outcome in [
        "schema_invalid",
        "syntax_invalid",
        "rate_limited",
        "overloaded",
        "transport",
    ] {
        let attempts = database.texts("SELECT DISTINCT outcome FROM attempt").await;
        assert!(
            attempts.iter().any(|it| it == outcome),
            "no attempt was {outcome}"
        );
    }
}
