//! `fencepost.toml`: sources, pipelines, extractors and the files that they name.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use fencepost_identity::config::{
    Document, Fetch, Handshake, InputForm, Secrets, Section, Source, Sources,
};

use super::{
    ConfigErrors, Environment,
    extractor::ExtractorConfig,
    pipeline::{Pipeline, check_name},
    price::Price,
    worker::WorkerConfig,
};
use crate::worker::Limits;

/// What the file is called when nothing else is said.
pub const FILE_DEFAULT: &str = "fencepost.toml";

/// What the file says, checked, with the files that it names.
#[derive(Debug)]
pub struct Project {
    /// Where the file is.
    pub file: PathBuf,
    /// The sources, which the edge reads alike.
    pub sources: Sources,
    /// The pipelines in the order of the file.
    pub pipelines: Vec<Pipeline>,
    /// The extractors by name.
    pub extractors: BTreeMap<String, ExtractorConfig>,
    /// How much a process asks each of them.
    pub limits: BTreeMap<String, Limits>,
    /// What their providers take, where the file says so.
    pub prices: BTreeMap<String, Price>,
    /// How a process works on reports, and ends.
    pub worker: WorkerConfig,
}

impl Project {
    /// Reads the file that `FENCEPOST_CONFIG` names.
    pub fn read(environment: &mut Environment<'_>) -> Option<Self> {
        match Self::load(&Self::file_of(environment)) {
            Ok(project) => Some(project),
            Err(errors) => {
                environment.errors.append(errors);
                None
            }
        }
    }

    /// The file that `FENCEPOST_CONFIG` names, or `fencepost.toml` here.
    #[must_use]
    pub fn file_of(environment: &Environment<'_>) -> PathBuf {
        let named = environment.text("FENCEPOST_CONFIG");
        named.map_or_else(|| PathBuf::from(FILE_DEFAULT), PathBuf::from)
    }

    /// Reads a file; the paths in it start from its folder.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn load(file: &Path) -> Result<Self, ConfigErrors> {
        let text = std::fs::read_to_string(file).map_err(|error| {
            let mut errors = ConfigErrors::default();
            errors.push(format!("{} can't be read: {error}", file.display()));
            errors
        })?;
        Self::of_text(file, &text)
    }

    /// Reads what a file says, or would say.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn of_text(file: &Path, text: &str) -> Result<Self, ConfigErrors> {
        Self::parse(file, text).map_err(|mistakes| {
            let mut errors = ConfigErrors::default();
            for mistake in mistakes.0 {
                errors.push(format!("{}: {mistake}", file.display()));
            }
            errors
        })
    }

    fn parse(file: &Path, text: &str) -> Result<Self, fencepost_identity::config::ConfigErrors> {
        let document = Document::parse(text)?;
        let mut root = document.root();
        let sources = Sources::read(&mut root);
        let extractors = extractors(&mut root);
        let worker = WorkerConfig::read(&mut root);
        let folder = file.parent().unwrap_or(Path::new(""));
        let pipelines = pipelines(&mut root, folder);
        revisions(&mut root, &sources, &pipelines);
        diffs(&mut root, &sources, &pipelines, &extractors.configs);
        root.finish();
        document.finish(Some(Self {
            file: file.to_owned(),
            sources,
            pipelines,
            extractors: extractors.configs,
            limits: extractors.limits,
            prices: extractors.prices,
            worker: worker.unwrap_or_default(),
        }))
    }

    /// The sources whose content is fetched, and how, as far as their pipelines are here.
    pub fn fetched(&self) -> impl Iterator<Item = (&str, &Fetch)> {
        let leads = |source: &&Source| {
            let mut pipelines = self.pipelines.iter();
            pipelines.any(|pipeline| pipeline.name == source.pipeline)
        };
        let sources = self.sources.iter().filter(leads);
        sources.filter_map(|source| Some((source.name.as_str(), source.input.fetch()?)))
    }

    /// Each pipeline with its classifier version.
    #[must_use]
    pub fn versions(&self) -> Vec<(String, String)> {
        let pipelines = self.pipelines.iter();
        pipelines
            .map(|p| (p.name.clone(), p.classifier_version.clone()))
            .collect()
    }

    /// The most bytes that a delivery of any source may have.
    #[must_use]
    pub fn body_bytes_max(&self) -> usize {
        self.sources
            .iter()
            .map(|source| source.max_body_bytes)
            .max()
            .unwrap_or(0)
    }

    /// The variables with secrets that sources name and that one name stands for, each once; the
    /// tokens of handshakes are among them. Those with a tenant in their name are not: the file
    /// does not know the tenants.
    #[must_use]
    pub fn secret_variables(&self) -> Vec<String> {
        let secrets = self
            .sources
            .iter()
            .flat_map(|source| match &source.secrets {
                Secrets::Named(names) => names.iter().map(|name| name.variable.clone()).collect(),
                Secrets::DerivedFrom(variable) => vec![variable.clone()],
                Secrets::PerTenant(_) => Vec::new(),
            });
        let tokens = self.sources.iter().filter_map(|source| {
            let handshake = source.verify.handshake.as_ref();
            handshake.and_then(Handshake::token_variable)
        });
        let mut names: Vec<String> = secrets.chain(tokens.map(str::to_owned)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// What the tables of the extractors say, by their names.
#[derive(Default)]
struct Extractors {
    configs: BTreeMap<String, ExtractorConfig>,
    limits: BTreeMap<String, Limits>,
    prices: BTreeMap<String, Price>,
}

fn extractors(root: &mut Section<'_, '_>) -> Extractors {
    let mut extractors = Extractors::default();
    let table = root.require("extractor").and_then(|item| item.table());
    for (name, item) in table.iter().flat_map(Section::entries) {
        if let Err(message) = check_name(name) {
            item.error(message);
        }
        let Some((config, limits, price)) = ExtractorConfig::read(&item) else {
            continue;
        };
        extractors.configs.insert(name.to_owned(), config);
        extractors.limits.insert(name.to_owned(), limits);
        extractors
            .prices
            .extend(price.map(|price| (name.to_owned(), price)));
    }
    extractors
}

fn pipelines(root: &mut Section<'_, '_>, folder: &Path) -> Vec<Pipeline> {
    // The names of all tables, so that one bad extractor is not told again for each pipeline.
    let extractors = root.get("extractor").and_then(|item| item.as_table());
    let names: Vec<&str> = extractors
        .iter()
        .flat_map(Section::entries)
        .map(|(n, _)| n)
        .collect();
    let table = root.require("pipeline").and_then(|item| item.table());
    let entries = table.iter().flat_map(Section::entries);
    entries
        .filter_map(|(name, item)| Pipeline::read(name, &item, folder, &names))
        .collect()
}

/// Whether each source has in its input the revision that its pipeline looks findings up in.
fn revisions(root: &mut Section<'_, '_>, sources: &Sources, pipelines: &[Pipeline]) {
    let table = root.get("source").and_then(|item| item.as_table());
    for (name, item) in table.iter().flat_map(Section::entries) {
        let Some(source) = sources.get(name) else {
            continue;
        };
        let pipeline = pipelines.iter().find(|it| it.name == source.pipeline);
        let Some(revision) = pipeline.and_then(Pipeline::revision) else {
            continue;
        };
        if !brings(source, revision.name()) {
            let (name, pipeline, word) = (revision.name(), &source.pipeline, revision.word());
            let input = item.as_table().and_then(|mut table| table.get("input"));
            input.unwrap_or(item).error(format!(
                "the pipeline `{pipeline}` needs the reviewed revision, `{name}` in the input: add \
                 `{name}` here, or name another member by `revision = {{ {word} = … }}` in \
                 [pipeline.{pipeline}.findings]"
            ));
        }
    }
}

/// Whether each source has in its input what its pipeline's extractor reads.
fn diffs(
    root: &mut Section<'_, '_>,
    sources: &Sources,
    pipelines: &[Pipeline],
    extractors: &BTreeMap<String, ExtractorConfig>,
) {
    let table = root.get("source").and_then(|item| item.as_table());
    for (name, item) in table.iter().flat_map(Section::entries) {
        let Some(source) = sources.get(name) else {
            continue;
        };
        let pipeline = pipelines.iter().find(|it| it.name == source.pipeline);
        let Some(extractor) = pipeline.map(|pipeline| pipeline.extractor.as_str()) else {
            continue;
        };
        let Some(ExtractorConfig::CodeBaseline { diff }) = extractors.get(extractor) else {
            continue;
        };
        if !brings(source, diff) {
            let input = item.as_table().and_then(|mut table| table.get("input"));
            input.unwrap_or(item).error(format!(
                "the extractor `{extractor}` reads `{diff}` of the input: add `{diff}` here, or \
                 name another member by `diff` in [extractor.{extractor}]"
            ));
        }
    }
}

/// Whether the input of a source's reports has a member of this name.
fn brings(source: &Source, name: &str) -> bool {
    match &source.input {
        InputForm::Forwarded(members) => members.iter().any(|(member, _)| member == name),
        InputForm::Reference(fetch) => fetch.name == name,
    }
}
