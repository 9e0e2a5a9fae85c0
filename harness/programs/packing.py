"""Packs the files of bots and rules as zip files, which differ only if the files do."""

import hashlib
import stat
import zipfile
from pathlib import Path
from typing import IO

from referee.harness.common.errors import UsageError
from referee.harness.programs import zip_archive
from referee.harness.programs.archive import BotArchive

STAMP = (2020, 1, 1, 0, 0, 0)
"""The time of every file in a zip, so that equal content gives equal archives."""


def pack(name: str, content: BotArchive, inside: str, to: Path | IO[bytes], maker: str = "") -> None:
    """Packs the files of the bot `name` as a zip file. `inside`: the bot's folder in them, `.` = the whole.

    `maker`: our version, if the bot's hash has it. UsageError for what no archive can hold.
    """
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.comment = zip_archive.comment(inside, maker)
        for file in content.files:
            source = content.folder / file.path
            if source.is_dir():
                raise UsageError(f"{name}: {file.path} is a link to a folder, which an archive cannot hold")
            member = zipfile.ZipInfo(f"bot/{file.path}", STAMP)
            member.external_attr = (stat.S_IFREG | (0o755 if file.executable else 0o644)) << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            data = source.read_bytes()
            if hashlib.sha256(data).hexdigest() != file.sha256:
                raise UsageError(f"{name}: {file.path} changed while it was read; repeat the command")
            packed.writestr(member, data)
