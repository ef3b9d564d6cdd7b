//! What a run was told, for people: from the request of any kind of folder, as far as it can be read.

use crate::show;

/// What a run was told, as far as it can be read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Told {
    /// `domain/name`.
    pub instance: String,
    /// The search and its parameters.
    pub search: String,
    /// The name of the search alone.
    pub search_name: String,
    /// The seed.
    pub seed: Option<i64>,
    /// Independent searches.
    pub streams: i64,
    /// Threads.
    pub threads: i64,
    /// When it ends.
    pub limits: String,
    /// The version that began it.
    pub version: String,
    /// The players of a match.
    pub players: Vec<String>,
    /// Each search runs on several threads.
    pub parallel: bool,
}

impl Told {
    /// From the table of a request.
    pub fn of(table: &toml::Table) -> Told {
        let text = |table: &toml::Table, key: &str| {
            table.get(key).and_then(toml::Value::as_str).unwrap_or_default().to_string()
        };
        let whole = |table: &toml::Table, key: &str| table.get(key).and_then(toml::Value::as_integer);
        let inside = |key: &str| table.get(key).and_then(toml::Value::as_table);
        let mut told = Told {
            instance: text(table, "instance"),
            seed: whole(table, "seed"),
            streams: whole(table, "streams").unwrap_or(1),
            threads: whole(table, "threads").unwrap_or(1),
            version: text(table, "sortie"),
            ..Told::default()
        };
        if let Some(search) = inside("search") {
            told.search_name = text(search, "name");
            told.search = describe(search);
            told.parallel = !matches!(text(search, "parallel").as_str(), "" | "none");
        }
        if let Some(limits) = inside("limits") {
            told.limits = limits.iter().map(limit).collect::<Vec<_>>().join(", ");
        }
        // Matches and tunings keep what is played in a table of its own.
        if let Some(inner) = inside("table") {
            told.instance = text(inner, "instance");
            told.seed = whole(inner, "seed");
        }
        if let Some(players) = table.get("players").and_then(toml::Value::as_array) {
            told.players = players.iter().filter_map(toml::Value::as_str).map(str::to_string).collect();
        }
        // What a proof search asks, and by which rule.
        if let Some(plan) = inside("plan") {
            told.search = format!("{}, question {}", text(plan, "select"), text(plan, "question"));
            told.search_name = text(plan, "select");
        }
        if let Some(study) = table.get("study").and_then(toml::Value::as_str) {
            told.instance = study.to_string();
        }
        told
    }
}

/// `1m 00s`, `5,000 playouts`, `target 80`.
fn limit((key, value): (&String, &toml::Value)) -> String {
    let number = value.as_float().or(value.as_integer().map(|n| n as f64));
    match (key.as_str(), number) {
        ("seconds", Some(seconds)) => show::time(seconds),
        ("cpu_seconds", Some(seconds)) => format!("{} of CPU time", show::time(seconds)),
        ("playouts", Some(playouts)) => format!("{} playouts", show::count(playouts)),
        ("target", Some(target)) => format!("target {}", show::score(target)),
        ("patience", Some(playouts)) => format!("patience {} playouts", show::count(playouts)),
        _ => format!("{} {}", key.replace('_', " "), plain_value(value)),
    }
}

/// `nrpa level 3, iterations 100`: the name, and what people would change.
fn describe(search: &toml::Table) -> String {
    let name = search.get("name").and_then(toml::Value::as_str).unwrap_or("?");
    let said = |(key, value): (&String, &toml::Value)| match (key.as_str(), value) {
        ("name", _) => None,
        (key, toml::Value::Boolean(on)) => on.then(|| key.to_string()),
        ("temperature" | "stabilise" | "alpha", value) if plain_value(value) == "1" => None,
        ("repetitions", value) if plain_value(value) == "0" => None,
        ("parallel", value) if plain_value(value) == "none" => None,
        ("workers", _) if search.get("parallel").and_then(toml::Value::as_str) == Some("none") => None,
        (key, value) => Some(format!("{} {}", key.replace('_', " "), plain_value(value))),
    };
    // The level says most about a search and comes first; a table is in the order of the alphabet.
    let (level, rest): (Vec<_>, Vec<_>) = search.iter().partition(|(key, _)| *key == "level");
    let parts: Vec<String> = level.into_iter().chain(rest).filter_map(said).collect();
    format!("{name} {}", parts.join(", ")).trim_end().to_string()
}

fn plain_value(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Float(number) => format!("{number}"),
        toml::Value::Array(items) => items.iter().map(plain_value).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}
