//! The connection to the engine: an address, how it is opened, and the raw acts on a stream that both ends share. The
//! data path speaks JetStream's own subjects, because one subscription and one message an act is all it takes.

use crate::wire::MESSAGE_BYTES_MAX;
use async_nats::jetstream::{self, stream};
use async_nats::{Client, ConnectOptions, Event, StatusCode};
use sortie_core::Rng;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// Requests to the engine wait so long.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest wait before the next attempt to connect.
const RETRY_SECONDS_MAX: f64 = 8.0;
/// Messages of a subscription that wait to be read; further ones are lost, as on a bad line.
const WAITING_MAX: usize = 4096;
/// Older servers lose track of jobs that were acknowledged.
const SERVER_MIN: (i64, i64, i64) = (2, 12, 0);

/// Where the engine is, and what opens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// `nats://host:port` or `tls://host:port`.
    pub url: String,
    /// What the engine wants to hear from those who join.
    pub token: Option<String>,
    /// A name and a password of one's own, in its place.
    pub credential: Option<(String, String)>,
    /// A certificate that the server's must be, or be signed by, besides those that the system knows.
    pub certificate: Option<std::path::PathBuf>,
}

impl Address {
    /// Reads an address; a token before an `@` is taken for one.
    pub fn parse(text: &str, token: Option<&str>) -> Result<Address, GridError> {
        let bad = |why: &str| GridError::Address { text: without_token(text), why: why.into() };
        let (scheme, rest) = text.split_once("://").unwrap_or(("nats", text));
        if scheme != "nats" && scheme != "tls" {
            return Err(bad("expected nats://HOST:PORT or tls://HOST:PORT"));
        }
        let (before, host) = match rest.rsplit_once('@') {
            Some((before, host)) => (Some(before), host),
            None => (None, rest),
        };
        let sound = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
        if host.is_empty() || !host.chars().all(sound) {
            return Err(bad("expected a host and a port, as in nats://127.0.0.1:4222"));
        }
        Ok(Address {
            url: format!("{scheme}://{host}"),
            token: token.or(before).filter(|t| !t.is_empty()).map(str::to_string),
            credential: None,
            certificate: None,
        })
    }
}

/// An address as it may be shown.
pub fn without_token(text: &str) -> String {
    match (text.split_once("://"), text.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        (None, Some((_, host))) => host.to_string(),
        _ => text.to_string(),
    }
}

/// Why a grid cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GridError {
    /// Not an address.
    #[error("--grid {text}: {why}")]
    Address {
        /// As it was given.
        text: String,
        /// What is wrong.
        why: String,
    },
    /// Nobody answers there, or not to us.
    #[error("no grid at {url}: {why}")]
    Connect {
        /// Where.
        url: String,
        /// What happened.
        why: String,
    },
    /// It wants to hear something else.
    #[error("the grid at {0} does not let us in: give the right --token-file, or --credential")]
    Token(String),
    /// The engine is too old.
    #[error("the NATS server at {url} is version {version}: expected 2.12 or later, with JetStream")]
    Old {
        /// Where.
        url: String,
        /// What it says.
        version: String,
    },
    /// The engine refuses something.
    #[error("the engine at {url} does not do its part: {why}")]
    Engine {
        /// Where.
        url: String,
        /// What happened.
        why: String,
    },
    /// A message that cannot be sent.
    #[error(transparent)]
    Wire(#[from] crate::wire::WireError),
}

/// Connects. `linked` hears when the connection is there, again and again after it was lost.
pub async fn connect(
    address: &Address,
    name: &str,
    linked: UnboundedSender<bool>,
) -> Result<Client, GridError> {
    let fail = |why: String| GridError::Connect { url: address.url.clone(), why };
    let mut options = ConnectOptions::new()
        .name(name)
        .connection_timeout(PATIENCE)
        .ping_interval(Duration::from_secs(10))
        .subscription_capacity(WAITING_MAX)
        .max_reconnects(None)
        .reconnect_delay_callback(|attempts| back_off(attempts as u32))
        .event_callback(move |event| {
            let linked = linked.clone();
            async move {
                match event {
                    Event::Connected => drop(linked.send(true)),
                    Event::Disconnected => drop(linked.send(false)),
                    _ => {}
                }
            }
        });
    if let Some(token) = &address.token {
        options = options.token(token.clone());
    }
    if let Some((name, password)) = &address.credential {
        options = options.user_and_password(name.clone(), password.clone());
        options = options.custom_inbox_prefix(crate::broker::inbox(name));
    }
    if let Some(certificate) = &address.certificate {
        options = options.add_root_certificates(certificate.clone()).require_tls(true);
    }
    let client = options.connect(address.url.as_str()).await.map_err(|error| match cause(&error) {
        why if why.contains("authorization") => GridError::Token(address.url.clone()),
        why => fail(why),
    })?;
    let (major, minor, patch) = SERVER_MIN;
    if !client.is_server_compatible(major, minor, patch) {
        let version = client.server_info().version;
        return Err(GridError::Old { url: address.url.clone(), version });
    }
    if client.max_payload() < MESSAGE_BYTES_MAX {
        let why = format!("it takes {} bytes a message: expected {MESSAGE_BYTES_MAX}", client.max_payload());
        return Err(GridError::Engine { url: address.url.clone(), why });
    }
    Ok(client)
}

/// An error with its causes, as one line.
pub fn cause(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        next = error.source();
    }
    text
}

/// How long to wait before attempt `attempt`: twice as long each time, and never quite as long as others do, so that a
/// server that comes back is not met by all at once.
pub fn back_off(attempt: u32) -> Duration {
    let most = (0.05 * 2f64.powi(attempt.min(20) as i32)).min(RETRY_SECONDS_MAX);
    Duration::from_secs_f64(most * (0.5 + 0.5 * Rng::new(random(), 0).unit()))
}

/// A number that nobody else draws. The keys of a `RandomState` come from the operating system.
pub fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

/// The requests to JetStream of a process.
pub fn context(client: &Client) -> jetstream::Context {
    let mut context = jetstream::new(client.clone());
    context.set_timeout(PATIENCE);
    context
}

/// The stream that keeps the last word of every run and worker, for whoever wants to look.
pub fn board() -> stream::Config {
    stream::Config {
        name: crate::wire::names::BOARD.into(),
        description: Some("runs and workers of sortie, the last word of each".into()),
        subjects: vec!["sortie.run.*".into(), "sortie.worker.*.*".into()],
        max_messages_per_subject: 1,
        max_messages: 10_000,
        max_bytes: 64 << 20,
        max_age: Duration::from_secs(3600),
        storage: stream::StorageType::Memory,
        ..Default::default()
    }
}

/// Asks a consumer for up to `batch` messages, which come to `inbox`. There is a bound on bytes too, but a request with one
/// ends with a status of its own, and not when its messages have come.
pub async fn pull(client: &Client, stream: &str, consumer: &str, inbox: &str, batch: usize, seconds: f64) {
    let subject = format!("$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}");
    let nanoseconds = (seconds * 1e9) as u64;
    let request = format!("{{\"batch\":{batch},\"expires\":{nanoseconds}}}");
    // A request that gets lost is repeated by whoever waits in vain.
    let _ = client.publish_with_reply(subject, inbox.to_string(), request.into()).await;
}

/// What came to an inbox instead of a message.
pub enum Status {
    /// A pull has ended with so many messages missing.
    Ended(usize),
    /// There is no such stream or consumer, or the pull was refused.
    Nobody,
}

/// The status of a message that is none.
pub fn status(message: &async_nats::Message) -> Option<Status> {
    let code = message.status?;
    if code == StatusCode::TIMEOUT {
        let header = message.headers.as_ref().and_then(|headers| headers.get("Nats-Pending-Messages"));
        return Some(Status::Ended(header.and_then(|h| h.as_str().parse().ok()).unwrap_or(usize::MAX)));
    }
    Some(Status::Nobody)
}

/// Which delivery of a message this is, from the subject of its acknowledgement:
/// `$JS.ACK.<stream>.<consumer>.<delivered>...`, or with domain and account before the stream.
pub fn attempt(reply: &str) -> u32 {
    let tokens: Vec<&str> = reply.split('.').collect();
    let at = if tokens.len() > 9 { 6 } else { 4 };
    tokens.get(at).and_then(|token| token.parse().ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let address = Address::parse("nats://secret@host:4222", None).unwrap();
        assert_eq!(
            address,
            Address {
                url: "nats://host:4222".into(),
                token: Some("secret".into()),
                credential: None,
                certificate: None
            }
        );
        assert_eq!(Address::parse("host:1", Some("t")).unwrap().url, "nats://host:1");
        assert_eq!(Address::parse("tls://[::1]:4222", None).unwrap().token, None);
        for text in ["", "http://host:1", "nats://", "nats://a b", "nats://secret@", "\u{1F600}"] {
            let error = Address::parse(text, None).unwrap_err().to_string();
            assert!(error.starts_with("--grid ") && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn deliveries_are_counted_in_both_forms_of_the_subject() {
        assert_eq!(attempt("$JS.ACK.jobs.workers.3.100.7.1790230470084404000.42"), 3);
        assert_eq!(attempt("$JS.ACK._.hash.jobs.workers.2.100.7.1790230470084404000.42.x"), 2);
        assert_eq!(attempt("nonsense"), 1);
    }

    #[test]
    fn the_wait_grows_and_stays_bounded() {
        for attempt in 0..40 {
            let most = (0.05 * 2f64.powi(attempt.min(20))).min(RETRY_SECONDS_MAX);
            let wait = back_off(attempt as u32).as_secs_f64();
            assert!(wait >= most / 2.0 && wait <= most);
        }
    }
}
