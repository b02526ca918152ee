//! What a diff says of one file.

use std::borrow::Cow;

use super::{
    super::{Expected, File, Unreadable},
    cursor::Cursor,
    hunk::{Shown, hunks},
    name::{Side, named_twice, unprefixed, unquoted, without},
};

pub(super) struct Section<'t> {
    /// As it stands there, without a prefix.
    pub(super) path: Cow<'t, str>,
    /// Absent where it was deleted.
    pub(super) file: Option<File>,
}

/// Whether a file is on the new side.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    Deleted,
}

/// How a file changed, by the lines above its hunks.
enum Change<'t> {
    Edited,
    Created,
    Deleted,
    /// Renamed or copied, to this path.
    Moved(Cow<'t, str>),
}

/// Lines above the hunks that say nothing about where the file is.
const OTHER_HEADERS: [&str; 7] = [
    "old mode ",
    "new mode ",
    "similarity index ",
    "dissimilarity index ",
    "index ",
    "rename from ",
    "copy from ",
];

impl<'t> Section<'t> {
    pub(super) fn read(cursor: &mut Cursor<'t>) -> Result<Self, Unreadable> {
        let place = cursor.place();
        if let Some(names) = cursor.take_after("diff --git ") {
            let change = Change::read(cursor)?;
            let path = match &change {
                Change::Moved(path) => Some(path.clone()),
                Change::Edited | Change::Created | Change::Deleted => named_twice(names),
            };
            let path = path.ok_or_else(|| place.expected(Expected::Names))?;
            let file = of_git(cursor, &path, change.fate())?;
            return Ok(Self { path, file });
        }
        match cursor.take_after("--- ") {
            Some(old) => {
                let old = Side::read(old).ok_or_else(|| place.expected(Expected::Name))?;
                Self::plain(cursor, old)
            }
            None => Err(place.expected(Expected::Section)),
        }
    }

    /// A section that begins with `---`. Where only one side has a name, one with a prefix is taken
    /// to have it from the tool.
    fn plain(cursor: &mut Cursor<'t>, old: Side<'t>) -> Result<Self, Unreadable> {
        let place = cursor.place();
        let (path, fate) = match (old, new_side(cursor)?) {
            (Side::Nothing, Side::Nothing) => return Err(place.expected(Expected::NewName)),
            (Side::Name(old), Side::Nothing) => (without("a/", old), Fate::Deleted),
            (Side::Nothing, Side::Name(new)) => (without("b/", new), Fate::Stays),
            (Side::Name(old), Side::Name(new)) if old.starts_with("a/") => {
                (without("b/", new), Fate::Stays)
            }
            (Side::Name(_), Side::Name(new)) => (new, Fate::Stays),
        };
        let file = shown(cursor, fate)?;
        Ok(Self { path, file })
    }
}

impl Fate {
    fn file(self, lines: Vec<Shown<'_>>) -> Option<File> {
        match self {
            Self::Stays => Some(File::of(lines.into_iter())),
            Self::Deleted => None,
        }
    }
}

impl<'t> Change<'t> {
    fn fate(&self) -> Fate {
        match self {
            Self::Deleted => Fate::Deleted,
            Self::Edited | Self::Created | Self::Moved(_) => Fate::Stays,
        }
    }

    fn read(cursor: &mut Cursor<'t>) -> Result<Self, Unreadable> {
        let mut change = Self::Edited;
        loop {
            let place = cursor.place();
            let moved = |name| match unquoted(name) {
                Some(path) => Ok(Self::Moved(path)),
                None => Err(place.expected(Expected::Name)),
            };
            let next = if let Some(name) = cursor.take_after("rename to ") {
                moved(name)?
            } else if let Some(name) = cursor.take_after("copy to ") {
                moved(name)?
            } else if cursor.take_after("new file mode ").is_some() {
                Self::Created
            } else if cursor.take_after("deleted file mode ").is_some() {
                Self::Deleted
            } else if OTHER_HEADERS
                .iter()
                .any(|header| cursor.take_after(header).is_some())
            {
                continue;
            } else {
                return Ok(change);
            };
            if !matches!(change, Self::Edited) {
                return Err(place.expected(Expected::OneChange));
            }
            change = next;
        }
    }
}

/// What follows the headers of git: hunks, a word about binary content, or nothing.
fn of_git(cursor: &mut Cursor<'_>, path: &str, fate: Fate) -> Result<Option<File>, Unreadable> {
    if cursor.take_after("--- ").is_some() {
        let place = cursor.place();
        let fits = match (new_side(cursor)?, fate) {
            (Side::Nothing, fate) => fate == Fate::Deleted,
            (Side::Name(_), Fate::Deleted) => false,
            (Side::Name(name), Fate::Stays) => name == path || unprefixed(&name) == Some(path),
        };
        return match fits {
            true => shown(cursor, fate),
            false => Err(place.expected(Expected::NewName)),
        };
    }
    skip_binary(cursor)?;
    Ok(fate.file(Vec::new()))
}

fn new_side<'t>(cursor: &mut Cursor<'t>) -> Result<Side<'t>, Unreadable> {
    let place = cursor.place();
    let side = cursor.take_after("+++ ").and_then(Side::read);
    side.ok_or_else(|| place.expected(Expected::NewName))
}

/// The hunks of a file; of a deleted one they must leave nothing, or something would go unread.
fn shown(cursor: &mut Cursor<'_>, fate: Fate) -> Result<Option<File>, Unreadable> {
    let place = cursor.place();
    let lines = hunks(cursor)?;
    match fate == Fate::Deleted && !lines.is_empty() {
        true => Err(place.expected(Expected::EmptiedFile)),
        false => Ok(fate.file(lines)),
    }
}

/// `Binary files … differ`, or `GIT binary patch` and one or two blocks that end with a blank line.
fn skip_binary(cursor: &mut Cursor<'_>) -> Result<(), Unreadable> {
    if cursor.take_after("Binary files ").is_some()
        || cursor.take_after("GIT binary patch").is_none()
    {
        return Ok(());
    }
    let is_block = |line: &str| line.starts_with("literal ") || line.starts_with("delta ");
    let place = cursor.place();
    let mut blocks = 0;
    while cursor.peek().is_some_and(is_block) {
        cursor.take();
        blocks += 1;
        loop {
            let place = cursor.place();
            match cursor.take() {
                Some("" | "\r") => break,
                Some(line) if !line.contains(' ') => {}
                Some(_) | None => return Err(place.expected(Expected::BinaryPatch)),
            }
        }
    }
    match blocks {
        0 => Err(place.expected(Expected::BinaryPatch)),
        _ => Ok(()),
    }
}
