//! The part of `spin.toml` (manifest version 2) that the component needs.
//!
//! A member that would change how the component runs, and that this host does not have, is an
//! error: a manifest that is accepted means the same here and under Spin.

use crate::route::{Route, RouteError};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// One component and the routes that lead to it.
#[derive(Debug)]
pub struct Manifest {
    /// Where `spin.toml` lies; its paths are relative to this folder.
    pub folder: PathBuf,
    /// The application's variables by name.
    pub variables: BTreeMap<String, Declaration>,
    /// The HTTP triggers of the component.
    pub routes: Vec<Route>,
    /// The component.
    pub component: Component,
}

/// How an application variable gets its value.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// The value when none is given.
    pub default: Option<String>,
    /// Whether the start fails without a given value.
    #[serde(default)]
    pub required: bool,
    #[serde(default, rename = "secret")]
    _secret: IgnoredAny,
    #[serde(default, rename = "description")]
    _description: IgnoredAny,
}

/// What the manifest grants to the component.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Component {
    /// The file with the component, relative to the manifest.
    pub source: PathBuf,
    /// Names that the component may ask for; the values are templates.
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
    /// The component's environment, which is nothing of the host's.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Files that it can read.
    #[serde(default)]
    pub files: Vec<FileMount>,
    /// Where it may send requests to; templates.
    #[serde(default)]
    pub allowed_outbound_hosts: Vec<String>,
    #[serde(default)]
    exclude_files: Vec<String>,
    #[serde(default)]
    key_value_stores: Vec<String>,
    #[serde(default)]
    sqlite_databases: Vec<String>,
    #[serde(default)]
    ai_models: Vec<String>,
    #[serde(default, rename = "description")]
    _description: IgnoredAny,
    #[serde(default, rename = "build")]
    _build: IgnoredAny,
    #[serde(default, rename = "tool")]
    _tool: IgnoredAny,
}

/// One entry of `files`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(untagged)]
pub enum FileMount {
    /// A file or folder that the component finds under the same relative path.
    SamePath(PathBuf),
    /// A file or folder that the component finds somewhere else.
    Placed(Placement),
}

/// The long form of a `files` entry.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Placement {
    /// A file or folder, relative to the manifest.
    pub source: PathBuf,
    /// The absolute path at which the component sees it.
    pub destination: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    spin_manifest_version: u32,
    #[serde(rename = "application")]
    _application: IgnoredAny,
    #[serde(default)]
    variables: BTreeMap<String, Declaration>,
    trigger: Triggers,
    component: BTreeMap<String, Component>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Triggers {
    http: Vec<Trigger>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Trigger {
    component: String,
    route: String,
    #[serde(default, rename = "id")]
    _id: IgnoredAny,
    #[serde(default)]
    executor: Option<Executor>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Executor {
    r#type: String,
}

/// Why a manifest cannot be served.
#[derive(Debug, Error)]
pub enum ManifestError {
    /// The file could not be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Not TOML, or with members that are unknown, missing or of another type.
    #[error("{}: {source}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: toml::de::Error,
    },
    /// An older or newer manifest.
    #[error("spin_manifest_version is {0}; this host knows version 2")]
    Version(u32),
    /// Something that Spin has and this host has not.
    #[error("{0} is not offered by this host; run the component under Spin")]
    NotOffered(&'static str),
    /// None, or several.
    #[error("the HTTP triggers must lead to exactly one component, and it must be declared")]
    NotOneComponent,
    /// A route that this host cannot serve.
    #[error(transparent)]
    Route(#[from] RouteError),
}

impl Manifest {
    /// Reads and checks the file.
    pub fn read(path: &Path) -> Result<Self, ManifestError> {
        let text = std::fs::read_to_string(path).map_err(|source| ManifestError::Read {
            path: path.to_owned(),
            source,
        })?;
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        Self::parse(&text, folder, path)
    }

    /// The component's file, relative to the working directory.
    #[must_use]
    pub fn component_file(&self) -> PathBuf {
        self.folder.join(&self.component.source)
    }

    fn parse(text: &str, folder: &Path, path: &Path) -> Result<Self, ManifestError> {
        let mut written: Written =
            toml::from_str(text).map_err(|source| ManifestError::Syntax {
                path: path.to_owned(),
                source,
            })?;
        if written.spin_manifest_version != 2 {
            return Err(ManifestError::Version(written.spin_manifest_version));
        }
        let triggers = written.trigger.http;
        if triggers
            .iter()
            .any(|trigger| trigger.executor.as_ref().is_some_and(Executor::is_other))
        {
            return Err(ManifestError::NotOffered("an executor other than `http`"));
        }
        let id = match triggers.as_slice() {
            [first, rest @ ..] if rest.iter().all(|other| other.component == first.component) => {
                first.component.clone()
            }
            _ => return Err(ManifestError::NotOneComponent),
        };
        let component = written
            .component
            .remove(&id)
            .ok_or(ManifestError::NotOneComponent)?;
        component.check()?;
        let routes = triggers
            .iter()
            .map(|trigger| Route::parse(&trigger.route))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            folder: folder.to_owned(),
            variables: written.variables,
            routes,
            component,
        })
    }
}

impl Executor {
    fn is_other(&self) -> bool {
        self.r#type != "http"
    }
}

impl Component {
    fn check(&self) -> Result<(), ManifestError> {
        let asked = [
            (&self.exclude_files, "`exclude_files`"),
            (&self.key_value_stores, "`key_value_stores`"),
            (&self.sqlite_databases, "`sqlite_databases`"),
            (&self.ai_models, "`ai_models`"),
        ];
        match asked.into_iter().find(|(names, _)| !names.is_empty()) {
            Some((_, member)) => Err(ManifestError::NotOffered(member)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
