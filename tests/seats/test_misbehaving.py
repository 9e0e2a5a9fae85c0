"""Every bot of `bots/` gets its verdict and harms nobody, under this account and an unprivileged one.

What must hold after each match is one list, `misbehaving.conditions`.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import misbehaving
import msgspec
import pytest
from accounts import ACCOUNTS, ORDINARY, ordinary_python, shared_cache
from misbehaving import FAMILIES, MATCHES, programs

from referee.harness.common.paths import HOME

pytestmark = pytest.mark.slow

SCRIPT = Path(misbehaving.__file__)


@contextmanager
def place(account: int | None) -> Iterator[Path]:
    """Returns a folder of that account, which others may traverse."""
    folder = Path(tempfile.mkdtemp(prefix="referee-misbehaving-", dir="/tmp"))
    try:
        folder.chmod(0o755)
        if account is not None:
            os.chown(folder, account, account)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def command(account: int | None, cache: str) -> tuple[list[str], dict[str, str]]:
    """Returns the command that runs a script as that account, and its environment."""
    packages = os.path.dirname(os.path.dirname(msgspec.__file__))
    path = os.pathsep.join([str(HOME), packages, str(SCRIPT.parent)])
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    if account is None:
        return [sys.executable, str(SCRIPT)], environment | {"HOME": os.environ.get("HOME", "/")}
    drop = ["setpriv", f"--reuid={account}", f"--regid={account}", "--clear-groups"]
    environment |= {"PATH": os.defpath, "HOME": f"/nonexistent-{account}", "XDG_CACHE_HOME": cache}
    return [*drop, ordinary_python(), str(SCRIPT)], environment


@pytest.mark.parametrize("account", ACCOUNTS, ids=["this account", "an ordinary account"][: len(ACCOUNTS)])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_misbehaving_bot_gets_its_verdict_and_harms_nobody(account: int | None, family: str) -> None:
    """Plays twenty or more matches in one process, while another plays honest matches under the same account."""
    with shared_cache() as cache, place(account) as folder:
        line, environment = command(account, cache)
        honest = subprocess.Popen(
            [*line, str(folder / "honest"), "honest"],
            env=environment,
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        try:
            done = subprocess.run(
                [*line, str(folder), family], env=environment, cwd="/", capture_output=True, text=True, timeout=250
            )
            others = json.loads(honest.communicate(timeout=60)[0])
        finally:
            honest.kill()
            honest.wait()
    told = [json.loads(text) for text in done.stdout.splitlines()]
    assert done.stderr == "", "nothing of a bot's and no trace of ours gets there"
    assert done.returncode == 0
    broken = {each["name"]: each["broken"] for each in told if each.get("broken")}
    assert broken == {}
    assert others["faults"] == [], "7: another match did not notice"
    assert others["matches"] > 0
    played = [each["name"] for each in told if "took_s" in each]
    skipped = {each["name"]: each["skipped"] for each in told if "skipped" in each}
    assert {*played, *skipped} == {program.name for program in programs(family)}
    assert len(played) >= MATCHES
    if skipped:
        pytest.skip("; ".join(f"{name}: {why}" for name, why in skipped.items()))


def test_no_misbehaving_bot_is_without_a_verdict() -> None:
    """And names are unique."""
    names = [program.name for family in FAMILIES for program in programs(family)]
    assert len(names) == len(set(names))
    assert os.geteuid() != ORDINARY
    for family in FAMILIES:
        for program in programs(family):
            assert program.wanted.kinds or program.wanted.wins, f"{family}/{program.name} says what it must get"
