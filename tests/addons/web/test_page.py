"""The page of a match: it opens from disk, steps to the end, follows the rules, and never runs a bot's text."""

import json
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from growing import Growing
from pages import Opened, Played, barriers
from playwright.sync_api import Browser

import referee
from referee.addons.web.page import lines as lines_of
from referee.addons.web.page import page as page_of
from referee.games.cardgame.board import PRINTS
from referee.harness.cli.main import main
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant
from referee.harness.replay.assessment import Assessment, Moment, Point, assessor
from referee.harness.replay.formats.records import export
from referee.harness.replay.highlights import Highlights
from referee.harness.replay.lines import Opening
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import positions

pytestmark = pytest.mark.slow


def test_everything_works_by_keyboard(paged: Played, opened: Opened) -> None:
    page = opened(paged("reantics"), "#turn=5")
    assert page.input_value("#turn") == "5"
    page.keyboard.press("Shift+ArrowRight")
    assert page.evaluate("location.hash") == "#turn=15"
    page.keyboard.press("s")
    assert page.evaluate("location.hash") == "#turn=15&seat=0"
    assert page.get_by_role("region", name="the board as seat 0 sees it").count() == 1
    page.keyboard.press("?")
    assert "play or pause" in page.get_by_role("dialog").inner_text()
    assert barriers(page) == []
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0
    page.keyboard.press("+")
    page.keyboard.press(" ")
    while int(page.input_value("#turn")) < 18:
        page.wait_for_timeout(50)
    page.keyboard.press(" ")
    stopped = page.input_value("#turn")
    page.wait_for_timeout(600)
    assert page.input_value("#turn") == stopped


HOSTILE = """
import json, sys
print("<b>last words</b> \\u202e backwards", file=sys.stderr)
for line in sys.stdin:
    call = json.loads(line)
    if "id" in call:
        hello = {"name": "</script><script>document.title='owned'</script>\\x1b[2J", "version": "1"}
        result = hello if call["method"] == "initialize" else {"action": "<img src=x onerror=document.title='owned'>"}
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": result}), flush=True)
"""


def test_a_bots_text_is_never_markup_and_its_fault_is_one_key_away(
    tmp_path: Path, paged: Played, opened: Opened
) -> None:
    script = tmp_path / "hostile.py"
    script.write_text(HOSTILE)
    hostile = Entrant("<i>hostile</i>", (sys.executable, str(script)), tmp_path)
    page = opened(paged("tictactoe", hostile, hostile), "")
    page.keyboard.press("f")
    panel = page.locator(".panel").inner_text()
    assert "<img src=x onerror=document.title='owned'>" in panel
    assert "tictactoe.md, A4" in panel
    assert "<b>last words</b> \\u202e backwards" in panel
    assert page.title() == "Tic-tac-toe: <i>hostile</i> against <i>hostile</i>"
    assert page.locator("i, b, img").count() == 0
    assert page.locator(".pending").text_content() == "seat 0 broke the rules: ┻━┻"


@pytest.mark.parametrize("game", ["quoridor", "connectfour"])
def test_the_board_shows_whose_move_was_invalid(game: str, tmp_path: Path, paged: Played, opened: Opened) -> None:
    script = tmp_path / "hostile.py"
    script.write_text(HOSTILE)
    hostile = Entrant("hostile", (sys.executable, str(script)), tmp_path)
    page = opened(paged(game, hostile, hostile), "")
    page.keyboard.press("f")
    assert page.locator(".pending").text_content() == "seat 0 broke the rules: ┻━┻"


def test_escapes_in_a_name_are_visible_in_the_heading_and_the_title(
    played: Played, opened: Opened, tmp_path: Path
) -> None:
    hostile = tmp_path / "hostile.jsonl"
    hostile.write_text(played("quoridor").read_text().replace('"@random"', '"' + "long" * 50 + '\\u202e\\u001b"', 1))
    file = tmp_path / "hostile.html"
    file.write_bytes(page_of(Replay(hostile)))
    page = opened(file, "")
    page.set_viewport_size({"width": 400, "height": 800})
    for text in (page.title(), page.locator("h1").inner_text()):
        assert "\u202e" not in text and "\\u202e\\u001b" in text
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


SILENT = """
import json, sys
call = json.loads(input())
print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": {}}), flush=True)
input()
print("I give up", file=sys.stderr, flush=True)
"""


def test_the_seat_at_fault_is_listed_first_with_its_fault_in_sight(
    tmp_path: Path, paged: Played, opened: Opened
) -> None:
    script = tmp_path / "silent.py"
    script.write_text(SILENT)
    silent = Entrant("silent", (sys.executable, str(script)), tmp_path)
    others = [entrant("@random") for _ in range(3)]
    page = opened(paged("aibg5", *others, silent), "")
    page.set_viewport_size({"width": 1000, "height": 640})
    page.keyboard.press("F")
    panel = page.locator(".panel")
    box = panel.bounding_box()
    assert box is not None
    for text in ("exited with code", "aibg5.md, 12", "I give up"):
        told = page.locator(".panel dd", has_text=text).first.bounding_box()
        assert told is not None and told["y"] + told["height"] <= box["y"] + box["height"], text


def test_an_address_names_a_panel_and_an_unknown_seat_is_ignored(paged: Played, opened: Opened) -> None:
    page = opened(paged("quoridor"), "#turn=3&seat=-1&panel=events")
    assert page.locator(".boards svg.quoridor").count() == 1
    assert page.get_by_role("button", name="everything").get_attribute("aria-pressed") == "true"
    page.evaluate("location.hash = '#turn=3&panel=call'")
    page.get_by_role("button", name="call", exact=True, pressed=True).wait_for(timeout=3000)


def test_new_acting_and_damaged_minions_are_marked(paged: Played, played: Played, opened: Opened) -> None:
    steps = [(step, state.view(None)) for _, state, step in positions(Replay(played("cardgame")))]
    page = opened(paged("cardgame"), "")
    marked = {"came": 0, "hurt": 0, "acted": 0}
    for number in range(1, len(steps)):
        if min(marked.values()) > 2:
            break
        page.keyboard.press("ArrowRight")
        page.wait_for_function(f"() => document.querySelector('#turn').value == {number}")
        before, now = steps[number - 1][1], steps[number][1]
        answers = getattr(steps[number][0], "answers", {})
        for seat, (was, side) in enumerate(zip(before.players, now.players, strict=True)):
            half = page.get_by_role("region", name=f"side of seat {seat}")
            assert half.locator(".hero.newest").count() == (was.health != side.health), number
            marks = half.locator(".minion").evaluate_all("all => all.map(e => e.classList.contains('newest'))")
            if len(side.board) == len(was.board) + 1 and answers.get(seat, [None])[0] == 1:
                assert any(marks), number
                marked["came"] += 1
            if len(side.board) == len(was.board):
                hurt = [one.health < other.health for one, other in zip(side.board, was.board, strict=True)]
                assert all(mark for mark, found in zip(marks, hurt, strict=True) if found), number
                marked["hurt"] += sum(hurt)
                action, numbers = answers.get(seat) or (None, ())
                if action == 3:
                    assert marks[numbers[0] - 1], number
                    marked["acted"] += 1
    assert all(marked.values()), marked


def test_an_ants_move_is_marked_on_the_board(played: Played, paged: Played, opened: Opened) -> None:
    """For both seats: seat 1's answers name the tiles of a rotated board."""
    steps = [(state.view(None), step) for _, state, step in positions(Replay(played("reantics")))]
    views = [view for view, _ in steps]
    seats = [min(getattr(step, "answers", {0: None})) for _, step in steps]
    tiles = [{ant.id: tuple(ant.coords) for held in view.inventories for ant in held.ants} for view in views]
    page = opened(paged("reantics"), "")
    marked = [0, 0]
    for number in range(1, len(tiles)):
        if min(marked) > 3:
            break
        before, now = tiles[number - 1], tiles[number]
        gone = {before.get(ant, at) for ant, at in now.items() if before.get(ant) != at} if before else set()
        there = {at for ant, at in now.items() if before.get(ant) != at} if before else set()
        page.keyboard.press("ArrowRight")
        page.wait_for_function(f"() => document.querySelector('#turn').value == {number}")
        boxes = page.locator(".board .last").evaluate_all("all => all.map(e => [e.x.baseVal.value, e.y.baseVal.value])")
        assert {(round((x - 2) / 48), round((y - 2) / 48)) for x, y in boxes} == gone | there, number
        marked[seats[number]] += bool(boxes)
    assert min(marked) > 3


def test_a_players_previous_place_is_marked_on_the_board(played: Played, paged: Played, opened: Opened) -> None:
    views = [state.view(None) for _, state, _ in positions(Replay(played("aiarena21")))]
    page = opened(paged("aiarena21"), "#turn=1")
    for number in range(1, len(views)):
        page.wait_for_function(f"() => document.querySelector('#turn').value == {number}")
        ends = page.locator(".board line.last").evaluate_all(
            "all => all.map(e => ['y1', 'x1', 'y2', 'x2'].map(name => (e.getAttribute(name) / 20) - 0.5))"
        )
        before, now = ([player.location for player in views[at].players] for at in (number - 1, number))
        assert ends == [[*was, *there] for was, there in zip(before, now, strict=True)]
        page.keyboard.press("ArrowRight")


def test_a_click_on_a_chart_goes_to_that_turn(paged: Played, opened: Opened) -> None:
    page = opened(paged("reantics"), "")
    last = int(page.get_attribute("#turn", "max") or 0)
    for number, chart in enumerate(page.locator(".charts figure > svg").all(), start=1):
        box = chart.bounding_box()
        assert box is not None
        part = number / 4
        page.mouse.click(box["x"] + part * box["width"], box["y"] + box["height"] / 2)
        assert abs(int(page.input_value("#turn")) - part * last) <= 1 + last / box["width"]
    assert page.locator(".charts figure > svg").count() == 2


TALKING = """
import json, sys
columns = 0
for line in sys.stdin:
    call = json.loads(line)
    if "id" in call:
        result = {"name": "talker", "version": "1"}
        if call["method"] != "initialize":
            columns += 1
            print(f"thought {columns} \\u00e9", file=sys.stderr, flush=True)
            result = {"action": "putToken", "column": "ABCDEFG"[columns - 1]}
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": result}), flush=True)
"""


def test_stderr_is_shown_at_the_call_that_wrote_it(tmp_path: Path, paged: Played, opened: Opened) -> None:
    script = tmp_path / "talking.py"
    script.write_text(TALKING, "utf-8")
    talker = Entrant("talker", (sys.executable, "-X", "utf8", str(script)), tmp_path)
    page = opened(paged("connectfour", talker, entrant("@random")), "#turn=1")
    for turn, words in ((1, ["thought 1 é"]), (2, []), (3, ["thought 2 é"])):
        assert page.input_value("#turn") == str(turn)
        assert [text.strip() for text in page.locator(".said").all_inner_texts()] == words
        page.keyboard.press("ArrowRight")


def test_a_wrong_replay_is_shown_up_to_the_difference(tmp_path: Path, played: Played, opened: Opened) -> None:
    lines = played("tictactoe").read_bytes().splitlines(keepends=True)
    lines[4] = re.sub(rb'"hash":"[0-9a-f]+"', b'"hash":"0000000000000000"', lines[4])
    record = tmp_path / "wrong.jsonl"
    record.write_bytes(b"".join(lines))
    (tmp_path / "wrong.html").write_bytes(page_of(Replay(record)))
    page = opened(tmp_path / "wrong.html", "")
    assert page.locator(".badge").inner_text().startswith("line 5: hash ")
    assert "of 2" in page.locator(".controls").inner_text()


def test_the_page_of_a_long_match_is_small_and_complete(tmp_path: Path, viewer: None, opened: Opened) -> None:
    record, file = tmp_path / "match.jsonl", tmp_path / "match.html"
    with Growing(record, "aibg5", rounds=40) as growing:
        growing.finish()
    replay = Replay(record)
    file.write_bytes(page_of(replay))
    assert file.stat().st_size < 100_000, "some 100 bytes a turn"
    page = opened(file, "")
    page.keyboard.press("End")
    last = len(replay.lines) - 2
    assert last > 150 and page.input_value("#turn") == str(last - 1)
    assert page.get_by_role("region", name="the board").get_by_label("four on").count() == 1
    turns = [json.loads(line) for line in replay.lines[2:-1]]
    shots = [turn["turn"] for turn in turns if any(event["method"] == "shot" for event in turn.get("events", ()))]
    page.fill("#turn", str(shots[0]))
    page.keyboard.press("Enter")
    page.locator("line.shot").wait_for(state="attached")


def test_a_card_in_hand_shows_its_text(paged: Played, played: Played, opened: Opened) -> None:
    page = opened(paged("cardgame"), "")
    first = next(positions(Replay(played("cardgame"))))[1]
    for seat, side in enumerate(first.view(None).players):
        shown = page.get_by_role("list", name=f"hand of seat {seat}").locator(".card small").all_inner_texts()
        assert shown == [PRINTS[card].words for card in side.hand]


def test_signs_are_explained_in_a_legend(paged: Played, opened: Opened) -> None:
    for game, meaning in {"aiarena21": "dragon fruit", "aibg5": "black hole"}.items():
        page = opened(paged(game), "")
        page.set_viewport_size({"width": 400, "height": 800})
        assert not page.locator(".legend li").first.is_visible()
        page.get_by_text("legend").click()
        assert meaning in page.locator(".legend li > span").all_inner_texts()
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert opened(paged("tictactoe"), "").locator(".legend").count() == 0


def test_every_fruit_has_its_own_shape(paged: Played, opened: Opened) -> None:
    page = opened(paged("aiarena21"), "")
    names = page.locator(".legend li > svg > g > use").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    forms = [page.locator(f"{name} path").first.get_attribute("d") for name in names[:3]]
    assert len(set(forms)) == 3


def test_the_word_verified_is_explained(paged: Played, opened: Opened) -> None:
    page = opened(paged("tictactoe"), "")
    said = "the same positions and the same result"
    assert said in (page.locator(".badge").get_attribute("title") or "")
    page.keyboard.press("?")
    assert said in page.get_by_role("dialog").inner_text()


def test_the_timeline_marks_captures_deaths_and_changes_of_the_lead(
    tmp_path: Path, viewer: None, opened: Opened
) -> None:
    """Seed 9 ends with a captured anthill."""
    record, file = tmp_path / "match.jsonl", tmp_path / "match.html"
    verdict = referee.play("reantics", ["@random"] * 2, seed=9, replay=record)
    assert verdict.result.reason == "anthill_captured"
    replay, found = Replay(record), []
    follower = Highlights(replay.game, replay.header.setup.names)
    for number, state, step in positions(replay):
        events = step.opening if isinstance(step, Opening) else step.events
        found += [(number - 2, each) for each in follower.take(state, state.view(None), events)]
    file.write_bytes(page_of(replay))
    page = opened(file)
    for kind in ("capture", "death", "lead"):
        expected = [at for at, each in found if each.kind == kind]
        assert [int(line.get_attribute("x1") or 0) for line in page.locator(f".track .{kind}").all()] == expected
    at, last = [(at, each) for at, each in found if each.kind == "capture"][-1]
    mark = page.locator(".track .capture").last
    assert mark.text_content() == f"turn {at}: {last.words}" == f"turn {verdict.turns - 1}: {last.words}"
    mark.dispatch_event("click")
    assert page.input_value("#turn") == str(at)
    assert last.words in (page.get_by_role("slider").get_attribute("aria-valuetext") or "")
    page.keyboard.press("Home")
    page.get_by_role("button", name=f"next highlight ({len(found)})").click()
    assert page.input_value("#turn") == str(found[0][0])
    page.keyboard.press("h")
    assert page.input_value("#turn") == str(sorted({at for at, _ in found})[1])


def test_a_curve_and_moments_say_where_the_match_turned_once_the_result_is_known(
    tmp_path: Path, played: Played, opened: Opened, browser: Browser
) -> None:
    replay = Replay(played("quoridor"))
    last = replay_turns(replay)
    points = [Point(0, (0.5, 0.5), (0.1, 0.1)), Point(4, (0.2, 0.8), (0.1, 0.1)), Point(last, (0.0, 1.0), (0.0, 0.0))]
    moments = [
        Moment(4, 3, "Turn 4: <b>bold</b> \u202e cost 30%"),
        Moment(last, last - 1, "The end"),
        Moment(999, 0, "no"),
    ]
    file = tmp_path / "match.html"
    file.write_bytes(page_of(replay, assessment=Assessment("@advanced", points, moments)))
    page = opened(file)
    listed = page.get_by_role("list", name="where the match turned, by @advanced").get_by_role("button")
    assert listed.all_inner_texts() == ["Turn 4: <b>bold</b> \\u202e cost 30%", "The end"]
    listed.first.click()
    assert page.input_value("#turn") == "4" and listed.first.get_attribute("aria-current") == "true"
    assert page.locator(".curve .moment").count() == 2 and page.locator(".curve path.line").count() >= 2
    box = page.locator(".curve figure > svg").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] - 2, box["y"] + 9)
    assert page.input_value("#turn") == str(last), "a click beside a mark means the mark"
    assert barriers(page) == []
    page = browser.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector(".poster")
    page.keyboard.press("ArrowRight")
    assert page.locator(".curve").count() == 0, "it would tell the result"
    page.keyboard.press("End")
    page.locator(".curve").wait_for()
    page.close()


def replay_turns(replay: Replay) -> int:
    return sum(line.startswith(b'{"turn":') for line in replay.lines)


def test_a_page_has_what_is_kept_beside_its_replay(tmp_path: Path, played: Played) -> None:
    file = tmp_path / "match.jsonl"
    file.write_bytes(played("tictactoe").read_bytes())
    replay, found = Replay(file), assessor()
    made = None if found is None else found.made(replay, 1.0, file)
    *_, closing = lines_of(replay)
    assert json.loads(closing)["assessment"] == json.loads(msgspec.json.encode(made))


def test_the_viewers_own_unit_tests_pass(viewer: None) -> None:
    folder = Path(__file__).parents[3] / "viewer"
    done = subprocess.run(["npm", "--silent", "test"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_original_competition_file_can_be_stepped_to_its_end(tmp_path: Path, played: Played, opened: Opened) -> None:
    record = Replay(played("aiarena21"))
    export("aiarena21-replay", record, tmp_path / "replay.txt")
    assert main(["replay", "html", str(tmp_path / "replay.txt"), str(tmp_path / "page.html")]) == 0
    page = opened(tmp_path / "page.html", "")
    last = list(positions(record))[-1][1].view(None)
    assert page.locator(".badge").inner_text() == "as recorded"
    assert "a file of the original competition" in page.locator("header").inner_text()
    assert page.get_by_role("button", name="call", exact=True).count() == 0
    assert page.locator(".charts figure").count() == 1, "scores; there are no times"
    for turn in range(1, last.turns + 1):
        page.keyboard.press("ArrowRight")
        assert page.input_value("#turn") == str(turn)
        assert "moved {" in page.locator(".panel .events").inner_text()
    assert f"of {last.turns}" in page.locator(".controls").inner_text()
    for player in last.players:
        row, col = player.location
        assert page.get_by_label(f"{player.name} on {row},{col}, {player.score} points").count() == 1
    with_heat = sum(heat > 0.5 for line in last.heatmap for heat in line)
    cells = page.locator(".board .heat").evaluate_all("all => all.map(each => +each.dataset.cells)")
    assert sum(cells) == with_heat


FIRST = """
window.seen = [];
new MutationObserver(() => {
  const [board, timeline] = [".board svg", ".timeline"].map((part) => document.querySelector(part) !== null);
  if (board) window.seen.push(timeline);
}).observe(document, { childList: true, subtree: true });
"""


@pytest.mark.parametrize(("place", "waits"), [("", False), ("#turn=5", True)])
def test_the_first_board_does_not_wait_for_the_rest(place: str, waits: bool, paged: Played, browser: Browser) -> None:
    """If the address names a later turn, no other one is shown first."""
    page = browser.new_page()
    page.add_init_script(FIRST)
    page.goto(f"{paged('aibg5').as_uri()}{place}")
    page.wait_for_selector(".timeline")
    assert page.evaluate("window.seen[0]") is waits
    assert page.input_value("#turn") == ("5" if waits else "0")
    assert page.locator("main.reading").count() == 0
    page.close()


def test_a_replay_without_a_position_says_so(tmp_path: Path, played: Played, browser: Browser) -> None:
    (tmp_path / "match.jsonl").write_bytes(played("tictactoe").read_bytes().splitlines()[0] + b"\n")
    (tmp_path / "page.html").write_bytes(page_of(Replay(tmp_path / "match.jsonl")))
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    assert page.locator(".told").inner_text() == "line 2: missing: the match was not opened"
    page.close()
