//! Extractors at providers of clouds, which a program may be built without.

use super::*;

const BEDROCK: &str = "kind = \"baseline\"

[extractor.bed]
kind = \"bedrock\"
model = \"eu.vendor.model-v1:0\"
region = \"eu-central-1\"
";

#[cfg(not(feature = "bedrock"))]
#[test]
fn a_program_that_was_built_without_a_provider_says_so() {
    let errors = project(&[("kind = \"baseline\"", BEDROCK)]).unwrap_err();
    let [line] = errors.lines() else {
        panic!("{errors:?}");
    };
    assert!(
        line.contains(
            "`extractor.bed.kind`: this program was built without `bedrock`; build it with \
             `--features bedrock`"
        ),
        "{line}"
    );
}

#[cfg(feature = "bedrock")]
mod bedrock {
    use super::*;
    use crate::extractor::bedrock::Region;

    fn read(table: &str) -> Project {
        project(&[("kind = \"baseline\"", table)]).unwrap()
    }

    #[test]
    fn a_region_says_where_the_provider_is_and_a_key_is_one_of_several_credentials() {
        let project = read(BEDROCK);
        let ExtractorConfig::Bedrock(config, region, output) = &project.extractors["bed"] else {
            panic!("{:?}", project.extractors);
        };
        assert_eq!(
            (region, *output),
            (&Region::new("eu-central-1").unwrap(), Output::Schema)
        );
        let url = "https://bedrock-runtime.eu-central-1.amazonaws.com";
        assert_eq!(config.settings.base_url.to_string(), url);
        assert_eq!(config.key_variable, None);
        let bed = &project.extractors["bed"];
        assert_eq!(bed.found_credentials(), Some("AWS"));
        assert_eq!(bed.credential("bed").as_str(), "extractor bed");
    }

    #[test]
    fn what_the_provider_can_be_told_is_read() {
        let project = read(
            &(BEDROCK.to_owned()
                + "api_key_env = \"A_KEY\"\nbase_url = \"http://127.0.0.1:8000/v1\"\n\
                   output = \"tool\"\ntemperature = 1\nmax_output_tokens = 7\n"),
        );
        let ExtractorConfig::Bedrock(config, _, output) = &project.extractors["bed"] else {
            panic!("{:?}", project.extractors);
        };
        let settings = &config.settings;
        assert_eq!((*output, settings.temperature), (Output::Tool, Some(1.0)));
        assert_eq!(settings.max_output_tokens.get(), 7);
        assert_eq!(settings.base_url.to_string(), "http://127.0.0.1:8000/v1");
        assert_eq!(config.key_variable.as_deref(), Some("A_KEY"));
        assert_eq!(project.extractors["bed"].found_credentials(), None);
    }

    #[test]
    fn each_mistake_is_told_with_its_key() {
        for (old, new, expected) in [
            (
                "region = \"eu-central-1\"\n",
                "",
                "extractor.bed`: the key `region` is missing",
            ),
            (
                "\"eu-central-1\"",
                "\"Frankfurt!\"",
                "extractor.bed.region`: a region's name, such as",
            ),
            (
                "\"eu-central-1\"",
                "\"eu-central-1\"\ntemperature = 1.5",
                "extractor.bed.temperature`: this must be a number from 0 to 1",
            ),
            (
                "\"eu-central-1\"",
                "\"eu-central-1\"\noutput = \"free\"",
                "extractor.bed.output`: this is `schema` or `tool`",
            ),
            (
                "\"eu-central-1\"",
                "\"eu-central-1\"\napi = \"chat\"",
                "extractor.bed.api`: this key is not known",
            ),
        ] {
            let changed = BEDROCK.replace(old, new);
            assert_ne!(changed, BEDROCK, "{old}");
            let errors = project(&[("kind = \"baseline\"", &changed)]).unwrap_err();
            let lines = errors.lines();
            assert!(
                lines.len() == 1 && lines[0].contains(expected),
                "{new}: {lines:?}"
            );
        }
    }
}
