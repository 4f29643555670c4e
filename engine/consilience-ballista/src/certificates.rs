use std::fs;
use std::path::Path;

use consilience::Result;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity, Server, ServerTlsConfig};

use crate::failed;

/// Certificates of one party: its own, signed by an authority that all parties trust. Files in
/// PEM form.
///
/// ```no_run
/// use consilience_ballista::{Certificates, Machines};
///
/// let own = Certificates::read("ca.pem", "client.pem", "client.key")?;
/// let machines = Machines::at("10.0.0.1:50050".parse()?).certificates(own);
/// # Ok::<(), consilience::Error>(())
/// ```
#[derive(Clone)]
pub struct Certificates {
    authority: Vec<u8>,
    certificate: Vec<u8>,
    key: Vec<u8>,
    name: String,
}

impl std::fmt::Debug for Certificates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Certificates").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Certificates {
    /// The authority, the party's own certificate, and its key.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](consilience::ErrorKind::Io) for what cannot be read.
    pub fn read(
        authority: impl AsRef<Path>,
        certificate: impl AsRef<Path>,
        key: impl AsRef<Path>,
    ) -> Result<Self> {
        let read = |path: &Path| {
            fs::read(path).map_err(|error| failed(format!("{}: {error}", path.display())))
        };
        Ok(Certificates {
            authority: read(authority.as_ref())?,
            certificate: read(certificate.as_ref())?,
            key: read(key.as_ref())?,
            name: "scheduler".to_owned(),
        })
    }

    /// The name in the scheduler's certificate. Default `scheduler`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The way to a scheduler, by TLS.
    pub(crate) fn endpoint(
        &self,
        address: &str,
    ) -> std::result::Result<Endpoint, tonic::transport::Error> {
        let tls = ClientTlsConfig::new()
            .ca_certificate(Certificate::from_pem(&self.authority))
            .identity(Identity::from_pem(&self.certificate, &self.key))
            .domain_name(&self.name);
        Endpoint::from_shared(format!("https://{address}"))?.tls_config(tls)
    }

    /// A server that asks whoever comes for a certificate.
    pub(crate) fn server(
        &self,
        server: Server,
    ) -> std::result::Result<Server, tonic::transport::Error> {
        let tls = ServerTlsConfig::new()
            .identity(Identity::from_pem(&self.certificate, &self.key))
            .client_ca_root(Certificate::from_pem(&self.authority));
        server.tls_config(tls)
    }
}
