"""Tournaments of several stages: the best of one are the seeds of the next, from the plan and the games alone."""

import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from contests import command, course, drawing_bot, environment, games, table, tournament
from written_games import numbers, plan, play

from referee.addons.tournament.formats.games import ScheduledGame
from referee.addons.tournament.inbox import Change, Enter, Withdraw, applied
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Entry, Plan, read_plan, write_plan
from referee.addons.tournament.plan_changes import is_closed
from referee.addons.tournament.reports.all_stages import all_standings, ranked
from referee.addons.tournament.stage_settings import Stage
from referee.addons.tournament.stages import begun, stage_plan
from referee.addons.tournament.store.reader import Book
from referee.addons.tournament.ties import Tie
from referee.harness.common.errors import UsageError

pytestmark = pytest.mark.slow


def changed(plan: Plan, change: Change, book: Book) -> Plan:
    return applied(plan, change, lambda: book)


FORMATS = [
    ("swiss", [Stage("knockout", 4, games=4)], {}),
    ("round-robin", [Stage("double-elimination", 5)], {}),
    ("round-robin", [Stage("knockout", 4)], {"groups": 2}),
    ("ladder", [Stage("knockout", 2, games=7, name="final")], {"games": 300}),
    ("swiss", [Stage("round-robin", 6), Stage("knockout", 4, name="play-off"), Stage("series", 2, games=5)], {}),
]


@pytest.mark.parametrize(("format", "stages", "more"), FORMATS)
def test_the_best_of_a_stage_are_the_seeds_of_the_next_also_if_it_is_interrupted(
    format: str, stages: list[Stage], more: dict[str, object]
) -> None:
    cup, whole = plan(format, 9, *stages, **more), Book()
    assert play(cup, whole, seed=2)
    parts = list(begun(cup, whole, ranked))
    assert len(parts) == len(stages) + 1
    for before, stage, part in zip(parts, stages, parts[1:], strict=False):
        order = [bot for equal in ranked(before, whole) for bot in equal if bot in before.field.present]
        worst = max(place for place, bot in enumerate(order) if bot in part.field.present)
        assert len(part.field.present) == stage.bots
        tied = {bot for equal in ranked(before, whole) if set(equal) & set(part.field.present) for bot in equal}
        assert worst < stage.bots or set(order[: worst + 1]) <= tied
    found = all_standings(cup, whole)
    assert found.played == whole.count and not any("not counted" in note for note in found.notes)
    assert len(found.rows) == 9 and [row.rank for row in found.rows] == sorted(row.rank for row in found.rows)
    last = [cup.bots[bot].ident for equal in ranked(parts[-1], whole) for bot in equal]
    assert [row.ident for row in found.rows[: stages[-1].bots]] == last[: stages[-1].bots]
    wins = sum(row.wins + row.draws / 2 for row in found.rows)
    assert wins == whole.count
    assert sum(row.points for row in found.rows) == wins + sum(2 * row.byes for row in found.rows)

    pieces, dice = Book(), random.Random(3)
    while not play(cup, pieces, seed=pieces.count, most=pieces.count + dice.randint(1, 60)):
        all_standings(cup, pieces, chances=False)
    again = all_standings(cup, pieces)
    if format == "ladder":  # it also looks at which games are running, and at how long they took
        *_, final = begun(cup, pieces, ranked)
        assert pieces.count == again.played >= 300 + 4 and not any("not counted" in note for note in again.notes)
        assert final.field.seeds == tuple(bot for equal in ranked(stage_plan(cup, 0), pieces) for bot in equal)[:2]
        return
    assert numbers(pieces) == numbers(whole)
    one, two = ([(row.name, row.rank, row.points) for row in each.rows] for each in (found, again))
    assert one == two


def test_a_pair_has_other_keys_and_seeds_in_each_stage() -> None:
    cup = plan("swiss", 4, Stage("knockout", 4), Stage("knockout", 2, name="final"))
    keys = Keys(cup)
    same = [ScheduledGame((0, 1), 0, stage) for stage in ("", "knockout", "final")]
    assert len({keys.key(game) for game in same}) == len({keys.seed(game) for game in same}) == 3


def test_a_plan_is_read_as_it_was_written_and_has_old_keys_and_words_without_new_options(tmp_path: Path) -> None:
    old, file = plan("swiss", 4), tmp_path / "tournament.toml"
    new = plan("swiss", 4, Stage("knockout", 2, games=5, name="final"))
    ties = [plan("swiss", 6, ties=each) for each in ((Tie.MEDIAN, Tie.RATING), ())]
    for each in (new, plan("swiss", 4, play_off=2), *ties, old):
        write_plan(each, file)
        assert read_plan(file) == each
    assert "stages" not in file.read_text() and "play_off" not in file.read_text()
    game = ScheduledGame((0, 1), 0)
    assert Keys(old).key(game) == Keys(new).key(game)
    with pytest.raises(UsageError, match="--play-off -1: expected a number from 0 on"):
        plan("swiss", 4, play_off=-1)


@pytest.mark.parametrize(
    ("format", "stages", "words"),
    [
        ("ladder", [Stage("knockout", 2)], "a ladder without end"),
        ("gauntlet", [Stage("knockout", 2)], "no stage can follow"),
        ("swiss", [Stage("groups", 2)], "'groups' cannot follow swiss; expected double-elimination, knockout"),
        ("swiss", [Stage("knockout", 1)], "needs `bots` from 2 on"),
        ("swiss", [Stage("knockout", 4), Stage("knockout", 2)], "'knockout' is the name of another stage"),
    ],
)
def test_stages_that_cannot_follow_are_refused(format: str, stages: list[Stage], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        plan(format, 4, *stages, games=0 if format == "ladder" else 2)


def test_a_bot_that_goes_during_a_bracket_keeps_its_place_and_its_opponent_has_a_walk_over() -> None:
    cup, book = plan("swiss", 9, Stage("knockout", 4, games=2)), Book()
    while not is_closed(cup, book.line_ups):
        assert not play(cup, book, seed=4, most=book.count + 1)
    *_, bracket = begun(cup, book, ranked)
    gone = bracket.field.present[-1]
    later = changed(cup, Withdraw((cup.bots[gone].name,)), book)
    assert [place for place, each in enumerate(later.bots) if each.walkover] == [gone]
    with pytest.raises(UsageError, match="the last stage goes on without late"):
        changed(later, Enter((Entry("late", "", "f" * 64, "@random"),)), book)
    assert changed(later, Enter(back=(cup.bots[gone].name,)), book) == cup
    assert play(later, book, seed=4)
    *_, after = begun(later, book, ranked)
    assert after.field.present == bracket.field.present
    found = all_standings(later, book)
    decisions = [box.decision for part in found.brackets[0].parts for column in part.columns for box in column.boxes]
    assert "walk-over" in decisions and not any("not counted" in note for note in found.notes)
    assert {row.ident for row in found.rows[:4]} == {cup.bots[bot].ident for bot in bracket.field.present}


@pytest.mark.parametrize("format", ["swiss", "round-robin", "series"])
@pytest.mark.parametrize("played", [3, 8])
def test_no_played_game_is_lost_when_a_bot_goes_during_a_later_stage(format: str, played: int) -> None:
    further = Stage(format, 6, games=3 if format == "series" else 2, rounds=4 if format == "swiss" else None)
    cup, book = plan("round-robin", 9, further), Book()
    assert not play(cup, book, seed=4, most=72 + played)
    *_, before = begun(cup, book, ranked)
    gone = before.field.present[1]
    later = changed(cup, Withdraw((cup.bots[gone].name,)), book)
    kept = numbers(book)
    assert play(later, book, seed=4)
    new = [line_up for line_up, each in numbers(book).items() if each - kept.get(line_up, set())]
    assert new and not any(later.bots[gone].ident in line_up for line_up in new)
    found = all_standings(later, book, chances=False)
    assert found.played == book.count and not any("not counted" in note for note in found.notes)
    points = {row.ident: row.points - row.wins - row.draws / 2 for row in found.rows}
    assert all(0 <= without_play <= 2 * 4 for without_play in points.values())
    assert points[later.bots[gone].ident] == 0 and (format == "swiss") == any(points.values())


TAKEN_BACK = [
    ("knockout", ()),
    ("double-elimination", ()),
    *(("round-robin", (Stage(format, 6, games=2),)) for format in ("knockout", "swiss", "round-robin", "series")),
]


@pytest.mark.parametrize(("format", "stages"), TAKEN_BACK)
def test_a_bot_gets_its_place_back_until_a_game_needs_its_walk_over(format: str, stages: tuple[Stage, ...]) -> None:
    outcomes = Counter[bool]()
    is_free = any(each.format in ("round-robin", "series") for each in stages)
    for seed in range(30):
        if seed >= 8 and (outcomes[False] or is_free):
            break
        dice, (cup, book) = random.Random(seed), (plan(format, 7, *stages), Book())
        play(cup, book, seed, most=42 * len(stages) + dice.randint(1, 10))
        name, before, since = dice.choice(cup.bots).name, book.count, dice.choice((0, 0, 1, 3, 8))
        gone = changed(cup, Withdraw((name,)), book)
        play(gone, book, seed, most=before + since)
        try:
            back = changed(gone, Enter(back=(name,)), book)
        except UsageError:
            outcomes[False] += 1
            assert book.count > before or not any(entry.walkover for entry in gone.bots)
            continue
        outcomes[True] += 1
        assert back == cup and play(back, book, seed)
        found = all_standings(back, book)
        assert found.played == book.count and not any("not counted" in note for note in found.notes)
    assert outcomes[True] and (outcomes[False] or is_free)


def test_a_bot_that_goes_before_the_bracket_does_not_reach_it() -> None:
    cup, book = plan("round-robin", 6, Stage("knockout", 4)), Book()
    play(cup, book, seed=5, most=6 * 5)
    best = ranked(next(begun(cup, book, ranked)), book)[0][0]
    later = changed(cup, Withdraw((cup.bots[best].name,)), book)
    *_, bracket = begun(later, book, ranked)
    assert best not in bracket.field.present and len(bracket.field.present) == 4


def test_a_swiss_and_a_bracket_of_four_are_played_by_bots_interrupted_once(tmp_path: Path) -> None:
    bots = [drawing_bot(tmp_path / "bots", name, salt) for salt, name in enumerate("abcde")]
    file = tmp_path / "cup.toml"
    listed = ", ".join(f'"{bot}"' for bot in (each.replace('"', "'") for each in bots))
    file.write_text(
        f'title = "Cup"\ngame = "tictactoe"\nformat = "swiss"\nseed = 5\nbots = [{listed}]\n'
        '[[stages]]\nformat = "knockout"\nbots = 4\ngames = 6\nname = "bracket"\n'
    )
    said = tournament(tmp_path, file, "--ledger", tmp_path / "whole")
    assert "bracket:\n" in said and "semi-finals" in said and "third place" in said
    whole, found = games(tmp_path / "whole"), table(tmp_path / "whole")
    assert found["format"] == "swiss, then bracket" and len(found["stages"]) == 2
    (bracket,) = found["brackets"]
    assert [row["rank"] for row in found["rows"]][:4] == [1, 2, 3, 4]
    final = bracket["parts"][0]["columns"][1]["boxes"][0]["lines"]
    assert [line["name"] for line in final if line["won"]] == [found["rows"][0]["name"]]

    log = (tmp_path / "log").open("wb")
    run = subprocess.Popen(
        [*command(file, "--ledger", tmp_path / "pieces"), "--jobs", "1"],
        cwd=tmp_path, env=environment(tmp_path), stdout=log, stderr=log,
    )  # fmt: skip
    try:
        while run.poll() is None and not ((tmp_path / "pieces" / "ledger").exists() and games(tmp_path / "pieces")):
            time.sleep(0.02)
        run.send_signal(signal.SIGINT)
        run.wait(60)
    finally:
        run.kill()
        run.wait()
        log.close()
    tournament(tmp_path, tmp_path / "pieces")
    assert {key: course(line) for key, line in games(tmp_path / "pieces").items()} == {
        key: course(line) for key, line in whole.items()
    }
    tournament(tmp_path, "show", tmp_path / "pieces", "--follow")  # ends: all is played
    again = table(tmp_path / "pieces")
    assert again["brackets"] == found["brackets"] and again["rows"] == found["rows"]
    tournament(tmp_path, "add", tmp_path / "whole", bots[0].replace("a=", "h="), code=2)
