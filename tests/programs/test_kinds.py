"""The registry of kinds: another kind of player is one file in a folder of its own, and nothing else."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import referee
from referee import addons
from referee.addons.llm import spec as llm_spec
from referee.addons.mcp.allowed import Allowed
from referee.addons.tournament.execution import worker_messages
from referee.addons.tournament.execution.worker_messages import Contest
from referee.addons.tournament.store.bot_archives import finding
from referee.addons.wasm import runner as wasm_runner
from referee.games import registry
from referee.harness.addons import hooks
from referee.harness.cli.main import main
from referee.harness.common.errors import UsageError
from referee.harness.process.limits import Limits
from referee.harness.programs import kinds
from referee.harness.programs.spec import entrant
from referee.protocol.messages import Encoding

ROOT = Path(__file__).resolve().parent.parent.parent
KIND = """
import sys
from pathlib import Path

from msgspec import Struct

from referee.games.dice import Dice
from referee.harness.addons import hook
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.kinds import Kind


class Leaves(Struct, frozen=True):
    seed: int


class Oracle(Kind):
    name, plural = "oracle", "oracles"
    prefixes = ("oracle:",)
    help = "oracle:NAME (an oracle)"
    rows = (("an oracle", "`oracle:delphi`"),)
    in_series = {in_series}

    def parse(self, spec, game):
        command = (sys.executable, "-m", "referee.harness.opponents.baseline")
        return spec, lambda context: Entrant(spec, command, Path({root!r}))

    def paths(self, spec, game):
        return [Path(spec.removeprefix("oracle:"))]

    def shown(self, command):
        return command[command.index("--temple") + 1 :][:1] if "--temple" in command else []

    def inner(self, command):
        return tuple(command[command.index("--") + 1 :]) if "--temple" in command else ()


class Sibyl(Kind):
    name, plural, place = "sibyl", "sibyls", 1001
    prefixes = ("sibyl:",)
    help = "sibyl:NUMBER (a sibyl)"
    settings = Leaves
    has_process = has_clock = False

    def parse(self, spec, game):
        leaves = Leaves(int(spec.removeprefix("sibyl:")))
        return spec, lambda context: Entrant(spec, (spec,), Path(), "sibyl", leaves)

    def seat(self, entrant):
        from referee.harness.seats.random_seat import RandomSeat

        return RandomSeat(Dice(entrant.settings.seed))


@hook
def kinds():
    return Oracle(), Sibyl()
"""
"""All that two other kinds of players need, as `addons/oracles/addon.py`: one has a program, the other settings."""


def _install(folder: Path, monkeypatch: pytest.MonkeyPatch, in_series: bool) -> None:
    (folder / "oracles").mkdir()
    (folder / "oracles" / "addon.py").write_text(KIND.format(in_series=in_series, root=str(ROOT)))
    monkeypatch.setattr(addons, "__path__", [*addons.__path__, str(folder)])
    forget()


def forget() -> None:
    for known in (hooks, kinds.all_kinds, kinds.called):
        known.cache_clear()


@pytest.fixture
def fresh_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield
    for name in [name for name in sys.modules if name.startswith("referee.addons.oracles")]:
        del sys.modules[name]
    forget()


@pytest.fixture
def oracles(fresh_registry: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    _install(tmp_path, monkeypatch, in_series=True)
    return tmp_path


def test_names_and_places_of_kinds_differ() -> None:
    found = kinds.all_kinds()
    assert len({kind.name for kind in found}) == len({kind.place for kind in found}) == len(found)


def test_another_kind_plays_a_match(oracles: Path) -> None:
    verdict = referee.play("tictactoe", ["oracle:delphi", "Pythia=oracle:dodona"], seed=1)
    assert [seat.name for seat in verdict.seats] == ["oracle:delphi", "Pythia"]
    assert verdict.faults == ()


def test_another_kind_plays_without_a_process_and_with_settings_of_its_own(oracles: Path) -> None:
    games = [referee.play("tictactoe", [f"sibyl:{seed}", "sibyl:9"], seed=1) for seed in (1, 1, 2)]
    results = [(game.turns, game.result.ranks) for game in games]
    assert results[0] == results[1]
    assert all(seat.cpu_s == 0 for game in games for seat in game.seats)


def test_settings_reach_a_worker_as_they_were(oracles: Path) -> None:
    specs = {"a": "sibyl:7", "b": "llm:--rethinks 5 --price 1/2 model", "c": "@random", "d": "@C_AI_X_FIRST"}
    bots = {ident: entrant(spec, "tictactoe") for ident, spec in specs.items()}
    game = registry.game("tictactoe")
    contest = Contest(game.name, {}, game.time, Limits(), (Encoding.JSON,), bots)
    received = worker_messages.order(worker_messages.encode(contest))
    assert received == contest
    assert isinstance(received, Contest)
    assert {ident: hash(bot) for ident, bot in received.bots.items()} == {
        ident: hash(bot) for ident, bot in bots.items()
    }


@pytest.mark.parametrize("runner", [wasm_runner.RUNNER, str(llm_spec.RUNNER)])
def test_a_submission_chooses_neither_its_kind_nor_settings(tmp_path: Path, runner: str) -> None:
    command = [Path(sys.executable).name, "-P", runner, "http://example.com"]
    (tmp_path / "bot.toml").write_text(f"run = {command}\nname = 'mine'\n")
    bot = entrant(str(tmp_path), "tictactoe")
    assert (bot.kind, bot.settings) == ("program", None)


@pytest.mark.parametrize("member", ["kind = 'language model'", "settings = {model = 'm', url = 'http://a'}"])
def test_a_bot_toml_has_no_kind_and_no_settings(tmp_path: Path, member: str) -> None:
    (tmp_path / "bot.toml").write_text(f"run = ['sh']\n{member}\n")
    with pytest.raises(UsageError, match="there is no key"):
        entrant(str(tmp_path), "tictactoe")


@pytest.mark.slow
def test_another_kind_is_in_the_help(oracles: Path) -> None:
    code = (
        "import sys; from referee import addons; addons.__path__.append(sys.argv[1]); "
        "from referee.harness.cli.main import main; sys.exit(main(['play', '--help']))"
    )
    command = [sys.executable, "-c", code, str(oracles)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, timeout=60)
    assert "oracle:NAME (an oracle)" in " ".join(done.stdout.replace("│", " ").split())


def test_another_kind_is_in_the_table(oracles: Path) -> None:
    assert "| an oracle | `oracle:delphi` |" in list(kinds.table(""))


def test_another_kind_is_refused_to_clients(oracles: Path) -> None:
    with pytest.raises(UsageError, match="oracle:delphi: expected @NAME or a path"):
        Allowed(oracles).bot("oracle:delphi")


def test_another_kind_for_single_matches_only_is_refused_elsewhere(
    fresh_registry: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _install(tmp_path, monkeypatch, in_series=False)
    assert main(("check", "oracle:delphi", "--game", "tictactoe")) == 2
    assert "oracles play single matches only" in capsys.readouterr().err


def test_a_tournament_knows_another_version_of_a_kind_by_the_files_that_it_names(oracles: Path) -> None:
    def version(words: str) -> str:
        (oracles / "words").write_text(words)
        with finding([f"oracle:{oracles / 'words'}"], "tictactoe") as (found,):
            return found.entry.hash

    assert version("yes") == version("yes") != version("no")


def test_what_a_command_of_another_kind_shows_and_runs_is_known(oracles: Path) -> None:
    assert kinds.shown(("oracle", "--temple", "/delphi")) == ("/delphi",)
    assert kinds.shown(("oracle", "/delphi")) == ()
    assert kinds.inner(("oracle", "--temple", "/delphi", "--", "java")) == ("java",)
    assert kinds.inner(("oracle", "--", "java")) == ()
