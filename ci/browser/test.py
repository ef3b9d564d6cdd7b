"""The pages in a real browser, as a person uses them: a live run whose curve grows, the slider over its moves, three
moves of LOA by clicking, an analysis with its candidates on the board, a game of a match reviewed and taken home, a
connection that is lost and caught up with, a run of 100,000 events, a proof tree of 100,000 positions opened by clicks and
by keys, a list that is sorted and grouped, scores of two aims told by both, pages of every kind of folder, every page narrow, pictures in the dark.

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
    if shots:
        os.makedirs(shots, exist_ok=True)
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
        make_routes(os.path.join(runs, "routes"))
        solve = [sortie, "solve", "samegame/1", "--time", "24h", "--threads", "1", "--best-of", "2", "--seed", "1", "--quiet"]
        run = subprocess.Popen([*solve, "--out", os.path.join(runs, "live")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server = Server(sortie, runs)
        browser = Browser()
        try:
            until(lambda: os.path.exists(os.path.join(runs, "live", "best.record")), "the run has found something")
            for test in [list_of_runs, sorted_and_grouped, routes, live_curve, slider, lost_connection, long_run, steady, proof_tree, tree_by_keys, undecided, match_page, other_folders, workers, loa, connect6, analysis, by_keyboard, dark, narrow]:
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


def make_routes(folder):
    """A search of routes, whose scores are vehicles and a distance in one number."""
    os.mkdir(folder)
    with open(os.path.join(folder, "spec.toml"), "w") as file:
        file.write('format = 1\nsortie = "0.1.0"\ninstance = "vrptw/R101"\nseed = 1\nstreams = 1\nthreads = 1\n[search]\nname = "nrpa"\nlevel = 3\n')
    found = [(0.1, -221_953.54), (1, -211_800.25), (2, -201_720.5), (5, -191_790.0), (9, -191_762.42)]
    with open(os.path.join(folder, "events.jsonl"), "w") as file:
        for i, (seconds, score) in enumerate(found):
            file.write(json.dumps({"event": "improved", "seconds": seconds, "stream": 0, "playouts": 100 * i + 1, "score": score}) + "\n")
            file.write(json.dumps({"event": "progress", "seconds": seconds, "playouts": 100 * i + 2, "best": score}) + "\n")


def make_others(sortie, runs):
    """A small folder of every other kind, by the program itself."""
    for name, line in [
        ("match", "match nim/21 --player default --player random --games 10 --limit 50playouts"),
        ("four", "match connect4/7x6 --player default --player random --games 10 --limit 50playouts"),
        ("open", "prove tictactoe/3 --job-nodes 5 --workers 1 --jobs 12"),
        ("tune", "tune nim/21 --player plain --param c=0.1..2.0 --against random --games 20 --limit 20playouts"),
        ("prove", "prove tictactoe/3 --job-nodes 20 --workers 1"),
        ("scale", "scale nim/21 --virtual --forms tds --nodes 1,2 --threads 3 --time 300us --player plain --positions 3 --games 4"),
        ("study", "paper samegame-table1 --rows 1 --time 100ms --threads 1"),
    ]:
        ran = subprocess.run([sortie, *line.split(), "--quiet", "--out", os.path.join(runs, name)], capture_output=True, text=True)
        # A question that is left open is no success.
        assert ran.returncode == int(name == "open"), ran.stderr
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


def sorted_and_grouped(browser, server):
    names = lambda: browser.run("return [...document.querySelectorAll('#runs tbody tr')].map(row => row.dataset.run)")
    browser.open(server.root + "/")
    browser.click("#runs thead a[href*='sort=run']")
    until(lambda: "sort=run" in browser.run("return location.href"), "the order is in the address")
    ours = [name for name in names() if name in ("four", "long", "match", "tree")]
    assert ours == sorted(ours), ours
    browser.click("#runs thead a[href*='sort=-run']")
    until(lambda: "sort=-run" in browser.run("return location.href"), "a second click turns it")
    assert browser.run("return document.querySelector('#runs th[aria-sort]').getAttribute('aria-sort')") == "descending"
    # The button is in sight, and says what it will do.
    label = lambda: browser.run("return document.getElementById('compare').textContent")
    assert browser.run("return document.getElementById('compare').getBoundingClientRect().bottom < innerHeight")
    assert label() == "Compare all"
    browser.click("#runs tr[data-run=long] input")
    assert label() == "Compare 1 run", label()
    browser.open(server.root + "/?group=yes&q=samegame")
    groups = browser.run("return [...document.querySelectorAll('#groups tbody tr')].map(row => row.innerText)")
    assert any("samegame/3" in group for group in groups), groups
    browser.click("#groups tbody tr input")
    browser.click("#compare")
    until(lambda: "/compare?group=" in browser.run("return location.href"), "a group is compared")
    assert "samegame" in browser.run("return document.getElementById('main').innerText")


def routes(browser, server):
    text = lambda selector: browser.run("return document.querySelector(arguments[0]).textContent", selector)
    marks = lambda: browser.run("return [...document.querySelectorAll('#curve svg text')].map(text => text.textContent)")
    browser.open(server.root + "/run/routes")
    until(lambda: "19 vehicles" in marks(), "the curve has marks of vehicles")
    assert text("#best") == "19 vehicles, distance 1762.42", text("#best")
    assert text("#gap") == "6.8 % behind the best known, 19 vehicles, distance 1650.80", text("#gap")
    # The number that a search compares is nowhere.
    for path in ["/?q=routes", "/?q=routes&group=yes", "/run/routes", "/run/routes/events", "/compare?run=routes"]:
        browser.open(server.root + path)
        until(lambda: "distance 1762.42" in browser.run("return document.body.innerText"), f"{path} tells the distance")
        raw = browser.run("return document.body.innerText.match(/[-−][12]\\d\\d,?\\d\\d\\d/)")
        assert raw is None, f"{path} shows {raw}"


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
    sizes = browser.run("return [...document.querySelectorAll('#tree tbody tr')].map(row => Number(row.cells[6].textContent.replaceAll(',', '')))")
    assert sizes[0] == POSITIONS and sum(sizes[1:]) == POSITIONS - 1, "the moves share the positions among them"
    browser.click("#tree tr[aria-expanded=false] .twist")
    until(lambda: rows() > first, "a click opens a row")
    levels = browser.run("return [...document.querySelectorAll('#tree tbody tr')].map(row => Number(row.getAttribute('aria-level')))")
    assert levels[:2] == [1, 2] and levels.count(1) == 1 and max(levels) == 3, levels[:9]
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
    # Some moves are leaves: down to one that opens.
    while browser.run("return document.activeElement.getAttribute('aria-expanded')") != "false":
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


def undecided(browser, server):
    """What is known of a question that is not decided, and the same numbers as in the terminal."""
    browser.open(server.root + "/run/open")
    headline = browser.run("return document.getElementById('headline').textContent")
    assert headline.startswith(("Not decided yet", "Proved so far")), headline
    with open(os.path.join(server.command[2], "open", "result.json")) as file:
        told = json.load(file)["root_moves"]
    rows = browser.run("return [...document.querySelectorAll('#tree tbody tr')].slice(1).map(row => [...row.cells].map(cell => cell.textContent.trim()))")
    assert [row[0] for row in rows] == [move["move"] for move in told], "the same order"
    infinite = lambda number: "∞" if number is None else str(number)
    for row, move in zip(rows, told):
        assert abs(float(row[3].split()[0]) - 100 * move["value"]) < 0.06, (row, move)
        assert row[4:6] == [infinite(move["proof"]), infinite(move["disproof"])], (row, move)


def match_page(browser, server):
    browser.open(server.root + "/run/four")
    text = browser.run("return document.getElementById('main').innerText")
    for says in ["default", "Score", "nElo", "LOS", "Pairs of games", "Cross-table"]:
        assert says in text, f"{says}: {text[:400]}"
    assert "stronger" in browser.run("return document.querySelector('#verdict .headline').textContent")
    assert browser.run("return document.querySelectorAll('.bar').length") == 5
    browser.click("button.copy")
    until(lambda: browser.run("return document.querySelector('button.copy').textContent") != "Copy", "the button answers")
    browser.click("td.number a[href*='/game/']")
    until(lambda: browser.run("return document.querySelector('#board svg') !== null"), "the game is drawn at its end")
    ends = browser.run("return [...document.querySelectorAll('.downloads a')].map(a => a.getAttribute('href'))")
    taken = {end.rsplit(".", 1)[1]: browser.run("return fetch(arguments[0]).then(answer => answer.text())", end) for end in ends}
    assert taken["sgf"].startswith("(;FF[4]") and "[Result" in taken["txt"] and taken["record"].startswith("sortie record 1")
    moves = int(browser.run("return document.getElementById('slider').max"))
    # One click leads to its analysis: the game is on the board, and what is thought of it.
    browser.click("#analyse")
    until(lambda: int(browser.run("return document.body.dataset.moves") or 0) == moves, "the whole game is on the board")
    browser.run("const s = document.getElementById('seconds'); s.value = '0.3'; s.dispatchEvent(new Event('change'))")
    browser.click("#review")
    until(lambda: browser.run("return document.body.dataset.reviewed") is not None, "every position was looked at")
    assert browser.run("return document.getElementById('review-said').textContent").startswith("Reviewed:")
    assert browser.run("return document.querySelector('#graph path.line') !== null"), "the value over the moves"
    browser.click("#begin")
    until(lambda: browser.run("return document.body.dataset.moves") == "0", "the beginning of the game")


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


def connect6(browser, server):
    """The game's own engine answers, on a board of lines with stones of two colours."""
    browser.open(server.root + "/play/connect6%2F9")
    turn = lambda: browser.run("return document.body.dataset.turn")
    until(lambda: turn() == "you", "it is our move")
    assert browser.run("return document.getElementById('player').value") == "engine"
    assert browser.run("return document.querySelectorAll('#board svg polyline').length") == 18, "lines both ways"
    browser.run("const s = document.getElementById('seconds'); s.value = '0.3'; s.dispatchEvent(new Event('change'))")
    until(lambda: turn() == "you", "still our move")
    browser.click(".spot[data-spot='e5']")
    until(lambda: browser.run("return document.body.dataset.moves") == "3" and turn() == "you", "the engine has set two stones")
    fills = browser.run("return [...document.querySelectorAll('#board svg circle[stroke]:not(.spot)')].map(c => c.getAttribute('fill'))")
    assert sorted(fills) == ["#232329", "#f8f7f3", "#f8f7f3"], fills


def analysis(browser, server):
    browser.open(server.root + "/play/loa%2F8#side=both&seconds=0.3&analyse=on&at=1&moves=b1-b3 a2-c2")
    until(lambda: int(browser.run("return document.body.dataset.candidates") or 0) > 0, "candidates are drawn")
    drawn = browser.run("return [...document.querySelectorAll('.candidates text')].map(text => text.textContent)")
    assert drawn and all(text.isdigit() or text in ("win", "draw", "loss") for text in drawn), drawn
    assert browser.run("return document.querySelectorAll('.candidates .best').length") >= 1
    until(lambda: browser.run("return document.body.dataset.thought") == "1", "the thought has ended")
    browser.click("#forth")
    until(lambda: browser.run("return document.body.dataset.moves") == "2", "the next move of the game")
    until(lambda: browser.run("return document.body.dataset.thought") == "2", "which is looked at as well")
    assert "at=" not in browser.run("return location.hash")
    assert browser.run("return document.querySelectorAll('#moves button').length") == 2


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


def dark(browser, server):
    """No white slabs in the dark: neither the ground of a drawing nor that of a page."""
    light = "return [...document.querySelectorAll(arguments[0])].map(e => getComputedStyle(e)[arguments[1]].match(/[0-9]+/g).slice(0, 3).map(Number)).filter(([r, g, b]) => r + g + b > 600).length"
    for path, grounds in [("/play", "[fill='#fffdf8']"), ("/play/loa%2F8", "#board svg > rect:first-of-type"), ("/run/live", "#board svg > rect:first-of-type")]:
        browser.look(dark=True)
        browser.open(server.root + path)
        until(lambda: browser.run("return document.querySelectorAll(arguments[0]).length", grounds), f"drawings on {path}")
        assert browser.run(light, grounds, "fill") == 0, path
        assert browser.run(light, "body, .card, .thumb", "backgroundColor") == 0, path
    browser.look()


def narrow(browser, server):
    for path in ["/", "/run/live", "/run/long/events", "/compare", "/play", "/play/loa%2F8", "/run/none", "/run/tree", "/run/tune", "/run/scale", "/run/study", "/run/match", "/run/four", "/run/open", "/?group=yes", "/run/games", "/run/training", "/run/iteration", "/run/prove/workers", "/run/live/workers"]:
        browser.look(width=360, height=740)
        browser.open(server.root + path)
        wide = browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{path} is {wide} px too wide for a phone"
        # What is written in charts can be read: letters of at least nine pixels.
        small = "return [...document.querySelectorAll('svg.chart text')].map(text => text.getBoundingClientRect().height).filter(height => height > 0 && height < 9).length"
        assert browser.run(small) == 0, f"{path} has labels that nobody can read on a phone"
    browser.complaints()  # the page of a run that is not there is a 404


def screenshots(browser, server, folder):
    for name, path in [("runs", "/"), ("run", "/run/live"), ("compare", "/compare"), ("play", "/play"), ("loa", "/play/loa%2F8"), ("tree", "/run/tree"), ("prove", "/run/prove"), ("open", "/run/open"), ("match", "/run/four"), ("groups", "/?group=yes"), ("connect6", "/play/connect6%2F19#side=both&player=default&analyse=on&moves=j10 k10 i9"), ("hex", "/play/hex%2F11"), ("tune", "/run/tune"), ("scale", "/run/scale"), ("study", "/run/study"), ("games", "/run/games"), ("training", "/run/training"), ("iteration", "/run/iteration"), ("workers", "/run/prove/workers"), ("threads", "/run/live/workers")]:
        for look, width, dark in [("light", 1280, False), ("dark", 1280, True), ("phone", 390, False), ("phone-dark", 390, True)]:
            browser.look(width, 900, dark)
            browser.open(server.root + path)
            time.sleep(1)
            browser.picture(os.path.join(folder, f"{name}-{look}.png"))


main()
