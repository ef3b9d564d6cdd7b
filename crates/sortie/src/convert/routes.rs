//! Routes as others write them: a line `Route #1: 12 5 7` for each vehicle and `Cost 123.45` at the end (CVRPLIB), or the
//! same with a head that says who, when and how (SINTEF's pages of best solutions). The cost is the distance that was
//! driven, in full precision; how many vehicles were used is the number of lines.

use super::{Read, Wrong, fact, field, further, number, provenance, wrong};
use anyhow::Result;
use sortie_core::{Position, Record};

fn routes(record: &Record, sign: &str, after: &str) -> String {
    let mut out = String::new();
    let routes = record.moves.split(|word| word == "0").filter(|route| !route.is_empty());
    for (route, n) in routes.zip(1..) {
        out += &format!("Route {sign}{n}{after} {}\n", route.join(" "));
    }
    out
}

/// The text of CVRPLIB. What tells where it comes from stands behind the cost, where readers pass over it.
pub fn write_sol(record: &Record, end: &Position) -> Result<String> {
    let mut out = routes(record, "#", ":");
    out += &format!("Cost {}\n", fact(end, "distance")?);
    for line in provenance(record) {
        out += &format!("# {line}\n");
    }
    Ok(out)
}

/// The text of SINTEF's pages.
pub fn write_sintef(record: &Record, end: &Position) -> Result<String> {
    let name = record.instance.split('/').next_back().unwrap_or_default();
    let name = name.split(':').next().unwrap_or(name);
    let of = |key: &str| record.field(key).unwrap_or("unknown");
    let mut out = format!(
        "Instance name : {name}\nAuthors       : {}\nDate          : {}\nReference     : {}, seed {}\nSolution\n",
        record.field("author").or(record.field("version")).unwrap_or("unknown"),
        record.field("found").unwrap_or("unknown"),
        of("search"),
        of("seed"),
    );
    out += &routes(record, "", " :");
    for line in provenance(record) {
        out += &format!("# {line}\n");
    }
    out += &format!("# distance = {}\n", fact(end, "distance")?);
    Ok(out)
}

/// Either text.
pub fn read(text: &str) -> Result<Read, Wrong> {
    let (mut own, mut head, mut moves, mut lines) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (line, n) in text.trim_start_matches('\u{feff}').lines().map(str::trim).zip(1..) {
        if let Some(comment) = line.strip_prefix('#') {
            own.extend(field(comment).filter(|(key, _)| key != "distance"));
            continue;
        }
        let (key, rest) = line.split_once(':').unwrap_or((line, ""));
        if !key.get(..5).is_some_and(|key| key.eq_ignore_ascii_case("route")) {
            let is = |name: &str| key.trim().eq_ignore_ascii_case(name) && !rest.trim().is_empty();
            if is("Authors") || is("Author") {
                head.push(("author".into(), rest.trim().into()));
            } else if is("Date") {
                head.push(("found".into(), rest.trim().into()));
            } else if is("Reference") {
                head.push(("source".into(), rest.trim().into()));
            } else if line.starts_with(|c: char| c.is_ascii_digit()) {
                return Err(wrong(n, "numbers without a route: expected Route #1: before them"));
            }
            continue;
        }
        if !line.contains(':') {
            return Err(wrong(n, "expected customers after a colon, as in Route #1: 12 5 7"));
        }
        let before = moves.len();
        for word in rest.split_whitespace() {
            let customer: u32 = number(word, "the number of a customer", n)?;
            // Some write the depot at both ends of a route.
            if customer != 0 {
                moves.push(customer.to_string());
                lines.push(n);
            }
        }
        if moves.len() > before {
            moves.push("0".into());
            lines.push(n);
        }
    }
    if moves.is_empty() {
        return Err(wrong(1, "there is no route in it: expected lines such as Route #1: 12 5 7"));
    }
    // Our own lines say all that a head does.
    if !own.iter().any(|(key, _)| key == "instance") {
        own.splice(..0, head);
    }
    let (instance, fields) = further(own);
    Ok(Read { instance, fields, moves, lines, ..Read::default() })
}
