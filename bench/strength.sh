#!/usr/bin/env bash
# What many modelled nodes are worth (Lines of Action by the rules of the thesis, playouts of 0.6 ms, nodes of 12 cores):
# canopy on NODES nodes against canopy on one node with TIMES times the time. 50 % and more says that the many are worth as
# many times. At 100 ms a game of 64 nodes takes about a minute of CPU time, one of 128 four. Stopped, it goes on.
# Usage: bench/strength.sh NODES TIMES [MILLISECONDS A MOVE] [GAMES] [FOLDER]     e.g. bench/strength.sh 64 15 100 60
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
nodes=$1 times=$2 millis=${3:-50} games=${4:-60}
folder=${5:-runs/strength-$nodes-$times-$millis}
sortie=${SORTIE:-target/release/sortie}
model=threads=12,engine=virtual,slower=100
"$sortie" match loa/8:rules=thesis --games "$games" --adjudicate 0.95 --out "$folder" \
    --player "canopy[nodes=$nodes,$model]:default:memory=8" --limit "${millis}ms" \
    --player "canopy[nodes=1,$model]:default:memory=64" --limit "$((millis * times))ms"
