//! Games to learn from: one a line of JSON, with its moves as words. A game is a few hundred bytes, and the planes are
//! made of it while a network is trained.
//!
//! Two games are the same if some symmetry of the board makes the moves of one those of the other, in whatever order:
//! moves commute, so they differ in nothing that a player would see. A data set has each game once, and whether a game
//! is held out for testing depends on the game alone: it is never in both parts, whatever files it came from. Games that
//! one search has played are much alike, so where there are several they can be held out together.

use serde::{Deserialize, Serialize};
use sortie_core::planes::{Cell, Layout, Lesson, Scene};
use sortie_core::{AnyProblem, ReplayError};
use std::collections::HashSet;

/// A game.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Game {
    /// The seed that makes the search find it again.
    pub seed: u64,
    /// The search, in a line.
    pub search: String,
    /// Its score.
    pub score: f64,
    /// Playouts spent on it.
    pub playouts: u64,
    /// CPU time spent on it.
    pub cpu_seconds: f64,
    /// Its moves, with blanks between them; none if it is not part of the data: out of bounds, or had before.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub moves: String,
    /// Not the best of its search, but one of the others that it played.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_the_way: bool,
}

impl Game {
    /// The moves, one by one.
    pub fn words(&self) -> Vec<String> {
        self.moves.split_whitespace().map(String::from).collect()
    }
}

/// What is the same for the same games and, in all likelihood, for no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(u64);

impl Key {
    /// Whether the game is held out: so many of a thousand are.
    pub fn held_out(self, thousandths: u64) -> bool {
        mix(self.0 ^ 0x5eed) % 1000 < thousandths
    }
}

/// The keys of a game's positions after each of its moves. The last is that of the game.
pub fn keys(layout: &Layout, lessons: &[Lesson]) -> Vec<Key> {
    let outputs = lessons.iter().map(|lesson| lesson.scene.outputs[lesson.played]).collect();
    let upright = Scene { outputs, ..Scene::default() };
    let turned: Vec<Vec<Cell>> = (0..layout.symmetries())
        .map(|symmetry| {
            let mut scene = upright.clone();
            // There is no input, and no window: any size will do.
            scene.turn(layout, 0, layout.width, symmetry);
            scene.outputs
        })
        .collect();
    // Sums do not depend on the order of the moves.
    let mut sums = vec![0u64; turned.len()];
    let after = |i: usize| {
        for (sum, cells) in sums.iter_mut().zip(&turned) {
            let Cell { plane, x, y } = cells[i];
            *sum = sum.wrapping_add(mix(u64::from(plane) << 16 | u64::from(x) << 8 | u64::from(y)));
        }
        Key(sums.iter().copied().min().expect("at least the identity"))
    };
    (0..lessons.len()).map(after).collect()
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Which games are held out together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HeldOutBy {
    /// Each by itself.
    #[default]
    Game,
    /// All of a search.
    Search,
}

impl HeldOutBy {
    /// The one of this name.
    pub fn named(name: &str) -> Option<HeldOutBy> {
        match name {
            "game" => Some(HeldOutBy::Game),
            "search" => Some(HeldOutBy::Search),
            _ => None,
        }
    }

    /// What decides about a game that has this key.
    fn key(self, game: &Game, key: Key) -> Key {
        match self {
            HeldOutBy::Game => key,
            HeldOutBy::Search => {
                Key(game.search.bytes().fold(game.seed, |hash, byte| mix(hash ^ u64::from(byte))))
            }
        }
    }
}

/// The games that are held out for the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldOut {
    /// Of a thousand, so many.
    pub thousandths: u64,
    /// Which of them together.
    pub by: HeldOutBy,
}

/// In which order the moves of a game are taught.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// As they were played.
    #[default]
    Played,
    /// Where moves commute, always going on with what became possible last.
    Newest,
}

impl Order {
    /// The order of this name.
    pub fn named(name: &str) -> Option<Order> {
        match name {
            "played" => Some(Order::Played),
            "newest" => Some(Order::Newest),
            _ => None,
        }
    }
}

/// How games are shown to a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Showing {
    /// The index of the representation.
    pub representation: usize,
    /// Columns and rows of the window.
    pub size: usize,
    /// The order of the moves.
    pub order: Order,
}

/// A lesson, and how its game ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The position and its move.
    pub lesson: Lesson,
    /// The score of the game.
    pub score: f64,
}

/// The games of a data set as lessons for a network, in two parts.
#[derive(Debug, Clone, Default)]
pub struct Split {
    /// To learn from.
    pub train: Vec<Example>,
    /// To test with.
    pub test: Vec<Example>,
    /// The number of games in each part.
    pub games: (usize, usize),
    /// The scores of the games to learn from.
    pub train_scores: Vec<f64>,
}

impl Split {
    /// Takes games apart; those that were there already are left out.
    pub fn new<'a>(
        problem: &dyn AnyProblem,
        layout: &Layout,
        showing: Showing,
        games: impl Iterator<Item = &'a Game>,
        held_out: HeldOut,
    ) -> Result<Split, ReplayError> {
        let (mut split, mut had) = (Split::default(), HashSet::new());
        for game in games.filter(|game| !game.moves.is_empty()) {
            let words = match showing.order {
                Order::Played => game.words(),
                Order::Newest => problem.newest_first(&game.words())?,
            };
            let lessons = problem.lessons(&words, showing.representation, showing.size)?;
            let Some(&key) = keys(layout, &lessons).last() else { continue };
            if !had.insert(key) {
                continue;
            }
            let examples = lessons.into_iter().map(|lesson| Example { lesson, score: game.score });
            if held_out.by.key(game, key).held_out(held_out.thousandths) {
                split.test.extend(examples);
                split.games.1 += 1;
            } else {
                split.train.extend(examples);
                split.train_scores.push(game.score);
                split.games.0 += 1;
            }
        }
        Ok(split)
    }
}

/// How different games are: of all positions after so many moves, how many differ (the paper's figure 2 shows the
/// same as a picture of the positions).
#[derive(Debug, Clone, Default)]
pub struct Diversity {
    /// `positions[i]`: games that have an i-th move.
    positions: Vec<u64>,
    /// `distinct[i]`: the positions after it.
    distinct: Vec<HashSet<Key>>,
}

impl Diversity {
    /// Adds a game by its keys.
    pub fn add(&mut self, keys: &[Key]) {
        if self.positions.len() < keys.len() {
            self.positions.resize(keys.len(), 0);
            self.distinct.resize(keys.len(), HashSet::new());
        }
        for ((count, distinct), &key) in self.positions.iter_mut().zip(&mut self.distinct).zip(keys) {
            *count += 1;
            distinct.insert(key);
        }
    }

    /// For every number of moves: positions, and how many of them differ.
    pub fn by_move(&self) -> impl Iterator<Item = (u64, u64)> {
        self.positions.iter().zip(&self.distinct).map(|(&count, distinct)| (count, distinct.len() as u64))
    }

    /// All positions, and how many of them differ.
    pub fn total(&self) -> (u64, u64) {
        self.by_move().fold((0, 0), |(a, b), (positions, distinct)| (a + positions, b + distinct))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::Opened;
    use sortie_core::Rng;
    use sortie_domains::open;

    fn morpion() -> Box<dyn AnyProblem> {
        match open("morpion/5D", &|_| Err("no files".into())) {
            Ok(Opened::Problem(problem)) => problem,
            _ => panic!("morpion is a problem"),
        }
    }

    /// A random game of so many moves, by words.
    fn game(problem: &dyn AnyProblem, rng: &mut Rng, moves: usize) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        while words.len() < moves {
            let legal = problem.position(&words).expect("legal").legal;
            if legal.is_empty() {
                break;
            }
            words.push(legal[rng.below(legal.len())].clone());
        }
        words
    }

    /// A word with its columns mirrored: `x,y:Dn`.
    fn mirrored(word: &str) -> String {
        let (point, line) = word.split_once(':').expect("a colon");
        let (x, y) = point.split_once(',').expect("a comma");
        let (name, index) = line.split_at(line.len() - 1);
        let x = 9 - x.parse::<i32>().expect("a number");
        let index: u32 = index.parse().expect("a digit");
        let (name, index) = match name {
            "H" => ("H", 4 - index),
            "V" => ("V", index),
            "DP" => ("DN", 4 - index),
            _ => ("DP", 4 - index),
        };
        format!("{x},{y}:{name}{index}")
    }

    #[test]
    fn games_are_the_same_in_a_mirror_and_in_another_order() {
        let problem = morpion();
        let layout = problem.layout().expect("learnable");
        let key = |words: &[String]| {
            *keys(&layout, &problem.lessons(words, 0, 30).expect("legal")).last().expect("moves")
        };
        let mut rng = Rng::new(1, 0);
        let mut all = HashSet::new();
        for _ in 0..5 {
            let words = game(&*problem, &mut rng, 12);
            let mirror: Vec<String> = words.iter().map(|word| mirrored(word)).collect();
            assert_eq!(key(&words), key(&mirror), "{words:?} {mirror:?}");
            assert!(all.insert(key(&words)));
        }
        let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        assert_eq!(key(&words("4,3:H4 3,-1:V0")), key(&words("3,-1:V0 4,3:H4")));
        assert_ne!(key(&words("4,3:H4")), key(&words("4,3:H4 3,-1:V0")));
    }

    #[test]
    fn a_game_is_in_one_part_and_once() {
        let problem = morpion();
        let layout = problem.layout().expect("learnable");
        let mut rng = Rng::new(2, 0);
        let line = |words: &[String]| Game {
            seed: 0,
            search: String::new(),
            score: 0.0,
            playouts: 0,
            cpu_seconds: 0.0,
            moves: words.join(" "),
            on_the_way: false,
        };
        let mut games: Vec<Game> = (0..20).map(|_| line(&game(&*problem, &mut rng, 10))).collect();
        let mirror: Vec<String> = games[3].words().iter().map(|word| mirrored(word)).collect();
        games.extend([games[0].clone(), line(&mirror), line(&[])]);
        let showing = Showing { representation: 0, size: 30, order: Order::Played };
        let some = HeldOut { thousandths: 300, by: HeldOutBy::Game };
        let split = Split::new(&*problem, &layout, showing, games.iter(), some).expect("legal games");
        assert_eq!(split.games.0 + split.games.1, 20);
        assert!(split.games.1 > 0 && split.games.0 > split.games.1);
        assert_eq!(split.train.len(), 10 * split.games.0);
        assert_eq!(split.train_scores.len(), split.games.0);
        let other = Showing { representation: 1, size: 20, order: Order::Newest };
        let turned = Split::new(&*problem, &layout, other, games.iter().rev(), some).expect("legal games");
        assert_eq!(turned.games, split.games);
        let bad = Game { moves: "nowhere".into(), ..games[0].clone() };
        for showing in [showing, other] {
            assert!(Split::new(&*problem, &layout, showing, [&bad].into_iter(), some).is_err());
        }
    }

    #[test]
    fn the_games_of_a_search_can_be_held_out_together() {
        let problem = morpion();
        let layout = problem.layout().expect("learnable");
        let mut rng = Rng::new(4, 0);
        let games: Vec<Game> = (0..60)
            .map(|i| Game {
                seed: i / 6,
                search: "nrpa".into(),
                score: 0.0,
                playouts: 0,
                cpu_seconds: 0.0,
                moves: game(&*problem, &mut rng, 5).join(" "),
                on_the_way: i % 6 < 5,
            })
            .collect();
        let showing = Showing { representation: 0, size: 30, order: Order::Played };
        let apart = |games: &[Game], by| {
            let held_out = HeldOut { thousandths: 500, by };
            Split::new(&*problem, &layout, showing, games.iter(), held_out).expect("legal games").games
        };
        let divided =
            |by| games.chunks(6).filter(|search| !matches!(apart(search, by), (0, _) | (_, 0))).count();
        assert_eq!(divided(HeldOutBy::Search), 0);
        assert!(divided(HeldOutBy::Game) > 0);
        let (train, test) = apart(&games, HeldOutBy::Search);
        assert!(train > 0 && test > 0 && train + test == 60);
    }

    #[test]
    fn the_newest_moves_come_first_and_the_game_stays_the_same() {
        let problem = morpion();
        let layout = problem.layout().expect("learnable");
        let key = |words: &[String]| {
            *keys(&layout, &problem.lessons(words, 0, 30).expect("legal")).last().expect("moves")
        };
        // How long a move had been possible when it was played.
        let ages = |words: &[String]| {
            let legal = |i: usize| problem.position(&words[..i]).expect("legal").legal;
            let age =
                |i: usize| (0..=i).rev().take_while(|&before| legal(before).contains(&words[i])).count();
            (0..words.len()).map(age).sum::<usize>()
        };
        let mut rng = Rng::new(3, 0);
        for _ in 0..3 {
            let words = game(&*problem, &mut rng, 200);
            let newest = problem.newest_first(&words).expect("legal");
            assert_eq!(key(&words), key(&newest));
            assert!(ages(&newest) < ages(&words), "{words:?} {newest:?}");
            assert_eq!(problem.newest_first(&newest).expect("legal"), newest, "it is in order already");
        }
    }

    #[test]
    fn diversity_counts_what_differs() {
        let problem = morpion();
        let layout = problem.layout().expect("learnable");
        let mut diversity = Diversity::default();
        for text in ["4,3:H4 3,-1:V0", "3,-1:V0 4,3:H4", "4,3:H4"] {
            let words: Vec<String> = text.split(' ').map(String::from).collect();
            diversity.add(&keys(&layout, &problem.lessons(&words, 0, 30).expect("legal")));
        }
        // All first moves but one pair: the row and the column are mirror images of each other.
        assert_eq!(diversity.by_move().collect::<Vec<_>>()[1], (2, 1));
        assert_eq!(diversity.total().0, 5);
    }
}
