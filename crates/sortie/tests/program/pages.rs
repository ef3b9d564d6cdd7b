//! What is made of run folders: pages, reports, comparisons, schemas; and what the program says about itself.

use crate::{Home, finish, until};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

/// A server, ended with the test.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(home: &Home, line: &str) -> Server {
        let mut child =
            home.command(line).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let mut first = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut first).expect("an address");
        let address =
            first.trim().trim_start_matches("http://").split('/').next().unwrap_or_default().to_string();
        Server { child, address }
    }

    fn ask(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it reads");
        stream
    }

    fn get(&self, path: &str) -> String {
        let mut text = String::new();
        self.ask(path).read_to_string(&mut text).expect("an answer");
        text
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn solve(home: &Home, folder: &str, more: &str) {
    let line = format!("solve leftmove/60 --threads 1 --best-of 1 --json --quiet --out {folder} {more}");
    home.json(&line);
}

#[test]
fn a_run_is_served_and_followed() {
    let home = Home::new();
    solve(&home, "runs/first", "--level 1 --seed 1 --playouts 500");
    let server = Server::start(&home, "serve --port 0");
    let page = server.get("/");
    assert!(
        page.starts_with("HTTP/1.1 200") && page.contains("first") && page.contains("finished"),
        "{page}"
    );
    assert!(server.get("/run/first").contains("leftmove/60"));
    assert!(server.get("/metrics").contains("sortie_run_best_score{run=\"first\",instance=\"leftmove/60\""));
    assert!(server.get("/run/..%2F..%2Fetc").starts_with("HTTP/1.1 404"));
    // A stream tells what is there, and then what is added.
    let mut stream = BufReader::new(server.ask("/run/first/live"));
    let mut heard = String::new();
    let mut hear = |wanted: &str| {
        until(wanted, || {
            let mut line = String::new();
            stream.read_line(&mut line).expect("a line of the stream");
            heard += &line;
            line.contains(wanted)
        });
    };
    hear("\"points\"");
    let events = home.read("runs/first/events.jsonl");
    let more = "{\"event\":\"progress\",\"seconds\":77.5,\"playouts\":9,\"best\":3}\n";
    home.write("runs/first/events.jsonl", events.clone() + more);
    hear("77.5");
    assert!(heard.contains(&format!("id: {}", events.len())), "{heard}");
}

#[test]
fn what_others_can_reach_wants_a_token() {
    let home = Home::new();
    let ran = home.run("serve --bind 0.0.0.0 --port 0");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("give a token"), "{}", ran.stderr);
    home.write("token", "short\n");
    assert!(home.run("serve --bind 0.0.0.0 --port 0 --token-file token").stderr.contains("at least 16"));
    assert!(home.run("serve nowhere --port 0").stderr.contains("not a folder"));
}

#[cfg(unix)]
#[test]
fn a_server_ends_when_asked() {
    let home = Home::new();
    let mut server = Server::start(&home, "serve --port 0");
    let pid = server.child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().expect("kill").success());
    until("the server to end", || server.child.try_wait().expect("a child").is_some());
    assert_eq!(server.child.wait().expect("a child").code(), Some(0));
}

#[test]
fn three_seeds_of_two_searches_make_one_file() {
    let home = Home::new();
    for seed in 1..=3 {
        solve(&home, &format!("a/s{seed}"), &format!("--level 2 --iterations 20 --seed {seed}"));
        solve(&home, &format!("b/s{seed}"), &format!("--search sample --seed {seed} --playouts 400"));
    }
    let ran = home.run("report a b --out report.html");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let html = home.read("report.html");
    assert!(
        html.contains("nrpa level 2, iterations 20") && html.contains("sample") && html.contains("<svg"),
        "{html}"
    );
    for outside in ["<script", "http://", "https://", "src=", "@import"] {
        let outside_of_svg = html.replace("http://www.w3.org/2000/svg", "");
        assert!(!outside_of_svg.contains(outside), "{outside}");
    }
    assert!(home.run("report a b").stdout.contains("| search | runs | median |"));
    assert!(home.run("report a b --format svg").stdout.starts_with("<svg"));
    assert_eq!(home.json("report a b --format json")["groups"].as_array().expect("groups").len(), 2);
    assert_eq!(home.run("report nowhere").code, 2);
    // Three of each cannot tell, however far apart they are.
    let told = home.run("compare b a");
    assert_eq!(told.code, 1);
    assert!(told.stdout.contains("too few runs to tell"), "{}", told.stdout);
    for seed in 4..=5 {
        solve(&home, &format!("a/s{seed}"), &format!("--level 2 --iterations 20 --seed {seed}"));
        solve(&home, &format!("b/s{seed}"), &format!("--search sample --seed {seed} --playouts 400"));
    }
    let real = home.json("compare b a --json");
    assert_eq!((real["real"].as_bool(), real["test"].as_str()), (Some(true), Some("mann-whitney")), "{real}");
    assert!(home.run("compare a nowhere").stderr.contains("no such folder"));
}

#[test]
fn the_program_tells_about_itself() {
    let home = Home::new();
    let found = home.json("doctor --json");
    assert!(found["findings"].as_array().expect("findings").iter().any(|f| f["name"] == "MPI"), "{found}");
    for (line, says) in [
        ("doctor", "processors"),
        ("completions bash", "complete -F _sortie"),
        ("completions zsh", "#compdef sortie"),
        ("completions fish", "complete -c sortie"),
        ("man", ".TH sortie 1"),
        ("schema events", "\"improved\""),
    ] {
        let ran = home.run(line);
        assert!(ran.code == 0 && ran.stdout.contains(says), "{line}: {}", ran.stdout);
    }
    assert_eq!(home.run("man --dir pages").code, 0);
    assert!(home.read("pages/sortie-solve.1").contains("solve"));
    assert!(home.run("schema nothing").stderr.contains("expected one of spec"));
}

#[test]
fn folders_are_as_the_schema_says() {
    let home = Home::new();
    solve(&home, "run", "--level 2 --iterations 30 --seed 1 --time 1200ms");
    assert_eq!(home.run("resume run --time 50ms --quiet").code, 0);
    let players =
        "match nim/21 --player default --player random --games 4 --limit 20playouts --out games --quiet";
    assert_eq!(home.run(players).code, 0);
    let schema: Value = serde_json::from_str(&home.run("schema").stdout).expect("JSON");
    let parts = &schema["$defs"];
    let spec: toml::Value = toml::from_str(&home.read("run/spec.toml")).expect("TOML");
    check(&serde_json::to_value(spec).expect("data"), &parts["spec"], &schema, "spec");
    check(
        &serde_json::from_str(&home.read("run/result.json")).expect("JSON"),
        &parts["result"],
        &schema,
        "result",
    );
    for (file, part, least) in [("run/events.jsonl", "events", 5), ("games/games.jsonl", "games", 4)] {
        let text = home.read(file);
        assert!(text.lines().count() >= least, "{text}");
        for line in text.lines() {
            check(&serde_json::from_str(line).expect("JSON"), &parts[part], &schema, line);
        }
    }
    // The lines that the documentation shows, which others write.
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats.md");
    let docs = std::fs::read_to_string(docs).expect("the documentation");
    let shown: Vec<&str> = docs.lines().filter(|line| line.starts_with("{\"time\"")).collect();
    assert_eq!(shown.len(), 3);
    for line in shown {
        check(&serde_json::from_str(line).expect("JSON"), &parts["workers"], &schema, line);
    }
    let wrong = json!({ "event": "improved", "seconds": "soon", "stream": 0, "score": 1, "playouts": 1 });
    assert!(fault(&wrong, &parts["events"], &schema).is_some(), "the check sees what is wrong");
}

fn check(value: &Value, schema: &Value, whole: &Value, name: &str) {
    assert_eq!(fault(value, schema, whole), None, "{name}");
}

/// What is wrong with a value, by the words of JSON schema that ours uses.
fn fault(value: &Value, schema: &Value, whole: &Value) -> Option<String> {
    if let Some(name) = schema["$ref"].as_str() {
        return fault(value, whole.pointer(&name[1..]).expect("a part"), whole);
    }
    let is = |kind: &Value| match kind.as_str().expect("a type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    };
    for (word, says) in schema.as_object().expect("a schema") {
        let wrong = match word.as_str() {
            "title" | "description" | "format" | "default" => false,
            "const" => value != says,
            "enum" => !says.as_array().expect("values").contains(value),
            "type" => !says.as_array().map_or_else(|| is(says), |kinds| kinds.iter().any(is)),
            "minimum" => value.as_f64() < says.as_f64(),
            "maximum" => value.as_f64() > says.as_f64(),
            "anyOf" => {
                !says.as_array().expect("kinds").iter().any(|kind| fault(value, kind, whole).is_none())
            }
            "minItems" => {
                value.as_array().is_some_and(|items| (items.len() as u64) < says.as_u64().expect("a number"))
            }
            "maxItems" => {
                value.as_array().is_some_and(|items| (items.len() as u64) > says.as_u64().expect("a number"))
            }
            "required" => says
                .as_array()
                .expect("keys")
                .iter()
                .any(|key| value.get(key.as_str().expect("a key")).is_none()),
            "additionalProperties" => {
                *says != json!(true) && {
                    let known = schema["properties"].as_object().expect("keys");
                    value.as_object().is_some_and(|map| map.keys().any(|key| !known.contains_key(key)))
                }
            }
            "oneOf" => {
                says.as_array()
                    .expect("kinds")
                    .iter()
                    .filter(|kind| fault(value, kind, whole).is_none())
                    .count()
                    != 1
            }
            "items" => return value.as_array()?.iter().find_map(|item| fault(item, says, whole)),
            "properties" => {
                let inside = says.as_object().expect("keys").iter();
                let found = inside.filter_map(|(key, inner)| Some((value.get(key)?, inner)));
                match found.filter_map(|(value, inner)| fault(value, inner, whole)).next() {
                    Some(fault) => return Some(fault),
                    None => false,
                }
            }
            other => panic!("the check does not know {other}"),
        };
        if wrong {
            return Some(format!("{value} is not as '{word}': {says}"));
        }
    }
    None
}

#[test]
fn a_page_is_made_of_every_folder_there_is() {
    let home = Home::new();
    let child = home.spawn("solve leftmove/60 --level 1 --playouts 50 --seed 1 --out runs/x --quiet");
    assert_eq!(finish(child).code, 0);
    std::fs::remove_file(home.path("runs/x/spec.toml")).expect("a file");
    let server = Server::start(&home, "serve runs --port 0");
    assert!(server.get("/run/x").contains("spec.toml is missing"));
}
