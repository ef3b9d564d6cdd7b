//! Victory by continuous double threats: does a side win by turns that each need both stones of the answer, until one
//! needs more? Proof-number search (Allis et al. 1994) over turns: at most four answers stop a double threat, so a proof
//! is narrow; the tree is kept, so nothing is generated twice and the proof is there when the search ends. The stones
//! only grow in number, so there are no cycles and no value depends on the path.
//!
//! Leaves out: attacks by single threats, and more than `ATTACKS_MAX` attacks at one position. A failure is therefore
//! no proof of anything; a success always is.

use super::attack::{Attacks, sorted};
use super::board::{Board, Covers, NONE};
use super::proof::{Proof, Step};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A sum of as many as a position has attacks still fits.
const INFINITE: u32 = 1 << 24;
/// Of a position known to be lost for the attack.
const REFUTED: u32 = u32::MAX;

/// Nodes between two looks at the clock.
const LOOK_EVERY: u64 = 64;
/// No tree grows larger: 20 bytes each.
const TREE_MAX: usize = 20_000_000;

/// How a search ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The attack wins, like this.
    Wins(Proof),
    /// No attack that was offered wins.
    Fails,
    /// Not enough nodes to know.
    Unknown,
}

/// The search, with buffers that are kept from call to call.
#[derive(Debug, Default)]
pub struct Vcdt {
    attacks: Attacks,
    nodes: Vec<Node>,
    /// By key: the node of a position that was solved, or `REFUTED`.
    solved: HashMap<u64, u32, BuildHasherDefault<KeyHasher>>,
    threats: Vec<[u16; 2]>,
    path: Vec<u32>,
    /// Positions that attacks were generated for, in all calls so far.
    pub visited: u64,
}

/// A position: with the attack to move (`attacks`) its children are attacks, otherwise they are answers.
#[derive(Debug, Clone, Copy)]
struct Node {
    /// What led here.
    turn: [u16; 2],
    proof: u32,
    disproof: u32,
    first: u32,
    count: u16,
}

impl Vcdt {
    /// Searches a win of `side`, which has a turn of two stones, with at most `nodes_max` nodes.
    pub fn search(&mut self, board: &mut Board, side: usize, nodes_max: u64) -> Verdict {
        self.search_turn(board, side, 2, &[], nodes_max, &|| false)
    }

    /// Searches a win of `side`, which has a turn of `stones` stones, not beginning with a turn in `excluded` (in order), until
    /// the nodes are spent or `over` says so.
    pub fn search_turn(
        &mut self,
        board: &mut Board,
        side: usize,
        stones: u32,
        excluded: &[[u16; 2]],
        nodes_max: u64,
        over: &dyn Fn() -> bool,
    ) -> Verdict {
        self.nodes.clear();
        self.solved.clear();
        let end = self.visited.saturating_add(nodes_max);
        let mut look = self.visited + LOOK_EVERY;
        if board.winning_turns(side, stones).next().is_some() {
            // If all of these are excluded, nothing is known: attacks are only looked for where no win is at hand.
            let mut turns = board.winning_turns(side, stones);
            return turns
                .find(|turn| excluded.binary_search(&sorted(*turn)).is_err())
                .map_or(Verdict::Unknown, |turn| {
                    Verdict::Wins(Proof { steps: vec![Step { turn, answers: Vec::new() }] })
                });
        }
        self.nodes.push(Node::new([NONE; 2]));
        self.attacks.excluded.extend_from_slice(excluded);
        self.visited += 1;
        match stones {
            1 => self.attacks.find_single(board, side),
            _ => self.attacks.find(board, side),
        }
        self.attacks.excluded.clear();
        self.nodes[0] = self.attacked([NONE; 2]);
        while self.nodes[0].proof > 0 && self.nodes[0].disproof > 0 {
            if self.visited >= end || self.nodes.len() > TREE_MAX {
                return Verdict::Unknown;
            }
            if self.visited >= look {
                look = self.visited + LOOK_EVERY;
                if over() {
                    return Verdict::Unknown;
                }
            }
            self.grow(board, side);
        }
        if self.nodes[0].proof == 0 { Verdict::Wins(self.proof()) } else { Verdict::Fails }
    }

    /// The node of a position for which attacks were just found, these its children.
    fn attacked(&mut self, turn: [u16; 2]) -> Node {
        let first = self.nodes.len() as u32;
        let found = &self.attacks.found;
        let (mut proof, mut disproof) = (INFINITE, 0);
        for attack in found {
            // Unstoppable: proved. Otherwise every answer is still to be refuted.
            let answers = u32::from(attack.answers);
            let open = u32::from(answers > 0);
            let node = Node {
                proof: answers,
                disproof: if open == 1 { 1 } else { INFINITE },
                ..Node::new(attack.turn)
            };
            self.nodes.push(node);
            (proof, disproof) = (proof.min(answers), (disproof + node.disproof).min(INFINITE));
        }
        Node { turn, proof, disproof, first, count: found.len() as u16 }
    }

    /// Goes down to the most promising attack that has no answers yet, gives it these, and corrects the numbers above.
    fn grow(&mut self, board: &mut Board, side: usize) {
        let mut at = 0;
        self.path.clear();
        self.path.push(at);
        loop {
            let node = self.nodes[at as usize];
            let attack = least(&self.nodes, node, |n| n.proof);
            board.play(self.nodes[attack as usize].turn, side);
            self.path.push(attack);
            if self.nodes[attack as usize].count == 0 {
                self.answer(board, side, attack);
                break;
            }
            at = least(&self.nodes, self.nodes[attack as usize], |n| n.disproof);
            board.play(self.nodes[at as usize].turn, 1 - side);
            self.path.push(at);
            // The same position may have been solved elsewhere since this node was made.
            if let Some(&known) = self.solved.get(&board.key()) {
                self.nodes[at as usize] = self.known(known, self.nodes[at as usize].turn);
                break;
            }
        }
        while let Some(at) = self.path.pop() {
            let node = self.nodes[at as usize];
            // Even places on the path are positions of the attack.
            if self.path.len().is_multiple_of(2) {
                if node.count > 0 && node.proof > 0 && node.disproof > 0 {
                    let children = node.children(&self.nodes);
                    let proof = children.iter().map(|n| n.proof).min().unwrap_or(INFINITE);
                    let disproof = children.iter().map(|n| n.disproof).sum::<u32>().min(INFINITE);
                    (self.nodes[at as usize].proof, self.nodes[at as usize].disproof) = (proof, disproof);
                }
                let node = self.nodes[at as usize];
                if at != 0 {
                    if node.proof == 0 {
                        self.solved.insert(board.key(), at);
                    } else if node.disproof == 0 {
                        self.solved.insert(board.key(), REFUTED);
                    }
                    board.undo(node.turn, 1 - side);
                }
            } else {
                if node.count > 0 {
                    let children = node.children(&self.nodes);
                    let proof = children.iter().map(|n| n.proof).sum::<u32>().min(INFINITE);
                    let disproof = children.iter().map(|n| n.disproof).min().unwrap_or(INFINITE);
                    (self.nodes[at as usize].proof, self.nodes[at as usize].disproof) = (proof, disproof);
                }
                board.undo(node.turn, side);
            }
        }
    }

    /// Gives an attack, which is on the board, its answers, and each of them the attacks that follow.
    fn answer(&mut self, board: &mut Board, side: usize, attack: u32) {
        board.threats(side, &mut self.threats);
        let covers = Covers::of(&self.threats);
        let first = self.nodes.len();
        self.nodes.extend(covers.turns().iter().map(|&turn| Node::new(turn)));
        self.nodes[attack as usize].first = first as u32;
        self.nodes[attack as usize].count = covers.turns().len() as u16;
        for (i, &turn) in covers.turns().iter().enumerate() {
            board.play(turn, 1 - side);
            let node = match self.solved.get(&board.key()) {
                Some(&known) => self.known(known, turn),
                None => {
                    self.visited += 1;
                    self.attacks.find(board, side);
                    self.attacked(turn)
                }
            };
            self.nodes[first + i] = node;
            if node.proof == 0 && !self.solved.contains_key(&board.key()) {
                self.solved.insert(board.key(), (first + i) as u32);
            } else if node.disproof == 0 {
                self.solved.insert(board.key(), REFUTED);
            }
            board.undo(turn, 1 - side);
            // One answer that holds is enough.
            if node.disproof == 0 {
                return;
            }
        }
    }

    /// A node like one that is solved.
    fn known(&self, known: u32, turn: [u16; 2]) -> Node {
        match known {
            REFUTED => Node { proof: INFINITE, disproof: 0, ..Node::new(turn) },
            at => Node { turn, ..self.nodes[at as usize] },
        }
    }

    /// The proof that the tree holds.
    fn proof(&self) -> Proof {
        let mut proof = Proof { steps: Vec::new() };
        // By first attack of a position: its step. Positions that were found again share their attacks.
        let mut known = HashMap::new();
        self.prove(0, &mut proof, &mut known);
        proof
    }

    fn prove(&self, at: u32, proof: &mut Proof, known: &mut HashMap<u32, u32>) -> u32 {
        let node = self.nodes[at as usize];
        if let Some(&step) = known.get(&node.first) {
            return step;
        }
        let attack = least(&self.nodes, node, |n| n.proof);
        let attack = self.nodes[attack as usize];
        let step = proof.steps.len() as u32;
        known.insert(node.first, step);
        proof.steps.push(Step { turn: attack.turn, answers: Vec::new() });
        let answers: Vec<([u16; 2], u32)> = (attack.first..attack.first + u32::from(attack.count))
            .map(|answer| (self.nodes[answer as usize].turn, self.prove(answer, proof, known)))
            .collect();
        proof.steps[step as usize].answers = answers;
        step
    }
}

impl Node {
    fn new(turn: [u16; 2]) -> Node {
        Node { turn, proof: 1, disproof: 1, first: 0, count: 0 }
    }

    fn children(self, nodes: &[Node]) -> &[Node] {
        &nodes[self.first as usize..][..usize::from(self.count)]
    }
}

/// The child with the least number; the first of equals.
fn least(nodes: &[Node], node: Node, number: impl Fn(&Node) -> u32) -> u32 {
    let children = node.children(nodes).iter().map(number).zip(node.first..);
    children.min().map_or(node.first, |(_, at)| at)
}

/// Keys are random already.
#[derive(Debug, Default, Clone, Copy)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are written whole")
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}
