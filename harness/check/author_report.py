"""Reports for authors: with the names of files as the author knows them, and no path of the organiser."""

import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from referee.harness.check.findings import CheckReport
from referee.harness.common.paths import HOME, cache_folder


def for_author(report: CheckReport, paths: Sequence[Path], file: str) -> CheckReport:
    """Returns a report without paths of this machine. `file` stands for `paths`, where the submission lay."""
    patterns = _patterns(paths, file)

    def shown(value: Any) -> Any:
        if isinstance(value, str):
            return _replaced(value, patterns)
        if isinstance(value, list | tuple):
            return [shown(each) for each in value]
        return {key: shown(of) for key, of in value.items()} if isinstance(value, dict) else value

    return msgspec.convert(shown(msgspec.to_builtins(report)), CheckReport)


def author_text(text: str, paths: Sequence[Path] = (), file: str = "") -> str:
    """Returns a text such as a build log without paths of this machine; see `for_author`."""
    return _replaced(text, _patterns(paths, file))


def _patterns(paths: Sequence[Path], file: str) -> list[tuple[re.Pattern[str], str]]:
    known = [(re.escape(str(path)), file or ".") for path in sorted(paths, key=lambda each: -len(str(each)))]
    unpacked = f"{re.escape(tempfile.gettempdir())}/referee-[^/\\s]+"
    known += [(f"{unpacked}/{re.escape(path.stem)}/", "") for path in paths] + [(f"{unpacked}/?", "")]
    folders = {HOME: "referee", cache_folder(): "cache", Path(sys.prefix): "python", Path.home(): "~", Path.cwd(): "."}
    for folder, name in folders.items():
        if len(folder.parts) > 1:  # not / itself
            known.append((f"{re.escape(str(folder))}(?![\\w.-])", name))
    return [(re.compile(pattern), text) for pattern, text in known]


def _replaced(text: str, patterns: list[tuple[re.Pattern[str], str]]) -> str:
    for pattern, known in patterns:
        text = pattern.sub(known.replace("\\", r"\\"), text)
    return text
