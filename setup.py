"""What pyproject.toml cannot say: starter kits, maps and pages go into the installed package, for `referee new`, bots
of a single source file, `--map` and whoever reads. What was built or fetched in them stays behind."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

DATA = ("starter_kits", "maps", "docs")
"""Folders that lie beside the packages in a checkout, and inside of `referee` when it is installed."""
MADE = {"__pycache__", "build", "dist", "node_modules", "target", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
"""Folders that the tools of the languages make, as in .gitignore."""


def data_files() -> Iterator[Path]:
    """Every file of those folders. Links are not followed: packages of other languages hold some to themselves."""
    for top in DATA:
        for folder, folders, files in os.walk(top):
            folders[:] = sorted(set(folders) - MADE)
            yield from (Path(folder, file) for file in sorted(files) if not Path(folder, file).is_symlink())


def build_viewer() -> None:
    """The page's script, if it is not there and npm is. Without it `referee replay html` says what is missing."""
    if Path("viewer").is_dir() and not Path("harness/web/static/viewer.js").exists() and shutil.which("npm"):
        for step in (["ci", "--ignore-scripts"], ["run", "build"]):
            if subprocess.run(["npm", "--silent", *step], cwd="viewer").returncode != 0:
                return


class BuildWithData(build_py):
    """Also builds the viewer and copies the data."""

    def run(self) -> None:
        if not self.editable_mode:
            build_viewer()
        super().run()
        if self.editable_mode:
            return  # they are where they are
        for file in data_files():
            target = Path(self.build_lib, "referee", file)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)

    def get_source_files(self) -> list[str]:
        """For a source distribution."""
        return [*super().get_source_files(), *map(str, data_files())]


setup(cmdclass={"build_py": BuildWithData})
