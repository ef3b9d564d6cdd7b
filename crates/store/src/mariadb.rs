//! The store in a MariaDB server: one pool of connections, look-ups and writes in batches, one writer at a time by a
//! lock of the server. Numbers and keys are written into the statements as such, texts are parameters.

use crate::entry::{Batch, Entry, GameName, Source};
use crate::{Added, Each, Store, StoreError, entry_of};
use mysql::prelude::Queryable;
use mysql::{Opts, OptsBuilder, Pool, PoolConstraints, PoolOpts, PooledConn};
use sortie_core::{Ident, Precondition};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::Duration;

/// Rows of one statement.
const ROWS: usize = 1000;
/// Rows of one answer of a scan.
const SCAN_ROWS: usize = 20_000;
/// Connections, at most.
const POOL_MAX: usize = 16;

/// What makes the tables, one step a version. A step that a server has seen is never changed.
const MIGRATIONS: [&[&str]; 1] = [&[
    "CREATE TABLE IF NOT EXISTS games (
        id SMALLINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
        name VARCHAR(190) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL UNIQUE) ENGINE=InnoDB",
    "CREATE TABLE IF NOT EXISTS sources (
        id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
        game SMALLINT UNSIGNED NOT NULL,
        digest BINARY(32) NOT NULL,
        text MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
        UNIQUE (game, digest)) ENGINE=InnoDB",
    "CREATE TABLE IF NOT EXISTS positions (
        game SMALLINT UNSIGNED NOT NULL,
        position BINARY(16) NOT NULL,
        kind TINYINT UNSIGNED NOT NULL,
        hash BIGINT UNSIGNED NOT NULL,
        collision INT UNSIGNED NOT NULL,
        flags TINYINT UNSIGNED NOT NULL,
        best SMALLINT UNSIGNED NOT NULL,
        source INT UNSIGNED NOT NULL,
        PRIMARY KEY (game, position, kind, hash)) ENGINE=InnoDB",
]];

/// A store in a database of a MariaDB server.
pub struct MariaDb {
    pool: Pool,
    /// Without its password.
    place: String,
    wait: Duration,
    /// The numbers of games that were asked for: they never change.
    games: Mutex<HashMap<GameName, u16>>,
}

type Row = (Vec<u8>, u8, u64, u32, u8, u16, u32);

impl MariaDb {
    /// Connects to `mysql://user:password@host:port/database`, or `...?socket=/path` on this machine, and makes the tables
    /// if they are not there. Another writer is waited for up to `wait`.
    pub fn connect(url: &str, wait: Duration) -> Result<MariaDb, StoreError> {
        let place = match (url.split_once("://"), url.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://{rest}"),
            _ => url.to_string(),
        };
        let broken = |message: String| StoreError::Broken { place: place.clone(), message };
        let opts = Opts::from_url(url).map_err(|error| broken(error.to_string()))?;
        if opts.get_db_name().is_none_or(str::is_empty) {
            return Err(broken("expected a database, as in mysql://user@host/sortie".into()));
        }
        let constraints = PoolConstraints::new(1, POOL_MAX).expect("1 is not more than that");
        let pool_opts = PoolOpts::default().with_constraints(constraints).with_reset_connection(false);
        let opts = OptsBuilder::from_opts(opts).pool_opts(pool_opts);
        let pool = Pool::new(opts).map_err(|error| broken(error.to_string()))?;
        let store = MariaDb { pool, place, wait, games: Mutex::default() };
        store.migrate()?;
        Ok(store)
    }

    fn at<T>(&self, result: Result<T, mysql::Error>) -> Result<T, StoreError> {
        result.map_err(|error| self.broken(error))
    }

    fn broken(&self, message: impl ToString) -> StoreError {
        StoreError::Broken { place: self.place.clone(), message: message.to_string() }
    }

    fn connection(&self) -> Result<PooledConn, StoreError> {
        self.at(self.pool.get_conn())
    }

    /// Does something while nobody else who writes does. The server gives the lock back when a connection breaks.
    fn alone<T>(
        &self,
        connection: &mut PooledConn,
        work: impl FnOnce(&mut PooledConn) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let seconds = self.wait.as_secs_f64();
        let lock = format!("SELECT GET_LOCK(CONCAT('sortie ', DATABASE()), {seconds:.3})");
        match self.at(connection.query_first::<Option<u8>, _>(lock))?.flatten() {
            Some(1) => {}
            _ => return Err(StoreError::Busy(self.place.clone())),
        }
        let done = work(connection);
        let free = connection.query_drop("DO RELEASE_LOCK(CONCAT('sortie ', DATABASE()))");
        let done = done?;
        self.at(free)?;
        Ok(done)
    }

    fn migrate(&self) -> Result<(), StoreError> {
        let mut connection = self.connection()?;
        self.alone(&mut connection, |connection| {
            let table = "CREATE TABLE IF NOT EXISTS migrations (
                version INT UNSIGNED NOT NULL PRIMARY KEY,
                applied TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP) ENGINE=InnoDB";
            self.at(connection.query_drop(table))?;
            let done =
                self.at(connection.query_first::<Option<usize>, _>("SELECT MAX(version) FROM migrations"))?;
            let done = done.flatten().unwrap_or(0);
            if done > MIGRATIONS.len() {
                let known = MIGRATIONS.len();
                return Err(
                    self.broken(format!("its tables are of version {done}: this build knows {known}"))
                );
            }
            for (steps, version) in MIGRATIONS.iter().zip(1..).skip(done) {
                for step in *steps {
                    self.at(connection.query_drop(step))?;
                }
                self.at(connection.exec_drop("INSERT INTO migrations (version) VALUES (?)", (version,)))?;
            }
            Ok(())
        })
    }

    fn game(&self, connection: &mut PooledConn, game: &GameName) -> Result<Option<u16>, StoreError> {
        let mut games = self.games.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(&id) = games.get(game) {
            return Ok(Some(id));
        }
        let query = "SELECT id FROM games WHERE name = ?";
        let id = self.at(connection.exec_first::<u16, _, _>(query, (game.to_string(),)))?;
        games.extend(id.map(|id| (game.clone(), id)));
        Ok(id)
    }

    fn entry(&self, row: Row) -> Result<Entry, StoreError> {
        let (position, kind, hash, check, flags, best, source) = row;
        let bytes: Option<[u8; 16]> = position.try_into().ok();
        let key = bytes.map(u128::from_be_bytes);
        key.and_then(|key| Entry::of_fields(key, Precondition { kind, hash }, check, flags, best, source))
            .ok_or_else(|| self.broken("a row of positions means nothing"))
    }

    /// All entries with these keys.
    fn find(
        &self,
        connection: &mut PooledConn,
        game: u16,
        keys: &mut dyn Iterator<Item = u128>,
    ) -> Result<HashMap<u128, Vec<Entry>>, StoreError> {
        let mut found: HashMap<u128, Vec<Entry>> = HashMap::new();
        loop {
            let mut list = String::new();
            for key in keys.take(ROWS) {
                let comma = if list.is_empty() { "" } else { "," };
                let _ = write!(list, "{comma}x'{key:032x}'");
            }
            if list.is_empty() {
                return Ok(found);
            }
            let query = format!("{SELECT} WHERE game = {game} AND position IN ({list})");
            for row in self.at(connection.query::<Row, _>(query))? {
                let entry = self.entry(row)?;
                found.entry(entry.key).or_default().push(entry);
            }
        }
    }

    fn source(&self, connection: &mut PooledConn, game: u16, source: &Source) -> Result<u32, StoreError> {
        let text = serde_json::to_string(source).map_err(|error| self.broken(error))?;
        let insert = "INSERT INTO sources (game, digest, text) VALUES (?, UNHEX(SHA2(?, 256)), ?)
            ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id)";
        self.at(connection.exec_drop(insert, (game, &text, &text)))?;
        Ok(connection.last_insert_id() as u32)
    }

    /// Adds what is new or better. In a transaction, alone.
    fn put_in(
        &self,
        connection: &mut PooledConn,
        game: &GameName,
        batches: &[Batch],
    ) -> Result<Added, StoreError> {
        self.at(connection.exec_drop("INSERT IGNORE INTO games (name) VALUES (?)", (game.to_string(),)))?;
        let id = self.game(connection, game)?.ok_or_else(|| self.broken("the game was not stored"))?;
        let mut entries: Vec<Entry> = Vec::new();
        for batch in batches {
            let source = self.source(connection, id, &batch.source)?;
            for fact in &batch.facts {
                entries.push(entry_of(game, fact, batch, source)?);
            }
        }
        let keys = &mut entries.iter().map(|entry| entry.key);
        let mut known: HashMap<(u128, Precondition), Entry> = HashMap::new();
        for entry in self.find(connection, id, keys)?.into_values().flatten() {
            known.insert((entry.key, entry.precondition), entry);
        }
        let mut added = Added::default();
        let mut changed: HashMap<(u128, Precondition), Entry> = HashMap::new();
        for entry in entries {
            let at = (entry.key, entry.precondition);
            match changed.get(&at).or(known.get(&at)) {
                None => added.new += 1,
                Some(there) if !entry.replaces(there, game)? => {
                    added.known += 1;
                    continue;
                }
                Some(_) => added.better += 1,
            }
            changed.insert(at, entry);
        }
        // In the order of the keys: the tree grows at few places at a time.
        let mut changed: Vec<Entry> = changed.into_values().collect();
        changed.sort_unstable_by_key(|entry| (entry.key, entry.precondition));
        for rows in changed.chunks(ROWS) {
            let mut query = String::from(
                "REPLACE INTO positions (game, position, kind, hash, collision, flags, best, source) VALUES ",
            );
            for (i, entry) in rows.iter().enumerate() {
                let Precondition { kind, hash } = entry.precondition;
                let (key, check, flags) = (entry.key, entry.check, entry.flags());
                let (comma, best) = (if i == 0 { "" } else { "," }, entry.best.unwrap_or_default());
                let source = entry.source;
                let _ = write!(
                    query,
                    "{comma}({id},x'{key:032x}',{kind},{hash},{check},{flags},{best},{source})"
                );
            }
            self.at(connection.query_drop(query))?;
        }
        Ok(added)
    }
}

const SELECT: &str = "SELECT position, kind, hash, collision, flags, best, source FROM positions";

impl Store for MariaDb {
    fn put(&self, game: &GameName, batches: &[Batch]) -> Result<Added, StoreError> {
        let mut connection = self.connection()?;
        self.alone(&mut connection, |connection| {
            self.at(connection.query_drop("START TRANSACTION"))?;
            let added = self.put_in(connection, game, batches);
            let end = if added.is_ok() { "COMMIT" } else { "ROLLBACK" };
            let ended = connection.query_drop(end);
            if added.is_err() {
                // The number of a game that was new went with the rest.
                self.games.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).remove(game);
            }
            let added = added?;
            self.at(ended)?;
            Ok(added)
        })
    }

    fn get(&self, game: &GameName, idents: &[Ident]) -> Result<Vec<Vec<Entry>>, StoreError> {
        let mut connection = self.connection()?;
        let Some(id) = self.game(&mut connection, game)? else { return Ok(vec![Vec::new(); idents.len()]) };
        let found = self.find(&mut connection, id, &mut idents.iter().map(|ident| ident.key))?;
        let of = |ident: &Ident| {
            let entries = found.get(&ident.key).into_iter().flatten();
            entries.filter(|entry| entry.check == ident.check).copied().collect()
        };
        Ok(idents.iter().map(of).collect())
    }

    fn scan(&self, game: &GameName, each: Each) -> Result<(), StoreError> {
        let mut connection = self.connection()?;
        let Some(id) = self.game(&mut connection, game)? else { return Ok(()) };
        let mut after = String::new();
        loop {
            let query =
                format!("{SELECT} WHERE game = {id} {after} ORDER BY position, kind, hash LIMIT {SCAN_ROWS}");
            let rows = self.at(connection.query::<Row, _>(query))?;
            let full = rows.len() == SCAN_ROWS;
            for row in rows {
                let entry = self.entry(row)?;
                let Precondition { kind, hash } = entry.precondition;
                after = format!("AND (position, kind, hash) > (x'{:032x}', {kind}, {hash})", entry.key);
                each(entry)?;
            }
            if !full {
                return Ok(());
            }
        }
    }

    fn games(&self) -> Result<Vec<(GameName, u64)>, StoreError> {
        let query =
            "SELECT name, (SELECT COUNT(*) FROM positions WHERE game = games.id) FROM games ORDER BY name";
        let rows: Vec<(String, u64)> = self.at(self.connection()?.query(query))?;
        Ok(rows.into_iter().filter_map(|(name, count)| Some((GameName::parse(&name)?, count))).collect())
    }

    fn sources(&self, game: &GameName) -> Result<Vec<(u32, Source)>, StoreError> {
        let mut connection = self.connection()?;
        let Some(id) = self.game(&mut connection, game)? else { return Ok(Vec::new()) };
        let query = format!("SELECT id, text FROM sources WHERE game = {id} ORDER BY id");
        let rows: Vec<(u32, String)> = self.at(connection.query(query))?;
        let parse = |(number, text): (u32, String)| {
            Ok((number, serde_json::from_str(&text).map_err(|error| self.broken(error))?))
        };
        rows.into_iter().map(parse).collect()
    }

    fn bytes(&self) -> Result<u64, StoreError> {
        let mut connection = self.connection()?;
        self.at(connection.query_drop("ANALYZE TABLE positions, sources, games"))?;
        let query = "SELECT CAST(SUM(data_length + index_length) AS UNSIGNED)
            FROM information_schema.tables WHERE table_schema = DATABASE()";
        Ok(self.at(connection.query_first::<Option<u64>, _>(query))?.flatten().unwrap_or(0))
    }

    fn sound(&self) -> Result<(), StoreError> {
        let rows: Vec<(String, String, String, String)> =
            self.at(self.connection()?.query("CHECK TABLE positions, sources, games"))?;
        match rows.into_iter().find(|(_, _, kind, text)| kind == "error" || kind == "status" && text != "OK")
        {
            Some((table, _, _, text)) => Err(self.broken(format!("{table}: {text}"))),
            None => Ok(()),
        }
    }

    fn tidy(&self) -> Result<(), StoreError> {
        let mut connection = self.connection()?;
        self.alone(&mut connection, |connection| {
            self.at(connection.query_drop("OPTIMIZE TABLE positions, sources"))
        })
    }
}
