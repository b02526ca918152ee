//! Reading a unified diff: one section for each file, line by line.

mod cursor;
mod hunk;
mod name;
mod section;

use std::collections::BTreeMap;

use self::{cursor::Cursor, section::Section};
use super::{Expected, File, Unreadable, normalise};

/// The files of the new side by their normalised paths.
pub(super) fn files(text: &str) -> Result<BTreeMap<String, File>, Unreadable> {
    let mut cursor = Cursor::of(text);
    let mut files = BTreeMap::new();
    while cursor.skip_blank_lines() {
        let first = cursor.place();
        let section = Section::read(&mut cursor)?;
        let path = match (normalise(&section.path), &section.file) {
            (Ok(path), _) => path,
            // Nothing can be found in one that is gone, whatever its name was.
            (Err(_), None) => continue,
            (Err(bad), Some(_)) => return Err(first.expected(Expected::Path(bad))),
        };
        // One that is deleted first and made after that has become a file of another kind.
        if files.contains_key(&*path) {
            return Err(first.expected(Expected::OtherFile));
        }
        if let Some(file) = section.file {
            files.insert(path.into_owned(), file);
        }
    }
    Ok(files)
}
