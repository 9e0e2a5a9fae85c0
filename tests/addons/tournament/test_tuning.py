"""`referee tune`: parameters, the way to better values, and the command with real bots."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from contests import drawing_bot
from modules import module, saved
from needs import needs_addon

from referee.addons.tournament.statistics.spsa import Spsa
from referee.addons.tournament.tuning.parameters import all_parsed, parsed, spec_with, values
from referee.games.dice import Dice
from referee.harness.cli.main import main
from referee.harness.common.errors import UsageError


@pytest.mark.parametrize(
    "text",
    [
        *("", "depth", "depth=1", "depth=8:1", "depth=1:1", "depth=1:8:9", "depth=1:8:2:3", "depth=a:b", "depth=nan:1"),
        *("depth=-inf:inf", "2x=1:2", "a b=1:2", "PATH=1:2", "HOME=1:2", "LD_LIBRARY_PATH=0:1"),
    ],
)
def test_a_parameter_that_is_written_wrong_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UsageError, match="--param") as refused:
        parsed(text)
    assert "\n" not in str(refused.value)


def test_parameters_need_names_of_their_own() -> None:
    with pytest.raises(UsageError, match="--param depth: it is named twice"):
        all_parsed(["depth=1:8", "depth=2:3"])
    with pytest.raises(UsageError, match="add --param NAME=LOW:HIGH"):
        all_parsed([])


def test_whole_bounds_make_a_whole_number_that_stays_inside() -> None:
    depth, weight = all_parsed(["depth=1:4", "weight=0.5:2:1"])
    assert values((depth, weight), (depth.place, weight.place)) == {"depth": "2", "weight": "1"}
    drawn = {values((depth,), (0.5,), Dice(seed))["depth"] for seed in range(40)}
    assert drawn == {"2", "3"}  # rounded at random, so that a small step can be felt
    for place in (0.0, 1.0):
        assert {values((depth,), (place,), Dice(seed))["depth"] for seed in range(40)} == {str(round(1 + 3 * place))}


def test_a_spec_gets_the_values_that_it_names() -> None:
    assert spec_with("uci:--option A={a} ./x --b={b} {c}", {"a": "1", "b": "2.5"}) == "uci:--option A=1 ./x --b=2.5 {c}"


DRAWS = 0.4
"""The share of draws between equal bots."""
UNIT = 1 << 53


class Bots:
    """Bots with parameters from 0 to 1. Those in the middle lose `span` Elo."""

    def __init__(self, parameters: int, span: float, dice: Dice) -> None:
        self.dice = dice
        self.optimum = [self._drawn(0.1, 0.35) + 0.55 * dice.below(2) for _ in range(parameters)]
        self._weights = [self._drawn(0.3, 1) for _ in range(parameters)]
        self._scale = 1.0
        self._scale = span / self.loss([0.5] * parameters)

    def _drawn(self, low: float, high: float) -> float:
        return low + (high - low) * self.dice.below(UNIT) / UNIT

    def loss(self, values: Sequence[float]) -> float:
        """Returns how many Elo these parameters lose."""
        places = zip(self._weights, values, self.optimum, strict=True)
        return self._scale * sum(weight * (value - best) ** 2 for weight, value, best in places)

    def pair(self, one: Sequence[float], other: Sequence[float]) -> float:
        """Plays a game pair. Returns 1 if the one has won both games, -1 if it has lost them."""
        chance = 1 / (1 + 10 ** ((self.loss(one) - self.loss(other)) / 400))
        draw = DRAWS * 4 * chance * (1 - chance)
        points = 0.0
        for _ in range(2):
            luck = self.dice.below(UNIT) / UNIT
            points += 1 if luck < chance - draw / 2 else 0.5 if luck < chance + draw / 2 else 0
        return points - 1


def spsa(bots: Bots, games: int, at_once: int = 1) -> Sequence[float]:
    """Tunes as `referee tune` does, with so many steps at a time."""
    way = Spsa([0.5] * len(bots.optimum), games // 2, bots.dice)
    while way.asked < way.steps:
        steps = [way.ask() for _ in range(min(at_once, way.steps - way.asked))]
        for step in steps:
            way.tell(step, bots.pair(step.plus, step.minus))
    return way.best


@pytest.mark.parametrize(("parameters", "games", "kept", "at_once"), [(1, 1000, 0.1, 8), (4, 2000, 0.2, 1)])
def test_tuning_finds_the_known_optimum_of_synthetic_bots(
    parameters: int, games: int, kept: float, at_once: int
) -> None:
    bots = [Bots(parameters, 150, Dice(seed)) for seed in range(8)]
    losses = [each.loss(spsa(each, games, at_once)) for each in bots]
    assert mean(losses) < 150 * kept and max(losses) < 150 * 3 * kept


def test_tuning_without_any_influence_stays_in_range() -> None:
    assert all(0 <= value <= 1 for value in spsa(Bots(3, 1e-9, Dice(1)), 1000))


SKILL = """
X = float(os.environ.get("X", "0.2"))
Y = int(sys.argv[1])
assert os.environ["HOME"] != "0" and "Y" not in os.environ
LINES = ((0,1,2),(3,4,5),(6,7,8),(0,3,6),(1,4,7),(2,5,8),(0,4,8),(2,4,6))
chosen = []

def begin(params):
    global free, seat, seed, chosen
    free, seat, seed, chosen = list(CELLS), params["seat"], params["seed"], []

def draw():
    global seed
    seed = (seed * 6364136223846793005 + 1442695040888963407 + SALT) % 2**64
    return seed >> 33

def ends(cells, name):
    return any(CELLS.index(name) in line and all(CELLS[i] == name or CELLS[i] in cells for i in line) for line in LINES)

def choose():
    name = free[draw() % len(free)]
    if draw() % 1000 < 1000 * (1 - 1.5 * (X - 0.8) ** 2 - 0.02 * (Y - 6) ** 2):
        theirs = [each for each in CELLS if each not in free and each not in chosen]
        wins = [each for each in free if ends(chosen, each)] + [each for each in free if ends(theirs, each)]
        name = (wins + ["C"] * ("C" in free) + free)[0]
    chosen.append(name)
    return cell(name)
"""
"""Plays best with X = 0.8, an environment variable, and Y = 6, an argument."""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    monkeypatch.chdir(tmp_path)

    def run(*argv: str) -> tuple[int, str, str]:
        code = main(("tune", *argv))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_a_bot_is_tuned_and_meets_its_start_in_a_gate(run: Callable[..., Any], tmp_path: Path) -> None:
    """The same seed tunes alike with one worker."""
    spec = drawing_bot(tmp_path, "skilled", 1, SKILL).partition("=")[2] + " {Y}"
    argv = spec, "--game", "tictactoe", "--param", "X=0:1:0.1", "--param", "Y=0:10:2", "--seed", "3", "--games", "40"
    argv = *argv, "--max-games", "8", "--every", "20", "--no-pin", "--jobs", "1", "--json"
    code, out, err = run(*argv)
    found = json.loads(out)
    assert code in (0, 4) and err.count(" games/min") == 2
    assert found["start"] == {"X": "0.1", "Y": "2"} and (found["games"], found["faults"]) == (40, 0)
    assert float(found["tuned"]["X"]) > 0.1 and int(found["tuned"]["Y"]) >= 2
    gate = found["gate"]
    assert (gate["new"], gate["old"], gate["games"]) == ("tuned", "start", 8)
    assert gate["faults_new"] == gate["faults_old"] == 0
    assert (tmp_path / gate["ledger"] / "tournament.toml").is_file()
    assert json.loads(run(*argv)[1])["tuned"] == found["tuned"]


def test_the_time_limit_covers_the_tuning_and_leaves_the_rest_to_the_gate(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    spec = drawing_bot(tmp_path, "skilled", 1, SKILL).partition("=")[2] + " {Y}"
    argv = spec, "--game", "tictactoe", "--param", "X=0:1:0.1", "--param", "Y=0:10:2", "--seed", "3", "--no-pin"
    argv = *argv, "--jobs", "1", "--every", "0"
    code, out, err = run(*argv, "--games", "100000", "--max-minutes", "0.02", "--json")
    found = json.loads(out)
    said = f"stopped by --max-minutes: {found['games']:,} of 100,000 games of the tuning are played, and no gate"
    assert code == 4 and found["gate"] is None and said in " ".join(err.split())
    assert not (tmp_path / "tournaments").exists()
    code, out, _ = run(*argv, "--games", "20", "--max-minutes", "5", "--max-games", "2", "--json")
    gate = json.loads(out)["gate"]
    assert 4 < gate["terms"]["max_minutes"] < 5 and gate["games"] == 2


def test_values_that_the_bot_does_not_read_are_asked_about(run: Callable[..., Any], tmp_path: Path) -> None:
    spec = drawing_bot(tmp_path, "skilled", 1, SKILL).partition("=")[2] + " 6"
    argv = spec, "--game", "tictactoe", "--param", "x=0:1", "--games", "8", "--no-pin", "--seed", "2"
    code, out, _ = run(*argv)
    assert code == 4
    assert "nothing depends on the values; does the bot read x from its environment? an engine takes" in out
    assert "uci:--option x={x} …" in out


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--games", "10"), "add --param"),
        (("--param", "X=0:1", "--games", "1"), "--games 1: expected at least 2"),
        (("--param", "X=1:0"), "expected the lower bound first"),
    ],
)
def test_a_wrong_command_is_a_usage_error(argv: tuple[str, ...], message: str, run: Callable[..., Any]) -> None:
    code, _, err = run("@random", "--game", "tictactoe", *argv)
    assert code == 2 and message in err


@pytest.mark.parametrize(
    "what",
    [
        "@random",
        pytest.param("llm:--url http://127.0.0.1:9 x", marks=needs_addon("llm")),
        pytest.param("module", marks=needs_addon("wasm")),
    ],
)
def test_a_bot_that_reads_no_parameter_is_refused_before_the_first_game(
    what: str, run: Callable[..., Any], tmp_path: Path
) -> None:
    spec = str(saved(tmp_path, "mine", module(""))) if what == "module" else what
    code, out, err = run(spec, "--game", "connectfour", "--param", "depth=1:9")
    assert (code, out) == (2, "")
    assert "do not read the parameter depth, an environment variable; expected a program" in " ".join(err.split())


def test_a_person_cannot_be_tuned(run: Callable[..., Any]) -> None:
    code, _, err = run("human", "--game", "tictactoe", "--param", "X=0:1")
    assert code == 2 and "human" in err
