//! What differs between two values, member by member.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use fencepost_identity::{
    canonical,
    json::{self, Value},
    refusal::Refusal,
};

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
///
/// # Errors
/// One of them is not JSON.
pub(super) fn between(then: Option<&str>, now: &str) -> Result<Vec<Change>, Refusal> {
    let now = json::parse(now.as_bytes())?;
    let then = match then {
        Some(then) => json::parse(then.as_bytes())?,
        None => Value::Object(Vec::new()),
    };
    let mut changes = Vec::new();
    compare(String::new(), Some(&then), Some(&now), &mut changes)?;
    Ok(changes)
}

/// As deep as the values are, which their reader bounds.
fn compare(
    pointer: String,
    then: Option<&Value<'_>>,
    now: Option<&Value<'_>>,
    changes: &mut Vec<Change>,
) -> Result<(), Refusal> {
    match (then, now) {
        (Some(Value::Object(then)), Some(Value::Object(now))) => {
            let then: BTreeMap<_, _> = then.iter().map(|(name, value)| (name, value)).collect();
            let now: BTreeMap<_, _> = now.iter().map(|(name, value)| (name, value)).collect();
            let names: BTreeSet<_> = then.keys().chain(now.keys()).copied().collect();
            for name in names {
                let inner = below(&pointer, name.to_str_lossy());
                let (then, now) = (then.get(name).copied(), now.get(name).copied());
                compare(inner, then, now, changes)?;
            }
        }
        (Some(Value::Array(then)), Some(Value::Array(now))) => {
            for index in 0..then.len().max(now.len()) {
                let inner = below(&pointer, &index.to_string());
                compare(inner, then.get(index), now.get(index), changes)?;
            }
        }
        (then, now) => {
            let then = then.map(canonical::to_canonical).transpose()?;
            let now = now.map(canonical::to_canonical).transpose()?;
            if then != now {
                changes.push(Change { pointer, then, now });
            }
        }
    }
    Ok(())
}

fn below(pointer: &str, step: &str) -> String {
    format!("{pointer}/{}", step.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(then: Option<&str>, now: &str) -> Vec<String> {
        let changes = between(then, now).unwrap();
        let told = changes.iter().map(|change| {
            let side = |value: &Option<String>| value.clone().unwrap_or_default();
            let (then, now) = (side(&change.then), side(&change.now));
            format!("{} {} {then} {now}", change.word(), change.pointer)
        });
        told.collect()
    }

    #[test]
    fn members_are_told_by_pointer() {
        let then = r#"{"a":1,"b":{"c":true,"d":"x"},"e":[1,2,3],"f":null}"#;
        let now = r#"{"a":1.0,"b":{"c":false,"g":{}},"e":[1,4],"f":0}"#;
        assert_eq!(
            told(Some(then), now),
            [
                "changed /b/c true false",
                "removed /b/d \"x\" ",
                "added /b/g  {}",
                "changed /e/1 2 4",
                "removed /e/2 3 ",
                "changed /f null 0",
            ]
        );
        assert_eq!(told(Some(then), then), [""; 0]);
    }

    #[test]
    fn where_nothing_was_everything_is_added() {
        let now = r#"{"a/b~":"x","c":[1]}"#;
        assert_eq!(told(None, now), ["added /a~1b~0  \"x\"", "added /c  [1]"]);
    }

    #[test]
    fn every_digit_counts_and_the_kind_of_a_value_does() {
        assert_eq!(
            told(
                Some(r#"{"n":9007199254740993}"#),
                r#"{"n":9007199254740992}"#
            ),
            ["changed /n 9007199254740993 9007199254740992"]
        );
        assert_eq!(
            told(Some(r#"{"n":[]}"#), r#"{"n":{}}"#),
            ["changed /n [] {}"]
        );
        assert!(between(Some("{"), "{}").is_err());
    }

    #[test]
    fn nothing_of_a_value_is_in_its_debug_form() {
        let changes = between(None, r#"{"canary":"canary"}"#).unwrap();
        assert_eq!(format!("{changes:?}"), "[added]");
    }
}
