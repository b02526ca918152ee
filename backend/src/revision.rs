//! The reviewed revision, as far as an input shows it: its files, and their lines.
//!
//! A finding is held to it, and a part of a finding's identity is taken from it. So it is read here
//! in one way, by us: what could be read in two ways is refused.

mod diff;
mod path;

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
};

use serde_json::Value;

pub use self::path::{BadPath, normalise};

/// Files by their normalised path. Deleted ones are not among them.
#[derive(Clone, PartialEq, Eq)]
pub struct Revision {
    files: BTreeMap<String, File>,
}

/// The lines of a file that a revision shows; of a file that was only renamed, or that is binary,
/// there are none.
#[derive(Clone, PartialEq, Eq)]
pub struct File {
    /// In the order of their numbers.
    lines: Vec<Line>,
}

#[derive(Clone, PartialEq, Eq)]
struct Line {
    number: u32,
    standing: Standing,
    /// How many shown lines up to this one have the same trimmed text.
    occurrence: u32,
    /// Without its line feed; a carriage return before that stays.
    text: Box<str>,
}

/// How a line came into its revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Added,
    /// It was there before, or nobody says.
    Kept,
}

/// What can't be read as a revision. It says where and what was expected there, and never what
/// stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// A text that is no unified diff, or that could be read as two.
    #[error("line {line} of the diff: expected {expected}")]
    Diff {
        /// From 1; one more than there are where the text ended too early.
        line: usize,
        /// What would have been read there.
        expected: Expected,
    },
    /// A value that does not hold files.
    #[error("the files: expected {0}")]
    Files(Expected),
}

/// What was expected where a revision could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// `diff --git …`, `--- …`, or the end.
    Section,
    /// `diff --git` and one name twice, with the usual prefixes or none.
    Names,
    /// At most one of: a new file, a deleted file, a rename, a copy.
    OneChange,
    /// A name, quoted as git quotes it or plain.
    Name,
    /// A `+++` line that names the file of its section, or nothing where that was deleted.
    NewName,
    /// A normalised path of a file.
    Path(BadPath),
    /// A file that no other section shows.
    OtherFile,
    /// `@@ -a,b +c,d @@`.
    Hunk,
    /// A hunk behind the one before it.
    LaterHunk,
    /// A hunk that leaves nothing, since the file was deleted.
    EmptiedFile,
    /// As many lines as the hunk announced.
    HunkLine,
    /// The lines of a binary patch.
    BinaryPatch,
    /// An object.
    Object,
    /// A text as each file's content.
    Text,
}

impl Revision {
    /// Reads a unified diff as git and GitHub write it. An empty one shows no file.
    ///
    /// Text around it, such as the message of a commit, is refused: whoever wrote it could write
    /// a second diff there. So are files that stand in two sections, hunks that overlap or go back,
    /// and diffs of merges. Paths may have one-letter prefixes (`a/` and `b/`) or none.
    ///
    /// # Errors
    /// [`Unreadable`].
    pub fn of_diff(text: &str) -> Result<Self, Unreadable> {
        diff::files(text).map(|files| Self { files })
    }

    /// Reads an object of texts by their paths. All lines are shown; none is known to be added.
    ///
    /// # Errors
    /// [`Unreadable`].
    pub fn of_files(value: &Value) -> Result<Self, Unreadable> {
        let object = value.as_object();
        let mut files = BTreeMap::new();
        for (path, text) in object.ok_or(Unreadable::Files(Expected::Object))? {
            let path = normalise(path).map_err(|bad| Unreadable::Files(Expected::Path(bad)))?;
            let text = text.as_str().ok_or(Unreadable::Files(Expected::Text))?;
            let lines = (1..).zip(text.split_terminator('\n'));
            let file = File::of(lines.map(|(number, line)| (number, Standing::Kept, line)));
            if files.insert(path.into_owned(), file).is_some() {
                return Err(Unreadable::Files(Expected::OtherFile));
            }
        }
        Ok(Self { files })
    }

    /// The file at a normalised path.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.get(path)
    }

    /// All files, by their normalised paths, in the order of those.
    pub fn files(&self) -> impl Iterator<Item = (&str, &File)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }
}

impl File {
    /// Lines in the order of their numbers.
    fn of<'t>(lines: impl Iterator<Item = (u32, Standing, &'t str)>) -> Self {
        let mut seen: HashMap<&str, u32> = HashMap::new();
        let lines = lines.map(|(number, standing, text)| {
            let occurrence = seen.entry(trimmed(text)).or_default();
            *occurrence += 1;
            Line {
                number,
                standing,
                occurrence: *occurrence,
                text: text.into(),
            }
        });
        Self {
            lines: lines.collect(),
        }
    }

    fn find(&self, number: u32) -> Option<&Line> {
        let index = self.lines.binary_search_by_key(&number, |line| line.number);
        self.lines.get(index.ok()?)
    }

    /// The line of this number on the new side, from 1, where the revision shows it; without its
    /// line feed.
    pub fn line(&self, number: u32) -> Option<&str> {
        self.find(number).map(|line| &*line.text)
    }

    /// All shown lines with their numbers.
    pub fn lines(&self) -> impl Iterator<Item = (u32, &str)> {
        self.lines.iter().map(|line| (line.number, &*line.text))
    }

    /// The lines that the revision adds, with their numbers. Of files that came whole there are
    /// none: nobody says what is new in them.
    pub fn added(&self) -> impl Iterator<Item = (u32, &str)> {
        let added = |line: &&Line| line.standing == Standing::Added;
        let lines = self.lines.iter().filter(added);
        lines.map(|line| (line.number, &*line.text))
    }

    /// How many shown lines of this file, up to and including this one, have its [`trimmed`] text.
    pub fn occurrence(&self, number: u32) -> Option<u32> {
        self.find(number).map(|line| line.occurrence)
    }
}

/// A line without Unicode's white space at both ends, so that another indentation, or CRLF for LF,
/// makes no other line of it. It is part of what findings are recognized by: it never changes.
pub fn trimmed(line: &str) -> &str {
    line.trim()
}

impl fmt::Debug for Revision {
    /// Leaves paths and texts out: they are the report's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Revision")
            .field("files", &self.files.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for File {
    /// Leaves the texts out: they are the report's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File")
            .field("lines", &self.lines.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Section => "`diff --git`, `---` or the end",
            Self::Names => "`diff --git` with one name twice, its prefixes `a/` and `b/`",
            Self::OneChange => "one way in which the file changed",
            Self::Name => "a name as git writes it",
            Self::NewName => "`+++` with the name that the section is about",
            Self::Path(bad) => return write!(f, "a path inside the tree, and {bad}"),
            Self::OtherFile => "a file that is not there twice",
            Self::Hunk => "`@@ -a,b +c,d @@`",
            Self::LaterHunk => "a hunk behind the one before it",
            Self::EmptiedFile => "a hunk that leaves nothing of a deleted file",
            Self::HunkLine => "as many lines as the hunk announces",
            Self::BinaryPatch => "the lines of a binary patch",
            Self::Object => "an object from paths to texts",
            Self::Text => "a text for each path",
        })
    }
}

#[cfg(test)]
mod tests;
