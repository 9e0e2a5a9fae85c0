"""Folders of games by strangers: whatever is in them, they are refused in a line and at once."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from accounts import ACCOUNTS, ORDINARY, run_referee
from needs import for_root
from rules_games import SERVE, STEADY, write_game
from starlette.testclient import TestClient

from referee.addons.rules.source import VARIABLE
from referee.addons.web.app import Viewer, document
from referee.addons.web.replay_list import FileList
from referee.games import registry
from referee.harness.cli.main import main
from referee.harness.common.errors import UsageError


def refusal(folder: Path) -> str:
    """The line with which a folder is refused."""
    with pytest.raises(UsageError) as caught:
        registry.in_folder(str(folder))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def chain(link: Any, length: int, end: Any = None) -> dict[str, Any]:
    """Types of which each refers to the next: `link` makes one from that reference."""
    links = {f"A{number}": link({"$ref": f"#/$defs/A{number + 1}"}) for number in range(length)}
    return links | {f"A{length}": end or {"type": "integer"}}


WIDE = 40
DEEP, LARGE = "nested deeper than 32 levels", "more than 20,000 parts"
SCHEMAS: dict[str, tuple[dict[str, Any], str]] = {
    "a reference to the network": ({"A0": {"$ref": "http://127.0.0.1:1/a"}}, "expected #/$defs/NAME"),
    "a reference to a file": ({"A0": {"$ref": "file:///etc/passwd"}}, "expected #/$defs/NAME"),
    "a reference to itself": ({"A0": {"$ref": "#/$defs/A0"}}, "A0 contains itself"),
    "references to references": (chain(lambda ref: ref, 3000), DEEP),
    "records in records": (chain(lambda ref: {"type": "object", "properties": {"a": ref}}, 900), DEEP),
    "lists of lists": (chain(lambda ref: {"type": "array", "items": ref}, 900), DEEP),
    "maps of maps": (chain(lambda ref: {"type": "object", "additionalProperties": ref}, 900), DEEP),
    "lists that double": (chain(lambda ref: {"type": "array", "prefixItems": [ref] * WIDE}, 9), LARGE),
    "records that double": (
        chain(lambda ref: {"type": "object", "properties": {f"a{at}": ref for at in range(WIDE)}}, 9),
        LARGE,
    ),
    "25,000 members": (
        {"A0": {"type": "object", "properties": {f"a{at}": {"type": "integer"} for at in range(25_000)}}},
        LARGE,
    ),
    "a required list": ({"A0": {"type": "object", "properties": {"a": {}}, "required": [["a"]]}}, "expected names"),
    "one name for two values": (
        {"A0": {"type": "integer", "enum": [1, 2], "x-enum-varnames": ["A", "A"]}},
        "expected a different name for each value",
    ),
    "a default of another type": (
        {"A0": {"type": "object", "properties": {"a": {"type": "integer", "default": "x"}}}},
        "A0, a: the default does not fit",
    ),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_hostile_schema_is_refused(tmp_path: Path, name: str) -> None:
    types, words = SCHEMAS[name]
    methods = {"move": {"doc": "", "result": "types.json#/$defs/A0"}}
    folder = write_game(tmp_path / "small", STEADY + SERVE, methods=methods)
    (folder / "types.json").write_text(json.dumps({"$defs": types}))
    assert words in refusal(folder)


def test_no_parameter_is_called_clock_wherever_its_schema_is(tmp_path: Path) -> None:
    params = {"type": "object", "properties": {"clock": {"type": "integer"}}}
    for place in (params, "types.json", "types.json#/$defs/A"):
        methods = {"move": {"doc": "", "params": place}}
        folder = write_game(tmp_path / "small", STEADY + SERVE, methods=methods)
        (folder / "types.json").write_text(json.dumps({**params, "$defs": {"A": params}}))
        assert "no parameter may be called clock" in refusal(folder)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('[options.a]\ntype = "number"\ndefault = nan', "a value that JSON does not have"),
        (f"[constants]\nA = {'9' * 30}", "9223372036854775807"),
        ('[opponents]\nrandom = "rules.py"', "@random plays every game already"),
    ],
)
def test_a_hostile_game_file_is_refused(tmp_path: Path, lines: str, words: str) -> None:
    folder = write_game(tmp_path / "small", STEADY + SERVE)
    with (folder / "game.toml").open("a") as file:
        file.write(lines)
    assert words in refusal(folder)


def test_a_family_of_games_lends_its_name_to_no_folder(tmp_path: Path) -> None:
    for name in registry.families():
        folder = write_game(tmp_path / name, STEADY + SERVE, name=name)
        assert "which is the name of another game" in refusal(folder)


@pytest.mark.parametrize("member", ["rules_page", "painter", "prompt"])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xff\xfe", "which cannot be read"),
        (b"# Moves \x1b[31m", "which has a control character"),
        (b"x" * (5 << 20), "more than 4 MiB"),
        (None, "it is a named pipe"),
        ("folder", "Is a directory"),
    ],
    ids=["no text", "a control character", "too long", "a pipe", "a folder"],
)
def test_a_file_that_is_no_text_is_refused(tmp_path: Path, member: str, content: Any, words: str) -> None:
    folder = write_game(tmp_path / "small", STEADY + SERVE, **{member: "brought"})
    file = folder / "brought"
    if content is None:
        os.mkfifo(file)
    elif content == "folder":
        file.mkdir()
    else:
        file.write_bytes(content)
    assert words in refusal(folder)


def test_lines_of_a_page_may_end_as_on_windows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_game(tmp_path / "small", STEADY + SERVE, rules_page="rules.md")
    (folder / "rules.md").write_bytes(b"# Small\r\n\r\nMove.\r\n")
    assert main(["rules", str(folder)]) == 0
    assert "Move." in capsys.readouterr().out


def test_a_folder_as_long_as_a_disk_is_not_read(tmp_path: Path) -> None:
    folder = write_game(tmp_path / "small", STEADY + SERVE)
    with (folder / "large").open("wb") as file:
        file.truncate(1 << 40)
    assert "more than 1,024 MiB" in refusal(folder)
    assert main(["games", "install", str(folder)]) == 2
    with (folder / "game.toml").open("a") as file:
        file.write('exclude = ["large"]\n')
    assert main(["games", "install", str(folder)]) == 0


def test_every_painter_is_a_script_of_its_own_so_that_a_broken_one_stops_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("small", "}}})((("), ("tall", "refereePainters.tall = {};")):
        folder = write_game(tmp_path / name, STEADY + SERVE, name=name, painter="painter.js")
        (folder / "painter.js").write_text(text)
        assert main(["games", "install", str(folder)]) == 0
        assert "Read painter.js if you do not trust its author" in " ".join(capsys.readouterr().out.split())
    client = TestClient(Viewer(FileList(), {}).app, backend="trio")
    page = client.get("/").text
    scripts = re.findall(r'<script src="(/painters/\w+\.js)">', page)
    assert scripts == ["/painters/small.js", "/painters/tall.js"]
    small, tall = (client.get(path).text for path in scripts)
    assert "}}})(((" in small and "}}})(((" not in tall and "refereePainters.tall" in tall
    assert client.get("/painters/chess.js").status_code == 404
    assert "/painters/" not in bytes(document("screen").body).decode()


@pytest.mark.parametrize("link", ["starters/python", "starters/python/notes.txt"])
def test_a_first_bot_holds_no_file_of_this_machine(
    tmp_path: Path, link: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Who hands the bot in would hand in that file too."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "secret.txt").write_text("the key")
    folder = write_game(tmp_path / "small", STEADY + SERVE, starters="starters", exclude=["starters"])
    place = folder / link
    place.parent.mkdir(parents=True)
    place.symlink_to(tmp_path / "own" if place.name == "python" else tmp_path / "own" / "secret.txt")
    if place.name != "python":
        (place.parent / "bot.py").write_text("")
    monkeypatch.chdir(tmp_path)
    assert main(["new", "./small", "bot", "--lang", "python"]) == 2
    assert not (tmp_path / "bot").exists()


@pytest.mark.skipif(ACCOUNTS == [None], reason=for_root("only root can act as another account"))
def test_a_folder_that_this_account_cannot_read_breaks_no_other_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_game(tmp_path / "hidden" / "game", STEADY + SERVE)
    (tmp_path / "hidden").chmod(0o700)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "hidden" / "game"))
    assert "connectfour" in run_referee("games", account=ORDINARY)
