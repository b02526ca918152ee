//! What reports are about, read for those who judge or ask about them again.

use async_trait::async_trait;
use fencepost_identity::key::ReportKey;

use super::{NEWEST, PAGE_LENGTH_MAX, page};
use crate::store::{
    Cursor, InputPage, StoreError, StoredInput,
    operation::Reading,
    row::Row,
    session::{Session, statement},
    sql,
};

/// What a report is about.
pub(in crate::store) struct Input(pub(in crate::store) ReportKey);

#[async_trait]
impl Reading for Input {
    type Found = Option<Vec<u8>>;

    async fn run(&self, session: &mut Session<'_>) -> Result<Self::Found, StoreError> {
        let input = statement(sql::INPUT).bind(self.0.as_bytes());
        let row = session.row(input).await?;
        let input = row.map(|row| Row::new(&row, self.0).bytes("report.input"));
        // What was erased is empty, and no input that was accepted is.
        Ok(input.transpose()?.filter(|input| !input.is_empty()))
    }
}

/// A page of what a pipeline's reports have a model asked about.
pub(in crate::store) struct Inputs {
    pub(in crate::store) pipeline: String,
    pub(in crate::store) after: Option<Cursor>,
    pub(in crate::store) limit: u32,
}

#[async_trait]
impl Reading for Inputs {
    type Found = InputPage;

    async fn run(&self, session: &mut Session<'_>) -> Result<InputPage, StoreError> {
        let limit = self.limit.clamp(1, PAGE_LENGTH_MAX);
        let after = self.after.unwrap_or(NEWEST);
        let inputs = statement(sql::INPUTS)
            .bind(&self.pipeline)
            .bind(after.at.get())
            .bind(after.key.as_bytes())
            .bind(i64::from(limit) + 1);
        let rows = session.rows(inputs).await?;
        let page = page(rows, limit, "report.received_ms", stored_input)?;
        Ok(InputPage {
            inputs: page.read,
            unreadable: page.unreadable,
            next: page.next,
        })
    }
}

fn stored_input(row: &Row<'_>) -> Result<StoredInput, StoreError> {
    Ok(StoredInput {
        key: row.digest("report.report_key", ReportKey::from_bytes)?,
        input: row.bytes("report.input")?,
    })
}
