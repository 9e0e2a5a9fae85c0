"""The sandbox launcher in C and the one in Python take the same steps, which the comment in C documents."""

import inspect
import re

from referee.harness.isolation import launcher_build
from referee.harness.isolation.launcher import Launcher

SOURCE = launcher_build.SOURCE.read_text("utf-8")
STEPS = {name: int(count) for name, count in re.findall(r"STEP\((\w+), (\d)\)", SOURCE)}
OTHERS = {"report", "run_init"}
"""Methods that are no steps."""


def test_the_launcher_in_python_takes_the_steps_of_the_one_in_c() -> None:
    methods = inspect.getmembers(Launcher, inspect.isfunction)
    steps = {name: each.__code__.co_argcount - 1 for name, each in methods if not name.startswith("_")}
    assert steps.keys() >= OTHERS and len(STEPS) > 25
    assert {name: count for name, count in steps.items() if name not in OTHERS} == STEPS


def test_the_comment_documents_every_step() -> None:
    lines = re.findall(r"^ \*     ([a-z_]+)((?: [A-Z_]+)*)(?:  |\n)", SOURCE, re.MULTILINE)
    assert {name: len(arguments.split()) for name, arguments in lines} == STEPS
