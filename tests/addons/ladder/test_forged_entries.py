"""Forgers who sign what they like, and maintainers who merge it unchecked."""

import base64
import re
from collections.abc import Iterator
from hashlib import blake2b

import msgspec
import pytest
from ladders import Cup, bot_files, honest, turned

from referee.addons.ladder import playing
from referee.addons.ladder.change import HandedIn, Refused
from referee.addons.ladder.commits import commit_files
from referee.addons.ladder.draw import BotVersion, DrawnGame
from referee.addons.ladder.keys import SigningKey
from referee.addons.ladder.playing import Kept, Task
from referee.addons.ladder.reading import Strike, strike_path
from referee.addons.ladder.records import FORMAT, RUNNERS, StageKind, batch_lines, is_key
from referee.addons.ladder.table import table_of
from referee.addons.ladder.verifying import problems

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cup]:
    """A ladder of two native programs and four owners, of whom Ann has two runners."""
    with Cup(tmp_path_factory.mktemp("programs") / "cup") as cup:
        cup.add_bots("ada bob", module=False)
        for runner, owner in (("one", "ann"), ("also", "ann"), ("two", "ben"), ("three", "cleo"), ("four", "dan")):
            cup.add_runner(runner, owner)
        yield cup


@pytest.fixture
def cup(programs: Cup) -> Iterator[Cup]:
    with programs.back() as cup:
        yield cup


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cup]:
    """A ladder of three modules. Ann has two runners."""
    with Cup(tmp_path_factory.mktemp("three") / "cup", whole=8) as cup:
        cup.add_bots("ada bob cyd")
        for runner, owner in (("one", "ann"), ("also", "ann"), ("two", "ben")):
            cup.add_runner(runner, owner)
        yield cup


@pytest.fixture
def modules(three: Cup) -> Iterator[Cup]:
    with three.back() as cup:
        yield cup


def sealed(cup: Cup) -> tuple[str, str]:
    """Returns a claim of Ann's that two owners have sealed, and the runner of the second."""
    hash = cup.claim("one")
    owners = cup.at_play().chain.stages(hash, cup.now)[0].owners
    second = next(name for name, owner in cup.owners.items() if owner == owners[1])
    cup.do("one", hash)
    cup.do(second, hash)
    return hash, second


def opening(cup: Cup, task: Task, lines: list[bytes]) -> str:
    return cup.commit_of("one", task, cup.signed_by("one", task, lines))


@pytest.mark.parametrize("play", [turned, honest])
def test_who_has_opened_something_else_opens_nothing_more(cup: Cup, play: playing.Task) -> None:
    """A second strike has the path of the first one: it would look as if somebody had rewritten that."""
    hash, _ = sealed(cup)
    task = cup.task("one", hash)
    errand = cup.merge(opening(cup, task, cup.lines("one", task, lambda *game: turned(*game) + b" 1timeout")))
    assert isinstance(errand, HandedIn) and errand.is_lie
    cup.now += 60
    with pytest.raises(Refused, match="ann has opened something else already, which is kept as a strike"):
        cup.check(opening(cup, task, cup.lines("one", task, play)))  # type: ignore[arg-type]
    assert not list(problems(cup.ladder()))


def test_another_clone_of_a_runner_does_not_open_what_it_has_not_sealed(cup: Cup) -> None:
    """It would be struck, though it is honest."""
    hash, _ = sealed(cup)
    task = cup.task("one", hash)
    here = cup.signed_by("one", task, cup.lines("one", task))
    assert playing.has_sealed(cup.ladder(), task, "one", here)
    assert not playing.has_sealed(cup.ladder(), task, "one", Kept(here.batch, here.seal.replace(b":2", b":3"), b""))
    assert not playing.has_sealed(cup.ladder(), task, "also", here)


@pytest.mark.parametrize(
    "forge",
    [
        lambda line: re.sub(rb"^(..) ", rb"\1 0", line),
        lambda line: re.sub(rb" (\d+),", rb" 0\1,", line),
        lambda line: line + b" 01timeout",
    ],
)
def test_a_line_has_one_form(cup: Cup, forge: "type[bytes]") -> None:
    """Otherwise an owner could say something else of a game than others, though its replay gives that line."""
    hash, _ = sealed(cup)
    task = cup.task("one", hash)
    with pytest.raises(Refused, match="expected ranks, turns, hashes and costs"):
        cup.check(opening(cup, task, [forge(line) for line in cup.lines("one", task)]))


def test_a_game_of_native_programs_has_times(cup: Cup) -> None:
    """Without them, nobody could see that a pack was copied."""
    hash, _ = sealed(cup)
    task = cup.task("one", hash)
    with pytest.raises(Refused, match="a game has times if native programs play"):
        cup.check(opening(cup, task, [re.sub(rb":[0-9a-f]{8}", b"", line) for line in cup.lines("one", task)]))


def test_a_program_that_answers_at_random_where_it_loses_still_loses(cup: Cup) -> None:
    """No two owners see the same game. It counts by the ranks, about which all agree."""

    def at_random(game: DrawnGame, bots: tuple[BotVersion, ...], runner: str) -> bytes:
        line = honest(game, bots, runner)
        luck = blake2b(line, key=runner.encode(), digest_size=16).hexdigest().encode()
        return re.sub(rb"[0-9a-f]{32}", luck, line) if line.startswith(b"21") else line

    hash = cup.claim("one")
    games = cup.lines("one", cup.task("one", hash))
    assert any(line.startswith(b"21") for line in games)
    cup.finish(hash, at_random)
    table = table_of(cup.ladder(), use_cache=False)
    assert (table.games, table.disputed, table.waiting) == (8, 0, 0)
    assert sum(row.losses for row in table.rows) == sum(not line.startswith(b"11") for line in games)


def test_a_native_program_with_the_name_of_a_module_is_none(cup: Cup) -> None:
    """The referee starts a file `.wasm` as a native program, and one owner would prove its games."""
    files = bot_files("eve", owner="eve")
    for name in (".wasm", "./.wasm", "a/..wasm"):
        forged = {path: text.replace(b"bot.wasm", name.encode()) for path, text in files.items()}
        with pytest.raises(Refused, match="a ladder takes bots whose games everybody can repeat"):
            cup.check(cup.commit(forged), "eve")


def test_a_key_has_one_form() -> None:
    """Otherwise one witness with two names would be two."""
    key = SigningKey(bytes(32)).public
    other = key[:-2] + chr(ord(key[-2]) + 1) + "="
    assert base64.b64decode(other, validate=True) == base64.b64decode(key)
    assert is_key(key) and not is_key(other)


# Maintainers.


@pytest.mark.parametrize("native", [True, False])
def test_a_false_strike_that_a_maintainer_merges_shows(native: bool, cup: Cup, modules: Cup) -> None:
    cup = cup if native else modules
    hash = cup.play("one")
    owner, result = next(iter(cup.ladder().chain.results[hash].items()))
    lines = batch_lines(next(cup.repository.read([result.blob])))
    said, other = lines[native].decode(), lines[0].decode()
    cup.now += 60
    cup.maintain({strike_path(result.hash): msgspec.json.encode(Strike(FORMAT, result.hash, 1, said, other))})
    expected = "native programs play in this claim" if native else "game 2 is not what the batch says"
    assert cup.ladder().chain.struck.keys() == {owner}
    assert any(expected in each for each in problems(cup.ladder()))


@pytest.mark.parametrize("how", ["added", "removed", "renamed"])
def test_a_runner_that_a_maintainer_changes_after_the_round_changes_no_draw(how: str, cup: Cup) -> None:
    """Its owner's name could be chosen so that the beacon has drawn a friend."""
    names = [f"new{number}" for number in range(9)]
    for name in names if how != "added" else ():
        cup.add_runner(name, f"zoe-{name}")
    hash, now = cup.claim("one"), cup.now
    before = cup.at_play().chain.stages(hash, now)[0].owners
    if before[1] in cup.owners.values() and before[1].startswith("zoe"):
        names.remove(before[1].removeprefix("zoe-"))
    cup.now = cup.ladder().chain.merged[hash] - 100
    for name in names:
        if how == "removed":
            cup.set(commit_files(cup.repository, cup.head, {}, "gone", folder=(f"{RUNNERS}/{name}.toml", ""), at=now))
            del cup.owners[name]
        else:
            cup.add_runner(name, f"a-friend-{name}")
    cup.now = now
    assert cup.at_play().chain.stages(hash, now)[0].owners == before
    cup.finish(hash)
    assert not list(problems(cup.ladder()))


def test_a_history_with_the_same_entries_and_other_dates_shows_in_an_older_clone(modules: Cup) -> None:
    """Of the dates follow who is drawn, and whether a claim came before its round."""
    start, hash = modules.head, modules.claim("one")
    modules.do("one", hash)
    seen, now = modules.head, modules.now
    entries = [each for each in modules.ladder().entries if not each.path.startswith(RUNNERS)]
    modules.set(start)
    for number, file in enumerate(sorted(entries, key=lambda each: each.path)):
        modules.now = now - 400 + 399 * number
        modules.maintain({file.path: next(modules.repository.read([file.id]))})
    for aside in ([], [seen]):  # a merge that takes nothing of the true history makes it an ancestor
        for commit in aside:
            modules.set(commit_files(modules.repository, modules.head, {}, "aside", merged=commit, at=modules.now))
        assert any("is not in the history any more" in each for each in problems(modules.ladder(), seen))
    assert StageKind.PLAY in {each.kind for each in modules.ladder().chain.stages(hash, now)}
