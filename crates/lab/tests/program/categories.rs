//! `lab categories`: from the games of a match to a table that the game reads.

use crate::Home;

#[test]
fn a_table_learnt_from_games_is_read_by_the_game() {
    let home = Home::new();
    home.json(
        "match loa/8 --player default --player plain --games 2 --limit 20playouts --out self --quiet --json",
    );
    let learnt = home.json("categories loa/8 --from self --out table.txt --json");
    let weights: Vec<f64> =
        learnt["weights"].as_array().unwrap().iter().map(|w| w.as_f64().unwrap()).collect();
    assert!(weights.len() == 32 && weights.iter().any(|&w| w > 0.0), "{weights:?}");
    assert!(weights.iter().all(|w| (0.0..=1.0).contains(w)), "{weights:?}");
    assert_eq!(learnt["games"], 2);
    home.json("bench search loa/8:categories=table.txt --player pu-mc --playouts 50 --repeat 1 --json");

    let again = home.run("categories loa/8 --from self --out table.txt");
    assert!(again.code == 2 && again.stderr.contains("exists"), "nothing is overwritten: {}", again.stderr);
    let other = home.run("categories connect4 --from self --out other.txt");
    assert!(other.code == 2 && other.stderr.contains("expected connect4/7x6"), "{}", other.stderr);
    let none = home.run("categories loa/8 --from nowhere --out other.txt");
    assert!(none.code == 2 && none.stderr.contains("no such file"), "{}", none.stderr);
}
