//! What differs between two values, member by member; findings are compared with those of the same
//! fingerprint, wherever in their lists they stand.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
};

use fencepost_identity::{
    canonical,
    json::{self, Value},
    pointer::Pointer,
    refusal::Refusal,
};

use crate::judge::{Judge, Kind};

/// A place at which two values differ: one of the two is there, or both are.
#[derive(Clone, PartialEq, Eq)]
pub struct Change {
    /// A JSON Pointer.
    pub pointer: String,
    /// What stood there: canonical JSON.
    pub then: Option<String>,
    /// What stands there now.
    pub now: Option<String>,
}

impl Change {
    /// The word for it.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match (&self.then, &self.now) {
            (None, _) => "added",
            (Some(_), None) => "removed",
            (Some(_), Some(_)) => "changed",
        }
    }
}

impl fmt::Debug for Change {
    /// Leaves values and places out: a member's name may be prose, too.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Compares two JSON texts, digit for digit; where there was none before, all members are added.
/// Which findings are one, the judge and the report's input say.
///
/// # Errors
/// One of them is not JSON.
pub(super) fn between(
    judge: &Judge,
    input: &[u8],
    then: Option<&str>,
    now: &str,
) -> Result<Vec<Change>, Refusal> {
    let now = json::parse(now.as_bytes())?;
    let then = match then {
        Some(then) => json::parse(then.as_bytes())?,
        None => Value::Object(Vec::new()),
    };
    let list = match &judge.kind {
        Kind::Classification => None,
        Kind::Findings(rules) => {
            let marks = judge.marks(&then, input).zip(judge.marks(&now, input));
            marks.map(|(then, now)| List {
                at: &rules.list,
                pairs: pairs(&then, &now),
            })
        }
    };
    let mut comparison = Comparison {
        list,
        changes: Vec::new(),
    };
    comparison.compare(String::new(), Some(&then), Some(&now))?;
    Ok(comparison.changes)
}

/// A finding's place in the list of then and in that of now.
type Pair = (Option<usize>, Option<usize>);

/// Which findings are one: those of now in their order, then those that are gone.
fn pairs(then: &[Vec<String>], now: &[Vec<String>]) -> Vec<Pair> {
    let mut free: BTreeMap<&[String], VecDeque<usize>> = BTreeMap::new();
    for (index, mark) in then.iter().enumerate() {
        free.entry(mark).or_default().push_back(index);
    }
    let mut pairs: Vec<Pair> = Vec::with_capacity(now.len());
    for (index, mark) in now.iter().enumerate() {
        let of_then = free.get_mut(mark.as_slice()).and_then(VecDeque::pop_front);
        pairs.push((of_then, Some(index)));
    }
    let gone: BTreeSet<usize> = free.into_values().flatten().collect();
    pairs.extend(gone.into_iter().map(|index| (Some(index), None)));
    pairs
}

/// The list of findings.
struct List<'l> {
    at: &'l Pointer,
    pairs: Vec<Pair>,
}

struct Comparison<'l> {
    list: Option<List<'l>>,
    changes: Vec<Change>,
}

impl Comparison<'_> {
    /// As deep as the values are, which their reader bounds.
    fn compare(
        &mut self,
        pointer: String,
        then: Option<&Value<'_>>,
        now: Option<&Value<'_>>,
    ) -> Result<(), Refusal> {
        match (then, now) {
            (Some(Value::Object(then)), Some(Value::Object(now))) => {
                let then: BTreeMap<_, _> = then.iter().map(|(name, value)| (name, value)).collect();
                let now: BTreeMap<_, _> = now.iter().map(|(name, value)| (name, value)).collect();
                let names: BTreeSet<_> = then.keys().chain(now.keys()).copied().collect();
                for name in names {
                    let inner = below(&pointer, name.to_str_lossy());
                    let (then, now) = (then.get(name).copied(), now.get(name).copied());
                    self.compare(inner, then, now)?;
                }
            }
            (Some(Value::Array(then)), Some(Value::Array(now))) => {
                for (of_then, of_now) in self.pairs(&pointer, then.len().max(now.len())) {
                    // A finding is told where it stands now, or where it stood.
                    let Some(index) = of_now.or(of_then) else {
                        continue;
                    };
                    let inner = below(&pointer, &index.to_string());
                    let then = of_then.and_then(|index| then.get(index));
                    let now = of_now.and_then(|index| now.get(index));
                    self.compare(inner, then, now)?;
                }
            }
            (then, now) => {
                let then = then.map(canonical::to_canonical).transpose()?;
                let now = now.map(canonical::to_canonical).transpose()?;
                if then != now {
                    self.changes.push(Change { pointer, then, now });
                }
            }
        }
        Ok(())
    }

    /// Findings by their fingerprints; the items of any other array by their places.
    fn pairs(&self, pointer: &str, length: usize) -> Vec<Pair> {
        let list = self.list.as_ref();
        match list.filter(|list| list.at.as_str() == pointer) {
            Some(list) => list.pairs.clone(),
            None => (0..length)
                .map(|index| (Some(index), Some(index)))
                .collect(),
        }
    }
}

fn below(pointer: &str, step: &str) -> String {
    format!("{pointer}/{}", step.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests;
