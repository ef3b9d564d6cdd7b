//! One life of a client on the engine: its streams, the thread that keeps the connection, and the end. Everything here
//! survives a restart of the server; after one that forgot its streams they are made again.

use crate::client::{Options, run};
use crate::desk::{Tally, Who};
use crate::link::{self, Address, GridError, Status};
use crate::wire::{self, Done, Note, Presence, Report, names};
use async_nats::jetstream::{self, consumer, stream};
use async_nats::{Client, Message};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Answers that are asked for at a time.
const BATCH: usize = 512;
/// A request for answers is good for so long.
const PULL_SECONDS: f64 = 20.0;
/// A job whose storing is not confirmed by then is sent again.
const STORED_WITHIN: Duration = Duration::from_secs(5);
const TICK: Duration = Duration::from_millis(250);
/// Answers that wait for a client that is behind: then the oldest are dropped, and their jobs sent again.
const ANSWER_BYTES_MAX: i64 = 256 << 20;
/// Jobs that wait for workers: what does not fit is stored later. The server sets these bytes aside for every session.
const JOB_BYTES_MAX: i64 = 64 << 20;
/// Streams that nobody has used for so long are those of a client that died.
const ORPHAN_SECONDS: i64 = 24 * 3600;

/// Bytes of news that wait for a driver that is behind: what is only nice to know is dropped then, and no more answers
/// are asked for.
const WAITING_BYTES_MAX: usize = 32 << 20;

/// The way to the driver, in bounded memory.
pub struct News<A> {
    sender: mpsc::Sender<(Event<A>, usize)>,
    waiting: Arc<AtomicUsize>,
}

/// The driver's end of it.
pub struct Heard<A> {
    receiver: mpsc::Receiver<(Event<A>, usize)>,
    waiting: Arc<AtomicUsize>,
}

impl<A> Clone for News<A> {
    fn clone(&self) -> Self {
        News { sender: self.sender.clone(), waiting: self.waiting.clone() }
    }
}

/// A way for news, with nothing on it.
pub fn news<A>() -> (News<A>, Heard<A>) {
    let ((sender, receiver), waiting) = (mpsc::channel(), Arc::new(AtomicUsize::new(0)));
    (News { sender, waiting: waiting.clone() }, Heard { receiver, waiting })
}

impl<A> News<A> {
    /// Tells what must not get lost. False: nobody listens any more.
    pub fn tell(&self, event: Event<A>, bytes: usize) -> bool {
        let bytes = bytes + size_of::<Event<A>>();
        self.waiting.fetch_add(bytes, Relaxed);
        // When the driver has gone, an order to close is on its way.
        self.sender.send((event, bytes)).is_ok()
    }

    /// Tells what may get lost.
    fn mention(&self, event: Event<A>, bytes: usize) {
        if !self.is_full() {
            self.tell(event, bytes);
        }
    }

    fn is_full(&self) -> bool {
        self.waiting.load(Relaxed) > WAITING_BYTES_MAX
    }
}

impl<A> Heard<A> {
    /// The next event, if one comes in time.
    pub fn within(&self, time: Duration) -> Result<Event<A>, mpsc::RecvTimeoutError> {
        self.receiver.recv_timeout(time).map(|heard| self.taken(heard))
    }

    /// The next event, if it is there.
    pub fn now(&self) -> Option<Event<A>> {
        self.receiver.try_recv().ok().map(|heard| self.taken(heard))
    }

    fn taken(&self, (event, bytes): (Event<A>, usize)) -> Event<A> {
        self.waiting.fetch_sub(bytes, Relaxed);
        event
    }
}

/// What the driver hears.
pub enum Event<A> {
    /// A worker's report, with its answers.
    Report(Who, Report, Vec<Result<A, String>>),
    /// Our own answer to a job.
    Checked(u64, Option<A>),
    /// A partial result.
    Note(Note),
    /// How a worker is.
    Presence(Who, Presence),
    /// A newcomer wants to know which runs there are.
    Hello,
    /// The server has lost everything.
    Emptied,
    /// Something for people.
    Line(String),
}

/// What it wants to be sent.
pub enum Order {
    /// A job, to be stored.
    Job(u64, Vec<u8>),
    /// Words to whoever listens.
    Say(String, Vec<u8>),
    /// The end.
    Close,
}

/// A session, seen from the driver.
pub struct Session {
    /// Its name.
    pub name: String,
    url: String,
    orders: UnboundedSender<Order>,
    thread: JoinHandle<Result<(), GridError>>,
}

impl Session {
    /// Connects and makes the streams.
    pub fn open<A>(address: &Address, lease_seconds: f64, news: News<A>) -> Result<Session, GridError>
    where
        A: DeserializeOwned + Send + 'static,
    {
        let name = format!("{:016x}", link::random());
        let (orders, taken) = unbounded_channel();
        let (ready, opened) = mpsc::channel();
        let keeper = Keeper { name: name.clone(), address: address.clone(), lease_seconds };
        let thread = std::thread::spawn({
            move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let fail = |why: String| GridError::Engine { url: keeper.address.url.clone(), why };
                let runtime = runtime.map_err(|error| fail(error.to_string()))?;
                runtime.block_on(keeper.keep(taken, news, ready))
            }
        });
        match opened.recv() {
            Ok(()) => Ok(Session { name, url: address.url.clone(), orders, thread }),
            Err(_) => Err(ended(thread, &address.url)),
        }
    }

    /// Gives an order.
    pub fn order(&self, order: Order) {
        // If nobody takes it, the driver hears that the channel of events has ended.
        let _ = self.orders.send(order);
    }

    /// Whether its thread is still there.
    pub fn is_alive(&self) -> bool {
        !self.thread.is_finished()
    }

    /// Why there are no events any more.
    pub fn died(&self) -> GridError {
        GridError::Engine { url: self.url.clone(), why: "the connection ended".into() }
    }

    /// Says that the run is over and removes its streams.
    pub fn close(self, options: &Options, tally: Tally) -> Result<Tally, GridError> {
        let over = run(options, &self.name, Vec::new(), true);
        self.order(Order::Say(names::run(&self.name), wire::encode(&over)?));
        self.order(Order::Close);
        match self.thread.join() {
            Ok(ended) => ended.map(|()| tally),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

fn ended(thread: JoinHandle<Result<(), GridError>>, url: &str) -> GridError {
    match thread.join() {
        Ok(Err(error)) => error,
        Ok(Ok(())) => GridError::Engine { url: url.into(), why: "it ended at once".into() },
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// The thread's side.
struct Keeper {
    name: String,
    address: Address,
    lease_seconds: f64,
}

/// Jobs whose storing the engine has not confirmed yet.
type Unstored = BTreeMap<u64, (Vec<u8>, Instant)>;

impl Keeper {
    fn fail(&self, why: String) -> GridError {
        GridError::Engine { url: self.address.url.clone(), why }
    }

    async fn keep<A: DeserializeOwned>(
        self,
        mut orders: UnboundedReceiver<Order>,
        news: News<A>,
        ready: mpsc::Sender<()>,
    ) -> Result<(), GridError> {
        let (linked, mut links) = unbounded_channel();
        let client = link::connect(&self.address, &format!("sortie client {}", self.name), linked).await?;
        let context = link::context(&client);
        self.make_streams(&context).await?;
        let inbox = client.new_inbox();
        let subscribe = async |subject: String| {
            client.subscribe(subject).await.map_err(|error| self.fail(link::cause(&error)))
        };
        let mut arrivals = subscribe(format!("{inbox}.>")).await?;
        let mut presences = subscribe(names::presence("*", "*")).await?;
        let mut hellos = subscribe(names::HELLO.into()).await?;
        let mut notes = subscribe(names::notes(&self.name)).await?;
        let _ = ready.send(());
        let mut reader =
            Reader { outstanding: 0, asked: Instant::now(), last: None, inbox: format!("{inbox}.a") };
        let mut unstored = Unstored::new();
        let mut tick = tokio::time::interval(TICK);
        let (mut published, mut there) = (false, true);
        loop {
            tokio::select! {
                order = orders.recv() => match order {
                    Some(Order::Job(number, bytes)) => {
                        published = true;
                        store(&client, &self.name, &inbox, number, &bytes).await;
                        unstored.insert(number, (bytes, Instant::now()));
                    }
                    Some(Order::Say(subject, bytes)) => drop(client.publish(subject, bytes.into()).await),
                    Some(Order::Close) | None => break,
                },
                Some(message) = arrivals.next() => match message.subject.rsplit_once(".p.") {
                    Some((_, number)) => stored(&message, number, &mut unstored, &news),
                    None => self.arrived(&client, &mut reader, message, &news).await,
                },
                Some(message) = presences.next() => match wire::decode::<Presence>(&message.payload) {
                    Ok(presence) => {
                        let who = who(&message, 2, &presence.worker);
                        news.mention(Event::Presence(who, presence), message.payload.len());
                    }
                    Err(why) => news.mention(Event::Line(format!("a worker's word: {why}")), 0),
                },
                Some(message) = notes.next() => {
                    if let Ok(note) = wire::decode::<Note>(&message.payload) {
                        news.mention(Event::Note(note), message.payload.len());
                    }
                }
                Some(_) = hellos.next() => news.mention(Event::Hello, 0),
                Some(up) = links.recv() => {
                    let back = up && !there;
                    if up != there {
                        let text = if up { "the engine is back" } else { "the engine is gone; waiting for it" };
                        news.mention(Event::Line(text.into()), 0);
                    }
                    there = up;
                    if back {
                        reader.outstanding = 0;
                        // Whether it still has them, and if not, once more.
                        match self.make_streams(&context).await {
                            Ok(fresh) if fresh && published => {
                                news.tell(Event::Emptied, 0);
                            }
                            Ok(_) => {}
                            Err(error) => news.mention(Event::Line(error.to_string()), 0),
                        }
                    }
                }
                _ = tick.tick() => {
                    if let Some(reply) = reader.last.take() {
                        let _ = client.publish(reply, "+ACK".into()).await;
                    }
                    if !news.is_full() {
                        reader.refill(&client, &self.name).await;
                    }
                    let late = unstored.iter_mut().filter(|(_, (_, when))| when.elapsed() > STORED_WITHIN);
                    for (&number, (bytes, when)) in late.filter(|_| there) {
                        *when = Instant::now();
                        store(&client, &self.name, &inbox, number, bytes).await;
                    }
                }
            }
        }
        // The streams go with the session; if that fails, the next client removes them.
        if there {
            for stream in [names::jobs_stream(&self.name), names::answers_stream(&self.name)] {
                let _ = context.delete_stream(stream).await;
            }
        }
        let _ = tokio::time::timeout(Duration::from_secs(2), client.flush()).await;
        Ok(())
    }

    /// Makes what is not there. True: the jobs' stream is new.
    async fn make_streams(&self, context: &jetstream::Context) -> Result<bool, GridError> {
        let lease = Duration::from_secs_f64(self.lease_seconds);
        let engine = |error: &dyn std::error::Error| self.fail(link::cause(error));
        context.get_or_create_stream(link::board()).await.map_err(|error| engine(&error))?;
        remove_orphans(context).await;
        let jobs = stream::Config {
            name: names::jobs_stream(&self.name),
            subjects: vec![names::jobs(&self.name)],
            retention: stream::RetentionPolicy::WorkQueue,
            discard: stream::DiscardPolicy::New,
            max_bytes: JOB_BYTES_MAX,
            max_message_size: wire::MESSAGE_BYTES_MAX as i32,
            ..Default::default()
        };
        let answers = stream::Config {
            name: names::answers_stream(&self.name),
            subjects: vec![names::answers(&self.name, "*")],
            max_bytes: ANSWER_BYTES_MAX,
            max_message_size: wire::MESSAGE_BYTES_MAX as i32,
            max_age: Duration::from_secs(3600),
            ..Default::default()
        };
        let made = context.get_or_create_stream(jobs).await.map_err(|error| engine(&error))?;
        let fresh = made.cached_info().state.last_sequence == 0;
        let workers = consumer::pull::Config {
            durable_name: Some(names::WORKERS.into()),
            ack_policy: consumer::AckPolicy::Explicit,
            ack_wait: lease,
            max_ack_pending: 20_000,
            max_waiting: 10_000,
            ..Default::default()
        };
        made.get_or_create_consumer(names::WORKERS, workers).await.map_err(|error| engine(&error))?;
        let made = context.get_or_create_stream(answers).await.map_err(|error| engine(&error))?;
        let client = consumer::pull::Config {
            durable_name: Some(names::CLIENT.into()),
            ack_policy: consumer::AckPolicy::All,
            ack_wait: Duration::from_secs(10),
            max_ack_pending: 100_000,
            ..Default::default()
        };
        made.get_or_create_consumer(names::CLIENT, client).await.map_err(|error| engine(&error))?;
        Ok(fresh)
    }

    /// Something came where answers come.
    async fn arrived<A: DeserializeOwned>(
        &self,
        client: &Client,
        reader: &mut Reader,
        message: Message,
        news: &News<A>,
    ) {
        if let Some(status) = link::status(&message) {
            match status {
                Status::Ended(missing) => reader.outstanding = reader.outstanding.saturating_sub(missing),
                // The tick asks again.
                Status::Nobody => reader.outstanding = 0,
            }
            return;
        }
        reader.outstanding = reader.outstanding.saturating_sub(1);
        reader.last = message.reply.as_ref().map(|reply| reply.to_string());
        if !news.is_full() {
            reader.refill(client, &self.name).await;
        }
        match wire::decode::<Report>(&message.payload) {
            Ok(report) if report.session == self.name => {
                let answer = |done: &Done| match &done.answer {
                    Some(body) => serde_json::from_str(body.get()).map_err(|error| {
                        wire::plain(&format!("no answer: {error}"), wire::FAILURE_CHARS_MAX)
                    }),
                    None => Err(done.failure.clone()),
                };
                let answers = report.done.iter().map(answer).collect();
                let who = who(&message, 3, &report.worker);
                news.tell(Event::Report(who, report, answers), message.payload.len());
            }
            Ok(_) => {}
            Err(why) => news.mention(Event::Line(format!("an answer that is none: {why}")), 0),
        }
    }
}

/// How the answers are read.
struct Reader {
    /// Answers that were asked for and have not come.
    outstanding: usize,
    asked: Instant,
    /// Where the last one is acknowledged, and all before it.
    last: Option<String>,
    inbox: String,
}

impl Reader {
    async fn refill(&mut self, client: &Client, session: &str) {
        if self.asked.elapsed().as_secs_f64() > PULL_SECONDS + 2.0 {
            self.outstanding = 0;
        }
        if self.outstanding < BATCH / 4 {
            self.outstanding += BATCH;
            self.asked = Instant::now();
            let stream = names::answers_stream(session);
            link::pull(client, &stream, names::CLIENT, &self.inbox, BATCH, PULL_SECONDS).await;
        }
    }
}

/// Whose message it is: the server lets a credential publish under its own subject alone.
fn who(message: &Message, from_the_left: usize, worker: &str) -> Who {
    match names::credential(&message.subject, from_the_left) {
        Some(credential) => Who::Credential(credential.to_string()),
        None => Who::Named(worker.to_string()),
    }
}

async fn store(client: &Client, session: &str, inbox: &str, number: u64, bytes: &[u8]) {
    let reply = format!("{inbox}.p.{number}");
    // What does not go out now is sent again when its confirmation does not come.
    let _ = client.publish_with_reply(names::jobs(session), reply, bytes.to_vec().into()).await;
}

/// The engine has stored a job, or refuses to.
fn stored<A>(message: &Message, number: &str, unstored: &mut Unstored, news: &News<A>) {
    let Ok(number) = number.parse::<u64>() else { return };
    let told: Option<serde_json::Value> = serde_json::from_slice(&message.payload).ok();
    match told {
        Some(told) if told.get("seq").is_some() => drop(unstored.remove(&number)),
        // No stream, or no room: the tick tries again.
        Some(told) => {
            let why = format!("job {number} is not stored yet: {}", told["error"]["description"]);
            news.mention(Event::Line(why), 0);
        }
        None => {}
    }
}

/// Removes the streams of clients that died long ago.
async fn remove_orphans(context: &jetstream::Context) {
    let mut streams = context.streams();
    let mut old = Vec::new();
    while let Some(Ok(info)) = streams.next().await {
        let name = &info.config.name;
        let ours = name.starts_with("sortie-jobs-") || name.starts_with("sortie-answers-");
        let last = info.state.last_timestamp.unix_timestamp().max(info.created.unix_timestamp());
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_secs() as i64);
        if ours && now - last > ORPHAN_SECONDS {
            old.push(name.clone());
        }
    }
    for name in old {
        let _ = context.delete_stream(name).await;
    }
}
