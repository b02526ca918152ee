//! As whom the servers run.

use std::{
    fs,
    os::unix::{fs::chown, process::CommandExt as _},
    path::Path,
    process::Command,
};

use rustix::process::geteuid;

use crate::error::{Error, to};

/// Who is taken, in this order, when this process is root.
const UNPRIVILEGED: [&str; 2] = ["postgres", "nobody"];

/// As whom the servers run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Account {
    /// As this process.
    Own,
    Other {
        user: u32,
        group: u32,
    },
}

impl Account {
    pub(crate) fn unprivileged() -> Result<Self, Error> {
        if !geteuid().is_root() {
            return Ok(Self::Own);
        }
        let accounts = fs::read_to_string("/etc/passwd").map_err(to("read /etc/passwd"))?;
        // Root itself at last: the server then says why that can't be.
        let found = UNPRIVILEGED.iter().find_map(|name| named(&accounts, name));
        Ok(found.unwrap_or(Self::Own))
    }

    /// Makes `command` run as it, in a folder that anybody may enter.
    pub(crate) fn runs(self, command: &mut Command) {
        command.current_dir("/");
        if let Self::Other { user, group } = self {
            command.uid(user).gid(group);
        }
    }

    /// Gives it `path`, and not what may be in there.
    pub(crate) fn owns(self, path: &Path) -> Result<(), Error> {
        match self {
            Self::Own => Ok(()),
            Self::Other { user, group } => {
                chown(path, Some(user), Some(group)).map_err(to("give a folder away"))
            }
        }
    }
}

fn named(accounts: &str, name: &str) -> Option<Account> {
    let fields = accounts.lines().find_map(|line| {
        let (first, rest) = line.split_once(':')?;
        (first == name).then_some(rest)
    })?;
    let mut numbers = fields.split(':').skip(1).map(str::parse);
    Some(Account::Other {
        user: numbers.next()?.ok()?,
        group: numbers.next()?.ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_whole_name() {
        let accounts = "root:x:0:0:root:/root:/bin/sh\nno:x:7:8::/:/bin/sh\nnobody:x:5:6::/:/x\n";
        let (user, group) = (5, 6);
        assert_eq!(
            named(accounts, "nobody"),
            Some(Account::Other { user, group })
        );
        assert_eq!(named(accounts, "postgres"), None);
    }
}
