//! The extractor that looks at diffs.

use super::*;

fn table(rest: &str) -> String {
    format!("kind = \"baseline\"\n\n[extractor.diffs]\nkind = \"code-baseline\"\n{rest}")
}

#[test]
fn it_is_told_which_member_of_the_input_holds_the_diff() {
    for (rest, diff) in [("", "diff"), ("diff = \"patch\"\n", "patch")] {
        let project = project(&[("kind = \"baseline\"", &table(rest))]).unwrap();
        let diff = diff.to_owned();
        assert_eq!(
            project.extractors["diffs"],
            ExtractorConfig::CodeBaseline { diff }
        );
    }
    for (rest, told) in [
        (
            "diff = \"\"\n",
            "`extractor.diffs.diff`: the name of a member",
        ),
        (
            "model = \"x\"\n",
            "`extractor.diffs.model`: this key is not known",
        ),
    ] {
        let errors = project(&[("kind = \"baseline\"", &table(rest))]).unwrap_err();
        assert!(errors.to_string().contains(told), "{errors}");
    }
}

#[test]
fn every_source_brings_what_it_reads() {
    let errors = project(&[("kind = \"baseline\"", "kind = \"code-baseline\"")]).unwrap_err();
    let told = "the extractor `baseline` reads `diff` of the input: add `diff` here, or name \
                another member by `diff` in [extractor.baseline]";
    assert!(errors.to_string().contains(told), "{errors}");
}
