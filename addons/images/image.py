"""`oci:IMAGE.tar`: a container image as a bot, without a container engine.

An image is unpacked once, into the cache of builds. A bot sees its files as `/`, read-only, in the sandbox of any bot.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeGuard

import msgspec
from msgspec import Struct

from referee.addons.images.archive import Config, ImageArchive, Settings, opened
from referee.addons.images.tree import MAX_PATH_BYTES, File, Folder, Node, Tree
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.paths import expanded
from referee.harness.isolation.layers.namespaces import BASE, OUTSIDE_IMAGE
from referee.harness.isolation.plan import Image, Isolation, obstacle_to_images
from referee.harness.programs import build_cache
from referee.harness.programs.entrant import Entrant, Parsed
from referee.harness.programs.start_problem import problem_of_content
from referee.harness.programs.tar_stream import Refused

PREFIX = "oci:"
TREE, DRAFT, RUN_FILE = "tree", "draft", "image.json"
"""In the image's folder in the cache: its files, where they are unpacked, and how it runs. The last is written last."""
FILES, CONTENTS, PASSWD = "files", "contents", "/etc/passwd"
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
OURS = ("HOME", "TMPDIR")
"""Variables that name the scratch folder, whatever the image says."""
MAX_WORD_BYTES, MAX_RUN_BYTES = 1 << 16, 1 << 18
"""Limits of an argument or variable, and of all of them. They become arguments of the sandbox launcher."""
MAX_TOP = 200
"""Most entries in the root of an image. Each is mounted."""


class Run(Struct, frozen=True):
    """How an image runs."""

    argv: tuple[str, ...]
    """The command, with the program's path in the image."""
    image: Image


class Unpacked(Struct, frozen=True):
    """An image in the cache."""

    root: Path
    run: Run


def parse(spec: str, game: str | None) -> Parsed:
    """Parses a bot spec. UsageError if there is no such file."""
    path = path_of(spec)
    return path.stem, lambda context: image_entrant(path.stem, unpack(spec, context.limits.isolation))


def recognise(path: Path, game: str | None) -> Parsed | None:
    """Returns None for whatever is no archive. UsageError for one, which an image and a Kaggle agent may be."""
    if path.suffix == ".tar" and path.is_file() and not os.access(path, os.X_OK):
        raise UsageError(f"{path} is no bot of this game; name a container image as {PREFIX}{path}")
    return None


def image_entrant(name: str, unpacked: Unpacked) -> Entrant:
    """Returns the program of an image in the cache."""
    return Entrant(name, unpacked.run.argv, unpacked.root, image=unpacked.run.image)


def path_of(spec: str) -> Path:
    """Returns the archive that a bot spec names. UsageError if there is none."""
    path = expanded(spec.removeprefix(PREFIX))
    if not os.path.isfile(path):  # Path.is_file raises an error for a folder that nobody may enter
        raise UsageError(f"{spec}: there is no such file; expected an image that docker save has written")
    return path.resolve()


def unpack(spec: str, isolation: Isolation) -> Unpacked:
    """Unpacks an image, once. UsageError for a broken or hostile image.

    RunError if this machine cannot run images, or if the cache cannot be written.
    """
    with _opened(spec, isolation) as archive:
        return _unpacked(archive, path_of(spec))


def unpack_verified(spec: str, isolation: Isolation) -> str:
    """Unpacks an image as `unpack` does, and returns its id. Reads the layers even if the id was unpacked before."""
    with _opened(spec, isolation) as archive:
        archive.verify()
        _unpacked(archive, path_of(spec))
        return archive.ident


@contextmanager
def _opened(spec: str, isolation: Isolation) -> Iterator[ImageArchive]:
    path = path_of(spec)
    if (obstacle := obstacle_to_images(isolation)) is not None:
        raise RunError(f"{spec}: an image runs in namespaces only; {obstacle}")
    try:
        with opened(path) as archive:
            yield archive
    except Refused as reason:
        raise UsageError(f"{spec}: {reason}") from reason
    except OSError as error:
        raise RunError(f"{spec} cannot be unpacked: {error}") from error


def unpacked_image(ident: str) -> Unpacked | None:
    """Returns the image with this id; None if it is not in the cache."""
    return unpacked_at(build_cache.folder_for(["image", ident]) / TREE)


def unpacked_at(folder: Path) -> Unpacked | None:
    """Returns the image whose files lie in this folder of the cache; None for any other folder."""
    file = folder.parent / RUN_FILE
    if folder.name != TREE or folder.parent.parent != build_cache.root() or not build_cache.use(file):
        return None
    return Unpacked(folder, msgspec.json.decode(file.read_bytes(), type=Run))


def _unpacked(archive: ImageArchive, path: Path) -> Unpacked:
    if (found := unpacked_image(archive.ident)) is not None:
        return found
    home = build_cache.folder_for(["image", archive.ident])
    with build_cache.locked(home, path):
        if not (home / RUN_FILE).exists():  # another process may have finished it
            for rest in (home / DRAFT, home / TREE):  # of a process that was killed
                build_cache.discard(rest)
            try:
                _install(archive, home)
            finally:
                build_cache.discard(home / DRAFT)
            build_cache.prune(path)
    found = unpacked_at(home / TREE)
    assert found is not None
    return found


def _install(archive: ImageArchive, home: Path) -> None:
    draft = home / DRAFT
    (draft / CONTENTS).mkdir(parents=True)
    tree = Tree(draft / CONTENTS)
    archive.apply(tree)
    run = _run(archive.config, tree)
    if len(tree.root.children) > MAX_TOP:
        raise Refused(f"has more than {MAX_TOP} files and folders in /")
    tree.write(draft / FILES)
    (draft / FILES).rename(home / TREE)
    (draft / RUN_FILE).write_bytes(msgspec.json.encode(run))
    (draft / RUN_FILE).rename(home / RUN_FILE)


# The image's configuration.


def _run(config: Config, tree: Tree) -> Run:
    """Returns how the image runs. Refused if it names what it does not have."""
    settings = config.config or Settings()
    words = [*(settings.entrypoint or ()), *(settings.cmd or ())]
    texts = [*words, *(settings.env or ()), settings.workdir, settings.user]
    if any("\0" in text or len(text.encode()) > MAX_WORD_BYTES for text in texts):
        raise Refused("has an argument or a variable that is too long or has a NUL")
    if sum(len(text.encode()) for text in texts) > MAX_RUN_BYTES:
        raise Refused(f"has more than {MAX_RUN_BYTES >> 10} KiB of arguments and variables")
    if not words:
        raise Refused("names no command to run; expected ENTRYPOINT or CMD in its Dockerfile")
    _check_user(settings.user, tree)
    variables = {"PATH": DEFAULT_PATH}
    for text in settings.env or ():
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise Refused(f"has the variable {text!r}; expected NAME=VALUE")
        if name not in OURS:
            variables[name] = value
    workdir = _workdir(settings.workdir, tree)
    argv = (_program(words[0], workdir, variables["PATH"], tree), *words[1:])
    return Run(argv, Image(workdir, tuple(variables.items())))


def _workdir(text: str, tree: Tree) -> str:
    node, path = tree.find(text, make=True)
    if not isinstance(node, Folder) or len(path.encode("utf-8", "surrogateescape")) > MAX_PATH_BYTES:
        raise Refused(f"has the working folder {text!r}, which is no folder")
    if path != BASE and _is_outside(path):
        raise Refused(f"has the working folder {path}, which the sandbox replaces")
    return path


def _program(word: str, workdir: str, search_path: str, tree: Tree) -> str:
    folders = [workdir] if "/" in word else search_path.split(":")
    for folder in folders:
        place = os.path.join(folder, word.removeprefix("./"))
        node, path = tree.find(place)
        if _is_program(node):
            if _is_outside(path) or _is_outside(place):
                raise Refused(f"runs {path}, but the sandbox replaces /{path.split('/')[1]}")
            first = tree.content_of(node)
            problem = problem_of_content(
                first, lambda path: isinstance(tree.find(os.path.join(workdir, path))[0], File)
            )
            if problem is not None:
                raise Refused(f"runs {word!r}, which cannot be started: {problem.text}")
            return place
    raise Refused(f"runs {word!r}, which is no program in the image")


def _is_program(node: Node | None) -> TypeGuard[File]:
    return isinstance(node, File) and node.executable


def _is_outside(path: str) -> bool:
    return path.split("/")[1] in OUTSIDE_IMAGE


def _check_user(user: str, tree: Tree) -> None:
    """Refused for a user that the image does not have. Its number does not matter: the sandbox gives the account."""
    name = user.partition(":")[0]
    if not name or name.isdecimal():
        return
    node = tree.find(PASSWD)[0]
    text = tree.content_of(node).decode("utf-8", "replace") if isinstance(node, File) else ""
    if name not in {line.partition(":")[0] for line in text.splitlines()}:
        raise Refused(f"runs as the user {name!r}, whom its {PASSWD} does not have")
