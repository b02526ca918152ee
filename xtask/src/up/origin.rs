//! What stands in GitHub's place in a run: the diff of the samples' pull request, on loopback.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Result, ensure};

/// More than a client on the same machine needs for its few lines.
const LIMIT: Duration = Duration::from_secs(5);

/// The source whose reports have their content fetched from there.
pub(crate) const SOURCE: &str = "github-code";

/// It ends with the process: nothing is stored here.
pub(crate) struct Origin {
    address: SocketAddr,
    served: Arc<AtomicU64>,
}

impl Origin {
    /// Answers every comparison of two commits with this diff, and anything else with 404.
    pub(crate) fn start(diff: Vec<u8>) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let served = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&served);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that is gone has no use for an answer.
                if answer(&stream, &diff).unwrap_or(false) {
                    count.fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        Ok(Self { address, served })
    }

    /// How often the diff was fetched.
    pub(crate) fn served(&self) -> u64 {
        self.served.load(Ordering::SeqCst)
    }

    /// The configuration with this in the place of GitHub's API, which a private address has to be
    /// allowed for.
    pub(crate) fn in_place_of_github(&self, configuration: &str) -> Result<String> {
        const GITHUB: &str = "url = \"https://api.github.com/";
        let here = format!(
            "allow_private = [\"{}\"]\nurl = \"http://{}/",
            self.address.ip(),
            self.address
        );
        let found = configuration.matches(GITHUB).count();
        ensure!(found == 1, "{found} sources fetch from GitHub");
        Ok(configuration.replace(GITHUB, &here))
    }
}

/// Whether it was the diff.
fn answer(mut stream: &TcpStream, diff: &[u8]) -> std::io::Result<bool> {
    stream.set_read_timeout(Some(LIMIT))?;
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let compared = request.starts_with("GET /repositories/") && request.contains("/compare/");
    let (status, body) = match compared {
        true => ("200 OK", diff),
        false => ("404 Not Found", &b""[..]),
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    Ok(compared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_answers_a_comparison_and_nothing_else() {
        let origin = Origin::start(b"a diff".to_vec()).unwrap();
        let get = |path: &str| {
            let url = format!("http://{}{path}", origin.address);
            ureq::get(&url).call()
        };
        let mut found = get("/repositories/1/compare/a...b").unwrap();
        assert_eq!(found.body_mut().read_to_string().unwrap(), "a diff");
        get("/repositories/1").unwrap_err();
        assert_eq!(origin.served(), 1);
    }

    #[test]
    fn only_the_address_and_what_allows_it_are_changed() {
        let origin = Origin::start(Vec::new()).unwrap();
        let before =
            "[source.a.fetch]\nurl = \"https://api.github.com/x/{link.a}\"\nname = \"d\"\n";
        let expected = format!(
            "[source.a.fetch]\nallow_private = [\"127.0.0.1\"]\nurl = \"http://{}/x/{{link.a}}\"\n\
             name = \"d\"\n",
            origin.address
        );
        assert_eq!(origin.in_place_of_github(before).unwrap(), expected);
        origin.in_place_of_github("").unwrap_err();
    }
}
