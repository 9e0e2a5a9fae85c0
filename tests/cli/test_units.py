"""Parsing of times and sizes."""

import pytest

from referee.games.game import TimeControl
from referee.harness.cli.limit_options import LimitOptions
from referee.harness.cli.units import seconds, size
from referee.harness.common.errors import UsageError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1s", 1.0),
        ("250ms", 0.25),
        ("2m", 120.0),
        ("2min", 120.0),
        ("1h", 3600.0),
        ("1.5", 1.5),
        (".5s", 0.5),
        ("3 s", 3.0),
    ]
    + [(text, None) for text in ("none", "off", "inf")],
)
def test_times(text: str, value: float | None) -> None:
    assert seconds(text, "--call-time") == value


@pytest.mark.parametrize(
    "text", ["", "0", "0s", "0.0ms", "-1s", "1x", "s", "1s2", "1e3", "nan", "1,5s", " 1s", "9" * 400, "300000h"]
)
def test_a_wrong_time_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"^--call-time .*: expected a time above zero, such as 1s, 250ms or 2m"):
        seconds(text, "--call-time")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("256MiB", 256 << 20),
        ("64 mib", 64 << 20),
        ("1.5k", 1536),
        ("1G", 1 << 30),
        ("100MB", 100_000_000),
        ("2GB", 2_000_000_000),
        ("10B", 10),
        ("1048576", 1 << 20),
        ("none", None),
    ],
)
def test_sizes(text: str, value: int | None) -> None:
    assert size(text, "--memory") == value


@pytest.mark.parametrize("text", ["", "0", "0MiB", "-1", "1TiBs", "MiB", "1 2", "1e6", "0.5", "9" * 400, "1048577G"])
def test_a_wrong_size_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"^--memory .*: expected a size such as 256MiB or 1G"):
        size(text, "--memory")


OWN = TimeControl(initial_s=18.0, increment_s=2.0, match_s=100.0)


def test_without_options_the_game_has_its_own_time() -> None:
    assert LimitOptions().time(OWN) == OWN


@pytest.mark.parametrize(
    ("clock", "initial_s", "increment_s"),
    [("60+2", 60.0, 2.0), ("300", 300.0, 0.0), ("0.5+0.1", 0.5, 0.1), ("none", None, 0.0)],
)
def test_a_bank_replaces_the_games_bank(clock: str, initial_s: float | None, increment_s: float) -> None:
    assert LimitOptions(clock=clock).time(OWN) == TimeControl(initial_s, increment_s, None, 100.0)


@pytest.mark.parametrize(
    ("clock", "periods"),
    [
        ("40/60", {"answers": 40}),
        ("40/60+0.5", {"answers": 40, "increment_s": 0.5}),
        ("40/60:30+0.5", {"answers": 40, "final_s": 30.0, "increment_s": 0.5}),
    ],
)
def test_a_bank_may_be_for_a_number_of_answers(clock: str, periods: dict[str, float]) -> None:
    assert LimitOptions(clock=clock).time(OWN) == TimeControl(initial_s=60.0, match_s=100.0, **periods)


def test_a_limit_of_a_call_is_added_to_the_games_bank() -> None:
    assert LimitOptions(call_time="250ms").time(OWN) == TimeControl(18.0, 2.0, 0.25, 100.0)


@pytest.mark.parametrize(
    "clock",
    [
        "",
        "0",
        "0+2",
        "60+",
        "+2",
        "60s",
        "1+2+3",
        "-5",
        "9" * 400,
        "0/60",
        "40/0",
        "60:30",
        "40/60:0",
        "1+" + "9" * 400,
    ],
)
def test_a_wrong_bank_is_refused_with_an_example(clock: str) -> None:
    with pytest.raises(UsageError, match=r"^--clock .*: expected seconds and an increment, such as 60\+2 or 300"):
        LimitOptions(clock=clock).time(OWN)


def test_a_bank_replaces_the_games_limits_of_a_call_unless_they_are_given() -> None:
    game = TimeControl(per_call_s=1.0, opening_call_s=5.0, match_s=100.0)
    assert LimitOptions(clock="60+1").time(game) == TimeControl(60.0, 1.0, None, 100.0)
    assert LimitOptions(clock="60+1", call_time="3s").time(game) == TimeControl(60.0, 1.0, 3.0, 100.0)
    assert LimitOptions(clock="none").time(game).per_call_s == 1.0
