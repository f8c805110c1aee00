//! Serves metrics to Prometheus: a tiny HTTP server that knows `GET /metrics` and nothing else.
//!
//! One thread answers one connection after the other. A request must come within a deadline and a size, so
//! a slow or hostile peer can hold up others for a moment, but neither the job nor the end of the program.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::MetricsError;
use crate::error::Result;

/// Longest request head.
const MAX_REQUEST: usize = 8 << 10;
/// Time for a request to arrive and its answer to leave.
const DEADLINE: Duration = Duration::from_secs(5);

/// A running server. Dropping it stops it.
#[derive(Debug)]
pub struct PrometheusServer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl PrometheusServer {
    /// Serves what `render` gives (see [`render_prometheus`](super::render_prometheus)) under `/metrics`
    /// on `address`: `host:port`, or a port alone for loopback.
    ///
    /// # Errors
    /// `metrics.listen`, for example when the port is in use.
    pub fn start(address: &str, render: impl Fn() -> String + Send + 'static) -> Result<Self> {
        Self::start_with(address, DEADLINE, render)
    }

    fn start_with(
        address: &str,
        deadline: Duration,
        render: impl Fn() -> String + Send + 'static,
    ) -> Result<Self> {
        let full = match address.trim().parse::<u16>() {
            Ok(port) => format!("127.0.0.1:{port}"),
            Err(_) => address.trim().to_owned(),
        };
        let refuse = |cause: io::Error| MetricsError::Listen {
            address: full.clone(),
            cause: Arc::new(cause),
        };
        let listener = TcpListener::bind(&full).map_err(refuse)?;
        let address = listener.local_addr().map_err(refuse)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::Builder::new()
            .name("prometheus".to_owned())
            .spawn(move || {
                for connection in listener.incoming() {
                    if stopped.load(Ordering::SeqCst) {
                        break;
                    }
                    let answered = connection.and_then(|c| answer(c, deadline, &render));
                    if let Err(error) = answered {
                        tracing::debug!(%error, "a request for metrics was not answered");
                    }
                }
            })
            .map_err(refuse)?;
        Ok(Self {
            address,
            stop,
            thread: Some(thread),
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for PrometheusServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // The thread waits in accept: a connection wakes it.
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(match address.ip() {
                IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
        }
        let woken = TcpStream::connect_timeout(&address, DEADLINE).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| woken)
            && thread.join().is_err()
        {
            tracing::error!("the thread that serves metrics panicked");
        }
    }
}

fn answer(
    mut connection: TcpStream,
    deadline: Duration,
    render: &impl Fn() -> String,
) -> io::Result<()> {
    let end = Instant::now() + deadline;
    let (status, body) = match read_request(&mut connection, end)? {
        None => ("431 Request Header Fields Too Large", String::new()),
        Some(request) if is_metrics(&request) => ("200 OK", render()),
        Some(_) => ("404 Not Found", "only GET /metrics is served\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    connection.set_write_timeout(Some(remaining(end)?))?;
    connection.write_all(head.as_bytes())?;
    connection.write_all(body.as_bytes())
}

/// The head of a request; `None` when it is too long.
fn read_request(connection: &mut TcpStream, end: Instant) -> io::Result<Option<Vec<u8>>> {
    let mut request = Vec::new();
    let mut buffer = [0; 1024];
    while !request.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        if request.len() > MAX_REQUEST {
            return Ok(None);
        }
        connection.set_read_timeout(Some(remaining(end)?))?;
        match connection.read(&mut buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => request.extend_from_slice(&buffer[..n]),
        }
    }
    Ok(Some(request))
}

fn is_metrics(request: &[u8]) -> bool {
    let line = request.split(|byte| *byte == b'\r').next().unwrap_or(&[]);
    let mut words = line.split(|byte| *byte == b' ');
    let method = words.next();
    let path = words.next().and_then(|t| t.split(|b| *b == b'?').next());
    method == Some(b"GET".as_slice())
        && path == Some(b"/metrics".as_slice())
        && words
            .next()
            .is_some_and(|word| word.starts_with(b"HTTP/1."))
}

fn remaining(end: Instant) -> io::Result<Duration> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() {
        Err(io::ErrorKind::TimedOut.into())
    } else {
        Ok(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(deadline: Duration) -> PrometheusServer {
        PrometheusServer::start_with("0", deadline, || "aquifer_x 1\n".to_owned()).unwrap()
    }

    fn ask(server: &PrometheusServer, request: &[u8]) -> String {
        let mut connection = TcpStream::connect(server.address()).unwrap();
        // The server may answer and close before it has read everything.
        let _ = connection.write_all(request);
        let mut answer = Vec::new();
        let _ = connection.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    #[test]
    fn only_get_metrics_is_answered() {
        let server = start(DEADLINE);
        assert!(server.address().ip().is_loopback());
        let answer = ask(&server, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(
            answer.ends_with("Connection: close\r\n\r\naquifer_x 1\n"),
            "{answer}"
        );
        for other in [
            "GET / HTTP/1.1",
            "GET /metrics/x HTTP/1.1",
            "POST /metrics HTTP/1.1",
            "GET /metrics",
            "\u{7f}\u{0}",
        ] {
            let answer = ask(&server, format!("{other}\r\n\r\n").as_bytes());
            assert!(answer.starts_with("HTTP/1.1 404"), "{other}: {answer}");
        }
    }

    #[test]
    fn a_long_request_is_refused_and_the_next_one_answered() {
        let server = start(DEADLINE);
        let answer = ask(&server, &[b'x'; MAX_REQUEST + 1024]);
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 431"),
            "{answer}"
        );
        let answer = ask(&server, b"GET /metrics HTTP/1.0\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    #[test]
    fn a_silent_peer_does_not_stop_the_server() {
        let server = start(Duration::from_millis(50));
        let _silent = TcpStream::connect(server.address()).unwrap();
        let answer = ask(&server, b"GET /metrics HTTP/1.1\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    #[test]
    fn a_used_port_is_a_clear_error_and_a_dropped_server_frees_it() {
        let server = start(DEADLINE);
        let address = server.address().to_string();
        let error = PrometheusServer::start(&address, String::new).unwrap_err();
        assert_eq!(error.code(), "metrics.listen");
        assert!(error.to_string().contains(&address), "{error}");
        drop(server);
        PrometheusServer::start(&address, String::new).unwrap();
        let error = PrometheusServer::start("no port", String::new).unwrap_err();
        assert_eq!(error.code(), "metrics.listen");
    }
}
