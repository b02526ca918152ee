//! Names of files as git writes them.

use std::borrow::Cow;

/// The name in a `---` or `+++` line.
#[derive(PartialEq, Eq)]
pub(super) enum Side<'t> {
    /// `/dev/null`: no file on this side.
    Nothing,
    /// As it stands there, so perhaps with a prefix.
    Name(Cow<'t, str>),
}

impl<'t> Side<'t> {
    /// Behind a tab there is a time, or nothing where the name has blanks. A name with a tab in it
    /// is quoted.
    pub(super) fn read(text: &'t str) -> Option<Self> {
        let name = text.split('\t').next().unwrap_or_default();
        match name {
            "/dev/null" => Some(Self::Nothing),
            _ => unquoted(name).map(Self::Name),
        }
    }
}

/// A name without its quotes; none where they are not as git writes them.
pub(super) fn unquoted(text: &str) -> Option<Cow<'_, str>> {
    let Some(quoted) = text.strip_prefix('"') else {
        return Some(Cow::Borrowed(text));
    };
    let mut bytes = quoted.strip_suffix('"')?.bytes();
    let mut name = Vec::with_capacity(bytes.len());
    while let Some(byte) = bytes.next() {
        name.push(match byte {
            b'"' => return None,
            b'\\' => escaped(&mut bytes)?,
            _ => byte,
        });
    }
    String::from_utf8(name).ok().map(Cow::Owned)
}

/// The byte that follows from what stands behind a backslash.
fn escaped(bytes: &mut impl Iterator<Item = u8>) -> Option<u8> {
    Some(match bytes.next()? {
        b'a' => 0x07,
        b'b' => 0x08,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 0x0b,
        b'f' => 0x0c,
        b'r' => b'\r',
        quoted @ (b'"' | b'\\') => quoted,
        high @ b'0'..=b'3' => {
            let mut octal = || match bytes.next()? {
                digit @ b'0'..=b'7' => Some(digit - b'0'),
                _ => None,
            };
            let (middle, low) = (octal()?, octal()?);
            (high - b'0') << 6 | middle << 3 | low
        }
        _ => return None,
    })
}

/// The path that a `diff --git` line names twice: both times plain, or with a one-letter prefix
/// that tells the sides apart. Both names are equally long, so they meet in the middle, whatever
/// blanks they have.
pub(super) fn named_twice(text: &str) -> Option<Cow<'_, str>> {
    let middle = text.len() / 2;
    let (old, new) = (text.get(..middle)?, text.get(middle..)?.strip_prefix(' ')?);
    let (old, new) = (unquoted(old)?, unquoted(new)?);
    if old == new {
        return Some(new);
    }
    let same = unprefixed(&old)? == unprefixed(&new)?;
    let prefix = new.get(..2)?.to_owned();
    same.then(|| without(&prefix, new))
}

/// What follows a prefix, such as `a/`, if there is one.
pub(super) fn unprefixed(name: &str) -> Option<&str> {
    let rest = name.strip_prefix(|letter: char| letter.is_ascii_alphanumeric())?;
    rest.strip_prefix('/')
}

/// A name less this prefix, if it has it.
pub(super) fn without<'t>(prefix: &str, name: Cow<'t, str>) -> Cow<'t, str> {
    match name {
        Cow::Borrowed(name) => Cow::Borrowed(name.strip_prefix(prefix).unwrap_or(name)),
        Cow::Owned(name) => match name.strip_prefix(prefix) {
            Some(rest) => Cow::Owned(rest.to_owned()),
            None => Cow::Owned(name),
        },
    }
}
