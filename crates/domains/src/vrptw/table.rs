//! Solomon's 56 instances by name, from `instances/solomon/solomon56.txt`, and the best that is known of each.

use super::solomon::{Place, Solomon};

const TABLE: &str = include_str!("../../instances/solomon/solomon56.txt");

/// The best that is known of an instance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Best {
    pub vehicles: u32,
    /// With so many vehicles, rounded up in the fourth decimal.
    pub distance: f64,
    /// With any number of vehicles, every arc truncated to a tenth: proven optima (the DIMACS challenge of 2021).
    pub tenths: f64,
}

/// Computed from routes that others publish, each of them checked: those of SINTEF's list archived in the repository
/// CervEdin/solomon-vrptw-benchmarks, and those found by LKH-3 (repository c4v4/LKH3). Of RC107 the distance, and of
/// C204 the tenths, are as published, to two decimals and to one.
const BEST: [(&str, u32, f64, f64); 56] = [
    ("R101", 19, 1650.7993, 1637.7),
    ("R102", 17, 1486.1195, 1466.6),
    ("R103", 13, 1292.6756, 1208.7),
    ("R104", 9, 1007.3106, 971.5),
    ("R105", 14, 1377.1111, 1355.3),
    ("R106", 12, 1252.0308, 1234.6),
    ("R107", 10, 1104.6560, 1064.6),
    ("R108", 9, 960.8758, 932.1),
    ("R109", 11, 1194.7341, 1146.9),
    ("R110", 10, 1118.8386, 1068.0),
    ("R111", 10, 1096.7354, 1048.7),
    ("R112", 9, 982.1397, 948.6),
    ("R201", 4, 1252.3713, 1143.2),
    ("R202", 3, 1191.7030, 1029.6),
    ("R203", 3, 939.5034, 870.8),
    ("R204", 2, 825.5193, 731.3),
    ("R205", 3, 994.4277, 949.8),
    ("R206", 3, 906.1421, 875.9),
    ("R207", 2, 890.6083, 794.0),
    ("R208", 2, 726.8228, 701.2),
    ("R209", 3, 909.1634, 854.8),
    ("R210", 3, 939.3727, 900.5),
    ("R211", 2, 885.7114, 746.7),
    ("C101", 10, 828.9369, 827.3),
    ("C102", 10, 828.9369, 827.3),
    ("C103", 10, 828.0649, 826.3),
    ("C104", 10, 824.7768, 822.9),
    ("C105", 10, 828.9369, 827.3),
    ("C106", 10, 828.9369, 827.3),
    ("C107", 10, 828.9369, 827.3),
    ("C108", 10, 828.9369, 827.3),
    ("C109", 10, 828.9369, 827.3),
    ("C201", 3, 591.5566, 589.1),
    ("C202", 3, 591.5566, 589.1),
    ("C203", 3, 591.1735, 588.7),
    ("C204", 3, 590.5988, 588.1),
    ("C205", 3, 588.8760, 586.4),
    ("C206", 3, 588.4929, 586.0),
    ("C207", 3, 588.2864, 585.8),
    ("C208", 3, 588.3239, 585.8),
    ("RC101", 14, 1696.9492, 1619.8),
    ("RC102", 12, 1554.7473, 1457.4),
    ("RC103", 11, 1261.6719, 1258.0),
    ("RC104", 10, 1135.4794, 1132.3),
    ("RC105", 13, 1629.4364, 1513.7),
    ("RC106", 11, 1424.7337, 1372.7),
    ("RC107", 11, 1230.4800, 1207.8),
    ("RC108", 10, 1139.8215, 1114.2),
    ("RC201", 4, 1406.9401, 1261.8),
    ("RC202", 3, 1365.6451, 1092.3),
    ("RC203", 3, 1049.6243, 923.7),
    ("RC204", 3, 798.4636, 783.5),
    ("RC205", 4, 1297.6478, 1154.0),
    ("RC206", 3, 1146.3173, 1051.1),
    ("RC207", 3, 1061.1446, 962.9),
    ("RC208", 3, 828.1415, 776.1),
];

/// The instance of this name, in capital letters or not.
pub fn find(name: &str) -> Option<(Solomon, Best)> {
    let &(name, vehicles, distance, tenths) = BEST.iter().find(|row| row.0.eq_ignore_ascii_case(name))?;
    let file = read(name).expect("the table holds every instance that a best is known of");
    Some((file, Best { vehicles, distance, tenths }))
}

/// The names of all instances.
#[cfg(test)]
pub fn names() -> impl Iterator<Item = &'static str> {
    BEST.iter().map(|row| row.0)
}

/// One instance out of the table: its windows, and the places that its class shares.
fn read(name: &str) -> Option<Solomon> {
    let (head, windows) = section(name)?;
    let (class, [fleet, capacity]) = (head.0, numbers(head.1)?);
    let (head, places) = section(&format!("places {class}"))?;
    let [service] = numbers(head.1)?;
    let mut file =
        Solomon { name: name.to_string(), fleet, capacity, places: Vec::new(), matrix: None, timed: true };
    let both =
        places.lines().flat_map(str::split_whitespace).zip(windows.lines().flat_map(str::split_whitespace));
    for (number, (place, window)) in both.enumerate() {
        let ([x, y, demand], [ready, due]) = (numbers(place)?, numbers(window)?);
        file.places.push(Place {
            line: 0,
            number: number as u32,
            x: f64::from(x),
            y: f64::from(y),
            demand,
            ready: f64::from(ready),
            due: f64::from(due),
            service: if number == 0 { 0.0 } else { f64::from(service) },
        });
    }
    Some(file)
}

/// The section that a line begins with this name: what else the line says, before and after its colon, and the lines up
/// to the next such line.
fn section(name: &str) -> Option<((&'static str, &'static str), &'static str)> {
    let (_, rest) = TABLE.split_once(&format!("\n{name}"))?;
    let (head, body) = rest.split_once('\n')?;
    let (class, numbers) = head.split_once(':')?;
    let next = body.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(body.len());
    Some(((class.trim(), numbers.trim()), &body[..next]))
}

fn numbers<const N: usize>(text: &str) -> Option<[u32; N]> {
    let mut numbers = [0; N];
    let mut words = text.split(',');
    for number in &mut numbers {
        *number = words.next()?.parse().ok()?;
    }
    words.next().is_none().then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vrptw::solomon;

    #[test]
    fn the_table_holds_what_the_files_hold() {
        for text in [
            include_str!("../../instances/solomon/R101.txt"),
            include_str!("../../instances/solomon/R102.txt"),
            include_str!("../../instances/solomon/R103.txt"),
            include_str!("../../instances/solomon/R201.txt"),
            include_str!("../../instances/solomon/C101.txt"),
            include_str!("../../instances/solomon/RC101.txt"),
        ] {
            let file = solomon::parse(text).unwrap();
            let (ours, _) = find(&file.name).unwrap();
            assert_eq!((ours.fleet, ours.capacity), (file.fleet, file.capacity));
            let row = |place: &Place| format!("{:?}", Place { line: 0, ..place.clone() });
            let rows = |file: &Solomon| file.places.iter().map(row).collect::<Vec<_>>();
            assert_eq!(rows(&ours), rows(&file), "{}", file.name);
        }
    }

    #[test]
    fn all_56_are_there_and_add_up_to_the_published_totals() {
        let (mut vehicles, mut distance) = (0, 0.0);
        for name in names() {
            let (file, best) = find(&name.to_lowercase()).unwrap();
            assert_eq!((file.places.len(), file.fleet, file.name.as_str()), (101, 25, name));
            assert!(file.places.iter().all(|place| place.ready < place.due));
            vehicles += best.vehicles;
            distance += best.distance;
        }
        assert_eq!((vehicles, (distance * 100.0).round()), (405, 5_718_688.0));
        assert!(find("R113").is_none() && find("R").is_none() && find("places R").is_none());
    }
}
