//! A consistent copy of a live database.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use sqlx::{ConnectOptions, Connection, sqlite::SqliteConnectOptions};

use super::dialect;
use crate::store::{Backup, StoreError, classify::classify};

/// Copies to a file beside the wanted one, has it reach the disk, and gives it its name last: a
/// file of that name is always complete.
pub(super) async fn backup(from: SqliteConnectOptions, to: PathBuf) -> Result<Backup, StoreError> {
    if to.exists() {
        return Ok(Backup::FileExists);
    }
    let partial = partial_name(&to);
    let Some(name) = partial.to_str() else {
        return Err(StoreError::Unavailable(
            "the file's name is not UTF-8".to_owned(),
        ));
    };
    remove_stale(&partial).map_err(unavailable)?;
    let mut connection = from.connect().await.map_err(classify)?;
    let copied = sqlx::query(dialect::COPY)
        .bind(name)
        .execute(&mut connection)
        .await;
    connection.close().await.map_err(classify)?;
    copied.map_err(classify)?;
    let finished = tokio::task::spawn_blocking(move || finish(&partial, &to)).await;
    match finished {
        Ok(finished) => finished.map_err(unavailable),
        Err(_) => Err(StoreError::Unavailable("the copy was given up".to_owned())),
    }
}

fn partial_name(to: &Path) -> PathBuf {
    let mut name = to.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

fn remove_stale(partial: &Path) -> io::Result<()> {
    match fs::remove_file(partial) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn finish(partial: &Path, to: &Path) -> io::Result<Backup> {
    let copy = File::open(partial)?;
    copy.sync_all()?;
    let bytes = copy.metadata()?.len();
    fs::rename(partial, to)?;
    let directory = to.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(directory.unwrap_or(Path::new(".")))?.sync_all()?;
    Ok(Backup::Done { bytes })
}

fn unavailable(error: io::Error) -> StoreError {
    let kind = error.kind();
    if matches!(
        kind,
        io::ErrorKind::StorageFull | io::ErrorKind::ReadOnlyFilesystem
    ) {
        return StoreError::Full;
    }
    StoreError::Unavailable(kind.to_string())
}
