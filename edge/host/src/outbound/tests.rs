use super::*;

fn allows(entry: &str, uri: &str) -> bool {
    let host = AllowedHost::parse(entry).unwrap();
    host.allows(&Target::of(&uri.parse().unwrap()).unwrap())
}

#[test]
fn scheme_host_and_port_match_literally() {
    assert!(allows(
        "http://127.0.0.1:8080",
        "http://127.0.0.1:8080/v1/reports?x=1"
    ));
    assert!(!allows("http://127.0.0.1:8080", "http://localhost:8080/"));
    assert!(!allows("http://localhost:8080", "http://127.0.0.1:8080/"));
    assert!(!allows("http://127.0.0.1:8080", "https://127.0.0.1:8080/"));
    assert!(!allows("http://127.0.0.1:8080", "http://127.0.0.1:8081/"));
    assert!(!allows("http://127.0.0.1:8080", "http://127.0.0.1/"));
    assert!(allows("http://[::1]:8080", "http://[::1]:8080/"));
}

#[test]
fn a_user_in_the_target_does_not_make_it_another_host() {
    assert!(!allows(
        "http://good.example",
        "http://good.example@bad.example/"
    ));
    assert!(allows(
        "http://good.example",
        "http://user:word@good.example/"
    ));
}

#[test]
fn no_port_means_the_usual_one() {
    assert!(allows(
        "http://backend.example",
        "http://backend.example:80/"
    ));
    assert!(allows("http://backend.example", "http://backend.example/"));
    assert!(allows(
        "https://backend.example:443",
        "https://backend.example/"
    ));
    assert!(!allows(
        "https://backend.example",
        "https://backend.example:80/"
    ));
    assert_eq!(
        AllowedHost::parse("*://backend.example"),
        Err(Fault::BadPort)
    );
}

#[test]
fn names_have_no_case() {
    assert!(allows("http://Backend.Example", "http://BACKEND.example/"));
}

#[test]
fn stars_stand_for_whole_parts() {
    assert!(allows("*://*:*", "https://anything.example:99/"));
    assert!(allows("https://*.example", "https://a.b.example/"));
    assert!(!allows("https://*.example", "https://example/"));
    assert!(!allows("https://*.example", "https://badexample/"));
    assert_eq!(
        AllowedHost::parse("https://a*.example"),
        Err(Fault::BadHost)
    );
}

#[test]
fn an_entry_is_a_host_and_no_more() {
    for entry in [
        "http://h/v1",
        "http://h:80/v1",
        "http://h?x",
        "http://user@h",
    ] {
        assert_eq!(
            AllowedHost::parse(entry),
            Err(Fault::MoreThanAHost),
            "{entry}"
        );
    }
    assert!(AllowedHost::parse("http://h:80/").is_ok());
    assert_eq!(AllowedHost::parse("backend:8080"), Err(Fault::NoScheme));
    assert_eq!(AllowedHost::parse("http://:80"), Err(Fault::BadHost));
    for entry in ["http://h:port", "http://h:65536"] {
        assert_eq!(AllowedHost::parse(entry), Err(Fault::BadPort), "{entry}");
    }
    for entry in ["http://self", "http://x.spin.internal", "http://h:1..2"] {
        assert_eq!(AllowedHost::parse(entry), Err(Fault::NotOffered), "{entry}");
    }
}

#[test]
fn a_relative_target_is_no_target() {
    assert_eq!(Target::of(&"/v1/reports".parse().unwrap()), None);
}

#[test]
fn the_path_is_no_part_of_what_is_logged() {
    let uri = "http://user:word@h.example/secret?secret".parse().unwrap();
    assert_eq!(Target::of(&uri).unwrap().to_string(), "http://h.example:80");
}

#[test]
fn entries_are_resolved_and_empty_ones_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("spin.toml");
    let text = "spin_manifest_version = 2\n[application]\nname = \"x\"\n\
        [variables]\nurl = { default = \"http://h:1\" }\nnone = { default = \"\" }\n\
        [[trigger.http]]\nroute = \"/...\"\ncomponent = \"x\"\n[component.x]\nsource = \"x\"\n";
    std::fs::write(&path, text).unwrap();
    let manifest = crate::manifest::Manifest::read(&path).unwrap();
    let given = std::collections::BTreeMap::new();
    let variables = Variables::resolve(&manifest, &given, |_| None).unwrap();
    let resolve = |entry: &str| AllowedHosts::resolve(&[entry.to_owned()], &variables);

    assert_eq!(
        resolve("{{ url }}").unwrap().hosts,
        [AllowedHost::parse("http://h:1").unwrap()]
    );
    assert_eq!(resolve("{{ none }}").unwrap().hosts, []);
    assert_eq!(resolve("http://{{ none }}").unwrap().hosts, []);
    assert!(matches!(
        resolve(""),
        Err(OutboundError::Entry {
            fault: Fault::NoScheme,
            ..
        })
    ));
    assert!(matches!(
        resolve("{{ absent }}"),
        Err(OutboundError::Variables(_))
    ));
    let path = resolve("{{ url }}/v1").unwrap_err();
    assert!(
        path.to_string().contains("\"http://h:1/v1\" has a path"),
        "{path}"
    );
}
