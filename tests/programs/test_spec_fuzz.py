"""Any text as a bot spec: it names a bot, or the error is a line for the user."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from referee.addons.engines import spec as engine_spec
from referee.addons.kaggle import spec as kaggle_spec
from referee.addons.llm import spec as llm_spec
from referee.addons.originals import spec as original_spec
from referee.harness.common.errors import RunError, UsageError
from referee.harness.programs.adapter_options import split
from referee.harness.programs.kinds import prefixes
from referee.harness.programs.spec import entrants

pytestmark = pytest.mark.slow

OPTIONS = sorted({*engine_spec.VALUED, *kaggle_spec.OPTIONS, *llm_spec.OPTIONS, *original_spec.OPTIONS})
PARTS = ["'", '"', "\\", " ", "=", "a", "bot.py", "1", "-", "~", "~nobody/", "/", "..", "\0", "\n", "é", "\udc80", "#"]
PARTS += [f"{option} " for option in OPTIONS] + ["9" * 5000, "x" * 5000, "nan", "1e999", "http://[", "@", ":"]
GAMES = {"kaggle:": "connectfour", "original:": "reantics", "http:": "tictactoe", "https:": "tictactoe"}
"""What bots with these prefixes play."""
GAMES |= dict.fromkeys(engine_spec.PREFIXES, "openspiel:chess")


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A current folder with a bot and other files."""
    with contextlib.chdir(tmp_path_factory.mktemp("bots")):
        Path("bot.py").write_text("def agent(observation, configuration):\n    return 0\n")
        Path("a").mkdir()
        os.mkfifo("pipe.py")
        yield


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@example("uci:", ["--option ", "Skill\\ Level=0 stockfish"])
@example("llm:", ["--key-from ", "A\\ B m"])
@example("llm:", ["--url ", '"x m'])
@example("kaggle:", ["--python ", "'x y sub.py"])
@example("", ["\0", "~nobody/"])
@given(st.sampled_from([*prefixes(), "", "name="]), st.lists(st.sampled_from(PARTS), max_size=8))
def test_every_text_is_a_bot_or_a_line_for_the_user(prefix: str, parts: list[str]) -> None:
    try:
        entrants([prefix + "".join(parts)], GAMES.get(prefix, "connectfour"), people=True)
    except (UsageError, RunError) as error:
        assert str(error)


@pytest.mark.parametrize(
    ("text", "value", "rest"),
    [
        (r"--option Skill\ Level=0 stockfish", "Skill Level=0", "stockfish"),
        ("--option 'Skill Level'=0 stockfish", "Skill Level=0", "stockfish"),
        ('--option "Skill \\"Level" stockfish', 'Skill "Level', "stockfish"),
        ("--option '' stockfish", "", "stockfish"),
        ("--option=a  stock fish ", "a", "stock fish"),
    ],
)
def test_the_value_of_an_option_is_a_word_of_a_shell(text: str, value: str, rest: str) -> None:
    assert split(text, {"--option": True}, text) == ({"--option": value}, rest)


@pytest.mark.parametrize("text", ["--option 'a b", '--option "a', "--option a'b", "--option a\\", "--option"])
def test_a_value_without_an_end_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="--option"):
        split(text, {"--option": True}, text)


@pytest.mark.parametrize("source", ["(" * 100_000, "-" * 500_000 + "1", "x = " + "[" * 2000, "\0", "a" * (5 << 20)])
@pytest.mark.parametrize("game", ["reantics", "connectfour", "aiarena21"])
def test_a_hostile_source_is_of_no_original_competition(tmp_path: Path, game: str, source: str) -> None:
    file = tmp_path / "bot.py"
    file.write_text(source)
    (bot,) = entrants([str(file)], game)
    assert str(file) in bot.argv and "addons" not in " ".join(bot.argv)
