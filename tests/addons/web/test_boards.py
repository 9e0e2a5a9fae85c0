"""The page of a match of every game, from its opening frame turn by turn to the end, in every light.

The page shows what the engine's own drawing says. The drawing (`str(state)`) and the painters are written apart from
each other. Both are read here as the same facts.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pages import Opened, Played, barriers
from playwright.sync_api import Browser, Page

from referee.games import registry
from referee.games.contract import Call
from referee.games.ending import headline
from referee.games.reantics.rules import ReAntics
from referee.harness.replay.lines import Turn
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import positions
from referee.tools.pictures import PART, ROOT, SIZE, WORDS, words

pytestmark = pytest.mark.slow

SHOWN = """number => new Promise((done) => {
  const texts = (half, path) => [...half.querySelectorAll(path)].map((each) => each.textContent);
  const read = () => ({
    labels: [...document.querySelectorAll('.board svg [role=img][aria-label]')].map((each) => each.ariaLabel),
    blocks: [...document.querySelectorAll('.board svg .block')].map(({y, x}) => [y.baseVal.value, x.baseVal.value]),
    halves: [...document.querySelectorAll('.cardgame .half')].map((half) => ({
      hero: half.querySelector('.hero').innerText,
      hand: [...half.querySelectorAll('.hand li > *')].map((card) => card.firstChild.textContent),
      minions: texts(half, '.minions li > *'),
    })),
  });
  const look = () => {
    const there = document.querySelector('#turn').value == number;
    requestAnimationFrame(there ? () => done(read()) : look);
  };
  look();
})"""
"""Returns the board once the page shows a turn."""

Facts = set[Any]


def tictactoe(lines: Sequence[str], shown: Any) -> tuple[Facts, Facts]:
    cells = ("NW", "N", "NE", "W", "C", "E", "SW", "S", "SE")
    drawn = {(cell, sign.replace(".", "empty")) for cell, sign in zip(cells, "".join(lines[:3]), strict=True)}
    return drawn, {tuple(label.removesuffix(", in the winning line").split()) for label in shown["labels"]}


def connectfour(lines: Sequence[str], shown: Any) -> tuple[Facts, Facts]:
    words = {".": "empty", "R": "token of seat 0", "Y": "token of seat 1"}
    board = lines[: next(index for index, line in enumerate(lines) if line.startswith("A"))]
    rows = [(len(board) - index, line) for index, line in enumerate(board)]
    drawn = {
        f"{column}{row} {words[sign]}" for row, line in rows for column, sign in zip("ABCDEFG", line, strict=False)
    }
    return drawn, {label.removesuffix(", in the winning line") for label in shown["labels"]}


def quoridor(lines: Sequence[str], shown: Any) -> tuple[Facts, Facts]:
    """A wall consists of two pieces, each above or to the right of a square."""
    drawn: Facts = set()
    for row, line, above in ((9 - index, lines[2 * index + 1], lines[2 * index]) for index in range(9)):
        for at, column in enumerate("abcdefghi"):
            drawn |= {("pawn", column, row, "FS".index(line[4 + 4 * at]))} if line[4 + 4 * at] != " " else set()
            drawn |= {("right of", column, row)} if line[6 + 4 * at] == "#" else set()
            drawn |= {("above", column, row)} if above[3 + 4 * at : 6 + 4 * at] == "===" else set()
    left = re.search(r"walls left (\d+), (\d+)", lines[-1])
    assert left is not None
    drawn |= {("left", seat, int(count)) for seat, count in enumerate(left.groups())}
    page: Facts = set()
    for label in shown["labels"]:
        if wall := re.fullmatch(r"wall (\w)(\d)([hv])", label):
            column, row = wall[1], int(wall[2])
            if wall[3] == "h":
                page |= {("above", column, row), ("above", chr(ord(column) + 1), row)}
            else:
                page |= {("right of", column, row), ("right of", column, row + 1)}
        elif pawn := re.fullmatch(r"(\w)(\d), (first|second)'s pawn", label):
            page.add(("pawn", pawn[1], int(pawn[2]), ("first", "second").index(pawn[3])))
        elif walls := re.fullmatch(r"(first|second) has (\d+) walls left", label):
            page.add(("left", ("first", "second").index(walls[1]), int(walls[2])))
    return drawn, page


def reantics(lines: Sequence[str], shown: Any) -> tuple[Facts, Facts]:
    drawn: Facts = set()
    for y, line in enumerate(lines[1:11]):
        for x in range(10):
            ant, built = line[4 + 3 * x : 6 + 3 * x]
            drawn |= {(x, y, "ant", int(ant.islower()), "qwdsr".index(ant.lower()))} if ant != "." else set()
            drawn |= {(x, y, "built", "^@;%".index(built))} if built != "." else set()
    ants = re.findall(r"[a-z ]+ \d+ at \((\d),(\d)\), health (\d+)(, carrying)?", "\n".join(lines[11:13]))
    drawn |= {(int(x), int(y), "health", int(health), bool(carries)) for x, y, health, carries in ants}
    page: Facts = set()
    for label in shown["labels"]:
        ant_there = re.fullmatch(r"([a-z ]+) of seat (\d) on (\d),(\d), health (\d+)(, carries food)?", label)
        if ant_there:
            kind, seat, x, y, health, carries = ant_there.groups()
            type_ = ["queen", "worker", "drone", "soldier", "ranged soldier"].index(kind)
            page.add((int(x), int(y), "ant", int(seat), type_))
            page.add((int(x), int(y), "health", int(health), bool(carries)))
        elif there := re.fullmatch(r"(anthill|tunnel|grass|food)(?: of seat \d, \d to capture)? on (\d),(\d)", label):
            built_there = ["anthill", "tunnel", "grass", "food"].index(there[1])
            page.add((int(there[2]), int(there[3]), "built", built_there))
    return drawn, page


def aiarena21(lines: Sequence[str], shown: Any) -> tuple[Facts, Facts]:
    """The drawing shows the most valuable fruit of a pile, and a player hides what is below."""
    cells = {(row, col): sign for row, line in enumerate(lines[:-3]) for col, sign in enumerate(line) if sign != "."}
    score = r"(\d) .*: (\d+) points at \((\d+),(\d+)\)(, bike)?"
    players = [found for line in lines[-3:-1] if (found := re.match(score, line))]
    drawn = {*cells.items()} | {("player", *map(int, each.groups()[:4]), bool(each[5])) for each in players}
    page: dict[tuple[int, int], str] = {(round(y / 20), round(x / 20)): "#" for y, x in shown["blocks"]}
    seats: Facts = set()
    for label in shown["labels"]:
        if fruit := re.fullmatch(r"(onion|strawberry|dragon-fruit) on (\d+),(\d+)", label):
            at, letter = (int(fruit[2]), int(fruit[3])), fruit[1][0].upper()
            page[at] = max(page.get(at, letter), letter, key="OSD".index)
    for label in shown["labels"]:
        if player := re.fullmatch(r".* on (\d+),(\d+), (\d+) points(, on a bike)?", label):
            seat, at = len(seats), (int(player[1]), int(player[2]))
            page[at] = "X" if page.get(at) == "0" else str(seat)
            seats.add(("player", seat, int(player[3]), *at, bool(player[4])))
    return drawn, {*page.items()} | seats


def aibg5(lines: Sequence[str], shown: Any) -> tuple[Facts, Facts]:
    words = {
        "#": "asteroid",
        "o": "black hole",
        "w": "wormhole",
        "+": "health",
        "*": "experience",
        "B": "boss",
    }
    drawn: Facts = set()
    ships: dict[str, tuple[int, int]] = {}
    for r, line in enumerate(lines[:29], start=-14):
        for q, sign in enumerate(line.split(), start=max(-14, -14 - r)):
            drawn |= {(words[sign], q, r)} if sign in words else set()
            ships |= {sign: (q, r)} if sign.isdigit() else {}
    score = r"(\d) .*: score -?\d+, health (\d+), level (\d+), .*, at \((-?\d+),(-?\d+)\)(, trapped)?"
    for found in (re.match(score, line) for line in lines[29:33]):
        if found is not None:
            seat, health, level, q, r, trapped = found.groups()
            assert ships[seat] == (int(q), int(r)), "the drawing says it twice"
            drawn.add(("ship", int(q), int(r), int(health), int(level), bool(trapped)))
    page: Facts = set()
    for label in shown["labels"]:
        ship = re.fullmatch(r".* on (-?\d+),(-?\d+), health (\d+), level (\d+)(, trapped)?", label)
        if ship:
            page.add(("ship", *map(int, ship.groups()[:4]), bool(ship[5])))
        elif tile := re.fullmatch(r"([a-z ]+) on (-?\d+),(-?\d+)(?:, health -?\d+)?", label):
            page.add((tile[1], int(tile[2]), int(tile[3])))
    return drawn, page


def cardgame(lines: Sequence[str], shown: Any) -> tuple[Facts, Facts]:
    drawn: Facts = set()
    for seat, at in ((0, 1), (1, 5)):
        found = re.fullmatch(r"\d .*: health (-?\d+), mana (\d+)/(\d+).*", lines[at])
        assert found is not None
        drawn.add((seat, "hero", *found.groups()))
        for line in lines[at + 1 : at + 4]:
            what, _, rest = line.strip().partition(" ")
            listed = [] if rest.strip() in ("-", "") else rest.strip().split(", ")
            drawn |= {(seat, what, index, each.rstrip("*")) for index, each in enumerate(listed) if what != "deck"}
            drawn |= {(seat, "deck", len(listed))} if what == "deck" else set()
    page: Facts = set()
    for seat, half in zip((1, 0), shown["halves"], strict=True):
        hero = re.search(r"(-?\d+)\s+health\s+(\d+)/(\d+) mana(?:, power used)?(?:\s+(\d+) in the deck)?", half["hero"])
        assert hero is not None, half["hero"]
        page |= {(seat, "hero", *hero.groups()[:3]), (seat, "deck", int(hero[4] or 0))}
        page |= {(seat, "hand", index, card) for index, card in enumerate(half["hand"])}
        for index, text in enumerate(half["minions"]):
            minion = re.fullmatch(r"(.*?)(\d+) / (\d+)(?: of \d+)?( poisonous)?", text)
            assert minion is not None, text
            page.add((seat, "board", index, f"{minion[1]} {minion[2]}/{minion[3]}"))
    return drawn, page


READERS: dict[str, Callable[[Sequence[str], Any], tuple[Facts, Facts]]] = {
    "aiarena21": aiarena21,
    "aibg5": aibg5,
    "cardgame": cardgame,
    "connectfour": connectfour,
    "quoridor": quoridor,
    "reantics": reantics,
    "tictactoe": tictactoe,
}
MARKS = ".board .last, .board .newest"
MARKED = ("tictactoe", "connectfour", "quoridor")
"""Games that mark the last answer in one place."""
MOVEMENTS = """
window.moves = 0;
const animate = Element.prototype.animate;
Element.prototype.animate = function (...how) { window.moves += 1; return animate.apply(this, how); };
"""
"""Counts what moves."""


def at(page: Page, number: int) -> Any:
    """Returns what the page shows at a turn."""
    return page.evaluate(SHOWN, number)


@pytest.fixture(scope="module", params=registry.own_names())
def game(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def match(game: str, played: Played, paged: Played) -> tuple[Replay, Path]:
    """A match of a game, and its page."""
    return Replay(played(game)), paged(game)


@pytest.fixture(scope="module")
def page(match: tuple[Replay, Path], browser: Browser) -> Iterator[Page]:
    """The page for somebody who wants less motion. Every test goes where it wants to look."""
    errors: list[str] = []
    page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.add_init_script(MOVEMENTS)
    page.goto(match[1].as_uri())
    yield page
    page.close()
    assert errors == []


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder for screenshots, which CI keeps."""
    kept = ROOT / "build" / "pictures" if "CI" in os.environ else tmp_path_factory.mktemp("pictures")
    folder = Path(os.environ.get("REFEREE_PICTURES", kept))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def test_a_finished_match_opens_with_its_players_and_hides_its_result(page: Page, match: tuple[Replay, Path]) -> None:
    page.goto("about:blank")
    page.goto(match[1].as_uri())
    page.get_by_role("button", name="Play the match").wait_for()
    names = match[0].header.setup.names
    assert [each.split(maxsplit=1)[1] for each in page.locator(".versus li").all_inner_texts()] == list(names)
    assert page.input_value("#turn") == "0"
    assert page.locator(".charts, .panel, .track line, .rank").count() == 0, "they tell how it ends"
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight"), "the board fills the window"
    page.get_by_role("button", name="Play the match").click()
    page.wait_for_function("() => document.querySelector('#turn').value > 0")
    assert page.locator(".poster").count() == 0
    page.keyboard.press(" ")


def test_the_board_shows_what_the_engine_draws(game: str, page: Page, match: tuple[Replay, Path]) -> None:
    """In every turn. Nothing moves for people who want less motion."""
    replay = match[0]
    page.evaluate("location.hash = '#turn=0'")
    page.evaluate("window.moves = 0")
    assert page.locator(".badge").inner_text() == "verified"
    for number, (_, state, _) in enumerate(positions(replay)):
        if number:
            page.keyboard.press("ArrowRight")
        drawn, shown = READERS[game](str(state).split("\n"), at(page, number))
        assert shown == drawn, f"turn {number}"
        if number in (0, 2) and game in MARKED:
            assert page.locator(MARKS).count() == (number > 0)
    assert page.evaluate("window.moves") == 0
    assert page.evaluate("document.getAnimations().length") == 0
    assert f"of {number}" in page.locator(".controls").inner_text()
    result, names = state.result, replay.header.setup.names
    assert result is not None
    assert page.locator(".headline").inner_text() == headline(replay.game.presentation.endings, result, names)
    page.keyboard.press("Home")
    assert page.input_value("#turn") == "0"
    assert "to answer" in page.locator(".seats").inner_text()
    page.keyboard.press("End")
    assert page.input_value("#turn") == str(number)


def test_the_list_of_turns_shows_answers_in_the_games_notation(page: Page, match: tuple[Replay, Path]) -> None:
    replay = match[0]
    page.evaluate("location.hash = '#turn=6&panel=calls'")
    page.locator(".calls li").first.wait_for()
    in_words, names = replay.game.presentation.in_words, replay.header.setup.names
    calls: dict[int, Call] = {}
    for (number, state, step), shown in zip(
        positions(replay), page.locator(".calls li").all_inner_texts(), strict=False
    ):
        answers = step.answers if isinstance(step, Turn) else {}
        told = [f"{names[seat]}: {in_words(calls[seat], answer)}" for seat, answer in answers.items()]
        assert shown.split() == " ".join([str(number - 2), " · ".join(told)]).split()
        calls = {call.player: call for call in state.calls()}


def test_it_is_accessible_by_day_and_night_narrow_and_in_words_of_its_picture(
    game: str, page: Page, pictures: Path
) -> None:
    page.evaluate("location.hash = '#turn=12'")
    page.wait_for_selector(".timeline")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert len(page.screenshot(path=pictures / f"{game}-{scheme}.png")) > 10_000
        assert barriers(page) == [], scheme
    page.set_viewport_size({"width": 420, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 420, "no sideways scrolling"
    page.set_viewport_size(SIZE)  # type: ignore[arg-type]
    last = int(page.get_attribute("#turn", "max") or 0)
    page.reload()  # a page that has shown the end also tells where the highlights are
    page.wait_for_selector(".timeline")
    page.evaluate("turn => { location.hash = `#turn=${turn}&panel=none` }", round(last * PART))
    page.wait_for_selector("main.stage")
    assert words(page) == json.loads(WORDS.read_text("utf-8"))[game], "run `make pictures`"
    page.set_viewport_size({"width": 1280, "height": 900})


@pytest.mark.parametrize("size", [{"columns": 5, "rows": 4, "inarow": 3}, {"columns": 7, "rows": 9, "inarow": 5}])
def test_connect_four_is_drawn_in_the_size_that_it_is_played_in(
    size: dict[str, int], paged: Played, played: Played, opened: Opened
) -> None:
    page = opened(paged("connectfour", **size), "")
    page.keyboard.press("End")
    states = [state for _, state, _ in positions(Replay(played("connectfour", **size)))]
    drawn, shown = connectfour(str(states[-1]).split("\n"), at(page, len(states) - 1))
    assert len(drawn) == size["columns"] * size["rows"]
    assert shown == drawn


def test_an_ant_shows_where_it_can_go(played: Played, paged: Played, opened: Opened) -> None:
    """With the keyboard. The tiles are those in the engine's legal answers."""
    page = opened(paged("reantics"), "")
    looked = 0
    for number, (_, state, _) in enumerate(positions(Replay(played("reantics")))):
        assert isinstance(state, ReAntics)
        if number % 7 == 0 and state.awaited.get(0) is state.METHODS["getMove"]:
            page.fill("#turn", str(number))
            page.keyboard.press("Enter")
            at(page, number)
            legal = [move.coordList for move in state.legal(0) if move.moveType == 0]
            for ant in state.view(None).inventories[0].ants:
                x, y = ant.coords
                page.locator(
                    f"[aria-label*=' of seat 0 on {x},{y}, health'][tabindex]"
                ).focus() if not ant.hasMoved else None
                tiles = page.locator(".reach[data-tile]").evaluate_all("all => all.map(e => e.dataset.tile)")
                ends = {path[-1] for path in legal if path[0] == (x, y)} - {(x, y)}
                if not ant.hasMoved:
                    assert {tuple(map(int, tile.split(","))) for tile in tiles} == ends, (number, ant)
                    looked += bool(ends)
    assert looked > 3


def test_pointing_at_an_ant_shows_where_it_can_go(paged: Played, played: Played, opened: Opened) -> None:
    page = opened(paged("reantics"), "")
    reach: dict[str, Any] = {}
    for number, (_, state, _) in enumerate(positions(Replay(played("reantics")))):  # noqa: B007 - used below
        if reach := {ant: tiles for ant, tiles in state.marks().get("reach", {}).items() if tiles}:
            break
    page.fill("#turn", str(number))
    page.keyboard.press("Enter")
    ant, tiles = next(iter(reach.items()))
    (place,) = [each.coords for held in state.view(None).inventories for each in held.ants if str(each.id) == ant]
    page.locator(f"[aria-label*=' on {place[0]},{place[1]}, health']").hover()
    page.wait_for_function(f"() => document.querySelectorAll('.reach[data-tile]').length === {len(tiles)}")
    page.locator("header").hover()
    page.wait_for_function("() => !document.querySelector('.reach[data-tile]')")


@pytest.mark.parametrize("game", ["tictactoe", "connectfour"])
def test_the_line_that_won_is_marked(game: str, played: Played, paged: Played, opened: Opened) -> None:
    page = opened(paged(game), "")
    page.keyboard.press("End")
    last = [state for _, state, _ in positions(Replay(played(game)))][-1]
    won = last.marks().get("won", [])
    assert won, "the match of this test is won on the board"
    marked = page.get_by_label(re.compile(", in the winning line$")).evaluate_all("all => all.map(e => e.ariaLabel)")
    assert sorted(label.split()[0] for label in marked) == sorted(won)
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("() => !document.querySelector('.cell.won')")
