//! One finding, held to the rules.

use std::borrow::Cow;

use fencepost_identity::{json::Value, pointer::Pointer};

use super::{
    FindingsRules, Location,
    violation::{Fault, Noted},
};
use crate::revision::{File, Revision, normalise};

/// A finding, and what was read of it; what could not be read was noted.
pub(super) struct Examined<'v> {
    pub(super) item: &'v Value<'v>,
    pub(super) rule: Option<&'v str>,
    /// The number of its severity among the words for it.
    pub(super) rank: usize,
    pub(super) path: Option<Cow<'v, str>>,
    /// The line where it begins, and which of the equal ones it is.
    pub(super) line: Option<(&'v str, u32)>,
}

/// Notes what is wrong with one finding.
struct Notes<'n> {
    /// Where it stands in the answer.
    place: String,
    noted: &'n mut Noted,
}

impl Notes<'_> {
    fn note(&mut self, pointer: &Pointer, fault: Fault) {
        self.noted.note(format!("{}{pointer}", self.place), fault);
    }

    /// The text at a pointer, taken literally: nothing in it is decoded.
    fn text<'v>(&mut self, item: &'v Value<'_>, pointer: &Pointer) -> Option<&'v str> {
        let text = pointer.find(item).and_then(Value::as_str);
        if text.is_none() {
            self.note(pointer, Fault::Missing);
        }
        text
    }
}

impl FindingsRules {
    pub(super) fn examine_one<'v>(
        &'v self,
        index: usize,
        item: &'v Value<'_>,
        revision: Option<&'v Revision>,
        noted: &mut Noted,
    ) -> Examined<'v> {
        let mut notes = Notes {
            place: format!("{}/{index}", self.list),
            noted,
        };
        let rule = notes.text(item, &self.rule);
        let severity = notes.text(item, &self.severity);
        let rank = severity.map(|word| self.severities.iter().position(|known| known == word));
        if rank == Some(None) {
            notes.note(&self.severity, Fault::NoWord);
        }
        let (path, line) = match (&self.location, revision) {
            (Some(location), Some(revision)) => located(location, item, revision, &mut notes),
            (Some(_), None) | (None, _) => (None, None),
        };
        Examined {
            item,
            rule,
            rank: rank.flatten().unwrap_or_default(),
            path,
            line,
        }
    }
}

/// A path, and the line with its occurrence.
type Found<'v> = (Option<Cow<'v, str>>, Option<(&'v str, u32)>);

fn located<'v>(
    location: &'v Location,
    item: &'v Value<'_>,
    revision: &'v Revision,
    notes: &mut Notes<'_>,
) -> Found<'v> {
    let path = path(location, item, notes);
    let file = path.as_deref().and_then(|path| {
        let file = revision.file(path);
        if file.is_none() {
            notes.note(&location.path, Fault::NotInRevision);
        }
        file
    });
    let number = pointed(item, &location.line);
    if number.is_none() {
        notes.note(&location.line, Fault::Missing);
    }
    let begin = number.zip(file).and_then(|(number, file)| {
        let line = shown(file, number);
        if line.is_none() {
            notes.note(&location.line, Fault::NotShown);
        }
        line
    });
    let end_line = location.end_line.as_ref();
    if let Some((pointer, end)) = end_line.and_then(|at| Some((at, pointed(item, at)?))) {
        let begins = number.and_then(line_number);
        if begins
            .zip(line_number(end))
            .is_some_and(|(begin, end)| end < begin)
        {
            notes.note(pointer, Fault::BeforeLine);
        } else if file.is_some_and(|file| shown(file, end).is_none()) {
            notes.note(pointer, Fault::NotShown);
        }
    }
    (path, begin)
}

fn path<'v>(
    location: &Location,
    item: &'v Value<'_>,
    notes: &mut Notes<'_>,
) -> Option<Cow<'v, str>> {
    let text = notes.text(item, &location.path)?;
    match normalise(text) {
        Ok(path) => Some(path),
        Err(bad) => {
            notes.note(&location.path, Fault::Path(bad));
            None
        }
    }
}

/// What a pointer names, where that is not null.
fn pointed<'v, 'a>(item: &'v Value<'a>, pointer: &Pointer) -> Option<&'v Value<'a>> {
    match pointer.find(item) {
        None | Some(Value::Null) => None,
        Some(value) => Some(value),
    }
}

/// The line of this number with its occurrence, where the revision shows it.
fn shown<'v>(file: &'v File, number: &Value<'_>) -> Option<(&'v str, u32)> {
    let number = line_number(number)?;
    file.line(number).zip(file.occurrence(number))
}

fn line_number(value: &Value<'_>) -> Option<u32> {
    match value {
        Value::Number(number) => number.integer()?.parse().ok(),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    }
}
