"""Every option of a tournament in every format: it changes something, or it is refused."""

import random
from pathlib import Path

import pytest
from contests import tournament
from written_games import plan

from referee.addons.tournament import format_options
from referee.addons.tournament.cli.request import check_used
from referee.addons.tournament.format_options import default_games, default_seating, default_ties
from referee.addons.tournament.formats.games import Field, Outcome, ScheduledGame, Seating
from referee.addons.tournament.formats.schedules import FORMATS, drawn_groups
from referee.addons.tournament.formats.swiss import swiss_so_far
from referee.addons.tournament.plan import Plan, checked
from referee.addons.tournament.reports.notes import ranking_rule
from referee.addons.tournament.ties import Tie
from referee.harness.common.errors import UsageError

TWO = 2
ALL = frozenset(FORMATS)
BRACKETS = frozenset({"knockout", "double-elimination"})
OWN_SEATS = frozenset({"self", "judged"})
USED = {
    "games": ALL,
    "seating": ALL - OWN_SEATS - {"series", "ladder"},
    "first_to": frozenset({"series"}),
    "rounds": frozenset({"swiss"}),
    "groups": frozenset({"round-robin"}),
    "late_points": frozenset({"swiss"}),
    "ties": frozenset({"round-robin", "list-order", "swiss"}),
    "play_off": frozenset({"round-robin", "swiss"}),
    "seeds_from": BRACKETS,
}
"""By option, the formats at two seats in which it does something, from the pages."""
VALUES: dict[str, object] = {
    "games": 5,
    "seating": Seating.FIXED,
    "first_to": 2,
    "rounds": 2,
    "groups": 2,
    "late_points": 0.5,
    "ties": (Tie.WINS,),
    "play_off": 2,
}


def test_every_format_has_a_row_of_options() -> None:
    assert format_options.FORMATS.keys() == FORMATS.keys()


class Luck:
    """Results that follow from the game."""

    def get(self, game: ScheduledGame) -> Outcome:
        first = random.Random(repr(game)).random() < 0.6
        return Outcome((1, 2) if first else (2, 1), (float(first), float(not first)))


def schedule(format: str, **changes: object) -> list[object]:
    """Returns the games of a format and the points without play, with one late bot."""
    bots = {"self": 2, "two-player": 2, "groups": 4}.get(format, 9)
    values: dict[str, object] = {"games": 40 if format == "ladder" else 4, "seating": default_seating(format)}
    cases = ((bots, 0), (bots, 1)) if format == "judged" else ()
    late = ((),) * (bots - 1) + ((2,),) if format == "swiss" else ()
    if number := changes.pop("groups", None):
        changes["groups"] = drawn_groups(range(bots), number, 1)  # type: ignore[arg-type]
    field = Field(bots, 2, seed=1, cases=cases, changes=late, **(values | changes))  # type: ignore[arg-type]
    found: list[object] = [game for game in FORMATS[format](field, Luck()) if game is not None]
    return [*found, *(each.byes for each in swiss_so_far(field, Luck()))] if format == "swiss" else found


def asked(format: str, option: str, value: object) -> Plan:
    """Returns the plan of a request with one option, as the command line checks it."""
    check_used(format, TWO, {option: value})
    bots = {"self": 2, "two-player": 2, "groups": 4}.get(format, 8)
    values: dict[str, object] = {"games": default_games(format, TWO), "ties": default_ties(format, TWO)}
    return checked(plan("round-robin", bots).replaced(**values | {"format": format, option: value}))


@pytest.mark.parametrize("option", VALUES)
@pytest.mark.parametrize("format", sorted(FORMATS))
def test_an_option_changes_the_tournament_or_is_refused(format: str, option: str) -> None:
    value = VALUES[option]
    if value is default_seating(format):
        value = Seating.ALTERNATE
    if format not in USED[option]:
        with pytest.raises(UsageError, match=option.replace("_", ".")):
            asked(format, option, value)
        return
    if format != "judged":  # whose cases are guests, which this plan has not
        found = asked(format, option, value)
    if option in ("ties", "play_off"):
        assert ranking_rule(found, []) != ranking_rule(found.replaced(ties=(), play_off=0), [])
    else:
        assert schedule(format, **{option: value}) != schedule(format)


@pytest.mark.parametrize(
    ("format", "option", "value"),
    [("series", "seating", Seating.ALTERNATE), ("ladder", "seating", Seating.SEED_GROUP), ("swiss", "ties", ())],
)
def test_an_option_that_says_what_a_format_does_anyhow_is_allowed(format: str, option: str, value: object) -> None:
    asked(format, option, value)


@pytest.mark.parametrize(
    ("option", "value", "format"),
    [
        ("--seating", "fixed", "ladder"),
        ("--ties", "none", "gauntlet"),
        ("--rounds", "2", "knockout"),
        ("--seeds-from", "cup", "swiss"),
    ],
)
def test_the_command_line_refuses_what_does_nothing(tmp_path: Path, option: str, value: str, format: str) -> None:
    bots = ["--game", "tictactoe", "@random", "@baseline"]
    if value == "cup":
        tournament(tmp_path, *bots, "--games", "2", "--ledger", "cup")
    said = tournament(tmp_path, *bots, "--format", format, option, value, code=2)
    assert said.startswith(f"referee: {option}") and said.count("\n") == 1, said
    assert not (tmp_path / "tournaments").exists()


def test_an_option_of_a_stage_that_does_nothing_is_refused(tmp_path: Path) -> None:
    head = 'game = "tictactoe"\nformat = "swiss"\nbots = ["@random", "@baseline", "@advanced"]\n[[stages]]\nbots = 2\n'
    for format, key, words in (
        ("knockout", "rounds = 2", "--rounds 2: knockout"),
        ("knockout", "ties = []", "--ties: knockout"),
        ("round-robin", "first_to = 2", "--first-to 2: round-robin"),
    ):
        (tmp_path / "cup.toml").write_text(f'{head}format = "{format}"\n{key}\n')
        assert f"stages: {words} with 2 seats does not use it" in tournament(tmp_path, "cup.toml", code=2)
