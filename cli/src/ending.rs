//! How a process ended, and what follows from it.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// The exit code by which a process says that it lost a peer and that a restart of the whole set may help
/// (`EX_TEMPFAIL` of `sysexits.h`).
pub(crate) const PEER_LOST: u8 = 75;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With code 0.
    Success,
    /// With a code of its own: the job failed, and would fail again.
    Failed(u8),
    /// With [`PEER_LOST`].
    PeerLost,
    /// By a signal.
    Killed(i32),
}

impl Ending {
    /// Reads the status that the operating system reports.
    pub(crate) fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(0), _) => Self::Success,
            (Some(code), _) => match u8::try_from(code) {
                Ok(PEER_LOST) => Self::PeerLost,
                Ok(code) => Self::Failed(code),
                Err(_) => Self::Failed(1),
            },
            (None, Some(signal)) => Self::Killed(signal),
            (None, None) => Self::Failed(1),
        }
    }

    /// Whether starting the set again may help.
    pub(crate) fn is_restartable(self) -> bool {
        matches!(self, Self::PeerLost | Self::Killed(_))
    }

    /// The code under which a shell reports this ending.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failed(code) => code,
            Self::PeerLost => PEER_LOST,
            Self::Killed(signal) => signal_exit_code(signal),
        }
    }
}

/// The code under which a shell reports a death by `signal`.
pub(crate) fn signal_exit_code(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

/// The signal's name, or its number if it has none.
pub(crate) fn signal_name(signal: i32) -> String {
    signal_hook::low_level::signal_name(signal)
        .map_or_else(|| format!("signal {signal}"), ToOwned::to_owned)
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Success => f.write_str("ended"),
            Self::Failed(code) => write!(f, "failed with exit code {code}"),
            Self::PeerLost => write!(f, "lost a peer (exit code {PEER_LOST})"),
            Self::Killed(signal) => write!(f, "was killed by {}", signal_name(*signal)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_told_apart() {
        let code = |code: i32| Ending::of(ExitStatus::from_raw(code << 8));
        assert_eq!(code(0), Ending::Success);
        assert_eq!(code(1), Ending::Failed(1));
        assert_eq!(code(75), Ending::PeerLost);
        assert_eq!(code(101), Ending::Failed(101));
        let killed = Ending::of(ExitStatus::from_raw(9));
        assert_eq!(killed, Ending::Killed(9));
        assert_eq!(killed.exit_code(), 137);
        assert_eq!(killed.to_string(), "was killed by SIGKILL");
    }

    #[test]
    fn the_runtime_means_the_same() {
        assert_eq!(i32::from(PEER_LOST), aquifer_runtime::PEER_LOST_EXIT_CODE);
    }

    #[test]
    fn only_deaths_from_outside_are_restarted() {
        assert!(Ending::Killed(9).is_restartable());
        assert!(Ending::PeerLost.is_restartable());
        assert!(!Ending::Failed(1).is_restartable());
        assert!(!Ending::Success.is_restartable());
    }
}
