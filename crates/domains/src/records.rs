//! The solutions that come with the crate, `records/*.record`: the best that is known of, to compare with and to test by.

macro_rules! shipped {
    ($($name:literal,)*) => {
        &[$(($name, include_str!(concat!("../records/", $name, ".record")))),*]
    };
}

/// Name, text.
static RECORDS: &[(&str, &str)] = shipped![
    "coil-10-4-46",
    "coil-11-4-72",
    "coil-13-6-50",
    "coil-8-96",
    "coil-9-3-64",
    "coil-9-4-30",
    "morpion-4D-35",
    "morpion-4T-62",
    "morpion-5D-82",
    "morpion-5T-170",
    "morpion-5T-178",
    "samegame-1-3185",
    "samegame-10-3453",
    "samegame-11-3381",
    "samegame-12-3635",
    "samegame-13-3287",
    "samegame-14-3139",
    "samegame-15-3777",
    "samegame-16-5187",
    "samegame-17-5103",
    "samegame-18-5411",
    "samegame-19-5177",
    "samegame-2-3975",
    "samegame-20-5163",
    "samegame-3-3697",
    "samegame-4-3967",
    "samegame-5-4307",
    "samegame-6-4717",
    "samegame-7-2839",
    "samegame-8-4089",
    "samegame-9-4893",
    "snake-10-4-47",
    "snake-11-5-39",
    "snake-12-5-57",
    "snake-12-6-33",
    "snake-13-6-47",
    "snake-8-97",
    "vrptw-R101-1650.80",
    "vrptw-R102-1486.12",
    "vrptw-R102-1486.66",
    "vrptw-R103-1292.68",
];

/// Positions of Connect Four with 8 to 16 stones and their values, a line each.
pub const CONNECT4_SOLVED: &str = include_str!("../instances/connect4/solved.txt");

/// The record with this name, such as `morpion-5T-178`: the text of a record file.
pub fn record(name: &str) -> Option<&'static str> {
    RECORDS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_listed_and_verifies() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/records");
        let mut files = 0;
        for file in std::fs::read_dir(folder).expect("the records") {
            let name = file.expect("a file").file_name().into_string().expect("plain names");
            let Some(name) = name.strip_suffix(".record") else { continue };
            assert!(record(name).is_some(), "{name} is not in RECORDS");
            files += 1;
        }
        assert_eq!(files, RECORDS.len());
        assert!(record("none").is_none());
        for (name, text) in RECORDS {
            let record = sortie_core::Record::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(!record.moves.is_empty(), "{name} has no moves");
        }
    }
}
