"""A second `verify`, written from the page alone, says the same, and computes the same table byte for byte."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ladders import HOUR, Cup, honest, turned
from second_table import Second

from referee.addons.ladder.commits import commit_files
from referee.addons.ladder.rows import encoded
from referee.addons.ladder.table import table_of
from referee.addons.ladder.verifying import problems

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["own", "merge"])
def full(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cup]:
    """A ladder in which everything has happened once: modules, programs, lapses, lies and a strike."""
    more = {"beacon": 'beacon = "merge"\n'} if request.param == "merge" else {}
    with Cup(tmp_path_factory.mktemp("full") / "cup", games=12, whole=4, **more) as cup:
        cup.add_bots("ada bob cyd")
        owners = {"one": "ann", "two": "Ann", "three": "ben", "four": "cleo", "five": "dan", "six": "eve"}
        for runner, owner in owners.items():
            cup.add_runner(runner, owner)
        cup.play("one")
        cup.claim("three")
        cup.now += 9 * HOUR  # lapses
        cup.play("five")
        cup.add_bots("dee", module=False)
        cup.play("four")
        cup.play("six", lambda game, bots, runner: (turned if runner == "three" else honest)(game, bots, runner))
        hash = cup.claim("one", games=6)
        for owner in cup.at_play().chain.stages(hash, cup.now)[0].owners:
            cup.do(next(name for name, each in cup.owners.items() if each == owner), hash, turned)
        cup.merge(cup.hand_in("one", hash))  # opens otherwise
        cup.now += 9 * HOUR  # the other one does not open
        cup.play("five")
        cup.add_bots("bob", version=2)
        cup.play("six")
        cup.claim("six")
        yield cup


def second(cup: Cup, commit: str = "main") -> tuple[list[str], bytes]:
    ladder = Second(cup.repository.folder, commit)
    try:
        return ladder.verify(), ladder.table()
    finally:
        ladder.close()


def test_the_second_verify_gives_the_same_bytes_at_every_commit(full: Cup) -> None:
    commits = full.repository.text("rev-list", "--first-parent", full.head).split()
    with full.back():
        for commit in commits[: -len(commits) // 2 : 12]:
            ladder = full.ladder(commit)
            wrong, table = second(full, commit)
            assert table == encoded(table_of(ladder, use_cache=False))
            assert wrong == list(problems(ladder)) == []
        notes = table_of(full.ladder(), use_cache=False)
    assert notes.notes and notes.disputed + notes.waiting > 0 and any(row.lapsed for row in notes.runners)


@pytest.mark.parametrize(
    "forge",
    [
        lambda text: text.replace(b'"at":1', b'"at":2'),
        lambda text: text.replace(b'"signatures":["', b'"signatures":["00'),
        lambda text: text.replace(b'"root":"', b'"root":"0'),
        lambda text: text.replace(b" ", b" 1", 1),
    ],
)
def test_both_see_what_a_maintainer_changes(full: Cup, forge: Callable[[bytes], bytes]) -> None:
    with full.back() as cup:
        for path in reversed([each.path for each in cup.repository.entries(cup.head, "claims/", "seals/", "games/")]):
            content = next(cup.repository.read([f"{cup.head}:{path}"]))
            if (changed := forge(content)) != content:
                cup.set(commit_files(cup.repository, cup.head, {path: changed}, "changed", at=cup.now))
                break
        assert list(problems_or_error(cup)) and second_or_error(cup)


def problems_or_error(cup: Cup) -> list[str]:
    try:
        return list(problems(cup.ladder()))
    except Exception as error:
        return [str(error)]


def second_or_error(cup: Cup) -> list[str]:
    try:
        return second(cup)[0]
    except Exception as error:
        return [str(error)]


def test_the_second_verify_is_short_and_imports_nothing_of_the_ladder() -> None:
    for name, most in (("second_verify.py", 400), ("second_table.py", 200)):
        text = (Path(__file__).parent / name).read_text("utf-8")
        assert not re.search(r"import.*addons\.ladder|from referee\.addons\.ladder", text)
        assert len(text.splitlines()) <= most
