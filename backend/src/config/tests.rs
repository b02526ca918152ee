mod cloud;
mod code;
mod findings;

use std::path::{Path, PathBuf};

use super::*;
use crate::extractor::{anthropic::Output, openai::Api};

const EDGE_SECRET: &str = "edge-canary-0123456789";
const PREVIOUS_SECRET: &str = "previous-canary-0123456789";
const ADMIN_TOKEN: &str = "admin-canary-0123456789";

/// The file that the project itself ships.
fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fencepost.toml")
}

fn read(vars: &[(&str, &str)], role: Role) -> Result<Config, ConfigErrors> {
    let lookup = |name: &str| {
        let found = vars.iter().find(|(other, _)| *other == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    Config::from_lookup(&lookup, role)
}

fn good() -> Vec<(&'static str, String)> {
    vec![
        ("FENCEPOST_CONFIG", shipped().to_str().unwrap().to_owned()),
        ("FENCEPOST_EDGE_SECRET", EDGE_SECRET.to_owned()),
        ("FENCEPOST_EDGE_SECRET_PREVIOUS", PREVIOUS_SECRET.to_owned()),
        ("FENCEPOST_ADMIN_TOKEN", ADMIN_TOKEN.to_owned()),
        (
            "FENCEPOST_DATABASE_URL",
            "sqlite:///var/lib/path-canary.db".to_owned(),
        ),
    ]
}

/// The good environment with one value changed, or taken away.
fn changed(name: &str, value: Option<&str>, role: Role) -> Result<Config, ConfigErrors> {
    let good = good();
    let others = good.iter().filter(|(other, _)| *other != name);
    let mut vars: Vec<_> = others
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    vars.extend(value.map(|value| (name, value)));
    read(&vars, role)
}

fn lines(config: Result<Config, ConfigErrors>) -> Vec<String> {
    config.map(drop).unwrap_err().lines().to_vec()
}

#[test]
fn the_shipped_file_is_read_with_the_defaults_of_the_environment() {
    let config = changed("NOTHING", None, Role::All).unwrap();
    assert_eq!(config.ingest.as_ref().unwrap().listen, LISTEN_DEFAULT);
    assert_eq!(config.ingest.as_ref().unwrap().secrets.len(), 2);
    assert_eq!(config.admin.listen, ADMIN_LISTEN_DEFAULT);
    let names: Vec<_> = config
        .project
        .sources
        .iter()
        .map(|source| source.name.as_str())
        .collect();
    let sources = [
        "code-changes",
        "github-comments",
        "github-discussions",
        "github-pull-requests",
        "reports",
    ];
    assert_eq!(names, sources);
    let pipelines = &config.project.pipelines;
    let names: Vec<_> = pipelines.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["code-review", "moderation"]);
    let pipeline = moderation(&config.project);
    assert_eq!(
        (pipeline.name.as_str(), pipeline.max_attempts),
        ("moderation", 3)
    );
    assert_eq!(pipeline.lease, std::time::Duration::from_secs(60));
    assert_eq!(
        pipeline.max_elapsed,
        std::time::Duration::from_secs(24 * 60 * 60)
    );
    assert_eq!(pipeline.review_when.len(), 3);
    assert_eq!(pipeline.policy, crate::policy::Policy::default());
    let variables = config.project.secret_variables();
    let expected = [
        "code_changes_master_secret",
        "github_secret",
        "reports_master_secret",
    ];
    assert_eq!(variables, expected);
}

#[test]
fn debug_output_shows_no_secret_and_no_database_password() {
    let shown = format!("{:#?}", changed("NOTHING", None, Role::All).unwrap());
    assert!(!shown.contains("canary"), "{shown}");
}

#[test]
fn a_worker_needs_no_edge_secret_and_others_do() {
    assert!(
        changed("FENCEPOST_EDGE_SECRET", None, Role::Worker)
            .unwrap()
            .ingest
            .is_none()
    );
    for role in [Role::All, Role::Api] {
        let lines = lines(changed("FENCEPOST_EDGE_SECRET", None, role));
        assert_eq!(lines.len(), 1);
        assert!(lines[0].starts_with("FENCEPOST_EDGE_SECRET (or FENCEPOST_EDGE_SECRET_FILE)"));
    }
}

#[test]
fn without_an_admin_token_nothing_starts() {
    for role in [Role::All, Role::Api, Role::Worker] {
        let lines = lines(changed("FENCEPOST_ADMIN_TOKEN", None, role));
        assert!(
            lines[0].contains("it protects the admin listener"),
            "{lines:?}"
        );
    }
}

#[test]
fn a_database_of_another_kind_is_refused_without_its_password() {
    for url in ["mysql://u:canary@h/d", "postgres:canary", "canary"] {
        let lines = lines(changed("FENCEPOST_DATABASE_URL", Some(url), Role::All));
        assert!(
            lines.len() == 1 && !lines[0].contains("canary"),
            "{lines:?}"
        );
    }
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let lines = lines(read(
        &[
            ("FENCEPOST_CONFIG", "/nowhere/fencepost.toml"),
            ("FENCEPOST_LISTEN", "localhost"),
            ("FENCEPOST_ADMIN_LISTEN", "8081"),
            ("FENCEPOST_EDGE_SECRET", "canary"),
            ("FENCEPOST_DATABASE_URL", "nonsense"),
        ],
        Role::All,
    ));
    for (line, start) in lines.iter().zip([
        "FENCEPOST_DATABASE_URL: not a URL",
        "FENCEPOST_LISTEN: `localhost` is no address",
        "FENCEPOST_EDGE_SECRET has 6 bytes",
        "FENCEPOST_ADMIN_LISTEN: `8081` is no address",
        "FENCEPOST_ADMIN_TOKEN (or FENCEPOST_ADMIN_TOKEN_FILE) is not set",
        "/nowhere/fencepost.toml can't be read",
    ]) {
        assert!(line.starts_with(start), "{line}");
        assert!(!line.contains("canary"));
    }
    assert_eq!(lines.len(), 6);
}

/// The pipeline that most changes of these tests are about.
fn moderation(project: &Project) -> &Pipeline {
    let mut pipelines = project.pipelines.iter();
    pipelines.find(|it| it.name != "code-review").unwrap()
}

fn project(changes: &[(&str, &str)]) -> Result<Project, ConfigErrors> {
    let folder = tempfile::tempdir().unwrap();
    Project::load(&written(&folder, changes))
}

/// The shipped file, changed, in a folder with all that it names.
fn written(folder: &tempfile::TempDir, changes: &[(&str, &str)]) -> PathBuf {
    let from = shipped();
    let mut text = std::fs::read_to_string(&from).unwrap();
    for (old, new) in changes {
        assert!(text.contains(old), "{old} is not in the shipped file");
        text = text.replace(old, new);
    }
    for name in [
        "backend/schemas/moderation-v3.json",
        "backend/prompts/moderation-7.md",
        "backend/schemas/code-review-v1.json",
        "backend/prompts/code-review-1.md",
    ] {
        let to = folder.path().join(name);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(from.parent().unwrap().join(name), to).unwrap();
    }
    std::fs::write(folder.path().join("empty.md"), " \n").unwrap();
    std::fs::write(folder.path().join("broken.json"), "{\"type\": \"object\"").unwrap();
    let file = folder.path().join("fencepost.toml");
    std::fs::write(&file, text).unwrap();
    file
}

/// What is changed in the shipped file, into what, and what is told of it.
const MISTAKES: &[(&str, &str, &str)] = &[
    (
        "keep_raw = true",
        "policy = { max_input_characters = 0 }",
        "pipeline.moderation.policy.max_input_characters`: this must be an integer from 1",
    ),
    (
        "keep_raw = true",
        "policy = { hidden_characters = \"pass\" }",
        "\"review\" or \"ignore\"",
    ),
    (
        "keep_raw = true",
        "policy = { max_text_bytes = 5 }",
        "this key is not known",
    ),
    (
        "max_attempts = 3",
        "max_atempts = 3",
        "pipeline.moderation.max_atempts`: this key is",
    ),
    (
        "max_attempts = 3",
        "max_atempts = 3",
        "did you mean `max_attempts`?",
    ),
    (
        "max_attempts = 3",
        "max_attempts = 0",
        "an integer from 1 to 100",
    ),
    (
        "lease_seconds = 60",
        "lease_seconds = -1",
        "pipeline.moderation.lease_seconds",
    ),
    (
        "max_elapsed = \"24h\"",
        "max_elapsed = \"1 day\"",
        "a number and one of s, m, h and d",
    ),
    (
        "moderation-v3.json",
        "moderation-v4.json",
        "moderation-v4.json can't be read",
    ),
    (
        "backend/schemas/moderation-v3.json",
        "broken.json",
        "broken.json: the schema is not",
    ),
    (
        "prompts/moderation-7.md",
        "prompts/moderation-8.md",
        "moderation-8.md can't be read",
    ),
    (
        "backend/prompts/moderation-7.md",
        "empty.md",
        "empty.md is empty",
    ),
    (
        "schema_version = \"moderation-v3\"",
        "",
        "the key `schema_version` is missing",
    ),
    (
        "= \"moderation-7\"",
        "= \"moderation 7\"",
        "a version is 1 to 128 printable",
    ),
    (
        "extractor = \"baseline\"",
        "extractor = \"gpt\"",
        "there is no table [extractor.gpt]",
    ),
    (
        "kind = \"baseline\"",
        "kind = \"oracle\"",
        "extractor.baseline.kind`: this kind is not",
    ),
    (
        "kind = \"classification\"",
        "kind = \"findings\"",
        "kind`: `findings.list` is \"/findings\" where nothing else is said: the schema describes",
    ),
    (
        "/confidence",
        "/confidense",
        "the schema describes no such member",
    ),
    (
        "below = 0.7",
        "below = 0.7, above = 0.9",
        "exactly one of `is`, `below` and `above`",
    ),
    (
        "is = true",
        "is = 0.5",
        "a string, a decimal integer, true or false",
    ),
    (
        "[pipeline.moderation]",
        "[pipeline.\"a b\"]",
        "a name is 1 to 64 of",
    ),
    (
        "[pipeline.moderation]",
        "[pipeline.other]",
        "the pipeline `moderation` is not in this",
    ),
    (
        "[extractor.baseline]",
        "[extractors.baseline]",
        "`extractors`: this key is not known",
    ),
    (
        "verify = \"github\"",
        "verify = \"gitub\"",
        "did you mean `github`?",
    ),
];

#[test]
fn each_mistake_of_the_file_is_told_with_its_line_and_key() {
    assert!(project(&[]).is_ok());
    for &(old, new, expected) in MISTAKES {
        let errors = project(&[(old, new)]).map(drop).unwrap_err();
        let told = errors.lines().iter().any(|line| line.contains(expected));
        assert!(told, "{new}: {errors:?}");
        assert!(
            errors
                .lines()
                .iter()
                .all(|line| line.contains("fencepost.toml: line "))
        );
    }
}

#[test]
fn a_policy_is_read_and_what_it_decides_about_answers_is_part_of_the_classifier() {
    use crate::policy::{HiddenCharacters, Policy};
    let digest = |pipeline: &Pipeline| pipeline.versions(&serde_json::json!("x")).classifier_digest;
    let usual = project(&[]).unwrap();
    let limits = "policy = { max_input_characters = 50, max_input_bytes = 90, \
                  hidden_characters = \"ignore\" }\nkeep_raw = true";
    let limited = project(&[("keep_raw = true", limits)]).unwrap();
    let expected = Policy {
        input_characters_max: 50,
        input_bytes_max: 90,
        hidden: HiddenCharacters::Ignore,
        ..Policy::default()
    };
    assert_eq!(moderation(&limited).policy, expected);
    assert_eq!(digest(moderation(&limited)), digest(moderation(&usual)));
    let shorter = "policy = { max_text_characters = 70 }\nkeep_raw = true";
    let shorter = project(&[("keep_raw = true", shorter)]).unwrap();
    assert_eq!(moderation(&shorter).policy.text_characters_max, 70);
    assert_ne!(digest(moderation(&shorter)), digest(moderation(&usual)));
}

/// The shipped file with a pipeline that asks a model.
const ASKING: (&str, &str) = ("extractor = \"baseline\"", "extractor = \"gpt\"");
/// Its extractor, and another that no pipeline names.
const OPENAI: &str = "kind = \"baseline\"

[extractor.gpt]
kind = \"openai\"
model = \"gpt-x\"
base_url = \"https://api.openai.com/v1\"
api_key_env = \"A_KEY\"

[extractor.idle]
kind = \"openai\"
model = \"gpt-y\"
base_url = \"http://127.0.0.1:8000/v1\"
api_key_env = \"IDLE_KEY\"
";

/// What the whole configuration says with such a file.
fn asking(vars: &[(&str, &str)], role: Role) -> Result<Config, ConfigErrors> {
    let folder = tempfile::tempdir().unwrap();
    let file = written(&folder, &[ASKING, ("kind = \"baseline\"", OPENAI)]);
    let good = good();
    let others = good
        .iter()
        .skip(1)
        .map(|(name, value)| (*name, value.as_str()));
    let mut all: Vec<_> = others.chain(vars.iter().copied()).collect();
    all.push(("FENCEPOST_CONFIG", file.to_str().unwrap()));
    read(&all, role)
}

#[test]
fn a_key_is_wanted_of_whoever_asks_and_only_for_what_is_asked() {
    for role in [Role::All, Role::Worker] {
        let lines = lines(asking(&[], role));
        assert_eq!(lines.len(), 1, "{lines:?}");
        let told = "A_KEY (or A_KEY_FILE) is not set: extractor `gpt` presents it";
        assert!(lines[0].starts_with(told), "{lines:?}");
        let config = asking(&[("A_KEY", "canary-0123456789")], role).unwrap();
        assert!(!format!("{config:#?}").contains("canary"));
        assert_eq!(
            config.keys.get("A_KEY").unwrap().expose(),
            b"canary-0123456789"
        );
        assert!(config.keys.get("IDLE_KEY").is_none());
    }
    assert!(asking(&[], Role::Api).unwrap().keys.get("A_KEY").is_none());
}

#[test]
fn a_key_may_come_from_a_file_and_is_told_of_without_its_value() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    std::fs::write(&file, "canary-0123456789\n").unwrap();
    let config = asking(&[("A_KEY_FILE", file.to_str().unwrap())], Role::Worker).unwrap();
    assert_eq!(
        config.keys.get("A_KEY").unwrap().expose(),
        b"canary-0123456789"
    );
    let lines = lines(asking(&[("A_KEY", "canary")], Role::Worker));
    assert_eq!(lines, ["A_KEY has 6 bytes; a secret has at least 16"]);
}

#[test]
fn an_extractor_without_more_has_the_defaults() {
    let project = project(&[("kind = \"baseline\"", OPENAI)]).unwrap();
    let ExtractorConfig::OpenAi(config, Api::Chat) = &project.extractors["idle"] else {
        panic!("{:?}", project.extractors);
    };
    let settings = &config.settings;
    assert_eq!(
        (settings.max_output_tokens.get(), settings.temperature),
        (1024, None)
    );
    assert_eq!(settings.base_url.to_string(), "http://127.0.0.1:8000/v1");
}

#[test]
fn each_mistake_of_an_extractor_is_told_with_its_line_and_key() {
    for (old, new, expected) in [
        (
            "model = \"gpt-x\"",
            "",
            "extractor.gpt`: the key `model` is missing",
        ),
        (
            "gpt-x",
            "gpt x",
            "extractor.gpt.model`: a model is 1 to 128",
        ),
        (
            "https://api.openai.com/v1",
            "api.openai.com",
            "extractor.gpt.base_url`: a URL such as",
        ),
        (
            "https://api",
            "https://u:canary@api",
            "no user or password stands in the URL",
        ),
        (
            "/v1\"\napi_key_env = \"A",
            "/v1?x=canary\"\napi_key_env = \"A",
            "no `?` and no `#`",
        ),
        ("\"A_KEY\"", "\"sk-canary\"", "never the key itself"),
        ("\"A_KEY\"", "\"\"", "never the key itself"),
        (
            "api_key_env = \"A_KEY\"",
            "api_key = \"canary\"",
            "extractor.gpt.api_key`: this key is not known",
        ),
        (
            "\"A_KEY\"",
            "\"A_KEY\"\ntemperature = 2.5",
            "a number from 0 to 2",
        ),
        (
            "\"A_KEY\"",
            "\"A_KEY\"\ntemperature = \"hot\"",
            "this must be a number",
        ),
        (
            "\"A_KEY\"",
            "\"A_KEY\"\nmax_output_tokens = 0",
            "an integer from 1 to 1000000",
        ),
    ] {
        let changed = OPENAI.replace(old, new);
        assert_ne!(changed, OPENAI, "{old}");
        let errors = project(&[("kind = \"baseline\"", &changed)]).unwrap_err();
        let lines = errors.lines();
        assert!(
            lines.len() == 1 && lines[0].contains(expected),
            "{new}: {lines:?}"
        );
        assert!(!lines[0].contains("canary"), "{lines:?}");
    }
}

/// Extractors of providers with an interface of their own.
const PROVIDERS: &str = "kind = \"baseline\"

[extractor.claude]
kind = \"anthropic\"
model = \"claude-x\"
api_key_env = \"A_KEY\"

[extractor.gem]
kind = \"gemini\"
model = \"gemini-x.1\"
api_key_env = \"G_KEY\"
";

#[test]
fn a_provider_is_asked_where_it_is_unless_another_address_stands_there() {
    let project = project(&[("kind = \"baseline\"", PROVIDERS)]).unwrap();
    let ExtractorConfig::Anthropic(claude, output) = &project.extractors["claude"] else {
        panic!("{:?}", project.extractors);
    };
    let ExtractorConfig::Gemini(gem) = &project.extractors["gem"] else {
        panic!("{:?}", project.extractors);
    };
    assert_eq!(*output, Output::Schema);
    for (config, url, variable) in [
        (claude, "https://api.anthropic.com/v1", "A_KEY"),
        (
            gem,
            "https://generativelanguage.googleapis.com/v1beta",
            "G_KEY",
        ),
    ] {
        let settings = &config.settings;
        assert_eq!(settings.base_url.to_string(), url);
        assert_eq!(
            (settings.max_output_tokens.get(), settings.temperature),
            (1024, None)
        );
        assert_eq!(config.key_variable.as_deref(), Some(variable));
    }
}

#[test]
fn what_a_provider_can_be_told_is_read() {
    let told = PROVIDERS.replace(
        "\"claude-x\"\n",
        "\"claude-x\"\nbase_url = \"http://127.0.0.1:8000/v1\"\noutput = \"tool\"\n\
         temperature = 1\nmax_output_tokens = 7\n",
    );
    let project = project(&[("kind = \"baseline\"", &told)]).unwrap();
    let ExtractorConfig::Anthropic(config, output) = &project.extractors["claude"] else {
        panic!("{:?}", project.extractors);
    };
    let settings = &config.settings;
    assert_eq!((*output, settings.temperature), (Output::Tool, Some(1.0)));
    assert_eq!(settings.max_output_tokens.get(), 7);
    assert_eq!(settings.base_url.to_string(), "http://127.0.0.1:8000/v1");
}

#[test]
fn the_newer_interface_has_to_be_asked_for() {
    for (api, expected) in [("chat", Api::Chat), ("responses", Api::Responses)] {
        let told = OPENAI.replace("\"gpt-y\"\n", &format!("\"gpt-y\"\napi = \"{api}\"\n"));
        let project = project(&[("kind = \"baseline\"", &told)]).unwrap();
        let ExtractorConfig::OpenAi(_, read) = &project.extractors["idle"] else {
            panic!("{:?}", project.extractors);
        };
        assert_eq!(*read, expected);
    }
    let told = OPENAI.replace("\"gpt-y\"\n", "\"gpt-y\"\napi = \"new\"\n");
    let errors = project(&[("kind = \"baseline\"", &told)]).unwrap_err();
    let expected = "extractor.idle.api`: this is `chat` or `responses`";
    assert!(errors.lines()[0].contains(expected), "{:?}", errors.lines());
}

#[test]
fn each_mistake_of_a_provider_is_told_with_its_key() {
    for (old, new, expected) in [
        (
            "\napi_key_env = \"A_KEY\"",
            "",
            "extractor.claude`: the key `api_key_env` is missing",
        ),
        (
            "\napi_key_env = \"G_KEY\"",
            "",
            "extractor.gem`: the key `api_key_env` is missing",
        ),
        (
            "\"A_KEY\"",
            "\"A_KEY\"\ntemperature = 1.5",
            "extractor.claude.temperature`: this must be a number from 0 to 1",
        ),
        (
            "\"A_KEY\"",
            "\"A_KEY\"\noutput = \"free\"",
            "extractor.claude.output`: this is `schema` or `tool`",
        ),
        (
            "\"G_KEY\"",
            "\"G_KEY\"\noutput = \"tool\"",
            "extractor.gem.output`: this key is not known",
        ),
        (
            "gemini-x.1",
            "models/gemini-x.1",
            "extractor.gem.model`: a model's name alone",
        ),
        (
            "gemini-x.1",
            "",
            "extractor.gem.model`: a model is 1 to 128",
        ),
        (
            "\"G_KEY\"",
            "\"G_KEY\"\nbase_url = \"canary\"",
            "extractor.gem.base_url`: a URL such as",
        ),
    ] {
        let changed = PROVIDERS.replace(old, new);
        assert_ne!(changed, PROVIDERS, "{old}");
        let errors = project(&[("kind = \"baseline\"", &changed)]).unwrap_err();
        let lines = errors.lines();
        assert!(
            lines.len() == 1 && lines[0].contains(expected),
            "{new}: {lines:?}"
        );
        assert!(!lines[0].contains("canary"), "{lines:?}");
    }
}

#[test]
fn several_mistakes_of_the_file_are_told_at_once() {
    let errors = project(&[
        ("max_attempts = 3", "max_atempts = 3"),
        ("moderation-v3.json", "moderation-v4.json"),
        ("kind = \"baseline\"", "kind = \"oracle\""),
        ("verify = \"github\"", "verify = \"gitub\""),
    ]);
    // The preset stands in three sources.
    assert_eq!(errors.map(drop).unwrap_err().len(), 6);
}

#[test]
fn the_digest_of_a_classifier_covers_what_shapes_an_answer_and_nothing_else() {
    let digest = |changes: &[(&str, &str)], fingerprint: serde_json::Value| {
        let project = project(changes).unwrap();
        moderation(&project)
            .versions(&fingerprint)
            .classifier_digest
    };
    let print = |model: &str| serde_json::json!({"provider": "p", "model": model});
    let first = digest(&[], print("m"));
    assert_eq!(
        first,
        digest(&[], serde_json::json!({"model": "m", "provider": "p"}))
    );
    assert_eq!(
        first,
        digest(&[("max_attempts = 3", "max_attempts = 4")], print("m"))
    );
    assert_eq!(first, digest(&[("below = 0.7", "below = 0.8")], print("m")));
    assert_ne!(first, digest(&[], print("n")));
    let renamed = [
        ("[pipeline.moderation]", "[pipeline.x]"),
        ("= \"moderation\"", "= \"x\""),
    ];
    assert_ne!(first, digest(&renamed, print("m")));
    let other = [("backend/prompts/moderation-7.md", "fencepost.toml")];
    assert_ne!(first, digest(&other, print("m")));
}
