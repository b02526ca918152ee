//! What a reader sees of a mail: subject and body text, without transport headers, markup and
//! attachments. Reports are texts, so only that is trained on.

use base64::{Engine as _, engine::general_purpose::STANDARD};

const PARTS_DEEP_MAX: usize = 8;

const ENTITIES: [(&str, &str); 6] = [
    ("&nbsp;", " "),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&amp;", "&"),
];

/// One mail as text.
pub(crate) struct Mail {
    /// Subject and body.
    pub(crate) text: String,
    /// The letters of the subject: mails of one thread or one mailing share it.
    pub(crate) thread: String,
}

pub(crate) fn read(raw: &[u8]) -> Mail {
    let raw = String::from_utf8_lossy(raw).replace("\r\n", "\n");
    let (headers, body) = raw.split_once("\n\n").unwrap_or((&raw, ""));
    let subject = subject(headers);
    let body = written_by_sender(&body_text(headers, body, 0));
    let thread = subject
        .chars()
        .filter(|c| c.is_alphabetic())
        .collect::<String>()
        .to_lowercase();
    Mail {
        text: format!("{subject}\n{body}"),
        thread,
    }
}

/// The subject without what mail programs and mailing lists put before it: it tells apart lists,
/// not spam.
fn subject(headers: &str) -> String {
    let subject = header(headers, "subject").unwrap_or_default();
    let mut rest = subject.trim();
    loop {
        let lower = rest.to_ascii_lowercase();
        let prefix = ["re:", "fw:", "fwd:", "aw:"]
            .iter()
            .find(|prefix| lower.starts_with(**prefix));
        rest = if let Some(prefix) = prefix {
            rest.get(prefix.len()..).unwrap_or_default().trim_start()
        } else if let Some((_, after)) = rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
            after.trim_start()
        } else {
            break;
        };
    }
    // An encoded subject is unreadable as it stands, and its encoding alone would give it away.
    if rest.contains("=?") {
        String::new()
    } else {
        rest.to_owned()
    }
}

/// The value of a header, continuation lines joined.
fn header(headers: &str, name: &str) -> Option<String> {
    let mut lines = headers.lines().skip_while(|line| {
        !line
            .split_once(':')
            .is_some_and(|(key, _)| key.eq_ignore_ascii_case(name))
    });
    let mut value = lines.next()?.split_once(':')?.1.to_owned();
    for line in lines.take_while(|line| line.starts_with([' ', '\t'])) {
        value.push_str(line);
    }
    Some(value)
}

fn body_text(headers: &str, body: &str, depth: usize) -> String {
    let kind = header(headers, "content-type").unwrap_or_default();
    let lower = kind.to_ascii_lowercase();
    let lower = lower.trim();
    if lower.starts_with("multipart/") && depth < PARTS_DEEP_MAX {
        return match parameter(&kind, "boundary") {
            Some(boundary) => parts_text(body, &boundary, depth),
            None => String::new(),
        };
    }
    if !lower.is_empty() && !lower.starts_with("text/") {
        return String::new();
    }
    let encoding = header(headers, "content-transfer-encoding").unwrap_or_default();
    let text = match encoding.trim().to_ascii_lowercase().as_str() {
        "base64" => base64_text(body),
        "quoted-printable" => quoted_printable_text(body),
        _ => body.to_owned(),
    };
    if lower.starts_with("text/html") || text.to_ascii_lowercase().contains("<html") {
        without_markup(&text)
    } else {
        text
    }
}

fn parts_text(body: &str, boundary: &str, depth: usize) -> String {
    let delimiter = format!("--{boundary}");
    let parts = body
        .split(&delimiter)
        .skip(1)
        .take_while(|part| !part.starts_with("--"));
    let texts = parts.map(|part| {
        let part = part.trim_start_matches([' ', '\t']);
        let part = part.strip_prefix('\n').unwrap_or(part);
        match part.strip_prefix('\n') {
            Some(body) => body_text("", body, depth + 1),
            None => part
                .split_once("\n\n")
                .map(|(headers, body)| body_text(headers, body, depth + 1))
                .unwrap_or_default(),
        }
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn parameter(value: &str, name: &str) -> Option<String> {
    value.split(';').skip(1).find_map(|part| {
        let (key, value) = part.split_once('=')?;
        let matches = key.trim().eq_ignore_ascii_case(name);
        matches.then(|| value.trim().trim_matches('"').to_owned())
    })
}

fn base64_text(body: &str) -> String {
    let packed: String = body.chars().filter(|c| !c.is_whitespace()).collect();
    STANDARD
        .decode(packed)
        .map(|b| String::from_utf8_lossy(&b).into_owned())
        .unwrap_or_default()
}

fn quoted_printable_text(body: &str) -> String {
    let mut bytes = Vec::with_capacity(body.len());
    let joined = body.replace("=\n", "");
    let mut rest = joined.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let byte = escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let (byte, tail) = match (first, byte) {
            (b'=', Some(byte)) => (byte, after.get(2..).unwrap_or_default()),
            _ => (*first, after),
        };
        bytes.push(byte);
        rest = tail;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn without_markup(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        let name: String = tag.chars().take(6).collect::<String>().to_ascii_lowercase();
        rest = if tag.starts_with("!--") {
            tag.split_once("-->").unwrap_or_default().1
        } else if name.starts_with("style") || name == "script" {
            let end = tag
                .to_ascii_lowercase()
                .find(&format!("</{}", name.trim_end_matches('>')));
            end.and_then(|end| tag.get(end + 1..)).unwrap_or_default()
        } else {
            text.push(' ');
            tag.split_once('>').unwrap_or_default().1
        };
    }
    text.push_str(rest);
    ENTITIES
        .iter()
        .fold(text, |text, (entity, plain)| text.replace(entity, plain))
}

/// The body without quotations and without a mailing list's footer: that there is one shows a
/// discussion, which is true of no report.
fn written_by_sender(body: &str) -> String {
    let lines = body
        .lines()
        .take_while(|line| !line.starts_with("____________________"));
    let written = lines.filter(|line| {
        let line = line.trim();
        let introduces_quotation = ["wrote:", "writes:", "said:"]
            .iter()
            .any(|w| line.ends_with(w));
        !line.starts_with(['>', '|']) && !introduces_quotation
    });
    written.collect::<Vec<_>>().join("\n")
}
