//! Picks the addresses on which the processes listen for each other.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use crate::error::{LauncherError, Result};

/// One loopback address with a free port for each process.
///
/// All ports are held until the last is found, so they differ. Between their release here and the bind in
/// the process another program may take one: the process then fails to bind, and the restart picks anew.
pub(crate) fn pick(processes: usize) -> Result<Vec<SocketAddr>> {
    let held = (0..processes)
        .map(|process| {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
            listener
                .and_then(|listener| Ok((listener.local_addr()?, listener)))
                .map_err(|source| LauncherError::Port { process, source })
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(held.iter().map(|(address, _)| *address).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn addresses_are_distinct_and_on_loopback() {
        let addresses = pick(20).unwrap();
        assert_eq!(addresses.iter().collect::<BTreeSet<_>>().len(), 20);
        assert!(addresses.iter().all(|address| address.ip().is_loopback()));
    }
}
