//! An answer that is a list: what each finding is held to, and what it is recognized by.
//!
//! It is held to the reviewed revision as the report's input shows it, and recognized by what
//! stands there: never by its prose, its place in the list or the version of the report.

mod examine;
mod fingerprint;
mod revision;
mod rules;
#[cfg(test)]
mod tests;
mod violation;

use std::collections::HashMap;

use fencepost_identity::{
    canonical,
    json::{self, Value},
    refusal::Refusal,
};

use self::{examine::Examined, fingerprint::fingerprint, violation::Noted};
pub use self::{
    revision::{RevisionForm, UnreadableInput},
    rules::{FindingsRules, KeyField, Location},
    violation::{FINDINGS_MAX, Violations},
};
use crate::{report::Finding, revision::Revision};

/// Why an answer makes no findings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// Some break the rules: these, all of them.
    #[error("{0}")]
    Rules(Violations),
    /// Nothing can be held against the input, whatever the answer says.
    #[error("{0}")]
    Input(UnreadableInput),
    /// The answer is not what the schema's reader takes.
    #[error("the answer is not usable as JSON: {0}")]
    Json(Refusal),
}

impl FindingsRules {
    /// The findings of an answer that its schema takes, in its order. Of those with equal
    /// fingerprints the most severe stays, the first of the most severe ones, and counts the
    /// others.
    ///
    /// # Errors
    /// [`Unfit`]: all or none are taken.
    pub fn read(&self, answer: &str, input: &[u8]) -> Result<Vec<Finding>, Unfit> {
        let revision = self.revision(input).map_err(Unfit::Input)?;
        let answer = json::parse(answer.as_bytes()).map_err(Unfit::Json)?;
        let mut noted = Noted::default();
        let examined = self.examine(&answer, revision.as_ref(), &mut noted);
        noted.none().map_err(Unfit::Rules)?;
        self.collapse(&examined).map_err(Unfit::Json)
    }

    /// The fingerprint of each finding in a list, in its order, to compare lists by: what is
    /// missing or wrong has no part in it.
    ///
    /// # Errors
    /// [`UnreadableInput`]
    pub fn marks(
        &self,
        answer: &Value<'_>,
        input: &[u8],
    ) -> Result<Vec<Vec<String>>, UnreadableInput> {
        let revision = self.revision(input)?;
        let mut unused = Noted::default();
        let examined = self.items(answer).iter().enumerate().map(|(index, item)| {
            let examined = self.examine_one(index, item, revision.as_ref(), &mut unused);
            fingerprint(&self.key, &examined).unwrap_or_default()
        });
        Ok(examined.collect())
    }

    /// Whether a value has the list, and nothing in it.
    #[must_use]
    pub fn lists_nothing(&self, value: &serde_json::Value) -> bool {
        let list = value.pointer(self.list.as_str());
        list.and_then(serde_json::Value::as_array)
            .is_some_and(Vec::is_empty)
    }

    fn items<'v, 'a>(&self, answer: &'v Value<'a>) -> &'v [Value<'a>] {
        match self.list.find(answer) {
            Some(Value::Array(items)) => items,
            Some(_) | None => &[],
        }
    }

    fn examine<'v>(
        &'v self,
        answer: &'v Value<'_>,
        revision: Option<&'v Revision>,
        noted: &mut Noted,
    ) -> Vec<Examined<'v>> {
        let Some(Value::Array(items)) = self.list.find(answer) else {
            noted.no_list(&self.list);
            return Vec::new();
        };
        if items.len() > FINDINGS_MAX {
            noted.too_many(&self.list);
            return Vec::new();
        }
        let items = items.iter().enumerate();
        items
            .map(|(index, item)| self.examine_one(index, item, revision, noted))
            .collect()
    }

    fn collapse(&self, examined: &[Examined<'_>]) -> Result<Vec<Finding>, Refusal> {
        let mut prints = Vec::with_capacity(examined.len());
        let mut best: HashMap<Vec<String>, Kept> = HashMap::new();
        for (index, finding) in examined.iter().enumerate() {
            let print = fingerprint(&self.key, finding)?;
            let kept = Kept {
                index,
                rank: finding.rank,
                others: 0,
            };
            let seen = best.get(&print).copied();
            best.insert(print.clone(), seen.map_or(kept, |seen| seen.or(kept)));
            prints.push(print);
        }
        let mut findings = Vec::with_capacity(best.len());
        for (index, (finding, fingerprint)) in examined.iter().zip(prints).enumerate() {
            let kept = best.get(&fingerprint);
            if let Some(kept) = kept.filter(|kept| kept.index == index) {
                findings.push(Finding {
                    collapsed: kept.others,
                    value: canonical::to_canonical(finding.item)?,
                    fingerprint,
                });
            }
        }
        Ok(findings)
    }
}

/// The one of several with one fingerprint that stays.
#[derive(Clone, Copy)]
struct Kept {
    index: usize,
    rank: usize,
    others: u32,
}

impl Kept {
    /// The more severe of this and one that came later.
    fn or(self, later: Self) -> Self {
        let stays = if later.rank > self.rank { later } else { self };
        Self {
            others: self.others.saturating_add(1),
            ..stays
        }
    }
}
