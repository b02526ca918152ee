//! One spelling for a path.

use std::borrow::Cow;

/// Why a text is no path of a file inside a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPath {
    /// Nothing, or two slashes in a row, or one at the end.
    #[error("a path has an empty segment")]
    EmptySegment,
    /// A `.` behind the beginning, or a `..` anywhere.
    #[error("a path has a segment of dots")]
    Dots,
    /// It begins with a slash.
    #[error("a path is absolute")]
    Absolute,
    /// Two systems would read two paths.
    #[error("a path has a backslash")]
    Backslash,
    /// No name needs one, and some hide what is read.
    #[error("a path has a control character")]
    ControlCharacter,
}

/// The one spelling of a path inside a tree: `./a` is `a`, and nothing else is changed. It is part
/// of what findings are recognized by: it never changes.
///
/// # Errors
/// [`BadPath`], where the text leaves the tree or could be read in two ways.
pub fn normalise(text: &str) -> Result<Cow<'_, str>, BadPath> {
    if text.contains('\\') {
        return Err(BadPath::Backslash);
    }
    if text.contains(char::is_control) {
        return Err(BadPath::ControlCharacter);
    }
    if text.starts_with('/') {
        return Err(BadPath::Absolute);
    }
    let mut path = text;
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    for segment in path.split('/') {
        match segment {
            "" => return Err(BadPath::EmptySegment),
            "." | ".." => return Err(BadPath::Dots),
            _ => {}
        }
    }
    Ok(Cow::Borrowed(path))
}
