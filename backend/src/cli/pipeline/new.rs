//! `pipeline new`: the files and tables of an example.
//!
//! Nothing that is there is written over: files are made or the command ends, and to a
//! configuration that is there tables are only added, once it is known that the whole can be used.

use std::{
    fs,
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use clap::Args;
use fencepost_identity::config::Secrets;

use crate::{
    cli::{CliError, Verdict, output},
    config::{
        Environment, ExtractorConfig, FILE_DEFAULT, Project, check_name, process_environment,
    },
    extractor::code_baseline::DIFF_DEFAULT,
};

const MODEL: &str = include_str!("example/model.toml");
const MANIFEST: &str = include_str!("example/spin.toml");

/// The texts of one kind of example.
struct Template {
    schema: &'static str,
    prompt: &'static str,
    payload: &'static str,
    tables: &'static str,
    /// The table of the extractor that needs no key.
    extractor: &'static str,
    /// Its name, where none of its kind is there yet.
    keyless: &'static str,
    /// Whether an extractor that is there is of its kind.
    is_keyless: fn(&ExtractorConfig) -> bool,
}

/// One record of each text.
const CLASSIFICATION: Template = Template {
    schema: include_str!("example/schema.json"),
    prompt: include_str!("example/prompt.md"),
    payload: include_str!("example/payload.json"),
    tables: include_str!("example/tables.toml"),
    extractor: include_str!("example/extractor.toml"),
    keyless: "baseline",
    is_keyless: |config| matches!(config, ExtractorConfig::Baseline),
};

/// A list of findings in each diff.
const FINDINGS: Template = Template {
    schema: include_str!("example/findings/schema.json"),
    prompt: include_str!("example/findings/prompt.md"),
    payload: include_str!("example/findings/payload.json"),
    tables: include_str!("example/findings/tables.toml"),
    extractor: include_str!("example/findings/extractor.toml"),
    keyless: "code",
    is_keyless: |config| {
        let usual = DIFF_DEFAULT.to_owned();
        *config == ExtractorConfig::CodeBaseline { diff: usual }
    },
};

const MANIFEST_FILE: &str = "spin.toml";

/// `pipeline new`
#[derive(Debug, Args)]
pub(in crate::cli) struct New {
    /// The name of the pipeline, and of its source: 1 to 64 of a-z 0-9 - _.
    name: String,
    /// The folder of fencepost.toml. Without it: the file that FENCEPOST_CONFIG names, or the one
    /// here.
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// An example that makes a list of findings of a diff, in place of one record of a text.
    #[arg(long)]
    findings: bool,
}

/// What is to be written.
struct Example {
    name: String,
    template: &'static Template,
    /// The variable of its sender's secret.
    variable: String,
    /// The configuration that the tables are for, and its folder.
    config: PathBuf,
    folder: PathBuf,
    before: Before,
}

/// The configuration as it was found.
enum Before {
    Nothing,
    /// A usable one.
    File {
        text: String,
        project: Box<Project>,
    },
}

impl New {
    pub(super) fn run(self) -> Result<Verdict, CliError> {
        check_name(&self.name)
            .map_err(|what| CliError::Usage(format!("`{}`: {what}", self.name)))?;
        let config = match &self.folder {
            Some(folder) => folder.join(FILE_DEFAULT),
            None => Project::file_of(&Environment::new(&process_environment)),
        };
        let template = match self.findings {
            true => &FINDINGS,
            false => &CLASSIFICATION,
        };
        let example = Example::new(self.name, template, config)?;
        let tables = example.tables()?;
        let manifest = example.manifest()?;
        let mut written = Written::default();
        match example.write(&tables, &manifest, &mut written) {
            Ok(()) => {
                written.tell(&example);
                example.tell_what_follows(&manifest);
                Ok(Verdict::Done)
            }
            Err(error) => {
                written.take_back();
                Err(error)
            }
        }
    }
}

impl Example {
    fn new(name: String, template: &'static Template, config: PathBuf) -> Result<Self, CliError> {
        let before = match fs::read_to_string(&config) {
            Ok(text) => Before::File {
                project: Box::new(Project::of_text(&config, &text)?),
                text,
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Before::Nothing,
            Err(error) => return Err(refused(&config, &error)),
        };
        let folder = config.parent().unwrap_or(Path::new("")).to_owned();
        Ok(Self {
            variable: variable(&name),
            name,
            template,
            config,
            folder,
            before,
        })
    }

    /// The tables, of which none may be there.
    fn tables(&self) -> Result<String, CliError> {
        let Template {
            tables,
            extractor,
            keyless,
            is_keyless,
            ..
        } = self.template;
        let Before::File { text, project } = &self.before else {
            return Ok(self.fill(tables, keyless) + extractor + MODEL);
        };
        let there = |table: &str, name: &str| {
            let file = self.config.display();
            CliError::Usage(format!("{file}: [{table}.{name}] is there already"))
        };
        if project.sources.get(&self.name).is_some() {
            return Err(there("source", &self.name));
        }
        if project.pipelines.iter().any(|it| it.name == self.name) {
            return Err(there("pipeline", &self.name));
        }
        if project.secret_variables().contains(&self.variable) {
            return Err(CliError::Usage(format!(
                "{}: a source has the secret `{}` already",
                self.config.display(),
                self.variable
            )));
        }
        let mut extractors = project.extractors.iter();
        let tables = match extractors.find(|(_, config)| is_keyless(config)) {
            Some((name, _)) => self.fill(tables, name),
            None if project.extractors.contains_key(*keyless) => {
                return Err(there("extractor", keyless));
            }
            None => self.fill(tables, keyless) + extractor,
        };
        let line_ending = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        Ok(format!("{line_ending}\n{tables}"))
    }

    /// The edge's manifest, where neither it nor a configuration was there: another configuration
    /// may name secrets that only its owner knows what to do about.
    fn manifest(&self) -> Result<Option<String>, CliError> {
        let there = exists(&self.folder.join(MANIFEST_FILE))?;
        let config = self.config.file_name().unwrap_or_default();
        Ok(match (&self.before, there) {
            (Before::Nothing, false) => Some(
                self.fill(MANIFEST, self.template.keyless)
                    .replace("CONFIG", &config.to_string_lossy()),
            ),
            (Before::Nothing, true) | (Before::File { .. }, _) => None,
        })
    }

    fn fill(&self, template: &str, extractor: &str) -> String {
        template
            .replace("EXTRACTOR", extractor)
            .replace("VARIABLE", &self.variable)
            .replace("EXAMPLE", &self.name)
    }

    /// The folder of the example's own files, as the configuration names it.
    fn own_folder(&self) -> String {
        format!("pipelines/{}", self.name)
    }

    fn write(
        &self,
        tables: &str,
        manifest: &Option<String>,
        written: &mut Written,
    ) -> Result<(), CliError> {
        let own = self.folder.join(self.own_folder());
        let files = [
            (own.join("schema.json"), self.template.schema),
            (own.join("prompt.md"), self.template.prompt),
            (own.join("payload.json"), self.template.payload),
        ];
        // All that is in the way is told before anything is written.
        for (file, _) in &files {
            if exists(file)? {
                return Err(in_the_way(file));
            }
        }
        fs::create_dir_all(&own).map_err(|error| refused(&own, &error))?;
        for (file, text) in files {
            written.make(file, &self.fill(text, self.template.keyless))?;
        }
        let whole = match &self.before {
            Before::Nothing => tables.to_owned(),
            Before::File { text, .. } => format!("{text}{tables}"),
        };
        let project = Project::of_text(&self.config, &whole)?;
        self.check_variable(&project)?;
        if let Some(manifest) = manifest {
            written.make(self.folder.join(MANIFEST_FILE), manifest)?;
        }
        match &self.before {
            Before::Nothing => written.make(self.config.clone(), tables),
            Before::File { .. } => append(&self.config, tables),
        }
    }

    /// That what was added is what will be read.
    fn check_variable(&self, project: &Project) -> Result<(), CliError> {
        let source = project.sources.get(&self.name);
        let named = source.is_some_and(|source| match &source.secrets {
            Secrets::Named(names) => names.iter().any(|name| name.variable == self.variable),
            Secrets::PerTenant(_) | Secrets::DerivedFrom(_) => false,
        });
        match named {
            true => Ok(()),
            false => Err(CliError::Failed(format!(
                "{}: the tables of `{}` can't be added to it",
                self.config.display(),
                self.name
            ))),
        }
    }

    fn tell_what_follows(&self, manifest: &Option<String>) {
        let Self { name, variable, .. } = self;
        let payload = self.folder.join(self.own_folder()).join("payload.json");
        output::line("");
        output::line("next:");
        output::line("  see what becomes of a payload; nothing is stored, and no key is needed:");
        output::line(&format!(
            "    fencepost pipeline try {name} {}",
            output::printable(&payload.display().to_string())
        ));
        if manifest.is_none() {
            output::line("  tell the edge of its sender's secret, in spin.toml:");
            output::line(&format!(
                "    [variables]                 {variable} = {{ required = true, secret = true }}"
            ));
            output::line(&format!(
                "    [component.edge.variables]  {variable} = \"{{{{ {variable} }}}}\""
            ));
        }
        let upper = variable.to_ascii_uppercase();
        output::line("  choose the secret of its sender, start, and deliver: docs/pipelines.md");
        output::line(&format!(
            "    export SPIN_VARIABLE_{upper}=whsec_$(head -c 32 /dev/urandom | base64)"
        ));
    }
}

/// What was made so far.
#[derive(Default)]
struct Written(Vec<PathBuf>);

impl Written {
    fn make(&mut self, path: PathBuf, text: &str) -> Result<(), CliError> {
        let mut file = match fs::File::create_new(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(in_the_way(&path));
            }
            Err(error) => return Err(refused(&path, &error)),
        };
        let done = file.write_all(text.as_bytes());
        let told = done.map_err(|error| refused(&path, &error));
        self.0.push(path);
        told
    }

    /// Half an example helps nobody. What can't be removed stays, and is in the way the next time.
    fn take_back(self) {
        for path in self.0 {
            drop(fs::remove_file(path));
        }
    }

    fn tell(&self, example: &Example) {
        for path in &self.0 {
            let path = path.display().to_string();
            output::line(&format!("wrote {}", output::printable(&path)));
        }
        if let Before::File { .. } = example.before {
            let config = example.config.display().to_string();
            let name = &example.name;
            output::line(&format!(
                "added to {}: [source.{name}], [pipeline.{name}]",
                output::printable(&config)
            ));
        }
    }
}

/// A variable of Spin's, whose name is of letters, digits and single `_`, and begins with a letter.
fn variable(name: &str) -> String {
    let words = name.split(['-', '_']).filter(|word| !word.is_empty());
    let mut words: Vec<&str> = words.chain(["secret"]).collect();
    if !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        words.insert(0, "pipeline");
    }
    words.join("_")
}

fn exists(path: &Path) -> Result<bool, CliError> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(refused(path, &error)),
    }
}

/// Adds to the end of a file, all or nothing; what is there is not touched.
fn append(path: &Path, text: &str) -> Result<(), CliError> {
    let add = || {
        let mut file = fs::OpenOptions::new().append(true).open(path)?;
        let bytes = file.metadata()?.len();
        let added = file.write_all(text.as_bytes());
        if added.is_err() {
            file.set_len(bytes)?;
        }
        added
    };
    add().map_err(|error| refused(path, &error))
}

fn in_the_way(path: &Path) -> CliError {
    CliError::Usage(format!(
        "{} is there already: nothing was written",
        path.display()
    ))
}

fn refused(path: &Path, error: &std::io::Error) -> CliError {
    CliError::Failed(format!("{}: {error}", path.display()))
}
