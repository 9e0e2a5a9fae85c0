"""The number of seats of a game that leaves a choice, in every command that decides what is played."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from contests import games, referee, tournament
from hosting import hosted
from rules_games import SERVES, write_game
from submissions import RUN, zip_of

from referee.addons.ladder.reading import Ladder
from referee.addons.rules.source import SOURCE
from referee.addons.tournament.intake.objects import Repository
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.store.ledger import PLAN

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240), pytest.mark.usefixtures("forked")]

ROUND = """
def place(seats, seat):
    return awaits([seats, seat], seat)

def step(position, answers, faults, luck):
    seats, seat = position
    if faults:
        ranks = [2 if str(each) in faults else 1 for each in range(seats)]
        return over(position, ranks, rulings=[{"seat": int(each), "penalty": "loses", "out": True} for each in faults])
    return place(seats, seat + 1) if seat + 1 < seats else over(position, range(1, seats + 1))

serve(start=lambda options, seats, luck: place(seats, 0), step=step, legal=lambda position, seat, most: [0])
"""
"""One answer from every seat. The first seat wins."""
BOT = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "exit":
        break
    if message["method"] == "initialize" and SEATS not in (0, len(message["params"]["names"])):
        sys.exit("a game of another number of seats")
    if "id" in message:
        result = {} if message["method"] == "initialize" else 0
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""
"""Plays games of `SEATS` seats alone; 0 = of any number."""
GAME = ("--game", "./round")
FIVE = "round is not played by 5 bots; expected 2 or 3 or 4"
REFUSED = (
    ("tournament run a b c d e --game ./round --seats 5", FIVE),
    ("tournament run five.toml", FIVE),
    ("tournament prepare teams --into p --game ./round --seats 5", FIVE),
    ("gate a b --game ./round --seats 5", FIVE),
    ("tune a --game ./round --param A=1:5 --seats 5", FIVE),
    ("host h --game ./round --seats 5", FIVE),
    ("ladder new l --game ./round --seats 5 --install referee", FIVE),
    ("check a --game ./round --seats 5", FIVE),
    ("tournament run a b --game ./round --seats 0", "round is not played by 0 bots"),
    ("tournament run a b c --game tictactoe --seats 3", "tictactoe is not played by 3 bots; expected 2"),
    ("tournament run a b --game ./round --seats 3", "round-robin of round takes at least 3 bots; there are 2"),
    ("tournament run a b c --game ./round --seats 3 --format swiss", "swiss is for games with two seats"),
    (
        "tournament prepare teams --into p --game ./round --seats 3 --format series",
        "series is for games with two seats",
    ),
    ("tournament run cup --seats 4", "--seats 4: the games have 3 seats; others need the whole command, with --game"),
    ("tournament prepare teams --into cup --seats 4", "--seats 4: the games have 3 seats"),
    (
        "tournament run a b c d --game ./round --ledger cup --seats 4",
        "holds a tournament whose games have 3 seats, not 4",
    ),
    ("tournament merge cup other", "its games have 2 seats, not 3"),
    ("host cup --seats 3", "seats, seed and title are those of a new contest"),
)
"""With bots, a file and tournaments of three and of two seats: the command, and why it is refused."""


def bot(folder: Path, seats: int = 0) -> Path:
    """Writes a bot that plays games of that number of seats alone."""
    folder.mkdir(parents=True)
    (folder / "bot.py").write_text(f"SEATS = {seats}\n{BOT}")
    (folder / "bot.toml").write_text(RUN)
    return folder


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """Yields a folder with a game for two to four and bots a to e and x to z, which play three seats alone."""
    write_game(tmp_path / "round", SERVES + ROUND, "round", seats=[2, 4])
    for name in "abcde":
        bot(tmp_path / name)
    for name in "xyz":
        bot(tmp_path / "teams" / name, 3)
    yield tmp_path
    SOURCE.forget()


def seats_of(folder: Path) -> set[int]:
    """Returns the numbers of seats of a tournament's plan and of its games."""
    return {read_plan(folder / PLAN).seats, *(len(line.r) for line in games(folder).values())}


@pytest.mark.parametrize(("in_file", "asked", "seats"), [(None, None, 2), (None, 3, 3), (4, None, 4), (3, 4, 4)])
def test_a_tournament_plays_games_of_as_many_seats_as_asked(
    place: Path, in_file: int | None, asked: int | None, seats: int
) -> None:
    """The command line has precedence over a file, and a tournament that continues has the seats that it had."""
    words: tuple[str, ...] = (*GAME, *"abcd")
    if in_file is not None:
        (place / "cup.toml").write_text(f'game = "./round"\nbots = ["a", "b", "c", "d"]\nseats = {in_file}\n')
        words = ("cup.toml",)
    tournament(place, *words, *(() if asked is None else ("--seats", str(asked))), "--games", "1", "--ledger", "cup")
    before = games(place / "cup")
    assert seats_of(place / "cup") == {seats} and before and not any(line.f for line in before.values())
    tournament(place, *(words if asked is None else (*GAME, *"abcd")), "--ledger", "cup", "--games", "2")
    assert seats_of(place / "cup") == {seats} and before.items() < games(place / "cup").items()


def test_an_intake_checks_bots_in_games_of_the_tournaments_seats(place: Path) -> None:
    (place / "one.txt").write_text("teams/x\n")
    words = ("--into", "cup", *GAME, "--jobs", "1")
    assert "0 accepted, 1 refused" in tournament(place, "prepare", "one.txt", *words, code=1)
    assert "3 accepted, 0 refused" in tournament(place, "prepare", "teams", *words, "--seats", "3")
    SOURCE.forget()  # as in another process, which finds the rules in the folder
    tournament(place, "cup", "--games", "1")
    assert seats_of(place / "cup") == {3} and not any(line.f for line in games(place / "cup").values())


def test_the_command_in_a_finding_names_the_seats(place: Path) -> None:
    words = ("check", "teams/x", *GAME, "--only", "starts")
    assert "passed" in referee(place, *words, "--seats", "3")
    report = json.loads(referee(place, *words, "--seats", "4", "--json", code=1, errors=False))
    (again,) = [found["again"] for check in report["checks"] for found in check["findings"] if "again" in found]
    assert again[again.index("--seats") + 1] == "4"


def test_a_gate_and_a_tuning_play_games_of_as_many_seats_as_asked(place: Path) -> None:
    terms = (*GAME, "--seats", "3", "--max-games", "3", "--jobs", "1", "--ledger", "cup")
    assert json.loads(referee(place, "gate", "a", "b", *terms, "--json", code=4, errors=False))["seats"] == 3
    assert seats_of(place / "cup") == {3}
    referee(place, "gate", "a", "b", *GAME, "--resume", *terms[4:], code=4)  # the folder has the number
    tuned = referee(place, "tune", "a", "--param", "A=1:5", "--games", "3", *terms[:-1], "tuned", code=4, errors=True)
    assert "3 games" in tuned


def test_a_ladder_is_played_by_as_many_as_asked(place: Path) -> None:
    referee(place, "ladder", "new", "l", *GAME, "--seats", "3", "--install", "git+https://example.org/referee@v1")
    with Repository(place / "l") as repository:
        assert Ladder(repository, repository.commit("HEAD")).seats == 3


def test_a_hosted_contest_accepts_bots_that_play_its_number_of_seats(place: Path) -> None:
    with hosted(place / "cup", "--game", str(place / "round"), "--seats", "3") as running:
        blue = running.team(running.organiser(), "Blue")
        blue.hand_in(zip_of(place / "teams" / "x", place / "x.zip"))
        assert blue.decided(1)["status"] == "accepted"
    assert read_plan(place / "cup" / PLAN).seats == 3


def test_other_seats_are_refused_with_those_that_are_possible(place: Path) -> None:
    (place / "five.toml").write_text('game = "./round"\nbots = ["a", "b", "c", "d", "e"]\nseats = 5\n')
    for name, seats in (("cup", "3"), ("other", "2")):
        tournament(place, *GAME, *"abc", "--seats", seats, "--ledger", name)
    for words, why in REFUSED:
        assert why in referee(place, *words.split(), code=2), words
