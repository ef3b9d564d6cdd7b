"""The pages in a real browser, as a person uses them: a live run whose curve grows, the slider over its moves, three
moves of LOA by clicking, a connection that is lost and caught up with, a run of 100,000 events, a proof tree of 100,000
positions opened by clicks and by keys, pages of every kind of folder, every page narrow.

    test.py SORTIE [FOLDER FOR SCREENSHOTS]
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from driver import Browser, free_port, until

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
from prooftree import make as make_tree

# What a browser says when a server goes away, which one test is about.
LOST = ("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE")
EVENTS = 100_000
POSITIONS = 100_000
RIGHT, LEFT, UP, DOWN, HOME = "\ue014", "\ue012", "\ue013", "\ue015", "\ue011"


class Server:
    def __init__(self, sortie, folder):
        self.command, self.port = [sortie, "serve", folder], free_port()
        self.root = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [*self.command, "--port", str(self.port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout.readline().strip() == self.root

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=300)


def main():
    sortie = os.path.abspath(sys.argv[1])
    shots = sys.argv[2] if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory(prefix="sortie-pages-") as home:
        runs = os.path.join(home, "runs")
        os.mkdir(runs)
        make_long_run(os.path.join(runs, "long"))
        os.mkdir(os.path.join(runs, "<b>not bold<"))
        with open(os.path.join(runs, "<b>not bold<", "spec.toml"), "w") as file:
            file.write("format = 1\ninstance = ")
        make_tree(os.path.join(runs, "tree"), POSITIONS)
        make_others(sortie, runs)
        make_learning(runs)
        solve = [sortie, "solve", "samegame/1", "--time", "24h", "--threads", "1", "--best-of", "2", "--seed", "1", "--quiet"]
        run = subprocess.Popen([*solve, "--out", os.path.join(runs, "live")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server = Server(sortie, runs)
        browser = Browser()
        try:
            until(lambda: os.path.exists(os.path.join(runs, "live", "best.record")), "the run has found something")
            for test in [list_of_runs, live_curve, slider, lost_connection, long_run, steady, proof_tree, tree_by_keys, other_folders, workers, loa, by_keyboard, narrow]:
                begun = time.monotonic()
                browser.look()
                test(browser, server)
                but = LOST if test is lost_connection else ()
                assert not (bad := browser.complaints(but)), bad
                print(f"{test.__name__:16} ok  {time.monotonic() - begun:5.1f} s")
            if shots:
                screenshots(browser, server, shots)
        except AssertionError:
            browser.picture(os.path.join(shots or tempfile.gettempdir(), "failed.png"))
            raise
        finally:
            browser.close()
            run.kill()
            run.wait()
            server.stop()


def event(i):
    return json.dumps({"event": "progress", "seconds": i, "cpu_seconds": i, "playouts": 1000 * i, "best": 1000 + int(i**0.5)}) + "\n"


def make_long_run(folder, count=EVENTS):
    os.mkdir(folder)
    with open(os.path.join(folder, "spec.toml"), "w") as file:
        file.write('format = 1\nsortie = "0.1.0"\ninstance = "samegame/3"\nseed = 1\nstreams = 1\nthreads = 1\n[search]\nname = "nrpa"\nlevel = 4\n')
    with open(os.path.join(folder, "events.jsonl"), "w") as file:
        file.writelines(event(i) for i in range(count))


def make_others(sortie, runs):
    """A small folder of every other kind, by the program itself."""
    for name, line in [
        ("match", "match nim/21 --player default --player random --games 10 --limit 50playouts"),
        ("tune", "tune nim/21 --player plain --param c=0.1..2.0 --against random --games 20 --limit 20playouts"),
        ("prove", "prove tictactoe/3 --job-nodes 20 --workers 1"),
        ("scale", "scale nim/21 --virtual --forms tds --nodes 1,2 --threads 3 --time 300us --player plain --positions 3 --games 4"),
        ("study", "reproduce samegame-table1 --rows 1 --time 100ms --threads 1"),
    ]:
        subprocess.run([sortie, *line.split(), "--quiet", "--out", os.path.join(runs, name)], check=True, capture_output=True)
    with open(os.path.join(runs, "prove", "workers.jsonl"), "w") as file:
        for worker, state, reason, job in [("node<1>", "working", None, 17), ("node2", "idle", "waits for a job", None), ("laptop", "gone", "asked to stop", None)]:
            line = {"time": "2026-11-16T07:00:00Z", "worker": worker, "cores": 4, "state": state, "reason": reason, "job": job, "done": 204, "cpu_seconds": 1632.5}
            file.write(json.dumps(line) + "\n")


def make_learning(runs):
    """What goes with networks, which the build under test need not have: the files that `data`, `train` and `exit` write."""
    picture = '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><rect width="60" height="40" fill="teal"/></svg>'
    marks = {"loss": 1.5, "top1": 0.4125, "top3": 0.75}
    game = {"search": "nrpa level 2", "score": 68.0, "playouts": 10000, "cpu_seconds": 0.1, "moves": "7,9:H4 7,2:DN2"}
    for name, spec, lines, pictures in [
        ("games", "data.toml", ("games.jsonl", [{"seed": i, **game} for i in range(40)]), ["diversity.svg"]),
        ("training", "train.toml", ("curve.jsonl", [{"epoch": i, "train": marks, "test": marks, "lr": 0.003, "seconds": 2.5} for i in (1, 2, 3)]), ["loss.svg", "accuracy.svg"]),
        ("iteration", "exit.toml", ("curve.jsonl", [{"round": i, "seconds": 60.0 * i, "expert": [61.5, 66], "network": [48.25, 60], "best": 66} for i in (1, 2)]), ["curve.svg"]),
    ]:
        folder = os.path.join(runs, name)
        os.mkdir(folder)
        with open(os.path.join(folder, spec), "w") as file:
            file.write('format = 1\ninstance = "morpion/5D"\n')
        with open(os.path.join(folder, lines[0]), "w") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines[1])
        for each in pictures:
            with open(os.path.join(folder, each), "w") as file:
                file.write(picture)


def list_of_runs(browser, server):
    browser.open(server.root + "/")
    rows = until(lambda: browser.run("return [...document.querySelectorAll('#runs tbody tr')].map(row => row.innerText)"), "rows")
    assert any("live" in row and "running" in row for row in rows), rows
    assert any("<b>not bold<" in row for row in rows), "a name with markup is shown as it is"
    before = browser.run("return document.querySelector('#runs tr[data-run=live]').innerText")
    changed = "return document.querySelector('#runs tr[data-run=live]').innerText !== arguments[0]"
    until(lambda: browser.run(changed, before), "the row of the live run changes by itself")


def live_curve(browser, server):
    browser.open(server.root + "/run/live")
    points = lambda: int(browser.run("return document.getElementById('curve').dataset.points") or 0)
    seen = until(points, "the curve is drawn")
    until(lambda: points() > seen + 2, "the curve grows")
    assert browser.run("return document.querySelector('#state .pill').dataset.state") == "running"
    assert browser.run("return document.getElementById('rate').textContent").strip() not in ("", "–")


def slider(browser, server):
    after = lambda: browser.run("return document.getElementById('board').dataset.after")
    until(lambda: after() is not None, "the solution is drawn")
    browser.run("const s = document.getElementById('slider'); s.value = 5; s.dispatchEvent(new Event('input'))")
    until(lambda: after() == "5", "the board after five moves")
    tiles = "return document.querySelectorAll('#board svg rect').length"
    full = browser.run(tiles)
    browser.run("const s = document.getElementById('slider'); s.value = 30; s.dispatchEvent(new Event('input'))")
    until(lambda: after() == "30", "the board after thirty moves")
    assert browser.run(tiles) < full, "tiles went"
    browser.click("#forth")
    until(lambda: after() == "31", "one move further")


def written(server):
    """The events of the live run that are on the disk."""
    with open(os.path.join(server.command[2], "live", "events.jsonl")) as file:
        return sum(1 for _ in file)


def lost_connection(browser, server):
    browser.open(server.root + "/run/live")
    events = lambda: int(browser.run("return document.body.dataset.events") or 0)
    until(events, "events are told")
    server.stop()
    until(lambda: browser.run("return !document.getElementById('link').hidden"), "the page says that the connection is lost")
    at_stop = events()
    until(lambda: written(server) >= at_stop + 3, "the run writes on")
    server.start()
    until(lambda: browser.run("return document.getElementById('link').hidden"), "the page has come back")
    until(lambda: events() >= at_stop + 3, "the page has caught up")
    # Nothing is missing and nothing twice: what the page has counted is what the file had when it was drawn.
    count = written(server)
    until(lambda: count <= events() <= count + 30, "as many events as were written")
    assert browser.run("return performance.getEntriesByType('navigation')[0].type") == "navigate", "it was not reloaded"


def long_run(browser, server):
    begun = time.monotonic()
    browser.open(server.root + "/run/long")
    until(lambda: int(browser.run("return document.getElementById('curve').dataset.points") or 0) > 100, "the long curve")
    spent = time.monotonic() - begun
    # The time is told and not judged: machines differ. What would make it long is too much to send and to draw.
    sizes = "return performance.getEntries().reduce((sum, entry) => sum + (entry.encodedBodySize || 0), 0)"
    sent, points = browser.run(sizes), int(browser.run("return document.getElementById('curve').dataset.points"))
    print(f"{EVENTS} events open in {spent:.2f} s, {sent} bytes, {points} points")
    assert sent < 1_000_000 and points <= 3000, f"{EVENTS} events are {sent} bytes and {points} points"
    last = browser.run("return document.getElementById('curve').dataset.last")
    assert last.startswith(f"{EVENTS - 1},"), last


def steady(browser, server):
    """Many updates do not make the page grow: 60 a second for minutes, sent as fast as they can be shown."""
    folder = os.path.join(server.command[2], "fast")
    make_long_run(folder, 100)
    browser.open(server.root + "/run/fast")
    points = lambda: int(browser.run("return document.getElementById('curve').dataset.points") or 0)
    until(points, "the curve")
    heap = []
    for burst in range(1, 13):
        with open(os.path.join(folder, "events.jsonl"), "a") as file:
            for i in range(1500 * burst, 1500 * (burst + 1)):
                file.write(event(i))
        last = f"{1500 * (burst + 1) - 1},"
        until(lambda: browser.run("return document.getElementById('curve').dataset.last").startswith(last), "the burst is shown")
        if burst in (6, 12):
            browser.chrome("HeapProfiler.collectGarbage")
            heap.append(browser.chrome("Runtime.getHeapUsage")["usedSize"] / 2**20)
    assert points() <= 3000, points()
    print(f"heap after 9,000 updates {heap[0]:.1f} MiB, after 18,000 {heap[1]:.1f} MiB")
    assert heap[1] < heap[0] + 1, heap


ROWS = "return document.querySelectorAll('#tree tbody tr').length"


def proof_tree(browser, server):
    browser.open(server.root + "/run/tree")
    rows = lambda: browser.run(ROWS)
    first = until(lambda: rows() > 1 and rows(), "the root and its moves")
    assert browser.run("return document.getElementById('size').textContent") == f"{POSITIONS:,}"
    sizes = browser.run("return [...document.querySelectorAll('#tree tbody tr')].map(row => Number(row.cells[4].textContent.replaceAll(',', '')))")
    assert sizes[0] == POSITIONS and sum(sizes[1:]) == POSITIONS - 1, "the moves share the positions among them"
    browser.click("#tree tr[aria-expanded=false] .twist")
    until(lambda: rows() > first, "a click opens a row")
    levels = browser.run("return [...document.querySelectorAll('#tree tbody tr')].map(row => Number(row.getAttribute('aria-level')))")
    assert levels[:3] == [1, 2, 3] and max(levels) == 3, levels[:9]
    until(lambda: browser.run("return document.querySelector('#board svg') !== null"), "the position is drawn")
    browser.click("#tree tr[aria-level='2'][aria-expanded=true] .twist")
    assert rows() == first, "a click closes it"
    # A link leads to any place of the tree, and the way back is shown.
    browser.click("#tree tr[aria-level='2'] a")
    until(lambda: "?at=" in browser.run("return location.href"), "the position at the top")
    assert browser.run("return document.querySelectorAll('.crumbs a').length") >= 3


def tree_by_keys(browser, server):
    browser.open(server.root + "/run/tree")
    until(lambda: browser.run(ROWS) > 1, "the tree")
    focus = "#tree tr[tabindex='0']"
    level = lambda: int(browser.run("return document.activeElement.getAttribute('aria-level')") or 0)
    browser.press(focus, DOWN)
    assert level() == 2
    before = browser.run(ROWS)
    browser.press(focus, RIGHT)
    until(lambda: browser.run(ROWS) > before, "the right arrow opens")
    browser.press(focus, RIGHT)
    assert level() == 3, "and then goes in"
    browser.press(focus, LEFT)
    assert level() == 2, "the left one goes up"
    browser.press(focus, LEFT)
    assert browser.run(ROWS) == before, "and then closes"
    browser.press(focus, HOME)
    assert level() == 1
    assert browser.run("return document.querySelectorAll('#tree tr[tabindex=\"0\"]').length") == 1, "one row is in the order of Tab"


def other_folders(browser, server):
    for name, says in [
        ("match", "Cross-table"), ("tune", "Parameters"), ("prove", "a draw"), ("scale", "modelled-nodes"), ("study", "runs done"), ("games", "40 games"), ("training", "test top1"), ("iteration", "48.25 / 60"), ("%3Cb%3Enot%20bold%3C", "is damaged"),
    ]:
        browser.open(server.root + f"/run/{name}")
        text = browser.run("return document.getElementById('main').innerText")
        assert says in text, f"{name}: {text[:400]}"
        # Pictures of a folder are loaded, not only named.
        broken = "return [...document.images].filter(image => { image.loading = 'eager'; return image.complete && !image.naturalWidth; }).length"
        assert browser.run(broken) == 0, name


def workers(browser, server):
    browser.open(server.root + "/run/prove/workers")
    text = browser.run("return document.getElementById('main').innerText")
    for says in ["3 workers", "node<1>", "the run does not go on", "asked to stop"]:
        assert says in text, f"{says}: {text}"
    browser.open(server.root + "/run/live/workers")
    assert "Threads" in browser.run("return document.getElementById('main').innerText")


def loa(browser, server):
    browser.open(server.root + "/play/loa%2F8")
    moves = lambda: int(browser.run("return document.body.dataset.moves") or 0)
    turn = lambda: browser.run("return document.body.dataset.turn")
    browser.run("const s = document.getElementById('seconds'); s.value = '0.3'; s.dispatchEvent(new Event('change'))")
    for n in range(3):
        until(lambda: turn() == "you" and moves() == 2 * n, "it is our move")
        start = browser.run("return document.querySelector('.spot').dataset.spot")
        browser.click(f".spot[data-spot='{start}']")
        target = until(lambda: browser.run("return document.querySelector('.spot.target')?.dataset.spot"), "places to go to")
        browser.click(f".spot.target[data-spot='{target}']")
        until(lambda: moves() >= 2 * n + 1, "the move is played")
    until(lambda: turn() == "you" and moves() == 6, "the engine has answered three times")
    assert browser.run("return document.querySelectorAll('#lines tbody tr').length") > 0, "its thoughts are shown"
    assert "simulations" in browser.run("return document.getElementById('opinion').textContent")
    address = browser.run("return location.href")
    browser.open("about:blank")
    browser.open(address)
    until(lambda: moves() == 6, "the game is in the address")
    browser.click("#undo")
    until(lambda: moves() == 4, "a move and its answer are taken back")


def by_keyboard(browser, server):
    browser.open(server.root + "/play/connect4%2F7x6")
    moves = lambda: int(browser.run("return document.body.dataset.moves") or 0)
    until(lambda: browser.run("return document.body.dataset.turn") == "you", "it is our move")
    browser.press("#word", "d\ue007")
    until(lambda: moves() >= 1, "a typed move is played")
    browser.open(server.root + "/run/long")
    until(lambda: browser.run("return document.getElementById('curve').dataset.points"), "the curve")
    browser.press("#curve", "\ue012\ue012")
    until(lambda: browser.run("return !document.querySelector('#curve .tip').hidden"), "arrow keys move the cursor")


def narrow(browser, server):
    for path in ["/", "/run/live", "/run/long/events", "/compare", "/play", "/play/loa%2F8", "/run/none", "/run/tree", "/run/tune", "/run/scale", "/run/study", "/run/match", "/run/games", "/run/training", "/run/iteration", "/run/prove/workers", "/run/live/workers"]:
        browser.look(width=360, height=740)
        browser.open(server.root + path)
        wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{path} is {wide} px too wide for a phone"
    browser.complaints()  # the page of a run that is not there is a 404


def screenshots(browser, server, folder):
    os.makedirs(folder, exist_ok=True)
    for name, path in [("runs", "/"), ("run", "/run/live"), ("compare", "/compare"), ("play", "/play"), ("loa", "/play/loa%2F8"), ("tree", "/run/tree"), ("prove", "/run/prove"), ("tune", "/run/tune"), ("scale", "/run/scale"), ("study", "/run/study"), ("games", "/run/games"), ("training", "/run/training"), ("iteration", "/run/iteration"), ("workers", "/run/prove/workers"), ("threads", "/run/live/workers")]:
        for look, width, dark in [("light", 1280, False), ("dark", 1280, True), ("phone", 390, False), ("phone-dark", 390, True)]:
            browser.look(width, 900, dark)
            browser.open(server.root + path)
            time.sleep(1)
            browser.picture(os.path.join(folder, f"{name}-{look}.png"))


main()
