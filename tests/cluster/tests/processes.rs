//! What runs for a folder.

use std::{fs, path::Path};

use rustix::process::Pid;

/// Every process that names `folder` in its arguments: the server and its keeper.
pub(crate) fn processes_of(folder: &Path) -> Vec<Pid> {
    let folder = folder.to_str().unwrap();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let named = processes.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        // Gone by now, perhaps.
        let arguments = fs::read(entry.path().join("cmdline")).ok()?;
        String::from_utf8_lossy(&arguments)
            .contains(folder)
            .then_some(Pid::from_raw(pid)?)
    });
    named.collect()
}
