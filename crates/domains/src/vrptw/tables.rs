//! Customers as people have them: VRPLIB (`.vrp`, which is TSPLIB with demands), a CSV table, or JSON, besides Solomon's
//! text (`solomon.rs`). What a file is shows in its first line. All become the same tables, with a matrix of distances
//! where the file has one or rounds as it says.
//!
//! Leaves out: maps and coordinates on the sphere, several depots, and vehicles that differ.

use super::solomon::{CUSTOMERS_MAX, Fault, Place, Solomon};
use serde::Deserialize;

/// A day without an end: what is due in it is never late. Far above any distance, and small enough that sums are exact.
const NEVER: f64 = 1e8;
const NUMBER_MAX: f64 = 1e9;

/// Reads a file of any of these forms.
pub fn parse(text: &str) -> Result<Solomon, Fault> {
    let text = text.trim_start_matches('\u{feff}');
    let says = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let first = text.lines().find(says).unwrap_or("").trim();
    let key = first.split([':', ' ', '\t']).next().unwrap_or("").to_ascii_uppercase();
    if first.starts_with(['{', '[']) {
        json(text)
    } else if ["NAME", "COMMENT", "TYPE", "DIMENSION", "CAPACITY"].contains(&&*key) && first.contains(':') {
        vrplib(text)
    } else if first.contains([',', ';']) {
        csv(text)
    } else {
        super::solomon::parse(text)
    }
}

fn fault<T>(line: usize, message: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { line, message: message.into() })
}

/// A number in a column, both from 1.
fn number(line: usize, column: usize, what: &str, word: &str) -> Result<f64, Fault> {
    match word.trim().parse::<f64>() {
        Ok(value) if value.abs() <= NUMBER_MAX => Ok(value),
        _ => {
            let word: String = word.trim().chars().take(20).collect();
            fault(line, format!("column {column}: {what} is '{word}': expected a number up to {NUMBER_MAX}"))
        }
    }
}

fn whole(line: usize, column: usize, what: &str, word: &str) -> Result<u32, Fault> {
    let value = number(line, column, what, word)?;
    if value < 0.0 || value.fract() != 0.0 {
        return fault(line, format!("column {column}: {what} is '{}': expected a whole number", word.trim()));
    }
    Ok(value as u32)
}

/// The words of a line with the columns they begin in, from 1.
fn words(text: &str) -> Vec<(usize, &str)> {
    let at = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
    text.split_whitespace().map(|word| (1 + text[..at(word)].chars().count(), word)).collect()
}

/// What is the same of all forms: the parts of a file, before they are checked together.
struct Parts {
    name: String,
    fleet: Option<u32>,
    capacity: Option<u32>,
    places: Vec<Place>,
    matrix: Option<Vec<f64>>,
    line: usize,
}

impl Parts {
    fn finish(self) -> Result<Solomon, Fault> {
        let Parts { name, fleet, capacity, mut places, matrix, line } = self;
        let n = places.len();
        if n < 2 {
            return fault(line, "the file ends here: expected a depot and at least one customer");
        }
        if n > CUSTOMERS_MAX + 1 {
            return fault(
                places[CUSTOMERS_MAX + 1].line,
                format!("too many customers: expected at most {CUSTOMERS_MAX}"),
            );
        }
        if places[0].demand != 0 {
            return fault(places[0].line, "the depot has a demand: expected 0");
        }
        for place in &places[1..] {
            if place.due < place.ready {
                return fault(place.line, format!("customer {} is due before it is ready", place.number));
            }
        }
        if let Some(matrix) = &matrix {
            if matrix.len() != n * n {
                return fault(line, format!("{} distances: expected {n} times {n}", matrix.len()));
            }
            if let Some(at) = matrix.iter().position(|&distance| distance < 0.0) {
                let (row, column) = (at / n, at % n);
                return fault(
                    places[row].line.max(1),
                    format!(
                        "row {} of the matrix has {} in column {}: expected no distance below 0",
                        row + 1,
                        matrix[at],
                        column + 1
                    ),
                );
            }
        }
        // A matrix alone says nothing of where they are: a circle, so that there is something to draw.
        if matrix.is_some() && places.iter().all(|place| place.x == 0.0 && place.y == 0.0) {
            for (i, place) in places.iter_mut().enumerate().skip(1) {
                let turn = std::f64::consts::TAU * i as f64 / n as f64;
                (place.x, place.y) = (50.0 * turn.cos(), 50.0 * turn.sin());
            }
        }
        let fleet = fleet.unwrap_or(n as u32 - 1).max(1);
        let all: f64 = places.iter().map(|place| f64::from(place.demand)).sum();
        let capacity = capacity.unwrap_or(all.clamp(1.0, f64::from(u32::MAX)) as u32);
        if capacity == 0 {
            return fault(line, "the capacity is 0: expected at least 1");
        }
        let timed = places[1..].iter().any(|place| place.due < NEVER || place.ready > 0.0);
        Ok(Solomon { name, fleet, capacity, places, matrix, timed })
    }
}

/// VRPLIB: headings with a colon, then sections.
fn vrplib(text: &str) -> Result<Solomon, Fault> {
    let mut parts =
        Parts { name: String::new(), fleet: None, capacity: None, places: Vec::new(), matrix: None, line: 1 };
    let (mut n, mut kind, mut format, mut section) = (0usize, String::new(), String::new(), String::new());
    let (mut weights, mut service, mut depots) = (Vec::new(), 0.0, Vec::new());
    let mut seen = Vec::new();
    for (text, line) in text.lines().zip(1..) {
        parts.line = line;
        let words = words(text);
        let Some(&(_, first)) = words.first() else { continue };
        if first == "EOF" {
            break;
        }
        if first.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let (key, value) = text.split_once(':').unwrap_or((text, ""));
            let (key, value) = (key.trim().to_ascii_uppercase(), value.trim());
            let column = 1 + text.find(value).unwrap_or(0);
            section.clear();
            match key.as_str() {
                "NAME" => parts.name = value.into(),
                "COMMENT" | "DISTANCE" | "DISPLAY_DATA_TYPE" | "NODE_COORD_TYPE" => {}
                "TYPE" if ["CVRP", "VRPTW", "CVRPTW", "VRP"].contains(&value) => {}
                "TYPE" => {
                    return fault(line, format!("column {column}: TYPE {value}: expected CVRP or VRPTW"));
                }
                "DIMENSION" => {
                    n = whole(line, column, "the dimension", value)? as usize;
                    if !(2..=CUSTOMERS_MAX + 1).contains(&n) {
                        return fault(
                            line,
                            format!("column {column}: DIMENSION {n}: expected 2 to {}", CUSTOMERS_MAX + 1),
                        );
                    }
                    let place = |i: usize| Place {
                        line: 0,
                        number: i as u32,
                        x: 0.0,
                        y: 0.0,
                        demand: 0,
                        ready: 0.0,
                        due: NEVER,
                        service: 0.0,
                    };
                    parts.places = (0..n).map(place).collect();
                    seen = vec![false; n];
                }
                "CAPACITY" => parts.capacity = Some(whole(line, column, "the capacity", value)?),
                "VEHICLES" => parts.fleet = Some(whole(line, column, "the number of vehicles", value)?),
                "SERVICE_TIME" => service = number(line, column, "the service time", value)?,
                "EDGE_WEIGHT_TYPE" => kind = value.to_ascii_uppercase(),
                "EDGE_WEIGHT_FORMAT" => format = value.to_ascii_uppercase(),
                key if key.ends_with("_SECTION") => section = key.into(),
                key => {
                    return fault(
                        line,
                        format!("'{key}': this heading is of no form of VRPLIB that is read here"),
                    );
                }
            }
            continue;
        }
        if n == 0 {
            return fault(line, "numbers before DIMENSION: expected that first");
        }
        let node = |(column, word): (usize, &str)| {
            let node = whole(line, column, "the node", word)? as usize;
            if (1..=n).contains(&node) {
                Ok(node - 1)
            } else {
                fault(line, format!("column {column}: node {node}: expected 1 to {n}"))
            }
        };
        let row = |count: usize| match words.len() {
            len if len == count => Ok(()),
            len => fault(line, format!("{len} columns: expected {count} in {section}")),
        };
        let value = |i: usize, what: &str| number(line, words[i].0, what, words[i].1);
        match section.as_str() {
            "NODE_COORD_SECTION" => {
                row(3)?;
                let at = node(words[0])?;
                let place = &mut parts.places[at];
                (place.x, place.y, place.line) = (value(1, "x")?, value(2, "y")?, line);
                seen[at] = true;
            }
            "DEMAND_SECTION" => {
                row(2)?;
                let at = node(words[0])?;
                parts.places[at].demand = whole(line, words[1].0, "the demand", words[1].1)?;
                parts.places[at].line = line;
            }
            "TIME_WINDOW_SECTION" => {
                row(3)?;
                let at = node(words[0])?;
                (parts.places[at].ready, parts.places[at].due) =
                    (value(1, "the ready time")?, value(2, "the due date")?);
            }
            "SERVICE_TIME_SECTION" => {
                row(2)?;
                parts.places[node(words[0])?].service = value(1, "the service time")?;
            }
            "EDGE_WEIGHT_SECTION" => {
                for &(column, word) in &words {
                    weights.push(number(line, column, "a distance", word)?);
                }
            }
            "DEPOT_SECTION" => {
                let all = words.iter().filter(|(_, word)| *word != "-1");
                for &word in all {
                    depots.push((line, node(word)?));
                }
            }
            _ => return fault(line, format!("column {}: numbers outside of any section", words[0].0)),
        }
    }
    if n == 0 {
        return fault(parts.line, "the file ends without DIMENSION");
    }
    match depots[..] {
        [] | [(_, 0)] => {}
        [(line, _)] => return fault(line, "the depot is not node 1: expected it first"),
        [_, (line, _), ..] => return fault(line, "a second depot: expected one"),
    }
    if service > 0.0 {
        parts.places[1..].iter_mut().for_each(|place| place.service = service);
    }
    parts.matrix = match kind.as_str() {
        "EXPLICIT" => Some(square(&weights, &format, n, parts.line)?),
        _ if seen.contains(&false) => {
            let missing = 1 + seen.iter().position(|seen| !seen).unwrap_or(0);
            return fault(parts.line, format!("node {missing} has no coordinates"));
        }
        // TSPLIB rounds: a length by that convention is another one than without it.
        "EUC_2D" => Some(lengths(&parts.places, |d| (d + 0.5).floor())),
        "CEIL_2D" => Some(lengths(&parts.places, f64::ceil)),
        "FLOOR_2D" => Some(lengths(&parts.places, f64::floor)),
        "EXACT_2D" | "" => None,
        other => {
            return fault(
                parts.line,
                format!("EDGE_WEIGHT_TYPE {other}: expected EUC_2D, CEIL_2D, FLOOR_2D, EXACT_2D or EXPLICIT"),
            );
        }
    };
    parts.finish()
}

fn lengths(places: &[Place], round: impl Fn(f64) -> f64) -> Vec<f64> {
    let row = |a: &Place| places.iter().map(|b| round((a.x - b.x).hypot(a.y - b.y))).collect::<Vec<f64>>();
    places.iter().flat_map(row).collect()
}

/// A matrix from the part of it that is written down.
fn square(weights: &[f64], format: &str, n: usize, line: usize) -> Result<Vec<f64>, Fault> {
    let (lower, diagonal) = match format {
        "FULL_MATRIX" => {
            return if weights.len() == n * n {
                Ok(weights.to_vec())
            } else {
                fault(line, format!("{} distances: expected {n} times {n}", weights.len()))
            };
        }
        "LOWER_ROW" => (true, 0),
        "LOWER_DIAG_ROW" => (true, 1),
        "UPPER_ROW" => (false, 0),
        "UPPER_DIAG_ROW" => (false, 1),
        other => {
            return fault(
                line,
                format!(
                    "EDGE_WEIGHT_FORMAT '{other}': expected FULL_MATRIX, LOWER_ROW, LOWER_DIAG_ROW, UPPER_ROW or UPPER_DIAG_ROW"
                ),
            );
        }
    };
    let expected = n * (n - 1) / 2 + diagonal * n;
    if weights.len() != expected {
        return fault(line, format!("{} distances: expected {expected}", weights.len()));
    }
    let (mut matrix, mut next) = (vec![0.0; n * n], weights.iter());
    for i in 0..n {
        let columns = if lower { 0..i + diagonal } else { i + 1 - diagonal..n };
        for j in columns {
            let weight = *next.next().expect("they were counted");
            (matrix[i * n + j], matrix[j * n + i]) = (weight, weight);
        }
    }
    Ok(matrix)
}

/// A table with a heading: x, y, demand, ready, due and service, in any order, x and y at least. The first row is the
/// depot. Lines that begin with # may say `# capacity 200` and `# vehicles 25`.
fn csv(text: &str) -> Result<Solomon, Fault> {
    let mut parts = Parts {
        name: "table".into(),
        fleet: None,
        capacity: None,
        places: Vec::new(),
        matrix: None,
        line: 1,
    };
    let mut heading: Option<Vec<String>> = None;
    for (text, line) in text.lines().zip(1..) {
        parts.line = line;
        if let Some(comment) = text.trim().strip_prefix('#') {
            let words = words(comment);
            match words[..] {
                [(_, "capacity"), (column, word)] => {
                    parts.capacity = Some(whole(line, column, "the capacity", word)?)
                }
                [(_, "vehicles"), (column, word)] => {
                    parts.fleet = Some(whole(line, column, "the vehicles", word)?)
                }
                [(_, "name"), (_, word)] => parts.name = word.into(),
                _ => {}
            }
            continue;
        }
        if text.trim().is_empty() {
            continue;
        }
        let split = if text.contains(';') { ';' } else { ',' };
        let cells: Vec<&str> = text.split(split).map(|cell| cell.trim().trim_matches('"')).collect();
        let Some(names) = &heading else {
            let names: Vec<String> = cells.iter().map(|cell| cell.to_ascii_lowercase()).collect();
            for wanted in ["x", "y"] {
                if !names.iter().any(|name| name == wanted) {
                    return fault(
                        line,
                        format!(
                            "the heading has no column {wanted}: expected x, y, demand, ready, due, service"
                        ),
                    );
                }
            }
            heading = Some(names);
            continue;
        };
        if cells.len() != names.len() {
            return fault(
                line,
                format!("{} columns: expected {}, as in the heading", cells.len(), names.len()),
            );
        }
        let cell = |name: &str| {
            let at = names.iter().position(|known| known == name)?;
            Some((at + 1, cells[at])).filter(|(_, cell)| !cell.is_empty())
        };
        let real = |name: &str, default: f64| match cell(name) {
            Some((column, word)) => number(line, column, name, word),
            None => Ok(default),
        };
        let demand = match cell("demand") {
            Some((column, word)) => whole(line, column, "demand", word)?,
            None => 0,
        };
        parts.places.push(Place {
            line,
            number: parts.places.len() as u32,
            x: real("x", f64::NAN)?,
            y: real("y", f64::NAN)?,
            demand,
            ready: real("ready", 0.0)?,
            due: real("due", NEVER)?,
            service: real("service", 0.0)?,
        });
        let last = &parts.places[parts.places.len() - 1];
        if last.x.is_nan() || last.y.is_nan() {
            return fault(line, "x and y: expected numbers in every row");
        }
    }
    parts.finish()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Json {
    #[serde(default)]
    name: String,
    vehicles: Option<u32>,
    capacity: Option<u32>,
    depot: JsonPlace,
    customers: Vec<JsonPlace>,
    /// Rows: the depot, then the customers.
    matrix: Option<Vec<Vec<f64>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonPlace {
    #[serde(default)]
    x: f64,
    #[serde(default)]
    y: f64,
    #[serde(default)]
    demand: u32,
    #[serde(default)]
    ready: f64,
    due: Option<f64>,
    #[serde(default)]
    service: f64,
}

fn json(text: &str) -> Result<Solomon, Fault> {
    let file: Json = serde_json::from_str(text).map_err(|error| Fault {
        line: error.line().max(1),
        message: format!(
            "column {}: {}",
            error.column(),
            error.to_string().split(" at line").next().unwrap_or("")
        ),
    })?;
    let places = std::iter::once(&file.depot).chain(&file.customers).enumerate();
    let place = |(i, place): (usize, &JsonPlace)| {
        let Some(bad) = [place.x, place.y, place.ready, place.due.unwrap_or(0.0), place.service]
            .into_iter()
            .find(|value| value.abs() > NUMBER_MAX)
        else {
            let due = place.due.unwrap_or(NEVER);
            let &JsonPlace { x, y, demand, ready, service, .. } = place;
            return Ok(Place { line: 1, number: i as u32, x, y, demand, ready, due, service });
        };
        fault(1, format!("customer {i}: {bad}: expected a number up to {NUMBER_MAX}"))
    };
    let places = places.map(place).collect::<Result<Vec<_>, _>>()?;
    let n = places.len();
    let matrix = match file.matrix {
        None => None,
        Some(rows) if rows.len() == n && rows.iter().all(|row| row.len() == n) => Some(rows.concat()),
        Some(rows) => return fault(1, format!("a matrix of {} rows: expected {n} times {n}", rows.len())),
    };
    let line = text.lines().count().max(1);
    Parts { name: file.name, fleet: file.vehicles, capacity: file.capacity, places, matrix, line }.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VRP: &str = "NAME : tiny\nTYPE : CVRP\nDIMENSION : 4\nEDGE_WEIGHT_TYPE : EUC_2D\nCAPACITY : 10\n\
                       NODE_COORD_SECTION\n1 0 0\n2 3 4\n3 0 1.4\n4 6 8\nDEMAND_SECTION\n1 0\n2 4\n3 5\n4 6\n\
                       DEPOT_SECTION\n 1\n -1\nEOF\n";

    #[test]
    fn vrplib_rounds_as_it_says() {
        let file = parse(VRP).unwrap();
        assert_eq!((file.name.as_str(), file.capacity, file.fleet, file.places.len()), ("tiny", 10, 3, 4));
        assert_eq!(file.matrix.as_ref().unwrap()[..4], [0.0, 5.0, 1.0, 10.0]);
        assert_eq!((file.places[3].demand, file.timed), (6, false));
        assert_eq!(parse(&VRP.replace("EUC_2D", "EXACT_2D")).unwrap().matrix, None);
        let explicit = "NAME: m\nTYPE: CVRP\nDIMENSION: 3\nCAPACITY: 5\nEDGE_WEIGHT_TYPE: EXPLICIT\n\
                        EDGE_WEIGHT_FORMAT: LOWER_ROW\nEDGE_WEIGHT_SECTION\n7\n8 9\nDEMAND_SECTION\n1 0\n2 1\n3 1\n";
        let matrix = parse(explicit).unwrap().matrix.unwrap();
        assert_eq!(matrix, [0.0, 7.0, 8.0, 7.0, 0.0, 9.0, 8.0, 9.0, 0.0]);
        let timed = VRP.replace("DEPOT_SECTION", "TIME_WINDOW_SECTION\n1 0 100\n2 5 50\nDEPOT_SECTION");
        let timed = parse(&timed).unwrap();
        assert_eq!((timed.timed, timed.places[1].ready, timed.places[0].due), (true, 5.0, 100.0));
    }

    #[test]
    fn a_table_and_json_say_the_same() {
        let table = parse("# capacity 10\nid,x,y,demand,due\n0,0,0,0,100\n1,3,4,5,50\n2,6,8,5,\n").unwrap();
        let json = parse(
            "{\"capacity\": 10, \"depot\": {\"due\": 100}, \"customers\": [{\"x\": 3, \"y\": 4, \"demand\": 5, \"due\": 50},\
             {\"x\": 6, \"y\": 8, \"demand\": 5}]}",
        )
        .unwrap();
        for (a, b) in table.places.iter().zip(&json.places) {
            assert_eq!((a.number, a.x, a.y, a.demand, a.due), (b.number, b.x, b.y, b.demand, b.due));
        }
        assert_eq!((table.capacity, table.places.len()), (json.capacity, json.places.len()));
    }

    #[test]
    fn faults_name_line_and_column() {
        let wrong = |text: &str| {
            let fault = parse(text).expect_err(text);
            format!("{}: {}", fault.line, fault.message)
        };
        assert!(wrong(&VRP.replace("2 3 4", "2 3 four")).starts_with("8: column 5: y is 'four'"));
        assert!(wrong(&VRP.replace("2 3 4", "9 3 4")).starts_with("8: column 1: node 9: expected 1 to 4"));
        assert!(wrong(&VRP.replace("CVRP", "ATSP")).starts_with("2: column 8: TYPE ATSP"));
        assert!(wrong("x,y,demand\n0,0,0\n1,b,2\n").starts_with("3: column 2: y is 'b'"));
        assert!(wrong("x,y,demand\n0,0,0\n1,2\n").starts_with("3: 2 columns: expected 3"));
        assert!(wrong("{\"depot\": {},\n \"customers\": [{\"z\": 1}]}").starts_with("2: column "));
        assert!(
            wrong("{\"depot\": {}, \"customers\": [{\"x\": 1}], \"matrix\": [[0]]}").contains("2 times 2")
        );
        let below = "{\"depot\": {}, \"customers\": [{}], \"matrix\": [[0, 1], [-2, 0]]}";
        assert!(wrong(below).contains("row 2 of the matrix has -2 in column 1"));
    }
}
