//! Who this process is.

use crate::report::WorkerId;

/// Host, process and a random part: two replicas of one name are two workers.
pub(super) fn worker_id() -> WorkerId {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = match host.trim() {
        "" => "worker",
        host => host,
    };
    WorkerId::new(format!(
        "{host}/{}/{:08x}",
        std::process::id(),
        rand::random::<u32>()
    ))
}
