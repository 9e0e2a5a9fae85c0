"""`--debug`: bots of the Python kit inside the referee's process have the same replay as in a process."""

import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from referee.games import registry
from referee.harness.isolation.plan import OFF
from referee.harness.match.match import Match
from referee.harness.match.series import Outcome, Series, play_series
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import entrants
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import verify
from referee.harness.seats.inside import script_of
from referee.protocol.messages import Encoding

pytestmark = pytest.mark.slow

RANDOM_PLAYER = """
import random
from referee_kit.cardgame import BOARD_SIZE, Action, ActionType, CardGameBot, Minion, run
from moves import candidates, COUNT

print("loaded")  # to standard error, in either way
class MyBot(CardGameBot):
    def play(self, state):
        COUNT.append(1)
        return random.choice(candidates(state))
run(MyBot, "{name}", version=open("version.txt").read())
"""
MOVES = """
from referee_kit.cardgame import BOARD_SIZE, Action, ActionType, CardGameBot, Minion, run
COUNT = []
def candidates(state):
    moves = [Action(ActionType.END_TURN)]
    for index, card in enumerate(state.player_hand):
        if isinstance(card, Minion) and card.cost <= state.player_mana and len(state.player_target) <= BOARD_SIZE:
            moves.append(Action(ActionType.PLACE_MINION, [index]))
    for source, minion in enumerate(state.player_target):
        if source and minion.can_attack:
            moves.append(Action(ActionType.ATTACK, [source, random_target(state)]))
    return moves
def random_target(state):
    import random
    return random.randrange(len(state.opponent_target))
"""


def bot_folder(path: Path, name: str, source: str = RANDOM_PLAYER) -> Path:
    """Returns a bot whose folder has a module and a data file."""
    path.mkdir()
    (path / "bot.py").write_text(source.replace("{name}", name))
    (path / "moves.py").write_text(MOVES)
    (path / "version.txt").write_text(f"of {name}")
    (path / "bot.toml").write_text(f'name = "{name}"\nrun = ["{sys.executable}", "bot.py"]\n')
    return path


async def played(folder: Path, specs: list[str], debug: bool, games: int = 3, seed: int = 7) -> Outcome:
    game = registry.game("cardgame")
    folder.mkdir()
    replay = folder / "match.jsonl"
    match = Match(game, entrants(specs), seed, game.options(), game.time, tuple(Encoding), replay)
    return await play_series(Series(match, games, swap=True, debug=debug), Limits(isolation=OFF))


def told(outcome: Outcome) -> list[Any]:
    """Returns the replays without measured values, and without the form of answers, which differs inside."""
    lines = []
    for verdict in outcome.matches:
        assert verify(Replay(Path(str(verdict.replay)))) == verdict.result
        for text in Path(str(verdict.replay)).read_text().splitlines():
            line = json.loads(text)
            for measured in ("wall_us", "cpu_us", "waited_us", "isolation", "stderr"):
                line.pop(measured, None)
            for seat in line.get("seats", ()):
                for measured in ("wall_s", "cpu_s", "waited_s", "off_turn_cpu_s", "peak_memory_bytes", "stderr"):
                    seat.pop(measured)
            for fault in line.get("faults", ()) if "seats" in line else ():
                for measured in ("wall_s", "cpu_s", "waited_s", "peak_memory_bytes", "last_words", "said", "answer"):
                    fault.pop(measured, None)
                fault["frame"] = re.sub(r'"last_ms":\d+', "", fault["frame"])  # the clock in the call
            lines.append(line)
    return lines


@pytest.mark.trio
async def test_the_same_seed_gives_the_same_replay_inside_and_outside(tmp_path: Path) -> None:
    """Both bots use the module `random` and import a module `moves`: each has its own state and its own module."""
    specs = [str(bot_folder(tmp_path / "a", "A")), str(bot_folder(tmp_path / "b", "B"))]
    before = (Path.cwd(), list(sys.path), set(sys.modules), random.getstate())
    inside = await played(tmp_path / "inside", specs, debug=True)
    assert (Path.cwd(), sys.path, random.getstate()) == (before[0], before[1], before[3])
    assert not {"moves", "referee_kit", "referee_kit.wire", "referee_kit.cardgame"} & set(sys.modules)
    outside = await played(tmp_path / "outside", specs, debug=False)
    assert told(inside) == told(outside)
    assert [seat.program for seat in inside.matches[0].seats] == ["A of A", "B of B"]
    assert all(seat.wall_s == seat.cpu_s == 0 for verdict in inside.matches for seat in verdict.seats)


BROKEN = {
    "raises": "raise ValueError('no idea')",
    "exits": "import sys; sys.exit(3)",
    "exits with words": "import sys; sys.exit('enough')",
    "answers nonsense": "return 17",
}


@pytest.mark.trio
@pytest.mark.parametrize("broken", BROKEN)
async def test_a_fault_inside_is_the_same_as_outside(tmp_path: Path, broken: str) -> None:
    source = RANDOM_PLAYER.replace("return random.choice(candidates(state))", BROKEN[broken])
    specs = [str(bot_folder(tmp_path / "a", "A", source)), str(bot_folder(tmp_path / "b", "B"))]
    inside = await played(tmp_path / "inside", specs, debug=True, games=1)
    outside = await played(tmp_path / "outside", specs, debug=False, games=1)
    assert inside.matches[0].faults
    assert told(inside) == told(outside)


@pytest.mark.trio
async def test_a_script_that_fails_before_its_run_crashes_as_outside(tmp_path: Path) -> None:
    source = RANDOM_PLAYER.replace("class MyBot", "1 / 0\nclass MyBot")
    specs = [str(bot_folder(tmp_path / "a", "A", source)), str(bot_folder(tmp_path / "b", "B"))]
    inside = await played(tmp_path / "inside", specs, debug=True, games=1)
    outside = await played(tmp_path / "outside", specs, debug=False, games=1)
    assert inside.matches[0].faults[0].detail == outside.matches[0].faults[0].detail
    assert inside.matches[0].result == outside.matches[0].result


def test_only_scripts_that_use_the_kit_can_run_inside(tmp_path: Path) -> None:
    ours, raw = bot_folder(tmp_path / "a", "A"), tmp_path / "raw.py"
    raw.write_text("import sys, json\nfor line in sys.stdin: pass\n")
    kit, other, built_in = entrants([str(ours), str(raw), "@random"])
    assert script_of(kit) == ours / "bot.py"
    assert script_of(other) is None
    assert script_of(built_in) is None


def referee(folder: Path, *options: str, typed: str = "", game: str = "cardgame") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "referee.harness.cli.main", "--game", game, *options]
    return subprocess.run(command, cwd=folder, input=typed, capture_output=True, text=True, timeout=60)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "prefix", "name", "source"),
    [
        ("connectfour", "kaggle:", "main.py", "def agent(observation, configuration):\n    return 3\n"),
        ("cardgame", "original:", "agent.py", "def start(*a): pass\ndef play(*a): return None\ndef end(*a): pass\n"),
        ("tictactoe", "", "bot.py", "# unlike a bot of referee_kit\nimport sys\nsys.exit()\n"),
    ],
)
def test_a_bot_of_another_kind_runs_in_its_own_process(
    tmp_path: Path, game: str, prefix: str, name: str, source: str
) -> None:
    """Our programs that run such bots are written with the kit."""
    (tmp_path / "team").mkdir()
    (tmp_path / "team" / name).write_text(source)
    done = referee(tmp_path, f"{prefix}team/{name}", "@random", "--debug", "--seed", "1", game=game)
    assert done.returncode == 0, done.stderr
    assert "runs in its own process, since it is not a bot of the Python kit" in done.stderr


def test_a_debugger_stops_in_a_bot_for_longer_than_its_limit(tmp_path: Path) -> None:
    source = RANDOM_PLAYER.replace("COUNT.append(1)", "COUNT.append(1)\n        if len(COUNT) == 1: breakpoint()")
    bot = bot_folder(tmp_path / "a", "A", source)
    typed = "import time; time.sleep(0.3); print('mana', state.player_mana * 100)\ncontinue\n"
    done = referee(
        tmp_path, str(bot), "@random", "--debug", "--call-time", "100ms", "--seed", "4", "--json", typed=typed
    )
    verdict = json.loads(done.stdout)["matches"][0]
    assert "mana 100" in done.stderr
    assert not verdict["faults"], "no time passes for a bot that is debugged"
    assert "@random runs in its own process, since it is not a bot of the Python kit" in done.stderr


def test_debug_and_chaos_exclude_each_other(tmp_path: Path) -> None:
    done = referee(tmp_path, "@random", "@random", "--debug", "--chaos")
    assert (done.returncode, done.stderr) == (2, "referee: --debug cannot be combined with --chaos\n")
