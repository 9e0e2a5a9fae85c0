"""The Java starter kit: what CONTRACT.md asks of every kit, the example bots, and bots of a single file."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import pytest

from games import reantics, tictactoe
from games.api import Game, Notice, Player, Ruling, Setup, State
from games.dice import Dice
from protocol.connection import NEED_DATA, Connection, answer_decoder
from protocol.messages import Clock, Encoding, ErrorObject, Initialize, Limits

sys.path.append(str(Path(__file__).parents[1] / "protocol"))
from conformance import dialogue, dialogue_names, is_for, run_dialogue

KIT = Path(__file__).parents[2] / "starter_kits" / "java"
JAVA = ("java", f"@{KIT / 'java.args'}", "-cp")
JAR = str(KIT / "target" / "referee-kit.jar")
CONFORMANCE = (*JAVA, JAR, "referee.kit.Conformance")
CLOCK = Clock(call_ms=1000, remaining_ms=None, last_ms=None)
PLAIN = answer_decoder(Any)

MISSING = [tool for tool in ("java", "javac", "mvn") if shutil.which(tool) is None]
pytestmark = pytest.mark.skipif(
    bool(MISSING) and "CI" not in os.environ, reason=f"the Java kit needs {', '.join(MISSING)}"
)


@pytest.fixture(scope="module", autouse=True)
def kit() -> None:
    for folder in ("", "my_reantics", "my_tictactoe"):
        subprocess.run([KIT / "build.sh", *([KIT / "examples" / folder] if folder else [])], check=True, timeout=250)


class Bot:
    """A bot's process, driven one step at a time."""

    def __init__(self, command: Sequence[str | Path], encoding: Encoding, log: Path) -> None:
        self.log = log
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr)
        self.wire = Connection()
        self.encoding = encoding

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()

    def initialize(self, game: str = "conformance", seat: int = 0, seed: int = 1) -> Any:
        encodings = (self.encoding, *(other for other in Encoding if other is not self.encoding))
        params = Initialize(1, game, {}, seat, ("a", "b"), encodings, Limits(10_000), seed)
        self._send(self.wire.initialize(params))
        while (hello := self.wire.hello()) is None:
            self._receive()
        return hello

    def call(self, method: str, params: Any = None, clock: Clock = CLOCK) -> Any:
        self.wire.unasked()
        self._send(self.wire.call(method, self.wire.encode(params or {}), clock))
        while (answer := self.wire.answer(PLAIN)) is NEED_DATA:
            self._receive()
        return answer

    def notify(self, method: str, params: Any) -> None:
        self._send(self.wire.notify(method, self.wire.encode(params)))

    def exit(self) -> int:
        self._send(self.wire.exit())
        return self.process.wait(10)

    def close_input(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
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
def bot(encoding: Encoding, tmp_path: Path) -> Iterator[Bot]:
    with Bot(CONFORMANCE, encoding, tmp_path / "log") as bot:
        bot.initialize()
        yield bot


@contextmanager
def written(tmp_path: Path, encoding: Encoding, name: str, source: str) -> Iterator[Bot]:
    """A bot of a single file, run without compiling it first."""
    file = tmp_path / f"{name}.java"
    file.write_text(source, "utf-8")
    with Bot((*JAVA, JAR, file), encoding, tmp_path / "log") as bot:
        yield bot


@pytest.mark.parametrize("name", dialogue_names())
def test_the_kit_holds_every_dialogue(name: str, encoding: Encoding) -> None:
    if is_for(dialogue(name), encoding):
        assert run_dialogue(CONFORMANCE, dialogue(name), encoding) == []


TEXTS = ["", "(╯°□°)╯︵ ┻━┻", 'quote " and \\ and \n \u2028 \0 😁', "x" * 1_000_000]
NUMBERS = [0, 1.0, 0.1, 1e300, -(2**63), 2**63 - 1, 2**64 - 1]
VALUES = [None, True, *NUMBERS, *TEXTS, [], {}, [[[1]]], {"a": None, "clock": 3}, list(range(50_000))]


def test_every_value_comes_back_as_it_was_sent(bot: Bot) -> None:
    for value in VALUES:
        answer = bot.call("echo", {"value": value})
        assert (answer, type(answer)) == (value, type(value))


def test_the_first_offered_encoding_is_chosen(encoding: Encoding, tmp_path: Path) -> None:
    with Bot(CONFORMANCE, encoding, tmp_path / "log") as bot:
        hello = bot.initialize()
    assert (hello.name, hello.encoding, hello.reuse) == ("conformance", encoding, True)


def test_an_exception_is_an_error_in_its_own_words_and_the_bot_serves_on(bot: Bot) -> None:
    assert bot.call("fail", {"message": "höher"}) == ErrorObject(-32000, "höher")
    assert bot.call("nothing") is None
    assert "java.lang.Exception: höher\n\tat " in bot.log.read_text("utf-8")


def test_an_unknown_method_is_an_error_and_an_unknown_notification_nothing(bot: Bot) -> None:
    bot.notify("surprise", {"value": 1})
    assert bot.call("surprise") == ErrorObject(-32601, "unknown method surprise")


def test_prints_go_to_standard_error(bot: Bot) -> None:
    assert bot.call("print", {"text": "x = 5 ┻━┻"}) is None
    assert bot.call("nothing") is None
    assert bot.log.read_text("utf-8") == "x = 5 ┻━┻\n"


def test_notifications_are_heard_in_order(bot: Bot) -> None:
    for value in (1, None, "three"):
        bot.notify("note", {"value": value})
    assert bot.call("notes") == [1, None, "three"]
    assert bot.call("notes") == []


def test_the_clock_of_each_call_is_shown(bot: Bot) -> None:
    assert bot.call("clock", clock=Clock(1000, None, 3)) == {"call_ms": 1000, "remaining_ms": None, "last_ms": 3}
    assert bot.call("clock", clock=Clock(None, 18000, 0)) == {"call_ms": None, "remaining_ms": 18000, "last_ms": 0}


def test_another_initialize_begins_with_a_fresh_bot(bot: Bot) -> None:
    bot.notify("note", {"value": 1})
    assert bot.initialize().encoding is bot.encoding
    assert bot.call("notes") == []


def test_exit_and_the_end_of_input_end_the_program_with_status_0(encoding: Encoding, tmp_path: Path) -> None:
    for end in (Bot.exit, Bot.close_input):
        with Bot(CONFORMANCE, encoding, tmp_path / "log") as bot:
            bot.initialize()
            assert bot.call("nothing") is None
            assert end(bot) == 0
            assert bot.log.read_text() == ""


UNTYPED = """
import java.util.*;
import referee.kit.*;

public class Odd extends Bot {
    static { System.out.println("static"); }
    final long luck = new Random(match.seed()).nextLong();

    public static void main(String[] args) { run(Odd::new); }

    @Override public Object call(String method, Params params) throws Exception {
        switch (method) {
            case "match": return List.of(match.game(), match.seat(), match.names(), match.seed());
            case "luck": return luck;
            case "surrogate": return "\\ud83d";
            case "object": return Arrays.asList(1, Map.of("a", new Object()));
            case "deep": return call(method, params);
            case "bare": throw new NullPointerException();
            case "thread": new Thread(() -> { while (true) { } }).start(); return null;
            case "stdin": return System.in.read();
            default: return super.call(method, params);
        }
    }
}
"""


def test_a_bot_in_trouble_goes_on_serving(encoding: Encoding, tmp_path: Path) -> None:
    with written(tmp_path, encoding, "Odd", UNTYPED) as bot:
        assert bot.initialize(game="anything", seat=1, seed=2**63 - 5).name == "Odd"
        assert bot.call("match") == ["anything", 1, ["a", "b"], 2**63 - 5]
        for method in ("object", "deep", "bare", "object"):
            failure = bot.call(method)
            assert isinstance(failure, ErrorObject)
            assert failure.code == -32000
            assert failure.message
        assert not isinstance(bot.call("luck"), ErrorObject)
        assert bot.call("stdin") == -1  # the frames are not the bot's to read
        assert bot.call("thread") is None
        assert bot.exit() == 0
        assert bot.log.read_text().startswith("static\n")


def test_the_seed_repeats_the_bots_luck(encoding: Encoding, tmp_path: Path) -> None:
    with written(tmp_path, encoding, "Odd", UNTYPED) as bot:
        draws = []
        for seed in (7, 7, 8):
            bot.initialize(seed=seed)
            draws.append(bot.call("luck"))
    assert draws[0] == draws[1] != draws[2]


def test_a_bot_of_another_game_refuses_the_match(encoding: Encoding, tmp_path: Path) -> None:
    with Bot((*JAVA, JAR, "Forager"), encoding, tmp_path / "log") as bot:
        assert bot.initialize("quoridor") == ErrorObject(-32000, "Forager plays reantics, not quoridor")


class Rival:
    """The other seat, played by rule."""

    def answer(self, state: State, player: Player, dice: Dice) -> Any:
        return state.sample(player, dice)


class Passive(Rival):
    """Ends its turns and does nothing else."""

    def answer(self, state: State, player: Player, dice: Dice) -> Any:
        if state.awaited[player] is reantics.GET_MOVE:
            return reantics.Move(reantics.END)
        return super().answer(state, player, dice)


class Cheat(Rival):
    """Now and then sends what no typed kit expects."""

    NONSENSE: tuple[dict[str, Any], ...] = (
        {},
        {"action": 5},
        {"action": tictactoe.FLIP},
        {"action": None, "position": {"a": [1]}, "youAre": {"x": 1}, "winner": [1], "id": 7},
        {"action": "putSymbol", "position": 4, "youAre": "O"},
    )

    def answer(self, state: State, player: Player, dice: Dice) -> Any:
        pending = isinstance(state, tictactoe.TicTacToe) and state.pending is not None
        return super().answer(state, player, dice) if pending or dice.below(3) else dice.choice(self.NONSENSE)


def play(game: Game, bot: Bot, seat: Player, rival: Rival, seed: int, options: Any) -> State:
    """A whole match. The bot must answer every call with a result that is legal."""
    state = game.new(Setup(seed, ("a", "b"), options))
    bot.initialize(game.name, seat, seed)
    dice = Dice(seed)

    def tell(events: Sequence[Notice | Ruling]) -> None:
        for event in events:
            if isinstance(event, Notice) and seat in event.to:
                bot.notify(event.method, msgspec.to_builtins(event.params))
            assert not (isinstance(event, Ruling) and event.player == seat), event

    tell(state.opening())
    while calls := state.calls():
        answers = {}
        for call in calls:
            if call.player == seat:
                answers[seat] = bot.call(call.method.name, msgspec.to_builtins(call.params))
                assert not isinstance(answers[seat], ErrorObject), bot.log.read_text()
            else:
                answers[call.player] = rival.answer(state, call.player, dice)
        tell(state.apply(answers))
    return state


def rank(state: State, seat: Player) -> int:
    assert state.result is not None
    return state.result.ranks[seat]


def test_forager_wins_by_food_from_both_seats_when_it_is_let_alone(encoding: Encoding, tmp_path: Path) -> None:
    options = reantics.Options(draw_after=200)
    with Bot((*JAVA, JAR, "Forager"), encoding, tmp_path / "log") as bot:
        for seat in (0, 1):
            state = play(reantics.GAME, bot, seat, Passive(), 5, options)
            assert (rank(state, seat), state.result and state.result.reason) == (1, "food_goal")


@pytest.mark.parametrize(
    "options",
    [
        reantics.Options(),
        reantics.Options(worker_health=2, board=False),
        reantics.Options(random_layout=(True, True)),
    ],
)
def test_forager_beats_random_play(options: reantics.Options, tmp_path: Path) -> None:
    with Bot((*JAVA, JAR, "Forager"), Encoding.MSGPACK, tmp_path / "log") as bot:
        for seed in range(20):
            assert rank(play(reantics.GAME, bot, seed % 2, Rival(), seed, options), seed % 2) == 1


@pytest.mark.parametrize("rival", [Rival(), Cheat()])
def test_perfect_never_loses_and_flips_after_every_cheat(rival: Rival, encoding: Encoding, tmp_path: Path) -> None:
    with Bot((*JAVA, JAR, "Perfect"), encoding, tmp_path / "log") as bot:
        states = [play(tictactoe.GAME, bot, seed % 2, rival, seed, tictactoe.Options()) for seed in range(60)]
        assert bot.log.read_text() == ""
    assert all(rank(state, seed % 2) == 1 for seed, state in enumerate(states))
    flips = [state.result and state.result.reason.startswith("FLIPPED") for state in states]
    assert any(flips) == isinstance(rival, Cheat)


@pytest.mark.parametrize(
    ("folder", "name", "game", "options"),
    [
        ("my_reantics", "MyReAntics", reantics.GAME, reantics.Options(draw_after=100)),
        ("my_tictactoe", "MyTicTacToe", tictactoe.GAME, tictactoe.Options()),
    ],
)
def test_the_templates_play_by_the_rules_built_or_as_a_single_file(
    folder: str, name: str, game: Game, options: Any, encoding: Encoding, tmp_path: Path
) -> None:
    home = KIT / "examples" / folder
    for command in ((*JAVA, f"{JAR}:{home / 'build'}", name), (*JAVA, JAR, str(home / f"{name}.java"))):
        with Bot(command, encoding, tmp_path / "log") as bot:
            for seed in range(4):
                play(game, bot, seed % 2, Rival(), seed, options)
            assert bot.exit() == 0


def test_the_readmes_bot_is_a_whole_legal_bot(encoding: Encoding, tmp_path: Path) -> None:
    source = (KIT / "README.md").read_text("utf-8").split("```java\n")[1].split("```")[0]
    with written(tmp_path, encoding, "Sleeper", source) as bot:
        for seat in (0, 1):
            play(reantics.GAME, bot, seat, Rival(), 1, reantics.Options(draw_after=100))


def test_a_build_without_changes_is_quick_and_makes_nothing() -> None:
    made = Path(JAR).stat().st_mtime_ns
    subprocess.run([KIT / "build.sh"], check=True, timeout=2)
    assert Path(JAR).stat().st_mtime_ns == made
