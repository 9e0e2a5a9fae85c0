"""The page with the costs of models: true, and its table for any price."""

import re
import subprocess
import sys

import pytest

from referee.tools import model_costs
from referee.tools.generated import ROOT

pytestmark = pytest.mark.slow


FIGURE = re.compile(r"\d[\d,.]*")
NEAR = 0.05
"""A change of a few words in the rules leaves the page true."""


def test_the_page_has_the_figures_of_todays_prompts() -> None:
    for path, text in model_costs.page_files().items():
        written = (ROOT / path).read_text("utf-8")
        assert FIGURE.sub("0", written) == FIGURE.sub("0", text), "make it again: python -m referee.tools.model_costs"
        for old, new in zip(FIGURE.findall(written), FIGURE.findall(text), strict=True):
            assert _number(old) == pytest.approx(_number(new), NEAR, 0.001), "make the page again"


def _number(text: str) -> float:
    return float(text.replace(",", "").rstrip("."))


def test_a_price_that_is_none_is_explained_in_a_line() -> None:
    command = [sys.executable, "-m", "referee.tools.model_costs", "--price", "much"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "expected dollars for a million tokens" in done.stderr and done.stderr.count("\n") == 1
