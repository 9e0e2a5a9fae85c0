"""`referee view`: the list, a growing replay, the token, and a server that restarts."""

import gzip
import http.client
import json
import shutil
import subprocess
import sys
import timeit
import tracemalloc
from contextlib import closing
from pathlib import Path
from socket import AF_INET, gethostname
from urllib.parse import urlsplit

import msgspec
import psutil
import pytest
from growing import Growing
from msgspec.structs import replace
from pages import Played, Viewing, Visited

from referee.addons.tournament.store import replay_source
from referee.addons.tournament.store.ledger import Ledger, Line
from referee.addons.tournament.store.replay_source import LedgerShelf
from referee.harness.common.installed import extra_command
from referee.harness.replay.formats.records import export
from referee.harness.replay.reader import Replay

pytestmark = pytest.mark.slow


def test_the_list_can_be_filtered_and_leads_to_a_match_and_back(
    tmp_path: Path, played: Played, viewing: Viewing, visited: Visited
) -> None:
    for game in ("tictactoe", "quoridor"):
        shutil.copy(played(game), tmp_path / f"{game}.jsonl")
    (tmp_path / "no-record.jsonl").write_text('{"bot":"of mine"}\n')
    with Growing(tmp_path / "growing.jsonl", draw_after=20) as growing, viewing(tmp_path) as url:
        growing.play(5)
        page = visited(url, "table")
        assert "token" not in page.evaluate("location.href")
        rows = page.locator("tbody tr")
        assert rows.count() == 3
        assert "growing.jsonl" in rows.nth(0).inner_text()
        assert "live" in rows.nth(0).inner_text()
        page.get_by_role("combobox", name="game").select_option("quoridor")
        assert rows.count() == 1
        page.get_by_role("combobox", name="game").select_option("")
        page.get_by_role("searchbox", name="bot").fill("TWO one")
        assert rows.count() == 1
        page.get_by_role("searchbox", name="bot").fill("")
        page.get_by_role("combobox", name="show").select_option("live")
        assert rows.count() == 1
        page.get_by_role("combobox", name="show").select_option("all")
        page.get_by_role("link", name="quoridor.jsonl").click()
        page.wait_for_selector(".timeline")
        page.get_by_text("verified", exact=True).wait_for()
        page.keyboard.press("End")
        here = page.evaluate("location.href")
        assert "match=" in here
        page.reload()
        page.wait_for_selector(".rank")
        assert page.evaluate("location.href") == here
        page.get_by_role("link", name="all matches").click()
        page.wait_for_selector("table")
        growing.finish()
        page.wait_for_function("() => document.querySelectorAll('tr.live').length == 0")


def test_a_running_match_is_followed_even_if_the_server_restarts(
    tmp_path: Path, viewing_process: Viewing, visited: Visited
) -> None:
    with Growing(tmp_path / "growing.jsonl", draw_after=20) as growing:
        with viewing_process(tmp_path / "growing.jsonl") as url:
            growing.play(5)
            page = visited(url, ".timeline")
            growing.play(5)
            page.wait_for_function("() => document.querySelector('#turn').value == 10")
            assert page.get_by_role("button", name="live").get_attribute("aria-pressed") == "true"
            page.keyboard.press("ArrowLeft")
            growing.play(1)
            page.wait_for_function("() => document.querySelector('.controls').innerText.includes('of 11')")
            assert page.input_value("#turn") == "9", "a page at an earlier turn stays there"
            page.keyboard.press("l")
            assert page.input_value("#turn") == "11"
            assert page.locator(".badge").inner_text() == "live"
        page.get_by_text("the server does not answer").wait_for()
        growing.play(9)
        port = urlsplit(url).port
        token = urlsplit(url).fragment.removeprefix("token=")
        with viewing_process(tmp_path / "growing.jsonl", "--port", str(port), REFEREE_VIEW_TOKEN=token):
            page.wait_for_function("() => document.querySelector('#turn').value == 20")
            growing.finish()
            growing.__exit__(None, None, None)
            page.wait_for_function("() => document.querySelector('.badge').innerText == 'verified'")
            growing.path = None
            growing._file = None


def test_a_folder_lists_original_competition_files_too(
    tmp_path: Path, played: Played, viewing: Viewing, visited: Visited
) -> None:
    export("aiarena21-replay", Replay(played("aiarena21")), tmp_path / "replay.txt")
    shutil.copy(played("tictactoe"), tmp_path / "match.jsonl")
    with viewing(tmp_path) as url:
        page = visited(url, "table")
        assert "original file: " in page.get_by_role("row").filter(has_text="replay.txt").inner_text()
        page.get_by_role("link", name="replay.txt").click()
        page.wait_for_function("() => document.querySelector('.badge')?.innerText == 'as recorded'")
        page.keyboard.press("End")
        assert page.input_value("#turn") == "12"


def test_a_file_that_was_empty_is_read_again(tmp_path: Path, played: Played, viewing: Viewing) -> None:
    path = tmp_path / "match.jsonl"
    path.touch()
    with viewing(path) as url:
        parts = urlsplit(url)

        def last() -> str:
            connection = http.client.HTTPConnection("127.0.0.1", parts.port or 0, timeout=10)
            token = {"X-Referee-Token": parts.fragment.removeprefix("token=")}
            connection.request("GET", "/matches/0", headers=token)
            return connection.getresponse().read().decode().splitlines()[-1]

        assert "is empty, not a replay" in last()
        shutil.copy(played("tictactoe"), path)
        assert json.loads(last())["verified"] == "identical"


def test_without_the_token_only_the_empty_page_is_served(tmp_path: Path, played: Played, viewing: Viewing) -> None:
    shutil.copy(played("tictactoe"), tmp_path / "match.jsonl")
    with viewing(tmp_path) as url:
        parts = urlsplit(url)
        token = parts.fragment.removeprefix("token=")
        assert len(token) >= 43

        def status(path: str, **headers: str) -> int:
            connection = http.client.HTTPConnection("127.0.0.1", parts.port or 0, timeout=10)
            connection.request("GET", path, headers=headers)
            return connection.getresponse().status

        def get(path: str) -> str:
            connection = http.client.HTTPConnection("127.0.0.1", parts.port or 0, timeout=10)
            connection.request("GET", path, headers={"X-Referee-Token": token})
            return connection.getresponse().read().decode()

        assert status("/") == 200
        assert status("/matches") == 401
        assert status("/matches/0") == 401
        assert status("/matches", **{"X-Referee-Token": token[:-1] + "_"}) == 401
        assert status("/matches?token=" + token) == 401, "no address may hold it"
        assert status("/matches", Cookie="token=" + token) == 401
        assert status("/matches", Host="evil.example", **{"X-Referee-Token": token}) == 403
        assert status("/matches/7", **{"X-Referee-Token": token}) == 404
        assert status("/matches/" + "9" * 5000, **{"X-Referee-Token": token}) == 404
        assert status("/matches/../../etc/passwd", **{"X-Referee-Token": token}) == 404
        assert json.loads(get("/matches"))[0]["title"] == "match.jsonl"
        first = get("/matches/0").splitlines()
        assert json.loads(first[-1])["verified"] == "identical"
        assert get("/matches/0?from=3").splitlines() == first[3:]


def test_the_printed_link_works_from_other_machines(tmp_path: Path, played: Played, viewing_process: Viewing) -> None:
    found = [each.address for named in psutil.net_if_addrs().values() for each in named if each.family == AF_INET]
    own = next((each for each in found if not each.startswith("127.")), None)
    if own is None:
        pytest.skip("this machine has no address that another one could know")
    shutil.copy(played("tictactoe"), tmp_path / "match.jsonl")
    with viewing_process(tmp_path, "--bind", "0.0.0.0") as url:
        parts = urlsplit(url)
        assert parts.hostname == own

        def status(host: str) -> int:
            connection = http.client.HTTPConnection(own, parts.port or 0, timeout=10)
            connection.request("GET", "/", headers={"Host": f"{host}:{parts.port}"})
            return connection.getresponse().status

        assert [status(host) for host in (own, "127.0.0.1", gethostname())] == [200] * 3
        assert [status(host) for host in ("evil.example", "192.0.2.1")] == [403] * 2


def test_a_tournaments_games_are_listed_by_bot_names(tmp_path: Path, played: Played) -> None:
    record = played("tictactoe").read_bytes()
    bots = [{"ident": "aa", "name": "Ada"}, {"ident": "bb", "name": "Bob"}]
    book = Ledger(tmp_path, {"game": "tictactoe", "bots": bots})
    found = LedgerShelf(tmp_path)
    assert found.entries() == []
    line = Line("c/aa-bb/0/0", ("bb", "aa"), 7, (1, 2), (1.0, 0.0), at=5.0)
    book.append([(msgspec.json.encode(line), gzip.compress(record)), (msgspec.json.encode(line), None)])
    book.close()
    (entry,) = found.entries()
    assert (entry.game, entry.names, entry.ranks) == ("tictactoe", ("Bob", "Ada"), (1, 2))
    source = found.source(entry.number)
    assert source is not None and source.read(0) == record and source.read(10) == record[10:]
    assert found.source(1) is None


def game_lines(count: int, first: int = 0) -> list[tuple[bytes, bytes | None]]:
    """Entries of a ledger, one per second."""
    line = Line("", ("bb", "aa"), 7, (1, 2), (1.0, 0.0))
    lines = (replace(line, k=f"c/aa-bb/{number}/0", at=float(number)) for number in range(first, first + count))
    return [(msgspec.json.encode(each), gzip.compress(b"%d" % number, 1)) for number, each in enumerate(lines, first)]


def test_the_newest_games_are_listed_and_older_ones_can_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_source, "MOST", 4)
    late, early = Ledger(tmp_path, {"game": "tictactoe"}), Ledger(tmp_path, {"game": "tictactoe"})
    late.append(game_lines(10, first=20))
    early.append(game_lines(15))
    found = LedgerShelf(tmp_path)
    assert [entry.at for entry in found.entries()] == [29, 28, 27, 26]
    early.append(game_lines(1, first=28))  # two of one second: the first that was read stands first
    late.append(game_lines(1, first=30))
    early.close()
    late.close()
    newest = found.entries()
    assert [entry.at for entry in newest] == [30, 29, 28, 28] and newest[2].number < newest[3].number
    sources = [found.source(number) for number in range(27)]
    contents = sorted(int(source.read(0)) for source in sources if source is not None)
    assert contents == sorted([*range(15), *range(20, 30), 28, 30])
    assert found.source(27) is None


def test_the_cost_of_a_request_does_not_grow_with_the_number_of_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_source, "MOST", 100)
    cost_s, memory = [], []
    for count in (300, 3000):
        with closing(Ledger(tmp_path / str(count), {"game": "tictactoe"})) as book:
            book.append(game_lines(count))
        tracemalloc.start()
        found = LedgerShelf(tmp_path / str(count))
        assert len(found.entries()) == 100
        memory.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        cost_s.append(min(timeit.repeat(found.entries, number=5, repeat=10)))
    assert memory[1] - memory[0] < 100 * (3000 - 300)
    assert cost_s[1] < 5 * cost_s[0]


def test_a_missing_extra_is_reported_in_one_line(tmp_path: Path) -> None:
    code = "import sys; sys.modules['starlette'] = None; from referee.harness.cli.main import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", code, "view", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 2
    assert "referee view needs the extra `web` (" in done.stderr
    assert done.stderr.endswith(f"to install it: {extra_command('web')}\n")
    assert len(done.stderr.splitlines()) == 1
