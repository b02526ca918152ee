//! A throw-away Postgres cluster, and a PgBouncer before it, for tests.
