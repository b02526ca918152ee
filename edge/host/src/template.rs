//! Texts of the manifest with `{{ variable }}` in them.

use thiserror::Error;

/// A text in which names of variables stand for their values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Variable(String),
}

/// `{{` without its `}}`.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{{{{` without `}}}}` in {text:?}")]
pub struct UnclosedBraces {
    text: String,
}

impl Template {
    /// Takes the text apart.
    pub fn parse(text: &str) -> Result<Self, UnclosedBraces> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let unclosed = || UnclosedBraces {
                text: text.to_owned(),
            };
            let (name, behind) = after.split_once("}}").ok_or_else(unclosed)?;
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            parts.push(Part::Variable(name.trim().to_owned()));
            rest = behind;
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Ok(Self { parts })
    }

    /// The variables it names, in order and with repetitions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Variable(name) => Some(name.as_str()),
        })
    }

    /// The text with every value in its place, or the first name that `value_of` does not know.
    pub fn render<'v>(&self, value_of: impl Fn(&str) -> Option<&'v str>) -> Result<String, &str> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(literal) => text.push_str(literal),
                Part::Variable(name) => text.push_str(value_of(name).ok_or(name.as_str())?),
            }
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_take_the_place_of_names() {
        let template = Template::parse("http://{{ host }}:{{port}}/x").unwrap();
        assert_eq!(template.names().collect::<Vec<_>>(), ["host", "port"]);
        let value_of = |name: &str| match name {
            "host" => Some("backend"),
            "port" => Some("80"),
            _ => None,
        };
        assert_eq!(
            template.render(value_of),
            Ok("http://backend:80/x".to_owned())
        );
        assert_eq!(template.render(|_| None), Err("host"));
    }

    #[test]
    fn a_text_without_braces_stays_as_it_is() {
        for text in ["", "plain", "}} { }"] {
            assert_eq!(
                Template::parse(text).unwrap().render(|_| None),
                Ok(text.to_owned())
            );
        }
    }

    #[test]
    fn braces_must_close() {
        let error = Template::parse("{{ a }} {{ b").unwrap_err();
        assert_eq!(error.to_string(), "`{{` without `}}` in \"{{ a }} {{ b\"");
    }
}
