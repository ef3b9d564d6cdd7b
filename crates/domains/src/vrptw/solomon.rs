//! Solomon's text format: the name, the fleet, and a line a customer, with headings in between.
//!
//! Blank lines, the width of columns and the case of headings do not matter; the order of the parts does, and so does
//! every number. Customers may stand in any order and carry any distinct numbers; number 0 is the depot.

use std::collections::HashMap;

/// More customers than this are taken for a mistake: the tables of an instance grow with their square.
pub const CUSTOMERS_MAX: usize = 1000;
/// Bounds that keep every sum of numbers exact enough: no real file comes near them.
const COORDINATE_MAX: f64 = 1e6;
const NUMBER_MAX: f64 = 1e9;

/// A file as it stands, checked for form and for sense but not for feasibility.
#[derive(Debug, Clone)]
pub struct Solomon {
    /// The name on its first line.
    pub name: String,
    /// Vehicles there are.
    pub fleet: u32,
    /// What one of them carries.
    pub capacity: u32,
    /// The depot, then the customers by their numbers.
    pub places: Vec<Place>,
    /// The distances, row by row, where they are not those of the plane.
    pub matrix: Option<Vec<f64>>,
    /// Some customer cannot be served at any time.
    pub timed: bool,
}

/// The depot or a customer.
#[derive(Debug, Clone)]
pub struct Place {
    /// Its line in the file, from 1.
    pub line: usize,
    /// Its number there.
    pub number: u32,
    /// Where it is.
    pub x: f64,
    /// Where it is.
    pub y: f64,
    /// What it asks for.
    pub demand: u32,
    /// Its service does not begin before this.
    pub ready: f64,
    /// Its service does not begin after this; for the depot, the last return.
    pub due: f64,
    /// How long its service takes.
    pub service: f64,
}

/// What is wrong with a text: the line, from 1, and what was expected there.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// The line.
    pub line: usize,
    /// What is wrong and what was expected.
    pub message: String,
}

impl Fault {
    fn new(line: usize, message: impl Into<String>) -> Fault {
        Fault { line, message: message.into() }
    }
}

/// Reads a file.
pub fn parse(text: &str) -> Result<Solomon, Fault> {
    let mut lines = Lines { lines: text.lines().enumerate(), last: 0 };
    let name = match lines.next() {
        Some((_, line)) => line.trim().to_string(),
        None => return Err(Fault::new(1, "the file is empty: expected the name of a Solomon instance")),
    };
    lines.heading("VEHICLE", "the heading VEHICLE")?;
    lines.heading("NUMBER", "the heading NUMBER CAPACITY")?;
    let (line, words) = lines.words("two numbers, the fleet and the capacity of a vehicle")?;
    let [fleet, capacity] = words[..] else {
        let message =
            format!("{} numbers: expected two, the fleet and the capacity of a vehicle", words.len());
        return Err(Fault::new(line, message));
    };
    let fleet = whole(line, "the fleet", fleet, 1)?;
    let capacity = whole(line, "the capacity", capacity, 1)?;
    lines.heading("CUSTOMER", "the heading CUSTOMER")?;
    lines.heading("CUST", "the heading of the columns, CUST NO. XCOORD. and so on")?;

    let mut places: Vec<Place> = Vec::new();
    let mut line_of = HashMap::new();
    while let Some((line, text)) = lines.next() {
        if places.len() > CUSTOMERS_MAX {
            return Err(Fault::new(line, format!("too many customers: expected at most {CUSTOMERS_MAX}")));
        }
        let place = place(line, text)?;
        if let Some(first) = line_of.insert(place.number, line) {
            let message =
                format!("customer {} a second time, first on line {first}: expected each once", place.number);
            return Err(Fault::new(line, message));
        }
        places.push(place);
    }
    places.sort_by_key(|place| place.number);
    match places.first() {
        None => Err(Fault::new(lines.last + 1, "the file ends here: expected the depot, customer 0")),
        Some(depot) if depot.number != 0 => {
            Err(Fault::new(lines.last + 1, "the file ends without a depot: expected a line for customer 0"))
        }
        Some(depot) if depot.demand != 0 || depot.service != 0.0 => {
            Err(Fault::new(depot.line, "the depot has a demand or a service time: expected 0 for both"))
        }
        Some(_) if places.len() == 1 => {
            Err(Fault::new(lines.last + 1, "the file ends after the depot: expected at least one customer"))
        }
        Some(_) => Ok(Solomon { name, fleet, capacity, places, matrix: None, timed: true }),
    }
}

/// The lines that are not blank, with their numbers from 1.
struct Lines<'a> {
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
    /// The number of the last line given out.
    last: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<(usize, &'a str)> {
        let (i, line) = self.lines.find(|(_, line)| !line.trim().is_empty())?;
        self.last = i + 1;
        Some((i + 1, line))
    }

    fn words(&mut self, expected: &str) -> Result<(usize, Vec<&'a str>), Fault> {
        match self.next() {
            Some((line, text)) => Ok((line, text.split_whitespace().collect())),
            None => Err(Fault::new(self.last + 1, format!("the file ends here: expected {expected}"))),
        }
    }

    /// Passes over a line that must begin with `word`.
    fn heading(&mut self, word: &str, expected: &str) -> Result<(), Fault> {
        let (line, words) = self.words(expected)?;
        let first = words[0];
        if first.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)) {
            return Ok(());
        }
        Err(Fault::new(line, format!("'{}': expected {expected}", clip(first))))
    }
}

/// One line of the table.
fn place(line: usize, text: &str) -> Result<Place, Fault> {
    const COLUMNS: [&str; 7] =
        ["the customer number", "x", "y", "the demand", "the ready time", "the due date", "the service time"];
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() < COLUMNS.len() {
        let message = format!(
            "{} columns: expected {}, and {} is missing",
            words.len(),
            COLUMNS.len(),
            COLUMNS[words.len()]
        );
        return Err(Fault::new(line, message));
    }
    if words.len() > COLUMNS.len() {
        return Err(Fault::new(line, format!("{} columns: expected {}", words.len(), COLUMNS.len())));
    }
    let number = |column: usize, min, max| number(line, COLUMNS[column], words[column], min, max);
    let place = Place {
        line,
        number: whole(line, COLUMNS[0], words[0], 0)?,
        x: number(1, -COORDINATE_MAX, COORDINATE_MAX)?,
        y: number(2, -COORDINATE_MAX, COORDINATE_MAX)?,
        demand: whole(line, COLUMNS[3], words[3], 0)?,
        ready: number(4, 0.0, NUMBER_MAX)?,
        due: number(5, 0.0, NUMBER_MAX)?,
        service: number(6, 0.0, NUMBER_MAX)?,
    };
    if place.due < place.ready {
        let message = format!(
            "customer {} is due at {}, before it is ready at {}: expected the due date to be no earlier",
            place.number, place.due, place.ready
        );
        return Err(Fault::new(line, message));
    }
    Ok(place)
}

fn number(line: usize, what: &str, word: &str, min: f64, max: f64) -> Result<f64, Fault> {
    match word.parse::<f64>() {
        Ok(value) if value >= min && value <= max => Ok(value),
        _ => {
            let message = format!("{what} is '{}': expected a number from {min} to {max}", clip(word));
            Err(Fault::new(line, message))
        }
    }
}

fn whole(line: usize, what: &str, word: &str, min: u32) -> Result<u32, Fault> {
    match word.parse::<f64>() {
        Ok(value) if value.fract() == 0.0 && value >= f64::from(min) && value <= NUMBER_MAX => {
            Ok(value as u32)
        }
        _ => {
            let message =
                format!("{what} is '{}': expected a whole number from {min} to {NUMBER_MAX}", clip(word));
            Err(Fault::new(line, message))
        }
    }
}

/// The beginning of a word: an error stays one short line whatever the file holds.
fn clip(word: &str) -> String {
    let mut clipped: String = word.chars().take(20).collect();
    if clipped.len() < word.len() {
        clipped.push_str("...");
    }
    clipped
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "small\n\nVEHICLE\nNUMBER CAPACITY\n 2 10\n\nCUSTOMER\nCUST NO. XCOORD. YCOORD. DEMAND \
                         READY TIME DUE DATE SERVICE TIME\n\n0 0 0 0 0 100 0\n1 3 4 5 0 50 10\n7 -3 4.5 5 10 60 10\n";

    #[test]
    fn a_file_is_read_whatever_its_spacing() {
        let text = SMALL.to_lowercase().replace(' ', "\t ").replace('\n', "\r\n");
        let file = parse(&text).unwrap();
        assert_eq!((file.name.as_str(), file.fleet, file.capacity, file.places.len()), ("small", 2, 10, 3));
        let last = &file.places[2];
        assert_eq!((last.number, last.x, last.y, last.demand, last.line), (7, -3.0, 4.5, 5, 12));
        assert_eq!((last.ready, last.due, last.service), (10.0, 60.0, 10.0));
    }

    /// Replaces one line of the small file (from 1) and returns what is wrong with it.
    fn fault(line: usize, new: &str) -> (usize, String) {
        let mut lines: Vec<&str> = SMALL.lines().collect();
        lines[line - 1] = new;
        let fault = parse(&lines.join("\n")).expect_err(new);
        (fault.line, fault.message)
    }

    #[test]
    fn every_fault_names_its_line_and_what_was_expected() {
        for (line, new, expected) in [
            (3, "TRUCKS", "expected the heading VEHICLE"),
            (4, "25 200", "expected the heading NUMBER"),
            (5, "25", "expected two"),
            (5, "25 200 1", "expected two"),
            (5, "0 200", "the fleet is '0': expected a whole number from 1"),
            (5, "25 2.5", "the capacity is '2.5'"),
            (7, "1 2 3 4 5 6 7", "expected the heading CUSTOMER"),
            (8, "0 0 0 0 0 100 0", "expected the heading of the columns"),
            (11, "1 3 4 5 0 50", "6 columns: expected 7, and the service time is missing"),
            (11, "1 3 4 5 0 50 10 1", "8 columns: expected 7"),
            (11, "1 3 four 5 0 50 10", "y is 'four': expected a number"),
            (11, "1 3 4 5 0 50 nan", "the service time is 'nan'"),
            (11, "1 3 inf 5 0 50 10", "y is 'inf'"),
            (11, "1 3 4 -5 0 50 10", "the demand is '-5': expected a whole number from 0"),
            (11, "1 3 4 5 -1 50 10", "the ready time is '-1'"),
            (11, "1 3 4 5 0 50 -10", "the service time is '-10'"),
            (11, "1 3 4 5 51 50 10", "customer 1 is due at 50, before it is ready at 51"),
            (12, "1 3 4 5 0 50 10", "customer 1 a second time, first on line 11"),
            (10, "0 0 0 4 0 100 0", "the depot has a demand"),
            (10, "0 0 0 0 0 100 5", "the depot has a demand or a service time"),
        ] {
            let (at, message) = fault(line, new);
            assert_eq!(at, line, "{message}");
            assert!(message.contains(expected), "'{new}' gives: {message}");
        }
        assert_eq!(fault(10, "").1, "the file ends without a depot: expected a line for customer 0");
        assert_eq!(parse("").unwrap_err().line, 1);
        assert!(parse(" \n\n").unwrap_err().message.contains("empty"));
    }

    #[test]
    fn a_file_that_stops_early_says_what_was_to_come() {
        let lines: Vec<&str> = SMALL.lines().collect();
        for n in 0..lines.len() - 2 {
            let fault = parse(&lines[..n].join("\n")).expect_err("stops early");
            assert!(fault.message.contains("expected") && fault.line <= n + 1, "{n}: {fault:?}");
        }
        assert!(parse(&lines[..10].join("\n")).unwrap_err().message.contains("at least one customer"));
    }

    #[test]
    fn too_many_customers_are_refused() {
        let head: String = SMALL.lines().take(10).map(|line| format!("{line}\n")).collect();
        let with = |n: usize| {
            let rows: String = (1..=n).map(|i| format!("{i} 1 1 1 0 90 1\n")).collect();
            parse(&format!("{head}{rows}"))
        };
        assert_eq!(with(CUSTOMERS_MAX).unwrap().places.len(), CUSTOMERS_MAX + 1);
        let fault = with(CUSTOMERS_MAX + 1).unwrap_err();
        assert_eq!(fault.line, 10 + CUSTOMERS_MAX + 1);
        assert!(fault.message.contains("at most 1000"));
    }
}
