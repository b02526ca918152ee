//! Phrases that name self-harm or abuse outright.
//!
//! A phrase matches as whole words, whatever their case, spacing, punctuation and apostrophes. Who
//! speaks is not understood: a negation ("I would never kill myself"), a quotation and a discussion
//! of the phrase all match. That is why a match always asks for a person.

use super::{Category, tokens::words};

/// What people write about harming themselves. Left out because they mean something else more
/// often: "kms" (key management), "shoot myself" (in the foot), "cut myself" (off).
const SELF_HARM: &[&str] = &[
    "better off dead",
    "better off without me",
    "can't go on living",
    "commit suicide",
    "committing suicide",
    "cutting myself",
    "don't want to be alive",
    "don't want to be here anymore",
    "don't want to live",
    "do not want to live",
    "end it all",
    "end my life",
    "ending my life",
    "hang myself",
    "hanging myself",
    "harm myself",
    "harming myself",
    "hurt myself",
    "hurting myself",
    "i want to die",
    "i wanna die",
    "just want to die",
    "kill myself",
    "killing myself",
    "no reason to live",
    "no longer want to live",
    "overdose on",
    "self harm",
    "self harming",
    "shoot myself in the head",
    "suicidal",
    "suicide note",
    "take my life",
    "take my own life",
    "taking my own life",
    "tired of being alive",
    "tired of living",
    "wish i was dead",
    "wish i was never born",
    "wish i were dead",
];

/// Threats, incitement and insults aimed at a person. Telling someone to harm themselves is abuse.
/// Left out: "drop dead" (simple), "shut up", and "retard" alone, which is French for a delay.
const ABUSE: &[&str] = &[
    "asshole",
    "beat you up",
    "bitch",
    "burn in hell",
    "cunt",
    "die in a fire",
    "dumbass",
    "fuck off",
    "fuck you",
    "fucking idiot",
    "fucking moron",
    "fucking retard",
    "go die",
    "go and die",
    "go hang yourself",
    "go to hell",
    "going to hurt you",
    "going to kill you",
    "gonna hurt you",
    "gonna kill you",
    "hope you die",
    "hope you get hurt",
    "i will find you",
    "i will hurt you",
    "i will kill you",
    "i'll find you",
    "i'll hurt you",
    "i'll kill you",
    "kill yourself",
    "know where you live",
    "kys",
    "motherfucker",
    "nobody likes you",
    "piece of shit",
    "rot in hell",
    "screw you",
    "scumbag",
    "shut the fuck up",
    "stfu",
    "stupid idiot",
    "you are a moron",
    "you are an idiot",
    "you are disgusting",
    "you are pathetic",
    "you are scum",
    "you are so stupid",
    "you are stupid",
    "you are worthless",
    "you deserve to die",
    "you idiot",
    "you moron",
    "you retard",
    "you should die",
    "you're a moron",
    "you're an idiot",
    "you're disgusting",
    "you're pathetic",
    "you're scum",
    "you're so stupid",
    "you're stupid",
    "you're worthless",
];

/// The phrase lists in the form that they are searched in.
#[derive(Debug)]
pub(super) struct Rules {
    self_harm: Vec<String>,
    abuse: Vec<String>,
}

impl Rules {
    pub(super) fn new() -> Self {
        let prepare = |phrases: &[&str]| phrases.iter().map(|phrase| searchable(phrase)).collect();
        Self {
            self_harm: prepare(SELF_HARM),
            abuse: prepare(ABUSE),
        }
    }

    /// The gravest category that a phrase of `text` names: self-harm before abuse.
    pub(super) fn category(&self, text: &str) -> Option<Category> {
        let text = searchable(text);
        let names = |phrases: &[String]| phrases.iter().any(|phrase| text.contains(phrase));
        if names(&self.self_harm) {
            Some(Category::SelfHarm)
        } else if names(&self.abuse) {
            Some(Category::Abuse)
        } else {
            None
        }
    }
}

/// Every phrase, for the digest that says when answers may have changed.
pub(super) fn phrases() -> impl Iterator<Item = &'static str> {
    SELF_HARM.iter().chain(ABUSE).copied()
}

/// The words of `text` with one space around each, so that a substring match is a match of whole
/// words. Apostrophes go, because many people leave them out.
fn searchable(text: &str) -> String {
    let mut searchable = String::from(" ");
    for word in words(text) {
        searchable.extend(word.chars().filter(|c| *c != '\''));
        searchable.push(' ');
    }
    searchable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_matches_itself_shouted_and_spread_out() {
        let rules = Rules::new();
        for (phrases, category) in [(SELF_HARM, Category::SelfHarm), (ABUSE, Category::Abuse)] {
            for phrase in phrases {
                let text = format!("…so, {}!", phrase.to_uppercase().replace(' ', " \n"));
                assert_eq!(rules.category(&text), Some(category), "{phrase}");
            }
        }
    }

    #[test]
    fn apostrophes_may_be_curly_or_missing() {
        let rules = Rules::new();
        for text in [
            "I’ll kill you",
            "ill kill you",
            "You`re worthless",
            "youre worthless",
        ] {
            assert_eq!(rules.category(text), Some(Category::Abuse), "{text}");
        }
    }

    #[test]
    fn only_whole_words_match() {
        let rules = Rules::new();
        for text in [
            "skill yourselves",
            "You retarder, this drop dead simple fix",
            "bitchute",
            "kill myselfie",
            "Please kill the process, then start it yourself",
            "I keep shooting myself in the foot with this API",
            "The KMS key expired",
        ] {
            assert_eq!(rules.category(text), None, "{text}");
        }
    }

    #[test]
    fn self_harm_beats_abuse_wherever_they_stand() {
        let rules = Rules::new();
        for text in ["fuck you, I want to die", "I want to die, fuck you"] {
            assert_eq!(rules.category(text), Some(Category::SelfHarm), "{text}");
        }
    }

    #[test]
    fn negation_and_quotation_are_not_understood() {
        let rules = Rules::new();
        assert_eq!(
            rules.category("I would never kill myself"),
            Some(Category::SelfHarm)
        );
        assert_eq!(
            rules.category("He wrote “you idiot” to her"),
            Some(Category::Abuse)
        );
    }
}
