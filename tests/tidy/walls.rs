//! What the code is held to: who may name whom, and what stands nowhere.

/// A word, where alone it may stand, and why.
pub(crate) const WALLS: &[(&str, &[&str], &str)] = &[
    (
        "sqlx",
        &["backend/src/store", "backend/tests/store"],
        "only store speaks to a database",
    ),
    (
        "axum",
        &["backend/src/http", "backend/src/app"],
        "only http knows the web framework",
    ),
    (
        "spin_sdk",
        &["edge/src/component.rs"],
        "one file knows Spin",
    ),
    ("wasmtime", &["edge/host"], "only the host runs components"),
    (
        "aws_sdk_bedrockruntime",
        &["backend/src/extractor/bedrock"],
        "one provider's library stays with it",
    ),
    (
        "google_cloud_auth",
        &["backend/src/extractor/gemini"],
        "one provider's library stays with it",
    ),
    (
        "aws_config",
        &["backend/src/extractor/bedrock"],
        "one provider's library stays with it",
    ),
    (
        "reqwest",
        &[
            "backend/src/extractor",
            "backend/src/fetch",
            "backend/src/outbound",
            "backend/src/cli/send",
            "backend/src/cli/probe",
        ],
        "models are asked by extractor, content is fetched by fetch; send and probe speak to us",
    ),
    (
        "SystemTime::now",
        &["backend/src/clock.rs", "edge/src/component.rs"],
        "time is an argument",
    ),
];

/// A folder or file of the backend and the modules that it must not name.
pub(crate) const BACKEND_WALLS: &[(&str, &[&str])] = &[
    (
        "report",
        &["store", "worker", "http", "extractor", "app", "cli"],
    ),
    (
        "store",
        &["worker", "http", "extractor", "schema", "app", "cli"],
    ),
    (
        "findings",
        &[
            "store",
            "worker",
            "http",
            "extractor",
            "schema",
            "judge",
            "config",
            "app",
            "cli",
        ],
    ),
    ("http", &["extractor", "worker", "app", "cli"]),
    ("extractor", &["store", "worker", "http", "app", "cli"]),
    (
        "schema",
        &["store", "worker", "http", "extractor", "app", "cli"],
    ),
    (
        "judge",
        &["store", "worker", "http", "extractor", "app", "cli"],
    ),
    (
        "fetch",
        &["store", "worker", "http", "extractor", "app", "cli"],
    ),
    ("replay", &["worker", "http", "extractor", "app", "cli"]),
    ("retry", &["store", "worker", "http", "app", "cli"]),
    (
        "revision",
        &[
            "store",
            "worker",
            "http",
            "extractor",
            "judge",
            "config",
            "app",
            "cli",
        ],
    ),
    ("worker", &["http", "app", "cli"]),
];

/// What stands nowhere, spelled so that this file doesn't contain it.
pub(crate) const BANNED: &[(&str, &str)] = &[
    (
        concat!("TO", "DO"),
        "finish it or say in the documentation that it is not there",
    ),
    (concat!("FIX", "ME"), "fix it"),
    (concat!("todo", "!("), "finish it"),
    (concat!("unimplemented", "!("), "finish it"),
    (concat!("dbg", "!("), "a leftover"),
    (
        concat!("#[ign", "ore"),
        "a test that is not run proves nothing",
    ),
    (
        concat!("thread::sl", "eep"),
        "wait for a condition, not for a time",
    ),
    (
        concat!("crates", ".io/"),
        "no address of a package registry",
    ),
    (
        concat!("registry", ".npmjs"),
        "no address of a package registry",
    ),
    (concat!("py", "pi.org"), "no address of a package registry"),
    (
        concat!("deb", ".debian.org"),
        "no address of a package registry",
    ),
];

/// What identity takes of `std` all the same, where, and why that is no I/O.
pub(crate) const IDENTITY_TAKES: &[(&str, &str)] = &[
    // The decoder of gzip is a reader of bytes in memory.
    ("identity/src/admission/body.rs", "io"),
];

/// What the shipped pipelines are about. The code knows kinds of pipelines, and none of these.
pub(crate) const SUBJECTS: &[&str] = &[
    "moderation",
    "moderator",
    "code review",
    "code-review",
    "code_review",
    "codereview",
    "review finding",
    "review-finding",
    "review_finding",
    "reviewfinding",
    "code-changes",
];

/// Where code names a shipped pipeline all the same, and why.
pub(crate) const SUBJECTS_STAND: &[(&str, &str)] = &[
    (
        "conformance/src/configuration.rs",
        "cases for the shipped sources",
    ),
    (
        "xtask/src/model/configuration.rs",
        "a model is measured with a shipped pipeline",
    ),
    (
        "xtask/src/real_model.rs",
        "a model is measured with a shipped pipeline",
    ),
];
