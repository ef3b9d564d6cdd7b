//! HTTP/1.1, as much of it as pages need: GET and HEAD, one request a connection, a thread each. Everything has a
//! bound: the size of a head, the time it may take to come, the connections at a time and from one address, the time an
//! answer may take, the time a reader of a stream may stall before it is dropped. When all places are taken, whoever has
//! been the longest in saying what it wants makes room, so that nobody is locked out by those who say nothing.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// No head of a request is larger: room for the moves of a long game in an address.
pub const HEAD_BYTES_MAX: usize = 32 << 10;
/// A request must have come by then.
const HEAD_TIME_MAX: Duration = Duration::from_secs(10);
/// Who reads nothing for so long is dropped.
pub const STALL_MAX: Duration = Duration::from_secs(5);
/// An answer that is no stream must have gone by then.
const BODY_TIME_MAX: Duration = Duration::from_secs(60);
/// What is still on its way of a request that was refused is read for so long, and no longer than it may take to come.
const DRAIN_TIME_MAX: Duration = Duration::from_millis(500);
/// What the system keeps for a reader that is slow.
#[cfg(unix)]
const SEND_BYTES: usize = 64 << 10;
/// Connections at a time; more are told to come back.
pub const CONNECTIONS_MAX: usize = 256;
/// Connections from one address.
pub const ADDRESS_MAX: usize = 224;
/// What whoever finds no place is told: without a page, because it must cost nothing.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 43\r\nRetry-After: 1\r\n\
Connection: close\r\n\r\ntoo many connections: try again in a moment";
/// Streams at a time, so that pages can still be asked for while all of them are taken.
pub const STREAMS_MAX: usize = 192;

/// What was asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// Only the head of the answer is wanted.
    pub head_only: bool,
    /// The path, its parts decoded: `/run/a%2Fb/live` is `run`, `a/b`, `live`.
    pub path: Vec<String>,
    /// The query, decoded, in its order.
    pub query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
}

impl Request {
    /// A header; names in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The first value of a name in the query.
    pub fn ask(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// All values of a name in the query.
    pub fn ask_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.query.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// What writes a stream, until it returns or the reader is gone.
type Writer = dyn FnOnce(&mut Sink) -> io::Result<()> + Send;

/// An answer.
pub struct Reply {
    /// 200 and so on.
    pub status: u16,
    /// The media type.
    pub kind: &'static str,
    /// Further header lines.
    pub headers: Vec<(&'static str, String)>,
    /// What follows the head.
    pub body: Body,
}

/// The body of an answer.
pub enum Body {
    /// All of it.
    Whole(Vec<u8>),
    /// Events as they come.
    Stream(Box<Writer>),
}

impl Reply {
    /// A page.
    pub fn html(status: u16, page: String) -> Reply {
        Reply::whole(status, "text/html; charset=utf-8", page.into_bytes())
    }

    /// A JSON value.
    pub fn json(value: &serde_json::Value) -> Reply {
        Reply::whole(200, "application/json", value.to_string().into_bytes())
    }

    /// Anything.
    pub fn whole(status: u16, kind: &'static str, body: Vec<u8>) -> Reply {
        Reply { status, kind, headers: Vec::new(), body: Body::Whole(body) }
    }

    /// A stream of events.
    pub fn stream(write: impl FnOnce(&mut Sink) -> io::Result<()> + Send + 'static) -> Reply {
        let body = Body::Stream(Box::new(write));
        Reply { status: 200, kind: "text/event-stream", headers: Vec::new(), body }
    }

    /// The same with a header line more.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Reply {
        self.headers.push((name, value.into()));
        self
    }
}

/// Where a stream goes. An error means that the reader is gone or stalled: whoever writes then ends.
pub struct Sink<'a>(&'a mut dyn Write, Reader);

/// Who reads a stream, to be looked after while nothing is written.
pub struct Reader(Option<TcpStream>);

impl Reader {
    /// Whether the connection was closed from the other side.
    #[cfg(unix)]
    fn is_gone(&self) -> bool {
        use rustix::net::{RecvFlags, recv};
        let Some(stream) = &self.0 else { return false };
        let read = recv(stream, &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT);
        match read {
            Ok((n, _)) => n == 0,
            Err(error) => error != rustix::io::Errno::AGAIN && error != rustix::io::Errno::INTR,
        }
    }

    #[cfg(not(unix))]
    fn is_gone(&self) -> bool {
        false
    }

    /// Does something that can be told to stop: it is when the reader has gone, or after so long.
    pub fn attend<T>(&self, longest: Duration, stop: &AtomicBool, work: impl FnOnce() -> T) -> T {
        let (done, woken) = (Mutex::new(false), Condvar::new());
        let until = Instant::now() + longest;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut ended = lock(&done);
                while !*ended {
                    let waited = woken.wait_timeout(ended, LOOK_EVERY);
                    ended = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
                    if !*ended && (Instant::now() >= until || self.is_gone()) {
                        return stop.store(true, Ordering::Relaxed);
                    }
                }
            });
            // Also when the work ends in a panic: nobody would wake the other thread.
            let _end = Ends(&done, &woken);
            work()
        })
    }
}

/// How often a reader is looked after.
const LOOK_EVERY: Duration = Duration::from_millis(200);

struct Ends<'a>(&'a Mutex<bool>, &'a Condvar);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        *lock(self.0) = true;
        self.1.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Sink<'_> {
    /// Who reads it.
    pub fn reader(&self) -> Reader {
        Reader(self.1.0.as_ref().and_then(|stream| stream.try_clone().ok()))
    }

    /// Sends an event: its name, its id if a reader that comes back shall give it, its data of one line.
    pub fn send(&mut self, name: &str, id: Option<&str>, data: &str) -> io::Result<()> {
        let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
        self.0.write_all(format!("event: {name}\n{id}data: {data}\n\n").as_bytes())?;
        self.0.flush()
    }

    /// Shows that somebody is still here.
    pub fn beat(&mut self) -> io::Result<()> {
        self.0.write_all(b": still here\n\n")?;
        self.0.flush()
    }

    #[cfg(test)]
    pub fn new(to: &mut dyn Write) -> Sink<'_> {
        Sink(to, Reader(None))
    }
}

/// Who answers. Counts are kept here so that `/metrics` can tell them.
pub trait Answer: Send + Sync + 'static {
    /// The answer to a request.
    fn answer(&self, request: &Request) -> Reply;
    /// The answer to what is not a request, or comes at a bad time.
    fn refuse(&self, status: u16, why: &str) -> Reply;
    /// A stream ended because its reader stalled.
    fn dropped(&self);
}

/// How many are at it.
#[derive(Default)]
pub struct Load {
    /// Connections.
    pub connections: AtomicUsize,
    /// Streams among them.
    pub streams: AtomicUsize,
    doors: Mutex<Doors>,
}

/// Who is there.
#[derive(Default)]
struct Doors {
    next: u64,
    /// By number, so the oldest first: where from, and the connection as long as it has not said what it wants.
    open: BTreeMap<u64, (IpAddr, Option<TcpStream>)>,
}

impl Doors {
    /// Makes room for one more from an address. False: nobody can be sent away.
    fn room(&mut self, from: IpAddr) -> bool {
        let mut counts: HashMap<IpAddr, usize> = HashMap::new();
        self.open.values().for_each(|(address, _)| *counts.entry(*address).or_default() += 1);
        let full = self.open.len() >= CONNECTIONS_MAX;
        if counts.get(&from).is_some_and(|&n| n >= ADDRESS_MAX) {
            return self.send_away(|address| address == from);
        }
        if !full {
            return true;
        }
        // Those who have most of the places give one up first.
        let waiting = self.open.values().filter(|(_, stream)| stream.is_some());
        let most = waiting.map(|(address, _)| counts[address]).max();
        self.send_away(|address| Some(counts[&address]) == most)
    }

    /// Ends the connection that has been silent for longest.
    fn send_away(&mut self, whose: impl Fn(IpAddr) -> bool) -> bool {
        let silent = |(_, (address, stream)): &(&u64, &(IpAddr, Option<TcpStream>))| {
            stream.is_some() && whose(*address)
        };
        let Some(number) = self.open.iter().find(silent).map(|(number, _)| *number) else { return false };
        if let Some((_, Some(stream))) = self.open.remove(&number) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        true
    }
}

/// A connection that was let in, while it lives.
struct Door<'a> {
    load: &'a Load,
    number: u64,
}

impl Load {
    /// Lets a connection in, if there is room or room can be made.
    fn enter(&self, stream: &TcpStream) -> Option<u64> {
        let from = stream.peer_addr().ok()?.ip();
        let silent = stream.try_clone().ok()?;
        let mut doors = lock(&self.doors);
        if !doors.room(from) {
            return None;
        }
        doors.next += 1;
        let number = doors.next;
        doors.open.insert(number, (from, Some(silent)));
        self.connections.store(doors.open.len(), Ordering::Relaxed);
        Some(number)
    }
}

impl Door<'_> {
    /// It has said what it wants, or all it is going to say: it is not sent away any more.
    fn has_spoken(&self) {
        if let Some((_, stream)) = lock(&self.load.doors).open.get_mut(&self.number) {
            *stream = None;
        }
    }
}

impl Drop for Door<'_> {
    fn drop(&mut self) {
        let mut doors = lock(&self.load.doors);
        doors.open.remove(&self.number);
        self.load.connections.store(doors.open.len(), Ordering::Relaxed);
    }
}

/// One more while it lives, if there is room.
pub struct Place<'a>(&'a AtomicUsize);

impl<'a> Place<'a> {
    /// Takes a place of `max`.
    pub fn take(count: &'a AtomicUsize, max: usize) -> Option<Place<'a>> {
        let room = |n: usize| (n < max).then_some(n + 1);
        count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room).ok().map(|_| Place(count))
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Answers connections for ever.
pub fn listen(listener: &TcpListener, site: Arc<impl Answer>, load: Arc<Load>) {
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // Out of file descriptors: wait for some to come back instead of spinning.
            std::thread::sleep(Duration::from_millis(50));
            continue;
        };
        let Some(number) = load.enter(&stream) else {
            // It fits into what the system keeps for the connection, so this does not wait for anybody.
            let _ = stream.set_nonblocking(true).and_then(|()| (&stream).write_all(FULL));
            continue;
        };
        let (site, load) = (site.clone(), load.clone());
        let spawned = std::thread::Builder::new().name("page".into()).spawn(move || {
            let door = Door { load: &load, number };
            // Nothing can be done for a reader that has gone.
            let _ = connection(stream, &*site, &load, &door);
        });
        if spawned.is_err() {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn connection(mut stream: TcpStream, site: &impl Answer, load: &Load, door: &Door) -> io::Result<()> {
    stream.set_write_timeout(Some(STALL_MAX))?;
    stream.set_nodelay(true)?;
    // The system would keep megabytes for a reader that reads nothing, and a stall would show only after minutes.
    #[cfg(unix)]
    let _ = rustix::net::sockopt::set_socket_send_buffer_size(&stream, SEND_BYTES);
    let request = match read_head(&mut stream).map(|head| parse(&head)) {
        Ok(Ok(request)) => request,
        Ok(Err((status, why))) => {
            write_reply(&mut stream, site.refuse(status, &why), false)?;
            // What is still on its way would make the system throw our answer away.
            let _ = stream.shutdown(Shutdown::Write);
            drain(&mut stream);
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    door.has_spoken();
    let answered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| site.answer(&request)));
    let mut reply =
        answered.unwrap_or_else(|_| site.refuse(500, "a bug in Sortie: the page could not be made"));
    let mut place = None;
    if matches!(reply.body, Body::Stream(_)) && !request.head_only {
        place = Place::take(&load.streams, STREAMS_MAX);
        if place.is_none() {
            reply = site.refuse(503, "too many live pages: close some");
        }
    }
    let written = write_reply(&mut stream, reply, request.head_only);
    drop(place);
    if let Err(error) = &written
        && matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
    {
        site.dropped();
    }
    written
}

/// Reads for a moment what nobody wants.
fn drain(stream: &mut TcpStream) {
    let (until, mut part) = (Instant::now() + DRAIN_TIME_MAX, [0; 4096]);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            return;
        }
        if !matches!(stream.read(&mut part), Ok(1..)) {
            return;
        }
    }
}

/// Writes all of it, or as much as whoever reads takes in time.
fn write_in_time(stream: &mut TcpStream, mut bytes: &[u8], until: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        if Instant::now() >= until {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match stream.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => bytes = &bytes[n..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The bytes up to the empty line.
fn read_head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let deadline = Instant::now() + HEAD_TIME_MAX;
    let (mut head, mut part) = (Vec::new(), [0; 4096]);
    while !head.windows(4).any(|four| four == b"\r\n\r\n") && head.len() <= HEAD_BYTES_MAX {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut part)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => head.extend_from_slice(&part[..n]),
        }
    }
    Ok(head)
}

/// A request from its head; otherwise the status and why.
pub fn parse(head: &[u8]) -> Result<Request, (u16, String)> {
    if head.len() > HEAD_BYTES_MAX {
        return Err((431, format!("the request is larger than {} KiB", HEAD_BYTES_MAX >> 10)));
    }
    let bad = |why: &str| (400, why.to_string());
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut headers);
    match parsed.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        _ => return Err(bad("not an HTTP request")),
    }
    let head_only = match parsed.method {
        Some("GET") => false,
        Some("HEAD") => true,
        _ => return Err((405, "only GET and HEAD: these pages change nothing".into())),
    };
    let target = parsed.path.unwrap_or("/");
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = path.strip_prefix('/').ok_or_else(|| bad("expected a path that begins with /"))?;
    let decode = |text: &str| decode(text).ok_or_else(|| bad("the address is not UTF-8"));
    let path: Result<Vec<String>, _> = path.split('/').filter(|part| !part.is_empty()).map(decode).collect();
    let query: Result<Vec<(String, String)>, _> = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decode(&key.replace('+', " "))?, decode(&value.replace('+', " "))?))
        })
        .collect();
    let headers = parsed.headers.iter().filter_map(|header| {
        Some((header.name.to_ascii_lowercase(), std::str::from_utf8(header.value).ok()?.to_string()))
    });
    Ok(Request { head_only, path: path?, query: query?, headers: headers.collect() })
}

/// Percent-decoding; `None` where the bytes are not text.
fn decode(text: &str) -> Option<String> {
    let digit = |byte: Option<&u8>| byte.and_then(|&b| (b as char).to_digit(16));
    let (bytes, mut out, mut i) = (text.as_bytes(), Vec::new(), 0);
    while i < bytes.len() {
        match (bytes[i], digit(bytes.get(i + 1)), digit(bytes.get(i + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push((16 * high + low) as u8);
                i += 3;
            }
            (byte, ..) => {
                out.push(byte);
                i += 1;
            }
        }
    }
    String::from_utf8(out).ok()
}

/// Percent-encoding of all that is not plainly safe, also of slashes: the result is one part of a path.
pub fn encode(text: &str) -> String {
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let encode = |byte: u8| if safe(byte) { (byte as char).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(encode).collect()
}

fn write_reply(stream: &mut TcpStream, reply: Reply, head_only: bool) -> io::Result<()> {
    let mut head = format!(
        "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nConnection: close\r\n",
        reply.status,
        phrase(reply.status),
        reply.kind
    );
    for (name, value) in &reply.headers {
        // A line break in a value would begin a header of somebody else's choice.
        head += &format!("{name}: {}\r\n", value.replace(['\r', '\n'], " "));
    }
    if let Body::Whole(body) = &reply.body {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    head += "\r\n";
    stream.write_all(head.as_bytes())?;
    match reply.body {
        _ if head_only => {}
        Body::Whole(body) => write_in_time(stream, &body, Instant::now() + BODY_TIME_MAX)?,
        Body::Stream(write) => {
            stream.write_all(b"retry: 1000\n\n")?;
            let reader = Reader(stream.try_clone().ok());
            write(&mut Sink(stream, reader))?;
        }
    }
    stream.flush()
}

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        303 => "See Other",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        421 => "Misdirected Request",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_taken_apart() {
        let request =
            parse(b"GET /run/a%2Fb%20c/live?from=7&run=x%26y+z&run=2 HTTP/1.1\r\nHost: localhost\r\n\r\n")
                .unwrap();
        assert_eq!(request.path, ["run", "a/b c", "live"]);
        assert_eq!((request.ask("from"), request.ask("to")), (Some("7"), None));
        assert_eq!(request.ask_all("run").collect::<Vec<_>>(), ["x&y z", "2"]);
        assert_eq!(request.header("host"), Some("localhost"));
        assert!(parse(b"HEAD / HTTP/1.1\r\n\r\n").unwrap().head_only);
        assert_eq!(encode("a/b c&é"), "a%2Fb%20c%26%C3%A9");
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let status = |head: &[u8]| parse(head).unwrap_err().0;
        assert_eq!(status(b"POST / HTTP/1.1\r\n\r\n"), 405);
        assert_eq!(status(b"GET"), 400);
        assert_eq!(status(b"\x00\xff\r\n\r\n"), 400);
        assert_eq!(status(b"GET http://elsewhere/ HTTP/1.1\r\n\r\n"), 400);
        assert_eq!(status(b"GET /%ff HTTP/1.1\r\n\r\n"), 400);
        assert_eq!(status(&vec![b'a'; HEAD_BYTES_MAX + 1]), 431);
    }

    struct Hello;

    impl Answer for Hello {
        fn answer(&self, request: &Request) -> Reply {
            match request.path.first().map(String::as_str) {
                Some("spin") => Reply::stream(|sink| {
                    // What a thought does that nobody waits for any more.
                    let (reader, stop) = (sink.reader(), AtomicBool::new(false));
                    reader.attend(Duration::from_secs(600), &stop, || {
                        while !stop.load(Ordering::Relaxed) {
                            std::thread::yield_now();
                        }
                    });
                    Ok(())
                }),
                _ => Reply::whole(200, "text/plain", b"hello".to_vec()),
            }
        }

        fn refuse(&self, status: u16, why: &str) -> Reply {
            Reply::whole(status, "text/plain", why.as_bytes().to_vec())
        }

        fn dropped(&self) {}
    }

    fn serve() -> (std::net::SocketAddr, Arc<Load>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, load) = (listener.local_addr().unwrap(), Arc::new(Load::default()));
        let held = load.clone();
        std::thread::spawn(move || listen(&listener, Arc::new(Hello), held));
        (address, load)
    }

    fn say(address: std::net::SocketAddr, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    fn answer(address: std::net::SocketAddr) -> String {
        let mut text = String::new();
        say(address, "GET / HTTP/1.1\r\n\r\n").read_to_string(&mut text).unwrap();
        text
    }

    /// Defect 5: 256 trickling POSTs locked everybody out, before anybody asked for the token.
    #[test]
    fn those_who_trickle_do_not_lock_out_those_who_ask() {
        let (address, load) = serve();
        // Whoever opens more connections than there are places takes them from itself.
        let mut slow = Vec::new();
        for n in 0..2 * CONNECTIONS_MAX {
            let head = if n % 2 == 0 {
                "POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n"
            } else {
                "GET / HTTP/1.1\r\nX: "
            };
            slow.push(say(address, head));
        }
        assert!(answer(address).ends_with("hello"));
        for stream in &mut slow {
            let _ = stream.write_all(b"a");
        }
        assert!(answer(address).ends_with("hello"));
        assert!(load.connections.load(Ordering::Relaxed) <= CONNECTIONS_MAX);
    }

    #[test]
    fn when_nobody_can_be_sent_away_the_next_one_is_told_to_come_back() {
        let (address, load) = serve();
        let streams: Vec<TcpStream> =
            (0..ADDRESS_MAX).map(|_| say(address, "GET /spin HTTP/1.1\r\n\r\n")).collect();
        // Streams have places of their own; those that find none are answered and gone.
        while load.streams.load(Ordering::Relaxed) < STREAMS_MAX {
            std::thread::yield_now();
        }
        assert!(answer(address).ends_with("hello"));
        drop(streams);
        assert!(answer(address).ends_with("hello"));
        let text = std::str::from_utf8(FULL).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}", body.len())) && head.contains("503"));
        // Defect 9: what nobody waits for any more ends.
        while load.streams.load(Ordering::Relaxed) > 0 {
            std::thread::yield_now();
        }
    }

    #[test]
    fn places_are_given_up_by_those_who_have_most_of_them() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut doors = Doors::default();
        let [greedy, other, new] = [1, 2, 3].map(|n| IpAddr::from([10, 0, 0, n]));
        let enter = |doors: &mut Doors, from: IpAddr, silent: bool| {
            let room = doors.room(from);
            doors.next += 1;
            if room {
                doors.open.insert(doors.next, (from, silent.then(|| stream.try_clone().unwrap())));
            }
            room
        };
        assert!(enter(&mut doors, other, true));
        (0..CONNECTIONS_MAX).for_each(|_| assert!(enter(&mut doors, greedy, true)));
        let count =
            |doors: &Doors, of: IpAddr| doors.open.values().filter(|(address, _)| *address == of).count();
        assert_eq!((count(&doors, greedy), count(&doors, other)), (ADDRESS_MAX, 1));
        (0..CONNECTIONS_MAX)
            .for_each(|n| assert!(enter(&mut doors, IpAddr::from([10, 0, 1, n as u8]), true)));
        assert!(enter(&mut doors, new, true));
        assert_eq!(doors.open.len(), CONNECTIONS_MAX);
        assert!(count(&doors, new) == 1 && count(&doors, greedy) < 10);
        doors.open.values_mut().for_each(|(_, stream)| *stream = None);
        assert!(!enter(&mut doors, new, true));
    }

    #[test]
    fn places_are_counted() {
        let count = AtomicUsize::new(0);
        let first = Place::take(&count, 1);
        assert!(first.is_some() && Place::take(&count, 1).is_none());
        drop(first);
        assert!(Place::take(&count, 1).is_some());
    }
}
