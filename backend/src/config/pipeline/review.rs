//! When a person looks at a valid value.

use fencepost_identity::{config::Item, pointer::Pointer};
use serde_json::Value;

use crate::judge::{Rule, Test};

/// Reads the rules. `describes` says whether there may be what a pointer names.
pub(super) fn rules(
    item: &Item<'_, '_>,
    describes: impl Fn(&Pointer) -> bool,
) -> Option<Vec<Rule>> {
    // All are read before the first bad one ends it, so that every mistake is told.
    let rules: Vec<_> = item
        .array()?
        .iter()
        .map(|item| rule(item, &describes))
        .collect();
    rules.into_iter().collect()
}

fn rule(item: &Item<'_, '_>, describes: impl Fn(&Pointer) -> bool) -> Option<Rule> {
    let mut table = item.table()?;
    let pointer = table.require("pointer").and_then(|item| {
        let pointer = item.parse(|text| Pointer::new(text))?;
        if !describes(&pointer) {
            item.error("the schema describes no such member, so the rule would never hold");
        }
        Some(pointer)
    });
    let tests = [
        table.get("is").map(|item| wanted(&item).map(Test::Is)),
        table
            .get("below")
            .map(|item| item.number().map(Test::Below)),
        table
            .get("above")
            .map(|item| item.number().map(Test::Above)),
    ];
    table.finish();
    let mut tests = tests.into_iter().flatten();
    match (tests.next(), tests.next()) {
        (Some(test), None) => Some(Rule {
            pointer: pointer?,
            test: test?,
        }),
        (None | Some(_), _) => {
            item.error("exactly one of `is`, `below` and `above`");
            None
        }
    }
}

fn wanted(item: &Item<'_, '_>) -> Option<Value> {
    if let Some(text) = item.as_text() {
        return Some(Value::String(text.to_owned()));
    }
    let scalar = item
        .as_scalar()
        .and_then(|scalar| serde_json::from_str(&scalar).ok());
    if scalar.is_none() {
        item.error("this must be a string, a decimal integer, true or false");
    }
    scalar
}
