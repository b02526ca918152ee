//! Where the reports are.

use std::{fmt, path::Path};

use super::Environment;

const DEFAULT: &str = "sqlite://fencepost.db";

/// The database's URL, which may hold a password: its `Debug` shows the scheme alone.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// Reads `FENCEPOST_DATABASE_URL`.
    pub fn read(environment: &mut Environment<'_>) -> Option<Self> {
        let url = environment
            .text("FENCEPOST_DATABASE_URL")
            .unwrap_or_else(|| DEFAULT.to_owned());
        let known = ["sqlite:", "postgres://", "postgresql://"];
        if known.iter().any(|scheme| url.starts_with(scheme)) {
            return Some(Self(url));
        }
        environment.errors.push(format!(
            "FENCEPOST_DATABASE_URL: not a URL such as `{DEFAULT}` or \
             `postgres://USER:PASSWORD@HOST/DATABASE`"
        ));
        None
    }

    /// The file of a SQLite database, if it is not there.
    #[must_use]
    pub fn missing_file(&self) -> Option<&Path> {
        let file = self
            .0
            .strip_prefix("sqlite://")
            .or_else(|| self.0.strip_prefix("sqlite:"));
        file.map(Path::new).filter(|file| !file.exists())
    }

    /// The whole URL, for whoever connects.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.0.split_once(':').map_or("", |(scheme, _)| scheme);
        write!(f, "DatabaseUrl({scheme}:…)")
    }
}
