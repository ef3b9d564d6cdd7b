//! The forms of a distributed search, one file or folder each, and the `match` that makes one.

mod canopy;
mod df_uct;
mod flights;
mod leaf;
mod ledger;
mod mp_mcts;
mod root;
pub(crate) mod stack;
pub(crate) mod tds;
mod treesplit;

use crate::{Form, Gang, Rank, RankId};
use canopy::Canopy;
use df_uct::Df;
use mp_mcts::Histories;
use root::Root;
use sortie_core::parts::Walk;
use tds::Tds;
use treesplit::Split;

/// Makes the rank that a gang asks for. The walker is its own.
pub(crate) fn rank(gang: &Gang, me: RankId, walk: Box<dyn Walk>) -> Box<dyn Rank> {
    match gang.form {
        Form::Canopy => Box::new(Canopy::new(gang, me, walk)),
        Form::Leaf | Form::RootLeaf | Form::RootTree => Box::new(Root::new(gang, me, walk)),
        Form::Tds => Box::new(Tds::new(gang, me, walk, None)),
        Form::Treesplit => {
            let split = Split::new(gang, me);
            Box::new(Tds::new(gang, me, walk, Some(split)))
        }
        Form::DfUct => Box::new(Df::new(gang, me, walk, None)),
        Form::MpMcts => Box::new(Df::new(gang, me, walk, Some(Histories::default()))),
    }
}
