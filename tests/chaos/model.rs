//! A model that is sure, unsure, wrong, busy, gone or slow, as the seed has it.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use fencepost_model::{Asked, Behaviour, Gate, ModelServer, moderation};
use fencepost_tests::Random;

/// What is slow waits here, until the next blow has fallen.
#[derive(Clone, Debug)]
pub(crate) struct Gates(Arc<Mutex<Gate>>);

impl Gates {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Gate::closed())))
    }

    /// Lets everything through that waits; what comes later waits again.
    pub(crate) fn release(&self) {
        let before = std::mem::replace(&mut *self.0.lock().unwrap(), Gate::closed());
        before.open();
    }

    fn current(&self) -> Gate {
        self.0.lock().unwrap().clone()
    }
}

/// The text of a report of this number, which tells the model what it is about.
pub(crate) fn text(number: u64) -> String {
    format!("{number} says the number of this report")
}

/// A server whose answers depend on the seed, the report and how often it was asked the same.
pub(crate) fn start(seed: u64, gates: &Gates) -> ModelServer {
    let gates = gates.clone();
    ModelServer::start(move |asked| {
        let number: u64 = asked.text().split(' ').next().unwrap().parse().unwrap();
        let mut random = Random::new(seed.wrapping_add(number));
        let mut random = Random::new(random.seed().wrapping_add(asked.seen));
        behaviour(random.below(100), asked, &gates)
    })
}

fn behaviour(drawn: u64, asked: &Asked, gates: &Gates) -> Behaviour {
    let sure = moderation("spam", 0.9, false);
    match drawn {
        0..55 => sure,
        55..65 => moderation("spam", 0.9, true),
        65..70 => moderation("spam", 0.3, false),
        70..76 => moderation("no category of the schema", 0.9, false),
        76..80 => Behaviour::Answer(format!("no JSON, asked for the {}th time", asked.seen)),
        80..84 => Behaviour::rate_limited(Duration::from_secs(1)),
        84..88 => Behaviour::overloaded(),
        88..91 => Behaviour::HangUp,
        91..94 => Behaviour::BreakOff,
        _ => sure.after(&gates.current()),
    }
}
