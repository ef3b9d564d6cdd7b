#!/usr/bin/env python3
"""How quick the list of runs of `sortie serve` is with a thousand of them: opened, sorted, filtered, grouped.

    bench/list.py SORTIE [--runs N] [--rounds N]

It writes the folders of finished searches, from a seed, and asks for the list in several orders. Told are the wall time
and the CPU time of the server for the first look, which reads every folder, and for the later ones; on a busy machine only
the CPU time means something.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

VIEWS = ["/", "/?sort=best&q=level+3", "/?instance=samegame%2F3&sort=-gap", "/?group=yes"]


def make(root, count):
    rng = random.Random(1)
    for i in range(count):
        seed, level = i // 20, 2 + i // 10 % 2
        folder = os.path.join(root, f"set{i % 10}", f"l{level}-s{seed}")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "spec.toml"), "w") as file:
            file.write(
                f'format = 1\nsortie = "0.1.0"\ninstance = "samegame/{1 + i % 10}"\nseed = {seed}\nstreams = 1\nthreads = 1\n'
                f'[search]\nname = "nrpa"\nlevel = {level}\niterations = 100\n[limits]\nseconds = 60.0\n'
            )
        best, events = 0, [{"event": "started", "time": "2026-11-15T21:30:00Z"}]
        for second in range(1, 61):
            best = max(best, 800 + rng.randrange(60 * second))
            events.append({"event": "progress", "seconds": second, "cpu_seconds": second, "playouts": 5000 * second, "best": best})
        end = {"score": best, "reason": "time", "playouts": 300000, "seconds": 60.0}
        events.append({"event": "finished", **end})
        with open(os.path.join(folder, "events.jsonl"), "w") as file:
            file.writelines(json.dumps(event) + "\n" for event in events)
        with open(os.path.join(folder, "result.json"), "w") as file:
            json.dump({**end, "playouts_per_second": 5000.0}, file)


def cpu_seconds(process):
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("sortie")
    arguments.add_argument("--runs", type=int, default=1000)
    arguments.add_argument("--rounds", type=int, default=5)
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="sortie-list-") as root:
        make(root, asked.runs)
        command = [asked.sortie, "serve", root, "--port", "0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            address = server.stdout.readline().strip()

            def look(view):
                begun, spent = time.monotonic(), cpu_seconds(server.pid)
                size = len(urllib.request.urlopen(address + view).read())
                return time.monotonic() - begun, cpu_seconds(server.pid) - spent, size

            wall, cpu, size = look("/")
            print(f"first look at {asked.runs} runs: {wall:.3f} s, {cpu:.2f} s of CPU time, {size} bytes")
            for view in VIEWS:
                walls, cpus, sizes = zip(*(look(view) for _ in range(asked.rounds)))
                print(f"{view:40} median {statistics.median(walls):.3f} s, {statistics.mean(cpus):.3f} s of CPU time, {sizes[0]} bytes")
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    sys.exit(main())
