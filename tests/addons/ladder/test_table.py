"""The table is a pure function of a commit: equal byte for byte wherever it is computed."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ladders import Cup, honest, turned

from referee.addons.ladder import pages
from referee.addons.ladder.draw import BotVersion, DrawnGame
from referee.addons.ladder.reading import Fields, Ladder
from referee.addons.ladder.rows import encoded
from referee.addons.ladder.table import cached_table, table_of
from referee.addons.tournament.intake.objects import Repository
from referee.harness.cli.main import main

pytestmark = pytest.mark.slow

SHOW = "import sys; from referee.harness.cli.main import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cup]:
    """A ladder of modules, which programs join, played by three owners of whom one lies now and then."""
    with Cup(tmp_path_factory.mktemp("ladder") / "cup", games=24, whole=6) as cup:
        cup.add_bots("ada bob cyd dan")
        for runner, owner in (("one", "ann"), ("two", "ben"), ("three", "cleo")):
            cup.add_runner(runner, owner)
        for runner in cup.keys:
            cup.play(runner)
        cup.add_bots("eve fay gus", module=False)
        for runner in cup.keys:
            cup.play(runner, with_luck)
        cup.add_bots("bob", version=2)
        for runner in cup.keys:
            cup.play(runner, with_luck)
        cup.claim("one")
        yield cup


def with_luck(game: DrawnGame, bots: tuple[BotVersion, ...], runner: str) -> bytes:
    """Plays a game that ends otherwise at a runner, if gus plays."""
    lies = runner == "three" and any(bots[place].name == "gus" for place in game.bots)
    return (turned if lies else honest)(game, bots, runner)


def shown(
    cup: Cup, cache: Path, env: dict[str, str], before: tuple[str, ...] = (), python: str = sys.executable
) -> bytes:
    words = ["ladder", "show", "main", "--json", "--folder", str(cup.repository.folder)]
    settings = {**os.environ, "XDG_CACHE_HOME": str(cache), **env}
    done = subprocess.run([*before, python, "-c", SHOW, *words], env=settings, capture_output=True, check=True)
    return done.stdout


@pytest.mark.slow
def test_the_table_is_equal_byte_for_byte_wherever_it_is_computed(cup: Cup, tmp_path: Path) -> None:
    expected = encoded(table_of(cup.ladder(), use_cache=False))
    assert b'"games":' in expected and len(json.loads(expected)["rows"]) == 7
    env = {"PYTHONHASHSEED": "1", "LC_ALL": "de_DE.UTF-8", "LANG": "tr_TR.UTF-8", "TZ": "Asia/Tokyo"}
    before = ("taskset", "-c", core()) if shutil.which("taskset") else ()
    assert shown(cup, tmp_path, env | {"OPENBLAS_NUM_THREADS": "1"}, before) == expected


def core() -> str:
    return str(min(os.sched_getaffinity(0)))


def test_a_second_clone_in_another_order_of_objects_gives_the_same(cup: Cup, tmp_path: Path) -> None:
    subprocess.run(
        ["git", "clone", "--quiet", "--no-local", str(cup.repository.folder), str(tmp_path / "two")], check=True
    )
    with Repository(tmp_path / "two") as repository:
        table = table_of(Ladder(repository, cup.head, Fields(repository)), use_cache=False)
    assert encoded(table) == encoded(table_of(cup.ladder(), use_cache=False))


def test_the_table_of_an_old_commit_stays_as_it_was(cup: Cup) -> None:
    commits = cup.repository.text("rev-list", "--first-parent", cup.head).split()
    old = commits[len(commits) // 2]
    table = table_of(cup.ladder(old), use_cache=False)
    assert 0 < table.games < table_of(cup.ladder(), use_cache=False).games and table.commit == old


def test_the_table_comes_from_the_cache_of_its_commit_alone(
    cup: Cup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cached_table(cup.head) is None
    table = table_of(cup.ladder())
    assert cached_table(cup.head) == table and cached_table("0" * 40) is None
    (file,) = (tmp_path / "referee" / "ladder" / "tables").iterdir()
    file.write_bytes(b"{")
    assert cached_table(cup.head) is None and table_of(cup.ladder()) == table


def test_the_site_has_a_page_for_every_bot_and_runner_and_shows_no_markup_of_strangers(
    cup: Cup, tmp_path: Path
) -> None:
    table = table_of(cup.ladder(), use_cache=False)
    count = len(pages.write(cup.ladder(), table, tmp_path / "site").written)
    files = {
        str(path.relative_to(tmp_path / "site")): path.read_text("utf-8") for path in (tmp_path / "site").rglob("*.*l")
    }
    assert count == 2 + len(table.rows) + len(table.runners) and {"bots/ada.html", "runners/one.html"} <= files.keys()
    assert "not that the programs gave them on honest hardware" in files["index.html"]
    for words in ("claims lapsed", "seals not opened", "games that others played too, equal"):
        assert words in files["runners/one.html"]
    again = tmp_path / "again"
    pages.write(cup.ladder(), table, again)
    assert all((again / name).read_text("utf-8") == text for name, text in files.items())


def test_the_site_is_not_written_over_other_files(cup: Cup, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").write_text("mine")
    assert main(["ladder", "publish", str(tmp_path), "--commit", "main", "--folder", str(cup.repository.folder)]) == 2
    assert "holds other files; name a new folder" in capsys.readouterr().err
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_commit_without_a_ladder_says_so(cup: Cup, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(cup.repository.folder)
    assert main(["ladder", "show", "nothing", "--folder", folder]) == 2
    assert "has no commit 'nothing'; fetch it first" in " ".join(capsys.readouterr().err.split())
    assert main(["ladder", "show", "--folder", "/"]) == 2
    assert "is no git repository; clone the ladder, or make one: referee ladder new" in " ".join(
        capsys.readouterr().err.split()
    )
