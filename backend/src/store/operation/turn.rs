//! Which tenant of a pipeline is served next.

use super::{
    Tx,
    candidate::{self, Place},
};
use crate::store::{PipelineTerms, StoreError, Turns};

/// How many tenants are looked at that have jobs, none of which is due: a claim stays short,
/// however many wait for something.
const LOOKS: usize = 16;

/// The first job of the tenant whose turn it is, where the pipeline's first job is due. Where none
/// is found among those that are looked at, the pipeline's first job it is, and the next claim
/// looks at the tenants that follow.
pub(super) async fn next(
    tx: &mut Tx<'_>,
    terms: &PipelineTerms,
    first: Place,
    turns: &Turns,
) -> Result<Place, StoreError> {
    let last = turns.tenant(&terms.pipeline);
    let mut after = last.clone();
    let mut found = None;
    for _ in 0..LOOKS {
        match candidate::of_next_tenant(tx, terms, &after).await? {
            Some(place) => {
                after.clone_from(&place.tenant);
                if place.is_due(tx.now) {
                    found = Some(place);
                    break;
                }
            }
            None if after.is_empty() => break,
            // After the last one comes the first one.
            None => after.clear(),
        }
    }
    turns.pass(&terms.pipeline, &last, after);
    Ok(found.unwrap_or(first))
}
