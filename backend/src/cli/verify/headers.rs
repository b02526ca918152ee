//! The headers of a stored delivery, as a person writes them down.

use std::ffi::OsString;

use crate::cli::CliError;

/// A name and a value, which need not be text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) name: String,
    pub(super) value: Vec<u8>,
}

/// Reads what stands behind each `-H`: a header, or `@` and the name of a file with one per line.
pub(super) fn read(arguments: Vec<OsString>) -> Result<Vec<Header>, CliError> {
    let mut headers = Vec::new();
    for argument in arguments {
        let bytes = argument.into_encoded_bytes();
        match bytes.strip_prefix(b"@") {
            None => headers.push(header(&bytes).map_err(|why| usage("-H", why))?),
            Some(file) => headers.extend(of_file(&String::from_utf8_lossy(file))?),
        }
    }
    Ok(headers)
}

fn of_file(file: &str) -> Result<Vec<Header>, CliError> {
    let text = std::fs::read(file).map_err(|error| usage(file, &error.to_string()))?;
    let mut headers = Vec::new();
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        let at = || format!("{file}, line {}", index + 1);
        headers.push(header(line).map_err(|why| usage(&at(), why))?);
    }
    Ok(headers)
}

/// Never repeats any of the header: it may be a password.
fn usage(place: &str, why: &str) -> CliError {
    CliError::Usage(format!("{place}: {why}"))
}

fn header(text: &[u8]) -> Result<Header, &'static str> {
    const FORM: &str = "a header is `name: value`";
    let colon = text.iter().position(|byte| *byte == b':').ok_or(FORM)?;
    let (name, value) = text.split_at(colon);
    let token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    if name.is_empty() || !name.iter().all(token) {
        return Err(FORM);
    }
    Ok(Header {
        name: String::from_utf8_lossy(name).into_owned(),
        // What HTTP takes away from a value.
        value: value.get(1..).unwrap_or_default().trim_ascii().to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, value: &[u8]) -> Header {
        Header {
            name: name.to_owned(),
            value: value.to_vec(),
        }
    }

    #[test]
    fn a_header_is_a_name_and_a_value_without_the_blanks_around_it() {
        for (text, value) in [
            (&b"X-Sig: a:b"[..], &b"a:b"[..]),
            (b"X-Sig:\t a ", b"a"),
            (b"X-Sig:", b""),
            (b"X-Sig: \xff\xfe", b"\xff\xfe"),
        ] {
            assert_eq!(header(text), Ok(of("X-Sig", value)));
        }
        for text in [&b"X-Sig"[..], b": v", b"X Sig: v", b"\xff: v", b""] {
            assert!(header(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_file_has_a_header_on_each_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("headers");
        std::fs::write(&file, "A: 1\r\n\n  B: 2\nA: 3").unwrap();
        let mut argument = OsString::from("@");
        argument.push(&file);
        let arguments = vec!["C: 0".into(), argument.clone()];
        let expected = [of("C", b"0"), of("A", b"1"), of("B", b"2"), of("A", b"3")];
        assert_eq!(read(arguments).unwrap(), expected);

        std::fs::write(&file, "A: 1\nPOST /hooks/canary HTTP/1.1\n").unwrap();
        let error = read(vec![argument]).unwrap_err().to_string();
        assert!(
            error.contains("line 2") && !error.contains("canary"),
            "{error}"
        );
        assert!(read(vec!["@/nowhere".into()]).is_err());
    }
}
