//! The files that a pipeline names.

use std::{path::Path, sync::Arc};

use fencepost_identity::config::Item;

use crate::schema::Schema;

pub(super) fn schema(item: &Item<'_, '_>, folder: &Path) -> Option<Arc<Schema>> {
    item.parse(|path| {
        let bytes = read(folder, path)?;
        Schema::compile(&bytes)
            .map(Arc::new)
            .map_err(|error| format!("{path}: {error}"))
    })
}

pub(super) fn prompt(item: &Item<'_, '_>, folder: &Path) -> Option<String> {
    item.parse(|path| {
        let text = String::from_utf8(read(folder, path)?);
        let text = text.map_err(|_| format!("{path} is not UTF-8"))?;
        if text.trim().is_empty() {
            Err(format!("{path} is empty"))
        } else {
            Ok(text)
        }
    })
}

fn read(folder: &Path, path: &str) -> Result<Vec<u8>, String> {
    let file = folder.join(path);
    std::fs::read(&file).map_err(|error| format!("{} can't be read: {error}", file.display()))
}
