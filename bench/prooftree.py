#!/usr/bin/env python3
"""How quick the proof tree of `sortie serve` is. Needs a built `sortie`; with chromedriver and Chromium it clicks too.

    bench/prooftree.py SORTIE [--nodes N] [--make FOLDER]

It writes the folder of a proof search of Hex with 100,000 positions, from a seed, opens its page and then opens node
after node. Told are the times of the server, and with a browser those from a click to the rows on the page, which must
be under 200 ms. The CPU time of the server stands beside them: on a busy machine only that means something.
"""

import argparse
import http.client
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

CLICKS = 40
REQUEST = """format = 1
instance = "hex/11"
moves = []
seed = 1
memory = 16

[plan]
question = "win"
select = "pns"
policy = "ve-flag"
jobs_max = {jobs}
trust = "solver"
c = 1.4142135623730951
effort = {{ nodes = 1000, playouts = 0 }}
"""


def make(folder, count, seed=1):
    """A tree that grows as such trees do: at its newest leaves most of the time, elsewhere now and then."""
    draw = random.Random(seed)
    cells = [column + str(row) for column in "abcdefghijk" for row in range(1, 12)]
    statuses = ["b4", "b3", "b2", "b1", "stable", "w1", "w2", "w3", "w4"]
    os.makedirs(folder)
    with open(os.path.join(folder, "prove.toml"), "w") as file:
        file.write(REQUEST.format(jobs=2 * count))
    nodes = [((), [])]
    with open(os.path.join(folder, "jobs.jsonl"), "w") as file:
        while len(nodes) < count:
            at = draw.randrange(len(nodes)) if draw.random() < 0.6 else max(0, len(nodes) - 1 - int(draw.expovariate(0.05)))
            path, children = nodes[at]
            word = draw.choice(cells)
            if len(path) >= 24 or word in path or word in children:
                continue
            job = {"moves": path, **({"exclude": children} if children else {})}
            job |= {"ask": "win", "effort": {"nodes": 1000, "playouts": 0}, "kind": "sibling" if children else "leaf", "priority": 0 if children else 1}
            answer = {"best": word, "status": draw.choice(statuses), "value": round(draw.random(), 4)}
            # Only the first side is ever proved to win, so that no two answers contradict each other.
            if len(path) > 5 and len(path) % 2 == 0 and draw.random() < 0.15:
                answer["claim"] = {"bounds": {"low": "win", "high": "win"}, "trust": "solver"}
            answer |= {"nodes": draw.randrange(1000), "seconds": 0.001}
            file.write(json.dumps({"job": job, "answer": answer}, separators=(",", ":")) + "\n")
            children.append(word)
            nodes.append((path + (word,), []))


class Server:
    def __init__(self, sortie, folder):
        self.process = subprocess.Popen([sortie, "serve", folder, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.root = self.process.stdout.readline().strip()

    def get(self, path):
        link = http.client.HTTPConnection(self.root.removeprefix("http://"))
        begun, cpu = time.monotonic(), self.cpu_seconds()
        link.request("GET", path)
        text = link.getresponse().read().decode()
        link.close()
        return text, time.monotonic() - begun, self.cpu_seconds() - cpu

    def cpu_seconds(self):
        """By the threads' own clocks, which count nanoseconds; those that have ended are in the sum of the process."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_mb(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def tell(what, times):
    times = sorted(1000 * seconds for seconds in times)
    print(f"{what:36} median {statistics.median(times):6.1f} ms, slowest {times[-1]:6.1f} ms, {len(times)} times")


def by_server(server, count):
    page, wall, cpu = server.get("/run/tree")
    assert 'role="treegrid"' in page and f"{count:,}" in page, "the page shows the tree"
    print(f"first look, {count:,} positions read: {wall:.2f} s, {cpu:.2f} s of CPU time; server {server.resident_mb():.0f} MB")
    tell("the page again", [server.get("/run/tree")[1] for _ in range(9)])
    draw, before, walls = random.Random(7), server.cpu_seconds(), []
    for _ in range(CLICKS):
        text, wall, _ = server.get(f"/run/tree/tree?node={draw.randrange(count)}")
        assert len(json.loads(text)["nodes"]) == 1
        walls.append(wall)
    tell("the moves of a position", walls)
    print(f"{'':36} {1000 * (server.cpu_seconds() - before) / CLICKS:.1f} ms of CPU time each")


def by_browser(server, driver):
    sys.path.insert(0, driver)
    from driver import Browser, until  # ci/browser

    browser = Browser()
    try:
        pages = []
        for _ in range(9):
            # As a person comes there: from the list of runs, by a click.
            browser.open(server.root + "/")
            browser.run("document.querySelector('a[href=\"/run/tree\"]').click()")
            until(lambda: browser.run("return document.querySelectorAll('#tree tbody tr').length") > 1, "the tree")
            pages.append(browser.run("return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd") / 1000)
        tell("from a click in the list to the tree", pages)
        times = []
        for _ in range(CLICKS):
            closed = "#tree tr[aria-expanded=false]"
            node = browser.run(f"const all = document.querySelectorAll('{closed}'); return all[Math.floor(all.length / 2)]?.dataset.node")
            if node is None:
                break
            browser.run("document.querySelector(`#tree tr[data-node='${arguments[0]}'] .twist`).click()", node)
            opened = until(lambda: (browser.run("return document.body.dataset.opened") or "").startswith(f"{node} ") and browser.run("return document.body.dataset.opened"), "rows")
            times.append(float(opened.split()[1]) / 1000)
        tell("from a click to the rows", times)
        return statistics.median(times) < 0.2 and statistics.median(pages) < 0.2
    finally:
        browser.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sortie")
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--make", metavar="FOLDER", help="only write the folder of such a search")
    args = parser.parse_args()
    if args.make:
        return make(args.make, args.nodes)
    good = True
    with tempfile.TemporaryDirectory() as home:
        make(os.path.join(home, "tree"), args.nodes)
        server = Server(os.path.abspath(args.sortie), home)
        try:
            by_server(server, args.nodes)
            driver = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "ci", "browser")
            good = by_browser(server, driver)
        except FileNotFoundError as missing:
            print(f"no browser: {missing}")
        finally:
            server.stop()
    print("ok" if good else "FAILED")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
