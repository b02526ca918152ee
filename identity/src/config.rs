//! The part of `fencepost.toml` that edge and backend must agree on: the sources.

mod fetch;
mod input;
mod preset;
mod reader;
mod scheme;
mod secrets;
mod source;
mod variables;
mod verify;

pub use fetch::{Address, Fetch, Host, NotAHost, Unplaceable};
pub use input::InputForm;
pub use preset::{preset_names, preset_text};
pub use reader::{ConfigError, ConfigErrors, Document, Item, Section};
pub use secrets::{SecretName, Secrets};
pub use source::{ContentEncoding, Filter, Senders, Source};
pub use variables::{BACKEND_URL, EDGE_SECRET};
pub use verify::{Handshake, Verify};

/// The tables of the file that only the backend reads further.
const BACKEND_TABLES: [&str; 3] = ["pipeline", "extractor", "worker"];

/// The sources of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources(Vec<Source>);

impl Sources {
    /// Reads the sources of a file, as the edge does: of pipelines it wants no more than the names.
    ///
    /// # Errors
    /// Every mistake in the sources, and every table of the file that isn't known.
    pub fn parse(text: &str) -> Result<Self, ConfigErrors> {
        let document = Document::parse(text)?;
        let mut root = document.root();
        let sources = Self::read(&mut root);
        for table in BACKEND_TABLES {
            let _read_by_the_backend = root.get(table);
        }
        root.finish();
        document.finish(Some(sources))
    }

    /// Reads the table `source` of a file whose other tables the caller reads. Mistakes are noted
    /// in the document.
    pub fn read(root: &mut Section<'_, '_>) -> Self {
        let pipelines = root.get("pipeline").and_then(|item| item.as_table());
        let is_pipeline = |name: &str| {
            let entries = pipelines.iter().flat_map(Section::entries);
            entries.into_iter().any(|(pipeline, _)| pipeline == name)
        };
        let table = root.require("source").and_then(|item| item.table());
        let mut sources: Vec<Source> = Vec::new();
        for (name, item) in table.iter().flat_map(Section::entries) {
            let Some(source) = Source::read(name, &item) else {
                continue;
            };
            if !is_pipeline(&source.pipeline) {
                item.error(format!(
                    "the pipeline `{}` is not in this file",
                    source.pipeline
                ));
            }
            if let Some(other) = sources.iter().find(|other| source.clashes_with(other)) {
                item.error(format!(
                    "shares the namespace `{}` with the source `{}`, but not its mapping, input \
                     and pipeline; give it a namespace of its own",
                    source.mapping.namespace, other.name
                ));
            }
            sources.push(source);
        }
        for (name, item) in table.iter().flat_map(Section::entries) {
            if let Some(source) = sources.iter().find(|source| source.name == name) {
                variables::check_tenants(source, &sources, &item);
                variables::check_master(source, &sources, &item);
            }
        }
        Self(sources)
    }

    /// The source of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Source> {
        self.0.iter().find(|source| source.name == name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> std::slice::Iter<'_, Source> {
        self.0.iter()
    }
}
