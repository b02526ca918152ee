//! Extractors at providers of clouds, which a program may be built without.

use super::*;

const BEDROCK: &str = "kind = \"baseline\"

[extractor.bed]
kind = \"bedrock\"
model = \"eu.vendor.model-v1:0\"
region = \"eu-central-1\"
";

const VERTEX: &str = "kind = \"baseline\"

[extractor.ver]
kind = \"gemini\"
api = \"vertex\"
model = \"gemini-x.1\"
project = \"my-project\"
location = \"europe-west4\"
";

/// The only mistake of a file with this table.
fn mistake(table: &str) -> String {
    let errors = project(&[("kind = \"baseline\"", table)]).unwrap_err();
    let [line] = errors.lines() else {
        panic!("{errors:?}");
    };
    line.clone()
}

#[cfg(not(any(feature = "bedrock", feature = "vertex")))]
#[test]
fn a_program_that_was_built_without_a_provider_says_so() {
    for (table, key, feature) in [
        (BEDROCK, "bed.kind", "bedrock"),
        (VERTEX, "ver.api", "vertex"),
    ] {
        let line = mistake(table);
        let expected = format!(
            "`extractor.{key}`: this program was built without `{feature}`; build it with \
             `--features {feature}`"
        );
        assert!(line.contains(&expected), "{line}");
    }
}

#[test]
fn the_gemini_api_may_be_named_and_no_other() {
    let named = VERTEX.replace("\"vertex\"", "\"gemini\"");
    let named = named.replace(
        "project = \"my-project\"\nlocation = \"europe-west4\"\n",
        "",
    );
    let named = named + "api_key_env = \"G_KEY\"\n";
    let read = project(&[("kind = \"baseline\"", &named)]).unwrap();
    let gemini = &read.extractors["ver"];
    assert!(matches!(gemini, ExtractorConfig::Gemini(_)), "{gemini:?}");
    assert_eq!(gemini.found_credentials(), None);
    let line = mistake(&named.replace("api = \"gemini\"", "api = \"palm\""));
    let expected = "extractor.ver.api`: this is `gemini` or `vertex`";
    assert!(line.contains(expected), "{line}");
}

#[cfg(feature = "vertex")]
mod vertex {
    use super::*;
    use crate::extractor::gemini::vertex::{Name, Place};

    #[test]
    fn project_and_location_say_where_the_provider_is() {
        let project = project(&[("kind = \"baseline\"", VERTEX)]).unwrap();
        let ver = &project.extractors["ver"];
        let ExtractorConfig::Vertex(config, place) = ver else {
            panic!("{ver:?}");
        };
        let name = |text| Name::new(text).unwrap();
        assert_eq!(*place, Place::new(name("my-project"), name("europe-west4")));
        let url = "https://europe-west4-aiplatform.googleapis.com/v1";
        assert_eq!(config.settings.base_url.to_string(), url);
        assert_eq!(ver.found_credentials(), Some("Google"));
        assert_eq!(ver.credential("ver").as_str(), "extractor ver");
    }

    #[test]
    fn each_mistake_is_told_with_its_key() {
        for (old, new, expected) in [
            (
                "project = \"my-project\"\n",
                "",
                "extractor.ver`: the key `project` is missing",
            ),
            (
                "location = \"europe-west4\"\n",
                "",
                "extractor.ver`: the key `location` is missing",
            ),
            (
                "europe-west4",
                "Europe/West",
                "extractor.ver.location`: a name of lower-case letters",
            ),
            (
                "gemini-x.1",
                "publishers/google/models/x",
                "extractor.ver.model`: a model's name alone",
            ),
            (
                "\"my-project\"",
                "\"my-project\"\napi_key_env = \"G_KEY\"",
                "extractor.ver.api_key_env`: this key is not known",
            ),
        ] {
            let changed = VERTEX.replace(old, new);
            assert_ne!(changed, VERTEX, "{old}");
            let line = mistake(&changed);
            assert!(line.contains(expected), "{new}: {line}");
        }
    }
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
            let line = mistake(&changed);
            assert!(line.contains(expected), "{new}: {line}");
        }
    }
}
