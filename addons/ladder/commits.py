"""Writes commits with git's plumbing: no work tree, hook or filter takes part."""

import os
import re
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from referee.addons.tournament.intake.objects import FILE, PROGRAM, GitError, Repository
from referee.harness.common import git
from referee.harness.common.errors import RunError, UsageError, writing
from referee.harness.common.output import write_whole
from referee.harness.common.paths import read_limited

ORIGIN = "origin"
RACE = re.compile(r"\[rejected\]|cannot lock ref|fetch first|non-fast-forward")
"""What git prints of a push if somebody else has pushed meanwhile."""
MOST_REASON = 1_000
"""Letters of what a forge says."""
NOBODY = "referee <referee@localhost>"
NEW = "refs/referee/new"
"""A reference that git needs while it writes a commit."""


def commit_files(
    repository: Repository,
    parent: str | None,
    files: Mapping[str, bytes],
    message: str,
    folder: tuple[str, str] | None = None,
    merged: str | None = None,
    programs: Collection[str] = (),
    at: float | None = None,
) -> str:
    """Returns a new commit with these files on top of another; None = a commit without history.

    `folder`: a path, and the id in git of what it holds from now on; an empty id removes it. `merged`: the commit of a
    pull request that this one merges. `programs`: the paths of files that can be run. `at`: its time; None = now.
    """
    who = f"{identity(repository)} {int(time.time() if at is None else at)} +0000"
    parts = [f"commit {NEW}\nmark :1\nauthor {who}\ncommitter {who}\n".encode(), _data(message.encode())]
    parts += [f"from {parent}\n".encode()] if parent is not None else []
    if merged is not None:
        parts.append(f"merge {merged}\n".encode())
    if folder is not None:
        path, tree = folder
        parts.append(f"M 040000 {tree} {_quoted(path)}\n".encode() if tree else f"D {_quoted(path)}\n".encode())
    for path, content in files.items():
        mode = PROGRAM if path in programs else FILE
        parts += [f"M {mode} inline {_quoted(path)}\n".encode(), _data(content)]
    parts.append(b"\nget-mark :1\ndone\n")
    written = repository.run("fast-import", "--quiet", "--force", "--done", given=b"".join(parts))
    return written.decode().strip()


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def identity(repository: Repository) -> str:
    """Returns who commits: as git is set up, or a name of ours where it knows nobody, as in most workflows."""
    try:
        return repository.text("var", "GIT_AUTHOR_IDENT").rpartition(">")[0] + ">"
    except RunError:
        return NOBODY


def newest(repository: Repository, base: str | None) -> str:
    """Returns the newest commit of the ladder: `base`, or the default branch of `origin`, or what is checked out."""
    if base is not None:
        branch = base.removeprefix(f"{ORIGIN}/")
        return fetched(repository, branch) if branch != base and has_origin(repository) else repository.commit(base)
    if has_origin(repository):  # it says which branch is the default one: a clone knows that of its first day
        found = re.match("ref: refs/heads/(.+)\tHEAD", repository.text("ls-remote", "--symref", ORIGIN, "HEAD"))
        return fetched(repository, found[1] if found else "main")
    return repository.commit("HEAD")


def has_origin(repository: Repository) -> bool:
    """Whether the repository is a clone of another one."""
    return ORIGIN in repository.text("remote").split()


def fetched(repository: Repository, branch: str) -> str:
    """Fetches a branch of `origin`, also into a bare clone. Returns its commit."""
    name = f"refs/remotes/{ORIGIN}/{branch}"
    try:
        repository.run(*git.FETCH, "--no-write-fetch-head", ORIGIN, f"+refs/heads/{branch}:{name}")
    except RunError as error:
        raise RunError(f"{error}; name the ladder's branch with --base") from error
    return repository.commit(name)


def shown(repository: Repository, commit: str | None) -> str:
    """Returns the commit that a user names; by default what `origin` is known to have on top of the own branch."""
    head = repository.commit(commit or "HEAD")
    if commit is None:
        with suppress(RunError, UsageError):  # no branch is checked out, or none of origin, or it lacks own commits
            branch = repository.text("symbolic-ref", "--short", "HEAD")
            newer = repository.commit(f"refs/remotes/{ORIGIN}/{branch}")
            repository.run("merge-base", "--is-ancestor", head, newer)
            return newer
    return head


def write(repository: Repository, path: str, content: bytes) -> Path:
    """Writes a file of the work tree, to be committed by a user. Returns its path from the current folder.

    UsageError for a link, which a stranger may have committed, and for a file whose content is not committed.
    """
    if repository.top is None:
        raise UsageError(f"{repository.folder} has no work tree to write {path} to; use a clone that is not bare")
    check_no_link(repository.top, path)
    to = repository.top / path
    with writing(to):
        if to.exists() and (there := read_limited(to)) != content:
            ((_, committed),) = repository.find([f"HEAD:{path}"])
            if committed is None or unix_lines(there) != unix_lines(committed):
                raise UsageError(f"{to} holds what is not committed; commit it or move it away")
        to.parent.mkdir(parents=True, exist_ok=True)
        write_whole(to, content)
    return Path(os.path.relpath(to))


def check_no_link(top: Path, path: str) -> None:
    """UsageError if a part of a path below the top of a work tree is a link, which may lead out of the clone."""
    place = top
    for part in path.split("/"):
        place /= part
        if place.is_symlink():
            raise UsageError(f"{place} is a link; expected plain files and folders of the clone: remove it")


def unix_lines(content: bytes) -> bytes:
    """Returns a content with the ends of lines that a commit has. A checkout may have others."""
    return content.replace(b"\r\n", b"\n")


def push_branch(repository: Repository, commit: str, branch: str, remote: str) -> None:
    """Pushes a commit as a branch of its own."""
    try:
        repository.run(*git.PUSH, "--force", remote, f"{commit}:refs/heads/{branch}")
    except GitError as error:
        raise RunError(f"{remote} refuses the push to {branch}: {_reason(error)}") from error


def _reason(error: GitError) -> str:
    """Returns why a push failed, in the words of the forge and of git."""
    forge = [line.removeprefix("remote:").strip() for line in error.lines if line.startswith("remote:")]
    said = [line.strip() for line in error.lines if line.startswith((" !", "fatal:"))]
    return "; ".join([*filter(None, forge), *said])[:MOST_REASON] or str(error)


def advance(repository: Repository, commit: str, branch: str | None) -> bool:
    """Moves the ladder's branch to a commit: `branch` of `origin`, or without one what is checked out here.

    Returns False if somebody else was faster. UsageError for a work tree with other changes.
    """
    if branch is not None:
        try:
            repository.run(*git.PUSH, ORIGIN, f"{commit}:refs/heads/{branch}")
        except GitError as error:
            if any(RACE.search(line) for line in error.lines):
                return False
            raise RunError(f"{ORIGIN} refuses the push to {branch}: {_reason(error)}") from error
        return True
    if repository.top is None:
        repository.run("update-ref", "HEAD", commit)
        return True
    # Filters of this clone's own settings would run on the files of strangers, whose attributes choose them.
    names = repository.text("config", "--list", "--name-only", "-z").split("\0")
    filters = git.options(*(f"{name}=" for name in names if name.startswith("filter.")))
    try:
        repository.run(*filters, "merge", "--quiet", "--ff-only", commit)
    except RunError as error:
        raise UsageError(f"{error}; commit or stash your own changes first") from error
    return True
