//! Pauses that people begin and end.

use async_trait::async_trait;

use super::{Open, end, forget_strikes, insert, of, set_reason};
use crate::store::{
    Pause, PauseReason, Paused, Resumed, StoreError, Subject,
    operation::{Operation, Tx},
    session::statement,
    sql,
};

/// Pauses something until a person resumes it.
pub(in crate::store) struct PauseSubject {
    pub(in crate::store) subject: Subject,
    pub(in crate::store) actor: String,
}

#[async_trait]
impl Operation for PauseSubject {
    type Done = Paused;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Paused, StoreError> {
        tx.lock_pauses().await?;
        let reason = PauseReason::Operator;
        let (paused, detail) = match of(tx, [&self.subject, &self.subject]).await?.pop() {
            Some(Open { pause, .. }) if pause.reason == reason => return Ok(Paused::Already),
            Some(Open { id, pause }) => {
                set_reason(tx, id, reason, None).await?;
                let from = pause.reason;
                (Paused::TakenOver { from }, from.to_string())
            }
            None => {
                let pause = Pause {
                    subject: self.subject.clone(),
                    reason,
                    since: tx.now,
                    probe: None,
                    probes: 0,
                };
                insert(tx, &pause).await?;
                (Paused::Begun, String::new())
            }
        };
        audit(tx, "pause", &self.subject, &self.actor, detail).await?;
        Ok(paused)
    }
}

/// Ends a pause, whoever began it.
pub(in crate::store) struct ResumeSubject {
    pub(in crate::store) subject: Subject,
    pub(in crate::store) actor: String,
}

#[async_trait]
impl Operation for ResumeSubject {
    type Done = Resumed;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Resumed, StoreError> {
        tx.lock_pauses().await?;
        let Some(Open { id, pause }) = of(tx, [&self.subject, &self.subject]).await?.pop() else {
            return Ok(Resumed::NotPaused);
        };
        end(tx, id, &self.actor).await?;
        forget_strikes(tx, &self.subject).await?;
        let detail = pause.reason.to_string();
        audit(tx, "resume", &self.subject, &self.actor, detail).await?;
        Ok(Resumed::Ended(pause))
    }
}

async fn audit(
    tx: &mut Tx<'_>,
    action: &str,
    subject: &Subject,
    actor: &str,
    detail: String,
) -> Result<(), StoreError> {
    let audit = statement(sql::AUDIT)
        .bind(tx.now.get())
        .bind(actor)
        .bind(action)
        .bind(subject.to_string())
        .bind(detail);
    tx.session().execute(audit).await?;
    Ok(())
}
