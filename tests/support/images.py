"""Writes container images as `docker save` does, from trees that a Dockerfile could have made."""

import gzip
import hashlib
import io
import json
import platform
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from referee.addons.images.archive import MACHINES

MODULES = "import encodings.ascii, encodings.idna, encodings.latin_1, json, os, signal, socket, stat, sys, time"
Member = tuple[tarfile.TarInfo, bytes]


def file(name: str, content: bytes = b"", mode: int = 0o644, **fields: Any) -> Member:
    """Returns an entry of a layer: a file, or with other `fields` anything that tar knows."""
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = len(content), mode, 1_700_000_000
    for key, value in fields.items():
        setattr(info, key, value)
    return info, content


def folder(name: str) -> Member:
    return file(name, mode=0o755, type=tarfile.DIRTYPE)


def link(name: str, target: str, hard: bool = False) -> Member:
    return file(name, type=tarfile.LNKTYPE if hard else tarfile.SYMTYPE, linkname=target)


def layer(*members: Member) -> bytes:
    """Returns the tar file of a layer."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return written.getvalue()


def save(
    path: Path,
    layers: Sequence[bytes],
    entrypoint: Sequence[str] = (),
    cmd: Sequence[str] = (),
    env: Sequence[str] = (),
    layout: str = "docker",
    architecture: str = MACHINES[platform.machine()],
    **settings: Any,
) -> Path:
    """Writes an image archive in the older layout of Docker, or in the `oci` layout with compressed layers."""
    config = json.dumps(
        {
            "architecture": architecture,
            "os": "linux",
            "config": {"Entrypoint": [*entrypoint], "Cmd": [*cmd] or None, "Env": [*env], **settings},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{_sha256(each)}" for each in layers]},
        }
    ).encode()
    (_docker if layout == "docker" else _oci)(path, config, layers)
    return path


def _docker(path: Path, config: bytes, layers: Sequence[bytes]) -> None:
    names, members = list[str](), list[Member]()
    seen: dict[str, str] = {}
    for number, each in enumerate(layers):
        names.append(f"{number}/layer.tar")
        first = seen.setdefault(_sha256(each), names[-1])
        members.append(file(names[-1], each) if first == names[-1] else link(names[-1], f"../{first}"))
    saved = [{"Config": f"{_sha256(config)}.json", "RepoTags": ["team/bot:latest"], "Layers": names}]
    members += [file(f"{_sha256(config)}.json", config), file("manifest.json", json.dumps(saved).encode())]
    path.write_bytes(layer(*members))


def _oci(path: Path, config: bytes, layers: Sequence[bytes]) -> None:
    blobs = [gzip.compress(each) for each in layers]
    manifest = json.dumps({"config": _descriptor(config), "layers": [_descriptor(blob) for blob in blobs]}).encode()
    attestation = {**_descriptor(b"{}"), "platform": {"architecture": "unknown", "os": "unknown"}}
    listed = {**_descriptor(manifest), "platform": {"architecture": MACHINES[platform.machine()], "os": "linux"}}
    images = json.dumps({"manifests": [listed, attestation]}).encode()
    index = json.dumps({"manifests": [_descriptor(images)]}).encode()
    members = [file(f"blobs/sha256/{_sha256(blob)}", blob) for blob in (config, manifest, images, *blobs)]
    path.write_bytes(layer(file("oci-layout", b'{"imageLayoutVersion":"1.0.0"}'), file("index.json", index), *members))


def _descriptor(blob: bytes) -> Mapping[str, Any]:
    return {"mediaType": "application/octet-stream", "digest": f"sha256:{_sha256(blob)}", "size": len(blob)}


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


PYTHON_ENV = ("PYTHONHOME=/usr", "PATH=/usr/bin")


@cache
def python() -> bytes:
    """Returns a layer with this Python, the modules that a scripted bot imports, and the libraries that `ldd` names."""
    program = Path(sys.executable).resolve()
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    listing = f"{MODULES}; print(*[m.__file__ for m in list(sys.modules.values()) if getattr(m, '__file__', None)])"
    command = [program, "-I", "-S", "-B", "-c", listing]
    modules = [*map(Path, subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())]
    members = [file("usr/bin/python3", program.read_bytes(), 0o755)]
    for module in modules:
        inside = str(module).partition(f"/{version}/")[2]
        members.append(file(f"usr/lib/{version}/{inside}", module.read_bytes()))
    for library in sorted({each for binary in (program, *modules) if binary.suffix != ".py" for each in _ldd(binary)}):
        members.append(file(library.lstrip("/"), Path(library).read_bytes(), 0o755))
    return layer(*members)


def _ldd(program: Path) -> list[str]:
    lines = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout.splitlines()
    words = [word for line in lines for word in line.split()]
    return [word for word in words if word.startswith("/")]
