"""The C++ kit: its own checks, failing bots, its build, and the benchmarks' bots, which do not use the kit.

test_every_kit.py tests what all kits have in common.
"""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from driving import NAMES, Bot, play, reason
from kits import built, readme_bot

from referee.games import reantics, tictactoe
from referee.games.game import Game
from referee.harness.common.paths import KITS
from referee.harness.programs.entrant import Entrant
from referee.protocol.messages import Encoding, ErrorObject

KIT = KITS / "cpp"
BENCHMARKS = KITS.parent / "benchmarks" / "bots"
WARNINGS = ("-Wall", "-Wextra", "-Werror")

pytestmark = pytest.mark.usefixtures("cpp_kit")


def compiled(source: Path, *flags: str | Path) -> Entrant:
    """Compiles one source file, without warnings."""
    program = source.with_suffix("")
    subprocess.run(["g++", "-std=c++17", *WARNINGS, *flags, "-o", program, source], check=True, timeout=120)
    return Entrant(program.name, (str(program),), program.parent)


def test_the_librarys_own_tests_pass() -> None:
    done = subprocess.run([built("cpp") / "build" / "kit_test"], capture_output=True, text=True, timeout=20)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[  PASSED  ] " in done.stdout


def test_the_readmes_bot_compiles_without_a_warning(tmp_path: Path) -> None:
    source = tmp_path / "mybot.cpp"
    source.write_text(readme_bot("cpp"), "utf-8")
    command = ["g++", "-std=c++17", *WARNINGS, "-fsyntax-only", "-I", KIT / "include", source]
    subprocess.run(command, check=True, timeout=120)


ODD = """
#include <iostream>
#include <random>
#include <referee/json.hpp>

const bool early = [] { std::cout << "before main" << std::endl; return true; }();
int lives = 0;

struct Odd : referee::Bot {
    static constexpr const char* game = "odd";
    std::mt19937_64 luck{match.seed};

    explicit Odd(const referee::Match& match) : Bot(match) {
        if (match.seat == 7) throw std::runtime_error("no seat 7");
        ++lives;
    }
    ~Odd() { --lives; }

    referee::Json answer(const std::string& method, const referee::Json& params) override {
        if (method == "match") {
            return {match.game, match.seat, match.names, match.seed, match.limits.startup_ms, match.limits.call_ms,
                    match.limits.processes, match.limits.scratch_bytes};
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
def odd(tmp_path_factory: pytest.TempPathFactory) -> Entrant:
    source = tmp_path_factory.mktemp("odd") / "odd.cpp"
    source.write_text(ODD, "utf-8")
    return compiled(source, "-I", KIT / "include", KIT / "src" / "wire.cpp", KIT / "src" / "frames.cpp")


def test_a_failing_bot_goes_on_answering(odd: Entrant, encoding: Encoding, tmp_path: Path) -> None:
    with Bot(odd, encoding, tmp_path / "log") as bot:
        hello = bot.initialize("odd", seat=1, seed=2**64 - 1)
        assert (hello.name, hello.version, hello.encoding, hello.reuse) == ("Odd", "2.1", encoding, True)
        assert bot.call("match") == ["odd", 1, [*NAMES], 2**64 - 1, 10_000, None, 7, 1 << 33]
        assert bot.call("bytes") == "a\ufffdb"
        assert bot.call("badWords") == ErrorObject(-32000, "\ufffd")
        assert bot.call("number") == ErrorObject(-32000, "threw something that is no std::exception")
        assert bot.call("surprise") == ErrorObject(-32601, "unknown method surprise")
        bot.notify("trouble", {})
        assert bot.call("stdin") == -1  # frames are not for the bot
        assert bot.call("child") == 0
        assert bot.exit() == 0
        log = bot.stderr().splitlines()
    assert log[:2] == ["before main", "in main"]
    assert "trouble: in trouble" in log
    assert "from a child" in log


def test_each_match_has_a_fresh_bot_and_the_seed_repeats_its_luck(
    odd: Entrant, encoding: Encoding, tmp_path: Path
) -> None:
    with Bot(odd, encoding, tmp_path / "log") as bot:
        draws = []
        for seed in (7, 7, 8):
            assert bot.initialize("odd", seed=seed).encoding is encoding
            draws.append(bot.call("luck"))
            assert bot.call("lives") == 1
    assert draws[0] == draws[1] != draws[2]


def test_a_match_that_a_bot_cannot_play_is_refused(odd: Entrant, encoding: Encoding, tmp_path: Path) -> None:
    for seat, game, words in (
        (0, "quoridor", "this bot plays odd, not quoridor"),
        (7, "odd", "no seat 7"),
    ):
        with Bot(odd, encoding, tmp_path / "log") as bot:
            assert bot.initialize(game, seat) == ErrorObject(-32000, words)


@pytest.mark.parametrize(
    ("game", "options", "ending"),
    [
        (reantics.GAME, reantics.Options(draw_after=50), "draw_limit"),
        (tictactoe.GAME, tictactoe.Options(), "O_WIN"),  # both take the first free cell
    ],
)
def test_the_benchmarks_bots_play_each_other(
    game: Game, options: Any, ending: str, encoding: Encoding, tmp_path: Path
) -> None:
    source = tmp_path / "instant.cpp"
    source.symlink_to(BENCHMARKS / f"{game.name}_instant.cpp")
    program = compiled(source, "-O2", "-I", BENCHMARKS)
    with Bot(program, encoding, tmp_path / "log") as one, Bot(program, encoding, tmp_path / "log 2") as two:
        for _ in range(2):
            assert reason(play(game, (one, two), 1, options)) == ending
        assert (one.exit(), two.exit()) == (0, 0)


def test_a_second_build_without_changes_is_quick() -> None:
    command = (
        "cmake -S ../.. -B ../../build -DCMAKE_BUILD_TYPE=Release && cmake --build ../../build --parallel 4 --target "
    )
    for name in ("quoridor", "reantics", "tictactoe", "my_quoridor", "my_reantics", "my_tictactoe"):
        folder = built("cpp") / "examples" / name
        assert f'build = "{command}{name}_bot"' in (folder / "bot.toml").read_text("utf-8")
        program = built("cpp") / "build" / f"{name}_bot"
        made = program.stat().st_mtime_ns
        subprocess.run(["/bin/sh", "-c", command + f"{name}_bot"], cwd=folder, check=True, timeout=5)
        assert program.stat().st_mtime_ns == made
