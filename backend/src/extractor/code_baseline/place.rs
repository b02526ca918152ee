//! What a path says of a file: its language, and whether it is part of the product.

/// What a line is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    Python,
    JavaScript,
    Go,
    /// Java, Kotlin, Scala, Groovy.
    Java,
    CSharp,
    Php,
    Ruby,
    /// Scripts of a shell, and what holds commands of one.
    Shell,
    /// Names and values.
    Settings,
    Other,
}

/// What a line is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Product,
    /// Tests, examples, documentation, generated files: what is wrong there is mostly so on
    /// purpose. Only secrets of a known form are looked for.
    Beside,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) language: Language,
    pub(super) purpose: Purpose,
}

const BESIDE_FOLDERS: &[&str] = &[
    "test",
    "tests",
    "__tests__",
    "spec",
    "specs",
    "e2e",
    "testing",
    "testdata",
    "test-data",
    "test_data",
    "fixtures",
    "mocks",
    "__mocks__",
    "example",
    "examples",
    "sample",
    "samples",
    "fuzz",
    "bench",
    "benches",
    "vendor",
    "node_modules",
    "third_party",
];
const BESIDE_BEGINNINGS: &[&str] = &["test_", "test-", "conftest."];
const BESIDE_STEM_ENDINGS: &[&str] = &[
    "_test", "_tests", "-test", "-tests", ".test", ".tests", "_spec", "-spec", ".spec", ".min",
    "-lock", ".pb",
];
const BESIDE_NAMES: &[&str] = &["test", "tests", "build.rs", "go.sum"];
const BESIDE_ENDINGS: &[&str] = &[
    "md", "mdx", "markdown", "rst", "txt", "adoc", "lock", "map", "svg", "po", "pot", "snap",
];

impl Place {
    pub(super) fn of(path: &str) -> Self {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        // Test classes of Java and C# are told by their capital letter: `Contest` is none.
        let class = name.split('.').next().unwrap_or_default();
        let is_class = class.ends_with("Test") || class.ends_with("Tests");
        let (folders, name) = (folders.to_ascii_lowercase(), name.to_ascii_lowercase());
        let (stem, ending) = name.rsplit_once('.').unwrap_or((&name, ""));
        let is_beside = is_class
            || folders.split('/').any(|it| BESIDE_FOLDERS.contains(&it))
            || BESIDE_NAMES.contains(&&*name)
            || BESIDE_NAMES.contains(&stem)
            || BESIDE_ENDINGS.contains(&ending)
            || BESIDE_BEGINNINGS.iter().any(|it| name.starts_with(it))
            || BESIDE_STEM_ENDINGS.iter().any(|it| stem.ends_with(it));
        Self {
            language: Language::of(&name, ending),
            purpose: match is_beside {
                true => Purpose::Beside,
                false => Purpose::Product,
            },
        }
    }
}

impl Language {
    fn of(name: &str, ending: &str) -> Self {
        match ending {
            "rs" => Self::Rust,
            "py" | "pyi" | "pyw" => Self::Python,
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte" => {
                Self::JavaScript
            }
            "go" => Self::Go,
            "java" | "kt" | "kts" | "scala" | "groovy" => Self::Java,
            "cs" => Self::CSharp,
            "php" => Self::Php,
            "rb" => Self::Ruby,
            "sh" | "bash" | "zsh" | "mk" => Self::Shell,
            "yml" | "yaml" | "toml" | "ini" | "cfg" | "conf" | "properties" | "env" | "json" => {
                Self::Settings
            }
            _ if name.starts_with(".env") => Self::Settings,
            _ if name.starts_with("dockerfile") || name.starts_with("containerfile") => Self::Shell,
            _ if name == "makefile" => Self::Shell,
            _ => Self::Other,
        }
    }

    /// Whether a line, without blanks before it, is a comment from its first character on.
    pub(super) fn is_comment(self, line: &str) -> bool {
        let starts = |beginnings: &[&str]| beginnings.iter().any(|it| line.starts_with(it));
        let c_like = || starts(&["//", "/*", "* ", "*/"]) || line == "*";
        match self {
            Self::Rust | Self::JavaScript | Self::Go | Self::Java | Self::CSharp => c_like(),
            Self::Python | Self::Ruby | Self::Shell => starts(&["#"]),
            Self::Settings => starts(&["#", ";", "//"]),
            Self::Php => c_like() || starts(&["#"]),
            Self::Other => c_like() || starts(&["#", "--", "<!--"]),
        }
    }
}
