"""The Python starter kit: what CONTRACT.md asks of every kit, the example bots, and bots of a single file."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import pytest

from games import reantics, tictactoe
from games.api import Game, Notice, Player, Ruling, Setup, State
from games.dice import Dice
from protocol.connection import NEED_DATA, Connection, answer_decoder
from protocol.messages import Clock, Encoding, ErrorObject, Hello, Initialize, Limits

sys.path.append(str(Path(__file__).parents[1] / "protocol"))
from conformance import dialogue, dialogue_names, is_for, run_dialogue

KIT = Path(__file__).parents[2] / "starter_kits" / "python"
CONFORMANCE = KIT / "conformance.py"
PLAIN = answer_decoder(Any)


class Bot:
    """A bot's process, driven one step at a time."""

    def __init__(self, file: Path, encoding: Encoding, log: Path) -> None:
        self.log, self.encoding = log, encoding
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(
                (sys.executable, file),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=file.parent,
                env={**os.environ, "PYTHONPATH": str(KIT)},
            )
        self.wire = Connection()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()

    def initialize(self, game: str = "conformance", seat: int = 0, seed: int = 1, options: Any = None) -> Any:
        encodings = (self.encoding, *(other for other in Encoding if other is not self.encoding))
        params = Initialize(1, game, options or {}, seat, ("mine", "theirs"), encodings, Limits(10_000), seed)
        self._send(self.wire.initialize(params))
        while (hello := self.wire.hello()) is None:
            self._receive()
        return hello

    def call(self, method: str, params: Any = None) -> Any:
        self.wire.unasked()
        self._send(self.wire.call(method, self.wire.encode(params or {}), Clock(1000, None, None)))
        while (answer := self.wire.answer(PLAIN)) is NEED_DATA:
            self._receive()
        return answer

    def notify(self, method: str, params: Any) -> None:
        self._send(self.wire.notify(method, self.wire.encode(params)))

    def exit(self) -> int:
        self._send(self.wire.exit())
        return self.process.wait(10)

    def _send(self, frame: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(frame)
        self.process.stdin.flush()

    def _receive(self) -> None:
        assert self.process.stdout is not None
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        assert data, f"the bot ended: {self.log.read_text()}"
        self.wire.receive(data)


@pytest.fixture(params=list(Encoding))
def encoding(request: pytest.FixtureRequest) -> Encoding:
    return Encoding(request.param)


@pytest.fixture
def written(tmp_path: Path, encoding: Encoding) -> Iterator[Any]:
    """Starts a bot of a single file from its source."""
    bots = []

    def start(source: str) -> Bot:
        file = tmp_path / "bot.py"
        file.write_text(source, "utf-8")
        bots.append(Bot(file, encoding, tmp_path / "log"))
        return bots[-1]

    yield start
    for bot in bots:
        bot.__exit__(None, None, None)


@pytest.mark.parametrize("name", dialogue_names())
def test_the_kit_holds_every_dialogue(name: str, encoding: Encoding) -> None:
    if is_for(dialogue(name), encoding):
        assert run_dialogue([sys.executable, str(CONFORMANCE)], dialogue(name), encoding) == []


ODD = """
import sys
from referee_kit.wire import Bot, run
print("while the file is read")

class Odd(Bot):
    def call(self, method, params):
        if method == "child":
            import subprocess
            return subprocess.run([sys.executable, "-c", "print('a child')"], check=True).returncode
        if method == "input":
            return sys.stdin.read()
        if method == "nan":
            return [float("nan")]
        if method == "half":
            return "\\ud800"
        if method == "set":
            return {1}
        if method == "match":
            m = self.match
            return [m.game, m.seat, m.names, m.options, m.limits["startup_ms"], m.seed]
        if method == "silent":
            raise ValueError
        if method == "leave":
            sys.exit(3)
        return super().call(method, params)

run(Odd)
"""


def test_nothing_that_is_printed_reaches_the_wire(written: Any) -> None:
    bot = written(ODD)
    assert bot.initialize("any").name == "Odd"
    assert bot.call("child") == 0
    assert bot.log.read_text() == "while the file is read\na child\n"


def test_standard_input_is_empty_for_the_bot(written: Any) -> None:
    bot = written(ODD)
    bot.initialize("any")
    assert bot.call("input") == ""


def test_what_json_cannot_say_is_an_error_in_both_encodings(written: Any) -> None:
    bot = written(ODD)
    bot.initialize("any")
    assert bot.call("nan") == ErrorObject(-32000, "Out of range float values are not JSON compliant")
    assert bot.call("set") == ErrorObject(-32000, "set cannot be sent: {1}")
    assert bot.call("half") == "?"


def test_an_exception_without_words_is_told_by_its_name_and_the_bot_serves_on(written: Any) -> None:
    bot = written(ODD)
    bot.initialize("any")
    assert bot.call("silent") == ErrorObject(-32000, "ValueError")
    assert "in call\n    raise ValueError\n" in bot.log.read_text()
    assert bot.call("input") == ""


def test_the_match_is_known_to_the_bot(written: Any) -> None:
    bot = written(ODD)
    bot.initialize("any", seat=1, seed=2**53 - 1, options={"board": False})
    assert bot.call("match") == ["any", 1, ["mine", "theirs"], {"board": False}, 10_000, 2**53 - 1]


def test_exit_ends_the_program_with_status_0_and_a_bot_can_leave_with_its_own(written: Any) -> None:
    bot = written(ODD)
    bot.initialize("any")
    assert bot.exit() == 0
    bot = written(ODD)
    bot.initialize("any")
    with pytest.raises(AssertionError, match="the bot ended"):
        bot.call("leave")
    assert bot.process.wait(10) == 3


LUCKY = """
import random
from referee_kit.wire import Bot, run

class Lucky(Bot):
    def __init__(self):
        self.drawn = [random.random(), self.match.seat, self.clock.call_ms]

    def call(self, method, params):
        return [*self.drawn, random.random()]

run(Lucky, name="Fortuna", version="7")
"""


def test_the_same_seed_gives_the_same_luck_and_each_match_a_new_bot(written: Any) -> None:
    bot = written(LUCKY)
    hello = bot.initialize("any", seed=4)
    assert hello == Hello(name="Fortuna", version="7", encoding=bot.encoding, reuse=True)
    first = bot.call("draw")
    bot.initialize("any", seed=5)
    assert bot.call("draw") != first
    bot.initialize("any", seed=4)
    assert bot.call("draw") == first


WITHOUT_MSGPACK = """
import sys
sys.modules["msgpack"] = None  # as on a machine that does not have it
from referee_kit.wire import Bot, run
run(Bot)
"""


def test_a_machine_without_msgpack_speaks_json(written: Any) -> None:
    bot = written(WITHOUT_MSGPACK)
    assert bot.initialize().encoding is Encoding.JSON
    assert bot.call("nothing") == ErrorObject(-32601, "unknown method nothing")


def test_a_bot_refuses_a_game_that_is_not_its_own(encoding: Encoding, tmp_path: Path) -> None:
    with Bot(KIT / "examples/reantics/bot.py", encoding, tmp_path / "log") as bot:
        assert bot.initialize("tictactoe") == ErrorObject(-32000, "this bot plays reantics, not tictactoe")


def play(game: Game, players: Mapping[Player, Bot | Dice | Any], seed: int, **options: Any) -> State:
    """A whole match of bots, of luck (`Dice`: legal answers) and of fixed answers; only luck may break a rule."""
    state = game.new(Setup(seed, ("a", "b"), game.options(**options)))
    for seat, player in players.items():
        if isinstance(player, Bot):
            assert isinstance(player.initialize(game.name, seat, seed, options), Hello)
    events = state.opening()
    while True:
        for event in events:
            assert not (isinstance(event, Ruling) and isinstance(players[event.player], Bot)), event
            for seat in event.to if isinstance(event, Notice) else ():
                if isinstance(bot := players[seat], Bot):
                    bot.notify(event.method, event.params)
        if not state.awaited:
            return state
        events = state.apply({call.player: answer(state, call, players[call.player]) for call in state.calls()})


def answer(state: State, call: Any, player: Any) -> Any:
    if isinstance(player, Bot):
        return player.call(call.method.name, msgspec.to_builtins(call.params))
    if isinstance(player, Dice):
        return None if call.method is reantics.REGISTER_WIN else state.sample(call.player, player)
    return player


@pytest.fixture
def example(encoding: Encoding, tmp_path: Path) -> Iterator[Any]:
    """Starts an example bot by the name of its folder."""
    bots = []

    def start(name: str) -> Bot:
        bots.append(Bot(KIT / "examples" / name / "bot.py", encoding, tmp_path / f"{len(bots)}.log"))
        return bots[-1]

    yield start
    for bot in bots:
        bot.__exit__(None, None, None)


def test_the_forager_beats_a_passive_rival_by_food_within_200_turns(example: Any) -> None:
    forager, passive = example("reantics"), example("my_reantics")
    for seat in (0, 1):
        state = play(reantics.GAME, {seat: forager, 1 - seat: passive}, seed=seat, draw_after=200)
        assert state.result is not None and state.result.reason == "food_goal"
        assert state.result.ranks[seat] == 1


def test_the_forager_beats_luck_in_both_seats_whatever_it_is_shown(example: Any) -> None:
    forager = example("reantics")
    for seed in range(8):
        seat = seed % 2
        state = play(
            reantics.GAME,
            {seat: forager, 1 - seat: Dice(seed)},
            seed,
            board=seed < 4,
            random_layout=(seed in (2, 3), seed in (3, 4)),
        )
        assert state.result is not None and state.result.ranks[seat] == 1, str(state)


def test_the_perfect_player_never_loses(example: Any) -> None:
    perfect = example("tictactoe")
    for seed in range(12):
        state = play(tictactoe.GAME, {seed % 2: perfect, 1 - seed % 2: Dice(seed)}, seed)
        assert state.result is not None and state.result.ranks[seed % 2] == 1
    state = play(tictactoe.GAME, {0: perfect, 1: example("tictactoe")}, seed=1)
    assert state.result is not None and state.result.reason == "DRAW"


INVALID = [
    {},
    {"action": "flipTable"},
    {"action": "putSymbol", "position": {"a": [1]}},
    {"action": ["putSymbol"], "position": None},
    {"action": 5, "youAre": 7, "winner": "X", "id": {}, "position": ["NW"]},
    {"action": "putSymbol", "position": "c", "player": 3, "youAre": "X"},
]


@pytest.mark.parametrize("invalid", INVALID)
def test_the_table_is_flipped_after_an_invalid_move_whatever_was_sent(example: Any, invalid: Any) -> None:
    perfect = example("tictactoe")
    for seat in (0, 1):
        state = play(tictactoe.GAME, {seat: perfect, 1 - seat: invalid}, seed=seat)
        assert state.result is not None and state.result.reason.startswith("FLIPPED: ")
        assert state.result.ranks[seat] == 1


SPY = """
from referee_kit.tictactoe import *

class Spy(TicTacToeBot):
    def event(self, event):
        self.heard = [event.youAre, event.id, event.player, event.action, event.position, event.winner]

    def play(self, id):
        return self.heard

run(Spy)
"""


def test_a_member_of_a_wrong_type_reads_as_absent_and_what_may_be_anything_is_shown(written: Any) -> None:
    bot = written(SPY)
    bot.initialize("tictactoe")
    bot.notify("event", {"player": "X", "youAre": 7, "id": {}, "winner": ["X"], "action": [1], "position": {"a": None}})
    assert bot.call("play", {"id": "battle"}) == [None, None, "X", [1], {"a": None}, None]
    bot.notify("event", {"youAre": "O", "id": "battle", "winner": None})
    assert bot.call("play", {"id": "battle"}) == ["O", "battle", None, None, None, None]


def test_the_bots_to_fill_in_play_whole_matches(example: Any) -> None:
    passive, other = example("my_reantics"), example("my_reantics")
    state = play(reantics.GAME, {0: passive, 1: other}, seed=1, draw_after=20)
    assert state.result is not None and state.result.reason == "draw_limit"
    assert play(tictactoe.GAME, {0: example("my_tictactoe"), 1: Dice(1)}, seed=1).result is not None


def test_the_bot_in_the_readme_plays_whole_matches(written: Any) -> None:
    source = (KIT / "README.md").read_text("utf-8").partition("```python\n")[2].partition("```")[0]
    bot = written(source)
    for seat in (0, 1):
        assert play(reantics.GAME, {seat: bot, 1 - seat: Dice(seat)}, seed=seat, draw_after=50).result is not None
