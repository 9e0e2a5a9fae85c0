"""The installed distribution: its name, version and source."""

import json
import shlex
import sys
from importlib import metadata
from typing import Any
from urllib.parse import unquote, urlsplit

NAME = "referee"
"""The distribution's name, as in pyproject.toml, which also has the address of the repository."""


def installed() -> metadata.Distribution:
    """Returns the metadata that the installer wrote. The build's `referee.egg-info` in a checkout names no origin."""
    distributions = list(metadata.distributions(name=NAME))
    return next((each for each in distributions if each.read_text("INSTALLER")), distributions[0])


def version() -> str:
    """Returns the version of the installed distribution."""
    return installed().version


def address() -> str:
    """Returns the web address of the project: from its metadata, or the repository that it was installed from.

    Empty if neither is known.
    """
    record = installed()
    for entry in record.metadata.get_all("Project-URL") or ():
        found = str(entry).partition(",")[2].strip()
        if found.startswith("https://"):
            return found
    source = origin(record)
    url = str(source.get("url", ""))
    return url if "vcs_info" in source and url.startswith("https://") else ""


def origin(record: metadata.Distribution) -> dict[str, Any]:
    """Returns where a distribution was installed from, as PEP 610 writes it; empty for a package index."""
    return dict(json.loads(record.read_text("direct_url.json") or "{}"))


def pinned(record: metadata.Distribution, extra: str = "") -> str:
    """Returns the requirement that installs the same again: `referee[web] @ ADDRESS`.

    Empty without a known origin: on a package index, the name may be somebody else's.
    """
    name, source = f"{record.name}[{extra}]" if extra else record.name, origin(record)
    if not source:
        return ""
    url, repository = source["url"], source.get("vcs_info")
    return f"{name} @ " + (f"{repository['vcs']}+{url}@{repository['commit_id']}" if repository else url)


def requirements(extra: str) -> list[str]:
    """Returns the requirements of an extra, such as `wasmtime<51,>=50`."""
    marked = (each.partition(";") for each in installed().requires or ())
    return [name.strip() for name, _, marker in marked if marker.strip() == f'extra == "{extra}"']


def extra_command(extra: str) -> str:
    """Returns the command that adds an extra to this installation, from where it was installed.

    Without a known origin, it installs what the extra needs.
    """
    record = installed()
    source = origin(record)
    target = [pinned(record, extra)] if source else requirements(extra)
    if source.get("dir_info", {}).get("editable"):
        target = ["--editable", f"{unquote(urlsplit(source['url']).path)}[{extra}]"]
    return shlex.join([sys.executable, "-m", "pip", "install", *target])
