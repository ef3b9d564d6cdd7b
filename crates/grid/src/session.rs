//! One life of a client on the engine: its streams, the thread that keeps the connection, and the end. Everything here
//! survives a restart of the server; after one that forgot its streams they are made again.

use crate::client::{Options, run};
use crate::desk::Tally;
use crate::link::{self, Address, GridError, Status};
use crate::wire::{self, Done, Note, Presence, Report, names};
use async_nats::jetstream::{self, consumer, stream};
use async_nats::{Client, Message};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::sync::mpsc;
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

/// What the driver hears.
pub enum Event<A> {
    /// A worker's report, with its answers.
    Report(Report, Vec<Result<A, String>>),
    /// Our own answer to a job.
    Checked(u64, Option<A>),
    /// A partial result.
    Note(Note),
    /// How a worker is.
    Presence(Presence),
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
    pub fn open<A>(
        address: &Address,
        lease_seconds: f64,
        news: mpsc::Sender<Event<A>>,
    ) -> Result<Session, GridError>
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
        news: mpsc::Sender<Event<A>>,
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
        let mut presences = subscribe(names::presence("*")).await?;
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
                    Ok(presence) if wire::is_name(&presence.worker) => tell(&news, Event::Presence(presence)),
                    Ok(_) => {}
                    Err(why) => tell(&news, Event::Line(format!("a worker's word: {why}"))),
                },
                Some(message) = notes.next() => {
                    if let Ok(note) = wire::decode::<Note>(&message.payload) {
                        tell(&news, Event::Note(note));
                    }
                }
                Some(_) = hellos.next() => tell(&news, Event::Hello),
                Some(up) = links.recv() => {
                    let back = up && !there;
                    if up != there {
                        let text = if up { "the engine is back" } else { "the engine is gone; waiting for it" };
                        tell(&news, Event::Line(text.into()));
                    }
                    there = up;
                    if back {
                        reader.outstanding = 0;
                        // Whether it still has them, and if not, once more.
                        match self.make_streams(&context).await {
                            Ok(fresh) if fresh && published => tell(&news, Event::Emptied),
                            Ok(_) => {}
                            Err(error) => tell(&news, Event::Line(error.to_string())),
                        }
                    }
                }
                _ = tick.tick() => {
                    if let Some(reply) = reader.last.take() {
                        let _ = client.publish(reply, "+ACK".into()).await;
                    }
                    reader.refill(&client, &self.name).await;
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
            subjects: vec![names::answers(&self.name)],
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
        news: &mpsc::Sender<Event<A>>,
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
        reader.last = message.reply.map(|reply| reply.to_string());
        if reader.outstanding < BATCH / 4 {
            reader.refill(client, &self.name).await;
        }
        match wire::decode::<Report>(&message.payload) {
            Ok(report) if report.session == self.name && wire::is_name(&report.worker) => {
                let answer = |done: &Done| match &done.answer {
                    Some(body) => {
                        serde_json::from_str(body.get()).map_err(|error| format!("no answer: {error}"))
                    }
                    None => Err(done.failure.chars().take(200).collect()),
                };
                let answers = report.done.iter().map(answer).collect();
                tell(news, Event::Report(report, answers));
            }
            Ok(_) => {}
            Err(why) => tell(news, Event::Line(format!("an answer that is none: {why}"))),
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

async fn store(client: &Client, session: &str, inbox: &str, number: u64, bytes: &[u8]) {
    let reply = format!("{inbox}.p.{number}");
    // What does not go out now is sent again when its confirmation does not come.
    let _ = client.publish_with_reply(names::jobs(session), reply, bytes.to_vec().into()).await;
}

/// The engine has stored a job, or refuses to.
fn stored<A>(message: &Message, number: &str, unstored: &mut Unstored, news: &mpsc::Sender<Event<A>>) {
    let Ok(number) = number.parse::<u64>() else { return };
    let told: Option<serde_json::Value> = serde_json::from_slice(&message.payload).ok();
    match told {
        Some(told) if told.get("seq").is_some() => drop(unstored.remove(&number)),
        // No stream, or no room: the tick tries again.
        Some(told) => tell(
            news,
            Event::Line(format!("job {number} is not stored yet: {}", told["error"]["description"])),
        ),
        None => {}
    }
}

fn tell<A>(news: &mpsc::Sender<Event<A>>, event: Event<A>) {
    // When the driver has gone, an order to close is on its way.
    let _ = news.send(event);
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
