//! What clients and the model write down is read back, and nothing else is taken for it.

use std::{fs, io::Write as _};

use fencepost_history::{Acknowledgement, History, ModelCall, RecordError, Recorded, Recorder};
use tempfile::TempDir;

use crate::story::key;

fn read(text: &str) -> Result<Recorded, String> {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("records.jsonl");
    fs::write(&file, text).unwrap();
    Recorded::read(&file).map_err(|error| {
        let told = error.to_string();
        let line = told.strip_prefix(&format!("{}:", file.display()));
        line.unwrap_or_else(|| panic!("{told} names no line"))
            .to_owned()
    })
}

#[test]
fn what_is_written_is_read() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("records.jsonl");
    let recorder = Recorder::open(&file).unwrap();
    recorder.ack(&key(1), 202, 10).unwrap();
    recorder.model_call(&key(2), 20).unwrap();
    drop(recorder);
    let recorder = Recorder::open(&file).unwrap();
    recorder.model_answered(&key(2), 30).unwrap();
    let recorded = Recorded::read(&file).unwrap();
    let call = |at_ms| ModelCall {
        call_key: key(2),
        at_ms,
    };
    let ack = Acknowledgement {
        key: key(1),
        status: 202,
        at_ms: 10,
    };
    assert_eq!(
        recorded,
        Recorded {
            acknowledgements: vec![ack.clone()],
            model_calls: vec![call(20)],
            model_answers: vec![call(30)],
        }
    );
    let mut history = History::default();
    history.add(recorded.clone());
    history.add(recorded);
    assert_eq!(history.acknowledgements, [ack.clone(), ack]);
    assert_eq!(
        (history.model_calls.len(), history.model_answers.len()),
        (2, 2)
    );
}

#[test]
fn threads_share_a_file() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("records.jsonl");
    let recorder = Recorder::open(&file).unwrap();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let recorder = &recorder;
            scope.spawn(move || {
                for at_ms in 0..50 {
                    recorder.ack(&key(number), 202, at_ms).unwrap();
                }
            });
        }
    });
    assert_eq!(Recorded::read(&file).unwrap().acknowledgements.len(), 200);
}

#[test]
fn other_events_and_other_members_are_for_others() {
    let key = key(1);
    let text = format!(
        "{{\"event\":\"killed\",\"pid\":7}}\n\
         {{\"at_ms\":1,\"key\":\"{key}\",\"who\":\"a\",\"status\":200,\"event\":\"ack\"}}\n"
    );
    let recorded = read(&text).unwrap();
    assert_eq!(recorded.acknowledgements.len(), 1);
    assert_eq!(recorded.model_calls.len(), 0);
}

#[test]
fn a_last_line_without_an_end_is_not_read_and_not_written_on() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("records.jsonl");
    Recorder::open(&file).unwrap().ack(&key(1), 202, 1).unwrap();
    for torn in ["{", "{\"event\":\"ack\",\"key\":\"", "\u{e4}"] {
        let mut options = fs::OpenOptions::new();
        let mut append = options.append(true).open(&file).unwrap();
        let bytes = torn.as_bytes();
        // The last of them breaks off within a character.
        append
            .write_all(bytes.get(..bytes.len().div_ceil(2)).unwrap())
            .unwrap();
        drop(append);
        let before = Recorded::read(&file).unwrap().acknowledgements.len();
        Recorder::open(&file).unwrap().ack(&key(2), 202, 2).unwrap();
        let after = Recorded::read(&file).unwrap().acknowledgements.len();
        assert_eq!(after, before + 1, "{torn}");
    }
}

#[test]
fn other_junk_is_named_by_file_and_line() {
    let good = format!(
        "{{\"event\":\"ack\",\"key\":\"{}\",\"status\":202,\"at_ms\":1}}\n",
        key(1)
    );
    let upper = good.replace(&key(1), &"A".repeat(64));
    for (junk, what) in [
        ("{\"event\":\"ack\",\"ke\n", "not JSON"),
        ("\n", "not JSON"),
        ("{\"key\":1}\n", "no `event`"),
        (upper.as_str(), "`key` is no key"),
        (&good.replace("202", "70000"), "`status` is no status"),
        (&good.replace(":1}", ":\"1\"}"), "`at_ms` is no time"),
        (
            "{\"event\":\"model_call\",\"at_ms\":1}\n",
            "`call_key` is no key",
        ),
        (
            "{\"event\":\"model_answered\",\"at_ms\":1}\n",
            "`call_key` is no key",
        ),
    ] {
        let refused = read(&format!("{good}{junk}{good}"));
        assert_eq!(refused, Err(format!("2: {what}")), "{junk}");
    }
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("none.jsonl");
    let missing = Recorded::read(&file).unwrap_err();
    assert!(
        matches!(&missing, RecordError::File { path, .. } if *path == file),
        "{missing}"
    );
}
