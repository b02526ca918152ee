//! The tables of a pipeline whose answers are lists.

use super::*;
use crate::{
    findings::{FindingsRules, KeyField, RevisionForm},
    judge::Kind,
};

const SCHEMA: &str = r##"{
    "type": "object",
    "properties": {
        "findings": { "type": "array", "items": { "$ref": "#/$defs/finding" } },
        "notes": { "type": "array", "items": { "$ref": "#/$defs/finding" } },
        "bare": { "type": "array" },
        "one": { "type": "string" }
    },
    "required": ["findings"], "additionalProperties": false,
    "$defs": { "finding": {
        "type": "object",
        "properties": {
            "rule": { "$ref": "#/$defs/rule" },
            "severity": { "enum": ["low", "high"] },
            "path": { "type": "string" },
            "line": { "type": "integer" },
            "summary": { "type": "string" },
            "mixed": { "enum": ["a", 1] }
        },
        "required": ["rule", "severity"], "additionalProperties": false
    }, "rule": { "enum": ["sql", "tls"] } }
}"##;

const FILE: &str = r#"
[source.pulls]
verify = "github"
secrets = ["a_secret"]
pipeline = "lint"
[source.pulls.identity]
tenant = { value = "acme" }
report_id = "/id"
version = "event"
[source.pulls.input]
diff = "/diff"

[pipeline.lint]
kind = "findings"
schema = "list.json"
schema_version = "lint-v1"
prompt = "prompt.md"
classifier_version = "lint-1"
extractor = "baseline"
review_when = [{ pointer = "/severity", is = "high" }]

[pipeline.lint.findings]
revision = { diff = "diff" }

[extractor.baseline]
kind = "baseline"
"#;

const TABLE: &str = "revision = { diff = \"diff\" }\n";

fn read(text: &str) -> Result<Project, ConfigErrors> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("list.json"), SCHEMA).unwrap();
    std::fs::write(folder.path().join("prompt.md"), "Find it.").unwrap();
    let file = folder.path().join("fencepost.toml");
    std::fs::write(&file, text).unwrap();
    Project::load(&file)
}

fn with_table(table: &str) -> String {
    let text = FILE.replace(TABLE, table);
    assert_ne!(text, FILE, "{table}");
    text
}

fn rules(text: &str) -> FindingsRules {
    let project = read(text).unwrap();
    let Kind::Findings(rules) = &project.pipelines[0].kind else {
        panic!("{:?}", project.pipelines)
    };
    (**rules).clone()
}

#[test]
fn what_is_left_out_is_as_usual() {
    let usual = rules(FILE);
    assert_eq!(usual.list.as_str(), "/findings");
    assert_eq!(
        (usual.rule.as_str(), usual.severity.as_str()),
        ("/rule", "/severity")
    );
    assert_eq!(usual.severities, ["low", "high"]);
    let location = usual.location.as_ref().unwrap();
    assert_eq!(
        (location.path.as_str(), location.line.as_str()),
        ("/path", "/line")
    );
    assert_eq!(location.end_line, None);
    assert_eq!(location.revision, RevisionForm::Diff("diff".to_owned()));
    let key: Vec<_> = usual.key.iter().map(KeyField::to_string).collect();
    assert_eq!(key, ["rule", "path", "source_line", "occurrence"]);
    let said = "revision = { diff = \"diff\" }\nlist = \"/findings\"\nrule = \"/rule\"
                severity = \"/severity\"\npath = \"/path\"\nline = \"/line\"
                key = [\"rule\", \"path\", \"source_line\", \"occurrence\"]\n";
    assert_eq!(rules(&with_table(said)), usual);
}

#[test]
fn a_list_without_a_revision_has_a_key_of_members() {
    let rules = rules(&with_table(
        "key = [\"rule\", \"/summary\"]\nlist = \"/notes\"\n",
    ));
    assert_eq!(rules.location, None);
    let key: Vec<_> = rules.key.iter().map(KeyField::to_string).collect();
    assert_eq!(
        (rules.list.as_str(), key),
        ("/notes", vec!["rule".into(), "/summary".into()])
    );
}

/// A table, and what is told of it.
const MISTAKES: &[(&str, &str)] = &[
    (
        "",
        "line 22: `pipeline.lint.findings`: `findings.key` is \"rule, path, source_line, \
         occurrence\" where nothing else is said: that needs a revision: say what of the input \
         holds it, such as `revision = { diff = \"diff\" }`; or give `key` JSON Pointers",
    ),
    (
        "revision = { diff = \"diff\" }\nlist = \"/one\"\n",
        "line 24: `pipeline.lint.findings.list`: the schema describes no array here",
    ),
    (
        "revision = { diff = \"diff\" }\nlist = \"/bare\"\n",
        "findings.list`: the schema describes no array here, with `items`",
    ),
    (
        "revision = { diff = \"diff\" }\nlist = \"/none\"\n",
        "findings.list`: the schema describes no array here",
    ),
    (
        "revision = { diff = \"diff\" }\nlist = \"findings\"\n",
        "findings.list`: a JSON Pointer is empty or begins with `/`",
    ),
    (
        "revision = { diff = \"diff\" }\nrule = \"/summary\"\n",
        "findings.rule`: the schema must list the texts that may stand here, by `enum`",
    ),
    (
        "revision = { diff = \"diff\" }\nseverity = \"/mixed\"\n",
        "findings.severity`: the schema must list the texts",
    ),
    (
        "revision = { diff = \"diff\" }\nseverity = \"/level\"\n",
        "findings.severity`: the schema must list the texts",
    ),
    (
        "revision = { diff = \"diff\" }\npath = \"/file\"\n",
        "findings.path`: the schema describes no such member of a finding",
    ),
    (
        "revision = { diff = \"diff\" }\nline = \"/at\"\n",
        "findings.line`: the schema describes no such member of a finding",
    ),
    (
        "revision = { diff = \"diff\" }\nend_line = \"/end\"\n",
        "findings.end_line`: the schema describes no such member of a finding",
    ),
    (
        "revision = { diff = \"patch\" }\n",
        "line 10: `source.pulls.input`: the pipeline `lint` needs the reviewed revision, `patch` \
         in the input: add `patch` here, or name another member by `revision = { diff = … }`",
    ),
    (
        "revision = { diff = \"diff\", files = \"files\" }\n",
        "findings.revision`: exactly one of `diff` and `files`",
    ),
    (
        "revision = {}\n",
        "findings.revision`: exactly one of `diff` and `files`",
    ),
    (
        "revision = \"diff\"\n",
        "findings.revision`: this must be a table",
    ),
    (
        "revision = { diff = \"diff\" }\nkey = []\n",
        "findings.key`: findings need something to be recognized by",
    ),
    (
        "revision = { diff = \"diff\" }\nkey = [\"rule\", \"prose\"]\n",
        "findings.key[1]`: `rule`, `path`, `source_line`, `occurrence` or a JSON Pointer",
    ),
    (
        "revision = { diff = \"diff\" }\nkey = [\"rule\", \"rule\"]\n",
        "findings.key[1]`: this stands here already",
    ),
    (
        "revision = { diff = \"diff\" }\nkey = [\"/other\"]\n",
        "findings.key[0]`: the schema describes no such member of a finding",
    ),
    (
        "key = [\"path\"]\n",
        "findings.key[0]`: this is taken from a revision: say what",
    ),
    (
        "key = [\"source_line\"]\n",
        "findings.key[0]`: this is taken from a revision",
    ),
    (
        "key = [\"occurrence\"]\n",
        "findings.key[0]`: this is taken from a revision",
    ),
    (
        "key = [\"rule\"]\npath = \"/path\"\n",
        "findings.path`: this is looked up in a revision: say what of the input",
    ),
    (
        "revision = { diff = \"diff\" }\nkeys = [\"rule\"]\n",
        "findings.keys`: this key is not known; did you mean `key`?",
    ),
];

#[test]
fn each_mistake_of_the_table_is_told_once_with_its_line_and_key() {
    for (table, expected) in MISTAKES {
        let errors = read(&with_table(table)).map(drop).unwrap_err();
        let [told] = errors.lines() else {
            panic!("{table}: {errors:?}")
        };
        assert!(told.contains(expected), "{table}: {told}");
    }
}

#[test]
fn a_list_needs_its_kind_and_the_kind_its_list() {
    let classified = FILE.replace("kind = \"findings\"", "kind = \"classification\"");
    let classified = classified.replace("/severity\"", "/one\"");
    let errors = read(&classified).map(drop).unwrap_err();
    let expected = "line 22: `pipeline.lint.findings`: only a pipeline of kind = \"findings\" has";
    assert!(errors.lines()[0].contains(expected), "{errors:?}");
    let without = with_table("").replace("[pipeline.lint.findings]", "");
    let errors = read(&without).map(drop).unwrap_err();
    let expected = "line 14: `pipeline.lint.kind`: `findings.key` is \"rule, path";
    assert!(errors.lines()[0].contains(expected), "{errors:?}");
}

#[test]
fn a_rule_of_review_looks_into_each_finding() {
    assert!(read(FILE).is_ok());
    let of_the_list = FILE.replace("pointer = \"/severity\"", "pointer = \"/findings\"");
    let errors = read(&of_the_list).map(drop).unwrap_err();
    let expected = "review_when[0].pointer`: the schema describes no such member";
    assert!(errors.lines()[0].contains(expected), "{errors:?}");
}

#[test]
fn the_table_is_part_of_what_the_schemas_version_stands_for() {
    let versions = |text: &str| {
        let project = read(text).unwrap();
        let pipeline = &project.pipelines[0];
        assert_ne!(
            pipeline.versions(&serde_json::json!("x")).schema_digest,
            pipeline.schema.digest()
        );
        pipeline.versions(&serde_json::json!("x"))
    };
    let usual = versions(FILE);
    let said = "revision = { diff = \"diff\" }\nrule = \"/rule\"\n";
    assert_eq!(versions(&with_table(said)), usual);
    for table in [
        "revision = { diff = \"diff\" }\nkey = [\"rule\", \"path\"]\n",
        "revision = { diff = \"diff\" }\nlist = \"/notes\"\n",
        "key = [\"rule\"]\n",
    ] {
        let other = versions(&with_table(table));
        assert_ne!(other.schema_digest, usual.schema_digest, "{table}");
        assert_eq!(other.classifier_digest, usual.classifier_digest, "{table}");
    }
}

#[test]
fn the_digests_of_a_classification_are_those_of_the_databases_that_are_there() {
    let project = project(&[]).unwrap();
    let moderation = project.pipelines.iter().find(|it| it.name == "moderation");
    let moderation = moderation.unwrap();
    let versions = moderation.versions(&serde_json::json!("x"));
    assert_eq!(versions.schema_digest, moderation.schema.digest());
    let document = serde_json::json!({
        "derivation": "fencepost/classifier/1",
        "extractor": "x",
        "kind": "classification",
        "pipeline": "moderation",
        "prompt": moderation.prompt,
    });
    // The members are in order, so that this is the canonical form.
    let digest: [u8; 32] = {
        use sha2::{Digest, Sha256};
        Sha256::digest(document.to_string()).into()
    };
    assert_eq!(versions.classifier_digest, digest);
}
