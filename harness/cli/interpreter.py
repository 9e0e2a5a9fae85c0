"""How fast the Python interpreter is that runs the referee: the time of a small loop, and how it was built."""

from collections.abc import Mapping
from time import perf_counter
from typing import Any

STEPS = 2000
ROUNDS = 20
DEBUG = "a debug build"
NOT_OPTIMISED = "built without profile-guided optimisation"


def slow_build(config: Mapping[str, Any]) -> str | None:
    """Returns why the interpreter's build is slow: `DEBUG` or `NOT_OPTIMISED`; None if it is optimised.

    `config` has the variables of its `sysconfig.get_config_vars()`.
    """
    if config.get("Py_DEBUG"):
        return DEBUG
    # python.org, the official images, Fedora, conda and uv pass this option to configure, which keeps its arguments.
    if "--enable-optimizations" in str(config.get("CONFIG_ARGS")):
        return None
    # `make profile-opt` leaves its flags here. CPython's own tests look for them (test.support.check_cflags_pgo).
    if "-fprofile" in str(config.get("PY_CFLAGS_NODIST")):
        return None
    # Debian and Ubuntu run `make profile-opt` for a second build, and the variables are those of the first, without
    # the option. But debian/rules deletes `-fprofile-use -fprofile-correction` from them, also here, where configure
    # always puts it for gcc. They do so on all architectures, and optimise on amd64, arm64 and most others.
    if "gcc" in str(config.get("CC")) and config.get("PGO_PROF_USE_FLAG") == "":
        return None
    return NOT_OPTIMISED


def ns_per_step() -> float:
    """Returns the time of one step of a small loop, in nanoseconds: the best of a few rounds, 5 ms in all."""
    return min(_loop() for _ in range(ROUNDS)) / STEPS * 1e9


def _loop() -> float:
    """Returns the seconds for `STEPS` steps of arithmetic, branches and a dict, as bytecode of a match is."""
    started = perf_counter()
    table: dict[int, int] = {}
    total = 0
    for number in range(STEPS):
        table[number & 63] = total
        total = (total * 31 + number) & 0xFFFF
        if number & 1:
            total += len(table)
    return perf_counter() - started
