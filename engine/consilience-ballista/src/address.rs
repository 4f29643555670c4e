use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;

use consilience::{Error, Result};

use crate::certificates::Certificates;
use crate::failed;

/// Where a scheduler listens: `host:port`, by name or by number.
///
/// ```
/// use consilience_ballista::Address;
///
/// let address: Address = "localhost:50050".parse()?;
/// assert_eq!(address.to_string(), "localhost:50050");
/// assert!("localhost".parse::<Address>().is_err());
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    host: String,
    port: u16,
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::invalid(format!("address {text:?}; expected host:port"));
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let port = port.parse().map_err(|_| wrong())?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = bare.unwrap_or(host);
        // Numbers of the sixth version hold colons themselves, and then stand in brackets.
        if host.is_empty()
            || host.contains(['/', '@', ' '])
            || (bare.is_none() && host.contains(':'))
        {
            return Err(wrong());
        }
        Ok(Address { host: host.to_owned(), port })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

impl Address {
    pub(crate) fn host(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]", self.host),
            false => self.host.clone(),
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Refuses an address that leaves this machine without certificates.
    pub(crate) fn check(&self, certificates: Option<&Certificates>) -> Result<()> {
        if certificates.is_some() {
            return Ok(());
        }
        let found = (self.host.as_str(), self.port).to_socket_addrs();
        let found = found.map_err(|error| failed(format!("{self}: {error}")))?;
        found.into_iter().try_for_each(|address| check(address, None))
    }
}

/// Refuses an address that others can reach without certificates.
pub(crate) fn check(address: SocketAddr, certificates: Option<&Certificates>) -> Result<()> {
    if certificates.is_none() && !address.ip().is_loopback() {
        return Err(Error::invalid(format!(
            "{address} without certificates; expected a loopback address, or certificates"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for text in ["127.0.0.1:1", "[::1]:50050", "a-name.example:7"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        for text in ["", ":1", "a:", "a:b", "a:70000", "::1:50050", "http://a:1", "a b:1", "u@a:1"]
        {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
        let local: Address = "[::1]:50050".parse().unwrap();
        assert!(local.check(None).is_ok());
        let far: Address = "10.1.2.3:50050".parse().unwrap();
        assert!(far.check(None).is_err());
    }
}
