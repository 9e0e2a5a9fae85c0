"""The pages: citations and links have targets, and `referee rules` finds the cited sections."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.games import registry
from referee.harness.cli.main import main
from referee.harness.common.errors import UsageError
from referee.harness.common.rules import Section, section, sections
from referee.harness.new.write import kits
from referee.harness.programs import kinds
from referee.harness.programs.source_file import SOURCES
from referee.protocol.messages import Clock

ROOT = Path(__file__).resolve().parents[2]
GAMES = tuple(registry.own_names())
CITED = re.compile(rf"\b({'|'.join(GAMES)})\.md`?,? (?:sections? |parts? )?((?:[0-9.]*[0-9]|[A-C][0-9]?)(?![\w]))(.*)")
MORE = re.compile(r"^(?:,| and|-|–) ?(?:sections? )?((?:[0-9.]*[0-9]|[A-C][0-9])(?![\w]))(.*)")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def tracked(*patterns: str) -> list[Path]:
    found = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / line for line in found.stdout.splitlines() if not (ROOT / line).is_symlink()]


def citations() -> Iterator[tuple[str, str, str]]:
    """Yields file, game and section of every citation in sources and pages. `A4-B1` cites both ends."""
    for path in tracked("addons", "games", "harness", "tools", "protocol/*.md", "docs/*.md", "README.md"):
        if path.suffix in (".py", ".md") and path.is_file():
            for found in CITED.finditer(path.read_text("utf-8")):
                game, number, rest = found.groups()
                yield str(path.relative_to(ROOT)), game, number
                while more := MORE.match(rest):
                    number, rest = more.groups()
                    yield str(path.relative_to(ROOT)), game, number


def test_every_citation_has_its_section() -> None:
    cited = list(citations())
    assert len(cited) > 20
    known = {game: {part.number for part in sections(game)} for game in GAMES}
    assert [citation for citation in cited if citation[2] not in known[citation[1]]] == []


@pytest.mark.parametrize("game", registry.own_names())
def test_the_rules_begin_with_ten_lines_on_how_to_win_and_how_a_turn_goes(game: str) -> None:
    _, first, *_ = sections(game)
    lines = [line for line in first.text.splitlines()[1:] if line]
    assert (first.level, first.title) == (2, "In short")
    assert len(lines) <= 10 and all(len(line) <= 100 for line in lines)
    assert " wins" in lines[0] or "You win " in lines[0]
    assert "turn" in first.text.lower()


@pytest.mark.parametrize("game", GAMES)
def test_every_function_of_a_game_cites_an_existing_section(game: str) -> None:
    for method in registry.game(game).methods.values():
        if method.rules:
            page, _, number = method.rules.partition(", ")
            assert page == f"{game}.md"
            assert section(game, number).number == number


def anchor(part: Section) -> str:
    """Returns the anchor of a heading, as on GitHub."""
    heading = part.text.splitlines()[0].lstrip("# ")
    return re.sub(r"[^\w\- ]", "", heading.casefold()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    lines = page.read_text("utf-8").splitlines()
    return {anchor(Section(2, "", "", line)) for line in lines if re.match(r"#{1,4} ", line)}


def test_every_link_of_a_page_has_a_target() -> None:
    broken = []
    for page in tracked("*.md"):
        for target in LINK.findall(re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, place = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists() or (place and place not in anchors(file)):
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []


def test_every_message_on_the_page_of_errors_is_in_the_code() -> None:
    page = (ROOT / "docs" / "reference" / "errors.md").read_text("utf-8")
    code = "".join(
        path.read_text("utf-8") for path in tracked("addons/*.py", "harness/*.py", "protocol/*.py", "games/*.py")
    )
    code = re.sub(r'"\n *"', "", code)  # a message over two lines is one
    messages = re.findall(r"^\| `(.+?)` \| ", page, flags=re.MULTILINE)
    assert len(messages) > 30
    parts = {part.strip(" ,:;()") for message in messages for part in message.split("…")}
    assert sorted(part for part in parts if part not in code) == []


@pytest.mark.slow
def test_the_commands_on_the_pages_have_only_options_that_exist() -> None:
    reference = [path.read_text("utf-8") for path in tracked("docs/reference/commands/*.md")]
    known = set(re.findall(r"--[a-z][a-z-]+", "".join(reference)))
    commands = {
        (str(page.relative_to(ROOT)), re.sub("'[^']*'", "", line.split(" #")[0]))  # bot specs have their own options
        for page in tracked("docs/*.md", "README.md", "starter_kits/*.md")
        for line in page.read_text("utf-8").splitlines()
        if line.startswith("referee ") and "original:" not in line
    }
    assert len(commands) > 60
    used = {(page, option) for page, line in commands for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", line)}
    assert sorted((page, option) for page, option in used if option not in known) == []


@pytest.mark.parametrize("lang", sorted(kits()))
def test_the_page_of_a_kit_names_the_members_of_clock_and_messagepack(lang: str) -> None:
    page = (ROOT / "starter_kits" / lang / "README.md").read_text("utf-8")
    plain = page.replace("_", "").casefold()
    for member in Clock.__struct_fields__:
        assert re.search(rf"`[a-z.]*{member.replace('_', '')}(\(\))?`", plain), member
    assert "`--encoding msgpack`" in page and "MessagePack" in page


def test_a_section_is_found_by_its_number_and_by_words_of_its_title() -> None:
    attack = section("reantics", "5.2")
    assert attack.text.startswith("### 5.2 Attack\nDirectly after each legal MOVE_ANT")
    assert "5.3 BUILD" not in attack.text
    assert section("reantics", "attack") == attack
    assert "### 5.5 UNDO" in section("reantics", "5").text
    assert section("quoridor", "a3").title == "Walls: names and what they block"
    assert section("tictactoe", "B").title == "stdin/stdout protocol and built-in opponents"
    assert section("aibg5").text.startswith("# AIBG 5.0")


def test_an_unknown_section_or_game_is_an_error_with_a_list() -> None:
    with pytest.raises(
        UsageError, match=r"no section '99'; there are In short, Sources, 1 Constants, 2 Board, coordinates, frames"
    ):
        section("reantics", "99")
    with pytest.raises(UsageError, match="no page with the rules of chess; there are aiarena21, aibg5, cardgame"):
        section("chess")


@pytest.mark.slow
def test_the_bot_in_writing_a_bot_plays_and_passes_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "how-to" / "write-a-bot.md").read_text("utf-8")
    (source,) = re.findall(r"```perl\n(.*?)```", page, flags=re.DOTALL)
    monkeypatch.chdir(tmp_path)
    Path("mybot.pl").write_text(source)
    for command in re.findall(r"^referee (.*mybot\.pl.*)$", page, flags=re.MULTILINE):
        assert main([*shlex.split(command), "--seed", "1"]) == 0, capfd.readouterr()
    assert "passed: nothing found" in capfd.readouterr().out


@pytest.mark.slow
def test_the_first_bot_in_the_readme_wins_as_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    (source,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    (command, shown) = re.findall(r"^```\nreferee (.*mybot.*)\n```\n\n```\n(.*)\n```$", page, flags=re.MULTILINE)[0]
    monkeypatch.chdir(tmp_path)
    Path("mybot.py").write_text(source)
    assert main(shlex.split(command)) == 0
    assert capfd.readouterr().out.splitlines()[0] == shown
    assert len(page.splitlines()) <= 120
    for rival in ("@C_AI_FLIP_TABLE_RANDOMLY", "@random", "@advanced"):
        assert main(["--game", "connectfour", "./mybot.py", rival, "--seed", "1", "--replay", "match.jsonl"]) in (0, 1)
        errors = Path("match.seat0.stderr")
        assert not errors.exists() or errors.read_text() == "", rival


@pytest.mark.slow
def test_the_command_in_gate_prints_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "how-to" / "compare-versions.md").read_text("utf-8")
    (shown,) = re.findall(r"^```\n\$ referee (.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    command, _, output = shown.partition("\n")
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)) == 0
    assert capsys.readouterr().out == output


def test_the_page_about_bots_has_the_table_of_the_registry() -> None:
    page = (ROOT / "docs" / "reference" / "bots-and-limits.md").read_text("utf-8")
    assert "\n".join(kinds.table(" ".join(SOURCES))) in page
    assert len(kinds.all_kinds()) >= 15
