//! A cluster is what it says, keeps what it is told, and leaves nothing.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod processes;

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use fencepost_cluster::{Cluster, Durability, Ending, Error, PgBouncer, PoolMode};

use processes::processes_of;

/// A connection that knows as much of the protocol as these tests need.
struct Client {
    stream: TcpStream,
}

impl Client {
    fn connect(url: &str) -> Self {
        let place = url.strip_prefix("postgres://postgres@").unwrap();
        let (address, database) = place.split_once('/').unwrap();
        let stream = TcpStream::connect(address).unwrap();
        let mut client = Self { stream };
        let startup = format!("\0\x03\0\0user\0postgres\0database\0{database}\0\0");
        client.send(None, startup.as_bytes());
        client.until_ready();
        client
    }

    fn send(&mut self, kind: Option<u8>, body: &[u8]) {
        let length = u32::try_from(body.len() + 4).unwrap();
        let mut message: Vec<u8> = kind.into_iter().collect();
        message.extend(length.to_be_bytes());
        message.extend(body);
        self.stream.write_all(&message).unwrap();
    }

    /// The first value of each row.
    fn until_ready(&mut self) -> Vec<String> {
        let mut values = Vec::new();
        loop {
            let mut head = [0; 5];
            self.stream.read_exact(&mut head).unwrap();
            let length = u32::from_be_bytes(head[1..].try_into().unwrap());
            let mut body = vec![0; usize::try_from(length).unwrap() - 4];
            self.stream.read_exact(&mut body).unwrap();
            match head[0] {
                b'Z' => return values,
                b'D' => {
                    let length = u32::from_be_bytes(body[2..6].try_into().unwrap());
                    let value = &body[6..6 + usize::try_from(length).unwrap()];
                    values.push(String::from_utf8(value.to_vec()).unwrap());
                }
                b'E' => panic!("{}", String::from_utf8_lossy(&body)),
                _ => {}
            }
        }
    }

    fn run(&mut self, statement: &str) -> Vec<String> {
        self.send(Some(b'Q'), format!("{statement}\0").as_bytes());
        self.until_ready()
    }
}

/// What a new connection gets.
fn run(url: &str, statement: &str) -> Vec<String> {
    Client::connect(url).run(statement)
}

#[test]
fn what_was_committed_outlives_every_ending() {
    let mut cluster = Cluster::start(Durability::Full).unwrap();
    let (port, url) = (cluster.port(), cluster.url("postgres"));
    run(&url, "CREATE TABLE kept (ending text)");
    let endings = [Ending::Fast, Ending::Immediate, Ending::Killed];
    for (count, ending) in endings.into_iter().enumerate() {
        // These two are there still when the server ends: one idle, one in a transaction.
        let mut idle = Client::connect(&url);
        let mut open = Client::connect(&url);
        open.run("BEGIN");
        open.run("INSERT INTO kept VALUES ('of an open transaction')");
        idle.run(&format!("INSERT INTO kept VALUES ('{ending:?}')"));
        cluster.restart(ending).unwrap();
        assert_eq!(
            (cluster.port(), cluster.url("postgres")),
            (port, url.clone())
        );
        let kept = run(&url, "SELECT ending FROM kept");
        let expected = endings.iter().take(count + 1);
        assert_eq!(
            kept,
            expected
                .map(|ending| format!("{ending:?}"))
                .collect::<Vec<_>>()
        );
    }
}

#[test]
fn it_is_set_as_it_says() {
    let full = Cluster::start(Durability::Full).unwrap();
    let fast = Cluster::start(Durability::Fast).unwrap();
    let show = |cluster: &Cluster, setting: &str| {
        run(&cluster.url("postgres"), &format!("SHOW {setting}")).concat()
    };
    assert_eq!(show(&full, "fsync"), "on");
    assert_eq!(show(&fast, "fsync"), "off");
    for cluster in [&full, &fast] {
        assert_eq!(show(cluster, "synchronous_commit"), "on");
        assert_eq!(show(cluster, "listen_addresses"), "127.0.0.1");
        assert_eq!(show(cluster, "unix_socket_directories"), "");
        assert_eq!(show(cluster, "max_connections"), "200");
        assert_eq!(show(cluster, "server_encoding"), "UTF8");
        let locale = "SELECT datcollate FROM pg_database WHERE datname = 'postgres'";
        assert_eq!(run(&cluster.url("postgres"), locale), ["C"]);
    }
}

#[test]
fn stopped_it_is_not_there_and_says_so() {
    let mut cluster = Cluster::start(Durability::Fast).unwrap();
    let address = ("127.0.0.1", cluster.port());
    assert!(matches!(cluster.start_again(), Err(Error::State { .. })));
    cluster.stop(Ending::Fast).unwrap();
    assert!(TcpStream::connect(address).is_err());
    assert!(processes_of(cluster.folder()).is_empty());
    assert!(matches!(
        cluster.stop(Ending::Fast),
        Err(Error::State { .. })
    ));
    cluster.start_again().unwrap();
    assert_eq!(run(&cluster.url("postgres"), "SELECT 1"), ["1"]);
}

#[test]
fn a_server_that_does_not_start_says_why_and_keeps_its_data() {
    let mut cluster = Cluster::start(Durability::Fast).unwrap();
    cluster.stop(Ending::Fast).unwrap();
    let settings = cluster.folder().join("data/postgresql.conf");
    let good = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, format!("{good}\nmistake = here\n")).unwrap();
    let error = cluster.start_again().unwrap_err();
    assert!(error.to_string().contains("\"mistake\""), "{error}");
    std::fs::write(&settings, good).unwrap();
    cluster.start_again().unwrap();
}

#[test]
fn dropped_they_leave_neither_processes_nor_folders() {
    let cluster = Cluster::start(Durability::Fast).unwrap();
    let pgbouncer = PgBouncer::start(&cluster, PoolMode::Transaction).unwrap();
    let folders = [cluster.folder().to_owned(), pgbouncer.folder().to_owned()];
    assert!(folders.iter().all(|folder| processes_of(folder).len() >= 2));
    drop((pgbouncer, cluster));
    for folder in &folders {
        assert!(processes_of(folder).is_empty());
        assert!(!folder.exists());
    }
}

#[test]
fn a_pool_leads_to_every_database_and_lends_connections_as_it_is_told() {
    let cluster = Cluster::start(Durability::Fast).unwrap();
    run(&cluster.url("postgres"), "CREATE DATABASE other");
    for (mode, kept) in [(PoolMode::Session, "abc"), (PoolMode::Transaction, "")] {
        let pgbouncer = PgBouncer::start(&cluster, mode).unwrap();
        let url = pgbouncer.url("other");
        assert_eq!(run(&url, "SELECT current_database()"), ["other"]);
        let mut first = Client::connect(&url);
        first.run("SET SESSION my.setting = 'abc'");
        // In transaction mode, this takes the connection that the first one has given back.
        let mut second = Client::connect(&url);
        second.run("BEGIN");
        second.run("SELECT 1");
        let asked = first.run("SELECT coalesce(current_setting('my.setting', true), '')");
        assert_eq!(asked, [kept], "{mode:?}");
    }
}
