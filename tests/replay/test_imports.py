"""Files of the original competitions: AI Arena 21's `replay.txt` (section 10 of its rules) is shown as it was recorded,
and one line says what is wrong with a file."""

import json
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from test_exports import LINE, TURNS, eventful, record
from viewer_patches import patched

from referee.addons.web.page import lines
from referee.addons.web.replay_list import FolderList, replay_list
from referee.games.aiarena21 import Options, View
from referee.harness.cli.main import main
from referee.harness.common.errors import UsageError
from referee.harness.replay.formats.originals import Original, read_record
from referee.harness.replay.formats.records import export
from referee.harness.replay.reader import Replay

Shown = tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, Any]]
"""The views, the lines that led to them, and the last line of the data."""


@pytest.fixture(scope="module")
def match(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[View]]:
    """A match and its `replay.txt` in a folder, and the positions as its turns began, and the last."""
    folder = tmp_path_factory.mktemp("match")
    views = record(folder / "match.jsonl", eventful)
    export("aiarena21-replay", Replay(folder / "match.jsonl"), folder / "replay.txt")
    return folder, views


@pytest.fixture
def begun(match: tuple[Path, list[View]], tmp_path: Path) -> list[View]:
    """Those positions, with copies of the files."""
    shutil.copytree(match[0], tmp_path, dirs_exist_ok=True)
    return match[1]


def shown(path: Path) -> Shown:
    """Returns what the page draws of a file."""
    found = read_record(path)
    about, header, *frames, closing = map(msgspec.json.decode, lines(found))
    assert isinstance(found, Original)
    assert about["original"] == found.form.contents and about["command"] == ""
    assert header[1]["setup"] == {"seed": None, "options": None}
    value: Any = None
    views, said = [], []
    for patch, line in frames:
        if "result" not in line:
            value = patched(value, patch)
            views.append(value["view"])
            said.append(line)
    return views, said, closing


def plain(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


# What is shown.


def test_the_board_of_every_turn_is_the_records_own_in_what_the_file_holds(tmp_path: Path, begun: list[View]) -> None:
    views, said, closing = shown(tmp_path / "replay.txt")
    assert closing["verified"] == "as recorded"
    assert len(views) == TURNS + 1 == len(begun)
    first = plain(begun[0])
    assert views[0] == {name: first[name] for name in views[0]} | {"heatmap": []}
    for turn, (before, after) in enumerate(pairwise(begun)):
        seen = views[turn + 1]
        lying = [list(row) for row in after.items]
        for pile in after.deployed:  # the next turn's, which begins at once
            row, col = pile.location
            lying[row][col] = lying[row][col][: -len(pile.items)]
        wanted = {"turn": turn, "turns": TURNS, "game_map": after.game_map, "spawns": after.spawns, "items": lying}
        assert seen == plain(wanted | {"players": after.players, "heatmap": before.heatmap})
        assert said[turn + 1]["turn"] == turn + 1


def test_what_a_line_tells_beside_the_board_is_an_event(tmp_path: Path, begun: list[View]) -> None:
    _, said, _ = shown(tmp_path / "replay.txt")
    assert said[0] == {"opening": []}
    told = {line["turn"]: {event["method"]: event["params"] for event in line["events"]} for line in said[1:]}
    assert told[6]["bought"] == {"power_ups": ["bike", ""]}
    assert told[31]["auction"]["bids"] == [1, 2]
    assert told[31]["auction"]["locations"] == plain([player.location for player in begun[31].players])
    assert [turn for turn, each in told.items() if "auction" in each] == [31]
    assert {name for each in told.values() for name in each} == {"bought", "moved", "auction"}


def old_form(text: str) -> str:
    """As the original writes it: no blank, the end twice, nothing of ours."""
    played = [json.loads(line[8:]) for line in text.splitlines()]
    for line in played:
        line.pop("powerups", None)
    return "".join(f"[Replay]{json.dumps(line)}\n" for line in [*played, played[-1]])


def carried(text: str) -> str:
    """As it comes back from Windows."""
    return text.replace("\n", "\r\n") + "\r\n"


@pytest.mark.parametrize("form", [old_form, carried])
def test_other_forms_of_the_lines_show_the_same(form: Callable[[str], str], tmp_path: Path, begun: list[View]) -> None:
    ours, _, _ = shown(tmp_path / "replay.txt")
    (tmp_path / "old.txt").write_bytes(form((tmp_path / "replay.txt").read_text()).encode())
    theirs, _, closing = shown(tmp_path / "old.txt")
    assert theirs == ours
    assert closing == {"verified": "as recorded", "stderr": {}, "assessment": None}


def test_it_is_in_the_list_of_its_folder_with_its_scores(tmp_path: Path, begun: list[View]) -> None:
    (tmp_path / "notes.txt").write_text("nothing of ours\n")
    (tmp_path / "broken.txt").write_text("[Replay] {}\n")
    (tmp_path / "match.jsonl").unlink()
    (entry,) = FolderList(tmp_path).entries()
    scores = [player.score for player in begun[-1].players]
    assert (entry.title, entry.game, entry.names) == ("replay.txt", "aiarena21", ("Team 1", "Team 2"))
    assert (entry.turns, entry.ranks, entry.live) == (TURNS, (), False)
    assert entry.reason == f"original file: {scores[0]} and {scores[1]} points"
    assert replay_list(tmp_path / "replay.txt").entries()[0].names == entry.names


# What is wrong with one.


def changed(number: int, **members: Any) -> Callable[[list[str]], list[str]]:
    """That line, from 1, with other members; None: without it."""

    def change(text: list[str]) -> list[str]:
        line = json.loads(text[number - 1][8:]) | members
        line = {name: value for name, value in line.items() if value is not None}
        return [*text[: number - 1], f"[Replay] {json.dumps(line)}", *text[number:]]

    return change


FAR = [{"new_pos": [0, 41], "delta": [0, 0]}, {"new_pos": [0, 0], "delta": [0, 0]}]
END = TURNS + 2


@pytest.mark.parametrize(
    ("spoil", "turns", "words"),
    [
        (lambda text: text[:9], 8, "line 10: missing: the file has no end"),
        (lambda text: [*text[:9], text[9][:40]], 8, "line 10: Input data was truncated"),
        (
            lambda text: [*text[:9], "garbage", *text[9:]],
            8,
            "line 10: expected [Replay] and an object, found",
        ),
        (lambda text: [*text[:9], *text[10:]], 8, "line 10: remaining_rounds: expected 37, found 36"),
        (lambda text: [*text, text[5]], TURNS, f"line {END + 1}: there are turns after the end"),
        (lambda text: [*text, "x"], TURNS, f"line {END + 1}: expected [Replay] and an object, found 'x'"),
        (lambda text: [*text[:3], "[Replay]" + "[" * 5000], 2, "line 4: "),
        (changed(4, positions=FAR), 2, "line 4: positions: (0,41) is off the map of 1 rows of 41"),
        (changed(4, heatmap=[[0]]), 2, "line 4: heatmap: expected 1 rows of 41"),
        (changed(4, items=[]), 2, "line 4: items: expected 1 rows of 41"),
        (changed(4, items=[[["X"]] * 41]), 2, "line 4: items: expected O, S and D, found 'X'"),
        (changed(4, bike=None), 2, "line 4: Object missing required field `bike`"),
        (changed(4, wagers=[1, 2]), 2, "line 4: there are wagers, and no wager_positions"),
        (changed(4, type="tock"), 2, "line 4: Invalid value 'tock' - at `$.type`"),
    ],
)
def test_what_is_wrong_later_is_told_after_what_could_be_read(
    spoil: Callable[[list[str]], list[str]], turns: int, words: str, tmp_path: Path, begun: list[View]
) -> None:
    path = tmp_path / "replay.txt"
    path.write_text("\n".join(spoil(path.read_text().splitlines())))
    views, _, closing = shown(path)
    assert len(views) == turns + 1
    assert closing["verified"].startswith(words)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (changed(1, grid=[]), "grid: there is no cell in it"),
        (changed(1, grid=[[".."]]), "grid: expected texts of one character"),
        (changed(1, grid=[["."], [".", "."]]), "grid: expected 2 rows of 1"),
        (changed(1, spawn=[[0, 0], [5, 5]]), "spawn: (5,5) is off the map of 1 rows of 41"),
        (changed(1, total_rounds=0), "Expected `int` >= 1 - at `$.total_rounds`"),
        (changed(1, teams=["one"]), "Expected `array` of length 2 - at `$.teams`"),
        (lambda text: text[1:], "Invalid value 'tick' - at `$.type`"),
        (lambda text: ["[Replay]"], "Input data was truncated"),
    ],
)
def test_a_first_line_that_is_wrong_is_no_replay(
    spoil: Callable[[list[str]], list[str]], words: str, tmp_path: Path, begun: list[View]
) -> None:
    path = tmp_path / "replay.txt"
    path.write_text("\n".join(spoil(path.read_text().splitlines())))
    with pytest.raises(UsageError) as raised:
        read_record(path)
    assert str(raised.value) == f"{path} is not a replay of AI Arena 21: line 1: {words}"


# The command line.


def test_show_prints_the_turns_as_they_were_recorded(
    tmp_path: Path, begun: list[View], capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "replay.txt")
    assert main(["replay", "show", file]) == 0
    whole = capsys.readouterr().out
    assert "Team 1 against Team 2\n" in whole
    assert "no calls, times or rulings, so nothing is verified" in whole.replace("\n", " ")
    assert whole.count("moved {") == TURNS
    assert main(["replay", "show", file, "--turn", "31"]) == 0
    turn = capsys.readouterr().out
    assert '31  auction {"bids":[1,2]' in turn
    for seat, player in enumerate(begun[31].players):
        row, col = player.location
        assert f"{seat} {player.name}: {player.score} points at ({row},{col})\n" in turn
    assert main(["replay", "show", file, "--last", "1"]) == 0
    assert "damaged" not in capsys.readouterr().out
    (tmp_path / "cut.txt").write_text("\n".join((tmp_path / "replay.txt").read_text().splitlines()[:3]))
    assert main(["replay", "show", str(tmp_path / "cut.txt")]) == 0
    assert "the file is damaged: line 4: missing: the file has no end" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["replay", "verify", "FILE"], "it holds no answers, so nothing in it can be verified"),
        (["replay", "export", "aiarena21-replay", "FILE", "x"], "it holds no answers, so nothing in it"),
        (["fork", "FILE", "--turn", "3"], "it holds no answers, so nothing in it"),
        (["replay", "show", "FILE", "--calls"], "--seat, --calls: "),
        (["replay", "show", "FILE", "--seat", "0"], "--seat, --calls: "),
        (["replay", "show", "FILE", "--turn", "46"], "--turn 46: the match has turns 0 to 45"),
    ],
)
def test_what_it_cannot_give_is_told_in_a_line(
    command: list[str], words: str, tmp_path: Path, begun: list[View], capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "replay.txt")
    assert main([file if word == "FILE" else word for word in command]) == 2
    told = capsys.readouterr().err
    assert words in told and told.count("\n") == 1


def test_a_line_of_a_map_with_walls_is_drawn_as_the_game_draws_it(tmp_path: Path) -> None:
    record(tmp_path / "match.jsonl", eventful, LINE + "#" * 41)
    replay = Replay(tmp_path / "match.jsonl")
    export("aiarena21-replay", replay, tmp_path / "replay.txt")
    found = read_record(tmp_path / "replay.txt")
    assert isinstance(found, Original) and isinstance(replay.header.setup.options, Options)
    assert list(found.reader().drawing)[:2] == str(replay.new()).split("\n")[:2]


def test_a_file_that_is_no_record_is_refused_before_a_page_is_served(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("milk\neggs\n")
    with pytest.raises(UsageError, match=r"notes\.txt is not a replay: line 1"):
        replay_list(tmp_path / "notes.txt")
    (tmp_path / "begun.jsonl").write_bytes(b"")
    assert replay_list(tmp_path / "begun.jsonl").entries() == []
