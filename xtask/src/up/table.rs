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
    pub(crate) review_items: u64,
    pub(crate) extractions: u64,
}

const HEAD: [&str; 7] = [
    "deliveries",
    "accepted",
    "duplicates",
    "ignored",
    "records",
    "review items",
    "extractions",
];

impl Row {
    fn numbers(&self) -> [u64; 7] {
        [
            self.deliveries,
            self.accepted,
            self.duplicates,
            self.ignored,
            self.records,
            self.review_items,
            self.extractions,
        ]
    }
}

/// The rows under a head, with their sums below.
pub(crate) fn render(rows: &[Row]) -> String {
    let sums = rows.iter().map(Row::numbers).fold([0; 7], |sums, numbers| {
        let mut added = sums;
        added
            .iter_mut()
            .zip(numbers)
            .for_each(|(sum, number)| *sum += number);
        added
    });
    let width = rows
        .iter()
        .map(|row| row.label.len())
        .chain([8])
        .max()
        .unwrap_or(8);
    let head = HEAD.map(str::to_owned);
    let lines = iter::once(line("delivered", width, &head))
        .chain(
            rows.iter()
                .map(|row| line(&row.label, width, &row.numbers().map(text))),
        )
        .chain(iter::once(line("together", width, &sums.map(text))));
    lines.collect::<Vec<_>>().join("\n")
}

fn text(number: u64) -> String {
    number.to_string()
}

fn line(label: &str, width: usize, cells: &[String; 7]) -> String {
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

    fn row(label: &str, accepted: u64, ignored: u64) -> Row {
        Row {
            label: label.to_owned(),
            deliveries: 11,
            accepted,
            duplicates: 10 * accepted,
            ignored,
            records: accepted,
            review_items: 0,
            extractions: accepted,
        }
    }

    #[test]
    fn columns_stand_under_their_heads_and_are_added_up() {
        let table = render(&[
            row("a.json", 1, 0),
            row("longer.json", 0, 11),
            row("b", 1, 0),
        ]);
        let expected = "\
delivered    deliveries  accepted  duplicates  ignored  records  review items  extractions
a.json               11         1          10        0        1             0            1
longer.json          11         0           0       11        0             0            0
b                    11         1          10        0        1             0            1
together             33         2          20       11        2             0            2";
        assert_eq!(table, expected);
    }
}
