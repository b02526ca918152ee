//! The keys `kind` and `findings`: whether an answer is one record or a list, and how a list is
//! read.

use fencepost_identity::{
    config::{Item, Section},
    pointer::Pointer,
};
use serde_json::Value;

use crate::{
    findings::{FindingsRules, KeyField, Location, RevisionForm},
    judge::Kind,
    schema::{Described, Schema},
};

/// Reads what a pipeline makes of an answer. Where the schema could not be read nothing is said of
/// what it lacks.
pub(super) fn kind(table: &mut Section<'_, '_>, schema: Option<&Schema>) -> Option<Kind> {
    let kind = table.require("kind");
    let rules = table.get("findings");
    let kind = kind?;
    match kind.text()? {
        "classification" => {
            if let Some(rules) = rules {
                rules.error("only a pipeline of kind = \"findings\" has this table");
                return None;
            }
            Some(Kind::Classification)
        }
        "findings" => {
            read(&kind, rules.as_ref(), schema).map(|rules| Kind::Findings(Box::new(rules)))
        }
        _ => {
            kind.error("this kind is not known; there are `classification` and `findings`");
            None
        }
    }
}

/// What a schema says of each entry of the list.
pub(super) fn item_of<'s>(schema: &'s Schema, list: &Pointer) -> Option<&'s Value> {
    match schema.described(list) {
        Described::As(part) => schema.items(part),
        Described::NotListed | Described::Open => None,
    }
}

fn read(
    kind: &Item<'_, '_>,
    rules: Option<&Item<'_, '_>>,
    schema: Option<&Schema>,
) -> Option<FindingsRules> {
    let mut table = match rules {
        Some(item) => Some(item.table()?),
        None => None,
    };
    let mut get = |key| table.as_mut().and_then(|table| table.get(key));
    let at = |key, usual, item| Place {
        key,
        usual,
        item,
        // What stands nowhere in the file is told where the list was asked for.
        else_at: rules.unwrap_or(kind),
    };
    let list = at("list", "/findings", get("list"));
    let rule = at("rule", "/rule", get("rule"));
    let severity = at("severity", "/severity", get("severity"));
    let path = at("path", "/path", get("path"));
    let line = at("line", "/line", get("line"));
    let end_line = at("end_line", "/end_line", get("end_line"));
    let revision = get("revision");
    let key = at("key", KEY_USUAL, get("key"));
    if let Some(table) = table {
        table.finish();
    }

    let list_pointer = list.pointer();
    let item = schema.zip(list_pointer.as_ref()).map(|(schema, pointer)| {
        let item = item_of(schema, pointer);
        if item.is_none() {
            list.error("the schema describes no array here, with `items`");
        }
        item.map(|item| Finding { schema, item })
    });
    // Of a list that is not there nothing more is said.
    let finding = item.flatten();
    let rule_pointer = rule.pointer();
    words(&rule, rule_pointer.as_ref(), finding);
    let severity_pointer = severity.pointer();
    let severities = words(&severity, severity_pointer.as_ref(), finding);
    let location = match revision {
        Some(revision) => located(&revision, [path, line, end_line], finding).map(Some),
        None => unlocated(&[path, line, end_line]).map(|()| None),
    };
    let fields = fields(&key, location.as_ref(), finding);
    Some(FindingsRules {
        list: list_pointer?,
        rule: rule_pointer?,
        severity: severity_pointer?,
        severities: severities?,
        location: location?,
        key: fields?,
    })
}

const KEY_USUAL: &str = "rule, path, source_line, occurrence";

/// What the schema says of a finding.
#[derive(Clone, Copy)]
struct Finding<'s> {
    schema: &'s Schema,
    item: &'s Value,
}

/// A key of the table, which may be left out.
struct Place<'p, 's, 'd> {
    key: &'static str,
    usual: &'static str,
    item: Option<Item<'s, 'd>>,
    else_at: &'p Item<'s, 'd>,
}

impl Place<'_, '_, '_> {
    fn error(&self, message: &str) {
        match &self.item {
            Some(item) => item.error(message),
            None => self.else_at.error(format!(
                "`findings.{}` is \"{}\" where nothing else is said: {message}",
                self.key, self.usual
            )),
        }
    }

    fn pointer(&self) -> Option<Pointer> {
        match &self.item {
            Some(item) => item.parse(|text| Pointer::new(text)),
            None => Pointer::new(self.usual).ok(),
        }
    }

    /// The pointer, and whether the schema describes what it names.
    fn described(&self, finding: Option<Finding<'_>>) -> Option<Pointer> {
        let pointer = self.pointer()?;
        if finding.is_some_and(|finding| finding.part(&pointer).is_none()) {
            self.error("the schema describes no such member of a finding");
        }
        Some(pointer)
    }
}

impl<'s> Finding<'s> {
    fn part(self, pointer: &Pointer) -> Option<&'s Value> {
        match self.schema.described_in(self.item, pointer) {
            Described::As(part) => Some(part),
            Described::NotListed | Described::Open => None,
        }
    }
}

/// The closed list of words of a member. Keys are made of them and severities are compared by them,
/// so that a model must not bring words of its own.
fn words(
    place: &Place<'_, '_, '_>,
    pointer: Option<&Pointer>,
    finding: Option<Finding<'_>>,
) -> Option<Vec<String>> {
    let (pointer, finding) = pointer.zip(finding)?;
    let part = finding.part(pointer);
    let words = part.and_then(|part| finding.schema.words(part));
    if words.is_none() {
        place.error("the schema must list the texts that may stand here, by `enum` or `const`");
    }
    words
}

fn located(
    revision: &Item<'_, '_>,
    [path, line, end_line]: [Place<'_, '_, '_>; 3],
    finding: Option<Finding<'_>>,
) -> Option<Location> {
    let revision = form(revision);
    let (path, line) = (path.described(finding), line.described(finding));
    let end_line = match &end_line.item {
        Some(_) => Some(end_line.described(finding)?),
        // A schema without an end has none to look at.
        None => end_line
            .pointer()
            .filter(|pointer| finding.is_some_and(|finding| finding.part(pointer).is_some())),
    };
    Some(Location {
        path: path?,
        line: line?,
        end_line,
        revision: revision?,
    })
}

/// Without a revision nothing is looked at in it.
fn unlocated(places: &[Place<'_, '_, '_>]) -> Option<()> {
    let mut named = places.iter().filter_map(|place| place.item.as_ref());
    let mut none = Some(());
    for item in named.by_ref() {
        item.error(format!("this is looked up in a revision: {REVISION}"));
        none = None;
    }
    none
}

const REVISION: &str = "say what of the input holds it, such as `revision = { diff = \"diff\" }`";

fn form(item: &Item<'_, '_>) -> Option<RevisionForm> {
    let mut table = item.table()?;
    let mut name = |key| table.get(key).map(|item| item.text().map(str::to_owned));
    let (diff, files) = (name("diff"), name("files"));
    table.finish();
    match (diff, files) {
        (Some(diff), None) => diff.map(RevisionForm::Diff),
        (None, Some(files)) => files.map(RevisionForm::Files),
        (None, None) | (Some(_), Some(_)) => {
            item.error(
                "exactly one of `diff` and `files`, with the name in the input that holds it",
            );
            None
        }
    }
}

fn fields(
    place: &Place<'_, '_, '_>,
    location: Option<&Option<Location>>,
    finding: Option<Finding<'_>>,
) -> Option<Vec<KeyField>> {
    let mut fields = Vec::new();
    let Some(item) = &place.item else {
        fields.extend(
            KEY_USUAL
                .split(", ")
                .filter_map(|word| KeyField::new(word).ok()),
        );
        if location == Some(&None) {
            place.error(&format!(
                "that needs a revision: {REVISION}; or give `key` JSON Pointers into a finding"
            ));
            return None;
        }
        return Some(fields);
    };
    let items = item.array()?;
    if items.is_empty() {
        item.error("findings need something to be recognized by");
        return None;
    }
    let mut sound = true;
    for item in &items {
        let Some(field) = item.parse(KeyField::new) else {
            sound = false;
            continue;
        };
        let wrong = match &field {
            _ if fields.contains(&field) => Some("this stands here already".to_owned()),
            field if field.needs_revision() && location == Some(&None) => {
                Some(format!("this is taken from a revision: {REVISION}"))
            }
            KeyField::Member(pointer)
                if finding.is_some_and(|finding| finding.part(pointer).is_none()) =>
            {
                Some("the schema describes no such member of a finding".to_owned())
            }
            KeyField::Rule
            | KeyField::Path
            | KeyField::SourceLine
            | KeyField::Occurrence
            | KeyField::Member(_) => None,
        };
        match wrong {
            Some(message) => {
                item.error(message);
                sound = false;
            }
            None => fields.push(field),
        }
    }
    sound.then_some(fields)
}
