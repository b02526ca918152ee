//! podman or docker, as far as both understand the same words.

use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::process::{on_path, run, stdout_of, succeeds};

/// A client without a running engine answers soon, or never.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// Engines that run inside another sandbox may not raise limits above their own, and fail to start
/// anything with their defaults. The program needs far less.
pub(super) const LIMITS: [&str; 4] = [
    "--ulimit",
    "nofile=1024:1024",
    "--ulimit",
    "nproc=1024:1024",
];

/// A container engine that answers.
pub(super) enum Engine {
    Podman,
    Docker,
}

/// A running container with a volume of its own; both are removed when this goes out of scope.
pub(super) struct Container<'a> {
    engine: &'a Engine,
    name: String,
}

impl Engine {
    /// One that answers, or why there is none.
    pub(super) fn find() -> Result<Self, String> {
        let mut reasons = Vec::new();
        for engine in [Self::Podman, Self::Docker] {
            let name = engine.name();
            if on_path(name).is_none() {
                reasons.push(format!("no {name}"));
            } else if succeeds(engine.command().arg("info"), ANSWER_LIMIT) {
                return Ok(engine);
            } else {
                reasons.push(format!("{name} has no engine that answers"));
            }
        }
        Err(reasons.join(", "))
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Podman => "podman",
            Self::Docker => "docker",
        }
    }

    pub(super) fn command(&self) -> Command {
        Command::new(self.name())
    }

    /// The start of a build. podman's own format would leave the health check out.
    pub(super) fn build_command(&self) -> Command {
        let mut command = self.command();
        command.arg("build");
        match self {
            Self::Podman => command.args(["--format", "docker"]).args(LIMITS),
            Self::Docker => command.env("DOCKER_BUILDKIT", "1"),
        };
        command
    }

    /// Starts a container as deploy/compose.yaml does: nothing but its volume can be written.
    pub(super) fn start(
        &self,
        image: &str,
        name: String,
        environment: &[(&str, String)],
    ) -> Result<Container<'_>> {
        // From here on, an error cleans up.
        let container = Container { engine: self, name };
        let name = &container.name;
        let mut command = self.command();
        command.args([
            "run",
            "--detach",
            "--name",
            name,
            "--network",
            "host",
            "--read-only",
        ]);
        command
            .args(["--cap-drop", "ALL", "--security-opt", "no-new-privileges"])
            .args(LIMITS);
        command.args(["--volume", &format!("{name}:/var/lib/fencepost")]);
        for (variable, value) in environment {
            // Without a value it is taken from the client's environment: no secret in `ps`.
            command.args(["--env", variable]).env(variable, value);
        }
        run(command.arg(image))?;
        Ok(container)
    }

    /// Whether `image` is here.
    pub(super) fn has(&self, image: &str) -> bool {
        succeeds(
            self.command().args(["image", "inspect", image]),
            ANSWER_LIMIT,
        )
    }

    /// Whether `image` can be pulled within `limit`.
    pub(super) fn pulls(&self, image: &str, limit: Duration) -> bool {
        println!("Pulling {image} (at most {} s)", limit.as_secs());
        succeeds(self.command().args(["pull", image]), limit)
    }

    /// Makes the file system in `folder` an image, with `change` applied to it.
    pub(super) fn import(&self, folder: &str, image: &str, change: &str) -> Result<()> {
        println!("Importing {image}");
        let script = r#"tar -C "$1" -c . | "$2" import --change "$3" - "$4""#;
        let arguments = ["sh", folder, self.name(), change, image];
        if !Command::new("sh")
            .args(["-c", script])
            .args(arguments)
            .status()?
            .success()
        {
            bail!("can't import {image}");
        }
        Ok(())
    }
}

impl Container<'_> {
    /// Whether the image's own health check says so.
    pub(super) fn is_healthy(&self) -> bool {
        match self.engine {
            Engine::Podman => {
                let mut command = self.engine.command();
                succeeds(
                    command.args(["healthcheck", "run", &self.name]),
                    ANSWER_LIMIT,
                )
            }
            Engine::Docker => self
                .ask(&[
                    "inspect",
                    "--format",
                    "{{.State.Health.Status}}",
                    &self.name,
                ])
                .is_ok_and(|status| status == "healthy"),
        }
    }

    /// What `command` prints in it.
    pub(super) fn exec(&self, command: &[&str]) -> Result<String> {
        let mut arguments = vec!["exec", self.name.as_str()];
        arguments.extend(command);
        self.ask(&arguments)
    }

    pub(super) fn restart(&self) -> Result<()> {
        run(self.engine.command().args(["restart", &self.name]))
    }

    /// What it said so far.
    pub(super) fn log(&self) -> String {
        let output = self.engine.command().args(["logs", &self.name]).output();
        output.map_or_else(
            |error| format!("no log: {error}"),
            |output| {
                let (out, err) = (&output.stdout, &output.stderr);
                format!(
                    "{}{}",
                    String::from_utf8_lossy(out),
                    String::from_utf8_lossy(err)
                )
            },
        )
    }

    fn ask(&self, arguments: &[&str]) -> Result<String> {
        stdout_of(self.engine.command().args(arguments))
    }
}

impl Drop for Container<'_> {
    fn drop(&mut self) {
        let remove = |arguments: &[&str]| {
            let mut command = self.engine.command();
            if !succeeds(command.args(arguments).arg(&self.name), ANSWER_LIMIT) {
                println!("could not {} {}", arguments.join(" "), self.name);
            }
        };
        remove(&["rm", "--force"]);
        remove(&["volume", "rm"]);
    }
}
