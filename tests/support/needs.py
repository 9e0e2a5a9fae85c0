"""Skips tests that need a toolchain, program or library which this machine lacks, with a reason that can be checked."""

import os
import re
import subprocess
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec

import pytest

from referee.harness.common.paths import KITS
from referee.tools.changed_addons import ADDONS
from referee.tools.toolchains import CORE, TOOLCHAINS, missing, works

LACKING = "missing on this machine: "
ROOT = "root"
"""Stands for what the kernel gives to root alone, as most control groups. A run of an ordinary account does without."""


@cache
def _has_crates() -> bool:
    """Returns whether cargo has the Rust kit's crates, or can fetch them. An old cargo asks GitHub for the index."""
    fetch = ["cargo", "fetch", "--quiet", "--locked", "--manifest-path", str(KITS / "rust" / "Cargo.toml")]
    return any(subprocess.run([*fetch, *more], capture_output=True).returncode == 0 for more in (["--offline"], []))


def lacks(name: str) -> bool:
    """Returns whether this machine lacks a toolchain of `make test`, or a program or Python library of that name."""
    if name == ROOT:
        return os.geteuid() != 0
    if name in TOOLCHAINS:
        return bool(missing(name, tests=True)) or (name.startswith("rust") and not _has_crates())
    return not works(name) and (not name.isidentifier() or find_spec(name) is None)


def lacking(names: Iterable[str]) -> str:
    """Returns the reason to skip a test that needs all of these; empty if there is none."""
    found = [name for name in names if lacks(name)]
    return f"{LACKING}{', '.join(found)}" if found else ""


def needs(*names: str) -> pytest.MarkDecorator:
    """Marks a test that needs toolchains or programs."""
    reason = lacking(names)
    return pytest.mark.skipif(bool(reason), reason=reason)


def needs_addon(name: str) -> pytest.MarkDecorator:
    """Marks a test, or one of its parameters, that needs an add-on. It may have been pulled out."""
    return pytest.mark.skipif(name not in ADDONS, reason=f"without the add-on {name}")


def skip_without(*names: str) -> None:
    """Skips the running test if this machine lacks one of these."""
    if reason := lacking(names):
        pytest.skip(reason)


def for_root(reason: str) -> str:
    """Returns the reason to skip a test of what root has and other accounts mostly lack."""
    return f"{reason}; {LACKING}{ROOT}" if lacks(ROOT) else reason


def named_in(reason: str) -> list[str]:
    """Returns what a reason says is missing, if this machine indeed lacks all of it and a run may do without."""
    found = re.search(f"{LACKING}(.*)", reason)
    names = found[1].split(", ") if found else []
    return names if all(lacks(name) for name in names) and not set(names) & {*CORE, "gcc", "cc"} else []
