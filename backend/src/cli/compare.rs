//! `compare`: several extractors asked about the same stored inputs, as a worker would ask and
//! judge, with nothing stored.

mod agreement;
mod print;
mod tally;

use clap::Args;
use fencepost_identity::key::{CallKey, ClaimKey, ReportKey};
use serde::Serialize;
use tokio::task::JoinSet;

use self::{
    agreement::{Agreement, Said},
    tally::{Tally, Tried},
};
use super::{
    CliError, Verdict,
    output::{self, Shape, ShapeFlag},
    read::open,
};
use crate::{
    app,
    clock::UnixMillis,
    config::{Environment, Pipeline, Project, ProviderKeys, process_environment},
    store::StoredInput,
    worker,
};

/// How many inputs are held at a time.
const PAGE: u32 = 20;

/// `compare`
#[derive(Debug, Args)]
pub(super) struct Compare {
    /// The pipeline that all of them answer for: its prompt, its schema, its rules.
    #[arg(long, value_name = "NAME")]
    pipeline: String,
    /// The extractors, with commas between them.
    #[arg(long, value_name = "NAMES", required = true, value_delimiter = ',')]
    extractors: Vec<String>,
    /// About how many reports they are asked: the newest that have an input.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    #[command(flatten)]
    shape: ShapeFlag,
}

/// What came of it.
#[derive(Serialize)]
struct Comparison {
    pipeline: String,
    /// How many reports there were to ask about.
    reports: u64,
    extractors: Vec<Tally>,
    pairs: Vec<Agreement>,
}

/// One of those that are compared.
struct Candidate {
    pipeline: worker::Pipeline,
    /// What its questions are keyed by.
    version: String,
}

impl Compare {
    pub(super) async fn run(self) -> Result<Verdict, CliError> {
        let mut environment = Environment::new(&process_environment);
        let project = Project::read(&mut environment);
        let mut project = std::mem::take(&mut environment.errors).or(project)?;
        project.pipelines = self.candidates(&project)?;
        let keys = ProviderKeys::of_extractors(&mut environment, &project);
        let keys = environment.errors.or(Some(keys))?;
        let mut comparison = self.begin(&project);
        // Whatever keeps one of them from being asked is told before any is.
        let pipelines = app::unbound(project, &keys)?;
        let now = UnixMillis::of_this_machine();
        let candidates: Vec<Candidate> = pipelines
            .into_iter()
            .zip(&self.extractors)
            .map(|(pipeline, name)| Candidate::new(pipeline, name, now))
            .collect();
        self.ask(&mut comparison, candidates).await?;
        if comparison.reports == 0 {
            output::complain(&format!(
                "no stored report of the pipeline `{}` has an input to ask about",
                self.pipeline
            ));
            return Ok(Verdict::No);
        }
        match self.shape.shape() {
            Shape::Json => output::json(&comparison),
            Shape::Table => print::print(&comparison),
        }
        Ok(Verdict::Done)
    }

    /// The pipeline as it would be with each of the extractors.
    fn candidates(&self, project: &Project) -> Result<Vec<Pipeline>, CliError> {
        let mut pipelines = project.pipelines.iter();
        let Some(pipeline) = pipelines.find(|it| it.name == self.pipeline) else {
            let known = project.pipelines.iter().map(|it| it.name.as_str());
            return Err(unknown("pipeline", &self.pipeline, known));
        };
        let mut candidates: Vec<Pipeline> = Vec::new();
        for name in &self.extractors {
            if !project.extractors.contains_key(name) {
                let known = project.extractors.keys().map(String::as_str);
                return Err(unknown("extractor", name, known));
            }
            if candidates.iter().any(|it| it.extractor == *name) {
                return Err(CliError::Usage(format!("`{name}` is named twice")));
            }
            candidates.push(Pipeline {
                extractor: name.clone(),
                ..pipeline.clone()
            });
        }
        Ok(candidates)
    }

    fn begin(&self, project: &Project) -> Comparison {
        let names = &self.extractors;
        let pairs = names.iter().enumerate().flat_map(|(n, first)| {
            let others = names.iter().skip(n + 1);
            others.map(move |second| Agreement::new(first, second))
        });
        let tally = |name: &String| Tally::new(name, project.prices.get(name).cloned());
        Comparison {
            pipeline: self.pipeline.clone(),
            reports: 0,
            extractors: names.iter().map(tally).collect(),
            pairs: pairs.collect(),
        }
    }

    /// Goes through the inputs, page by page. Nothing is written to the database, and while a model
    /// is asked nothing is read either.
    async fn ask(
        &self,
        comparison: &mut Comparison,
        mut candidates: Vec<Candidate>,
    ) -> Result<(), CliError> {
        let store = open().await?;
        let mut left = self.limit;
        let mut after = None;
        while left > 0 {
            let page = store
                .inputs(self.pipeline.clone(), after, left.min(PAGE))
                .await?;
            for row in &page.unreadable {
                output::complain(&format!("corrupt row: {row}"));
            }
            for input in page.inputs {
                left -= 1;
                let (back, tried) = ask_all(candidates, &input).await?;
                candidates = back;
                comparison.count(input.key, tried);
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        store.close().await;
        Ok(())
    }
}

fn unknown<'n>(table: &str, name: &str, known: impl Iterator<Item = &'n str>) -> CliError {
    let known: Vec<&str> = known.collect();
    CliError::Usage(format!(
        "there is no table [{table}.{name}] in the configuration; known: {}",
        known.join(", ")
    ))
}

impl Comparison {
    /// Counts what each made of one report.
    fn count(&mut self, report: ReportKey, tried: Vec<Tried>) {
        self.reports += 1;
        let counted = self.extractors.iter_mut().zip(tried);
        let said: Vec<Option<Said>> = counted
            .map(|(tally, tried)| Said::of(tally.count(tried)?))
            .collect();
        let mut pairs = self.pairs.iter_mut();
        for (n, first) in said.iter().enumerate() {
            // The pairs stand in the order in which they are gone through here.
            for second in said.iter().skip(n + 1) {
                let Some(pair) = pairs.next() else { return };
                if let (Some(first), Some(second)) = (first, second) {
                    pair.count(report, first, second);
                }
            }
        }
    }
}

impl Candidate {
    fn new(pipeline: worker::Pipeline, name: &str, now: UnixMillis) -> Self {
        // A provider that knows a key again may hand out the answer that it gave before. So these
        // keys are of a version that no pipeline can have, since versions have no spaces: a trial
        // never gets the answer of a real question, nor the other way round, nor that of an
        // earlier trial.
        let version = format!("compared as {name} at {}", now.get());
        Self { pipeline, version }
    }

    async fn ask(&self, report: ReportKey, input: &[u8]) -> Tried {
        if let Some(refusal) = self.pipeline.judge.refuse(input) {
            return Tried::NotAsked(refusal.outcome);
        }
        let call_key = CallKey::of(&ClaimKey::of(&report, &self.version), 1);
        let question = self.pipeline.first_question(call_key, input);
        Tried::Asked(Box::new(self.pipeline.try_out(&question).await))
    }
}

/// Asks all of them at once about one input, and gives their answers in their order.
async fn ask_all(
    candidates: Vec<Candidate>,
    input: &StoredInput,
) -> Result<(Vec<Candidate>, Vec<Tried>), CliError> {
    let mut asked = JoinSet::new();
    for (n, candidate) in candidates.into_iter().enumerate() {
        let StoredInput { key, input } = input.clone();
        asked.spawn(async move {
            let tried = candidate.ask(key, &input).await;
            (n, candidate, tried)
        });
    }
    let mut answers = Vec::new();
    while let Some(answer) = asked.join_next().await {
        answers.push(answer.map_err(|error| CliError::Failed(error.to_string()))?);
    }
    answers.sort_by_key(|(n, ..)| *n);
    let answers = answers
        .into_iter()
        .map(|(_, candidate, tried)| (candidate, tried));
    Ok(answers.unzip())
}
