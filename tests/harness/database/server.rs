//! Databases on a server that somebody else has started.

use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Connection as _, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

/// Where to make databases, by the URL of one that is there always.
const VARIABLE: &str = "FENCEPOST_POSTGRES";

/// A database on a server.
#[derive(Clone, Debug)]
pub struct Server {
    /// Of a database that is there always.
    server: Box<PgConnectOptions>,
    url: String,
    pool: PgPool,
}

impl Server {
    pub(super) async fn create(url: Option<&str>) -> Self {
        let server = url.map_or_else(named, |url| url.parse().unwrap());
        let name = name();
        run(
            &server,
            format!("CREATE DATABASE {name} TEMPLATE template0"),
        )
        .await;
        let options = server.clone().database(&name);
        let pool = PgPoolOptions::new().max_connections(2);
        Self {
            server: Box::new(server),
            url: options.to_url_lossy().to_string(),
            pool: pool.connect_lazy_with(options),
        }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn pool(&self) -> &PgPool {
        &self.pool
    }

    pub(super) async fn remove(&self) {
        self.pool.close().await;
        let options: PgConnectOptions = self.url.parse().unwrap();
        let name = options.get_database().unwrap().to_owned();
        run(&self.server, format!("DROP DATABASE {name} WITH (FORCE)")).await;
    }
}

/// # Panics
/// When none is named. Nothing is skipped.
fn named() -> PgConnectOptions {
    let url = std::env::var(VARIABLE).unwrap_or_else(|_| {
        panic!(
            "{VARIABLE} names no server. `cargo xtask test` starts one and runs these tests; or \
             name the URL of a database whose user may make others"
        )
    });
    url.parse().unwrap()
}

/// One that no other test has, not even of a run before.
fn name() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    let random = || RandomState::new().hash_one("name");
    format!("fencepost_test_{:016x}{:016x}", random(), random())
}

async fn run(server: &PgConnectOptions, statement: String) {
    let mut connection = server.connect().await.unwrap();
    let ran = sqlx::raw_sql(AssertSqlSafe(statement))
        .execute(&mut connection)
        .await;
    ran.unwrap();
    connection.close().await.unwrap();
}
