//! `up`: a running fencepost, and a proof that it makes one record of many deliveries.

pub(crate) mod admin;
pub(crate) mod children;
pub(crate) mod deliver;
mod manifest;
mod origin;
mod project;
pub(crate) mod stage;
mod table;

use std::collections::BTreeSet;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use crate::model::{self, Model, Server};
use crate::process::on_path;
use crate::programs::Programs;
use admin::{Admin, Report};
use children::Events;
use deliver::{Answers, Becomes, Courier, Sample};
use origin::Origin;
use stage::{Backend, Edge, Runner, Secrets, database_url, free, new_folder};
use table::Row;

/// More than the baseline extractor ever needs for a handful of reports.
const SETTLE_LIMIT: Duration = Duration::from_secs(60);
/// More than a model needs for one after the other, on a machine that is busy besides.
const SETTLE_LIMIT_MODEL: Duration = Duration::from_secs(900);
/// As the shipped pipeline says.
pub(crate) const ATTEMPTS_MAX: u64 = 3;

/// What follows the proof.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// It keeps running until Ctrl-C.
    Stay,
    Stop,
}

/// Who is asked about the reports.
pub(crate) enum Extractor {
    /// The one that each pipeline's shipped configuration names.
    Baseline,
    Model(Model),
}

/// What the caller may choose.
pub(crate) struct Options {
    pub(crate) then: Then,
    pub(crate) extractor: Extractor,
    /// Where the edge listens.
    pub(crate) listen: Option<SocketAddr>,
    pub(crate) spin: Option<PathBuf>,
}

/// What stands behind the URLs that are printed at the end.
pub(crate) struct Running {
    edge: Edge,
    backend: Backend,
    /// After the backend, which asks it.
    pub(crate) model: Option<Server>,
    secrets: Secrets,
    origin: Origin,
    /// The configuration, database and logs of this run.
    pub(crate) folder: PathBuf,
}

/// Starts, delivers, proves, and says where to look.
pub(crate) fn run(root: &Path, programs: &Programs, options: &Options) -> Result<()> {
    let events = Events::new()?;
    let running = start(root, programs, options, &events)?;
    let keys = prove(root, programs, &running, &events)
        .with_context(|| format!("database and logs stand in {}", running.folder.display()))?;
    match options.then {
        Then::Stop => running.clear_away()?,
        Then::Stay => {
            println!("\n{}", where_to_look(programs, &running, &keys));
            events.until_interrupted()?;
            println!(
                "\nStopping. Database and logs stay in {}",
                running.folder.display()
            );
        }
    }
    Ok(())
}

/// Starts all of it, each program after what it needs.
pub(crate) fn start(
    root: &Path,
    programs: &Programs,
    options: &Options,
    events: &Events,
) -> Result<Running> {
    let runner = match options.spin.clone().or_else(|| on_path("spin")) {
        Some(spin) => Runner::Spin(spin),
        None => Runner::Bundled,
    };
    // Nobody looks at a run that stops by itself, and there may be several at once.
    let port = |documented| match options.then {
        Then::Stay => free(SocketAddr::from((Ipv4Addr::LOCALHOST, documented))),
        Then::Stop => Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
    };
    let listen = match (&options.listen, &runner) {
        (Some(listen), _) => *listen,
        (None, Runner::Bundled) => port(3000)?,
        // Spin does not tell which port it took, so it is given one.
        (None, Runner::Spin(_)) => free(SocketAddr::from((Ipv4Addr::LOCALHOST, 3000)))?,
    };
    let folder = new_folder(root, "up")?;
    let addresses = (port(8080)?, port(8081)?);
    // GitHub knows nothing of the samples' commits: their diff is fetched from here.
    let origin = Origin::start(fs::read(root.join("samples/github/pull_request.diff"))?)?;
    let configuration = origin.in_place_of_github(&project::configuration(root)?)?;
    let (model, configuration) = match &options.extractor {
        Extractor::Baseline => (None, configuration),
        Extractor::Model(model) => {
            let server = Server::start(model, port(8082)?, &folder, events)?;
            println!("model: {} answers questions", server.base_url());
            let asking = model::configuration(&configuration, &server.base_url())?;
            (Some(server), asking)
        }
    };
    project::write(root, &folder, &configuration)?;
    let secrets = Secrets::of(&folder)?;
    let fencepost = programs.fencepost(&folder);
    let backend = Backend::start(fencepost, &folder, &secrets, addresses, events)?;
    println!(
        "backend: {} takes reports in, {} answers questions",
        backend.ingest, backend.admin
    );
    let target = (backend.ingest.as_str(), listen);
    let edge = Edge::start(
        &runner,
        (&folder, programs),
        (&folder, &secrets),
        target,
        events,
    )?;
    let by = match &runner {
        Runner::Spin(spin) => spin.display().to_string(),
        Runner::Bundled => "the bundled host".to_owned(),
    };
    println!("edge: {}, run by {by}", edge.url);
    Ok(Running {
        edge,
        backend,
        model,
        secrets,
        origin,
        folder,
    })
}

impl Running {
    /// Delivers to its edge.
    pub(crate) fn courier<'a>(&'a self, programs: &'a Programs) -> Courier<'a> {
        Courier {
            project: &self.folder,
            programs,
            secrets: &self.secrets,
            edge: &self.edge.url,
        }
    }

    /// Asks its backend.
    pub(crate) fn admin(&self) -> Admin {
        Admin::new(self.backend.admin.clone(), self.secrets.admin_token.clone())
    }

    /// Waits until the machine is done with these reports.
    pub(crate) fn settle(&self, keys: &BTreeSet<String>, events: &Events) -> Result<()> {
        let admin = self.admin();
        let limit = match self.model {
            None => SETTLE_LIMIT,
            Some(_) => SETTLE_LIMIT_MODEL,
        };
        stage::wait_until(events, limit, "not every report is settled", || {
            keys.iter()
                .all(|key| admin.report(key).is_ok_and(|r| r.is_settled()))
        })
    }

    /// How often it may ask about one report. A model may answer what has to be asked again.
    fn attempts_max(&self) -> u64 {
        match self.model {
            None => 1,
            Some(_) => ATTEMPTS_MAX,
        }
    }

    /// Stops all of it, and leaves nothing.
    pub(crate) fn clear_away(self) -> Result<()> {
        let folder = self.folder.clone();
        drop(self);
        Ok(fs::remove_dir_all(folder)?)
    }
}

/// Delivers every sample over and over, and checks that each became what it should. Returns the
/// reports' keys.
pub(crate) fn prove(
    root: &Path,
    programs: &Programs,
    running: &Running,
    events: &Events,
) -> Result<BTreeSet<String>> {
    let courier = running.courier(programs);
    println!(
        "Delivering each sample ten times at once, and once more with other headers and bytes"
    );
    let samples = deliver::samples(root)?;
    let mut delivered = Vec::new();
    let mut keys = BTreeSet::new();
    for sample in &samples {
        let answers = courier.deliver(&sample.parcel()?)?;
        // Before the next, which may take its place.
        running.settle(&answers.report_keys, events)?;
        keys.extend(answers.report_keys.iter().cloned());
        delivered.push((sample, answers));
    }

    let admin = running.admin();
    let mut rows = Vec::new();
    let mut verdicts = Vec::new();
    let mut seen = BTreeSet::new();
    for (sample, answers) in &delivered {
        let new = answers
            .report_keys
            .iter()
            .filter(|key| seen.insert(key.as_str()));
        let reports = new
            .map(|key| admin.report(key))
            .collect::<Result<Vec<_>>>()?;
        rows.push(row(sample, answers, &reports)?);
        verdicts.push(judge(sample, answers, &reports, running.attempts_max()));
    }
    println!("\n{}\n", table::render(&rows));
    verdicts.into_iter().collect::<Result<Vec<()>>>()?;
    let count = admin.report_count()?;
    ensure!(
        count == keys.len(),
        "the backend has {count} records instead of {}",
        keys.len()
    );
    fetched_once_each(running, &delivered)?;
    println!("Each accepted report became exactly one record.");
    Ok(keys)
}

/// Whether the content of each report by reference was fetched, and never again.
fn fetched_once_each(running: &Running, delivered: &[(&Sample, Answers)]) -> Result<()> {
    let by_reference = delivered
        .iter()
        .filter(|(sample, _)| sample.source == origin::SOURCE);
    let keys: BTreeSet<&String> = by_reference
        .flat_map(|(_, answers)| &answers.report_keys)
        .collect();
    let (reports, served) = (keys.len(), running.origin.served());
    ensure!(
        usize::try_from(served)? == reports,
        "diffs were fetched {served} times for {reports} reports of {}",
        origin::SOURCE
    );
    println!("The diff of each pull request's version was fetched once: {served} in all.");
    Ok(())
}

fn row(sample: &Sample, answers: &Answers, reports: &[Report]) -> Result<Row> {
    let extractions = reports
        .iter()
        .map(Report::extractions)
        .sum::<Result<u64>>()?;
    let listed: usize = reports.iter().map(|report| report.findings().len()).sum();
    let findings = sample.findings.as_ref().map(|_| u64::try_from(listed));
    Ok(Row {
        label: sample.label.clone(),
        deliveries: answers.deliveries,
        accepted: answers.accepted,
        duplicates: answers.duplicates,
        ignored: answers.ignored,
        records: u64::try_from(reports.len())?,
        findings: findings.transpose()?,
        review_items: reports.iter().map(Report::review_items).sum(),
        extractions,
    })
}

/// `reports` are those that no earlier sample had become.
fn judge(sample: &Sample, answers: &Answers, reports: &[Report], attempts_max: u64) -> Result<()> {
    let file = &sample.label;
    let all = answers.deliveries;
    let (accepted, duplicates, ignored) = (answers.accepted, answers.duplicates, answers.ignored);
    let expected = match sample.becomes {
        Becomes::Record => (1, all.saturating_sub(1), 0),
        Becomes::Known => (0, all, 0),
        Becomes::Nothing => (0, 0, all),
    };
    ensure!(
        (accepted, duplicates, ignored) == expected,
        "{file}: {accepted} accepted, {duplicates} duplicates, {ignored} ignored of {all}"
    );
    match (sample.becomes, reports) {
        (Becomes::Known | Becomes::Nothing, []) => Ok(()),
        (Becomes::Record, [report]) => {
            let state = &report.state;
            ensure!(
                report.came_to_something(),
                "{file} came to nothing ({state})"
            );
            let extractions = report.extractions()?;
            let as_it_may = extractions <= attempts_max;
            ensure!(as_it_may, "{file} was extracted {extractions} times");
            let (found, expected) = (report.findings(), sample.findings.as_deref());
            let is_as_said = found == expected.unwrap_or_default();
            ensure!(is_as_said, "{file} has the findings {found:?}");
            Ok(())
        }
        (_, reports) => bail!("{file} became {} records", reports.len()),
    }
}

fn where_to_look(programs: &Programs, running: &Running, keys: &BTreeSet<String>) -> String {
    let mut lines = vec![
        format!("edge     {}/hooks/SOURCE", running.edge.url),
        format!("backend  {}/v1/reports (admin)", running.backend.admin),
        format!("token    {}", running.secrets.admin_token),
        format!("files    {} (database, logs)", running.folder.display()),
        String::new(),
        "Look at the reports:".to_owned(),
        format!(
            "  export FENCEPOST_DATABASE_URL={}",
            database_url(&running.folder)
        ),
        format!(
            "  export FENCEPOST_CONFIG={}",
            running.folder.join("fencepost.toml").display()
        ),
        format!("  {} list", programs.backend.display()),
    ];
    // The list has the others.
    let shown = keys.first();
    lines.extend(shown.map(|key| format!("  {} show {key}", programs.backend.display())));
    lines.push(format!(
        "  curl -H 'authorization: Bearer {}' {}/v1/stats",
        running.secrets.admin_token, running.backend.admin
    ));
    lines.push("\nCtrl-C stops it.".to_owned());
    lines.join("\n")
}
