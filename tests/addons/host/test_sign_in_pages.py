"""Members sign in by an account in a real browser: cookies, redirects and policies hold there too."""

from pathlib import Path

import pytest
from hosting import Cup, serving
from pages import barriers
from playwright.sync_api import Browser
from sign_ins import real_provider, settings_file

from referee.addons.host import teams

pytestmark = pytest.mark.slow


def test_a_member_joins_and_later_signs_in_by_an_account(browser: Browser, tmp_path: Path) -> None:
    cup, errors = Cup(tmp_path), list[str]()
    link = f"{cup.address}/join/{teams.new_link(cup.store, cup.blue, 'invitation', 'x')}"
    with (
        real_provider(cup.address) as issuer,
        serving(cup, sign_in=str(settings_file(tmp_path, issuer))),
        browser.new_context() as window,
    ):
        window.on("weberror", lambda error: errors.append(str(error.error)))
        page = window.new_page()

        def at_the_provider(name: str) -> None:
            page.get_by_placeholder("Enter any login").fill(name)
            page.get_by_placeholder("and password").fill("any")
            page.get_by_role("button", name="Sign-in").click()
            page.get_by_role("button", name="Continue").click()

        page.goto(link)
        assert barriers(page) == []
        page.get_by_role("link", name="Sign in with the school").click()
        at_the_provider("ann")
        assert page.get_by_label("Your name").input_value() == "ann of the school" and barriers(page) == []
        page.get_by_role("button", name="Join").click()
        page.get_by_role("heading", name="Blue").wait_for()
        page.get_by_role("button", name="Sign out").click()

        # The provider remembers her, so that one click is enough.
        page.goto(f"{cup.address}/team")
        assert barriers(page) == []
        page.get_by_role("link", name="Sign in with the school").click()
        page.get_by_role("heading", name="Blue").wait_for()

        # Somebody who is in no team yet.
        with browser.new_context() as another:
            page = another.new_page()
            page.goto(f"{cup.address}/sign-in")
            at_the_provider("bea")
            page.get_by_text("who is in no team yet").wait_for()
            assert barriers(page) == [] and page.url == f"{cup.address}/account"
    assert errors == []
