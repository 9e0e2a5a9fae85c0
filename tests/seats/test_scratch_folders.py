"""The scratch folder of a bot is empty, also if another bot had it before."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import psutil
import pytest
import trio
from scripted import Arena

from referee.harness.common.errors import RunError
from referee.harness.isolation.plan import OFF
from referee.harness.match.match import play
from referee.harness.process.limits import Limits
from referee.harness.seats.roster import open_roster
from referee.harness.seats.scratch_folders import MAX_KEPT, ScratchFolders


def replace_by_link(folder: Path) -> None:
    folder.rmdir()
    folder.symlink_to("/")


TOUCHES: list[Callable[[Path], object]] = [
    lambda folder: (folder / "left").touch(),
    lambda folder: (folder / "left").mkdir(),
    lambda folder: folder.chmod(0o755),
    lambda folder: folder.rmdir(),
    replace_by_link,
]


def test_an_untouched_folder_is_the_next_bots(tmp_path: Path) -> None:
    folders = ScratchFolders(tmp_path)
    taken = [folders.take() for _ in range(MAX_KEPT + 1)]
    for folder in taken:
        folders.give_back(folder)
    kept = [folder for folder in taken if folder.exists()]
    assert len(kept) == MAX_KEPT
    assert {folders.take() for _ in kept} == {*kept}
    assert folders.take() not in taken


@pytest.mark.parametrize("given_back", [False, True])
@pytest.mark.parametrize("touch", TOUCHES)
def test_a_folder_that_is_touched_by_its_bot_or_while_no_bot_has_it_is_removed(
    tmp_path: Path, touch: Callable[[Path], object], given_back: bool
) -> None:
    folders = ScratchFolders(tmp_path)
    folder = folders.take()
    if given_back:
        folders.give_back(folder)
        touch(folder)
    else:
        touch(folder)
        folders.give_back(folder)
        assert not os.path.lexists(folder)
    assert folders.take() != folder
    assert not os.path.lexists(folder)


def test_a_folder_is_made_although_a_bot_has_removed_the_one_above_it(tmp_path: Path) -> None:
    assert ScratchFolders(tmp_path / "gone").take().is_dir()


@pytest.mark.trio
async def test_no_bot_finds_files_of_an_earlier_one(arena: Arena) -> None:
    body = (
        "greet(); home = os.environ['HOME']; print(home, os.listdir(home), file=sys.stderr); open(home + '/x', 'w')\n"
    )
    bots = [
        arena.bot(body + "put('NW'); put('W'); put('SW'); call()"),
        arena.bot("greet(); put('C'); put('E'); call()", name="rival"),
    ]
    async with open_roster(Limits(isolation=OFF)) as roster:
        for _ in range(3):
            verdict = await play(arena.match(*bots), roster)
            assert not verdict.faults
            home, found = Path(str(verdict.seats[0].stderr)).read_text().split()
            assert found == "[]"
            assert not Path(home).exists()


@pytest.mark.trio
async def test_a_failed_start_leaves_no_bot_and_no_folder(arena: Arena) -> None:
    bot = arena.bot("call()")
    missing = msgspec.structs.replace(bot, name="missing", argv=("/nothing",))
    async with open_roster(Limits(isolation=OFF)) as roster:
        for _ in range(MAX_KEPT):
            with pytest.raises(RunError, match="missing cannot be started"):
                await roster.take_all([bot, missing])
        commands = [child.cmdline() for child in psutil.Process().children(recursive=True)]
        assert not [command for command in commands if command[: len(bot.argv)] == [*bot.argv]]
        seat = await roster.take(bot)
        program = psutil.Process(seat.program.pid)  # type: ignore[attr-defined]
        while "HOME" not in (environment := program.environ()):  # it has none between fork and exec
            await trio.sleep(0.01)
        home = Path(environment["HOME"])
        assert len([*home.parent.iterdir()]) <= 2
        await roster.end([seat], orderly=False)
