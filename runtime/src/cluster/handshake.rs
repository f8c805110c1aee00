//! Opens the sockets between the processes of a cluster.
//!
//! As in timely, process i dials every process below it and listens for those above, and start order does
//! not matter. Unlike timely's own connecting, peers authenticate each other (`protocol.rs`), waiting ends
//! at a deadline with a message that names who is missing, and nothing is printed.
//!
//! - Whoever does not speak the protocol (a port scanner, another service) is ignored; its last sign is
//!   shown if the peer stays missing.
//! - Whoever speaks it but does not fit (another secret, version, number of processes or workers, program,
//!   or an index that is taken) ends the start on both sides at once: waiting cannot mend it.
//! - No process goes on before all are connected to all.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};
use parking_lot::Mutex;

use super::protocol::{
    Answer, Channel, Hello, PROTOCOL_VERSION, RefusalKind, Role, TAG_READY, Transcript, garbage,
};
use super::{ClusterError, ClusterSpec, Secret};
use crate::epoch::now;
use crate::error::{Result, RuntimeError};

/// Time for one handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Time between two tries to dial.
const RETRY_DELAY: Duration = Duration::from_millis(100);
/// Time between two looks for new connections.
const ACCEPT_DELAY: Duration = Duration::from_millis(5);
/// Time between two looks at the peers that are connected already.
const WATCH_DELAY: Duration = Duration::from_millis(50);
/// Connections that may be in a handshake at once; more are closed, and their peers try again.
const MAX_HANDSHAKES: usize = 64;

/// Connects this process to all others of `spec`: a socket for each in the order of the processes, and
/// `None` for this one, as timely's `initialize_networking_from_sockets` takes them. `fingerprint` must be
/// the same in all processes; give one of the program.
///
/// # Errors
/// `cluster.bind`, `cluster.secret_needed`, `cluster.wrong_secret`, `cluster.mismatch`,
/// `cluster.duplicate_process`, `cluster.refused`, `cluster.connect_timeout` (naming the missing peers),
/// `cluster.peer_lost`.
pub fn connect(spec: &ClusterSpec, fingerprint: u64) -> Result<Vec<Option<TcpStream>>> {
    let has_listeners = spec.process + 1 < spec.processes();
    let listener = has_listeners.then(|| listen(spec)).transpose()?;
    connect_with(spec, fingerprint, listener)
}

/// As [`connect`], with a listener that is open already; `spec` holds its address. For tests and for
/// supervisors that hand sockets down.
///
/// # Errors
/// Those of [`connect`].
pub fn connect_on(
    spec: &ClusterSpec,
    fingerprint: u64,
    listener: TcpListener,
) -> Result<Vec<Option<TcpStream>>> {
    connect_with(spec, fingerprint, Some(listener))
}

fn listen(spec: &ClusterSpec) -> Result<TcpListener> {
    let address = &spec.addresses[spec.process];
    let refuse = |cause: io::Error| {
        RuntimeError::from(ClusterError::Bind {
            process: spec.process,
            address: address.clone(),
            cause: Arc::new(cause),
        })
    };
    let resolved: Vec<_> = address.to_socket_addrs().map_err(refuse)?.collect();
    let is_public = resolved.iter().any(|address| !address.ip().is_loopback());
    if is_public && spec.secret.is_none() {
        return Err(ClusterError::SecretNeeded {
            process: spec.process,
            address: address.clone(),
        }
        .into());
    }
    TcpListener::bind(&resolved[..]).map_err(refuse)
}

fn connect_with(
    spec: &ClusterSpec,
    fingerprint: u64,
    listener: Option<TcpListener>,
) -> Result<Vec<Option<TcpStream>>> {
    let started = now();
    let deadline = started + spec.connect_timeout;
    let word = |n: usize, what: &str| {
        u32::try_from(n).map_err(|_| ClusterError::Argument {
            argument: what.to_owned(),
            reason: format!("{n} is too many"),
        })
    };
    let (events, outcomes) = unbounded();
    // Dropped at the end: that stops the threads.
    let (_stop, stopped) = bounded::<()>(0);
    let member = Arc::new(Member {
        hello: Hello {
            version: PROTOCOL_VERSION,
            process: word(spec.process, "process index")?,
            processes: word(spec.processes(), "number of processes")?,
            workers: word(spec.workers_per_process, "number of workers")?,
            fingerprint,
            nonce: [0; 32],
        },
        addresses: spec.addresses.clone(),
        secret: spec.secret.clone(),
        deadline,
        events,
        stopped,
        connected: Mutex::default(),
        handshakes: AtomicUsize::new(0),
    });
    for peer in 0..spec.process {
        let member = Arc::clone(&member);
        spawn(&format!("dial-{peer}"), move || member.dial(peer))?;
    }
    if let Some(listener) = listener {
        let member = Arc::clone(&member);
        spawn("listen", move || member.accept(&listener))?;
    }
    let channels = gather(spec, &outcomes, started, deadline)?;
    barrier(spec, channels, deadline)
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<()> {
    let spawned = thread::Builder::new()
        .name(format!("cluster-{name}"))
        .spawn(run);
    spawned
        .map(drop)
        .map_err(|error| RuntimeError::internal(format!("no thread to connect: {error}")))
}

/// Waits until all peers are connected.
fn gather(
    spec: &ClusterSpec,
    outcomes: &Receiver<Event>,
    started: Instant,
    deadline: Instant,
) -> Result<BTreeMap<usize, Channel>> {
    let mut channels = BTreeMap::new();
    let mut signs: BTreeMap<Option<usize>, String> = BTreeMap::new();
    while channels.len() + 1 < spec.processes() {
        match outcomes.recv_deadline(deadline.min(now() + WATCH_DELAY)) {
            Ok(Event::Connected(peer, channel)) => {
                channels.insert(peer, channel);
            }
            Ok(Event::Sign(peer, sign)) => {
                signs.insert(peer, sign);
            }
            Ok(Event::Fatal(error)) => return Err((*error).into()),
            Err(_) if now() < deadline => {
                // A peer that has failed will not come back; without it the start cannot succeed.
                if let Some((peer, _)) = channels.iter().find(|(_, channel)| channel.is_closed()) {
                    return Err(lost(spec, *peer, &io::ErrorKind::UnexpectedEof.into()));
                }
            }
            Err(_) => {
                return Err(ClusterError::ConnectTimeout {
                    waited_ms: millis(now().saturating_duration_since(started)),
                    missing: missing(spec, &channels, &signs),
                }
                .into());
            }
        }
    }
    Ok(channels)
}

/// The peers that did not come, each with the last that was seen of it.
fn missing(
    spec: &ClusterSpec,
    channels: &BTreeMap<usize, Channel>,
    signs: &BTreeMap<Option<usize>, String>,
) -> Vec<String> {
    let mut missing = Vec::new();
    let absent = |peer: &usize| *peer != spec.process && !channels.contains_key(peer);
    for peer in (0..spec.processes()).filter(absent) {
        let address = &spec.addresses[peer];
        let sign = match signs.get(&Some(peer)) {
            Some(sign) => sign.as_str(),
            None if peer > spec.process => "it has not called",
            None => "no answer",
        };
        missing.push(format!("process {peer} at '{address}' ({sign})"));
    }
    // Strangers may be the missing peers in disguise.
    if let Some(sign) = signs.get(&None) {
        missing.push(format!("last call of a stranger: {sign}"));
    }
    missing
}

/// Tells every peer that this process is connected to all, and waits to hear the same from each.
fn barrier(
    spec: &ClusterSpec,
    mut channels: BTreeMap<usize, Channel>,
    deadline: Instant,
) -> Result<Vec<Option<TcpStream>>> {
    for (peer, channel) in &mut channels {
        channel.set_deadline(deadline);
        channel
            .send(&[TAG_READY])
            .map_err(|error| lost(spec, *peer, &error))?;
    }
    let mut sockets: Vec<_> = (0..spec.processes()).map(|_| None).collect();
    for (peer, mut channel) in channels {
        let ready = channel.receive::<1>().and_then(|tag| match tag {
            [TAG_READY] => channel.into_stream(),
            _ => Err(garbage("it sent something else")),
        });
        sockets[peer] = Some(ready.map_err(|error| lost(spec, peer, &error))?);
    }
    Ok(sockets)
}

fn lost(spec: &ClusterSpec, peer: usize, error: &io::Error) -> RuntimeError {
    let reason = if error.kind() == io::ErrorKind::TimedOut {
        "it did not connect to all others in time".to_owned()
    } else {
        "it ended before all processes were connected; its own message says why".to_owned()
    };
    ClusterError::PeerLost {
        peer: format!("process {peer} at '{}'", spec.addresses[peer]),
        reason,
    }
    .into()
}

/// What the threads report.
enum Event {
    /// A peer has proved itself.
    Connected(usize, Channel),
    /// Something that may pass was seen of a peer (or of a stranger).
    Sign(Option<usize>, String),
    /// Something that will not pass.
    Fatal(Box<ClusterError>),
}

/// How a handshake ends without success.
enum Failure {
    /// Trying again may help.
    Passing(String),
    Fatal(ClusterError),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Passing(match error.kind() {
            io::ErrorKind::TimedOut => "it stayed silent".to_owned(),
            io::ErrorKind::UnexpectedEof => "it closed the connection".to_owned(),
            _ => error.to_string(),
        })
    }
}

/// This process, as the threads see it.
struct Member {
    hello: Hello,
    addresses: Vec<String>,
    secret: Option<Secret>,
    deadline: Instant,
    events: Sender<Event>,
    stopped: Receiver<()>,
    /// Peers above this process that have proved themselves.
    connected: Mutex<BTreeSet<u32>>,
    /// Handshakes with callers that are going on.
    handshakes: AtomicUsize,
}

impl Member {
    /// Waits, but no longer than the start goes on; `false` when it is over.
    fn pause(&self, delay: Duration) -> bool {
        self.stopped.recv_timeout(delay) == Err(RecvTimeoutError::Timeout) && now() < self.deadline
    }

    fn handshake_deadline(&self) -> Instant {
        (now() + HANDSHAKE_TIMEOUT).min(self.deadline)
    }

    fn report(&self, event: Event) {
        // Nobody listens any more when the start has ended otherwise.
        let _ = self.events.send(event);
    }

    /// Dials process `peer` until it answers.
    fn dial(&self, peer: usize) {
        loop {
            match self.try_dial(peer) {
                Ok(channel) => return self.report(Event::Connected(peer, channel)),
                Err(Failure::Fatal(error)) => return self.report(Event::Fatal(Box::new(error))),
                Err(Failure::Passing(sign)) => self.report(Event::Sign(Some(peer), sign)),
            }
            if !self.pause(RETRY_DELAY) {
                return;
            }
        }
    }

    fn try_dial(&self, peer: usize) -> Result<Channel, Failure> {
        let address = &self.addresses[peer];
        let deadline = self.handshake_deadline();
        let mut last = garbage("the address has no entry");
        for resolved in address.to_socket_addrs()? {
            let left = deadline.saturating_duration_since(now());
            if left.is_zero() {
                break;
            }
            match TcpStream::connect_timeout(&resolved, left) {
                Ok(stream) => {
                    let channel = Channel::new(stream, deadline)?;
                    return self.greet(channel, peer);
                }
                Err(error) => last = error,
            }
        }
        Err(Failure::Passing(last.to_string()))
    }

    /// The dialer's side of the handshake.
    fn greet(&self, mut channel: Channel, peer: usize) -> Result<Channel, Failure> {
        let name = format!("process {peer} at '{}'", self.addresses[peer]);
        let hello = self.hello.with_fresh_nonce()?.encode();
        channel.send(&hello)?;
        let answer = channel.receive()?;
        let theirs = Hello::decode(&answer).ok_or_else(|| garbage("it speaks another protocol"))?;
        self.check_version(&theirs, &name).map_err(Failure::Fatal)?;
        let transcript = Transcript {
            dialer: hello,
            listener: answer,
        };
        channel.send_proof(&transcript.prove(Role::Dialer, self.secret.as_ref()))?;
        match channel.receive_answer()? {
            Answer::Proof(proof) => {
                if !transcript.verify(Role::Listener, self.secret.as_ref(), &proof) {
                    return Err(Failure::Fatal(ClusterError::WrongSecret { peer: name }));
                }
                self.check(&theirs, &name).map_err(Failure::Fatal)?;
                if theirs.process as usize != peer {
                    return Err(Failure::Fatal(ClusterError::Mismatch {
                        peer: name,
                        what: "process index",
                        ours: format!("{peer} for it in the host list"),
                        theirs: theirs.process.to_string(),
                    }));
                }
                Ok(channel)
            }
            Answer::Refusal(RefusalKind::Secret, _) => {
                Err(Failure::Fatal(ClusterError::WrongSecret { peer: name }))
            }
            Answer::Refusal(RefusalKind::Other, reason) => {
                // What we see ourselves is more exact than what the peer says.
                self.check(&theirs, &name).map_err(Failure::Fatal)?;
                Err(Failure::Fatal(ClusterError::Refused { peer: name, reason }))
            }
        }
    }

    /// Takes calls, each on a thread of its own, so that a silent caller holds up nobody.
    fn accept(self: Arc<Self>, listener: &TcpListener) {
        if let Err(error) = listener.set_nonblocking(true) {
            let sign = format!("this process cannot listen: {error}");
            return self.report(Event::Sign(None, sign));
        }
        loop {
            match listener.accept() {
                Ok((stream, from)) => {
                    if self.handshakes.fetch_add(1, Ordering::SeqCst) >= MAX_HANDSHAKES {
                        self.handshakes.fetch_sub(1, Ordering::SeqCst);
                        continue;
                    }
                    let member = Arc::clone(&self);
                    let answered = spawn("answer", move || {
                        member.answer(stream, &from.to_string());
                        member.handshakes.fetch_sub(1, Ordering::SeqCst);
                    });
                    if let Err(error) = answered {
                        self.report(Event::Sign(None, error.to_string()));
                    }
                }
                Err(error) => {
                    if error.kind() != io::ErrorKind::WouldBlock {
                        self.report(Event::Sign(None, error.to_string()));
                    }
                    if !self.pause(ACCEPT_DELAY) {
                        return;
                    }
                }
            }
        }
    }

    fn answer(&self, stream: TcpStream, from: &str) {
        match self.welcome(stream, from) {
            Ok((peer, channel)) => self.report(Event::Connected(peer, channel)),
            Err(Failure::Fatal(error)) => self.report(Event::Fatal(Box::new(error))),
            Err(Failure::Passing(sign)) => {
                tracing::debug!(from, sign, "a call was dropped");
                self.report(Event::Sign(None, format!("'{from}': {sign}")));
            }
        }
    }

    /// The listener's side of the handshake.
    fn welcome(&self, stream: TcpStream, from: &str) -> Result<(usize, Channel), Failure> {
        let mut channel = Channel::new(stream, self.handshake_deadline())?;
        let call = channel.receive()?;
        let theirs = Hello::decode(&call).ok_or_else(|| garbage("it speaks another protocol"))?;
        let name = format!("process {} at '{from}'", theirs.process);
        let hello = self.hello.with_fresh_nonce()?.encode();
        channel.send(&hello)?;
        // The caller sees the other version in our hello.
        self.check_version(&theirs, &name).map_err(Failure::Fatal)?;
        let transcript = Transcript {
            dialer: call,
            listener: hello,
        };
        let Answer::Proof(proof) = channel.receive_answer()? else {
            return Err(garbage("it refused in the middle of its call").into());
        };
        let refuse = |channel: &mut Channel, kind: RefusalKind, error: ClusterError| {
            // If the caller does not hear it, it will see the connection close.
            let _ = channel.send_refusal(kind, &error.to_string());
            Failure::Fatal(error)
        };
        if !transcript.verify(Role::Dialer, self.secret.as_ref(), &proof) {
            let error = ClusterError::WrongSecret { peer: name };
            return Err(refuse(&mut channel, RefusalKind::Secret, error));
        }
        if let Err(error) = self.check(&theirs, &name) {
            return Err(refuse(&mut channel, RefusalKind::Other, error));
        }
        let is_new = theirs.process > self.hello.process
            && theirs.process < self.hello.processes
            && self.connected.lock().insert(theirs.process);
        if !is_new {
            let error = ClusterError::DuplicateProcess {
                peer: name,
                index: theirs.process as usize,
            };
            return Err(refuse(&mut channel, RefusalKind::Other, error));
        }
        let proved = channel.send_proof(&transcript.prove(Role::Listener, self.secret.as_ref()));
        if let Err(error) = proved {
            self.connected.lock().remove(&theirs.process);
            return Err(error.into());
        }
        Ok((theirs.process as usize, channel))
    }

    fn check_version(&self, theirs: &Hello, peer: &str) -> Result<(), ClusterError> {
        same("protocol version", self.hello.version, theirs.version, peer)
    }

    /// Whether the peer was started as this process was.
    fn check(&self, theirs: &Hello, peer: &str) -> Result<(), ClusterError> {
        let ours = &self.hello;
        same(
            "number of processes",
            ours.processes,
            theirs.processes,
            peer,
        )?;
        same("workers per process", ours.workers, theirs.workers, peer)?;
        let fingerprint = |hello: &Hello| format!("{:016x}", hello.fingerprint);
        same(
            "program fingerprint",
            fingerprint(ours),
            fingerprint(theirs),
            peer,
        )
    }
}

fn same<V: PartialEq + ToString>(
    what: &'static str,
    ours: V,
    theirs: V,
    peer: &str,
) -> Result<(), ClusterError> {
    if ours == theirs {
        return Ok(());
    }
    Err(ClusterError::Mismatch {
        peer: peer.to_owned(),
        what,
        ours: ours.to_string(),
        theirs: theirs.to_string(),
    })
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    type Outcome = Result<Vec<Option<TcpStream>>>;

    /// Listeners on free ports, and what each process must know.
    fn cluster(processes: usize) -> (Vec<TcpListener>, Vec<ClusterSpec>) {
        let listeners: Vec<_> = (0..processes)
            .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
            .collect();
        let addresses: Vec<_> = listeners
            .iter()
            .map(|listener| listener.local_addr().unwrap().to_string())
            .collect();
        let specs = (0..processes).map(|process| ClusterSpec {
            workers_per_process: 2,
            process,
            addresses: addresses.clone(),
            secret: Some(Secret::new("hunter2", "test").unwrap()),
            connect_timeout: Duration::from_secs(20),
        });
        (listeners, specs.collect())
    }

    /// Connects all processes at once, each as `change` makes it.
    fn connect_all(processes: usize, change: impl Fn(&mut ClusterSpec, &mut u64)) -> Vec<Outcome> {
        let (listeners, specs) = cluster(processes);
        let threads: Vec<_> = listeners
            .into_iter()
            .zip(specs)
            .map(|(listener, mut spec)| {
                let mut fingerprint = 7;
                change(&mut spec, &mut fingerprint);
                thread::spawn(move || connect_on(&spec, fingerprint, listener))
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    }

    fn codes(outcomes: &[Outcome]) -> Vec<&'static str> {
        outcomes
            .iter()
            .map(|outcome| {
                outcome
                    .as_ref()
                    .map_or_else(RuntimeError::code, |_| "connected")
            })
            .collect()
    }

    #[test]
    fn three_processes_get_a_socket_to_each_other() {
        for secret in [true, false] {
            let mut sockets: Vec<_> = connect_all(3, |spec, _| {
                if !secret {
                    spec.secret = None;
                }
            })
            .into_iter()
            .map(Result::unwrap)
            .collect();
            for (from, to) in (0..9).map(|pair| (pair / 3, pair % 3)) {
                if from == to {
                    assert!(sockets[from][from].is_none());
                } else {
                    let message = [from as u8, to as u8];
                    sockets[from][to]
                        .as_mut()
                        .unwrap()
                        .write_all(&message)
                        .unwrap();
                    let mut received = [9; 2];
                    let socket = sockets[to][from].as_mut().unwrap();
                    assert_eq!(socket.read_timeout().unwrap(), None);
                    assert!(socket.nodelay().unwrap());
                    socket.read_exact(&mut received).unwrap();
                    assert_eq!(received, message);
                }
            }
        }
    }

    #[test]
    fn one_process_needs_no_network() {
        let mut spec = ClusterSpec::single(1);
        spec.addresses = vec!["no.such.host:1".to_owned()];
        assert!(matches!(&connect(&spec, 0).unwrap()[..], [None]));
    }

    #[test]
    fn another_secret_is_refused_on_both_sides() {
        for secret in [Some("hunter3"), None] {
            let outcomes = connect_all(2, |spec, _| {
                if spec.process == 1 {
                    spec.secret = secret.map(|text| Secret::new(text, "test").unwrap());
                }
            });
            assert_eq!(codes(&outcomes), ["cluster.wrong_secret"; 2]);
            let text = format!("{outcomes:?}");
            assert!(!text.contains("hunter"), "{text}");
        }
    }

    #[test]
    fn whoever_was_started_otherwise_is_refused_on_both_sides() {
        let check = |what: &str, change: fn(&mut ClusterSpec, &mut u64)| {
            let outcomes = connect_all(2, |spec, fingerprint| {
                if spec.process == 1 {
                    change(spec, fingerprint);
                }
            });
            assert_eq!(codes(&outcomes), ["cluster.mismatch"; 2]);
            for outcome in outcomes {
                let text = outcome.unwrap_err().to_string();
                assert!(text.contains(what), "{text}");
            }
        };
        check("workers per process", |spec, _| {
            spec.workers_per_process = 3;
        });
        check("program fingerprint", |_, fingerprint| *fingerprint = 8);
        check("number of processes", |spec, _| {
            spec.addresses.push("127.0.0.1:1".to_owned());
        });
    }

    #[test]
    fn a_taken_index_is_refused() {
        let (mut listeners, mut specs) = cluster(3);
        specs[2].process = 1;
        let last = specs.pop().unwrap();
        let second = specs.pop().unwrap();
        let first = specs.pop().unwrap();
        let (l2, l1, l0) = (listeners.pop(), listeners.pop(), listeners.pop());
        let threads = [(first, l0), (second, l1), (last, l2)]
            .map(|(spec, listener)| thread::spawn(move || connect_on(&spec, 7, listener.unwrap())));
        let outcomes: Vec<_> = threads.map(|t| t.join().unwrap()).into_iter().collect();
        assert_eq!(
            outcomes[0].as_ref().unwrap_err().code(),
            "cluster.duplicate_process"
        );
        let mut others = codes(&outcomes[1..]);
        others.sort_unstable();
        assert_eq!(others, ["cluster.peer_lost", "cluster.refused"]);
    }

    #[test]
    fn missing_peers_are_named() {
        let (mut listeners, mut specs) = cluster(3);
        specs[1].connect_timeout = Duration::from_millis(300);
        drop(listeners.remove(0));
        let error = connect_on(&specs[1], 7, listeners.remove(0)).unwrap_err();
        assert_eq!(error.code(), "cluster.connect_timeout");
        let text = error.to_string();
        for process in [0, 2] {
            let part = format!("process {process} at '{}'", specs[0].addresses[process]);
            assert!(text.contains(&part), "{text}");
        }
        assert!(text.contains("it has not called"), "{text}");
    }

    #[test]
    fn a_used_port_and_a_public_address_without_secret() {
        let (listeners, mut specs) = cluster(2);
        let error = connect(&specs[0], 7).unwrap_err();
        assert_eq!(error.code(), "cluster.bind");
        assert!(
            error.to_string().contains(&specs[0].addresses[0]),
            "{error}"
        );
        specs[0].addresses[0] = "0.0.0.0:0".to_owned();
        specs[0].secret = None;
        assert_eq!(
            connect(&specs[0], 7).unwrap_err().code(),
            "cluster.secret_needed"
        );
        drop(listeners);
    }

    #[test]
    fn garbage_and_silent_callers_do_not_disturb_the_others() {
        let (mut listeners, specs) = cluster(2);
        let address = specs[0].addresses[0].clone();
        let first = listeners.remove(0);
        let second = listeners.remove(0);
        // They are in the queue of the listener before the peer is.
        let mut strangers: Vec<_> = (0..3)
            .map(|_| TcpStream::connect(&address).unwrap())
            .collect();
        strangers[0].write_all(&[b'G'; 200]).unwrap();
        strangers[1].write_all(b"AQF").unwrap();
        let [zero, one] = [(0, first), (1, second)].map(|(process, listener)| {
            let spec = specs[process].clone();
            thread::spawn(move || connect_on(&spec, 7, listener))
        });
        assert_eq!(
            codes(&[zero.join().unwrap(), one.join().unwrap()]),
            ["connected"; 2]
        );
    }

    #[test]
    fn a_stranger_at_the_peers_address_is_named() {
        let (mut listeners, mut specs) = cluster(2);
        specs[1].connect_timeout = Duration::from_millis(400);
        let stranger = listeners.remove(0);
        let answering = thread::spawn(move || {
            let (mut connection, _) = stranger.accept().unwrap();
            connection.write_all(&[b'x'; 64]).unwrap();
            let mut rest = Vec::new();
            let _ = connection.read_to_end(&mut rest);
        });
        let error = connect_on(&specs[1], 7, listeners.remove(0)).unwrap_err();
        answering.join().unwrap();
        assert_eq!(error.code(), "cluster.connect_timeout");
        assert!(error.to_string().contains("process 0"), "{error}");
    }

    #[test]
    fn a_replayed_call_is_refused() {
        let (mut listeners, specs) = cluster(2);
        // Record the call of process 1 to a listener that only listens.
        let recorder = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut spied = specs[1].clone();
        spied.addresses[0] = recorder.local_addr().unwrap().to_string();
        spied.connect_timeout = Duration::from_secs(5);
        let zero = {
            let (spec, listener) = (specs[0].clone(), listeners.remove(0));
            thread::spawn(move || connect_on(&spec, 7, listener))
        };
        let one = {
            let listener = listeners.remove(0);
            thread::spawn(move || connect_on(&spied, 7, listener))
        };
        let (mut caller, _) = recorder.accept().unwrap();
        drop(recorder);
        let mut hello = [0; 64];
        caller.read_exact(&mut hello).unwrap();
        let mut other = Hello::decode(&hello).unwrap().with_fresh_nonce().unwrap();
        other.process = 0;
        caller.write_all(&other.encode()).unwrap();
        let mut proof = [0; 33];
        caller.read_exact(&mut proof).unwrap();
        // Play it to process 0, whose nonce is another one.
        let mut replay = TcpStream::connect(&specs[0].addresses[0]).unwrap();
        replay.write_all(&hello).unwrap();
        replay.write_all(&proof).unwrap();
        assert_eq!(
            zero.join().unwrap().unwrap_err().code(),
            "cluster.wrong_secret"
        );
        // Sending process 1 its own proof back proves nothing either.
        caller.write_all(&proof).unwrap();
        assert_eq!(
            one.join().unwrap().unwrap_err().code(),
            "cluster.wrong_secret"
        );
    }
}
