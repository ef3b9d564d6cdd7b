"""Yours: every search takes a class, says what is wrong with one, and keeps what it found."""

import os
import random
import signal
import threading
import time

import pytest
from problems import InPlace, Knapsack, TicTacToe

import sortie_search as so


def solve(problem, **given):
    given = {"search": "nrpa", "level": 2, "iterations": 40, "seed": 1, **given}
    return so.solve(problem, **given)


@pytest.mark.parametrize("search", ["nrpa", "hd-nrpa", "beam-nrpa", "nmcs", "beam", "sample"])
def test_every_search_takes_a_class(search):
    found = so.solve(Knapsack(), search=search, stop=so.playouts(800), seed=2)
    assert found.score == found.state[2] == so.verify(found, problem=Knapsack())
    assert found.moves == [int(word) for word in found.words]
    assert found.playouts >= 800 or search == "beam"


def test_nrpa_finds_the_optimum():
    assert solve(Knapsack(), iterations=100).score == Knapsack().optimum()


def test_play_in_place_gives_the_same():
    class Copied(InPlace):
        def play(self, state, move):
            return super().play(list(state), move)

    assert solve(InPlace(), copy=False).words == solve(Copied()).words


def test_workers_do_not_change_the_answer():
    alone = solve(Knapsack(), streams=4)
    assert solve(Knapsack(), streams=4, workers=2).words == alone.words
    assert solve(Knapsack(), streams=4, workers=3).playouts == alone.playouts


def test_promise_and_bias_are_used():
    class Promising(Knapsack):
        def promise(self, state):
            return state[2] + 1.2 * (self.room - state[1])

        def bias(self, state, move):
            weight, value = self.things[state[0]]
            return 3 * move * (value / weight - 1)

    wide = so.solve(Promising(), search="beam", width=200, seed=1)
    assert wide.score >= 0.95 * Knapsack().optimum()
    few = so.playouts(30)
    means = [sum(so.solve(p, search="sample", stop=few, seed=s).score for s in range(5)) for p in (Knapsack(), Promising())]
    biased = sum(solve(Promising(), bias=True, stop=few, seed=s).score for s in range(5))
    assert biased > max(means)


def test_keys_join_positions_and_calls_are_few():
    calls = [0]

    class Counted(Knapsack):
        def play(self, state, move):
            calls[0] += 1
            return super().play(state, move)

    found = solve(Counted(), iterations=60)
    assert found.playouts == 3600
    assert calls[0] < 3600 * 30 / 5


def test_render_is_shown():
    class Drawn(Knapsack):
        def render(self, state):
            return f'<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><text>{state[2]}</text></svg>'

    found = solve(Drawn())
    assert f"<text>{found.score:.0f}</text>" in found._repr_svg_()
    assert found._repr_svg_() in found._repr_html_()


class Raising(Knapsack):
    """Raises after so many calls of a method."""

    def __init__(self, method, after):
        super().__init__()
        self.method, self.after, self.calls = method, after, 0

    def _count(self, method):
        self.calls += method == self.method
        if method == self.method and self.calls > self.after:
            raise KeyError(f"no {method} any more")

    def initial(self):
        self._count("initial")
        return super().initial()

    def moves(self, state):
        self._count("moves")
        return super().moves(state)

    def play(self, state, move):
        self._count("play")
        return super().play(state, move)

    def score(self, state):
        self._count("score")
        return super().score(state)

    def code(self, state, move):
        self._count("code")
        return super().code(state, move)


@pytest.mark.parametrize("method", ["moves", "play", "score", "code"])
@pytest.mark.parametrize("search", ["nrpa", "nmcs", "beam"])
def test_an_exception_ends_the_search_and_what_was_found_is_kept(method, search):
    after = 40 if method == "score" else 2000
    with pytest.raises(so.ProblemError) as caught:
        so.solve(Raising(method, after), search=search, stop=so.playouts(100000), seed=1)
    cause = caught.value.__cause__
    assert isinstance(cause, KeyError) and f"no {method} any more" in str(cause)
    names = []
    trace = cause.__traceback__
    while trace is not None:
        names.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    assert method in names
    assert caught.value.result.score > 0 and len(caught.value.result.words) == 30


def test_an_exception_in_a_worker_names_the_method():
    with pytest.raises(so.ProblemError, match="no score any more") as caught:
        so.solve(Raising("score", 40), search="nrpa", level=2, stop=so.playouts(10**6), workers=2, seed=1)
    assert "in score" in str(caught.value.__cause__.__cause__)
    assert caught.value.result.score > 0


def broken(**methods):
    """A knapsack with other methods."""
    return type("Broken", (Knapsack,), methods)()


NONSENSE = [
    ({"score": lambda self, s: float("nan")}, "finite"),
    ({"score": lambda self, s: "much"}, "expected a number"),
    ({"score": lambda self, s: None}, "expected a number"),
    ({"moves": lambda self, s: 7}, "expected a list of moves"),
    ({"moves": lambda self, s: [[1]]}, "cannot be hashed"),
    ({"moves": lambda self, s: [object()]}, "another in every process"),
    ({"moves": lambda self, s: [0]}, "no end"),
    ({"play": lambda self, s, m: None}, "copy=False"),
    ({"code": lambda self, s, m: [1]}, "unhashable"),
    ({"code": lambda self, s, m: float("nan")}, "nan"),
    ({"key": lambda self, s: {}}, "cannot be hashed"),
    ({"bias": lambda self, s, m: "x"}, "expected a number"),
]


@pytest.mark.parametrize("methods, said", NONSENSE)
def test_nonsense_is_a_clear_exception(methods, said):
    problem = broken(**methods)
    if said == "no end":
        problem.play = lambda s, m: (s[0] + 1, s[1], s[2])
    with pytest.raises(so.ProblemError, match=said):
        so.solve(problem, search="nrpa", level=1, bias="bias" in methods, seed=1)


def test_no_moves_at_all_is_an_end():
    found = so.solve(broken(moves=lambda self, s: []), search="nrpa", level=1, seed=1)
    assert (found.score, found.words) == (0, [])


def test_missing_methods_and_classes_for_objects():
    with pytest.raises(TypeError, match="no method score"):
        so.solve(type("Bare", (), {n: getattr(Knapsack, n) for n in ("initial", "moves", "play")})())
    with pytest.raises(TypeError, match=r"Knapsack\(\)"):
        so.solve(Knapsack)


def test_moves_that_change_between_calls_are_told_of():
    class Fickle(Knapsack):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def moves(self, state):
            self.calls += 1
            listed = super().moves(state)
            return [move + 2 * (self.calls % 2) for move in listed]

        def play(self, state, move):
            return super().play(state, move % 2)

    with pytest.raises(so.ProblemError, match="the same every time|not legal there"):
        so.solve(Fickle(), search="nrpa", level=1, seed=1)
    with pytest.raises(so.CheckError, match="lists other moves"):
        so.check(Fickle())


def test_ctrl_c_keeps_the_best_here_and_in_workers():
    for workers in (1, 2):
        found = []

        class Slow(Knapsack):
            def score(self, state):
                if threading.current_thread() is threading.main_thread():
                    time.sleep(0)
                return super().score(state)

        def on(best, found=found):
            found.append(best)
            if len(found) == 2:
                os.kill(os.getpid(), signal.SIGINT)

        result = so.solve(Slow(), search="sample", stop=so.seconds(60), seed=1, workers=workers, on=on)
        assert result.reason == "asked" and result.score >= found[1].score


class Deadly(Knapsack):
    """Kills its process, so many times in all: the file counts."""

    def __init__(self, file, times):
        super().__init__()
        self.file, self.times, self.calls, self.parent = file, times, 0, os.getpid()

    def score(self, state):
        self.calls += 1
        time.sleep(0.001)  # Long enough for a word of what was found.
        if self.calls == 60 and os.getpid() != self.parent:
            with open(self.file, "a") as file:
                file.write("x")
            if os.path.getsize(self.file) <= self.times:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().score(state)


def test_a_killed_worker_is_begun_again(tmp_path):
    with pytest.warns(RuntimeWarning, match="signal 9"):
        found = so.solve(Deadly(tmp_path / "a", 1), search="nrpa", level=2, iterations=20, workers=2, seed=1)
    assert found.words == so.solve(Knapsack(), search="nrpa", level=2, iterations=20, streams=2, seed=1).words


@pytest.mark.filterwarnings("ignore:worker process")
def test_a_worker_that_dies_again_and_again_is_an_exception(tmp_path):
    with pytest.raises(so.ProblemError, match="died") as caught:
        so.solve(Deadly(tmp_path / "a", 10**6), search="nrpa", level=2, workers=2, seed=1)
    assert caught.value.result.score > 0


def test_a_game_is_analysed_matched_and_proved():
    game = TicTacToe()
    so.check(game)
    board = [0, 3, 1]  # The first player takes the row.
    thought = so.analyse(game, moves=board + [4], stop=so.playouts(300))
    assert thought.best == 2 and thought.proved == "first"
    proof = so.prove(game, moves=board)
    assert proof.winner in (0, 1, "draw")
    played = so.match(game, "default", {"preset": "plain", "c": 0.1}, games=4, stop=so.playouts(60), seed=1)
    again = so.match(game, "default", {"preset": "plain", "c": 0.1}, games=4, stop=so.playouts(60), seed=1, workers=2)
    assert played.games == 4 and played.moves == again.moves
    strong = so.match(game, games=10, stops=(so.playouts(300), so.playouts(1)), seed=2)
    assert strong.wins > strong.losses


def test_an_exception_in_a_game_is_raised():
    class Bad(TicTacToe):
        def outcome(self, state):
            if sum(map(bool, state)) > 4:
                raise RuntimeError("too full")
            return super().outcome(state)

    class Stuck(TicTacToe):
        def moves(self, state):
            return [] if state[4] else super().moves(state)

    with pytest.raises(RuntimeError, match="too full"):
        so.analyse(Bad(), stop=so.playouts(500))
    with pytest.raises(ValueError, match="who has no move"):
        so.analyse(Stuck(), stop=so.playouts(500))
    with pytest.raises(RuntimeError, match="too full"):
        so.match(Bad(), games=2, stop=so.playouts(20), workers=2, seed=1)
    with pytest.raises(so.CheckError, match="no moves and no outcome"):
        so.check(Stuck())


class Listed(TicTacToe):
    """With states that cannot be hashed, so that nothing of a playout is remembered."""

    def initial(self):
        return list(super().initial())

    def play(self, state, move):
        return list(super().play(state, move))


class Moved(Listed):
    """With one board that is changed."""

    def play(self, state, move):
        state[move] = self.to_move(state) + 1


class Careless(TicTacToe):
    """Lists moves of a game that is over."""

    def moves(self, state):
        return [i for i in range(9) if state[i] == 0]


class Strict(TicTacToe):
    """Does not want to be asked about a game that is over."""

    def moves(self, state):
        assert self.outcome(state) is None
        return super().moves(state)


@pytest.mark.parametrize("player", ["plain", "default", {"preset": "plain", "draws": 2}])
def test_a_playout_is_the_same_whatever_is_remembered_of_it(player):
    def lines(game, **given):
        return so.analyse(game, moves=[4], stop=so.playouts(2000), player=player, seed=3, **given).lines

    expected = lines(TicTacToe())
    assert expected[0].visits < 2000 or player == "default"
    for game in (Listed(), Careless(), Strict()):
        assert lines(game) == expected, type(game).__name__
    assert lines(Moved(), copy=False) == expected


class Together(TicTacToe):
    """Plays many positions out at once."""

    def __init__(self):
        self.most = 0

    def playouts(self, states, seed):
        self.most = max(self.most, len(states))
        chance = random.Random(seed)
        return [self._end(state, chance) for state in states]

    def _end(self, state, chance):
        while (outcome := self.outcome(state)) is None:
            state = self.play(state, chance.choice(self.moves(state)))
        return outcome


def test_positions_in_flight_are_played_out_together():
    game = Together()
    so.check(game)
    thought = so.analyse(game, moves=[0, 3, 1, 4], stop=so.playouts(8000), player="plain", seed=1)
    # Those that met an end of the game on their way need no playout.
    assert 64 < game.most <= 256 and thought.best == 2 and thought.playouts == 8000
    assert so.analyse(Together(), moves=[0, 3, 1, 4], stop=so.playouts(8000), player="plain", seed=1).lines == thought.lines
    few = Together()
    so.match(few, games=2, stop=so.playouts(320), seed=1)
    assert 5 < few.most <= 20
    for given, said in [
        (lambda self, states, seed: [0.5], "values for"),
        (lambda self, states, seed: [2.0] * len(states), "from 0 to 1"),
        (lambda self, states, seed: [float("nan")] * len(states), "from 0 to 1"),
        (lambda self, states, seed: None, "expected"),
        (lambda self, states, seed: 1 / 0, "division"),
    ]:
        bad = type("Bad", (TicTacToe,), {"playouts": given})()
        with pytest.raises((TypeError, ValueError, ZeroDivisionError), match=said):
            so.analyse(bad, stop=so.playouts(2000))
        with pytest.raises(so.CheckError, match="playouts"):
            so.check(bad)


def test_an_exception_in_a_playout_names_method_and_place():
    class Late(Listed):
        def moves(self, state):
            if sum(map(bool, state)) == 6:
                raise RuntimeError("six stones")
            return super().moves(state)

    with pytest.raises(RuntimeError, match="six stones") as caught:
        so.analyse(Late(), stop=so.playouts(5000), player="plain")
    if hasattr(caught.value, "__notes__"):
        assert any("in Late.moves" in note for note in caught.value.__notes__)
    for method, said in [
        ({"play": lambda self, s, m: None}, "returned None"),
        ({"play": lambda self, s, m: s}, "the state it was given"),
        ({"moves": lambda self, s: 7}, "expected a list"),
        ({"outcome": lambda self, s: 2}, "1, 0.5 or 0"),
        ({"outcome": lambda self, s: None, "moves": lambda self, s: [0], "play": lambda self, s, m: list(s)}, "no end"),
    ]:
        with pytest.raises((TypeError, ValueError, RuntimeError), match=said):
            so.analyse(type("Broken", (Listed,), method)(), stop=so.playouts(500), player="plain")


def test_check_says_what_is_wrong():
    seen = so.check(Knapsack())
    assert seen.longest == 30 and 1 < seen.branching <= 2
    so.check(InPlace(), copy=False)
    with pytest.raises(so.CheckError, match="copy=False"):
        so.check(InPlace())
    for methods, said in [
        ({"score": lambda self, s: float("nan")}, "finite"),
        ({"moves": lambda self, s: [0, 0] if s[0] < 30 else []}, "twice"),
        ({"code": lambda self, s, m: float("nan")}, "nan"),
        ({"play": lambda self, s, m: None}, "None"),
        ({"initial": lambda self: 1 / 0}, "ZeroDivisionError"),
        ({"render": lambda self, s: 3}, "no text"),
    ]:
        with pytest.raises(so.CheckError, match=said):
            so.check(broken(**methods))
