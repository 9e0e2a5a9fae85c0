"""The files of a container image: its layers, applied in order to a tree in memory, which is then written once.

Nothing is written under a name from the image while layers are read: contents go to numbered files. At the end come the
folders, then the files, then the links. So no write can pass through a link, wherever that leads. Inside the tree, a
link is followed as in the container: `/` and `..` never leave the root.
"""

import os
import tarfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.harness.programs.tar_stream import HEADER_BYTES, MAX_DEPTH, UNPACKED_BYTES, Refused, Source, TarStream

MAX_BYTES, MAX_FILES = UNPACKED_BYTES, 50_000
"""The limits of an image: the content of all layers, and their files, folders and links. Deleted ones count too."""
MAX_NAME_BYTES, MAX_PATH_BYTES = 255, 2000
MAX_LINKS = 40
"""Most links on the way to a file, as in the kernel."""
MAX_STEPS = 5_000_000
"""Most look-ups of names: a small image can ask for many."""
ENTRY_BYTES = 1 << 12
"""More than the headers and the padding of a file take on average."""
MAX_STREAM_BYTES = MAX_BYTES + MAX_FILES * ENTRY_BYTES
WHITEOUT, OPAQUE, PRIVATE = ".wh.", ".wh..wh..opq", ".wh..wh."
"""Markers of deleted files: `.wh.NAME` deletes NAME of the layers below, `.wh..wh..opq` all in its folder."""
DEVICES = "dev"
"""The folder whose devices are left out. The sandbox has its own."""
LATEST_S = 1 << 32


class File(Struct, eq=False):
    """A regular file."""

    number: int
    """The name of its content's file. Hard links have the same."""
    executable: bool
    layer: int


class Link(Struct, eq=False):
    """A symbolic link."""

    target: str
    layer: int


class Folder(Struct, eq=False):
    """A folder."""

    children: dict[str, "File | Link | Folder"]
    layer: int
    """The last layer that has an entry for it."""


Node = File | Link | Folder


class Tree:
    """The files of the layers so far."""

    def __init__(self, contents: Path) -> None:
        """`contents`: an empty folder for the contents of files."""
        self.root = Folder({}, 0)
        self._contents = contents
        self._layer = 0
        self._left_bytes, self._left_files = MAX_BYTES, MAX_FILES
        self._read_bytes = 0
        self._steps = 0
        self._count = 0

    def apply(self, source: Source) -> str:
        """Applies a layer. Returns its digest. Refused for an entry that no image needs or that exceeds a limit."""
        self._layer += 1
        stream = TarStream(source, MAX_STREAM_BYTES - self._read_bytes)
        for member in stream.entries():
            self._count_file()
            try:
                self._add(member, stream)
            except Refused as reason:
                raise Refused(f"layer {self._layer}: {member.name!r} {reason}") from reason
        digest = stream.digest()
        self._read_bytes += stream.tell()
        return digest

    def _count_file(self) -> None:
        """Refused if there are too many files and folders, which a folder that no entry names is too."""
        self._left_files -= 1
        if self._left_files < 0:
            raise Refused(f"its layers have more than {MAX_FILES:,} files and folders")

    def _add(self, member: tarfile.TarInfo, stream: TarStream) -> None:
        names = _names(member.name, "")
        if not names:  # the root itself
            return
        folder_names, name = names[:-1], names[-1]
        if name.startswith(WHITEOUT):
            self._delete(folder_names, name)
            return
        if member.isdev():
            if names[0] != DEVICES:
                raise Refused("is a device or a pipe")
            return
        folder, path = self._find(folder_names, make=True)
        if not isinstance(folder, Folder):
            raise Refused("lies in what is no folder")
        _check_length((*path, name))  # links may lead deep
        before = folder.children.get(name)
        if not member.isdir():
            folder.children[name] = self._leaf(member, stream)
        elif isinstance(before, Folder):
            before.layer = self._layer
        else:
            folder.children[name] = Folder({}, self._layer)

    def _leaf(self, member: tarfile.TarInfo, stream: TarStream) -> Node:
        if member.issym():
            if not member.linkname or "\0" in member.linkname or len(os.fsencode(member.linkname)) > MAX_PATH_BYTES:
                raise Refused("is a link without a proper target")
            return Link(member.linkname, self._layer)
        if member.islnk():
            names = _names(member.linkname, "is a hard link that ")
            folder = self._find(names[:-1])[0]
            node = folder.children.get(names[-1]) if names and isinstance(folder, Folder) else None
            if node is None or isinstance(node, Folder):
                raise Refused(f"is a hard link to {member.linkname!r}, which is no file of the image")
            return msgspec.structs.replace(node, layer=self._layer)
        if not member.isreg() or member.issparse():
            raise Refused("is of a kind that images do not have")
        return self._file(member, stream)

    def _file(self, member: tarfile.TarInfo, stream: TarStream) -> File:
        self._left_bytes -= member.size
        if self._left_bytes < 0:
            raise Refused(f"unpacks to more than {MAX_BYTES:,} bytes, the most that an image may have")
        self._count += 1
        path = self._contents / str(self._count)
        executable = bool(member.mode & 0o111)
        with open(path, "xb") as file:
            stream.copy(member, file)
            os.fchmod(file.fileno(), 0o755 if executable else 0o644)
        time_s = min(max(0, member.mtime), LATEST_S)
        os.utime(path, (time_s, time_s))  # Python compiles a module again if its time has changed
        return File(self._count, executable, self._layer)

    # Deleting.

    def _delete(self, folder_names: Sequence[str], marker: str) -> None:
        folder = self._find(folder_names)[0]
        if not isinstance(folder, Folder):
            return
        if marker == OPAQUE:
            self._clear(folder)
        elif not marker.startswith(PRIVATE):
            self._clear(folder, marker.removeprefix(WHITEOUT))

    def _clear(self, folder: Folder, only: str | None = None) -> None:
        """Deletes the children that come from the layers below: all, or the one of that name."""
        for name in [*folder.children] if only is None else [only]:
            self._step()
            node = folder.children.get(name)
            if isinstance(node, Folder):
                self._clear(node)
            if node is not None and node.layer < self._layer and not (isinstance(node, Folder) and node.children):
                del folder.children[name]

    # Finding.

    def find(self, path: str, make: bool = False) -> tuple[Node | None, str]:
        """Follows a path and all links on it. Returns what it leads to, and its real path.

        With `make`, missing folders are made.
        """
        node, names = self._find(path.split("/"), make)
        return node, "/" + "/".join(names)

    def _find(self, names: Sequence[str], make: bool = False) -> tuple[Node | None, list[str]]:
        waiting, path, folders, links = [*reversed(names)], list[str](), [self.root], 0
        while waiting:
            self._step()
            name = waiting.pop()
            if name == ".." and path:
                path.pop()
                folders.pop()
            if name in ("", ".", ".."):
                continue
            node = folders[-1].children.get(name)
            if node is None and make:
                self._count_file()
                _check_length((*path, name))
                folders[-1].children[name] = node = Folder({}, self._layer)
            if isinstance(node, Link):
                links += 1
                if links > MAX_LINKS:
                    raise Refused(f"leads through more than {MAX_LINKS} links")
                if node.target.startswith("/"):
                    path, folders = [], [self.root]
                waiting += reversed(node.target.split("/"))
                continue
            path.append(name)
            if len(path) > MAX_DEPTH:
                raise Refused(f"lies in more than {MAX_DEPTH} folders")
            if not isinstance(node, Folder):
                return (None if waiting else node), path
            folders.append(node)
        return folders[-1], path

    def _step(self) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise Refused("takes too long: the image has too many links or deleted files")

    def content_of(self, file: File) -> bytes:
        """Returns the beginning of a file."""
        with open(self._contents / str(file.number), "rb") as content:
            return content.read(HEADER_BYTES)

    # Writing.

    def write(self, root: Path) -> None:
        """Writes the tree to the new folder `root`. The contents of files move there."""
        links: list[tuple[str, Path]] = []
        written: dict[int, Path] = {}
        waiting = [(root, self.root)]
        while waiting:
            path, folder = waiting.pop()
            path.mkdir()
            path.chmod(0o755)
            for name, node in folder.children.items():
                place = path / name
                if isinstance(node, Folder):
                    waiting.append((place, node))
                elif isinstance(node, Link):
                    links.append((node.target, place))
                elif node.number in written:
                    os.link(written[node.number], place)
                else:
                    (self._contents / str(node.number)).rename(place)
                    written[node.number] = place
        for target, place in links:
            place.symlink_to(target)


def _names(path: str, what: str) -> list[str]:
    """Splits a path of an entry. Refused if it leads outside of the image, or no system would take it."""
    if path.startswith("/"):
        raise Refused(f"{what}is an absolute path")
    names = [name for name in path.split("/") if name not in ("", ".")]
    if ".." in names:
        raise Refused(f"{what}leads outside of the image")
    _check_length(names, what)
    return names


def _check_length(names: Sequence[str], what: str = "") -> None:
    """Refused for a path that no system would take."""
    sizes = [len(os.fsencode(name)) for name in names]
    if max(sizes, default=0) > MAX_NAME_BYTES or sum(sizes) + len(sizes) > MAX_PATH_BYTES or "\0" in "".join(names):
        raise Refused(f"{what}has a name that is too long or has a NUL")
    if len(names) > MAX_DEPTH:
        raise Refused(f"{what}lies in more than {MAX_DEPTH} folders")
