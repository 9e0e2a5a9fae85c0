"""The requirements of CONTRACT.md for every kit: dialogues, example bots, templates, and strange events."""

import tomllib
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest
from conformance import dialogue, dialogue_names, is_for
from driving import (
    NAMES,
    NONSENSE,
    Bot,
    Cheat,
    Passive,
    Repeater,
    Rival,
    RuleBreaker,
    hold_dialogues,
    play,
    rank,
    reason,
    seated,
)
from kits import ENUMERATING, SENSIBLE, conformance, example, probe, run, work

from referee.games import arena, connectfour, quoridor, reantics, tictactoe
from referee.games.contract import Notice, Setup
from referee.games.game import Game
from referee.harness.common.paths import KITS
from referee.protocol.messages import Encoding, ErrorObject

# The wire.

ALONE = ["byte_by_byte", "end_of_input", "end_of_input_at_once", "exit", "exit_after_the_handshake"]
"""Dialogues about the beginning or the end of a process."""
TOGETHER = [name for name in dialogue_names() if name not in ALONE]


@pytest.mark.parametrize("name", ALONE)
def test_the_kit_passes_every_dialogue_of_a_process(kit: str, name: str, encoding: Encoding) -> None:
    hold_dialogues(conformance(kit).argv, [name], encoding)


def test_the_kit_passes_all_other_dialogues(kit: str, encoding: Encoding) -> None:
    assert len(TOGETHER) > 15
    hold_dialogues(conformance(kit).argv, [name for name in TOGETHER if is_for(dialogue(name), encoding)], encoding)


TEXTS = ["", "(╯°□°)╯︵ ┻━┻", 'quote " and \\ and \n \u2028 \0 😁', "x" * 1_000_000]
NUMBERS = [0, 1.0, 0.1, 1e300, -(2**63), 2**63 - 1, 2**64 - 1]
VALUES = [None, True, *NUMBERS, *TEXTS, [], {}, [[[1]]], {"a": None, "clock": 3}, list(range(50_000))]


def test_every_value_comes_back_as_it_was_sent(kit: str, encoding: Encoding, tmp_path: Path) -> None:
    with Bot(conformance(kit), encoding, tmp_path / "log") as bot:
        bot.initialize("conformance")
        for value in VALUES:
            answer = bot.call("echo", {"value": value})
            if kit == "javascript" and repr(value) == "1.0":
                value = 1  # JavaScript has one kind of number
            assert (answer, type(answer)) == (value, type(value))
        assert (bot.exit(), bot.stderr()) == (0, "")


def test_prints_and_failures_are_on_standard_error_and_nothing_else_is(
    kit: str, encoding: Encoding, tmp_path: Path
) -> None:
    with Bot(conformance(kit), encoding, tmp_path / "log") as bot:
        bot.initialize("conformance")
        assert bot.call("print", {"text": "x = 5 ┻━┻"}) is None
        assert bot.call("nothing") is None
        assert bot.stderr() == "x = 5 ┻━┻\n"
        assert bot.call("fail", {"message": "höher"}) == ErrorObject(-32000, "höher")
        assert "höher\n" in (said := bot.stderr())
        assert bot.call("nothing") is None
        assert (bot.close_input(), bot.stderr()) == (0, said)


# The examples.


def test_forager_wins_by_food_against_a_passive_rival(kit: str, kit_encoding: Encoding, tmp_path: Path) -> None:
    options = reantics.Options(draw_after=200)
    with Bot(example(kit, "reantics"), kit_encoding, tmp_path / "log") as bot:
        for seat in (0, 1):
            state = play(reantics.GAME, seated(seat, bot, Passive()), 5, options)
            assert (rank(state, seat), reason(state)) == (1, "food_goal")


def test_forager_beats_random_play_with_every_option(kit: str, tmp_path: Path) -> None:
    all_options = (
        reantics.Options(),
        reantics.Options(worker_health=2, board=False),
        reantics.Options(random_layout=(True, True)),
    )
    with Bot(example(kit, "reantics"), Encoding.MSGPACK, tmp_path / "log") as bot:
        for seed, (options, seat) in enumerate(product(all_options, (0, 1))):
            assert rank(play(reantics.GAME, seated(seat, bot, Rival()), seed, options), seat) == 1


ARENA = pytest.mark.parametrize("game", [tictactoe.GAME, quoridor.GAME, connectfour.GAME], ids=lambda game: game.name)


@SENSIBLE
@pytest.mark.parametrize("rival", [Rival(), Cheat()], ids=["rival", "cheat"])
def test_perfect_never_loses_and_flips_after_every_cheat(
    kit: str, rival: Rival, kit_encoding: Encoding, tmp_path: Path
) -> None:
    with Bot(example(kit, "tictactoe"), kit_encoding, tmp_path / "log") as bot:
        states = [play(tictactoe.GAME, seated(seed % 2, bot, rival), seed) for seed in range(20)]
        assert bot.stderr() == ""
    assert all(rank(state, seed % 2) == 1 for seed, state in enumerate(states))
    assert any(reason(state).startswith("FLIPPED: ") for state in states) == isinstance(rival, Cheat)


@SENSIBLE
@ARENA
def test_the_arenas_examples_flip_the_table_after_any_nonsense(
    kit: str, game: Game, kit_encoding: Encoding, tmp_path: Path
) -> None:
    with Bot(example(kit, game.name), kit_encoding, tmp_path / "log") as bot:
        for answer in NONSENSE:
            for seat in (0, 1):
                state = play(game, seated(seat, bot, Repeater(answer)), 1)
                assert rank(state, seat) == 1, answer
                assert reason(state).startswith("FLIPPED: "), answer
        assert bot.stderr() == ""


@SENSIBLE
@pytest.mark.parametrize("rival", [Rival(), Cheat()], ids=["rival", "cheat"])
def test_dropper_beats_random_play_and_flips_after_every_cheat(kit: str, rival: Rival, tmp_path: Path) -> None:
    with Bot(example(kit, "connectfour"), Encoding.MSGPACK, tmp_path / "log") as bot:
        states = [play(connectfour.GAME, seated(seed % 2, bot, rival), seed) for seed in range(8)]
        assert bot.stderr() == ""
    assert all(rank(state, seed % 2) == 1 for seed, state in enumerate(states))
    assert any(reason(state).startswith("FLIPPED: ") for state in states) == isinstance(rival, Cheat)


@SENSIBLE
def test_dropper_knows_when_a_column_is_full_and_whose_turn_it_is(kit: str, tmp_path: Path) -> None:
    played = "AAAAAABBBBBB"
    with Bot(example(kit, "connectfour"), Encoding.MSGPACK, tmp_path / "log") as bot:
        for column in (*connectfour.COLUMNS, "twice"):
            bot.initialize("connectfour", seat=1)
            bot.notify("event", {"youAre": connectfour.YELLOW, "id": "battle"})
            for ply, name in enumerate(played):
                bot.notify("event", {"player": connectfour.SIDES[ply % 2], "action": "putToken", "column": name})
            for name in "CD" if column == "twice" else column:
                bot.notify("event", {"player": connectfour.RED, "action": "putToken", "column": name})
            flips = bot.call("play", {"id": "battle"}) == {"action": arena.FLIP}
            assert flips == (column in ("A", "B", "twice")), column


@SENSIBLE
@pytest.mark.parametrize("rival", [Rival(), Cheat()], ids=["rival", "cheat"])
def test_mason_beats_random_play_and_flips_after_every_cheat(
    kit: str, rival: Rival, kit_encoding: Encoding, tmp_path: Path
) -> None:
    with Bot(example(kit, "quoridor"), kit_encoding, tmp_path / "log") as bot:
        states = [play(quoridor.GAME, seated(seed % 2, bot, rival), seed) for seed in range(20)]
        assert bot.stderr() == ""
    assert all(rank(state, seed % 2) == 1 for seed, state in enumerate(states))
    assert any(reason(state).startswith("FLIPPED: ") for state in states) == isinstance(rival, Cheat)


@SENSIBLE
def test_mason_notices_every_broken_rule(kit: str, tmp_path: Path) -> None:
    """Steps too far, through walls or onto pawns; walls that overlap, cross, or shut a pawn in."""
    with Bot(example(kit, "quoridor"), Encoding.MSGPACK, tmp_path / "log") as bot:
        states = [play(quoridor.GAME, seated(seed % 2, bot, RuleBreaker(seed // 4)), seed) for seed in range(60)]
        assert bot.stderr() == ""
    assert all(rank(state, seed % 2) == 1 for seed, state in enumerate(states))
    reasons = [reason(state) for state in states]
    for broken in ("Cannot move to ", "Cannot put - wall at ", "Cannot put | wall at "):
        assert any(text.startswith(f"FLIPPED: {broken}") for text in reasons), broken


MEETING = "e2 e8 e3 e7 e4 e6 a8h e5"
"""First is on e4, second on e5, and it is first's turn."""

JUMPS = [
    (f"{MEETING} a1h h1v", "e6 d4 f4 e3"),
    (f"{MEETING} e5h h1v", "d5 f5 d4 f4 e3"),
    (f"{MEETING} e5h d5v", "f5 d4 f4 e3"),
    (f"{MEETING} e4h h1v", "d4 f4 e3"),
    ("e2 a1h e3 a2h e4 a3h e5 a4h e6 a5h e7 a6h e8 a7h", "d9 f9 d8 f8 e7"),
    ("d1 e8 c1 d8 b1 c8 b2 b8 b3 a8 b4 a7 b5 a6 h1v a5", "a6 a4 b6 c5 b4"),
]
"""The answers so far, first's and second's in turn, and where first may go now (quoridor.md A5)."""


def notify_placement(bot: Bot, side: str, name: str) -> None:
    """Notifies the bot of a move or a wall."""
    bot.notify("event", {"player": side, "action": "move" if len(name) == 2 else "putWall", "position": name})


@SENSIBLE
def test_mason_knows_where_a_pawn_may_jump(kit: str, tmp_path: Path) -> None:
    with Bot(example(kit, "quoridor"), Encoding.MSGPACK, tmp_path / "log") as bot:
        for (played, allowed), square in product(JUMPS, quoridor.SQUARES):
            bot.initialize("quoridor", seat=1)
            bot.notify("event", {"youAre": "second", "id": "battle"})
            for ply, name in enumerate(played.split()):
                notify_placement(bot, quoridor.SIDES[ply % 2], name)
            notify_placement(bot, "first", square)
            flips = bot.call("play", {"id": "battle"}) == {"action": arena.FLIP}
            assert flips == (square not in allowed.split()), (played, square)


@SENSIBLE
def test_mason_counts_the_rivals_walls(kit: str, kit_encoding: Encoding, tmp_path: Path) -> None:
    walls = ["a1h", "c1h", "e1h", "g1h", "a3h", "c3h", "e3h", "g3h", "a5h", "c5h", "e5h"]
    with Bot(example(kit, "quoridor"), kit_encoding, tmp_path / "log") as bot:
        bot.initialize("quoridor", seat=1)
        bot.notify("event", {"youAre": "second", "id": "battle"})
        for number, wall in enumerate(walls, 1):
            notify_placement(bot, "first", wall)
            flips = bot.call("play", {"id": "battle"}) == {"action": arena.FLIP}
            assert flips == (number == 11)
            notify_placement(bot, "second", "e8" if number % 2 else "e9")


PROGRAMS = {
    "c": "build/reantics_bot",
    "cpp": "build/reantics_bot",
    "go": "build/reantics",
    "java": "target/referee-kit.jar",
    "javascript": "dist/made",
    "rust": "target/release/reantics_bot",
}
"""The program that the build of an example makes in its kit."""


@pytest.mark.parametrize("kit", PROGRAMS, indirect=True)
def test_a_second_build_of_an_example_makes_nothing_new(kit: str) -> None:
    folder, settings = work(kit), tomllib.loads((KITS / kit / "examples/reantics/bot.toml").read_text("utf-8"))
    before = (folder / PROGRAMS[kit]).stat()
    run(settings["build"], folder / "examples" / "reantics")
    after = (folder / PROGRAMS[kit]).stat()
    assert after.st_ino == before.st_ino
    assert kit == "go" or after.st_mtime_ns == before.st_mtime_ns, "Go updates the time of unchanged files too"


# The templates.


@pytest.mark.parametrize(
    ("name", "game", "options"),
    [
        ("my_quoridor", quoridor.GAME, quoridor.Options(max_turns=40)),
        ("my_reantics", reantics.GAME, reantics.Options(draw_after=100)),
        ("my_tictactoe", tictactoe.GAME, tictactoe.Options()),
        ("my_connectfour", connectfour.GAME, connectfour.Options()),
    ],
    ids=["my_quoridor", "my_reantics", "my_tictactoe", "my_connectfour"],
)
def test_the_templates_play_by_the_rules(
    kit: str, name: str, game: Game, options: Any, kit_encoding: Encoding, tmp_path: Path
) -> None:
    with Bot(example(kit, name), kit_encoding, tmp_path / "log") as bot:
        for seed in range(2):
            play(game, seated(seed, bot, Rival()), seed, options)
        assert bot.exit() == 0


@pytest.mark.parametrize(
    "game", [connectfour.GAME, quoridor.GAME, reantics.GAME, tictactoe.GAME], ids=lambda game: game.name
)
def test_a_templates_luck_comes_from_the_matchs_seed(kit: str, game: Game, tmp_path: Path) -> None:
    """Its first answers are the same for the same seed, and differ between seeds."""
    state = game.new(Setup(1, NAMES, game.options()))
    shown = [notice for notice in state.opening() if isinstance(notice, Notice) and 0 in notice.to]
    (call,) = state.calls()

    def first_answers() -> list[Any]:
        answers = []
        for seed in range(5):
            bot.initialize(game.name, seed=seed)
            for notice in shown:
                bot.notify(notice.method, msgspec.to_builtins(notice.params))
            answers.append(bot.call(call.method.name, msgspec.to_builtins(call.params)))
        return answers

    with Bot(example(kit, f"my_{game.name}"), Encoding.MSGPACK, tmp_path / "log") as bot:
        answers = first_answers()
        assert first_answers() == answers
    assert any(answer != answers[0] for answer in answers)


# Strange events.


def test_a_member_of_a_wrong_type_is_absent_and_a_member_of_any_type_is_kept(
    kit: str, encoding: Encoding, tmp_path: Path
) -> None:
    shown = [
        ({"youAre": "O", "id": "battle"}, "O battle - - - -"),
        ({"player": "X", "action": 5, "position": {}, "youAre": [], "id": None, "winner": 7}, "- - X 5 {} -"),
        ({"player": "X", "action": [1], "youAre": 7, "id": {}, "winner": ["X"]}, "- - X [1] - -"),
        ({"player": "O", "youAre": True, "id": 0.5, "winner": False, "method": "exit"}, "- - O - - -"),
        ({"winner": "draw"}, "- - - - - draw"),
    ]
    with Bot(probe(kit, "spy"), encoding, tmp_path / "log") as bot:
        bot.initialize("tictactoe")
        for event, heard in shown:
            bot.notify("event", event)
            told = bot.call("play", {"id": "battle"})
            assert told == (ErrorObject(-32000, heard) if kit in ENUMERATING else {"action": heard})
        assert kit in ENUMERATING or bot.stderr() == ""
