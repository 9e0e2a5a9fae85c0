"""Virtual environments that borrow our packages, so that a tree is installed into them without a network."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path


def environment(at: Path, *install: str | Path) -> Path:
    """Makes an environment, lets pip install the referee that these arguments name, and returns its Python."""
    venv.create(at, symlinks=True)
    (site,) = at.glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    python = at / "bin" / "python"
    if install:
        pip: list[str | Path] = [
            sys.executable,
            "-m",
            "pip",
            "--quiet",
            "--disable-pip-version-check",
            "--python",
            python,
        ]
        options = ["--no-deps", "--no-index", "--no-build-isolation", "--ignore-installed"]  # ours is borrowed, too
        subprocess.run([*pip, "install", *options, *install], cwd=at, check=True, timeout=250)
    return python
