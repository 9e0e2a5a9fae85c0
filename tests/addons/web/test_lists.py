"""Lists of matches: small boards of the end, results in words, series in one line, and two matches side by side."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from pages import Played, Viewing, Visited, barriers
from playwright.sync_api import Page
from viewer_patches import frames, patched

from referee.addons.web import last_position
from referee.addons.web.page import lines
from referee.addons.web.replay_list import FileSource, FolderList
from referee.games import registry
from referee.harness.cli.main import main
from referee.harness.programs.spec import entrant
from referee.harness.replay.formats.originals import read_record
from referee.harness.replay.formats.records import export
from referee.harness.replay.reader import Replay

pytestmark = pytest.mark.slow
DRAWN = "() => document.querySelectorAll('.thumbnail svg, .thumbnail .board > *').length >= {}"


def loaded(content: bytes) -> list[Any]:
    return [json.loads(line) for line in content.splitlines()]


@pytest.mark.parametrize("game", registry.names())
def test_the_end_alone_is_the_last_position_of_the_whole_match(game: str, played: Played) -> None:
    path = played(game)
    about, header, last, ending = loaded(last_position.last_position(FileSource(path)))
    assert about["game"] == game and header[1]["replay"]
    everything: Any = None
    whole = [json.loads(frame) for frame in frames(Replay(path))]
    for patch, _ in whole[1:-1]:
        everything = patched(everything, patch)
    shown = patched(None, last[0])
    for member in ("view", "shared", "seats", "marks", "awaited"):
        assert shown[member] == everything[member], member
    assert ending[1] == whole[-1][1]


def test_the_end_of_an_original_competitions_file_is_there_too(tmp_path: Path, played: Played) -> None:
    export("aiarena21-replay", Replay(played("aiarena21")), tmp_path / "replay.txt")
    _, _, *shown = loaded(last_position.last_position(FileSource(tmp_path / "replay.txt")))
    _, _, *every = map(json.loads, lines(read_record(tmp_path / "replay.txt")))
    whole: Any = None
    for patch, _ in [each for each in every if isinstance(each, list)]:
        whole = patched(whole, patch)
    assert patched(patched(None, shown[0][0]), shown[1][0]) == whole


def test_a_file_that_is_long_slow_or_damaged_gets_no_small_board(
    tmp_path: Path, played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = played("quoridor").read_bytes()
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_bytes(content[:-50])
    assert len(loaded(last_position.last_position(FileSource(wrong)))) == 3, "an ending that is cut off is left out"
    for damaged in (b"", b"{}\n", content.replace(b'"turn":3,', b'"turn":4,'), content[:200]):
        wrong.write_bytes(damaged)
        assert last_position.last_position(FileSource(wrong)) == b""
    wrong.unlink()
    assert last_position.last_position(FileSource(wrong)) == b""
    assert last_position.last_position(FileSource(played("quoridor"))) != b""
    with monkeypatch.context() as patch:
        patch.setattr(last_position, "MOST_BYTES", len(content) - 1)
        assert last_position.last_position(FileSource(played("quoridor"))) == b""
    monkeypatch.setattr(last_position, "MOST_S", -1.0)
    assert last_position.last_position(FileSource(played("quoridor"))) == b""


def series(folder: Path, *names: str, swap: bool = True) -> None:
    """Plays four short matches between two bots into a folder."""
    bots = [f"{name}=@random" for name in names]
    command = ["--game", "tictactoe", *bots, "--games", "4", "--seed", "5", "--replay", str(folder / "match.jsonl")]
    assert main(command if swap else [*command, "--no-swap"]) == 0


def test_the_replays_of_a_series_belong_together_and_single_ones_do_not(tmp_path: Path, played: Played) -> None:
    series(tmp_path, "Ada", "Bert")
    (tmp_path / "other").mkdir()
    shutil.copy(tmp_path / "match-1.jsonl", tmp_path / "other" / "match-1.jsonl")
    shutil.copy(played("tictactoe"), tmp_path / "single.jsonl")
    found = {entry.number: entry.series for entry in FolderList(tmp_path).entries()}
    kinds = sorted([*found.values()].count(kind) for kind in {*found.values()})
    assert kinds == [1, 1, 4] and "" in found.values()


def test_a_series_is_one_line_that_unfolds_and_each_row_shows_the_end(
    tmp_path: Path, played: Played, viewing: Viewing, visited: Visited
) -> None:
    series(tmp_path, "Ada", "Bert")
    shutil.copy(played("quoridor"), tmp_path / "single.jsonl")
    with viewing(tmp_path) as url:
        page = visited(url, "table")
        rows = page.locator("tbody tr")
        assert rows.count() == 2
        line = page.get_by_role("row").filter(has_text="4 matches")
        entries = [entry for entry in FolderList(tmp_path).entries() if entry.series]
        wins = [
            sum(entry.names[entry.ranks.index(1)] == name for entry in entries if entry.ranks != (1, 1))
            for name in ("Ada", "Bert")
        ]
        assert f"{max(wins)} : {min(wins)}" in line.inner_text()
        page.wait_for_function(DRAWN.format(2))
        page.keyboard.press("Tab")
        button = page.get_by_role("button", name="4 matches")
        assert button.get_attribute("aria-expanded") == "false"
        button.focus()
        page.keyboard.press("Enter")
        assert rows.count() == 6 and button.get_attribute("aria-expanded") == "true"
        assert barriers(page) == []
        for entry in entries:
            row = page.get_by_role("row").filter(has_text=entry.title)
            assert any(words in row.inner_text() for words in ("Ada beat Bert", "Bert beat Ada", "drew"))
            assert row.locator(".thumbnail").count() == 1


def test_thousands_of_matches_are_listed_and_few_boards_are_drawn(
    tmp_path: Path, played: Played, viewing: Viewing, visited: Visited
) -> None:
    record = played("tictactoe").read_bytes()
    for number in range(2000):
        (tmp_path / f"game{number}.jsonl").hardlink_to(tmp_path / "game0.jsonl") if number else (
            tmp_path / "game0.jsonl"
        ).write_bytes(record)
    with viewing(tmp_path) as url:
        page = visited(url, "table")
        page.wait_for_function(DRAWN.format(2))
        assert "2000 of 2000" in page.locator("header").inner_text()
        assert page.locator("tbody tr").count() <= 200
        assert page.locator(".thumbnail > *").count() < 30
        page.get_by_role("searchbox", name="bot").fill("game1999")
        assert page.locator("tbody tr").count() == 1
        unchanged = page.evaluate(
            """async () => {
                const headers = {"x-referee-token": sessionStorage.getItem("token")};
                const tag = (await fetch("/matches", {headers})).headers.get("etag");
                return (await fetch("/matches", {headers: {...headers, "if-none-match": tag}})).status;
            }"""
        )
        assert unchanged == 304, "a list that has not changed is not sent again"


def turn(page: Page) -> str:
    return page.input_value("#turn")


def test_two_matches_are_stepped_side_by_side_and_their_first_difference_is_named(
    tmp_path: Path, played: Played, viewing: Viewing, visited: Visited
) -> None:
    for number, bots in enumerate([(), (entrant("@random"), entrant("@blocker"))]):
        shutil.copy(played("tictactoe", *bots), tmp_path / f"game{number}.jsonl")
    one, other = (Replay(tmp_path / f"game{number}.jsonl") for number in range(2))
    turns = [
        [json.loads(line)["answers"] for line in each.lines if line.startswith(b'{"turn"')] for each in (one, other)
    ]
    differs = next(number for number, (left, right) in enumerate(zip(*turns, strict=False), 1) if left != right)
    with viewing(tmp_path) as url:
        page = visited(url, "table")
        page.get_by_role("checkbox", name="compare game0.jsonl").check()
        assert page.get_by_text("Choose another match to compare.").count() == 1
        page.get_by_role("checkbox", name="compare game1.jsonl").check()
        page.get_by_role("link", name="compare the two").click()
        page.wait_for_selector("main.compare")
        assert f"The answers first differ in turn {differs}." in page.locator(".headline").inner_text()
        page.get_by_role("button", name="go there").click()
        assert turn(page) == str(differs)
        boards = page.locator("main.compare .board svg")
        assert boards.count() == 2
        assert barriers(page) == []
        assert boards.nth(0).inner_html() != boards.nth(1).inner_html()
        page.keyboard.press("ArrowLeft")
        page.wait_for_function(
            "() => new Set([...document.querySelectorAll('.one .board')].map((b) => b.innerHTML)).size == 1"
        )
        page.reload()
        page.wait_for_selector("main.compare")
        assert turn(page) == str(differs - 1)
        page.get_by_role("link", name="all matches").click()
        page.wait_for_selector("table")


def test_two_files_are_compared_by_name(
    tmp_path: Path, played: Played, viewing: Viewing, visited: Visited, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = played("connectfour"), tmp_path / "copy.jsonl"
    shutil.copy(one, other)
    with viewing(one, other) as url:
        page = visited(url, "main.compare")
        assert "The two matches are the same, turn by turn." in page.locator(".headline").inner_text()
        page.set_viewport_size({"width": 390, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for arguments in ([one, one], [one, tmp_path], [one, tmp_path / "none"], [one, other, "--projector"]):
        assert main(["view", *map(str, arguments)]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_link_to_a_turn_is_copied_opens_there_and_back_returns(
    tmp_path: Path, played: Played, viewing: Viewing, visited: Visited
) -> None:
    shutil.copy(played("quoridor"), tmp_path / "one.jsonl")
    shutil.copy(played("quoridor"), tmp_path / "two.jsonl")
    with viewing(tmp_path) as url:
        page = visited(url, "table")
        page.get_by_role("link", name="two.jsonl").click()
        page.get_by_text("verified", exact=True).wait_for()
        page.keyboard.press("Home")
        for _ in range(4):
            page.keyboard.press("ArrowRight")
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.keyboard.press("c")
        page.get_by_text("copied: turn 4").wait_for()
        link = page.evaluate("navigator.clipboard.readText()")
        assert "turn=4" in link and "token=" in link
        elsewhere = visited(link, ".timeline")
        elsewhere.get_by_text("verified", exact=True).wait_for()
        assert turn(elsewhere) == "4" and "token" not in elsewhere.evaluate("location.href")
        elsewhere.reload()
        elsewhere.get_by_text("verified", exact=True).wait_for()
        assert turn(elsewhere) == "4"
        page.keyboard.press("/")
        page.get_by_role("searchbox", name="text").fill("move_f")
        page.go_back()
        page.wait_for_selector("table")
        page.go_forward()
        page.wait_for_selector(".timeline")


def test_a_text_is_found_in_answers_and_the_hits_are_stepped_through(
    played: Played, viewing: Viewing, visited: Visited
) -> None:
    path = played("tictactoe")
    written = [json.loads(line) for line in Replay(path).lines]
    text = '"C"'
    expected = [line["turn"] for line in written if "turn" in line and text in json.dumps(line["answers"])]
    assert expected
    with viewing(path) as url:
        page = visited(url, ".timeline")
        page.get_by_text("verified", exact=True).wait_for()
        page.keyboard.press("Home")
        page.keyboard.press("/")
        field = page.get_by_role("searchbox", name="text")
        assert field.evaluate("field => field == document.activeElement")
        field.fill(text)
        hits = page.locator(".searching li")
        found = [int(hit.split()[0]) for hit in hits.all_inner_texts() if "answer" in hit]
        assert found == expected
        assert barriers(page) == []
        field.press("Enter")
        assert turn(page) == str(expected[0])
        assert f"1 of {hits.count()}" in page.locator(".searching").inner_text()
        page.go_back()
        page.wait_for_function("() => document.querySelector('#turn').value == '0'")
        field.fill("<b>no such text")
        assert "nothing found" in page.locator(".searching").inner_text()


def test_an_entry_has_the_scores(tmp_path: Path, played: Played) -> None:
    path = played("aiarena21")
    (entry,) = FolderList(path.parent).entries()
    ending = Replay(path).ending
    assert ending is not None and ending.result is not None
    assert entry.scores == ending.result.scores and replace(entry, scores=()).scores == ()
