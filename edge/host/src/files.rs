//! The files that a component can read, laid out as it sees them.

use crate::manifest::{FileMount, Placement};
use std::path::{Component, Path, PathBuf};
use std::{fs, io};
use tempfile::TempDir;
use thiserror::Error;

/// Why the files of a manifest cannot be mounted.
#[derive(Debug, Error)]
pub enum FilesError {
    /// A source that is not there, or cannot be read.
    #[error("files: {}: {source}", path.display())]
    Read {
        /// The source.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A source that leaves the manifest's folder.
    #[error("files: {} is outside of the manifest's folder", .0.display())]
    Outside(PathBuf),
    /// A destination that is no path to a file or folder below `/`.
    #[error("files: {0:?} is no destination")]
    Destination(String),
    /// Patterns such as `assets/*` are left to Spin.
    #[error("files: {0:?} is a pattern, which this host does not offer; name files or folders")]
    Pattern(String),
    /// The copy could not be written.
    #[error("files: cannot copy to {}: {source}", path.display())]
    Write {
        /// Where to.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Copies what the component may read into a folder of its own, which is its `/`.
///
/// A copy, as Spin makes one: files from several places are then one tree, and what is edited while
/// the host runs changes nothing. `None` without any files: such a component has no `/` at all.
pub fn lay_out(folder: &Path, mounts: &[FileMount]) -> Result<Option<TempDir>, FilesError> {
    if mounts.is_empty() {
        return Ok(None);
    }
    let read = |path: &Path| {
        let path = path.to_owned();
        move |source| FilesError::Read { path, source }
    };
    let root = folder.canonicalize().map_err(read(folder))?;
    let copy = tempfile::Builder::new()
        .prefix("fencepost-files-")
        .tempdir()
        .map_err(|source| FilesError::Write {
            path: std::env::temp_dir(),
            source,
        })?;
    for mount in mounts {
        let (source, destination) = match mount {
            FileMount::SamePath(path) => (path.as_path(), path.clone()),
            FileMount::Placed(Placement {
                source,
                destination,
            }) => (
                source.as_path(),
                PathBuf::from(destination.trim_start_matches('/')),
            ),
        };
        let from = match folder.join(source).canonicalize() {
            Ok(from) => from,
            Err(_) if is_pattern(mount) => {
                return Err(FilesError::Pattern(source.display().to_string()));
            }
            Err(error) => return Err(read(&folder.join(source))(error)),
        };
        if !from.starts_with(&root) {
            return Err(FilesError::Outside(source.to_owned()));
        }
        let to = copy.path().join(below_root(&destination)?);
        if from.is_file() && to == copy.path() {
            return Err(FilesError::Destination(destination.display().to_string()));
        }
        copy_tree(&from, &to)?;
    }
    Ok(Some(copy))
}

fn is_pattern(mount: &FileMount) -> bool {
    match mount {
        FileMount::SamePath(path) => path.to_string_lossy().contains(['*', '?', '[']),
        FileMount::Placed(_) => false,
    }
}

/// The destination as a path that cannot climb.
fn below_root(destination: &Path) -> Result<PathBuf, FilesError> {
    let refused = || FilesError::Destination(destination.display().to_string());
    let mut below = PathBuf::new();
    for part in destination.components() {
        match part {
            Component::Normal(name) => below.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(refused());
            }
        }
    }
    Ok(below)
}

fn copy_tree(from: &Path, to: &Path) -> Result<(), FilesError> {
    let read = |source| FilesError::Read {
        path: from.to_owned(),
        source,
    };
    let write = |source| FilesError::Write {
        path: to.to_owned(),
        source,
    };
    if from.is_file() {
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).map_err(write)?;
        }
        fs::copy(from, to).map_err(write)?;
        return Ok(());
    }
    fs::create_dir_all(to).map_err(write)?;
    for entry in fs::read_dir(from).map_err(read)? {
        let entry = entry.map_err(read)?;
        copy_tree(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app() -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let app = folder.path().join("app");
        fs::create_dir_all(app.join("schemas/deep")).unwrap();
        fs::write(app.join("fencepost.toml"), "config").unwrap();
        fs::write(app.join("schemas/deep/a.json"), "{}").unwrap();
        fs::write(folder.path().join("outside"), "x").unwrap();
        folder
    }

    fn placed(source: &str, destination: &str) -> FileMount {
        FileMount::Placed(Placement {
            source: source.into(),
            destination: destination.to_owned(),
        })
    }

    fn lay(mounts: &[FileMount]) -> Result<Option<TempDir>, FilesError> {
        lay_out(&app().path().join("app"), mounts)
    }

    #[test]
    fn files_and_folders_go_where_they_are_placed() {
        let copy = lay(&[
            placed("fencepost.toml", "/etc/fencepost.toml"),
            placed("schemas", "/"),
            FileMount::SamePath("schemas".into()),
            FileMount::SamePath("fencepost.toml".into()),
        ]);
        let copy = copy.unwrap().unwrap();
        let read = |path| fs::read_to_string(copy.path().join(path)).unwrap();
        assert_eq!(read("etc/fencepost.toml"), "config");
        assert_eq!(read("fencepost.toml"), "config");
        assert_eq!(read("deep/a.json"), "{}");
        assert_eq!(read("schemas/deep/a.json"), "{}");
    }

    #[test]
    fn no_files_are_no_root() {
        assert!(lay(&[]).unwrap().is_none());
    }

    #[test]
    fn a_missing_source_is_named() {
        let error = lay(&[placed("absent.toml", "/absent.toml")])
            .unwrap_err()
            .to_string();
        assert!(error.contains("app/absent.toml: "), "{error}");
    }

    #[test]
    fn nothing_leaves_its_folder() {
        let outside = lay(&[FileMount::SamePath("../outside".into())]);
        assert!(matches!(outside, Err(FilesError::Outside(_))));
        let climbing = lay(&[placed("fencepost.toml", "/../x")]);
        assert!(matches!(climbing, Err(FilesError::Destination(_))));
        let root = lay(&[placed("fencepost.toml", "/")]);
        assert!(matches!(root, Err(FilesError::Destination(_))));
    }

    #[test]
    fn patterns_are_refused_as_such() {
        let pattern = lay(&[FileMount::SamePath("schemas/*".into())]);
        assert!(matches!(pattern, Err(FilesError::Pattern(_))));
    }
}
