"""Makes a copy of the tree without one add-on: without its folder, its tests, and the add-ons that need it.

A test, a benchmark or a tool that imports the add-on is one of its own, wherever it stands. So is a test that plays one
of its games or bots by name, as in "openspiel:chess", unless it looks which of the ADDONS there are.

python tests/support/pulled_out.py kaggle /tmp/without-kaggle
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from referee.tools.changed_addons import needing
from referee.tools.generated import ROOT


def pull_out(addon: str, folder: Path) -> set[str]:
    """Copies what git tracks to a new folder, without the add-on. Returns the names of the add-ons that went."""
    gone = needing(addon)
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [name for name in tracked.split("\0") if name and (ROOT / name).exists()]
    lost = {name for name in files if _belongs(name, gone)}
    while more := {name for name in files if name not in lost and _imports(name, lost)}:
        lost |= more
    for name in files:
        if name not in lost:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    settings = folder / "pyproject.toml"
    text = without(settings.read_text(), gone)
    for module in re.findall(r'"referee\.(\w+)"', text):
        if (ROOT / "referee" / f"{module}.py").exists() and not (folder / "referee" / f"{module}.py").exists():
            text = re.sub(rf', "referee\.{module}"', "", text)  # it is checked by itself
    settings.write_text(text)
    return gone


def _belongs(name: str, gone: set[str]) -> bool:
    top, *inside = Path(name).parts
    if (top == "addons" or name.startswith("tests/addons/")) and gone & {*inside[:2]}:
        return True
    if not name.endswith(".py") or top in ("addons", "harness", "games", "protocol"):
        return False
    text = (ROOT / name).read_text("utf-8")
    names = "|".join(gone)
    plays = top == "tests" and "ADDONS" not in text and re.search(rf'"({names}):\w', text)
    return bool(plays or re.search(rf"\breferee\.addons\.({names})\b", text))


def _imports(name: str, lost: set[str]) -> bool:
    """Returns whether a file of the tests imports another one that is lost."""
    modules = "|".join(Path(each).stem for each in lost if each.startswith("tests/") and each.endswith(".py"))
    if not modules or not (name.startswith("tests/") and name.endswith(".py")):
        return False
    return re.search(rf"(?m)^(from|import) ({modules})\b", (ROOT / name).read_text("utf-8")) is not None


def without(settings: str, gone: set[str]) -> str:
    """Returns `pyproject.toml` without what names an add-on that went."""
    names = "|".join(sorted(gone))
    blocks = re.split(r"(?m)^(?=\[)", settings)
    inside = re.compile(rf'(containers|source_modules) = \["referee\.addons\.({names})[".]')
    text = "".join(block for block in blocks if not inside.search(block))
    text = re.sub(rf'(?m)^.*"referee\.addons\.({names})[.":].*= .*\n', "", text)  # data of packages
    text = re.sub(rf'(?m)^\w+ = "referee\.addons\.({names})\b.*\n', "", text)  # entry points
    text = re.sub(rf'(?m)^ *"referee\.addons\.({names})[^"]*",?\n', "", text)  # a line of a list
    text = re.sub(rf'"referee\.addons\.({names})(\.[^"]*)?", ?', "", text)
    text = re.sub(rf', "referee\.addons\.({names})(\.[^"]*)?"', "", text)
    return _layers(text, gone)


def _layers(text: str, gone: set[str]) -> str:
    """Returns the text without the add-ons in the layers of add-ons."""
    before, head, after = text.partition('containers = ["referee.addons"]\nlayers = [\n')
    listed, end, rest = after.partition("]\n")
    lines = [[name for name in re.findall(r"\w+", line) if name not in gone] for line in listed.splitlines()]
    return before + head + "".join(f'    "{" | ".join(line)}",\n' for line in lines if line) + end + rest


if __name__ == "__main__":
    print(*sorted(pull_out(sys.argv[1], Path(sys.argv[2]))))
