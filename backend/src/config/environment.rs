//! The environment: named values, and secrets that a file may hold instead.

use std::{net::SocketAddr, path::PathBuf};

use super::ConfigErrors;
use crate::secret::{SECRET_BYTES_MIN, Secret};

/// Where values come from: `std::env::var` for the program, a table for a test.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Reads the environment of this process; a value that is not UTF-8 counts as absent.
#[must_use]
pub fn process_environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The names that are set in the environment of this process, in their order.
#[must_use]
pub fn process_variables() -> Vec<String> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    names
}

/// Reads values and collects what is wrong with them, so that all of it is told at once.
pub struct Environment<'a> {
    lookup: Lookup<'a>,
    /// What was wrong so far.
    pub errors: ConfigErrors,
}

impl std::fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment")
            .field("errors", &self.errors)
            .finish_non_exhaustive()
    }
}

impl<'a> Environment<'a> {
    /// Nothing is read yet.
    #[must_use]
    pub fn new(lookup: Lookup<'a>) -> Self {
        Self {
            lookup,
            errors: ConfigErrors::default(),
        }
    }

    /// A value; the empty text counts as absent, as `NAME=` in a unit file means.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        (self.lookup)(name).filter(|value| !value.is_empty())
    }

    /// `host:port`, or the default.
    pub fn address(&mut self, name: &str, default: SocketAddr) -> SocketAddr {
        let Some(text) = self.text(name) else {
            return default;
        };
        text.parse().unwrap_or_else(|_| {
            self.errors.push(format!(
                "{name}: `{text}` is no address such as `{default}`"
            ));
            default
        })
    }

    /// A secret from `NAME` or from the file that `NAME_FILE` names, of which one trailing line
    /// ending is dropped and nothing else. Absent if neither is set.
    pub fn secret(&mut self, name: &str) -> Option<Secret> {
        let (origin, bytes) = match self.origin(name) {
            Ok(found) => found?,
            Err(error) => {
                self.errors.push(error);
                return None;
            }
        };
        match check_secret(&bytes) {
            Ok(()) => Some(Secret::new(bytes)),
            Err(what) => {
                self.errors.push(format!("{origin} {what}"));
                None
            }
        }
    }

    /// The same value with nothing asked of it: what is set and empty is there, as it is for a
    /// process that reads its own environment.
    ///
    /// # Errors
    /// Why it can't be read; never what it is.
    pub fn unchecked_secret(&self, name: &str) -> Result<Option<Secret>, String> {
        let found = self.origin(name)?.map(|(_, bytes)| bytes);
        let empty = || (self.lookup)(name).map(String::into_bytes);
        Ok(found.or_else(empty).map(Secret::new))
    }

    /// Where a secret's value stands, and the value.
    fn origin(&self, name: &str) -> Result<Option<(String, Vec<u8>)>, String> {
        let file_name = format!("{name}_FILE");
        match (self.text(name), self.text(&file_name)) {
            (None, None) => Ok(None),
            (Some(_), Some(_)) => Err(format!(
                "{name} and {file_name} are both set: only one can count"
            )),
            (Some(value), None) => Ok(Some((name.to_owned(), value.into_bytes()))),
            (None, Some(path)) => match std::fs::read(PathBuf::from(&path)) {
                Ok(bytes) => Ok(Some((
                    format!("the file of {file_name}"),
                    without_line_ending(bytes),
                ))),
                Err(error) => Err(format!("{file_name}: {path} can't be read: {error}")),
            },
        }
    }

    /// A secret that has to be there: where it is not, that is an error, which says what for.
    pub fn required_secret(&mut self, name: &str, purpose: &str) -> Option<Secret> {
        let errors = self.errors.len();
        let secret = self.secret(name);
        if secret.is_none() && self.errors.len() == errors {
            self.errors
                .push(format!("{name} (or {name}_FILE) is not set: {purpose}"));
        }
        secret
    }
}

fn without_line_ending(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
    }
    bytes
}

/// What is wrong with a secret, never which one it is.
fn check_secret(bytes: &[u8]) -> Result<(), String> {
    if std::str::from_utf8(bytes).is_err() {
        return Err("is not UTF-8; write random bytes as hexadecimal digits".to_owned());
    }
    if bytes.iter().any(u8::is_ascii_control) {
        return Err(
            "holds a control character; only one line ending at a file's end is dropped".to_owned(),
        );
    }
    if bytes.len() < SECRET_BYTES_MIN {
        return Err(format!(
            "has {} bytes; a secret has at least {SECRET_BYTES_MIN}",
            bytes.len()
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(vars: &[(&str, &str)]) -> (Option<Vec<u8>>, Vec<String>) {
        let lookup = |name: &str| {
            vars.iter()
                .find(|(n, _)| *n == name)
                .map(|(_, v)| (*v).to_owned())
        };
        let mut environment = Environment::new(&lookup);
        let secret = environment.required_secret("S", "it signs");
        (
            secret.map(|s| s.expose().to_vec()),
            environment.errors.lines().to_vec(),
        )
    }

    #[test]
    fn one_line_ending_of_a_file_is_dropped_and_no_more() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret");
        let file = path.to_str().unwrap();
        for (content, kept) in [
            ("0123456789abcdef", true),
            ("0123456789abcdef\n", true),
            ("0123456789abcdef\r\n", true),
            ("0123456789abcdef\n\n", false),
            ("0123456789\nabcdef", false),
        ] {
            std::fs::write(&path, content).unwrap();
            let (secret, errors) = read(&[("S_FILE", file)]);
            assert_eq!(secret.is_some(), kept, "{content:?} {errors:?}");
            if let Some(secret) = secret {
                assert_eq!(secret, b"0123456789abcdef");
            }
        }
        std::fs::write(&path, " 0123456789abcdef ").unwrap();
        assert_eq!(read(&[("S_FILE", file)]).0.unwrap(), b" 0123456789abcdef ");
    }

    #[test]
    fn absent_short_doubled_and_unreadable_secrets_are_told_without_their_value() {
        for (vars, expected) in [
            (&[][..], "S (or S_FILE) is not set: it signs"),
            (&[("S", "")], "S (or S_FILE) is not set: it signs"),
            (
                &[("S", "hunter2")],
                "S has 7 bytes; a secret has at least 16",
            ),
            (
                &[("S", "0123456789abcdef"), ("S_FILE", "/x")],
                "S and S_FILE are both set",
            ),
            (
                &[("S_FILE", "/nowhere/at/all")],
                "S_FILE: /nowhere/at/all can't be read",
            ),
        ] {
            let (secret, errors) = read(vars);
            assert_eq!((secret, errors.len()), (None, 1), "{errors:?}");
            assert!(errors[0].starts_with(expected), "{errors:?}");
            assert!(!errors[0].contains("hunter2"));
        }
    }
}
