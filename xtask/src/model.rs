//! A small model on this machine, for those who have no key: what it takes to run it, the server
//! before it, and the configuration that asks it.

mod configuration;
mod server;
mod set_up;

pub(crate) use configuration::{PIPELINE, configuration};
pub(crate) use server::{Call, Server};
pub(crate) use set_up::{Model, node, set_up};
