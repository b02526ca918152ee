//! What a claim has to pass while something is paused.

use super::{Open, lock};
use crate::{
    clock::UnixMillis,
    store::{
        PipelineTerms, StoreError, Subject, operation::Tx, pause::until_probe, session::statement,
        sql,
    },
};

/// What stands before the jobs of a pipeline.
pub(in crate::store::operation) struct Gate(Vec<Open>);

/// When a gate opens by itself.
pub(in crate::store::operation) enum Opens {
    /// It is open.
    Free,
    /// For one probe, from then on.
    At(UnixMillis),
    /// A person has to open it.
    Never,
}

impl Gate {
    /// The pauses that a claim on these terms depends on.
    pub(in crate::store::operation) fn of(paused: &[Open], terms: &PipelineTerms) -> Self {
        let subjects = terms.depends_on();
        let concerned = paused.iter();
        let concerned = concerned.filter(|open| subjects.contains(&open.pause.subject));
        Self(concerned.cloned().collect())
    }

    pub(in crate::store::operation) fn opens(&self) -> Opens {
        let mut opens = Opens::Free;
        for open in &self.0 {
            opens = match (opens, open.pause.probe) {
                (Opens::Never, _) | (_, None) => Opens::Never,
                (Opens::Free, Some(probe)) => Opens::At(probe),
                (Opens::At(other), Some(probe)) => Opens::At(other.max(probe)),
            };
        }
        opens
    }

    /// Takes the probe of every pause, so that nobody else probes meanwhile; none if another was
    /// faster.
    pub(in crate::store::operation) async fn pass(
        &self,
        tx: &mut Tx<'_>,
    ) -> Result<Option<Probe>, StoreError> {
        let mut mine = Vec::new();
        for open in &self.0 {
            let now = tx.now;
            let due = |open: &Open| open.pause.probe.is_some_and(|probe| probe <= now);
            match lock(tx, open.id).await?.filter(due) {
                Some(open) => mine.push(open),
                None => return Ok(None),
            }
        }
        for Open { id, pause } in &mine {
            let probes = pause.probes.saturating_add(1);
            let next = tx.now.plus(until_probe(probes));
            set_probe(tx, *id, Some(next), probes).await?;
        }
        Ok(Some(Probe(mine)))
    }
}

/// The right to ask while something is paused.
pub(in crate::store::operation) struct Probe(Vec<Open>);

impl Probe {
    /// Gives it back for all that is not tried after all.
    pub(in crate::store::operation) async fn give_back_unless(
        self,
        tx: &mut Tx<'_>,
        tried: impl Fn(&Subject) -> bool,
    ) -> Result<(), StoreError> {
        let untried = self.0.into_iter();
        for Open { id, pause } in untried.filter(|open| !tried(&open.pause.subject)) {
            set_probe(tx, id, pause.probe, pause.probes).await?;
        }
        Ok(())
    }
}

async fn set_probe(
    tx: &mut Tx<'_>,
    id: i64,
    probe: Option<UnixMillis>,
    probes: u32,
) -> Result<(), StoreError> {
    let set = statement(sql::SET_PROBE)
        .bind(id)
        .bind(probe.map(UnixMillis::get))
        .bind(probes);
    tx.session().execute(set).await?;
    Ok(())
}
