//! The site: who may see it, and which page an address means.
//!
//! On loopback everybody on the machine may; elsewhere nobody without the token. The name in the `Host` line must be
//! one of ours, so that a page on the web cannot have its own name point here (DNS rebinding) and read what we say.

use crate::aims::Aims;
use crate::download;
use crate::http::{self, Answer, Load, Reply, Request};
use crate::kind::Kind;
use crate::library;
use crate::live;
use crate::metrics;
use crate::pages;
use crate::play;
use crate::shelf::Shelf;
use crate::summary::Summary;
use crate::tree::Forest;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A token is at least this long.
const TOKEN_MIN: usize = 16;
/// The cookie that holds it.
const COOKIE: &str = "sortie";
/// No more instances are kept open to tell their scores.
const AIMS_MAX: usize = 1024;
/// Where what comes from elsewhere must come from us: nothing but our own files, no frames, no forms to others.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// How to serve.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder with the runs, or a run.
    pub folder: PathBuf,
    /// `address:port`; port 0 for any.
    pub bind: String,
    /// Who knows this may look; needed where others can reach the address.
    pub token: Option<String>,
    /// Names under which the machine is reached, besides its addresses.
    pub hosts: Vec<String>,
    /// How many moves of games may be thought about at a time; 0: no games.
    pub thinkers: usize,
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The folder is not there.
    #[error("{0}: not a folder: `sortie serve DIR` shows the runs in DIR")]
    NoFolder(PathBuf),
    /// The address means nothing.
    #[error("'{0}' is not an address to listen at: expected one such as 127.0.0.1:8080")]
    Address(String),
    /// Somebody else has the port, or the address is not ours.
    #[error("cannot listen at {0}: {1}")]
    Listen(String, io::Error),
    /// Others could look.
    #[error(
        "{0} can be reached by others: give a token (--token-file FILE, at least {TOKEN_MIN} characters), or listen at \
         127.0.0.1 and reach it through ssh -L"
    )]
    NoToken(IpAddr),
    /// The token is too easy.
    #[error("the token has {0} characters: expected at least {TOKEN_MIN}")]
    WeakToken(usize),
}

/// A site that listens.
pub struct Server {
    listener: TcpListener,
    site: Arc<Site>,
    load: Arc<Load>,
}

impl Server {
    /// Listens; refuses what others could reach without a token.
    pub fn bind(options: Options) -> Result<Server, ServeError> {
        if !options.folder.is_dir() {
            return Err(ServeError::NoFolder(options.folder));
        }
        let address: SocketAddr = options
            .bind
            .to_socket_addrs()
            .ok()
            .and_then(|mut addresses| addresses.next())
            .ok_or_else(|| ServeError::Address(options.bind.clone()))?;
        match &options.token {
            None if !address.ip().is_loopback() => return Err(ServeError::NoToken(address.ip())),
            Some(token) if token.chars().count() < TOKEN_MIN => {
                return Err(ServeError::WeakToken(token.chars().count()));
            }
            _ => {}
        }
        let listener =
            TcpListener::bind(address).map_err(|error| ServeError::Listen(options.bind.clone(), error))?;
        let load = Arc::new(Load::default());
        let site = Arc::new(Site::new(options, address.ip().is_loopback(), load.clone()));
        Ok(Server { listener, site, load })
    }

    /// Where it listens.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }

    /// Answers for ever, on threads of its own.
    pub fn run(&self) {
        http::listen(&self.listener, self.site.clone(), self.load.clone());
    }
}

/// What all pages share.
pub struct Site {
    /// The folder that is served.
    pub root: PathBuf,
    /// Moves of games that are thought about just now.
    pub thinking: Arc<AtomicUsize>,
    /// How many may be.
    pub thinkers: usize,
    /// Connections and streams.
    pub load: Arc<Load>,
    /// Requests answered.
    pub requests: AtomicU64,
    /// Streams ended because their reader stalled.
    pub stalled: AtomicU64,
    /// Since when.
    pub begun: Instant,
    /// Runs that were read before.
    pub shelf: Arc<Shelf>,
    /// Proof trees that were looked at.
    pub forest: Arc<Forest>,
    token: Option<String>,
    hosts: Vec<String>,
    loopback: bool,
    /// How scores are told, by instance, so that a list of runs need not open each.
    aims: Mutex<HashMap<String, Aims>>,
}

impl Site {
    fn new(options: Options, loopback: bool, load: Arc<Load>) -> Site {
        Site {
            root: options.folder,
            thinking: Arc::default(),
            thinkers: options.thinkers,
            load,
            requests: AtomicU64::new(0),
            stalled: AtomicU64::new(0),
            begun: Instant::now(),
            shelf: Arc::default(),
            forest: Arc::default(),
            token: options.token,
            hosts: options.hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
            loopback,
            aims: Mutex::default(),
        }
    }

    /// How the scores of an instance are told.
    pub fn aims(&self, folder: &Path, instance: &str) -> Aims {
        // A file of one name may differ from folder to folder.
        let built_in = !folder.join("instance.txt").exists();
        let mut known = self.aims.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(aims) = known.get(instance).filter(|_| built_in) {
            return aims.clone();
        }
        let aims = Aims::of(folder, instance);
        if built_in && known.len() < AIMS_MAX {
            known.insert(instance.to_string(), aims.clone());
        }
        aims
    }

    /// Why a request is turned away, if it is.
    fn guard(&self, request: &Request) -> Option<Reply> {
        let host = request.header("host").unwrap_or_default();
        if !self.is_ours(host) {
            let why = "the address in the browser is not one of this server's: open it by its IP address, or start it \
                       with --host NAME";
            return Some(self.refuse(421, why));
        }
        // Pictures and scripts of other sites' pages may come with our cookie.
        if request.header("sec-fetch-site") == Some("cross-site")
            && request.header("sec-fetch-mode") != Some("navigate")
        {
            return Some(self.refuse(403, "this may not be fetched from the pages of another site"));
        }
        // What burns time here is started by our own pages, or by hand: not by a page of another site that opens it in a
        // frame or a window, and not by one on another port of this machine.
        let from = request.header("sec-fetch-site");
        let api = request.path.first().is_some_and(|part| part == "api");
        let own = |origin: &str| origin.split_once("://").is_some_and(|(_, origin)| origin == host);
        if api
            && (from.is_some_and(|from| !["same-origin", "none"].contains(&from))
                || request.header("origin").is_some_and(|origin| !own(origin)))
        {
            return Some(self.refuse(403, "this may not be fetched from the pages of another site"));
        }
        let token = self.token.as_deref()?;
        if request.ask("token").is_some_and(|given| same(given, token)) {
            // The token goes from the address into a cookie, so that it is not in every link and every screenshot.
            let cookie = format!("{COOKIE}={}; HttpOnly; SameSite=Strict; Path=/", http::encode(token));
            let here: Vec<String> = request.path.iter().map(|part| http::encode(part)).collect();
            let to = format!("/{}", here.join("/"));
            let reply = Reply::whole(303, "text/plain", Vec::new());
            return Some(reply.with("Set-Cookie", cookie).with("Location", to));
        }
        let cookies = request.header("cookie").unwrap_or_default().split(';').map(str::trim);
        let mut cookie = cookies.filter_map(|pair| pair.strip_prefix(COOKIE)?.strip_prefix('='));
        let bearer = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        if cookie.any(|given| same(given, &http::encode(token)))
            || bearer.is_some_and(|given| same(given, token))
        {
            return None;
        }
        Some(self.refuse(
            401,
            "this server wants its token: open the address that it printed, which ends with ?token=...",
        ))
    }

    fn is_ours(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.chars().all(|c| c.is_ascii_digit()) => name,
            _ => host,
        };
        let name = name.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        let address = name.parse::<IpAddr>().ok();
        match address {
            Some(address) => address.is_loopback() || !self.loopback,
            None => name == "localhost" || self.hosts.contains(&name),
        }
    }

    fn page(&self, request: &Request) -> Reply {
        let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
        match path.as_slice() {
            [] => pages::runs::page(self, request),
            ["live"] => live::list(self, request),
            ["compare"] => pages::compare::page(self, request),
            ["play"] => pages::play::index(self),
            ["play", game] => pages::play::page(self, game),
            ["api", "board"] => play::board(request),
            ["api", "think"] => play::think(self, request),
            ["api", "game", form] => download::of_address(request, form),
            ["metrics"] => metrics::page(self),
            ["assets", name] => pages::assets::file(request, name),
            ["favicon.ico"] => pages::assets::file(request, "icon.svg"),
            ["run", name, rest @ ..] => self.run_page(request, name, rest),
            _ => self.refuse(404, "there is no such page"),
        }
    }

    fn run_page(&self, request: &Request, name: &str, rest: &[&str]) -> Reply {
        let path = match library::resolve(&self.root, name) {
            Ok(path) => path,
            Err(why) => return pages::explain(404, name, &why),
        };
        match rest {
            ["live"] => return live::run(request, &path),
            ["frame"] => return pages::run::frame(request, &path),
            ["file", file] => return pages::run::file(&path, file),
            ["events"] => {
                let aims = self.aims(&path, &Summary::glance(name, &path).told.instance);
                return pages::events::page(request, name, &path, &aims);
            }
            ["tree"] => return pages::prove::rows(self, request, name, &path),
            ["position"] => return pages::prove::position(self, request, &path),
            _ => {}
        }
        let summary = Summary::glance(name, &path);
        match (rest, summary.kind) {
            ([], Kind::Solve | Kind::Torn) => pages::run::page(self, &summary),
            ([], Kind::Match | Kind::Tune) => pages::contest::page(&summary),
            ([], Kind::Study | Kind::Campaign) => pages::study::page(&summary),
            ([], Kind::Scale) => pages::scale::page(&summary),
            ([], Kind::Data | Kind::Train | Kind::Exit) => pages::learn::page(&summary),
            ([], Kind::Prove) => pages::prove::page(self, request, &summary),
            ([], Kind::Foreign) => pages::explain(404, name, &summary.trouble.join(" ")),
            (["kin"], Kind::Solve) => pages::run::kin_now(self, &summary),
            (["workers"], _) => pages::workers::page(&summary),
            (["game", number], _) => pages::contest::game(&summary, number),
            _ => self.refuse(404, "there is no such page"),
        }
    }
}

impl Answer for Site {
    fn answer(&self, request: &Request) -> Reply {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let reply = self.guard(request).unwrap_or_else(|| self.page(request));
        guarded(reply)
    }

    fn refuse(&self, status: u16, why: &str) -> Reply {
        guarded(pages::explain(status, "", why))
    }

    fn dropped(&self) {
        self.stalled.fetch_add(1, Ordering::Relaxed);
    }
}

/// The lines that every answer carries.
fn guarded(mut reply: Reply) -> Reply {
    if !reply.headers.iter().any(|(name, _)| *name == "Cache-Control") {
        reply = reply.with("Cache-Control", "no-store");
    }
    if reply.headers.iter().any(|(name, _)| *name == "X-Content-Type-Options") {
        return reply;
    }
    reply
        .with("Content-Security-Policy", POLICY)
        .with("X-Content-Type-Options", "nosniff")
        .with("Referrer-Policy", "no-referrer")
        .with("Cross-Origin-Opener-Policy", "same-origin")
}

/// Whether two texts are the same, in a time that does not tell how much of them is.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |all, (x, y)| all | (x ^ y)) == 0
}

#[cfg(test)]
mod tests;
