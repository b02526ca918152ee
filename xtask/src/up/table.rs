//! What was delivered and what came of it, for people.

use std::iter;

/// One line of the table: what was delivered, and the numbers in the order of [`HEAD`].
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) deliveries: u64,
    pub(crate) accepted: u64,
    pub(crate) duplicates: u64,
    pub(crate) ignored: u64,
    pub(crate) records: u64,
    /// None where a record is no list.
    pub(crate) findings: Option<u64>,
    pub(crate) review_items: u64,
    pub(crate) extractions: u64,
}

const HEAD: [&str; 8] = [
    "deliveries",
    "accepted",
    "duplicates",
    "ignored",
    "records",
    "findings",
    "review items",
    "extractions",
];

impl Row {
    fn numbers(&self) -> [Option<u64>; 8] {
        [
            Some(self.deliveries),
            Some(self.accepted),
            Some(self.duplicates),
            Some(self.ignored),
            Some(self.records),
            self.findings,
            Some(self.review_items),
            Some(self.extractions),
        ]
    }
}

/// The rows under a head, with their sums below.
pub(crate) fn render(rows: &[Row]) -> String {
    let mut sums = [0; 8];
    for row in rows {
        for (sum, number) in sums.iter_mut().zip(row.numbers()) {
            *sum += number.unwrap_or(0);
        }
    }
    let width = rows
        .iter()
        .map(|row| row.label.len())
        .chain(["delivered".len()])
        .max()
        .unwrap_or(0);
    let head = HEAD.map(str::to_owned);
    let lines = iter::once(line("delivered", width, &head))
        .chain(
            rows.iter()
                .map(|row| line(&row.label, width, &row.numbers().map(text))),
        )
        .chain(iter::once(line(
            "together",
            width,
            &sums.map(|sum| text(Some(sum))),
        )));
    lines.collect::<Vec<_>>().join("\n")
}

fn text(number: Option<u64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

fn line(label: &str, width: usize, cells: &[String; 8]) -> String {
    let mut line = format!("{label:width$}");
    for (cell, head) in cells.iter().zip(HEAD) {
        let column = head.len();
        line.push_str(&format!("  {cell:>column$}"));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(label: &str, accepted: u64, ignored: u64, findings: Option<u64>) -> Row {
        Row {
            label: label.to_owned(),
            deliveries: 11,
            accepted,
            duplicates: 10 * accepted,
            ignored,
            records: accepted,
            findings,
            review_items: 0,
            extractions: accepted,
        }
    }

    #[test]
    fn columns_stand_under_their_heads_and_are_added_up() {
        let table = render(&[
            row("a.json", 1, 0, Some(2)),
            row("long.json", 0, 11, None),
            row("b", 1, 0, Some(1)),
        ]);
        let expected = "\
delivered  deliveries  accepted  duplicates  ignored  records  findings  review items  extractions
a.json             11         1          10        0        1         2             0            1
long.json          11         0           0       11        0                       0            0
b                  11         1          10        0        1         1             0            1
together           33         2          20       11        2         3             0            2";
        assert_eq!(table, expected);
    }
}
