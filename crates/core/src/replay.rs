//! Replaying a solution from its words alone: the whole of `sortie verify`, free of any search.

use crate::domain::{Domain, Problem};

/// Why a list of words is not a solution.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ReplayError {
    /// A move that the rules do not allow where it stands.
    #[error("move {number} '{word}' is not legal there{}", legal_words(.legal))]
    Illegal {
        /// Counted from 1.
        number: usize,
        /// The word.
        word: String,
        /// A few of the words that would have been.
        legal: Vec<String>,
    },
    /// The words stop before the end.
    #[error("the moves stop after {played} though {legal} more are legal, such as '{example}'")]
    Unfinished {
        /// Moves played.
        played: usize,
        /// Legal moves left.
        legal: usize,
        /// One of them.
        example: String,
    },
}

fn legal_words(legal: &[String]) -> String {
    if legal.is_empty() {
        " (the end was reached before)".into()
    } else {
        format!(" (legal: {})", legal.join(" "))
    }
}

/// Plays `words` from the initial position.
pub fn replay<D: Domain>(domain: &D, words: &[String]) -> Result<D::State, ReplayError> {
    play_words(domain, words, |_| ())
}

/// The moves that `words` mean, played from the initial position.
pub(crate) fn moves_of<D: Domain>(domain: &D, words: &[String]) -> Result<Vec<D::Move>, ReplayError> {
    let mut moves = Vec::with_capacity(words.len());
    play_words(domain, words, |mv| moves.push(mv))?;
    Ok(moves)
}

fn play_words<D: Domain>(
    domain: &D,
    words: &[String],
    mut at: impl FnMut(D::Move),
) -> Result<D::State, ReplayError> {
    let mut state = domain.initial();
    for (i, word) in words.iter().enumerate() {
        let Some(mv) = domain.parse_move(&state, word) else {
            let legal = legal_texts(domain, &state).into_iter().take(8).collect();
            return Err(ReplayError::Illegal { number: i + 1, word: word.clone(), legal });
        };
        at(mv);
        domain.play(&mut state, mv);
    }
    Ok(state)
}

/// Plays `words` to the end; a solution must not stop before it.
pub fn replay_whole<P: Problem>(problem: &P, words: &[String]) -> Result<P::State, ReplayError> {
    let state = replay(problem, words)?;
    match legal_texts(problem, &state).as_slice() {
        [] => Ok(state),
        legal => Err(ReplayError::Unfinished {
            played: words.len(),
            legal: legal.len(),
            example: legal[0].clone(),
        }),
    }
}

/// The words of moves played one after the other from the initial position.
pub fn words<D: Domain>(domain: &D, moves: &[D::Move]) -> Vec<String> {
    let mut state = domain.initial();
    moves
        .iter()
        .map(|&mv| {
            let word = domain.show_move(&state, mv);
            domain.play(&mut state, mv);
            word
        })
        .collect()
}

/// The words of all legal moves.
pub fn legal_texts<D: Domain>(domain: &D, state: &D::State) -> Vec<String> {
    let mut moves = Vec::new();
    domain.moves(state, &mut moves);
    moves.iter().map(|&mv| domain.show_move(state, mv)).collect()
}
