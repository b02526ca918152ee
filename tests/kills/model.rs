//! A model that behaves as the report's text asks it to.

use std::{collections::BTreeSet, sync::Mutex};

use fencepost_model::{Behaviour, Gate, ModelServer, moderation};

/// How the model behaves, which decides what the program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It is sure at once: a commit.
    Sure,
    /// It wants a person to look: a commit with a review item.
    Unsure,
    /// The first time it answers no JSON: a rejection.
    Garbled,
    /// The first time it is asked too much: a release.
    Limited,
    /// It takes until the gate is open: heartbeats.
    Slow,
}

impl Manner {
    /// A report that is met like this.
    pub(crate) fn text(self, number: usize) -> String {
        format!("{self:?} report number {number}")
    }

    fn of(text: &str) -> Self {
        let all = [
            Self::Sure,
            Self::Unsure,
            Self::Garbled,
            Self::Limited,
            Self::Slow,
        ];
        let named = all.into_iter();
        let mut named = named.filter(|manner| text.starts_with(&format!("{manner:?} ")));
        named.next().unwrap()
    }
}

/// A model server; what is slow waits for the gate.
pub(crate) fn model(gate: &Gate) -> ModelServer {
    let gate = gate.clone();
    let asked_before = Mutex::new(BTreeSet::new());
    ModelServer::start(move |asked| {
        let text = asked.text();
        let is_first = asked_before.lock().unwrap().insert(text.to_owned());
        let sure = moderation("spam", 0.9, false);
        match Manner::of(text) {
            Manner::Unsure => moderation("spam", 0.9, true),
            Manner::Garbled if is_first => Behaviour::Answer("no JSON".to_owned()),
            Manner::Limited if is_first => Behaviour::rate_limited(std::time::Duration::ZERO),
            Manner::Slow => sure.after(&gate),
            Manner::Sure | Manner::Garbled | Manner::Limited => sure,
        }
    })
}
