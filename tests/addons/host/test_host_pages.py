"""A hosted contest in a browser: accessible pages, a table that moves, a build log that grows, hostile texts."""

import os
import re
from pathlib import Path

import pytest
from hosting import Cup, hosted, serving, signed_in, wait_for
from pages import barriers
from playwright.sync_api import Browser, Page, Route
from submissions import RUN, zipped

pytestmark = pytest.mark.slow

HOSTILE = '<img src=x onerror="document.title=1">'
PUBLIC = ("/", "/news", "/rules", "/kits", "/finals", "/nothing")
SIZES = (390, 1280)
TOO_WIDE = """
document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("body *")]
  .filter((each) => each.getBoundingClientRect().right > innerWidth && !each.closest(".scroll"))
  .map((each) => each.outerHTML.slice(0, 90))
"""
"""What makes a page wider than the window; what may be scrolled by itself does not."""


def looked_at(page: Page, name: str, pictures: Path | None) -> None:
    """Checks a page for barriers and that it fits two sizes; three pages with all colours also in the dark theme."""
    for theme in ("light", "dark") if pictures or name in ("/", "/team", "/organiser") else ("light",):
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        assert barriers(page) == [], (name, theme)
        for width in SIZES:
            page.set_viewport_size({"width": width, "height": 860})
            assert page.evaluate(TOO_WIDE) == [], (name, theme, width)
            if pictures:
                page.screenshot(path=pictures / f"{name.strip('/').replace('/', '-') or 'table'}-{theme}-{width}.png")


def game_of(page: Page, own: str) -> str:
    """Returns the path of a game's page, of which a page has a link that begins with `own`."""
    found: list[str] = page.locator(f"a[href^='{own}']").evaluate_all("all => all.map((each) => each.pathname)")
    return next(path for path in found if not path.endswith((".gz", "/replay")))


def test_every_page_is_accessible_and_shows_hostile_texts_as_text(browser: Browser, tmp_path: Path) -> None:
    """`REFEREE_PICTURES` names a folder for pictures of each page, in both themes and sizes."""
    errors: list[str] = []
    pictures = Path(os.environ["REFEREE_PICTURES"]) if "REFEREE_PICTURES" in os.environ else None
    text = f"step %s \\033[31m{HOSTILE}\\342\\200\\256\\n"  # red, and from right to left
    slow = f"{RUN}build = '''for i in 1 2 3; do printf '{text}' $i; sleep 0.5; done'''\n"
    with hosted(tmp_path / "cup", "--game", "tictactoe", "--jobs", "1", "--title", f"Cup {HOSTILE}") as contest:
        organiser = contest.organiser()
        blue, red = contest.team(organiser, HOSTILE), contest.team(organiser, "Red")
        organiser.post("/organiser/announce", title=HOSTILE, text=HOSTILE)
        red.hand_in(zipped(tmp_path / "files" / "red.zip", 1))

        # Blue hands in with the mouse and the keyboard, and sees the log grow and the verdict come.
        window = signed_in(browser, blue, errors)
        page = window.new_page()
        page.goto(f"{contest.address}/team")
        page.get_by_label("A zip of the bot's folder").set_input_files(zipped(tmp_path / "files" / "blue.zip", 2, slow))
        page.get_by_label("Note, for your team").first.fill(HOSTILE)
        page.get_by_role("button", name="Hand in").first.click()
        page.get_by_text("step 1").wait_for()
        assert page.get_by_text("step 3").count() == 0
        page.get_by_text("accepted", exact=True).wait_for(timeout=60_000)
        log = page.inner_text("pre >> nth=-1")
        assert HOSTILE in log and not {"\x1b", "\u202e"} & {*log}

        wait_for(lambda: "bots/" in blue.get("/") and "/team/games" not in blue.get("/team"))
        wait_for(lambda: "games" in blue.get("/team"))
        found = re.search(r"bots/[\w-]+\.html", organiser.get("/"))
        assert found is not None
        bot = f"/{found[0]}"
        wait_for(lambda: 'href="../games/' in organiser.get(bot))
        organiser.post("/organiser/switches/rated", value="off")
        paths = [*PUBLIC, bot, "/team", "/team/versions/1", "/team/bot", "/team/practice"]
        for path in paths:
            page.goto(f"{contest.address}{path}")
            assert page.locator("img").count() == 0 and page.title() != "1", path
            looked_at(page, path, pictures)

        # Each page of a game leads back to a list with it.
        blue.post("/team/practice", version="1", rival="@random")
        wait_for(lambda: "/team/practice/1/replay" in blue.get("/team/practice"))
        for path, own, listed in (
            (bot, "../games/", "/pairs/"),
            ("/team/bot", "games/", "/team/bot"),
            ("/team/practice", "/team/practice/", "/team/practice"),
        ):
            page.goto(f"{contest.address}{path}")
            page.goto(f"{contest.address}{game_of(page, own)}")
            page.get_by_role("link", name="all games").click()
            page.wait_for_url(f"{contest.address}{listed}**")
            assert page.locator(f"a[href*='{own.strip('.')}']").count() > 0, path
        window.close()

        window = signed_in(browser, organiser, errors)
        page = window.new_page()
        for path in ("/organiser", "/organiser/audit"):
            page.goto(f"{contest.address}{path}")
            looked_at(page, path, pictures)
        window.close()

        # A stranger's table moves without a reload.
        organiser.post("/organiser/switches/rated", value="on")
        page = browser.new_page()
        page.goto(contest.address)
        page.evaluate("window.same = true")
        before = page.inner_text("main")
        page.wait_for_function("(before) => document.querySelector('main').innerText !== before", arg=before)
        assert page.evaluate("window.same") is True
        page.close()
    expected = ("status of 404", "net::ERR", "ERR_")
    assert [each for each in errors if not any(part in each for part in expected)] == []


def test_a_page_shows_a_change_that_came_between_its_load_and_its_first_event(browser: Browser, tmp_path: Path) -> None:
    cup = Cup(tmp_path)
    with serving(cup) as client:
        page = browser.new_page()
        held: list[Route] = []
        page.route("**/events", lambda route: held.append(route))
        with page.expect_request("**/events"):
            page.goto(cup.address)
        cup.rename("Another cup")
        wait_for(lambda: "Another cup" in client.get("/").text)
        assert page.get_by_role("heading", name="Another cup").count() == 0
        (route,) = held
        route.continue_()
        page.get_by_role("heading", name="Another cup").wait_for()
        page.close()
