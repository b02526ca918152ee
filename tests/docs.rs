//! What the documentation tells a reader to type works: the blocks marked `sh run` of a page are
//! run one after the other, in a folder with the project's files and the built programs on PATH.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use fencepost_tests::{Program, Project, run, workspace};

const FENCE: &str = "```sh run";

fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(workspace().join("docs")).unwrap();
    let mut pages: Vec<_> = docs.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|page| page.extension().is_some_and(|ending| ending == "md"));
    pages.push(workspace().join("README.md"));
    pages.sort();
    pages
}

/// The blocks of a page as one script, which says on stderr which line it is at.
fn script(page: &Path) -> Option<String> {
    let text = fs::read_to_string(page).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
    let mut script = String::new();
    let mut open = false;
    for (index, line) in text.lines().enumerate() {
        match open {
            false if line == FENCE => {
                open = true;
                script.push_str(&format!("echo 'line {}:' >&2\n", index + 1));
            }
            false => {}
            true if line == "```" => open = false,
            true => script.extend([line, "\n"]),
        }
    }
    assert!(!open, "{}: a block without an end", page.display());
    (!script.is_empty()).then_some(script)
}

/// A checkout as a reader has it, with what was built.
fn checkout() -> Project {
    let project = Project::create();
    let bin = project.path("bin");
    fs::create_dir(&bin).unwrap();
    symlink(Program::Backend.path(), bin.join("fencepost")).unwrap();
    symlink(Program::Host.path(), bin.join("fencepost-edge")).unwrap();
    for name in ["samples", "examples"] {
        symlink(workspace().join(name), project.path(name)).unwrap();
    }
    for name in ["fencepost.toml", "spin.toml"] {
        fs::copy(workspace().join(name), project.path(name)).unwrap();
    }
    let component = project.path("target/component/wasm32-wasip2/component/fencepost_edge.wasm");
    fs::create_dir_all(component.parent().unwrap()).unwrap();
    symlink(Program::Component.path(), component).unwrap();
    project
}

#[test]
fn the_commands_of_every_page_work() {
    let mut ran = 0;
    for page in pages() {
        let Some(script) = script(&page) else {
            continue;
        };
        println!("{}", page.display());
        let project = checkout();
        let path = std::env::var("PATH").unwrap();
        let mut shell = Command::new("sh");
        shell
            .args(["-euc", &script])
            .current_dir(project.folder())
            .env_clear();
        shell.env("PATH", format!("{}:{path}", project.path("bin").display()));
        shell.env("HOME", project.folder());
        let output = run(&mut shell);
        let page = page.display();
        assert_eq!(
            output.code,
            Some(0),
            "{page}:\n{}\n{}",
            output.stdout,
            output.stderr
        );
        ran += 1;
    }
    assert!(
        ran > 0,
        "no page has a block marked `{FENCE}`: then this proves nothing"
    );
}
