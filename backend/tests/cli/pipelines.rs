//! A pipeline of one's own: the example that is written, and what is in its way.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use super::{Place, project_folder};

/// A folder that holds nothing, with the environment of a deployment.
fn empty_place() -> Place {
    Place::new().without("FENCEPOST_CONFIG")
}

/// The same after `pipeline new tickets`.
pub(super) fn with_tickets() -> Place {
    let place = empty_place();
    let ran = place.run(&["pipeline", "new", "tickets"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    place
}

/// Every file below a folder, with its content.
pub(super) fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => drop(found.insert(path.clone(), fs::read(path).unwrap())),
            }
        }
    }
    found
}

pub(super) const PAYLOAD: &str = "pipelines/tickets/payload.json";

#[test]
fn from_an_empty_folder_an_example_is_written_that_works_at_once() {
    let place = empty_place();
    let ran = place.run(&["pipeline", "new", "tickets"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let folder = place.folder.path();
    let written: Vec<_> = files(folder)
        .into_keys()
        .map(|path| {
            path.strip_prefix(folder)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    let expected = [
        "fencepost.toml",
        PAYLOAD,
        "pipelines/tickets/prompt.md",
        "pipelines/tickets/schema.json",
        "spin.toml",
    ];
    assert_eq!(written, expected);
    for told in expected
        .into_iter()
        .chain(["fencepost pipeline try tickets"])
    {
        assert!(ran.stdout.contains(told), "{told}: {ran:?}");
    }
    let ran = place.run(&["check", "--spin", "spin.toml"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = place.run(&["pipeline", "try", "tickets", PAYLOAD]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.stdout.contains("the value would be committed"),
        "{ran:?}"
    );
}

#[test]
fn an_example_with_findings_works_at_once_and_beside_others() {
    let changes = ["pipeline", "new", "changes", "--findings"];
    let payload = "pipelines/changes/payload.json";
    let shipped = empty_place();
    let text = fs::read_to_string(project_folder().join("fencepost.toml")).unwrap();
    let absolute = format!("{}/backend/", project_folder().display());
    let text = text.replace("backend/", &absolute);
    fs::write(shipped.folder.path().join("fencepost.toml"), text).unwrap();
    for place in [empty_place(), with_tickets(), shipped] {
        let ran = place.run(&changes);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let config = fs::read_to_string(place.folder.path().join("fencepost.toml")).unwrap();
        assert_eq!(config.matches("\"code-baseline\"").count(), 1, "{config}");
        assert_eq!(place.run(&["check"]).code, Some(0));
        let ran = place.run(&["pipeline", "try", "changes", payload]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        for told in [
            "sql_injection",
            "disabled_tls_verification",
            "app/users.py",
            "would be committed",
        ] {
            assert!(ran.stdout.contains(told), "{told}: {ran:?}");
        }
    }
}

#[test]
fn to_a_configuration_that_is_there_tables_are_added_and_nothing_is_changed() {
    let place = with_tickets();
    let folder = place.folder.path();
    // Without a last line ending, as some editors leave it.
    let config = folder.join("fencepost.toml");
    let before = fs::read_to_string(&config).unwrap().trim_end().to_owned();
    fs::write(&config, &before).unwrap();
    let manifest = fs::read(folder.join("spin.toml")).unwrap();
    let ran = place.run(&["pipeline", "new", "orders", "--folder", "."]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let after = fs::read_to_string(&config).unwrap();
    assert!(
        after.starts_with(&format!("{before}\n\n# orders")),
        "{after}"
    );
    assert_eq!(after.matches("\n[extractor.").count(), 1, "{after}");
    assert_eq!(fs::read(folder.join("spin.toml")).unwrap(), manifest);
    assert!(
        ran.stdout.contains("orders_secret = { required = true"),
        "{ran:?}"
    );
    assert_eq!(place.run(&["check"]).code, Some(0));
    for (name, file) in [
        ("tickets", PAYLOAD),
        ("orders", "pipelines/orders/payload.json"),
    ] {
        let ran = place.run(&["pipeline", "try", name, file]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    // What the edge lacks now is told.
    let ran = place.run(&["check", "--spin", "spin.toml"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("orders_secret"), "{ran:?}");
}

#[test]
fn the_shipped_configuration_takes_an_example_for_each_kind_of_name() {
    for name in ["a", "7", "a-b_c", "-", "x--y", "ends_"] {
        let place = empty_place();
        let folder = place.folder.path();
        let text = fs::read_to_string(project_folder().join("fencepost.toml")).unwrap();
        let text = text.replace(
            "backend/",
            &format!("{}/backend/", project_folder().display()),
        );
        fs::write(folder.join("fencepost.toml"), text).unwrap();
        let ran = place.run(&["pipeline", "new", "--", name]);
        assert_eq!(ran.code, Some(0), "{name}: {ran:?}");
        assert_eq!(place.run(&["check"]).code, Some(0), "{name}");
    }
}

#[test]
fn what_is_in_the_way_is_named_and_nothing_is_written() {
    let other_baseline = "[source]\n[pipeline]\n[extractor.baseline]\nkind = \"openai\"\n\
                          model = \"m\"\nbase_url = \"http://127.0.0.1:9/v1\"\n";
    let cases: [(&str, &str, &str, i32, &str); 7] = [
        (
            "pipelines/tickets/prompt.md",
            "mine",
            "tickets",
            2,
            "prompt.md is there already",
        ),
        (
            "pipelines/tickets/payload.json",
            "",
            "tickets",
            2,
            "payload.json is there already",
        ),
        ("pipelines", "a file", "tickets", 1, "pipelines"),
        (
            "fencepost.toml",
            "[source]\nnonsense",
            "tickets",
            2,
            "line 2",
        ),
        (
            "fencepost.toml",
            other_baseline,
            "tickets",
            2,
            "[extractor.baseline] is there already",
        ),
        (
            "fencepost.toml",
            "source = {}\npipeline = {}\nextractor = {}\n",
            "tickets",
            2,
            "toml",
        ),
        ("other", "", "Tickets", 2, "a-z 0-9"),
    ];
    for (file, text, name, code, told) in cases {
        let place = empty_place();
        let path = place.folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let before = files(place.folder.path());
        let ran = place.run(&["pipeline", "new", name]);
        assert_eq!(ran.code, Some(code), "{file}: {ran:?}");
        assert!(ran.stderr.contains(told), "{file}: {ran:?}");
        assert_eq!(files(place.folder.path()), before, "{file}");
    }
}

#[test]
fn a_second_example_of_the_same_name_is_refused() {
    let place = with_tickets();
    let before = files(place.folder.path());
    let ran = place.run(&["pipeline", "new", "tickets"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.stderr.contains("[source.tickets] is there already"),
        "{ran:?}"
    );
    // The source is another's, and only the pipeline is there.
    let config = place.folder.path().join("fencepost.toml");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace("source.tickets", "source.other")).unwrap();
    let ran = place.run(&["pipeline", "new", "tickets"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(
        ran.stderr.contains("[pipeline.tickets] is there already"),
        "{ran:?}"
    );
    fs::write(&config, text).unwrap();
    assert_eq!(files(place.folder.path()), before);
}
