"""The C++ starter kit: what CONTRACT.md asks of every kit, the example bots, bots of a single file, and the
benchmark's own bots, which share no line with the kit."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from driving import Bot, Cheat, Passive, Rival, play

from games import reantics, tictactoe
from games.api import Game, State
from protocol.messages import Encoding, ErrorObject
from tools.toolchains import missing

sys.path.append(str(Path(__file__).parents[1] / "protocol"))
from conformance import dialogue, dialogue_names, is_for, run_dialogue

ROOT = Path(__file__).parents[2]
KIT = ROOT / "starter_kits" / "cpp"
BUILD = KIT / "build"

MISSING = missing("cpp")
pytestmark = pytest.mark.skipif(
    bool(MISSING) and "CI" not in os.environ, reason=f"the C++ kit needs {', '.join(MISSING)}"
)


@pytest.fixture(scope="module", autouse=True)
def kit() -> None:
    subprocess.run(["cmake", "-S", KIT, "-B", BUILD, "-DCMAKE_BUILD_TYPE=Release"], check=True, timeout=60)
    for target in ("all", "kit_test"):
        subprocess.run(["cmake", "--build", BUILD, "--target", target, "-j2"], check=True, timeout=280)


@pytest.fixture(params=list(Encoding))
def encoding(request: pytest.FixtureRequest) -> Encoding:
    return Encoding(request.param)


def compiled(source: Path, *flags: str | Path) -> Path:
    """The program of one source file, which must compile without a warning."""
    program = source.with_suffix("")
    warnings = ("-Wall", "-Wextra", "-Werror")
    subprocess.run(["g++", "-std=c++17", *warnings, *flags, "-o", program, source], check=True, timeout=120)
    return program


def written(folder: Path, text: str) -> Path:
    """The program of a bot that is one file of this text."""
    source = folder / "bot.cpp"
    source.write_text(text, "utf-8")
    return compiled(source, "-I", KIT / "include")


def rank(state: State, seat: int) -> int:
    assert state.result is not None
    return state.result.ranks[seat]


@pytest.mark.parametrize("name", dialogue_names())
def test_the_kit_holds_every_dialogue(name: str, encoding: Encoding) -> None:
    if is_for(dialogue(name), encoding):
        assert run_dialogue([BUILD / "conformance"], dialogue(name), encoding) == []


def test_the_librarys_own_checks_hold() -> None:
    done = subprocess.run([BUILD / "kit_test"], stderr=subprocess.PIPE, text=True, timeout=20)
    assert (done.returncode, done.stderr) == (0, "")


ODD = """
#include <iostream>
#include <random>
#include <referee/wire.hpp>

const bool early = [] { std::cout << "before main" << std::endl; return true; }();
int lives = 0;

struct Odd : referee::Bot {
    static constexpr const char* game = "odd";
    std::mt19937_64 luck{match.seed};

    Odd() { if (match.seat == 7) throw std::runtime_error("no seat 7"); ++lives; }
    ~Odd() { --lives; }

    referee::Json answer(const std::string& method, const referee::Json& params) override {
        if (method == "match") {
            return {match.game, match.seat, match.names, match.seed, match.limits.startup_ms, match.limits.call_ms};
        }
        if (method == "luck") return luck();
        if (method == "bytes") return "a\\xff" "b";
        if (method == "badWords") throw std::runtime_error("\\xff");
        if (method == "number") throw 5;
        if (method == "stdin") return std::cin.get();
        if (method == "lives") return lives;
        if (method == "child") return std::system("echo from a child");
        return Bot::answer(method, params);
    }

    void notice(const std::string& method, const referee::Json&) override { throw std::runtime_error("in " + method); }
};

int main() {
    std::printf("in main\\n");
    return referee::run<Odd>("Odd", "2.1");
}
"""


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("odd"), ODD)


def test_a_bot_in_trouble_goes_on_serving(odd: Path, encoding: Encoding, tmp_path: Path) -> None:
    with Bot([odd], encoding, tmp_path / "log") as bot:
        hello = bot.initialize("odd", seat=1, seed=2**64 - 1)
        assert (hello.name, hello.version, hello.encoding, hello.reuse) == ("Odd", "2.1", encoding, True)
        assert bot.call("match") == ["odd", 1, ["a", "b"], 2**64 - 1, 10_000, None]
        assert bot.call("bytes") == "a\ufffdb"
        assert bot.call("badWords") == ErrorObject(-32000, "\ufffd")
        assert bot.call("number") == ErrorObject(-32000, "threw something that is no std::exception")
        assert bot.call("surprise") == ErrorObject(-32601, "unknown method surprise")
        bot.notify("trouble", {})
        assert bot.call("stdin") == -1  # the frames are not the bot's to read
        assert bot.call("child") == 0
        assert bot.exit() == 0
        log = bot.log.read_text("utf-8", "replace").splitlines()
    assert log[:2] == ["before main", "in main"]
    assert "trouble: in trouble" in log
    assert "from a child" in log


def test_each_match_has_a_fresh_bot_and_the_seed_repeats_its_luck(
    odd: Path, encoding: Encoding, tmp_path: Path
) -> None:
    with Bot([odd], encoding, tmp_path / "log") as bot:
        draws = []
        for seed in (7, 7, 8):
            assert bot.initialize("odd", seed=seed).encoding is encoding
            draws.append(bot.call("luck"))
            assert bot.call("lives") == 1
    assert draws[0] == draws[1] != draws[2]


def test_a_match_that_a_bot_cannot_play_is_refused(odd: Path, encoding: Encoding, tmp_path: Path) -> None:
    for seat, game, words in (
        (0, "quoridor", "this bot plays odd, not quoridor"),
        (7, "odd", "no seat 7"),
    ):
        with Bot([odd], encoding, tmp_path / "log") as bot:
            assert bot.initialize(game, seat) == ErrorObject(-32000, words)


def test_forager_wins_by_food_from_both_seats_when_it_is_let_alone(encoding: Encoding, tmp_path: Path) -> None:
    options = reantics.Options(draw_after=200)
    with Bot([BUILD / "reantics_bot"], encoding, tmp_path / "log") as bot:
        for seats in ((bot, Passive()), (Passive(), bot)):
            state = play(reantics.GAME, seats, 5, options)
            assert (rank(state, seats.index(bot)), state.result and state.result.reason) == (1, "food_goal")


@pytest.mark.parametrize(
    "options",
    [
        reantics.Options(),
        reantics.Options(worker_health=2, board=False),
        reantics.Options(random_layout=(True, True)),
    ],
)
def test_forager_beats_random_play(options: reantics.Options, tmp_path: Path) -> None:
    with Bot([BUILD / "reantics_bot"], Encoding.MSGPACK, tmp_path / "log") as bot:
        for seed in range(20):
            seats = (bot, Rival()) if seed % 2 == 0 else (Rival(), bot)
            assert rank(play(reantics.GAME, seats, seed, options), seed % 2) == 1


def test_two_foragers_play_to_a_win_by_food(encoding: Encoding, tmp_path: Path) -> None:
    with (
        Bot([BUILD / "reantics_bot"], encoding, tmp_path / "log") as one,
        Bot([BUILD / "reantics_bot"], encoding, tmp_path / "log 2") as two,
    ):
        state = play(reantics.GAME, (one, two), 1, reantics.Options(draw_after=200))
    assert state.result and state.result.reason == "food_goal"


@pytest.mark.parametrize("rival", [Rival(), Cheat()])
def test_perfect_never_loses_and_flips_after_every_cheat(rival: Rival, encoding: Encoding, tmp_path: Path) -> None:
    with Bot([BUILD / "tictactoe_bot"], encoding, tmp_path / "log") as bot:
        states = [
            play(tictactoe.GAME, (bot, rival) if seed % 2 == 0 else (rival, bot), seed, tictactoe.Options())
            for seed in range(60)
        ]
        assert bot.log.read_text("utf-8") == ""
    assert all(rank(state, seed % 2) == 1 for seed, state in enumerate(states))
    flips = [state.result and state.result.reason.startswith("FLIPPED") for state in states]
    assert any(flips) == isinstance(rival, Cheat)


@pytest.mark.parametrize(
    ("program", "game", "options"),
    [
        ("my_reantics_bot", reantics.GAME, reantics.Options(draw_after=100)),
        ("my_tictactoe_bot", tictactoe.GAME, tictactoe.Options()),
    ],
)
def test_the_templates_play_by_the_rules(
    program: str, game: Game, options: Any, encoding: Encoding, tmp_path: Path
) -> None:
    with Bot([BUILD / program], encoding, tmp_path / "log") as bot:
        for seed in range(6):
            play(game, (bot, Rival()) if seed % 2 == 0 else (Rival(), bot), seed, options)
        assert bot.exit() == 0


def test_the_readmes_bot_is_a_whole_legal_bot_of_a_single_file(tmp_path: Path) -> None:
    program = written(tmp_path, (KIT / "README.md").read_text("utf-8").split("```cpp\n")[1].split("```")[0])
    with Bot([program], Encoding.JSON, tmp_path / "log") as bot:
        for seats in ((bot, Rival()), (Rival(), bot)):
            play(reantics.GAME, seats, 1, reantics.Options(draw_after=100))


@pytest.mark.parametrize(
    ("game", "options", "reason"),
    [
        (reantics.GAME, reantics.Options(draw_after=50), "draw_limit"),
        (tictactoe.GAME, tictactoe.Options(), "O_WIN"),  # both take the first free cell
    ],
)
def test_the_benchmarks_bots_play_each_other(
    game: Game, options: Any, reason: str, encoding: Encoding, tmp_path: Path
) -> None:
    folder = ROOT / "benchmarks" / "bots"
    source = tmp_path / "instant.cpp"
    source.symlink_to(folder / f"{game.name}_instant.cpp")
    program = compiled(source, "-O2", "-I", folder)
    with Bot([program], encoding, tmp_path / "log") as one, Bot([program], encoding, tmp_path / "log 2") as two:
        for _ in range(2):
            state = play(game, (one, two), 1, options)
            assert state.result and state.result.reason == reason
        assert (one.exit(), two.exit()) == (0, 0)


def test_a_bot_folder_names_a_build_that_is_quick_when_nothing_changed() -> None:
    command = "cmake -S ../.. -B ../../build -DCMAKE_BUILD_TYPE=Release && cmake --build ../../build --target "
    for name in ("reantics", "tictactoe", "my_reantics", "my_tictactoe"):
        folder = KIT / "examples" / name
        assert f'build = "{command}{name}_bot"' in (folder / "bot.toml").read_text("utf-8")
        program = BUILD / f"{name}_bot"
        made = program.stat().st_mtime_ns
        subprocess.run(["/bin/sh", "-c", command + f"{name}_bot"], cwd=folder, check=True, timeout=5)
        assert program.stat().st_mtime_ns == made
