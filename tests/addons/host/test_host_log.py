"""The access log of a contest, and the ids of its requests."""

import logging
import re
from pathlib import Path

import httpx
import pytest
from browsers import in_a_loop
from hosting import Cup, serving, wait_for
from starlette.types import Receive, Scope, Send

from referee.addons.host import teams
from referee.addons.host.access import ID
from referee.addons.host.app import guarded
from referee.addons.web.server.access_log import check_log

LINE = re.compile(r"\S+Z (\S+) (\S+) (\S+) (\S+) [\d.]+ ([0-9a-f]{8})")


@pytest.mark.slow
def test_the_access_log_has_each_request_with_its_id_and_no_secret(tmp_path: Path) -> None:
    cup, file = Cup(tmp_path), tmp_path / "access.log"
    check_log(file)
    token = teams.new_link(cup.store, cup.blue, "join", "x")
    asked = [
        ("/", 200),
        (f"/join/{token}", 200),
        (f"/%6aoin/{token}", 200),
        (f"/a/join/{token}/sign-in", 404),
        (f"/signed-in?code={token}&state=x", 404),
        ("/none%0aforged 200", 404),
        ("/health", 200),
    ]
    headers = {"x-forwarded-for": "192.0.2.1, 192.0.2.7 x"}
    with serving(cup, behind_proxy=True, access_log=str(file)) as client:
        ids = []
        for path, status in asked:
            response = client.get(path, headers=headers)
            assert response.status_code == status, path
            ids.append(response.headers["x-request-id"])
        wait_for(lambda: len(logged(file, ids)) == len(asked))
    lines = logged(file, ids)
    assert len(set(ids)) == len(ids)
    assert [(path, int(status)) for _, _, path, status, _ in lines] == [
        ("/", 200),
        ("/join/-", 200),
        ("/join/-", 200),
        ("/a/join/-/sign-in", 404),
        ("/signed-in", 404),
        ("/none%0Aforged%20200", 404),
        ("/health", 200),
    ]
    assert {line[0] for line in lines} == {"192.0.2.7%20x"} and {line[1] for line in lines} == {"GET"}
    assert token not in file.read_text() and file.stat().st_mode & 0o777 == 0o600


def logged(file: Path, ids: list[str]) -> list[tuple[str, ...]]:
    """Returns the words of the lines of these requests."""
    return [found.groups() for found in map(LINE.fullmatch, file.read_text().splitlines()) if found and found[5] in ids]


def test_a_page_that_fails_names_its_request_and_so_does_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise KeyError("our mistake")

    async def numbered(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"] = {ID: "0123abcd"}
        await guarded(broken)(scope, receive, send)

    async def answer() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(numbered), base_url="http://cup") as client:
            return await client.get("/")

    with caplog.at_level(logging.ERROR):
        response = in_a_loop(answer())
    assert response.status_code == 500 and "at the request 0123abcd" in response.text
    assert "request 0123abcd: GET failed" in caplog.text and "our mistake" in caplog.text
