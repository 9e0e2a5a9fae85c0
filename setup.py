"""What pyproject.toml cannot say: starter kits, maps and pages go into the installed package, for `referee new`, bots
of a single source file, `--map` and whoever reads. What was built or fetched in them stays behind."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

DATA = ("starter_kits", "maps", "docs")
"""Folders that lie beside the packages in a checkout, and inside of `referee` when it is installed."""
MADE = {"__pycache__", "build", "dist", "node_modules", "target", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
"""Folders that the tools of the languages make, as in .gitignore."""


def data_files(tops: Iterable[str] = DATA) -> Iterator[Path]:
    """Every file of those folders. Links are not followed: packages of other languages hold some to themselves."""
    for top in tops:
        for folder, folders, files in os.walk(top):
            folders[:] = sorted(set(folders) - MADE)
            yield from (Path(folder, file) for file in sorted(files) if not Path(folder, file).is_symlink())


def build_viewer() -> None:
    """The page's script, if it is not there and npm is. Without it `referee replay html` says what is missing."""
    if Path("harness/web/static/viewer.js").exists() or not Path("viewer").is_dir():
        return
    if not shutil.which("npm"):
        print("the page that shows matches is left out: npm is not there to build it")
        return
    for step in (["ci", "--ignore-scripts"], ["run", "build"]):
        if subprocess.run(["npm", "--silent", *step], cwd="viewer").returncode != 0:
            print("the page that shows matches is left out: npm cannot build it")
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
        """For a source distribution: the viewer's sources too, for whoever has npm where it was built without."""
        return [*super().get_source_files(), *map(str, data_files([*DATA, "viewer"]))]


class SourceWithViewer(sdist):
    """Holds the built page, which whoever installs it needs no npm for."""

    def run(self) -> None:
        build_viewer()
        super().run()


setup(cmdclass={"build_py": BuildWithData, "sdist": SourceWithViewer})
