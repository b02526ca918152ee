//! Where the programs stand.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::error::Missing;

/// Each version has a folder in here.
const POSTGRES: &str = "/usr/lib/postgresql";
/// Not on everybody's PATH.
const PGBOUNCER: &str = "/usr/sbin";

/// The folder with `initdb` and `postgres`: on PATH, else the newest of the distribution's.
///
/// # Errors
/// If there is none.
pub fn find_postgres() -> Result<PathBuf, Missing> {
    let candidates = path().into_iter().chain(versions(Path::new(POSTGRES)));
    holding(&["initdb", "postgres"], candidates).ok_or(Missing {
        programs: "initdb and postgres",
        folder: POSTGRES,
        package: "postgresql",
    })
}

/// The program `pgbouncer`.
///
/// # Errors
/// If there is none.
pub fn find_pgbouncer() -> Result<PathBuf, Missing> {
    let candidates = path().into_iter().chain([PathBuf::from(PGBOUNCER)]);
    let folder = holding(&["pgbouncer"], candidates).ok_or(Missing {
        programs: "pgbouncer",
        folder: PGBOUNCER,
        package: "pgbouncer",
    })?;
    Ok(folder.join("pgbouncer"))
}

fn path() -> Vec<PathBuf> {
    env::var_os("PATH").map_or_else(Vec::new, |path| env::split_paths(&path).collect())
}

fn holding(programs: &[&str], mut folders: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    folders.find(|folder| {
        let mut programs = programs.iter();
        programs.all(|program| folder.join(program).is_file())
    })
}

/// The newest first.
fn versions(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut versions: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| {
            let version = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .collect();
    versions.sort();
    versions.into_iter().rev().map(|(_, bin)| bin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_whole_version_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let program = |version: &str, program: &str| {
            let bin = folder.path().join(version).join("bin");
            fs::create_dir_all(&bin).unwrap();
            fs::write(bin.join(program), "").unwrap();
        };
        for version in ["9", "15"] {
            program(version, "initdb");
            program(version, "postgres");
        }
        program("16", "psql");
        let found = holding(&["initdb", "postgres"], versions(folder.path()).into_iter());
        assert_eq!(found, Some(folder.path().join("15/bin")));
    }
}
