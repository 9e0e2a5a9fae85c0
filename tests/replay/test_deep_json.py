"""JSON of strangers that is nested too deeply, or is no UTF-8, costs its file alone, in a line."""

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import msgspec
import pytest

from referee.addons.host import finals
from referee.addons.host.client import Client
from referee.addons.tournament.store.replay_source import LedgerShelf
from referee.addons.web.replay_list import FolderList
from referee.games.contract import Setup
from referee.harness.cli.main import main
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.known_games import find_game
from referee.harness.isolation.supervisor_messages import decode
from referee.harness.replay import fault_report
from referee.harness.seats.answer_text import Answers, Unclear

pytestmark = pytest.mark.slow

DEEP = b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
WRONG = {"deep": DEEP, "no UTF-8": b'{"x":"\xff"}', "no object": b"[]"}


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    file = tmp_path_factory.mktemp("replay") / "match.jsonl"
    words = ["--game", "tictactoe", "@random", "@random", "--isolation", "off", "--replay", str(file)]
    assert main(words) == 0
    return file.read_bytes()


def test_one_strange_replay_leaves_the_list_of_all_others(replay: bytes, tmp_path: Path) -> None:
    lines = replay.split(b"\n")
    names = {"match.jsonl", os.fsdecode(b"b\xff.jsonl"), "end.jsonl"}
    for name in names:
        (tmp_path / name).write_bytes(replay)
    (tmp_path / "header.jsonl").write_bytes(b"\n".join([lines[0][:-1] + b"," + DEEP[1:], *lines[1:]]))
    (tmp_path / "end.jsonl").write_bytes(b"\n".join([*lines[:-2], lines[-2][:-1] + b"," + DEEP[1:], b""]))
    listed = json.loads(msgspec.json.encode(FolderList(tmp_path).entries()))
    assert {each["title"] for each in listed} == {"match.jsonl", "b\\udcff.jsonl", "end.jsonl"}


@pytest.mark.parametrize("name", WRONG)
def test_one_wrong_line_leaves_the_list_of_all_other_games(name: str, tmp_path: Path) -> None:
    (tmp_path / "ledger").mkdir()
    (tmp_path / "ledger" / "x.jsonl").write_bytes(b'{"ledger":1,"plan":' + WRONG[name] + b"}\n" + WRONG[name] + b"\n")
    assert LedgerShelf(tmp_path).entries() == []


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_fault_report_is_refused_in_a_line(name: str, tmp_path: Path) -> None:
    (tmp_path / fault_report.DETAILS).write_bytes(WRONG[name])
    with pytest.raises(UsageError, match="is not that of a fault report"):
        fault_report.read(tmp_path)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_final_is_refused_in_a_line(name: str, tmp_path: Path) -> None:
    (tmp_path / finals.FINALS / "x").mkdir(parents=True)
    (tmp_path / finals.FINALS / "x" / finals.FACTS).write_bytes(WRONG[name])
    with pytest.raises(RunError, match="is damaged"):
        finals.finals(tmp_path)


@pytest.mark.parametrize("name", ["deep", "no object"])
def test_no_supervisor_sends_this(name: str) -> None:
    assert decode(WRONG[name]) is None


def test_an_answer_that_is_nested_too_deeply_is_unclear() -> None:
    game = find_game("tictactoe")
    state = game.new(Setup(7, ("Ada", "Bob"), game.options()))
    answers = Answers(game, state, next(iter(state.calls())).player)
    with pytest.raises(Unclear, match="not valid JSON"):
        answers.read("[" * 100_000)


@pytest.fixture
def liar() -> Iterator[str]:
    """The address of a server that answers with anything, which is the path of the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(WRONG[self.path.split("/")[1].replace("%20", " ")])

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("name", WRONG)
def test_a_server_that_is_no_contest_is_named_in_a_line(name: str, liar: str) -> None:
    with pytest.raises(RunError, match="is no contest of `referee host`"):
        Client(f"{liar}/{name.replace(' ', '%20')}", "token").state(1)
