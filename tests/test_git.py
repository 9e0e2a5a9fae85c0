"""Git is run in one environment, whatever the caller's repository and the user's settings are."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.addons.ladder.commits import advance, commit_files
from referee.addons.ladder.new import commit_bot, staged, write_ladder
from referee.addons.tournament.intake.fetching import fetch
from referee.addons.tournament.intake.objects import PROGRAM, Repository
from referee.harness.common.errors import UsageError
from referee.harness.common.known_games import find_game
from referee.harness.common.paths import HOME

WHO = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
BYTES = b"one\ntwo\r\n$Id$\n"
HOOKS = ("post-checkout", "post-merge", "post-index-change", "reference-transaction", "pre-commit", "post-commit")


def git(folder: Path, *words: str) -> str:
    """Runs git without the variables of the fixture."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", folder, *WHO, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=plain).stdout.strip()


@pytest.fixture
def team(tmp_path: Path) -> Path:
    """A repository whose attributes ask for every conversion."""
    folder = tmp_path / "team"
    git(tmp_path, "init", "--quiet", "team")
    (folder / ".gitattributes").write_text("* text eol=crlf ident filter=evil diff=evil working-tree-encoding=UTF-16\n")
    (folder / "bot.py").write_bytes(BYTES)
    for name in (".gitattributes", "bot.py"):
        id = git(folder, "hash-object", "-w", "--no-filters", name)
        git(folder, "update-index", "--add", "--cacheinfo", f"100644,{id},{name}")
    git(folder, "commit", "--quiet", "-m", "bot")
    return folder


@pytest.fixture
def canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The account and the hook of somebody in whose settings and repository everything runs a program."""
    canary, program, own = tmp_path / "canary", tmp_path / "program", tmp_path / "own"
    program.write_text(f"#!/bin/sh\necho ran >> {canary}\ncat\n")
    program.chmod(0o755)
    git(tmp_path, "init", "--quiet", "own")
    git(own, "commit", "--quiet", "--allow-empty", "-m", "own")
    for hook in HOOKS:
        (tmp_path / "template" / "hooks").mkdir(parents=True, exist_ok=True)
        (tmp_path / "template" / "hooks" / hook).symlink_to(program)
    (tmp_path / "attributes").write_text("* text eol=crlf filter=evil diff=evil\n")
    settings = {
        **{f"filter.evil.{kind}": program for kind in ("clean", "smudge")},
        **{f"diff.evil.{kind}": program for kind in ("command", "textconv")},
        **{f"core.{name}": program for name in ("fsmonitor", "pager", "editor")},
        **{f"alias.{name}": f"!{program}" for name in ("commit", "fetch", "ls-tree")},
        "core.attributesFile": tmp_path / "attributes",
        "core.hooksPath": tmp_path / "template" / "hooks",
        "init.templateDir": tmp_path / "template",
        "core.autocrlf": "true",
        "core.eol": "crlf",
        "core.sparseCheckout": "true",
        "core.excludesFile": "/dev/stdin",
        "submodule.recurse": "true",
        "init.defaultObjectFormat": "sha256",
        "log.follow": "true",
    }
    for name, value in settings.items():
        subprocess.run(["git", "config", "--file", tmp_path / "settings", name, str(value)], check=True)
    variables = {
        "GIT_CONFIG_GLOBAL": tmp_path / "settings",
        "GIT_DIR": own / ".git",
        "GIT_WORK_TREE": own,
        "GIT_INDEX_FILE": own / ".git" / "index",
        "GIT_OBJECT_DIRECTORY": own / ".git" / "objects",
        "GIT_COMMON_DIR": own / ".git",
        "GIT_TEMPLATE_DIR": tmp_path / "template",
        "GIT_EXTERNAL_DIFF": program,
        "GIT_CONFIG_PARAMETERS": f"'core.hooksPath={tmp_path}/template/hooks' 'core.worktree={own}'",
        "GIT_NAMESPACE": "own",
        "GIT_TRACE": tmp_path / "canary",
        "GIT_DEFAULT_HASH": "sha256",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_QUARANTINE_PATH": own,
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, str(value))
    return canary


def own_repository(own: Path) -> tuple[str, str]:
    """Returns the commits and the changed files of the caller's repository."""
    return git(own, "log", "--all", "--format=%s"), git(own, "status", "--porcelain")


@pytest.mark.trio
async def test_the_files_of_a_repository_are_those_of_its_commit(team: Path, canary: Path, tmp_path: Path) -> None:
    await fetch(f"file://{team}", tmp_path / "here", 1 << 20, 100, 30.0)
    assert (tmp_path / "here" / "bot.py").read_bytes() == BYTES
    assert not canary.exists()
    assert own_repository(tmp_path / "own") == ("own", "")


def test_a_ladder_is_made_and_entered_with_the_bytes_of_the_bot(team: Path, canary: Path, tmp_path: Path) -> None:
    cup, home = tmp_path / "cup", "bots/team"
    (team / "bot.toml").write_text('owner = ["ann"]\nrun = ["./bot.py"]\n')
    (team / "bot.py").chmod(0o755)
    write_ladder(cup, find_game("tictactoe"), "Cup", {}, "referee @ file:///nowhere/referee")
    for name in ("evil.clean", "evil.smudge", "evil.process"):  # also of this clone alone
        git(cup, "config", f"filter.{name}", str(tmp_path / "program"))
    with Repository(cup / ".github") as repository:
        commit_bot(repository, staged(team, tmp_path / "copy", "team", "ann")[0])
        assert next(repository.read([f"HEAD:{home}/bot.py"])) == BYTES
        assert {each.mode for each in repository.entries("HEAD", f"{home}/bot.py")} == {PROGRAM}
        assert (cup / home / "bot.py").read_bytes() == BYTES
        head = commit_files(repository, repository.commit("HEAD"), {"claims/a/1": BYTES}, "a claim")
        assert advance(repository, head, None)
        with pytest.raises(UsageError, match="bots/team has not changed"):
            commit_bot(repository, staged(cup / home, tmp_path / "again", "team", "ann")[0])
    assert (cup / "claims" / "a" / "1").read_bytes() == BYTES
    assert not canary.exists()
    assert own_repository(tmp_path / "own") == ("own", "")
    assert not list((cup / ".git" / "hooks").glob("*"))


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda home: (home / "bot.py").write_bytes(BYTES + b"#"), "bots/team/bot.py"),
        (lambda home: (home / "new.txt").touch(), "bots/team/new.txt"),
        (lambda home: (home / "bot.py").unlink(), "bots/team/bot.py"),
        (lambda home: ((home / "bot.py").unlink(), os.mkfifo(home / "bot.py")), "bots/team/bot.py"),
    ],
    ids=["changed", "added", "removed", "a pipe"],
)
def test_a_bots_folder_with_what_is_not_committed_is_not_replaced(
    team: Path, tmp_path: Path, change: Callable[[Path], object], path: str
) -> None:
    cup = tmp_path / "cup"
    (team / "bot.toml").write_text('owner = ["ann"]\nrun = ["./bot.py"]\n')
    write_ladder(cup, find_game("tictactoe"), "Cup", {}, "referee @ file:///nowhere/referee")
    with Repository(cup) as repository:
        commit_bot(repository, staged(team, tmp_path / "copy", "team", "ann")[0])
        change(cup / "bots" / "team")
        (team / "more.txt").touch()
        with pytest.raises(UsageError, match=f"holds what is not committed.*: {path}$"):
            commit_bot(repository, staged(team, tmp_path / "again", "team", "ann")[0])


def test_every_call_of_git_takes_its_environment_from_one_module() -> None:
    named = re.compile(r"""\[\s*["']git["']\s*,|which\(["']git["']\)""")
    paths = [
        path
        for name in ("addons", "benchmarks", "games", "harness", "protocol")
        for path in (HOME / name).rglob("*.py")
    ]
    found = {path.relative_to(HOME).as_posix() for path in paths if named.search(path.read_text("utf-8"))}
    assert found == {"harness/common/git.py"}
    callers = [path for path in paths if "git.program()" in path.read_text("utf-8")]
    assert callers and all("git.environment()" in path.read_text("utf-8") for path in callers)
