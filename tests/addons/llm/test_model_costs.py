"""The page with the costs of models: true, and its table for any price."""

import re
from types import SimpleNamespace

import pytest

from referee.games import registry
from referee.tools import model_costs
from referee.tools.generated import ROOT

pytestmark = pytest.mark.slow


FIGURE = re.compile(r"\d[\d,.]*")
NEAR = 0.05
"""A change of a few words in the rules leaves the page true."""


DEAR = pytest.param(tuple(registry.own_names()), id="all", marks=pytest.mark.nightly)


@pytest.mark.parametrize("names", [pytest.param(("cardgame", "connectfour", "tictactoe"), id="quick"), DEAR])
def test_the_page_has_the_figures_of_todays_prompts(names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_costs, "registry", SimpleNamespace(own_names=lambda: names, game=registry.game))
    ((path, text),) = model_costs.page_files().items()
    page = (ROOT / path).read_text("utf-8").splitlines()
    written = {FIGURE.sub("0", line): line for line in page}
    assert len(page) == len(text.splitlines()) + len(registry.own_names()) - len(names)
    for line in text.splitlines():
        assert FIGURE.sub("0", line) in written, "make it again: python -m referee.tools.model_costs"
        for old, new in zip(FIGURE.findall(written[FIGURE.sub("0", line)]), FIGURE.findall(line), strict=True):
            assert _number(old) == pytest.approx(_number(new), NEAR, 0.001), "make the page again"


def _number(text: str) -> float:
    return float(text.replace(",", "").rstrip("."))


def test_a_price_that_is_none_is_explained_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert model_costs.main(["--price", "much"]) == 2
    error = capsys.readouterr().err
    assert "expected dollars for a million tokens" in error and error.count("\n") == 1
