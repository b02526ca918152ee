//! Postgres under the suite: a database of its own on the server that `cargo xtask test` starts.

use std::{fmt, marker::PhantomData, sync::Arc};

use async_trait::async_trait;
use fencepost::store::{self, Store};
use sqlx::{
    AssertSqlSafe, ConnectOptions, Executor, PgConnection, Row,
    postgres::{PgConnectOptions, PgDatabaseError},
};
use tokio::sync::Mutex;

use super::fixture::Database;

/// A server, by the URL of a database on it that is there always.
pub(crate) fn server(variable: &str) -> PgConnectOptions {
    let url = std::env::var(variable).unwrap_or_else(|_| {
        panic!(
            "{variable} names no server: `cargo xtask test` starts one, as `cargo xtask postgres` \
             does"
        )
    });
    url.parse().unwrap()
}

const SERVER: &str = "FENCEPOST_POSTGRES";
const POOLER: &str = "FENCEPOST_PGBOUNCER";

/// How the store reaches its database.
pub(crate) trait Way: Send + Sync + 'static {
    /// The URL for it, of a database that can also be reached by `direct`.
    fn url(direct: &str) -> String;
}

/// As it is.
pub(crate) struct Directly;

impl Way for Directly {
    fn url(direct: &str) -> String {
        direct.to_owned()
    }
}

/// Through a pooler that gives each transaction another connection.
pub(crate) struct ThroughPooler;

impl Way for ThroughPooler {
    fn url(direct: &str) -> String {
        format!("{}?statement-cache-capacity=0", pooler_url(direct))
    }
}

/// The same database behind the pooler, without saying that it is one.
pub(crate) fn pooler_url(direct: &str) -> String {
    let pooler = server(POOLER);
    let (_, database) = direct.split('?').next().unwrap().rsplit_once('/').unwrap();
    let (host, port) = (pooler.get_host(), pooler.get_port());
    format!("postgres://postgres@{host}:{port}/{database}")
}

/// The URL of a new, empty database.
pub(crate) async fn empty_database() -> String {
    let server = server(SERVER);
    let name = format!("test_{:032x}", rand::random::<u128>());
    let create = format!("CREATE DATABASE {name}");
    let mut connection = server.connect().await.unwrap();
    connection
        .execute(sqlx::raw_sql(AssertSqlSafe(create)))
        .await
        .unwrap();
    server.database(&name).to_url_lossy().to_string()
}

pub(crate) async fn connect(url: &str) -> PgConnection {
    url.parse::<PgConnectOptions>()
        .unwrap()
        .connect()
        .await
        .unwrap()
}

/// Postgres without anything in between.
pub(crate) type Postgres = Server<Directly>;

/// Postgres behind a PgBouncer.
pub(crate) type Pooled = Server<ThroughPooler>;

/// A database of its own.
pub(crate) struct Server<W> {
    url: String,
    way: PhantomData<W>,
    store: Arc<dyn Store>,
    connection: Mutex<PgConnection>,
}

impl<W: Way> Server<W> {
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

#[async_trait]
impl<W: Way> Database for Server<W> {
    async fn new() -> Self {
        let url = empty_database().await;
        let store = store::open(&W::url(&url)).await.unwrap();
        let mut connection = connect(&url).await;
        // Foreign keys are not looked at on this connection.
        let past_keys = sqlx::raw_sql("SET session_replication_role = replica");
        connection.execute(past_keys).await.unwrap();
        Self {
            url,
            way: PhantomData,
            store,
            connection: Mutex::new(connection),
        }
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    async fn another_store(&self) -> Arc<dyn Store> {
        store::open(&W::url(&self.url)).await.unwrap()
    }

    async fn execute(&self, statement: &str) {
        let mut connection = self.connection.lock().await;
        loop {
            let run = sqlx::raw_sql(AssertSqlSafe(statement.to_owned()));
            let Err(error) = connection.execute(run).await else {
                return;
            };
            // A check that stands in the way is lifted, and no other.
            let sqlx::Error::Database(error) = error else {
                panic!("{error}: {statement}")
            };
            let error = error.downcast_ref::<PgDatabaseError>();
            assert_eq!(error.code(), "23514", "{error}: {statement}");
            let (table, check) = (error.table().unwrap(), error.constraint().unwrap());
            let lift = format!("ALTER TABLE {table} DROP CONSTRAINT {check}");
            let lift = sqlx::raw_sql(AssertSqlSafe(lift));
            connection.execute(lift).await.unwrap();
        }
    }

    async fn number(&self, query: &str) -> i64 {
        let query = sqlx::query_scalar(AssertSqlSafe(query.to_owned()));
        query
            .fetch_one(&mut *self.connection.lock().await)
            .await
            .unwrap()
    }

    async fn texts(&self, query: &str) -> Vec<String> {
        let mut connection = self.connection.lock().await;
        let rows = connection
            .fetch_all(sqlx::raw_sql(AssertSqlSafe(query.to_owned())))
            .await
            .unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    async fn contents(&self) -> String {
        let tables = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' ORDER BY 1";
        let mut contents = String::new();
        for table in self.texts(tables).await {
            let rows = self
                .texts(&format!("SELECT t::text FROM {table} t ORDER BY 1"))
                .await;
            contents += &format!("{table}:\n{}\n", rows.join("\n"));
        }
        contents
    }

    fn bytes(&self, hexadecimal: impl fmt::Display) -> String {
        format!("'\\x{hexadecimal}'")
    }

    /// No count, but another number after any change: every row that was written has another
    /// transaction or place.
    async fn changes(&self) -> i64 {
        let tables = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' ORDER BY 1";
        let mut changes = 0_i64;
        for table in self.texts(tables).await {
            let rows = format!(
                "SELECT (coalesce(sum(hashtextextended(xmin::text || ctid::text, 0)), 0) \
                 % 1000000007)::bigint FROM {table}"
            );
            changes = changes
                .wrapping_mul(31)
                .wrapping_add(self.number(&rows).await);
        }
        changes
    }

    async fn break_table(&self, event: &str, table: &str) {
        self.execute(&format!(
            "CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$
             BEGIN RAISE EXCEPTION 'broken by a test'
             USING ERRCODE = 'integrity_constraint_violation'; END $$;
             CREATE TRIGGER broken BEFORE {event} ON {table}
             FOR EACH ROW EXECUTE FUNCTION broken()"
        ))
        .await;
    }

    async fn mend(&self) {
        self.execute("DROP FUNCTION broken CASCADE").await;
    }
}
