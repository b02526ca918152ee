//! A request as it went over a socket.

/// A request, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The request line.
    pub line: String,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Recorded {
    /// A header's value.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The first request of these bytes and how many it takes; nothing while it isn't complete.
    ///
    /// # Panics
    /// When its length is not declared: what the edge sends always says it.
    pub(crate) fn first(bytes: &[u8]) -> Option<(Self, usize)> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&bytes[..end]).unwrap();
        let mut lines = head.split("\r\n");
        let line = lines.next().unwrap().to_owned();
        let headers: Vec<_> = lines
            .map(|header| header.split_once(':').unwrap())
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let mut recorded = Self {
            line,
            headers,
            body: Vec::new(),
        };
        let length = recorded.header("content-length");
        let length: usize = length.expect("a declared length").parse().unwrap();
        let start = end + 4;
        recorded.body = bytes.get(start..start + length)?.to_vec();
        Some((recorded, start + length))
    }

    /// All complete requests of a connection's bytes.
    pub(crate) fn all(mut bytes: &[u8]) -> Vec<Self> {
        let mut requests = Vec::new();
        while let Some((request, taken)) = Self::first(bytes) {
            requests.push(request);
            bytes = &bytes[taken..];
        }
        requests
    }
}
