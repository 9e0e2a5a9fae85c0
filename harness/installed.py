"""The installed distribution: its name, version and source."""

import json
import shlex
import sys
from importlib import metadata
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
    origin = json.loads(record.read_text("direct_url.json") or "{}")
    url = str(origin.get("url", ""))
    return url if "vcs_info" in origin and url.startswith("https://") else ""


def extra_command(extra: str) -> str:
    """Returns the command that adds an extra to this installation, from where it was installed. Source: PEP 610."""
    record = installed()
    address = record.read_text("direct_url.json")
    name, options = f"{record.name}[{extra}]", []
    if address is None:  # it came from a package index
        target = f"{name}=={record.version}"
    else:
        origin = json.loads(address)
        url, repository = origin["url"], origin.get("vcs_info")
        if origin.get("dir_info", {}).get("editable"):
            options, target = ["--editable"], f"{unquote(urlsplit(url).path)}[{extra}]"
        elif repository:
            target = f"{name} @ {repository['vcs']}+{url}@{repository['commit_id']}"
        else:
            target = f"{name} @ {url}"
    return shlex.join([sys.executable, "-m", "pip", "install", *options, target])
