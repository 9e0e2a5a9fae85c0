"""The benchmark of metered programs runs, nightly. People judge its figures."""

import json
import subprocess
import sys

import pytest
from needs import needs

from referee.benchmarks.metered import table


@pytest.mark.nightly
@needs("gcc")
def test_a_metered_bot_is_compared_with_a_native_one() -> None:
    command = [sys.executable, "-m", "referee.benchmarks.metered", "--json", "--steps", "20000"]
    figures = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    assert figures["calls"].keys() == figures["start_ms"].keys() == {"native", "metered"}
    assert isinstance(figures["memory_bound"], float)  # of 20,000 steps it is noise
    assert "| an instant call | " in table(figures)
