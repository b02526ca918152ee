//! A throw-away Postgres cluster, and a PgBouncer before it, for tests.
//!
//! Both stand in a temporary folder, listen on loopback alone, and run as an unprivileged user if
//! this process is root, since neither would run as root. They are gone when they are dropped, and
//! also when this process dies without dropping anything.

mod account;
mod cluster;
mod error;
mod pgbouncer;
mod port;
mod program;
mod server;

pub use self::{
    cluster::{Cluster, Durability, Ending},
    error::{Error, Missing},
    pgbouncer::{PgBouncer, PoolMode},
    program::{find_pgbouncer, find_postgres},
};
