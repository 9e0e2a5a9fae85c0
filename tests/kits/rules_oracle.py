"""Plays the same match with an engine of `games/` and with a rules program, and compares everything on the way."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from driving import Running
from kits import SUFFIXES, built

from referee.games.contract import Event, Fault, FaultKind, Notice, Player, Setup, State
from referee.games.dice import Dice, derive_seed
from referee.games.game import Game
from referee.harness.programs import archive, build
from referee.harness.programs.build_process import BuildContext
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.process_start import environment
from referee.harness.programs.spec import entrant
from referee.protocol.codec import codec
from referee.protocol.messages import Encoding

NAMES = ("0", "1")
FAULTS = (
    Fault(FaultKind.TIMEOUT, "play: no answer within 1000 ms"),
    Fault(FaultKind.TIMEOUT, "C9 is not a valid position\nYou ran out of time"),
    Fault(FaultKind.ERROR, "error -32000: no idea"),
    Fault(FaultKind.ILLEGAL, "an answer of more than 65,536 bytes", None),
    Fault(FaultKind.CRASH, "exited with code 1"),
    Fault(FaultKind.PROTOCOL, "an answer without id"),
    Fault(FaultKind.MEMORY, "exceeded the memory limit"),
)
"""Faults that the referee finds, one of each that any game tells apart."""


class Place(msgspec.Struct):
    """The bytes of a turn's position."""

    position: msgspec.Raw


class Answer(msgspec.Struct):
    """A frame with a turn."""

    result: Place


class Program(Running):
    """A rules program, asked over pipes."""

    def __init__(self, entrant: Entrant, encoding: Encoding, game: str) -> None:
        self.process = subprocess.Popen(
            entrant.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=entrant.cwd, env=environment()
        )
        self._speak(Encoding.JSON)
        self.requests = 0
        hello = self.ask("initialize", rules=1, game=game, version=1, encodings=[encoding.value])
        assert hello.get("encoding", "json") == encoding, hello
        self.answers = frozenset(hello.get("requests", ()))
        self._speak(encoding)

    def _speak(self, encoding: Encoding) -> None:
        self.codec = codec(encoding)
        self.splitter = self.codec.splitter(1 << 23, b"")

    def ask(self, method: str, **params: Any) -> Any:
        """Returns the result. AssertionError if it answers with an error."""
        self.requests += 1
        frame = self.codec.frame({"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params})
        assert self.process.stdin is not None
        self.process.stdin.write(frame)
        self.process.stdin.flush()
        while (answer := self.splitter.next()) is None:
            assert self.process.stdout is not None
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            assert data, f"the program ended after {frame!r}"
            self.splitter.feed(data)
        message = self.codec.decode(answer)
        assert message["id"] == self.requests
        assert "result" in message, (method, params, message)
        result = message["result"]
        if self.codec.encoding is Encoding.JSON and isinstance(result, dict) and result.get("canonical"):
            place = msgspec.json.decode(answer, type=Answer).result.position
            assert bytes(place) == msgspec.json.encode(result["position"], order="deterministic"), message
        return result


class Twins:
    """A match in both engines. Every step compares them."""

    def __init__(self, game: Game, program: Program, seed: int, options: Any) -> None:
        self.program, self.out = program, set[int]()
        self.state = game.new(Setup(seed, NAMES, options))
        given = msgspec.to_builtins(options)
        luck = derive_seed(seed, "battle") if "flip" in given else seed  # the Arena draws the battle's id from it
        turn = program.ask("start", options=given, seats=2, luck=f"{luck:016x}")
        self.calls = 0
        self._compare(turn, self.state.opening())

    def step(self, answers: Mapping[Player, Any]) -> None:
        """Plays one answer or fault for each awaited seat."""
        luck = f"{self.state.dice.state:016x}"
        faults = {seat: answer for seat, answer in answers.items() if isinstance(answer, Fault)}
        plain = {str(seat): answer for seat, answer in answers.items() if seat not in faults}
        turn = self._ask("step", answers=plain, faults=sent(faults), luck=luck)
        self._compare(turn, self.state.apply(answers), faults, answers)

    def forfeit(self, faults: Mapping[Player, Fault]) -> None:
        """Takes seats out of an undecided match."""
        turn = self._ask("forfeit", faults=sent(faults), luck=f"{self.state.dice.state:016x}")
        self._compare(turn, self.state.forfeit(faults), faults)

    def stop(self, reason: str) -> None:
        """Ends the match from outside."""
        self._compare(self._ask("stop", reason=reason), self.state.stop(reason))

    def deal(self, seed: int) -> None:
        """Deals again what is hidden. The match goes on without this."""
        turn, twin = self._ask("deal", luck=f"{seed:016x}"), self.state.copy(seed)
        for seat in (*range(2), None):
            view = self.program.ask("view", position=turn["position"], seat=seat)["view"]
            assert view == seen(twin, seat), (view, seen(twin, seat))

    def _ask(self, method: str, **params: Any) -> Any:
        """Names the position by its number at every second request, if the program has given one."""
        by_number = self.at is not None and self.program.requests % 2
        place = {"at": self.at} if by_number else {"position": self.position}
        return self.program.ask(method, **place, **params)

    def _compare(
        self,
        turn: Mapping[str, Any],
        events: Sequence[Event],
        faults: Mapping[Player, Fault] | None = None,
        answers: Mapping[Player, Any] | None = None,
    ) -> None:
        state, context = self.state, f"after {answers}: {turn}"
        self.position, self.at = turn["position"], turn.get("at")
        calls = {str(each.player): {"method": each.method.name, "params": plain(each.params)} for each in state.calls()}
        assert turn["calls"] == calls, context
        notices = [{"to": [0, 1], **notice} for notice in turn.get("notices", ())]
        rulings = [ruled(ruling, faults or {}) for ruling in turn.get("rulings", ())]
        self.out |= set(turn.get("out", ()))
        expected_notices, expected_rulings = [], []
        for event in events:
            if isinstance(event, Notice):
                params = plain(event.params)
                expected_notices.append({"to": list(event.to), "method": event.method, "params": params})
            else:
                fault = event.fault
                ruling = (event.player, fault.kind.value, fault.detail, event.penalty, len(expected_notices))
                expected_rulings.append(ruling)
        assert notices == expected_notices, context
        assert rulings == expected_rulings, context
        assert self.out == state.out, context
        assert turn.get("result") == plain(state.result), context
        assert turn["text"] == drawn(state), context
        for seat in (*range(2), None):
            shown = self._ask("view", seat=seat)
            assert shown["view"] == seen(state, seat), (seat, context)
            if "text" in shown and seat is not None:
                assert shown["text"] == without_words(state, state.shown_to(seat)), context
        for seat in state.awaited:
            assert self._ask("legal", seat=seat, most=1000) == plain(list(state.legal(seat))), (seat, context)


def sent(faults: Mapping[Player, Fault]) -> dict[str, Any]:
    """The faults as the referee sends them."""
    return {
        str(seat): {"kind": fault.kind.value, "detail": fault.detail}
        | ({"answer": fault.answer} if fault.kind is FaultKind.ILLEGAL else {})
        for seat, fault in faults.items()
    }


def ruled(ruling: Mapping[str, Any], faults: Mapping[Player, Fault]) -> tuple[Any, ...]:
    """A ruling with its defaults: seat, kind, detail, penalty, notices before it."""
    seat = ruling["seat"]
    fault = faults.get(seat, Fault(FaultKind.ILLEGAL, ""))
    kind, detail = ruling.get("kind", fault.kind.value), ruling.get("detail", fault.detail)
    return seat, kind, detail, ruling["penalty"], ruling.get("after", 0)


def plain(value: Any) -> Any:
    """A value as it is sent."""
    return msgspec.json.decode(msgspec.json.encode(value))


def seen(state: State, seat: Player | None) -> Any:
    """The view of a seat; None = everything except what every turn has."""
    view = plain(state.view(seat))
    view.pop("standing", None)
    return view


def drawn(state: State) -> str:
    return without_words(state, str(state))


def without_words(state: State, text: str) -> str:
    """A drawing of the card game without the words of the result and the players' names."""
    first, *rest = text.split("\n")
    if not first.startswith("turn "):
        return text
    start, _, situation = first.partition(", ")
    lines = [line.replace(f"{line[0]} {line[0]}:", f"{line[0]}:", 1) for line in rest]
    return "\n".join([f"{start}, {situation if state.result is None else 'over'}", *lines])


def play(game: Game, rules: Program, seed: int, options: Any, nonsense: Sequence[Any], odds: int) -> Twins:
    """Plays a match: legal answers, and one in `odds` of something else."""
    twins, dice = Twins(game, rules, seed, options), Dice(seed)
    while twins.state.awaited:
        if twins.state.result is None and dice.below(40 * odds) == 0:
            if dice.below(3) == 0:
                twins.stop("stopped")
            else:
                lost = [seat for seat in range(2) if dice.below(2) or seat not in twins.state.awaited]
                twins.forfeit({seat: dice.choice(FAULTS) for seat in lost})
            continue
        if "deal" in rules.answers and dice.below(10) == 0:
            twins.deal(dice.bits())
        answers: dict[Player, Any] = {}
        for seat in twins.state.awaited:
            if dice.below(odds):
                answers[seat] = plain(twins.state.sample(seat, dice))
            else:
                answers[seat] = dice.choice(nonsense) if dice.below(4) else dice.choice(FAULTS)
        twins.step(answers)
    return twins


GAMES = Path(__file__).parent / "games"
CLASSES = {"tictactoe": "TicTacToe", "connectfour": "ConnectFour", "cardgame": "CardGame"}


@cache
def program(language: str, game: str) -> Entrant:
    """The rules of a game in a language, built."""
    if language == "rust":
        return _rust(GAMES / "rust" / f"{game}.rs")
    if language != "java":
        return entrant(str(GAMES / language / f"{game}{SUFFIXES[language]}"))
    kit, sources = built("java"), GAMES / "java"
    jar, main = kit / "target" / "referee-kit.jar", sources / f"{CLASSES[game]}.java"
    options = ("-J-XX:TieredStopAtLevel=1", "-proc:none", "-cp", str(jar), "-sourcepath", str(sources))
    made = build.build_source(
        main,
        lambda folder: ("javac", *options, "-d", str(folder), str(main)),
        ("java", "javac"),
        BuildContext(),
        archive.read(sources, ()).identity,
    )
    return Entrant(game, ("java", f"@{kit / 'java.args'}", "-cp", f"{made}:{jar}", CLASSES[game]), sources)


def _rust(main: Path) -> Entrant:
    """A program of the compiler alone, without the kit or a library: JSON by hand."""
    options = ("--edition=2021", "-O")

    def command(folder: Path) -> tuple[str, ...]:
        outputs = f"--emit=link={folder / 'rules'},dep-info={folder / 'inputs.d'}"
        return ("rustc", *options, outputs, "--out-dir", str(folder), str(main))

    made = build.build_source(main, command, ("rustc",), BuildContext())
    return Entrant(main.stem, (str(made / "rules"),), main.parent)
