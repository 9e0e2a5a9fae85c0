"""The rules half of the kits: every one answers as protocol/vectors/rules says, in both encodings."""

import sys

import pytest
from kits import built, need
from rules_conformance import run_rules_vectors

from referee.protocol.messages import Encoding

COUNTDOWN = {
    "cpp": ("{}/build/countdown",),
    "java": ("java", "@{}/java.args", "-cp", "{}/target/referee-kit.jar", "Countdown"),
    "javascript": ("node", "{}/dist/countdown.js"),
    "python": (sys.executable, "{}/countdown.py"),
}
"""The command of each kit's `countdown`."""


@pytest.mark.parametrize("spoken", Encoding)
@pytest.mark.parametrize("kit", COUNTDOWN)
def test_countdown_answers_as_the_vectors_say(kit: str, spoken: Encoding) -> None:
    need(kit)
    command = [word.format(built(kit)) for word in COUNTDOWN[kit]]
    assert run_rules_vectors(command, spoken) == []
