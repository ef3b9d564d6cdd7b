use super::*;
use crate::http::{Body, parse};

fn options(folder: &Path) -> Options {
    Options {
        folder: folder.to_path_buf(),
        bind: "127.0.0.1:0".into(),
        token: None,
        hosts: vec!["box.lan".into()],
        thinkers: 1,
    }
}

fn site(folder: &Path, token: Option<&str>, loopback: bool) -> Site {
    let options = Options { token: token.map(str::to_string), ..options(folder) };
    Site::new(options, loopback, Arc::default())
}

fn get(site: &Site, address: &str, headers: &str) -> (u16, String, Vec<(&'static str, String)>) {
    let request = parse(format!("GET {address} HTTP/1.1\r\n{headers}\r\n").as_bytes()).unwrap();
    let reply = site.answer(&request);
    let body = match reply.body {
        Body::Whole(bytes) => String::from_utf8(bytes).unwrap(),
        Body::Stream(_) => "a stream".into(),
    };
    (reply.status, body, reply.headers)
}

const LOCAL: &str = "Host: localhost:8080\r\n";

#[test]
fn only_loopback_is_served_without_a_token() {
    let home = tempfile::tempdir().unwrap();
    let bind = |bind: &str, token: Option<&str>| {
        let options = Options { bind: bind.into(), token: token.map(str::to_string), ..options(home.path()) };
        Server::bind(options).map(|server| server.address())
    };
    assert!(bind("127.0.0.1:0", None).is_ok());
    assert!(matches!(bind("0.0.0.0:0", None), Err(ServeError::NoToken(_))));
    assert!(matches!(bind("0.0.0.0:0", Some("short")), Err(ServeError::WeakToken(5))));
    assert!(matches!(bind("nonsense", None), Err(ServeError::Address(_))));
    let nowhere = Options { folder: home.path().join("none"), ..options(home.path()) };
    assert!(matches!(Server::bind(nowhere), Err(ServeError::NoFolder(_))));
}

#[test]
fn names_of_others_are_turned_away() {
    let home = tempfile::tempdir().unwrap();
    let local = site(home.path(), None, true);
    for ours in ["localhost", "localhost:8080", "127.0.0.1:1", "[::1]:8080", "box.lan:8080", "BOX.lan"] {
        assert_eq!(get(&local, "/", &format!("Host: {ours}\r\n")).0, 200, "{ours}");
    }
    for other in
        ["evil.example", "192.168.1.5:8080", "localhost.evil.example", "", "127.0.0.1.evil.example:80"]
    {
        assert_eq!(get(&local, "/", &format!("Host: {other}\r\n")).0, 421, "{other}");
    }
    let fetch = format!("{LOCAL}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n");
    assert_eq!(get(&local, "/api/think?game=loa/8", &fetch).0, 403);
}

#[test]
fn a_token_is_asked_for_and_kept_in_a_cookie() {
    let home = tempfile::tempdir().unwrap();
    let token = "0123456789abcdef!";
    let open = site(home.path(), Some(token), false);
    let host = "Host: 192.168.1.5:8080\r\n";
    assert_eq!(get(&open, "/", host).0, 401);
    assert_eq!(get(&open, "/metrics", &format!("{host}Authorization: Bearer wrong\r\n")).0, 401);
    assert_eq!(get(&open, "/metrics", &format!("{host}Authorization: Bearer {token}\r\n")).0, 200);
    let (status, _, headers) = get(&open, "/play?token=0123456789abcdef%21", host);
    let header =
        |name: &str| headers.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone()).unwrap();
    assert_eq!((status, header("Location").as_str()), (303, "/play"));
    let cookie = header("Set-Cookie");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"));
    let pair = cookie.split(';').next().unwrap();
    assert_eq!(get(&open, "/", &format!("{host}Cookie: other=1; {pair}\r\n")).0, 200);
}

#[test]
fn every_kind_of_folder_has_a_page() {
    let home = tempfile::tempdir().unwrap();
    let write = |folder: &str, file: &str, text: &str| {
        let path = home.path().join(folder);
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join(file), text).unwrap();
    };
    let spec = "format = 1\ninstance = \"samegame/1\"\nseed = 1\n[search]\nname = \"nrpa\"\n";
    write("empty", "spec.toml", spec);
    write("torn", "spec.toml", "format = 1\ninstance = ");
    write("torn", "events.jsonl", "{\"event\":\"progress\",\"seconds\":1,\"best\":3}\n{\"eve");
    write("headless", "events.jsonl", "garbage\n");
    write("record", "spec.toml", spec);
    write("record", "best.record", "sortie record 1\ninstance = samegame/1\nscore = 3\n\nz99\n");
    write("binary", "spec.toml", "\u{0}\u{1}");
    write("foreign", "photo.jpg", "x");
    write(
        "match",
        "match.toml",
        "format = 1\nplayers = [\"a\", \"b\"]\n[table]\ninstance = \"nim/21\"\nseed = 1\n",
    );
    write(
        "match",
        "games.jsonl",
        "{\"game\":0,\"instance\":\"nim/21\",\"first\":\"a\",\"second\":\"b\",\"seeds\":[1,2],\"opening\":0,\"moves\":[\"1\",\"2\"],\"result\":\"first\",\"reason\":\"rules\",\"seconds\":0.1,\"thought_seconds\":[0.1,0.0]}\nx\n",
    );
    write("tune", "tune.toml", "format = 1\n");
    write("study", "study.toml", "format = 1\nstudy = \"x\"\n");
    write("tuned", "tune.toml", "format = 1\n[table]\ninstance = \"nim/21\"\nseed = 1\n");
    write(
        "tuned",
        "result.json",
        "{\"finished\":true,\"optimum\":[{\"name\":\"c\",\"value\":0.7,\"low\":0.5,\"high\":0.9,\"range\":[0.1,2]}]}",
    );
    write("tuned", "c.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>");
    let prove = "format = 1\ninstance = \"tictactoe/3\"\nmoves = []\nseed = 1\nmemory = 1\n";
    write("prove", "prove.toml", prove);
    write(
        "prove",
        "jobs.jsonl",
        "{\"job\":{\"moves\":[],\"kind\":\"leaf\"},\"answer\":{\"best\":\"b2\",\"status\":\"b1\"}}\nx\n",
    );
    write("unproved", "prove.toml", &prove.replace("tictactoe/3", "hex//etc/passwd"));
    write("answers", "jobs.jsonl", "x\n");
    write("scale", "scale.toml", "format = 1\ninstance = \"loa/8\"\nseed = 1\n");
    write(
        "scale",
        "rates.jsonl",
        "{\"name\":\"tds x\",\"searches\":[{\"playouts\":100,\"seconds\":0.5}]}\nx\n",
    );
    write("scale", "virtual-nodes.md", "| a table |\n");
    write("scale", "virtual-nodes-pps.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>");
    write(
        "scale",
        "workers.jsonl",
        "{\"time\":\"2026-11-16T07:00:00Z\",\"worker\":\"<box>\",\"state\":\"idle\",\"reason\":\"no job\"}\nx\n",
    );
    write("newer", "prove.toml", &prove.replace("format = 1", "format = 9"));
    let site = site(home.path(), None, true);
    for (address, status, says) in [
        ("/run/tuned", 200, "0.5000 to 0.9000"),
        ("/run/tuned", 200, "/run/tuned/file/c.svg"),
        ("/run/tuned/file/c.svg", 200, "<svg"),
        ("/run/tuned/file/d.svg", 404, "no such picture"),
        ("/run/tuned/file/..%2Ftuned%2Fc.svg", 404, "not shown"),
        ("/run/prove", 200, "role=\"treegrid\""),
        ("/run/prove", 200, "1 lines of jobs.jsonl"),
        ("/run/prove?at=1", 200, "leaf job"),
        ("/run/prove?at=77", 200, "root"),
        ("/run/prove/tree?node=0", 200, "data-node=\\\"1\\\""),
        ("/run/prove/tree?node=9&node=x", 200, "\"nodes\":{}"),
        ("/run/prove/position?node=1", 200, "\"line\":\"b2\""),
        ("/run/prove/position?node=9", 404, "no such position"),
        ("/run/prove/position", 400, "Which node"),
        ("/run/match/tree?node=0", 404, "error"),
        ("/run/unproved", 200, "The tree cannot be shown"),
        ("/run/answers", 200, "prove.toml is missing"),
        ("/run/newer", 200, "format 9"),
        ("/run/scale/workers", 200, "&lt;box&gt;"),
        ("/run/scale/workers", 200, "1 lines of workers.jsonl"),
        ("/run/match/workers", 200, "on the threads of the process"),
        ("/run/empty/workers", 200, "Threads"),
        ("/run/foreign/workers", 404, "holds no run of Sortie"),
        ("/run/scale", 200, "tds x"),
        ("/run/scale", 200, "| a table |"),
        ("/run/scale", 200, "virtual-nodes-pps.svg"),
        ("/", 200, "other folder holds no run"),
        ("/run/empty", 200, "events.jsonl is missing"),
        ("/run/empty/kin", 200, "\"kin\":null"),
        ("/run/torn", 200, "spec.toml is damaged at line 2"),
        ("/run/torn/events", 200, "progress"),
        ("/run/headless", 200, "spec.toml is missing"),
        ("/run/headless/events", 200, "not an event"),
        ("/run/record", 200, "The solution cannot be drawn: move 1"),
        ("/run/record/frame", 404, "cannot be drawn"),
        ("/run/binary", 200, "spec.toml is damaged"),
        ("/run/foreign", 404, "holds no run of Sortie"),
        ("/run/foreign/events", 404, "only searches write one"),
        ("/run/match", 200, "Cross-table"),
        ("/run/match/game/0", 200, "Game 0"),
        ("/run/match/game/0.json@1", 200, "\"after\":1"),
        ("/run/match/game/7", 404, "no such game"),
        ("/run/tune", 200, "No game has ended yet"),
        ("/run/study", 200, "no table.md yet"),
        ("/run/none", 404, "no such folder"),
        ("/run/..%2F..", 404, "not the name of a folder"),
        ("/run/record/file/..%2Fempty%2Fspec.toml", 404, "not shown"),
        ("/run/record/file/spec.toml", 200, "samegame/1"),
        ("/compare", 200, "Compare"),
        ("/compare?run=torn&run=none", 200, "left out"),
        ("/play", 200, "loa"),
        ("/play/loa%2F8", 200, "thinks"),
        ("/play/samegame%2F1", 404, "problem for one"),
        ("/play/samegame%2F%2Fetc%2Fpasswd", 404, "files are not read here"),
        ("/metrics", 200, "sortie_runs{state="),
        ("/assets/style.css", 200, "--paper"),
        ("/assets/../site.rs", 404, "no such"),
        ("/nonsense", 404, "no such page"),
    ] {
        let (found, body, headers) = get(&site, address, LOCAL);
        assert_eq!(found, status, "{address}: {body}");
        assert!(body.contains(says), "{address}: {body}");
        assert!(headers.iter().any(|(key, _)| *key == "Content-Security-Policy"), "{address}");
    }
}

#[test]
fn names_with_markup_are_shown_not_run() {
    let home = tempfile::tempdir().unwrap();
    let name = "<script>alert(1)<_script>";
    std::fs::create_dir_all(home.path().join(name)).unwrap();
    let spec = "format = 1\ninstance = \"<img src=x>\"\nseed = 1\n[search]\nname = \"</script><b>\"\n";
    std::fs::write(home.path().join(name).join("spec.toml"), spec).unwrap();
    let events = "{\"event\":\"<i>\",\"seconds\":1,\"best\":3,\"x\":\"<u>\"}\n";
    std::fs::write(home.path().join(name).join("events.jsonl"), events).unwrap();
    let site = site(home.path(), None, true);
    let run = format!("/run/{}", http::encode(name));
    for address in
        ["/".to_string(), run.clone(), format!("{run}/events"), "/compare".into(), "/run/%3Cb%3E".into()]
    {
        let body = get(&site, &address, LOCAL).1;
        for bad in ["<script>alert", "<img", "</script><b>", "<i>", "<u>", "<b>\"", "\\u003c/script>\"<"] {
            assert!(!body.contains(bad), "{address} has {bad}: {body}");
        }
    }
}

/// Defect 9: a page elsewhere could start a thought, and a game with a huge cost burnt minutes past every limit.
#[test]
fn thoughts_are_started_by_our_own_pages_and_of_games_that_cost_nothing() {
    let home = tempfile::tempdir().unwrap();
    let local = site(home.path(), None, true);
    let think = "/api/board?game=connect4/7x6";
    for (headers, status) in [
        ("", 200),
        ("Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\n", 200),
        ("Sec-Fetch-Site: same-origin\r\nOrigin: http://localhost:8080\r\n", 200),
        ("Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n", 403),
        ("Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors\r\n", 403),
        ("Origin: http://evil.example\r\n", 403),
        ("Origin: null\r\n", 403),
    ] {
        assert_eq!(get(&local, think, &format!("{LOCAL}{headers}")).0, status, "{headers}");
    }
    let costly = get(&local, "/api/board?game=pgame/8:depth=20,cost=1000000000", LOCAL);
    assert!(costly.0 == 400 && costly.1.contains("cost"), "{}", costly.1);
}
