//! A folder with everything that a user's has: the example configuration and manifest, with the
//! sources that tests need beside.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use fencepost_identity::config::Sources;
use tempfile::TempDir;
use toml::{Table, Value};

use crate::{Database, DatabaseKind, delivery::code, program::Program};

/// What edge and backend share.
pub const EDGE_SECRET: &str = "edge-secret-of-the-tests-0001";
/// The administrator's token.
pub const ADMIN_TOKEN: &str = "admin-token-of-the-tests-0001";
/// What GitHub signs with.
pub const GITHUB_SECRET: &str = "github-secret-of-the-tests-0001";
/// From which the secrets of tenants of `reports` are derived.
pub const REPORTS_MASTER_SECRET: &str = "reports-master-of-the-tests-0001";
/// The secret of `notes`.
pub const NOTES_SECRET: &str = "whsec_bm90ZXMtc2VjcmV0LW9mLXRoZS10ZXN0cy1uZXc=";
/// The one that it replaces, live as well.
pub const NOTES_OLD_SECRET: &str = "whsec_bm90ZXMtc2VjcmV0LW9mLXRoZS10ZXN0cy1vbGQ=";

/// From which the secrets of tenants of `code-changes` are derived.
const CODE_CHANGES_MASTER_SECRET: &str = "code-changes-master-of-the-tests-0001";

const VARIABLES: [(&str, &str); 6] = [
    ("edge_secret", EDGE_SECRET),
    ("github_secret", GITHUB_SECRET),
    ("reports_master_secret", REPORTS_MASTER_SECRET),
    ("code_changes_master_secret", CODE_CHANGES_MASTER_SECRET),
    ("notes_secret", NOTES_SECRET),
    ("notes_old_secret", NOTES_OLD_SECRET),
];

/// Two live secrets, and ids that name immutable events.
const NOTES: &str = r#"
[source.notes]
verify = "standard-webhooks"
secrets = ["notes_secret", { name = "notes_old_secret", not_after = 2100-01-01T00:00:00Z }]
pipeline = "moderation"

[source.notes.identity]
tenant = { value = "acme" }
report_id = "/id"
version = "event"

[source.notes.input]
text = "/text"
"#;

/// The secret that `reports` derives for a tenant.
#[must_use]
pub fn tenant_secret(tenant: &str) -> String {
    let code = code(REPORTS_MASTER_SECRET.as_bytes(), tenant.as_bytes());
    format!("whsec_{}", BASE64_STANDARD.encode(code))
}

/// The workspace's folder.
///
/// # Panics
/// Never: the package stands in it.
#[must_use]
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// A folder of its own.
#[derive(Debug)]
pub struct Project {
    folder: TempDir,
    database: Database,
    /// Variables and secrets of sources that a test has added.
    pasted: Vec<(String, String)>,
}

impl Project {
    /// Copies what the example configuration and manifest name. The database is a file, which
    /// isn't there yet.
    ///
    /// # Panics
    /// When they aren't there, or not as they are expected.
    #[must_use]
    pub fn create() -> Self {
        let folder = folder();
        let database = Database::in_folder(folder.path());
        Self::fill(folder, database)
    }

    /// The same, with an empty database of this kind; on this server, else on the one that the
    /// environment names.
    ///
    /// # Panics
    /// Also when there is no server where one is wanted.
    pub async fn on(kind: DatabaseKind, server: Option<&str>) -> Self {
        let folder = folder();
        let database = Database::create(kind, server, folder.path()).await;
        Self::fill(folder, database)
    }

    fn fill(folder: TempDir, database: Database) -> Self {
        let project = Self {
            folder,
            database,
            pasted: Vec::new(),
        };
        let config = read(&workspace().join("fencepost.toml")) + NOTES;
        let tables: Table = config.parse().unwrap();
        for pipeline in tables["pipeline"].as_table().unwrap().values() {
            for name in ["schema", "prompt"] {
                project.copy(pipeline[name].as_str().unwrap());
            }
        }
        fs::write(project.path("fencepost.toml"), config).unwrap();
        let manifest = manifest(read(&workspace().join("spin.toml")).parse().unwrap());
        fs::write(project.path("spin.toml"), manifest.to_string()).unwrap();
        fs::create_dir(project.path("logs")).unwrap();
        project
    }

    /// A file in it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The folder itself.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What the programs wrote.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        self.path("logs")
    }

    /// What a program wrote: `host.stderr` and the like; nothing while it hasn't.
    #[must_use]
    pub fn log(&self, name: &str) -> String {
        fs::read(self.logs().join(name))
            .map(|text| String::from_utf8_lossy(&text).into_owned())
            .unwrap_or_default()
    }

    /// Replaces a text of the configuration.
    ///
    /// # Panics
    /// When it doesn't stand there exactly once.
    pub fn edit_config(&self, from: &str, to: &str) {
        let config = read(&self.path("fencepost.toml"));
        assert_eq!(
            config.matches(from).count(),
            1,
            "{from:?} in fencepost.toml"
        );
        fs::write(self.path("fencepost.toml"), config.replace(from, to)).unwrap();
    }

    /// Adds to the configuration, at its end.
    ///
    /// # Panics
    /// When it can't be written.
    pub fn extend_config(&self, text: &str) {
        let config = read(&self.path("fencepost.toml"));
        fs::write(self.path("fencepost.toml"), config + text).unwrap();
    }

    /// Adds a source, in the manifest the variable of its secret, in both places, and the secret to
    /// the environment.
    ///
    /// # Panics
    /// When they can't be written.
    pub fn paste(&mut self, source: &str, variable: &str, secret: &str) {
        self.extend_config(&format!("\n{source}"));
        let manifest = read(&self.path("spin.toml")).parse().unwrap();
        let manifest = with_secret(manifest, variable);
        fs::write(self.path("spin.toml"), manifest.to_string()).unwrap();
        self.pasted.push((variable.to_owned(), secret.to_owned()));
    }

    /// The database.
    #[must_use]
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// The sources of its configuration.
    ///
    /// # Panics
    /// When it is wrong.
    #[must_use]
    pub fn sources(&self) -> Sources {
        Sources::parse(&read(&self.path("fencepost.toml"))).unwrap()
    }

    /// The attempts that each job has; of pipelines that differ, the most.
    ///
    /// # Panics
    /// When the configuration doesn't say.
    #[must_use]
    pub fn max_attempts(&self) -> i64 {
        let tables: Table = read(&self.path("fencepost.toml")).parse().unwrap();
        let pipelines = tables["pipeline"].as_table().unwrap().values();
        // One that says nothing has the default, which is no more than what others say.
        let attempts = pipelines.filter_map(|pipeline| pipeline.get("max_attempts"));
        attempts.map(|it| it.as_integer().unwrap()).max().unwrap()
    }

    /// `fencepost` in this folder, with the environment of its deployment and nothing else.
    #[must_use]
    pub fn fencepost(&self) -> Command {
        let mut command = Command::new(Program::Backend.path());
        self.prepare(&mut command);
        command
    }

    /// Gives a command the folder and the environment of the deployment.
    pub fn prepare(&self, command: &mut Command) {
        command.current_dir(self.folder()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("FENCEPOST_CONFIG", self.path("fencepost.toml"));
        command.env("FENCEPOST_DATABASE_URL", self.database.url());
        command.env("FENCEPOST_LISTEN", "127.0.0.1:0");
        command.env("FENCEPOST_ADMIN_LISTEN", "127.0.0.1:0");
        command.env("FENCEPOST_EDGE_SECRET", EDGE_SECRET);
        command.env("FENCEPOST_ADMIN_TOKEN", ADMIN_TOKEN);
        command.env("FENCEPOST_LOG", "json");
        let pasted = self.pasted.iter();
        let pasted = pasted.map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in VARIABLES.into_iter().chain(pasted) {
            command.env(
                format!("SPIN_VARIABLE_{}", name.to_ascii_uppercase()),
                value,
            );
        }
    }

    /// `fencepost-edge serve` in this folder, for a backend at this address.
    #[must_use]
    pub fn edge(&self, backend_url: &str) -> Command {
        let mut command = Command::new(Program::Host.path());
        command.args([
            "serve",
            "--manifest",
            "spin.toml",
            "--listen",
            "127.0.0.1:0",
        ]);
        command.arg("--component").arg(Program::Component.path());
        self.prepare(&mut command);
        command.env("SPIN_VARIABLE_BACKEND_URL", backend_url);
        command
    }

    fn copy(&self, name: &str) {
        let target = self.path(name);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(workspace().join(name), target).unwrap();
    }

    /// Leaves the folder on the disk for a person to look at.
    pub(crate) fn keep(&mut self) -> PathBuf {
        self.folder.disable_cleanup(true);
        self.folder().to_owned()
    }
}

fn folder() -> TempDir {
    let mut builder = tempfile::Builder::new();
    builder.prefix("fencepost-test-").tempdir().unwrap()
}

/// The manifest, with the variables of the tests' own source.
fn manifest(manifest: Table) -> Table {
    ["notes_secret", "notes_old_secret"]
        .into_iter()
        .fold(manifest, with_secret)
}

/// The manifest with one more secret, declared and passed on.
fn with_secret(mut manifest: Table, name: &str) -> Table {
    let secret = Table::from_iter([
        ("required".to_owned(), Value::Boolean(true)),
        ("secret".to_owned(), Value::Boolean(true)),
    ]);
    let variables = manifest["variables"].as_table_mut().unwrap();
    variables.insert(name.to_owned(), Value::Table(secret));
    let components = manifest["component"].as_table_mut().unwrap();
    for (_, component) in components.iter_mut() {
        let variables = component["variables"].as_table_mut().unwrap();
        variables.insert(name.to_owned(), Value::String(format!("{{{{ {name} }}}}")));
    }
    manifest
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
