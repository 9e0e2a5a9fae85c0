"""The Java kit: its own checks, failing bots, and its build.

test_every_kit.py tests what all kits have in common.
"""

import re
import subprocess
from pathlib import Path

import msgspec
import pytest
from driving import NAMES, Bot
from kits import WriteBot, built, readme_bot

from referee.harness.match.series import Outcome
from referee.harness.paths import KITS
from referee.protocol.messages import Encoding, ErrorObject

KIT = KITS / "java"

pytestmark = pytest.mark.usefixtures("java_kit")


def test_the_librarys_own_tests_pass() -> None:
    done = subprocess.run(["mvn", "-B", "test"], cwd=built("java"), capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"Tests run: [1-9]\d*, Failures: 0, Errors: 0, Skipped: 0", done.stdout), done.stdout


def test_no_line_is_longer_than_120() -> None:
    sources = [*KIT.glob("src/**/*.java"), *KIT.glob("examples/**/*.java"), *KIT.glob("new/**/*.java")]
    assert sources
    lines = [(path, line) for path in sources for line in path.read_text("utf-8").splitlines()]
    assert [(path, line) for path, line in lines if len(line) > 120] == []


ODD = """
import java.util.*;
import referee.kit.*;

public class Odd extends Bot {
    static { System.out.println("static"); }
    final long luck = new Random(match.seed()).nextLong();

    public Odd(Match match) { super(match); }

    public static void main(String[] args) { run(Odd::new); }

    @Override public Object call(String method, Params params) throws Exception {
        switch (method) {
            case "match": return List.of(match.game(), match.seat(), match.names(), match.seed(),
                match.limits().processes(), match.limits().callMs() == null, match.limits().scratchBytes());
            case "luck": return luck;
            case "surrogate": return "\\ud83d";
            case "object": return Arrays.asList(1, Map.of("a", new Object()));
            case "deep": return call(method, params);
            case "bare": throw new NullPointerException();
            case "thread": new Thread(() -> { while (true) { } }).start(); return null;
            case "stdin": return System.in.read();
            default: return super.call(method, params);
        }
    }
}
"""


def test_a_failing_bot_goes_on_answering(encoding: Encoding, written: WriteBot, tmp_path: Path) -> None:
    with Bot(written("java", "Odd", ODD), encoding, tmp_path / "log") as bot:
        assert bot.initialize(game="anything", seat=1, seed=2**63 - 5).name == "Odd"
        assert bot.call("match") == ["anything", 1, [*NAMES], 2**63 - 5, 7, True, 1 << 33]
        for method in ("object", "deep", "bare", "object"):
            failure = bot.call(method)
            assert isinstance(failure, ErrorObject)
            assert failure.code == -32000
            assert failure.message
        assert not isinstance(bot.call("luck"), ErrorObject)
        assert bot.call("stdin") == -1  # frames are not for the bot
        assert bot.call("thread") is None
        assert bot.exit() == 0
        assert bot.stderr().startswith("static\n")


def test_the_seed_repeats_the_bots_luck(encoding: Encoding, written: WriteBot, tmp_path: Path) -> None:
    with Bot(written("java", "Odd", ODD), encoding, tmp_path / "log") as bot:
        draws = []
        for seed in (7, 7, 8):
            bot.initialize("anything", seed=seed)
            draws.append(bot.call("luck"))
    assert draws[0] == draws[1] != draws[2]


HUNGRY = """
    private static final byte[][] KEPT = new byte[160][];

    public Move getMove(GameState state) {
        for (int i = 0; i < KEPT.length; i++) {
            KEPT[i] = new byte[1 << 20];
        }
        System.out.println("heap " + (Runtime.getRuntime().maxMemory() >> 20));
"""


def test_the_heap_fits_the_memory_limit_of_the_match(tmp_path: Path) -> None:
    """A bot that needs 160 MiB plays within 320 MiB, and gets an OutOfMemoryError within 160 MiB."""
    source = readme_bot("java").replace("Sleeper", "Hungry")
    source = source.replace("    public Move getMove(GameState state) {", HUNGRY)
    (tmp_path / "Hungry.java").write_text(source, "utf-8")
    command = ["referee", "--game", "reantics", "--set", "draw_after=5", "--call-time", "5s", "--json", "--memory"]
    ended = []
    for limit in ("320MiB", "160MiB"):
        argv = [*command, limit, "./Hungry.java", "@random"]
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        (verdict,) = msgspec.json.decode(done.stdout, type=Outcome).matches
        ended.append((verdict.result.reason, "Java heap space" in str(verdict.faults)))
        if limit == "320MiB":
            assert verdict.seats[0].stderr is not None
            heap = int((tmp_path / verdict.seats[0].stderr).read_text("utf-8").split()[1])
            assert 160 < heap < 320
    assert ended == [("draw_limit", False), ("error", True)]


def test_a_build_without_changes_is_quick_and_writes_nothing() -> None:
    jar = built("java") / "target" / "referee-kit.jar"
    made = jar.stat().st_mtime_ns
    subprocess.run([built("java") / "build.sh"], check=True, timeout=2)
    assert jar.stat().st_mtime_ns == made
