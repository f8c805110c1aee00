//! What two processes say to each other before they trust each other.
//!
//! ```text
//! dialer                                     listener
//!   hello (64 bytes, fresh nonce)  ------->
//!                                  <-------  hello
//!   proof                          ------->  checks the proof, then the contents of the hello
//!                                  <-------  proof, or a refusal with its reason
//! ```
//! A proof is HMAC-SHA256, keyed by the secret, over the prover's role and both hellos: so everything in
//! the hellos is authenticated, a proof cannot be replayed (fresh nonces) nor sent back to its maker (the
//! role). The dialer proves first, so that a stranger who dials learns nothing that depends on the secret.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::Secret;
use crate::epoch::now;

/// Raised when hellos or proofs change.
pub(super) const PROTOCOL_VERSION: u32 = 1;

const MAGIC: &[u8; 8] = b"AQFCLSTR";
const HELLO_LENGTH: usize = 64;
const PROOF_LENGTH: usize = 32;
const NONCE_LENGTH: usize = 32;
/// Longest text of a refusal.
const MAX_REASON: usize = 512;

/// First byte of what follows the hellos.
const TAG_PROOF: u8 = 1;
const TAG_REFUSAL: u8 = 2;
/// What a process sends to each peer when it has connected to all.
pub(super) const TAG_READY: u8 = 3;

/// Who a process says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hello {
    pub(super) version: u32,
    pub(super) process: u32,
    pub(super) processes: u32,
    pub(super) workers: u32,
    /// Fingerprint of the program.
    pub(super) fingerprint: u64,
    pub(super) nonce: [u8; NONCE_LENGTH],
}

/// The bytes of a hello, which the proofs cover.
pub(super) type HelloBytes = [u8; HELLO_LENGTH];

impl Hello {
    /// The same hello with a fresh nonce, for one connection.
    pub(super) fn with_fresh_nonce(mut self) -> io::Result<Self> {
        getrandom::fill(&mut self.nonce).map_err(|e| io::Error::other(e.to_string()))?;
        Ok(self)
    }

    pub(super) fn encode(&self) -> HelloBytes {
        let mut bytes = [0; HELLO_LENGTH];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&self.version.to_be_bytes());
        bytes[12..16].copy_from_slice(&self.process.to_be_bytes());
        bytes[16..20].copy_from_slice(&self.processes.to_be_bytes());
        bytes[20..24].copy_from_slice(&self.workers.to_be_bytes());
        bytes[24..32].copy_from_slice(&self.fingerprint.to_be_bytes());
        bytes[32..].copy_from_slice(&self.nonce);
        bytes
    }

    /// `None` when the bytes do not start as a hello does.
    pub(super) fn decode(bytes: &HelloBytes) -> Option<Self> {
        let word = |at: usize| {
            let word = bytes[at..]
                .first_chunk()
                .expect("words lie within the hello");
            u32::from_be_bytes(*word)
        };
        if &bytes[..8] != MAGIC {
            return None;
        }
        let fingerprint = bytes[24..].first_chunk().expect("it lies within the hello");
        let nonce = bytes[32..].first_chunk().expect("it ends the hello");
        Some(Self {
            version: word(8),
            process: word(12),
            processes: word(16),
            workers: word(20),
            fingerprint: u64::from_be_bytes(*fingerprint),
            nonce: *nonce,
        })
    }
}

/// Who makes a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Dialer,
    Listener,
}

/// Both hellos of one connection.
#[derive(Debug)]
pub(super) struct Transcript {
    pub(super) dialer: HelloBytes,
    pub(super) listener: HelloBytes,
}

impl Transcript {
    fn mac(&self, role: Role, secret: Option<&Secret>) -> Hmac<Sha256> {
        // Without a secret the proof proves nothing; it is exchanged all the same, so that a process with
        // a secret and one without refuse each other.
        let key = secret.map_or(&b"no secret"[..], Secret::bytes);
        let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
        mac.update(if secret.is_some() {
            b"secret"
        } else {
            b"nobody"
        });
        mac.update(match role {
            Role::Dialer => b"dialer__",
            Role::Listener => b"listener",
        });
        mac.update(&self.dialer);
        mac.update(&self.listener);
        mac
    }

    pub(super) fn prove(&self, role: Role, secret: Option<&Secret>) -> [u8; PROOF_LENGTH] {
        self.mac(role, secret).finalize().into_bytes().into()
    }

    /// In constant time.
    pub(super) fn verify(&self, role: Role, secret: Option<&Secret>, proof: &[u8]) -> bool {
        self.mac(role, secret).verify_slice(proof).is_ok()
    }
}

/// Why a listener refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RefusalKind {
    Secret,
    Other,
}

/// What follows the hellos.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Proof([u8; PROOF_LENGTH]),
    Refusal(RefusalKind, String),
}

/// A connection whose reads and writes must all end before a deadline.
#[derive(Debug)]
pub(super) struct Channel {
    stream: TcpStream,
    deadline: Instant,
}

impl Channel {
    pub(super) fn new(stream: TcpStream, deadline: Instant) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, deadline })
    }

    /// The socket as timely wants it: blocking, without time-outs.
    pub(super) fn into_stream(self) -> io::Result<TcpStream> {
        self.stream.set_read_timeout(None)?;
        self.stream.set_write_timeout(None)?;
        Ok(self.stream)
    }

    /// Whether the peer has closed the connection.
    pub(super) fn is_closed(&self) -> bool {
        let looked = self
            .stream
            .set_nonblocking(true)
            .and_then(|()| self.stream.peek(&mut [0]));
        let restored = self.stream.set_nonblocking(false);
        match looked {
            Ok(n) => n == 0 || restored.is_err(),
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        }
    }

    /// Gives the peer time until `deadline`.
    pub(super) fn set_deadline(&mut self, deadline: Instant) {
        self.deadline = deadline;
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.set_write_timeout(Some(self.remaining()?))?;
        self.stream.write_all(bytes)
    }

    pub(super) fn receive<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.receive_into(&mut bytes)?;
        Ok(bytes)
    }

    fn receive_into(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        let mut filled = 0;
        while filled < bytes.len() {
            self.stream.set_read_timeout(Some(self.remaining()?))?;
            match self.stream.read(&mut bytes[filled..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => filled += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub(super) fn send_proof(&mut self, proof: &[u8; PROOF_LENGTH]) -> io::Result<()> {
        let mut message = vec![TAG_PROOF];
        message.extend_from_slice(proof);
        self.send(&message)
    }

    pub(super) fn send_refusal(&mut self, kind: RefusalKind, reason: &str) -> io::Result<()> {
        let mut end = reason.len().min(MAX_REASON);
        while !reason.is_char_boundary(end) {
            end -= 1;
        }
        let length = u16::try_from(end).expect("the longest reason is short");
        let mut message = vec![TAG_REFUSAL, u8::from(kind == RefusalKind::Secret)];
        message.extend_from_slice(&length.to_be_bytes());
        message.extend_from_slice(&reason.as_bytes()[..end]);
        self.send(&message)
    }

    pub(super) fn receive_answer(&mut self) -> io::Result<Answer> {
        match self.receive::<1>()? {
            [TAG_PROOF] => Ok(Answer::Proof(self.receive()?)),
            [TAG_REFUSAL] => {
                let [kind, high, low] = self.receive()?;
                let length = usize::from(u16::from_be_bytes([high, low]));
                if length > MAX_REASON {
                    return Err(garbage("a refusal is too long"));
                }
                let mut reason = vec![0; length];
                self.receive_into(&mut reason)?;
                let kind = if kind == 1 {
                    RefusalKind::Secret
                } else {
                    RefusalKind::Other
                };
                // It comes from a peer that has proved nothing and goes to a log: no control characters.
                let reason = String::from_utf8_lossy(&reason)
                    .chars()
                    .map(|c| if c.is_control() { ' ' } else { c })
                    .collect();
                Ok(Answer::Refusal(kind, reason))
            }
            [tag] => Err(garbage(&format!("message type {tag} is unknown"))),
        }
    }

    fn remaining(&self) -> io::Result<Duration> {
        let left = self.deadline.saturating_duration_since(now());
        if left.is_zero() {
            Err(io::ErrorKind::TimedOut.into())
        } else {
            Ok(left)
        }
    }
}

pub(super) fn garbage(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(process: u32) -> Hello {
        Hello {
            version: PROTOCOL_VERSION,
            process,
            processes: 3,
            workers: 2,
            fingerprint: 0x0123_4567_89AB_CDEF,
            nonce: [0; NONCE_LENGTH],
        }
        .with_fresh_nonce()
        .unwrap()
    }

    #[test]
    fn hellos_read_back_and_nonces_differ() {
        let hello = hello(1);
        assert_eq!(Hello::decode(&hello.encode()), Some(hello));
        assert_ne!(hello.with_fresh_nonce().unwrap().nonce, hello.nonce);
        assert_eq!(Hello::decode(&[0; HELLO_LENGTH]), None);
    }

    #[test]
    fn a_proof_is_good_for_one_role_secret_and_transcript() {
        let secret = |text: &str| Some(Secret::new(text, "test").unwrap());
        let (right, other) = (secret("no secret"), secret("other"));
        let mut transcript = Transcript {
            dialer: hello(1).encode(),
            listener: hello(0).encode(),
        };
        let proof = transcript.prove(Role::Dialer, right.as_ref());
        assert!(transcript.verify(Role::Dialer, right.as_ref(), &proof));
        assert!(!transcript.verify(Role::Listener, right.as_ref(), &proof));
        assert!(!transcript.verify(Role::Dialer, other.as_ref(), &proof));
        assert!(!transcript.verify(Role::Dialer, None, &proof));
        assert!(!transcript.verify(Role::Dialer, right.as_ref(), &proof[1..]));
        for at in [12, 20, 24, 63] {
            transcript.dialer[at] ^= 1;
            assert!(!transcript.verify(Role::Dialer, right.as_ref(), &proof));
            transcript.dialer[at] ^= 1;
            transcript.listener[at] ^= 1;
            assert!(!transcript.verify(Role::Dialer, right.as_ref(), &proof));
            transcript.listener[at] ^= 1;
        }
    }
}
