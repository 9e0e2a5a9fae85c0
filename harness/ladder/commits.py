"""Writes commits with git's plumbing: no work tree, hook or filter takes part."""

import time
from collections.abc import Collection, Mapping

from referee.harness import git
from referee.harness.errors import RunError, UsageError
from referee.harness.ladder.objects import FILE, PROGRAM, Repository

ORIGIN = "origin"
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
) -> str:
    """Returns a new commit with these files on top of another; None = a commit without history.

    `folder`: a path, and the id in git of what it holds from now on; an empty id removes it. `merged`: the commit of a
    pull request that this one merges. `programs`: the paths of files that can be run.
    """
    who = f"{identity(repository)} {int(time.time())} +0000"
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
        return repository.commit(base)
    if ORIGIN in repository.text("remote").split():
        repository.run(*git.FETCH, ORIGIN)
        for name in (f"refs/remotes/{ORIGIN}/HEAD", f"refs/remotes/{ORIGIN}/main", f"refs/remotes/{ORIGIN}/master"):
            try:
                return repository.commit(name)
            except UsageError:
                continue
        raise UsageError(f"{repository.folder}: {ORIGIN} has no branch main; name the ladder's branch with --base")
    return repository.commit("HEAD")


def push_branch(repository: Repository, commit: str, branch: str, remote: str) -> None:
    """Pushes a commit as a branch of its own."""
    repository.run(*git.PUSH, "--force", remote, f"{commit}:refs/heads/{branch}")


def advance(repository: Repository, commit: str, branch: str | None) -> bool:
    """Moves the ladder's branch to a commit: `branch` of `origin`, or without one what is checked out here.

    Returns False if somebody else was faster. UsageError for a work tree with other changes.
    """
    if branch is not None:
        try:
            repository.run(*git.PUSH, ORIGIN, f"{commit}:refs/heads/{branch}")
        except RunError as error:
            if "failed to push" not in str(error) and "rejected" not in str(error):
                raise
            return False
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
