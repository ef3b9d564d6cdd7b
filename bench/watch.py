#!/usr/bin/env python3
"""What watching costs, and what it withstands. Needs only a built `sortie` and Python.

    bench/watch.py SORTIE cost [--rounds N]    playouts a CPU-second: a run that is watched live, against one that is not
    bench/watch.py SORTIE share                the CPU time that writing down takes beside the search, on a machine too busy for `cost`
    bench/watch.py SORTIE clients              50 live readers, one of which reads nothing: it is dropped, the run is not slowed
    bench/watch.py SORTIE events               how long the page of a run with 100,000 events takes, and the memory of the server

`cost` (which wants `lab` beside SORTIE) compares `lab bench playouts`, which writes nothing at all, with `sortie solve` that has a run folder,
checkpoints and a live reader, both at the same time, and takes the median of the ratios of playouts per CPU-second, with
its interval. That is for a machine with a core for each of them: where a search gets a tenth of one, what goes by the
clock weighs ten times as much. `share` tells the two apart.
"""

import argparse
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

INSTANCE = ["samegame/1", "--search", "nrpa", "--level", "3"]
EVENTS = 100_000


class Server:
    def __init__(self, sortie, folder):
        self.process = subprocess.Popen([sortie, "serve", folder, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.port = int(self.process.stdout.readline().strip().rsplit(":", 1)[1])

    def connect(self, path, receive=None):
        link = socket.socket()
        if receive:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        link.connect(("127.0.0.1", self.port))
        link.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return link

    def get(self, path):
        link, parts = self.connect(path), []
        while part := link.recv(1 << 16):
            parts.append(part)
        link.close()
        return b"".join(parts).partition(b"\r\n\r\n")[2].decode()

    def metric(self, name):
        line = next(line for line in self.get("/metrics").splitlines() if line.startswith(name + " "))
        return float(line.rsplit(" ", 1)[1])

    def resident_mb(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmRSS"))

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def read_for_ever(link, stop, counts, index):
    link.settimeout(0.5)
    while not stop.is_set():
        try:
            part = link.recv(1 << 16)
        except TimeoutError:
            continue
        except OSError:
            return
        if not part:
            return
        counts[index] += len(part)


def interval(values, seed=1):
    """The middle 95 % of the medians of 4,000 resamples."""
    draw = random.Random(seed)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(4000))
    return medians[100], medians[-101]


def cost(sortie, rounds, seconds):
    """Two searches with one seed at the same time, so that whatever else the machine does hits both alike: one writes nothing, the
    other is watched. Rates are playouts per second of CPU time of the process, and the figure is the median of the rounds' ratios."""
    ratios = []
    with tempfile.TemporaryDirectory() as home:
        server = Server(sortie, home)
        for turn in range(rounds):
            seed, name = str(turn + 1), f"run{turn}"
            alone = [os.path.join(os.path.dirname(sortie), "lab"), "bench", "playouts", *INSTANCE, "--seconds", str(seconds), "--seed", seed, "--json"]
            watched = [sortie, "solve", *INSTANCE, "--seed", seed, "--threads", "1", "--best-of", "1", "--cpu-time", f"{seconds}s", "--quiet", "--json"]
            commands = [alone, [*watched, "--out", os.path.join(home, name)]]
            # Who begins first takes turns.
            order = [0, 1] if turn % 2 == 0 else [1, 0]
            both = {which: subprocess.Popen(commands[which], stdout=subprocess.PIPE, text=True) for which in order}
            while not os.path.exists(os.path.join(home, name, "spec.toml")):
                time.sleep(0.01)
            stop, counts = threading.Event(), [0]
            reader = threading.Thread(target=read_for_ever, args=(server.connect(f"/run/{name}/live"), stop, counts, 0))
            reader.start()
            plain, result = (json.loads(both[which].communicate()[0]) for which in (0, 1))
            stop.set()
            reader.join()
            assert counts[0] > 0, "the reader has seen nothing"
            plain, live = plain["playouts_per_cpu_second"], result["playouts"] / result["cpu_seconds"]
            ratios.append(live / plain)
            print(f"round {turn + 1}: {plain:,.0f} alone, {live:,.0f} watched, {live / plain:.3f}x", flush=True)
        spent = server.cpu_seconds() / (rounds * seconds)
        server.stop()
    median, (low, high) = statistics.median(ratios), interval(ratios)
    print(f"median {median:.4f}x, 95 % interval {low:.4f} to {high:.4f}, of {rounds} rounds; the server itself took {100 * spent:.2f} % of a core; must be at least 0.98x")
    return median >= 0.98


def share(sortie, seconds):
    """By threads of the process. Writing down goes by the clock (so many looks, events and checkpoints a second), so what it takes is
    told beside a search that has a core to itself, and beside this one, which on a busy machine has less. Linux only."""
    with tempfile.TemporaryDirectory() as home:
        server = Server(sortie, home)
        solve = [sortie, "solve", *INSTANCE, "--seed", "1", "--threads", "1", "--best-of", "1", "--cpu-time", "10m", "--quiet"]
        run = subprocess.Popen([*solve, "--out", os.path.join(home, "run")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not os.path.exists(os.path.join(home, "run", "spec.toml")):
            time.sleep(0.01)
        stop, counts = threading.Event(), [0]
        reader = threading.Thread(target=read_for_ever, args=(server.connect("/run/run/live"), stop, counts, 0))
        reader.start()
        spent, begun = [0.0], time.monotonic()
        while sum(spent) < seconds:
            time.sleep(0.2)
            spent = []
            for task in os.listdir(f"/proc/{run.pid}/task"):
                with open(f"/proc/{run.pid}/task/{task}/schedstat") as file:
                    spent.append(int(file.read().split()[0]) / 1e9)
        wall = time.monotonic() - begun
        run.kill()
        run.wait()
        stop.set()
        reader.join()
        served = server.cpu_seconds()
        server.stop()
    search, rest = max(spent), sum(spent) - max(spent)
    print(f"search {search:.2f} s of CPU time in {wall:.0f} s, writing it down {rest:.3f} s: {search / (search + rest):.4f}x here, {1 - rest / wall:.4f}x on a core of its own")
    print(f"the server {served:.2f} s; {counts[0]:,} bytes sent; must be at least 0.98x on a core of its own")
    return 1 - rest / wall >= 0.98 and counts[0] > 0


def write_events(path, first, count):
    with open(path, "a") as file:
        for i in range(first, first + count):
            event = {"event": "progress", "seconds": i / 60, "cpu_seconds": i / 60, "playouts": 1000 * i, "best": 1000 + int(i**0.5)}
            file.write(json.dumps(event) + "\n")


def make_run(folder):
    os.mkdir(folder)
    with open(os.path.join(folder, "spec.toml"), "w") as file:
        file.write('format = 1\nsortie = "0.1.0"\ninstance = "samegame/3"\nseed = 1\nstreams = 1\nthreads = 1\n[search]\nname = "nrpa"\nlevel = 4\n')


def clients(sortie):
    """A writer as fast as a disk takes it stands for the run; it must be as fast with 50 readers as with none."""
    with tempfile.TemporaryDirectory() as home:
        make_run(os.path.join(home, "run"))
        path = os.path.join(home, "run", "events.jsonl")
        write_events(path, 0, 10)
        server = Server(sortie, home)
        stop, counts = threading.Event(), [0] * 49
        threads = [threading.Thread(target=read_for_ever, args=(server.connect("/run/run/live"), stop, counts, i)) for i in range(49)]
        for thread in threads:
            thread.start()
        stalled = server.connect("/run/run/live", receive=4096)
        time.sleep(1)
        open_before = server.metric("sortie_web_streams")
        begun, slowest, dropped, n = time.monotonic(), 0.0, None, 10
        # 60 events a second are what a page must stand; these are some 20,000 a second, so that a stall shows soon.
        while time.monotonic() - begun < 60 and dropped is None:
            at = time.monotonic()
            write_events(path, n, 5000)
            n += 5000
            slowest = max(slowest, time.monotonic() - at)
            time.sleep(0.25)
            if server.metric("sortie_web_streams_dropped_total") >= 1:
                dropped = time.monotonic() - begun
        open_after = server.metric("sortie_web_streams")
        memory = server.resident_mb()
        stop.set()
        for thread in threads:
            thread.join()
        stalled.close()
        server.stop()
    print(f"{open_before:.0f} readers before, {open_after:.0f} after; the stalled one was dropped after {dropped or -1:.1f} s")
    print(f"{n:,} events; the least that another reader got: {min(counts):,} bytes; slowest write of 5,000 events {slowest:.3f} s")
    print(f"memory of the server {memory:.0f} MB")
    return dropped is not None and open_before == 50 and open_after == 49 and min(counts) > 0


def events(sortie):
    with tempfile.TemporaryDirectory() as home:
        make_run(os.path.join(home, "run"))
        write_events(os.path.join(home, "run", "events.jsonl"), 0, EVENTS)
        server = Server(sortie, home)
        times = []
        for _ in range(9):
            begun = time.monotonic()
            page = server.get("/run/run")
            times.append(time.monotonic() - begun)
        memory = server.resident_mb()
        server.stop()
    points = len(json.loads(page.partition('<script id="data" type="application/json">')[2].partition("</script>")[0])["points"])
    print(f"{EVENTS:,} events: the page in {statistics.median(times):.3f} s (median of 9), {len(page) / 1024:.0f} KiB, {points} points; server {memory:.0f} MB")
    return statistics.median(times) < 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sortie")
    parser.add_argument("what", choices=["cost", "share", "clients", "events"])
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=int, default=5)
    args = parser.parse_args()
    sortie = os.path.abspath(args.sortie)
    good = {
        "cost": lambda: cost(sortie, args.rounds, args.seconds),
        "share": lambda: share(sortie, 4 * args.seconds),
        "clients": lambda: clients(sortie),
        "events": lambda: events(sortie),
    }[args.what]()
    print("ok" if good else "FAILED")
    sys.exit(0 if good else 1)


main()
