//! Logs: to stderr, as lines of JSON or as text. They never hold a body, a header or a secret.

use std::{fmt, io::IsTerminal, str::FromStr};

use tracing_subscriber::{EnvFilter, fmt::MakeWriter, prelude::*};

/// What is logged when nothing else is said. The database driver's statements are noise.
const DIRECTIVES: &str = "info,sqlx=warn,hyper=warn";

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One JSON object a line, for machines.
    Json,
    /// For people.
    Text,
}

/// `FENCEPOST_LOG`: `[json|text][,directives]`, such as `json`, `debug` or
/// `text,info,fencepost=debug`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSetting {
    /// Absent: text for a terminal, JSON otherwise.
    pub form: Option<Form>,
    /// Which targets are logged from which level on.
    pub directives: String,
}

impl Default for LogSetting {
    fn default() -> Self {
        Self {
            form: None,
            directives: DIRECTIVES.to_owned(),
        }
    }
}

/// The setting names no form and no directives that can be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("FENCEPOST_LOG: {0}; expected `[json|text][,directives]`, such as `json,info`")]
pub struct BadLogSetting(String);

impl FromStr for LogSetting {
    type Err = BadLogSetting;

    fn from_str(text: &str) -> Result<Self, BadLogSetting> {
        let (first, rest) = text.split_once(',').unwrap_or((text, ""));
        let (form, directives) = match first.trim() {
            "json" => (Some(Form::Json), rest),
            "text" => (Some(Form::Text), rest),
            _ => (None, text),
        };
        let directives = if directives.trim().is_empty() {
            DIRECTIVES
        } else {
            directives
        };
        EnvFilter::try_new(directives).map_err(|error| BadLogSetting(error.to_string()))?;
        Ok(Self {
            form,
            directives: directives.to_owned(),
        })
    }
}

impl fmt::Display for LogSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.form {
            Some(Form::Json) => write!(f, "json,{}", self.directives),
            Some(Form::Text) => write!(f, "text,{}", self.directives),
            None => f.write_str(&self.directives),
        }
    }
}

/// What takes the log lines, to be set as the process's or a test's default.
///
/// # Errors
/// Directives that can't be understood.
pub fn subscriber<W>(
    setting: &LogSetting,
    writer: W,
) -> Result<impl tracing::Subscriber + Send + Sync + use<W>, BadLogSetting>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let filter = EnvFilter::try_new(&setting.directives)
        .map_err(|error| BadLogSetting(error.to_string()))?;
    let form = setting
        .form
        .unwrap_or(match std::io::stderr().is_terminal() {
            true => Form::Text,
            false => Form::Json,
        });
    let layer = match form {
        Form::Json => tracing_subscriber::fmt::layer()
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(false)
            .with_writer(writer)
            .boxed(),
        Form::Text => tracing_subscriber::fmt::layer()
            .with_writer(writer)
            .with_ansi(false)
            .boxed(),
    };
    Ok(tracing_subscriber::registry().with(filter).with(layer))
}

/// Sends this process's logs to stderr. A second call changes nothing.
///
/// # Errors
/// Directives that can't be understood.
pub fn init(setting: &LogSetting) -> Result<(), BadLogSetting> {
    // Only a second call fails, and then the first one's setting stands.
    drop(tracing::subscriber::set_global_default(subscriber(
        setting,
        std::io::stderr,
    )?));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_form_and_directives() {
        let read = |text: &str| text.parse::<LogSetting>().map(|s| (s.form, s.directives));
        let default = DIRECTIVES.to_owned();
        assert_eq!(read("json"), Ok((Some(Form::Json), default.clone())));
        assert_eq!(
            read("text,debug"),
            Ok((Some(Form::Text), "debug".to_owned()))
        );
        assert_eq!(
            read("info,sqlx=debug"),
            Ok((None, "info,sqlx=debug".to_owned()))
        );
        assert_eq!(read(""), Ok((None, default)));
        assert!(read("json,fencepost=loud").is_err());
    }
}
