//! The container of deploy/Containerfile: built, run, and asked to keep what it was given.

mod engine;
mod image;

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::programs::Programs;
use crate::test::Ran;
use crate::up::admin::Admin;
use crate::up::children::Events;
use crate::up::deliver::{self, Courier};
use crate::up::stage::{Edge, Runner, Secrets, free, new_folder, wait_until};
use engine::{Container, Engine};
use image::{Available, Images};

const IMAGE: &str = "localhost/fencepost:test";
/// Who the Containerfile says that the program runs as.
const USER: &str = "65532";
const HEALTHY_LIMIT: Duration = Duration::from_secs(60);

/// Builds the image and tries a container of it, where there is an engine and it can.
pub(crate) fn run(root: &Path, programs: &Programs) -> Result<Ran> {
    let engine = match Engine::find() {
        Ok(engine) => engine,
        Err(reason) => return Ok(Ran::Not(reason)),
    };
    let images = match Images::get(&engine)? {
        Available::Yes(images) => images,
        Available::No(reason) => return Ok(Ran::Not(reason)),
    };
    images.build(&engine, root, IMAGE)?;
    let folder = new_folder(root, "container")?;
    let result = try_out(&engine, root, programs, &folder);
    if result.is_ok() {
        fs::remove_dir_all(&folder)?;
    }
    result.with_context(|| format!("logs stand in {}", folder.display()))?;
    Ok(Ran::Done)
}

/// A report, taken in before a restart, is a duplicate after it.
fn try_out(engine: &Engine, root: &Path, programs: &Programs, folder: &Path) -> Result<()> {
    let events = Events::new()?;
    let secrets = Secrets::of(root)?;
    let (container, [ingest, admin]) = start(engine, folder, &secrets, &events)?;
    ensure!(
        container.exec(&["id", "-u"])? == USER,
        "the program runs as another user"
    );

    let (runner, listen) = (Runner::Bundled, SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let target = (ingest.as_str(), listen);
    let edge = Edge::start(
        &runner,
        (root, programs),
        (folder, &secrets),
        target,
        &events,
    )?;
    let courier = Courier {
        project: root,
        programs,
        secrets: &secrets,
        edge: &edge.url,
    };
    // The image has the shipped configuration, without the sources of examples/.
    let sample = deliver::samples(root)?
        .into_iter()
        .find(|sample| sample.source == "github-comments")
        .context("there is a sample")?
        .parcel()?;
    let before = courier.deliver(&sample)?;
    ensure!(
        before.accepted == 1,
        "accepted {} times instead of once",
        before.accepted
    );

    container.restart()?;
    healthy(&container, &events)?;
    let after = courier.deliver(&sample)?;
    ensure!(
        after.accepted == 0,
        "the restarted container has forgotten the report"
    );
    ensure!(
        after.report_keys == before.report_keys,
        "another key after the restart"
    );
    let admin = Admin::new(admin, secrets.admin_token.clone());
    ensure!(admin.report_count()? == 1, "there is not one record");
    println!("The container kept its report over a restart.");
    Ok(())
}

/// A healthy container, and the URLs of its two listeners.
fn start<'a>(
    engine: &'a Engine,
    folder: &Path,
    secrets: &Secrets,
    events: &Events,
) -> Result<(Container<'a>, [String; 2])> {
    let port = |documented| free(SocketAddr::from((Ipv4Addr::LOCALHOST, documented)));
    let (ingest, admin) = (port(8080)?, port(8081)?);
    let name = folder
        .file_name()
        .and_then(|name| name.to_str())
        .context("a name")?
        .to_owned();
    let environment = [
        ("FENCEPOST_LISTEN", ingest.to_string()),
        ("FENCEPOST_ADMIN_LISTEN", admin.to_string()),
        ("FENCEPOST_EDGE_SECRET", secrets.edge.clone()),
        ("FENCEPOST_ADMIN_TOKEN", secrets.admin_token.clone()),
    ];
    let container = engine.start(IMAGE, name, &environment)?;
    healthy(&container, events)?;
    Ok((
        container,
        [format!("http://{ingest}"), format!("http://{admin}")],
    ))
}

fn healthy(container: &Container<'_>, events: &Events) -> Result<()> {
    wait_until(
        events,
        HEALTHY_LIMIT,
        "the container is not healthy",
        || container.is_healthy(),
    )
    .with_context(|| container.log())
}
