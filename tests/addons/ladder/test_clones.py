"""A ladder in every kind of clone, and what a forge says."""

import base64
import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
import trio
from ladders import BEACON, START, Cup
from needs import for_root
from submissions import IDENTITY

from referee.addons.ladder import playing
from referee.addons.ladder.commits import advance, newest, push_branch, shown
from referee.addons.ladder.games import play_games
from referee.addons.ladder.keys import VARIABLE
from referee.addons.ladder.new import commit_bot
from referee.addons.ladder.reading import Ladder
from referee.addons.ladder.waiting import duration
from referee.addons.tournament.execution.local import open_local
from referee.addons.tournament.intake.objects import Repository
from referee.harness.cli.main import main
from referee.harness.common.errors import RunError, UsageError


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def cup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cup]:
    """A ladder with two batches, on a forge."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with Cup(tmp_path / "cup") as cup:
        cup.add_bots("ada bob")
        cup.add_runner("laptop", "ann")
        cup.add_runner("tower", "ben")
        cup.play("laptop")
        cup.play("tower")
        cup.repository.run("reset", "--quiet", "--hard")
        git(tmp_path, "clone", "--quiet", "--bare", "cup", "forge.git")
        git(tmp_path / "cup", "remote", "add", "origin", str(tmp_path / "forge.git"))
        yield cup


def hook(forge: Path, text: str) -> None:
    path = forge / "hooks" / "pre-receive"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_every_command_says_the_same_in_every_kind_of_clone(
    cup: Cup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    git(tmp_path / "cup", "worktree", "add", "--quiet", "../tree", "--detach", "main")
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{tmp_path}/cup", "shallow")
    expected = None
    for place in ("cup", "cup/bots/ada", "cup/.git", "forge.git", "tree", "tree/games", "shallow/bots"):
        monkeypatch.chdir(tmp_path / place)
        if "shallow" not in place:
            assert main(["ladder", "show", "--json", "--no-cache"]) == 0
            table = capsys.readouterr().out
            assert table == (expected or table) and json.loads(table)["games"] > 0, place
            expected = table
        assert main(["ladder", "verify"]) == (2 if "shallow" in place else 0)
        printed = capsys.readouterr()
        assert ("git fetch --unshallow" if "shallow" in place else "2 claims, 4 batches; verified") in (
            " ".join((printed.out + printed.err).split())
        )
        is_bare = place in ("cup/.git", "forge.git")
        assert main(["ladder", "play", "--runner", "new", "--owner", "cy"]) == (2 if is_bare else 0)
        assert ("no work tree" in " ".join(capsys.readouterr().err.split())) is is_bare
    assert {path.parent.parent.name for path in tmp_path.rglob("runners/new.toml")} == {"cup", "tree", "shallow"}


@pytest.mark.skipif(os.geteuid() != 0, reason=for_root("others own no folder of another account"))
def test_a_clone_of_another_account_is_refused_in_the_words_of_git(
    cup: Cup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    subprocess.run(["chown", "-R", "12345", tmp_path / "cup"], check=True)
    words = ["ladder", "show", "--folder", str(tmp_path / "cup" / "bots")]
    (tmp_path / "settings").write_text("")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "settings"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    assert main(words) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "dubious ownership" in said and f"git config --global --add safe.directory {tmp_path}/cup" in said
    (tmp_path / "settings").write_text(f"[safe]\n\tdirectory = {tmp_path}/cup\n")
    assert main(words) == 0


def test_a_clone_follows_the_default_branch_of_the_forge(cup: Cup, tmp_path: Path) -> None:
    forge = tmp_path / "forge.git"
    git(forge, "branch", "-m", "main", "trunk")
    git(tmp_path, "clone", "--quiet", "forge.git", "old")
    git(tmp_path, "clone", "--quiet", "--bare", "forge.git", "bare.git")
    git(forge, "branch", "-m", "trunk", "main")
    head = cup.commit({"a": b""})
    git(tmp_path / "cup", "push", "--quiet", "origin", f"{head}:refs/heads/main")
    for clone in ("old", "bare.git"):
        with Repository(tmp_path / clone) as repository:
            assert newest(repository, None) == newest(repository, "origin/main") == head
            with pytest.raises(RunError, match="--base"):
                newest(repository, "origin/trunk")
    git(forge, "branch", "-m", "main", "next")
    with Repository(tmp_path / "old") as repository:
        assert newest(repository, None) == head
    git(forge, "branch", "-m", "next", "main")
    git(forge, "symbolic-ref", "HEAD", "refs/heads/gone")
    with Repository(tmp_path / "old") as repository:
        assert newest(repository, None) == head


def test_a_refused_push_says_what_the_forge_says(cup: Cup, tmp_path: Path) -> None:
    head = cup.commit({"a": b""})
    hook(tmp_path / "forge.git", "echo GH006: changes need a pull request >&2; exit 1")
    for push in (
        lambda: advance(cup.repository, head, "main"),
        lambda: push_branch(cup.repository, head, "x", "origin"),
    ):
        with pytest.raises(
            RunError, match=r"origin refuses the push to .*: GH006: changes need a pull request; ! .*hook"
        ):
            push()
    hook(tmp_path / "forge.git", "")
    assert advance(cup.repository, head, "main")
    assert not advance(cup.repository, cup.commit({"b": b""}), "main"), "somebody else was faster"


def test_nothing_but_play_asks_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as beacon:
        addresses = f'["http://127.0.0.1:{beacon.getsockname()[1]}"]'
        with Cup(tmp_path / "cup", beacon=BEACON.replace("[]", addresses)) as cup:
            cup.add_bots("ada bob", module=False)
            cup.add_runner("laptop", "ann")
            cup.add_runner("tower", "ben")
            cup.play("laptop")
            hash = cup.claim("tower")
            cup.merge(cup.claimed("laptop"))  # after the round of the tower's claim, which nobody has told yet
            cup.now += 60
            seal = cup.hand_in("tower", hash)
            git(tmp_path, "clone", "--quiet", "--bare", "cup", "forge.git")
            git(tmp_path / "cup", "remote", "add", "origin", str(tmp_path / "forge.git"))
            git(tmp_path / "cup", "fetch", "--quiet", "origin")
            monkeypatch.setattr("referee.addons.ladder.change.time.time", lambda: cup.now)
            for words in (
                ("show", "main", "--no-cache"),
                ("verify", "main"),
                ("publish", str(tmp_path / "site"), "--commit", "main"),
                ("check-change", "origin/main", seal, "--author", "ben", "--merge", "main"),
            ):
                assert main(["ladder", *words, "--folder", str(tmp_path / "cup")]) == 0, capsys.readouterr().err
        beacon.setblocking(False)
        with pytest.raises(BlockingIOError):
            beacon.accept()


def test_a_runner_says_what_it_does_next_and_when(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Cup(tmp_path / "cup") as cup:
        cup.add_bots("ada bob", module=False)
        cup.add_runner("laptop", "ann")
        monkeypatch.setattr("referee.addons.ladder.change.time.time", lambda: cup.now)
        monkeypatch.setenv(VARIABLE, base64.b64encode(sha256(b"laptop").digest()).decode())
        assert main(["ladder", "play", "--runner", "laptop", "--folder", str(tmp_path / "cup")]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Claim 1 of laptop: 8 games: committed" in printed
    at = r"8 games of laptop, claim 1: round \d+ of the beacon draws them at \d\d:\d\d:\d\d, in [56] minutes"
    assert re.search(f"{at} The same command goes on", printed), printed


@pytest.fixture
def volunteer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Cup, list[str]]]:
    """A ladder of native programs on a forge, and the command of a runner whose clone has only pull requests."""
    monkeypatch.setenv(VARIABLE, base64.b64encode(sha256(b"laptop").digest()).decode())
    with Cup(tmp_path / "cup") as cup:
        monkeypatch.setattr("referee.addons.ladder.change.time.time", lambda: cup.now)
        cup.add_bots("ada bob", module=False)
        cup.add_runner("laptop", "ann")
        cup.add_runner("tower", "ben")
        git(tmp_path, "clone", "--quiet", "--bare", "cup", "forge.git")
        git(tmp_path / "cup", "remote", "add", "origin", str(tmp_path / "forge.git"))
        yield cup, ["ladder", "play", "--runner", "laptop", "--folder", str(tmp_path / "cup")]


@pytest.mark.parametrize("beacon", [None, 'beacon = "merge"\n'])
def test_a_runner_says_by_when_its_claim_has_to_be_merged_and_pushes_no_other_before(
    beacon: str | None, volunteer: tuple[Cup, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cup, command = volunteer
    forge, branch = tmp_path / "forge.git", "ladder/laptop-000001-claim"
    if beacon is not None:
        settings = (tmp_path / "cup" / "ladder.toml").read_text("utf-8").partition("[beacon]")[0]
        cup.maintain({"ladder.toml": (settings + beacon).encode()})
    git(tmp_path / "cup", "push", "--quiet", "origin", "main")
    pushed = []
    for at in (0, 100, 1000):
        cup.now = START + 40 + at
        assert main(command) == 0
        printed = " ".join(capsys.readouterr().out.split())
        claim = json.loads(git(forge, "show", f"{branch}:claims/laptop/000001.json").splitlines()[0])
        due = cup.ladder().beacon.time_of(claim["round"]) if claim["round"] else claim["at"] + 900
        clock = time.strftime("%H:%M:%S", time.localtime(due))
        assert f"It has to be merged by {clock}, in {duration(due - cup.now)}." in printed, printed
        pushed.append(git(forge, "rev-parse", branch))
    assert pushed[0] == pushed[1] != pushed[2], "the first can be merged until its round is out"
    cup.check(pushed[2])


def test_what_was_pushed_is_pushed_again_as_the_same_commit_while_it_can_be_merged(
    volunteer: tuple[Cup, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another commit would restart the forge's check."""
    cup, command = volunteer
    forge, branch = tmp_path / "forge.git", "ladder/laptop-000001-seal"
    hash = cup.claim("laptop")
    start, task = cup.head, cup.task("laptop", hash)
    home = playing.home(cup.repository, hash, "laptop")
    home.mkdir(parents=True)

    def pushed(salt: bytes) -> str:
        made = playing.sign(task, "laptop", "ann", cup.keys["laptop"], cup.lines("laptop", task), salt, b"")
        for name in ("batch", "seal", "pack"):
            (home / name).write_bytes(getattr(made, name))
        git(tmp_path / "cup", "push", "--quiet", "--force", "origin", "main")
        assert main([*command, "--games", "0"]) == 0, capsys.readouterr().err
        cup.now += 60
        return git(forge, "rev-parse", branch)

    first = pushed(bytes(32))
    cup.maintain({"README.md": b"a change"})
    assert pushed(bytes(32)) == first
    other = pushed(bytes(31) + b"1")
    assert other != first, "games that were played again are another seal"
    claim, now = git(tmp_path / "cup", "show", f"{start}:claims/laptop/000001.json"), cup.now
    cup.set(git(tmp_path / "cup", "rev-parse", f"{start}~1"))
    cup.now = START + 30
    cup.maintain({"claims/laptop/000001.json": f"{claim}\n".encode()})
    cup.now = now
    assert pushed(bytes(31) + b"1") != other, "it was made on a history that is gone"


def test_a_runner_is_told_of_a_lost_history_until_its_owner_accepts_the_new_one(
    volunteer: tuple[Cup, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cup, command = volunteer
    before = cup.head
    cup.claim("tower")
    seen = cup.head

    def said() -> str:
        git(tmp_path / "cup", "push", "--quiet", "--force", "origin", "main")
        assert main([*command, "--games", "0"]) == 0
        cup.now += 60
        return " ".join(capsys.readouterr().err.split())

    assert not said()
    cup.set(before)
    cup.maintain({"README.md": b"a change"})
    for _ in range(3):
        text = said()
        assert "claims/tower/000001.json is not what it was" in text, text
        assert f"commit {seen[:12]} is not in the history any more" in text, text
        assert text.endswith("To accept the new one: git update-ref -d refs/referee/seen"), text
        assert git(tmp_path / "cup", "for-each-ref", "--contains", seen), "git keeps the old commits"
        cup.maintain({"README.md": str(cup.now).encode()})
    git(tmp_path / "cup", *text.rpartition(": git ")[2].split())
    assert not said() and not said()


def test_show_knows_what_was_merged_at_the_forge(cup: Cup) -> None:
    repository, before = cup.repository, cup.head
    merged = cup.commit({"a": b""})
    assert shown(repository, None) == before
    assert advance(repository, merged, "main")
    assert (shown(repository, None), shown(repository, "HEAD")) == (merged, before)
    cup.maintain({"b": b""})
    assert shown(repository, None) == cup.head, "a commit of one's own"
    repository.run("checkout", "--quiet", "--detach", before)
    assert shown(repository, None) == before, "an older commit that somebody has checked out"


def test_a_base_that_stays_behind_is_no_race(
    cup: Cup, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("referee.addons.ladder.change.time.time", lambda: cup.now)
    claim, folder = cup.claimed("laptop"), str(cup.repository.folder)
    assert advance(cup.repository, cup.commit({"a": b""}), "main")
    words = ["--author", "ann", "--rules-only", "--merge", "main", "--folder", folder]
    assert main(["ladder", "check-change", "main", claim, *words]) == 2
    assert "name origin/main" in capsys.readouterr().err


def test_options_that_the_game_refuses_are_refused_before_a_claim(cup: Cup) -> None:
    claim = cup.claimed("laptop")
    for options, why in (
        ("columns = 99", "columns: expected"),
        ("rings = 1", "there is no rings"),
        ("flip = 1", "flip"),
    ):
        settings = (cup.repository.folder / "ladder.toml").read_bytes()
        cup.maintain({"ladder.toml": settings.replace(b"[beacon]", f"options = {{{options}}}\n[beacon]".encode())})
        with pytest.raises(UsageError, match=f"ladder.toml: options of connectfour: .*{why}"):
            cup.claimed("laptop")
        with pytest.raises(RunError, match=r"ladder\.toml: options"):
            cup.check(claim)


def test_a_machine_with_another_version_of_the_game_neither_claims_nor_accuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Cup(tmp_path / "cup") as cup:
        settings = (tmp_path / "cup" / "ladder.toml").read_bytes()
        assert b"\nversion = 1\n" in settings
        cup.maintain({"ladder.toml": settings.replace(b"version = 1", b"version = 2")})
        cup.add_bots("ada bob")
        cup.add_runner("laptop", "ann")
        why = "version 2 of connectfour, and this referee has version 1; install"
        with pytest.raises(UsageError, match=why):
            cup.claimed("laptop")
        with monkeypatch.context() as there:  # a machine that has version 2
            there.setattr(Ladder, "other_version", lambda self, rules: "")
            hash = cup.claim("laptop")
            cup.do("laptop", hash)
        with pytest.raises(UsageError, match=why):
            trio.run(play_games, cup.ladder(), hash, open_local, [0])
        assert main(["ladder", "verify", "--play", "all", "--folder", str(tmp_path / "cup")]) == 0
        printed = capsys.readouterr()
        assert f"{why} the referee" in " ".join(printed.err.split()) and "0 games played again" in printed.out


LINKS = {"file": "runners/one.toml", "folder": "runners", "dangling": "runners/one.toml"}


@pytest.mark.parametrize("kind", LINKS)
def test_no_command_writes_through_a_link_of_the_clone(
    kind: str, cup: Cup, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    top, outside = cup.repository.folder, tmp_path / "outside"
    outside.mkdir()
    if kind != "dangling":
        (outside / "one.toml").write_text("precious")
    before = {path.name: path.read_text() for path in outside.iterdir()}
    for place in (LINKS[kind], "checkpoints", "bots"):
        git(top, "rm", "--quiet", "-r", "--ignore-unmatch", place)
        (top / place).parent.mkdir(exist_ok=True)
        (top / place).symlink_to(outside / "one.toml" if place.endswith(".toml") else outside)
        git(top, "add", place)
    git(top, *IDENTITY, "commit", "--quiet", "-m", "links")
    (tmp_path / "new.py").write_text("")
    commands = (
        ["play", "--runner", "one", "--owner", "ann"],
        ["witness", "main~1", "--key", str(tmp_path / "key"), "--name", "cleo"],
    )
    for place, command in zip((LINKS[kind], "checkpoints"), commands, strict=True):
        assert main(["ladder", *command, "--folder", str(top)]) == 2
        assert f"{top / place} is a link; expected plain files" in " ".join(capsys.readouterr().err.split())
    with Repository(top) as repository, pytest.raises(UsageError, match="bots is a link"):
        commit_bot(repository, tmp_path / "staged" / "ada")
    assert {path.name: path.read_text() for path in outside.iterdir()} == before


def test_a_linked_folder_inside_a_bot_is_not_written_to(cup: Cup, tmp_path: Path) -> None:
    bot = tmp_path / "staged" / "ada"
    (bot / "data").mkdir(parents=True)
    (bot / "data" / "book").write_text("new")
    (tmp_path / "outside").mkdir()
    (cup.repository.folder / "bots" / "ada" / "data").symlink_to(tmp_path / "outside")
    with Repository(cup.repository.folder) as repository, pytest.raises(UsageError, match=r"not committed.*ada/data$"):
        commit_bot(repository, bot)
    assert not [*(tmp_path / "outside").iterdir()]


def test_a_runners_file_that_is_not_committed_is_not_replaced(cup: Cup, capsys: pytest.CaptureFixture[str]) -> None:
    top = cup.repository.folder
    command = ["ladder", "play", "--runner", "laptop", "--folder", str(top), "--owner"]
    assert main([*command, "cy"]) == 0, "the committed file may be replaced"
    assert main([*command, "cy"]) == 0, "the command can be repeated"
    mine = (top / "runners" / "laptop.toml").read_text() + "# mine\n"
    for name in ("laptop", "two"):
        (top / "runners" / f"{name}.toml").write_text(mine)
        capsys.readouterr()
        assert main([*command[:3], name, *command[4:], "cy"]) == 2
        printed = " ".join(capsys.readouterr().err.split())
        assert f"{name}.toml holds what is not committed; commit it or move it away" in printed
        assert (top / "runners" / f"{name}.toml").read_text() == mine


def test_there_is_one_rule_for_names(cup: Cup, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = ["--folder", str(cup.repository.folder)]
    (tmp_path / "bot.py").write_text("")
    bot = ["ladder", "enter", str(tmp_path / "bot.py"), *folder]
    commands = (
        ["ladder", "play", "--runner", "new", *folder, "--owner="],
        ["ladder", "play", "--owner", "cy", *folder, "--runner="],
        [*bot, "--name", "new", "--owner="],
        ["ladder", "witness", "--key", str(tmp_path / "key"), *folder, "--name="],
        [*bot, "--owner", "cy", "--name="],
    )
    names = ['x"\nkey = "', "a b", "a\u202eb", "", "con", "a.", "-a", "a" * 41, "ä", "\x1b[31m"]
    for number, name in enumerate(names):  # all names with the first command, and each other command with three
        for command in commands if number % 3 == 0 else commands[:1]:
            assert main([*command[:-1], f"{command[-1]}{name}"]) == 2
            lines = capsys.readouterr().err.strip()
            assert "expected 1 to 40 letters" in " ".join(lines.split()) and lines.isascii() and "\x1b" not in lines
    assert not (cup.repository.folder / "runners" / "new.toml").exists()
    assert not (tmp_path / "config").exists() and not (tmp_path / "key").exists(), "no key was made"
    assert git(cup.repository.folder, "status", "--porcelain") == ""
