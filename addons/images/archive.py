"""Image archives: tar files as `docker save` writes them, in its older layout and in the OCI layout.

The older layout has `manifest.json`, which names the configuration and the layers. The OCI layout has `index.json` and
a folder `blobs`. Newer archives have both. See https://github.com/opencontainers/image-spec.
"""

import gzip
import hashlib
import io
import platform
import posixpath
import re
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec
from msgspec import Struct, field

from referee.addons.images.tree import MAX_STREAM_BYTES, Tree
from referee.harness.programs.tar_stream import BROKEN, GZIP, HEADER_BYTES, Refused, Source, TarStream
from referee.protocol.errors import UNDECODABLE

T = TypeVar("T")
MAX_JSON_BYTES = 4 << 20
"""The limit that the specification gives for manifests."""
MAX_ENTRIES, MAX_LAYERS = 4096, 127
"""Limits of an archive's list of contents, and of Docker's layers."""
MAX_NESTED = 4
"""Most manifests between the index and the image."""
ZSTD = b"\x28\xb5\x2f\xfd"
DIGEST = re.compile("sha256:[0-9a-f]{64}")
MACHINES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "ppc64le": "ppc64le", "s390x": "s390x"}
"""The names that images use for processors."""


class Settings(Struct, frozen=True):
    """How the image runs, as its Dockerfile says."""

    entrypoint: list[str] | None = field(name="Entrypoint", default=None)
    cmd: list[str] | None = field(name="Cmd", default=None)
    env: list[str] | None = field(name="Env", default=None)
    workdir: str = field(name="WorkingDir", default="")
    user: str = field(name="User", default="")


class RootFiles(Struct, frozen=True):
    """The layers of an image."""

    diff_ids: list[str] = []
    """The digests of the uncompressed layers, the lowest first."""


class Config(Struct, frozen=True):
    """The configuration of an image. Its SHA-256 identifies the image, because it has the digests of the layers."""

    architecture: str = ""
    os: str = "linux"
    config: Settings | None = None
    rootfs: RootFiles = RootFiles()


class SavedImage(Struct, frozen=True, rename="pascal"):
    """An image in `manifest.json`."""

    config: str
    layers: list[str]
    repo_tags: list[str] | None = None


class Platform(Struct, frozen=True):
    """A kind of machine."""

    architecture: str = ""
    os: str = ""


class Descriptor(Struct, frozen=True, rename="camel"):
    """A reference to a blob."""

    digest: str
    media_type: str = ""
    platform: Platform | None = None


class Manifest(Struct, frozen=True):
    """A manifest of the OCI layout: of one image, or a list of others."""

    config: Descriptor | None = None
    layers: list[Descriptor] = []
    manifests: list[Descriptor] = []


class Headers:
    """A file of which `tarfile` reads the headers only."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.tell, self.seek = file.tell, file.seek
        self.left_bytes = HEADER_BYTES

    def read(self, size: int = -1) -> bytes:
        self.left_bytes -= size
        if size < 0 or self.left_bytes < 0:
            raise Refused("has an entry with a header that is too long")
        return self._file.read(size)


class Section(io.RawIOBase):
    """A part of a file."""

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        self._file, self._at, self._end = file, start, start + size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._file.seek(self._at)
        data = self._file.read(min(len(buffer), self._end - self._at))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


class ImageArchive:
    """An open archive with one image. `opened` makes it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._places: dict[str, tuple[int, int]] = {}
        self._links: dict[str, str] = {}
        self._list()
        config, self.layers = self._saved() if "manifest.json" in self._places else self._from_index()
        data = self._read(config)
        self.config = _decoded(data, Config, config)
        self.ident = hashlib.sha256(data).hexdigest()
        """The image's id, as `docker images --no-trunc` shows it."""
        self._check()

    def _list(self) -> None:
        if self._file.read(2) == GZIP:
            raise Refused("is compressed; run gunzip first")
        self._file.seek(0)
        headers = Headers(self._file)
        with tarfile.open(fileobj=headers, mode="r:", encoding="utf-8") as tar:  # type: ignore[call-overload]
            for _ in range(MAX_ENTRIES):
                if (member := tar.next()) is None:
                    return
                name = posixpath.normpath(member.name)
                if member.isreg() and not member.issparse():
                    self._places[name] = member.offset_data, member.size
                elif member.issym():  # older versions of Docker write equal layers once
                    self._links[name] = posixpath.normpath(posixpath.join(posixpath.dirname(name), member.linkname))
                headers.left_bytes = HEADER_BYTES
        raise Refused(f"has more than {MAX_ENTRIES:,} files, which is no image")

    def _saved(self) -> tuple[str, list[str]]:
        images = _decoded(self._read("manifest.json"), list[SavedImage], "manifest.json")
        if len(images) != 1:
            raise Refused(f"holds {len(images)} images; save one alone")
        return images[0].config, images[0].layers

    def _from_index(self) -> tuple[str, list[str]]:
        if "index.json" not in self._places:
            raise Refused("has neither manifest.json nor index.json: it is no image archive, as docker save writes it")
        manifest = _decoded(self._read("index.json"), Manifest, "index.json")
        for _ in range(MAX_NESTED):
            if manifest.config is not None:
                return _blob(manifest.config.digest), [_blob(layer.digest) for layer in manifest.layers]
            images = [each for each in manifest.manifests if _runs_here(each.platform)]
            if len(images) != 1:
                raise Refused(f"holds {len(images)} images for linux/{_machine()}; save one alone")
            name = _blob(images[0].digest)
            manifest = _decoded(self._read(name), Manifest, name)
        raise Refused("has lists of images nested too deep")

    def _check(self) -> None:
        config = self.config
        if config.os != "linux" or config.architecture != _machine():
            where = f"{config.os}/{config.architecture}"
            raise Refused(f"is an image for {where}; expected linux/{_machine()}, so build it with --platform")
        if len(self.layers) != len(config.rootfs.diff_ids) or len(self.layers) > MAX_LAYERS:
            raise Refused(f"has {len(self.layers)} layers and {len(config.rootfs.diff_ids)} digests of layers")

    def apply(self, tree: Tree) -> None:
        """Applies all layers to a tree. Refused for a damaged layer."""
        for name, digest in self._digests():
            if tree.apply(self._layer(name)) != digest:
                raise Refused(f"{name} is damaged: its digest is not that of the configuration")

    def verify(self) -> None:
        """Reads all layers. Refused for a damaged one."""
        for name, digest in self._digests():
            if TarStream(self._layer(name), MAX_STREAM_BYTES).digest() != digest:
                raise Refused(f"{name} is damaged: its digest is not that of the configuration")

    def _digests(self) -> Iterator[tuple[str, str]]:
        digests = [digest.removeprefix("sha256:") for digest in self.config.rootfs.diff_ids]
        return zip(self.layers, digests, strict=True)

    def _layer(self, name: str) -> Source:
        start, size = self._place(name)
        head = self._read(name, 4)
        if head == ZSTD:
            raise Refused(f"{name} is compressed by zstd; expected gzip or no compression")
        raw = io.BufferedReader(Section(self._file, start, size))
        return gzip.GzipFile(fileobj=raw) if head.startswith(GZIP) else raw

    def _place(self, name: str) -> tuple[int, int]:
        name = posixpath.normpath(name)
        for _ in range(MAX_LAYERS):
            if name not in self._links:
                break
            name = self._links[name]
        if name not in self._places:
            raise Refused(f"lacks {name}")
        return self._places[name]

    def _read(self, name: str, most_bytes: int | None = None) -> bytes:
        start, size = self._place(name)
        if most_bytes is None and size > MAX_JSON_BYTES:
            raise Refused(f"{name} is larger than {MAX_JSON_BYTES >> 20} MiB")
        self._file.seek(start)
        return self._file.read(min(size, most_bytes or size))


@contextmanager
def opened(path: Path) -> Iterator[ImageArchive]:
    """Opens an archive. Refused, also in the block, if it is broken. OSError if it cannot be read."""
    try:
        with path.open("rb") as file:
            yield ImageArchive(file)
    except BROKEN as error:
        raise Refused(f"cannot be read: {error}") from error


def _decoded(data: bytes, kind: type[T], name: str) -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except UNDECODABLE as error:
        raise Refused(f"{name}: {error}") from error


def _blob(digest: str) -> str:
    if not DIGEST.fullmatch(digest):
        raise Refused(f"names the digest {digest!r}; expected sha256")
    return f"blobs/sha256/{digest.removeprefix('sha256:')}"


def _machine() -> str:
    return MACHINES.get(platform.machine(), platform.machine())


def _runs_here(wanted: Platform | None) -> bool:
    """Whether an image runs on this machine. Indexes also list attestations, for an unknown platform."""
    return wanted is None or (wanted.os == "linux" and wanted.architecture == _machine())
