"""What pyproject.toml cannot say: the starter kits lie beside the packages, and go where these go, for `referee new`
and for bots of a single source file. What was built or fetched in them stays behind."""

import os
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

KITS = Path("starter_kits")
MADE = {"__pycache__", "build", "dist", "node_modules", "target", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
"""Folders that the tools of the languages make, as in .gitignore."""


def kit_files() -> list[Path]:
    """Every file of the kits. Links are not followed: packages of other languages hold some to themselves."""
    found = []
    for folder, folders, files in os.walk(KITS):
        folders[:] = sorted(set(folders) - MADE)
        found += [Path(folder, file) for file in sorted(files)]
    return [file for file in found if not file.is_symlink()]


class BuildWithKits(build_py):
    """Also copies the kits, beside the packages."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return  # they are where they are
        for file in kit_files():
            target = Path(self.build_lib, file)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)

    def get_source_files(self) -> list[str]:
        """For a source distribution."""
        return [*super().get_source_files(), *map(str, kit_files())]


setup(cmdclass={"build_py": BuildWithKits})
