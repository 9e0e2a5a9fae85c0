"""What real people hand in: zips of macOS, forges and CI, and files that are no zip."""

import gzip
import io
import lzma
import os
import struct
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from referee.harness.common.errors import RunError, UsageError
from referee.harness.programs.spec import entrant
from referee.harness.programs.zip_archive import bot_in, unpack

TOML = 'run = ["./bot"]\n'
SCRIPT = "#!/bin/sh\n"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "4d7a" * 16 + "\nsize 123456\n"
MODULES = '[submodule "engine"]\n\tpath = lib/engine\n\turl = https://example.org/engine\n'


def zip_of(files: dict[str, str], name: str = "red.zip") -> Path:
    """Packs files, none of which is executable, as CI packs an artifact."""
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as packed:
        for path, text in files.items():
            entry = zipfile.ZipInfo(path)
            entry.filename, entry.create_system = path, 3
            entry.external_attr = 0o40755 << 16 if path.endswith("/") else 0o100644 << 16
            packed.writestr(entry, text)
    return Path(name)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


TAKEN: dict[str, dict[str, str]] = {
    "a program without its mode": {"bot.toml": TOML, "bot": SCRIPT},
    "a script of the build": {"bot.toml": f"{TOML}build = './mk/it.sh && true'", "bot": SCRIPT, "mk/it.sh": SCRIPT},
    ".DS_Store": {".DS_Store": "\0", "mine/bot.toml": TOML, "mine/bot": SCRIPT},
    "all files of a system": {
        **dict.fromkeys(["__MACOSX/mine/._bot", "Thumbs.db", "desktop.ini", "._mine", "Icon\r"], ""),
        "mine/bot.toml": TOML,
        "mine/bot": SCRIPT,
    },
    "hidden files of other systems": {
        **dict.fromkeys([".directory", ".Spotlight-V100/a", ".fseventsd/a", ".Trashes/", ".gitignore"], ""),
        "mine/bot.toml": TOML,
        "mine/bot": SCRIPT,
    },
    "names of all kinds": {
        **dict.fromkeys(["log 12:30", "a.", "CASE", "case", "ě", "c:d", "a" * 255, "new\nline", "%2e%2e"], ""),
        "bot.toml": TOML,
        "bot": SCRIPT,
    },
    "a submodule with its files": {".gitmodules": MODULES, "lib/engine/a": "", "bot.toml": TOML, "bot": SCRIPT},
    "a pointer that is left out": {"bot.toml": f"{TOML}exclude = ['doc']", "doc/a.png": POINTER, "bot": SCRIPT},
}


@pytest.mark.parametrize("content", [b"MZ" + bytes(99), b"\xcf\xfa\xed\xfe" + bytes(99)], ids=["Windows", "macOS"])
def test_a_program_of_another_system_is_not_called_a_file_without_a_mode(content: bytes) -> None:
    Path("bot").write_bytes(content)
    Path("bot.toml").write_text(TOML)
    with zipfile.ZipFile("red.zip", "w") as packed:
        packed.write("bot"), packed.write("bot.toml")
    try:
        entrant("red.zip", "tictactoe")
    except (UsageError, RunError) as error:
        assert "executable" not in str(error)


@pytest.mark.parametrize("kind", TAKEN)
def test_a_zip_of_somebody_who_cannot_repair_it_plays(kind: str) -> None:
    bot = entrant(str(zip_of(TAKEN[kind])), "tictactoe")
    assert os.access(bot.argv[0], os.X_OK) and Path(bot.argv[0]).read_text() == SCRIPT


def test_a_name_in_utf_8_that_does_not_say_so_is_read_as_its_author_wrote_it(tmp_path: Path) -> None:
    for flag, name in ((0, "bótě"), (0x800, "bótě")):
        archive = zip_of({"bót": ""}, f"{flag}.zip")
        content = archive.read_bytes().replace(struct.pack("<H", 0x800), struct.pack("<H", flag))
        archive.write_bytes(content.replace("bót".encode(), name.encode()[: len("bót".encode())]))
        (tmp_path / str(flag)).mkdir()
        assert [path.name for path in unpack(archive, tmp_path / str(flag)).iterdir()] == ["bót"]


def modes(archive: Path, folder: Path) -> dict[str, bool]:
    """Whether the owner may execute each file of a zip once it is unpacked."""
    folder.mkdir()
    return {path.name: bool(path.stat().st_mode & 0o100) for path in unpack(archive, folder).iterdir()}


def test_a_program_of_the_bots_program_is_executable_where_no_file_kept_its_mode(tmp_path: Path) -> None:
    files = {"bot": SCRIPT, "inner": SCRIPT, "data": "#", "bot.toml": TOML}
    bot, inner = {"bot": True, "inner": True}, {"data": False, "bot.toml": False}
    assert modes(zip_of(files), tmp_path / "a") == bot | inner
    script = {"bot.py": "#!/usr/bin/env python3\n", "engine": "\x7fELF", "bot.toml": "run = ['python3', 'bot.py']\n"}
    assert modes(zip_of(script), tmp_path / "b") == {"bot.py": False, "engine": True, "bot.toml": False}
    archive = zip_of({name: text for name, text in files.items() if name != "bot"})
    with zipfile.ZipFile(archive, "a") as packed:
        (entry := zipfile.ZipInfo("bot")).external_attr = 0o100755 << 16
        entry.create_system = 3
        packed.writestr(entry, SCRIPT)
    assert modes(archive, tmp_path / "c") == {"bot": True, "inner": False} | inner, "modes were kept"


def test_a_bot_toml_that_is_a_pointer_is_named_in_a_folder_and_in_a_zip() -> None:
    Path("mine").mkdir()
    Path("mine", "bot.toml").write_text(POINTER)
    for bot in ("mine", str(zip_of({"bot.toml": POINTER, "bot": SCRIPT}))):
        with pytest.raises(UsageError, match=r"bot\.toml is a pointer of git LFS; include the file itself"):
            entrant(bot, "tictactoe")


REFUSED: dict[str, tuple[dict[str, str], str]] = {
    "a pointer of git LFS": ({"bot.toml": TOML, "bot": POINTER}, "bot is a pointer of git LFS"),
    "weights in git LFS": ({"bot.toml": TOML, "bot": SCRIPT, "a/w.bin": POINTER}, "a/w.bin is a pointer of git LFS"),
    "an empty submodule": ({".gitmodules": MODULES, "lib/engine/": "", "bot.toml": TOML, "bot": SCRIPT}, "submodule"),
    "no submodule": ({".gitmodules": MODULES, "bot.toml": TOML, "bot": SCRIPT}, "lib/engine is a submodule"),
    "no program": ({"bot.toml": TOML, "bot": "print()"}, "name its interpreter"),
    "a long name": ({"bot.toml": TOML, "a" * 256: ""}, "has a name of more than 255 bytes"),
    "a drive": ({"C:/bot.toml": TOML}, "leads outside"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_missing_in_a_zip_is_named(kind: str) -> None:
    files, words = REFUSED[kind]
    with pytest.raises((UsageError, RunError)) as caught:
        entrant(str(zip_of(files)), "tictactoe")
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_a_zip_around_a_zip_is_named(tmp_path: Path) -> None:
    zip_of({"bot.toml": TOML, "bot": SCRIPT}, "mine.zip")
    with zipfile.ZipFile("artifact.zip", "w") as packed:
        packed.write("mine.zip", "dist/mine.zip")
    with pytest.raises(UsageError, match=r"artifact\.zip: holds nothing but 'dist/mine\.zip'; hand in that one"):
        bot_in("artifact.zip", tmp_path, "tictactoe")


@pytest.mark.parametrize(("at", "value", "words"), [(8, 1, "is encrypted"), (10, 9, "unusual compression")])
def test_an_encrypted_or_unusual_zip_is_named(at: int, value: int, words: str, tmp_path: Path) -> None:
    content = bytearray(zip_of({"bot.toml": TOML}).read_bytes())
    entry = content.index(b"PK\x01\x02")
    content[entry + at : entry + at + 2] = struct.pack("<H", value)
    Path("red.zip").write_bytes(content)
    (tmp_path / "inside").mkdir()
    with pytest.raises(UsageError, match=f"'bot.toml' .*{words}"):
        unpack(Path("red.zip"), tmp_path / "inside")


def packed(mode: str) -> bytes:
    """A tar file."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as tar:  # type: ignore[call-overload]
        tar.addfile(tarfile.TarInfo("bot.toml"))
    return file.getvalue()


NO_ZIP: dict[str, tuple[bytes, str]] = {
    "tar": (packed("w"), "is a tar file; pack"),
    "tar.gz": (packed("w:gz"), "is a gzip file"),
    "gz": (gzip.compress(b"a"), "is a gzip file"),
    "tar.xz": (lzma.compress(b"a"), "is an xz file"),
    "tar.bz2": (packed("w:bz2"), "is a bzip2 file"),
    "tar.zst": (b"\x28\xb5\x2f\xfd rest", "is a zst file"),
    "7z": (b"7z\xbc\xaf\x27\x1c", "is a 7z file"),
    "rar": (b"Rar!\x1a\x07", "is a RAR file"),
    "a page": (b"<!DOCTYPE html><title>Sign in</title>", "is a page of the web"),
    "empty": (b"", "is empty"),
    "cut off": (b"PK\x03\x04 and no more", "is cut off or damaged"),
    "a pointer": (POINTER.encode(), "is a pointer of git LFS"),
    "text": (b"hello", "cannot be unpacked: File is not a zip file"),
}


@pytest.mark.parametrize("kind", NO_ZIP)
def test_a_file_that_is_no_zip_is_named_as_what_it_is(kind: str, tmp_path: Path) -> None:
    content, words = NO_ZIP[kind]
    Path("red.zip").write_bytes(content)
    (tmp_path / "inside").mkdir()
    with pytest.raises(UsageError) as caught:
        unpack(Path("red.zip"), tmp_path / "inside")
    assert str(caught.value).startswith(f"red.zip: {words}")


@pytest.mark.parametrize("name", ["bot", "bot.py", "bot.wasm", "red.zip", "mine.tar.gz"])
def test_a_single_file_that_is_a_pointer_is_named(name: str) -> None:
    Path(name).write_text(POINTER)
    Path(name).chmod(0o755)
    with pytest.raises(UsageError, match=f"{name} is a pointer of git LFS"):
        entrant(name, "tictactoe")


def test_zips_that_are_written_as_a_stream_or_are_large_are_taken(tmp_path: Path) -> None:
    with zipfile.ZipFile("large.zip", "w") as archive, archive.open("bot.toml", "w", force_zip64=True) as file:
        file.write(TOML.encode())
    writer = "import sys, zipfile; zipfile.ZipFile(sys.stdout.buffer, 'w').writestr('bot.toml', sys.argv[1])"
    with Path("stream.zip").open("wb") as pipe:
        done = subprocess.run(["python3", "-c", writer, TOML], stdout=subprocess.PIPE, check=True)
        pipe.write(done.stdout)
    for name in ("large", "stream"):
        (tmp_path / name).mkdir()
        assert (unpack(Path(f"{name}.zip"), tmp_path / name) / "bot.toml").read_text() == TOML
