#!/usr/bin/env bash
# What the last eight moves are worth to a network of Morpion (R2 against R1; the paper's table 1): games of NRPA with
# scores from 70 to 82, several of each search, a residual network of either kind, their accuracy on games held out, and
# the mean of games drawn from each, beside uniform ones. Games are held out one by one, so that others of the same search
# are learnt from, as in the paper; BY=search holds all games of a search out together. The moves are learnt in the order
# `newest`, ORDER=played in that of play. Needs a build with networks. Stopped, it goes on where it was.
# Usage: bench/networks.sh [GAMES] [EPOCHS] [FOLDER] (9141 8 runs/networks)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
games=${1:-9141} epochs=${2:-8} folder=${3:-runs/networks}
sortie=${SORTIE:-target/release/sortie}
samples=4000

mkdir -p "$folder"
"$sortie" data morpion/5D --search nrpa --level 3 --iterations 40 --min-score 70 --max-score 82 --on-the-way 30 \
    --games "$games" --out "$folder/games"
for rep in r1 r2; do
    "$sortie" train "$folder/games" --net residual --rep "$rep" --epochs "$epochs" --no-augment \
        --order "${ORDER:-newest}" --held-out-by "${BY:-game}" --out "$folder/$rep"
done
draw() { # NAME [OPTIONS]
    "$sortie" data morpion/5D --search sample --playouts 1 --games "$samples" --seed 9000 --out "$folder/$1-samples" \
        --quiet --json "${@:2}" >"$folder/$1.json"
}
draw uniform
for rep in r1 r2; do
    draw "$rep" --policy "$folder/$rep/net.safetensors"
done
python3 - "$folder" <<'P'
import json, os, statistics, sys
for name in ["uniform", "r1", "r2"]:
    with open(os.path.join(sys.argv[1], name + "-samples", "games.jsonl")) as file:
        scores = [json.loads(line)["score"] for line in file]
    half = 1.96 * statistics.stdev(scores) / len(scores) ** 0.5
    line = f"{name:8} mean of {len(scores)} samples {statistics.mean(scores):.2f} +- {half:.2f}, best {max(scores):.0f}"
    curve = os.path.join(sys.argv[1], name, "curve.jsonl")
    if os.path.exists(curve):
        with open(curve) as file:
            test = json.loads(file.readlines()[-1])["test"]
        top1, top3 = (100 * test[key] / test["positions"] for key in ("top1", "top3"))
        line += f"; held out: top-1 {top1:.1f} %, top-3 {top3:.1f} %"
    print(line)
P
