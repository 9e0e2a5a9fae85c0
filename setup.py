"""Lists the packages, and copies starter kits, maps and pages into the installed one: `pyproject.toml` cannot.

The folders at the top are mapped to packages of `referee`. The links in `referee/` are for editors and type checkers: a
clone by Git on Windows, or an archive that was unpacked without links, has none.

`referee new`, bots of one source file and `--map` need the copied files. Built and fetched files are left out.
"""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

CODE = ("protocol", "games", "harness", "addons", "tools")
"""Folders with code."""
DATA = ("starter_kits", "maps", "docs")
"""Folders that are next to the packages in a checkout, and inside `referee` in an installation."""
MADE = {"__pycache__", "build", "dist", "node_modules", "target", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
"""Folders that build tools create, as in .gitignore."""


def data_files(tops: Iterable[str] = DATA) -> Iterator[Path]:
    """Yields every file of the folders. Skips links: packages of other languages contain links to themselves."""
    for top in tops:
        for folder, folders, files in os.walk(top):
            folders[:] = sorted(set(folders) - MADE)
            yield from (Path(folder, file) for file in sorted(files) if not Path(folder, file).is_symlink())


def build_viewer() -> None:
    """Builds the viewer if npm is installed. Without the viewer, `referee replay html` says what is missing."""
    if Path("addons/web/static/viewer.js").exists() or not Path("viewer").is_dir():
        return
    if not shutil.which("npm"):
        print("the viewer is left out: npm is not installed")
        return
    for step in (["ci", "--ignore-scripts"], ["run", "build"]):
        if subprocess.run(["npm", "--silent", *step], cwd="viewer").returncode != 0:
            print("the viewer is left out: npm could not build it")
            return


def build_launcher(folder: Path) -> None:
    """Compiles the sandbox launcher, if that can be linked for every Linux on this processor."""
    program = folder / f"launcher-{platform.machine()}"  # as `launcher_build.SHIPPED`
    source = "harness/isolation/launcher.c"
    command = ["cc", "-std=c11", "-O2", "-static", "-s", "-o", str(program), source]
    if (
        sys.platform != "linux"
        or not shutil.which("cc")
        or subprocess.run(command, capture_output=True).returncode != 0
    ):
        print("the compiled sandbox launcher is left out: no C compiler that links static programs for Linux")


MANUAL = "docs/referee.1"


def build_manual() -> list[str]:
    """Writes the man page, unless it is there. Returns it if it is.

    An isolated build lacks the referee's dependencies, and leaves it out. `make setup` writes it before.
    """
    if not Path(MANUAL).exists() and Path("tools", "manual.py").exists():
        made = subprocess.run([sys.executable, "-m", "referee.tools.manual"], capture_output=True)
        if made.returncode != 0:
            print("the man page is left out: the referee's dependencies are not installed; `make setup` writes it")
    return [MANUAL] if Path(MANUAL).exists() else []


class BuildWithData(build_py):
    """Also builds the viewer and copies the data."""

    def run(self) -> None:
        if not self.editable_mode:
            build_viewer()
            shutil.rmtree(Path(self.build_lib, "referee"), ignore_errors=True)  # of an earlier installation
        super().run()
        if self.editable_mode:
            return  # an editable installation uses the files in place
        for file in data_files():
            target = Path(self.build_lib, "referee", file)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
        build_launcher(Path(self.build_lib, "referee", "harness", "isolation"))

    def get_source_files(self) -> list[str]:
        """Adds the viewer's sources to a source distribution, so that npm can build it later."""
        return [*super().get_source_files(), *map(str, data_files([*DATA, "viewer"]))]


class SourceWithViewer(sdist):
    """Includes the built viewer, so that an installation needs no npm."""

    def run(self) -> None:
        build_viewer()
        super().run()


packed = {"bdist_wheel", "sdist"} & set(sys.argv)
setup(
    packages=[
        "referee",
        *(f"referee.{name}" for top in CODE for name in (top, *(f"{top}.{sub}" for sub in find_packages(top)))),
    ],
    package_dir={f"referee.{top}": top for top in CODE},
    cmdclass={"build_py": BuildWithData, "sdist": SourceWithViewer},
    data_files=[("share/man/man1", build_manual())] if packed else [],
)
