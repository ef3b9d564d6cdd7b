"""Writes recorded.json: what the command says of the runs of test_ours.py. SORTIE names the command."""

import json

import test_ours

if __name__ == "__main__":
    answers = {name: test_ours.command(name) for name in test_ours.RUNS}
    test_ours.RECORDED.write_text(json.dumps(answers) + "\n")
