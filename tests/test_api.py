"""The public API: light to import, typed, and as docs/reference/api.md says."""

import asyncio
import copy
import doctest
import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
import trio
from builds import sleepers

import referee
from referee import api

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "api.md"


def test_the_examples_of_the_page_do_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = [part.split("```")[0] for part in PAGE.read_text("utf-8").split("```python\n")[1:]]
    source = "\n".join(block if ">>>" in block else f">>> {block}" for block in blocks)
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    test = doctest.DocTestParser().get_doctest(source, {}, "docs/reference/api.md", str(PAGE), 0)
    output: list[str] = []
    results = doctest.DocTestRunner(optionflags=flags).run(test, out=output.append)
    assert results.attempted > 25
    assert results.failed == 0, "".join(output)


def test_every_exported_name_exists_once() -> None:
    assert sorted(set(referee.__all__)) == sorted(referee.__all__)
    for name in referee.__all__:
        assert getattr(referee, name) is not None
    assert set(api.__all__) <= set(referee.__all__)
    assert set(referee.__all__) <= set(dir(referee))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        referee.nonsense  # noqa: B018


def test_the_page_names_only_exported_functions() -> None:
    used = {word.split("(")[0] for word in PAGE.read_text("utf-8").replace("`", " ").split() if "referee." in word}
    names = {name.strip("[],.…").removeprefix("referee.").split(".")[0] for name in used if name.startswith("referee.")}
    assert names - {"games", "harness"} <= set(referee.__all__)


@pytest.mark.parametrize(
    ("imported", "absent"),
    [
        ("referee", ["trio", "rich", "cyclopts", "msgspec", "psutil"]),
        ("referee.games.contract", ["trio", "rich", "cyclopts", "psutil"]),
        ("referee.harness.replay.reader", ["trio", "rich", "cyclopts", "psutil"]),
        ("referee.harness.replay.formats.originals", ["trio", "rich", "cyclopts", "psutil"]),
        ("referee.api", ["rich", "cyclopts"]),
    ],
)
def test_an_import_loads_nothing_that_it_does_not_need(imported: str, absent: list[str]) -> None:
    program = f"import sys, {imported}; sys.exit(' '.join(sys.modules.keys() & {absent!r}) or 0)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_package_is_typed_for_its_users(tmp_path: Path) -> None:
    """With `py.typed`, mypy sees the types of exported names. Its cache of our modules is kept between runs."""
    (tmp_path / "user.py").write_text(
        "import referee\n"
        "verdict: referee.Verdict = referee.play('tictactoe', ['@random', '@random'], seed=1)\n"
        "reveal_type(verdict.result.ranks)\n"
        "referee.play('tictactoe', 5)\n"
    )
    cache = Path.home() / ".cache" / "referee-tests" / "mypy"
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache), "user.py"]
    env = os.environ | {"MYPYPATH": str(PAGE.parents[2])}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert "tuple[" in done.stdout.splitlines()[0] and "int, ..." in done.stdout.splitlines()[0]
    assert 'user.py:4: error: Argument 2 to "play" has incompatible type "int"' in done.stdout
    assert "Found 1 error in 1 file" in done.stdout


def test_an_unknown_argument_is_refused_with_a_list_of_all() -> None:
    for play in (referee.play, referee.play_games):
        with pytest.raises(TypeError, match=r"^unknown sed; there are seed, map, options, time, limits, "):
            play("tictactoe", ["@random"] * 2, sed=1)  # type: ignore[call-arg]


def played(**conditions: Any) -> referee.Outcome:
    return referee.play_games("tictactoe", ["@random"] * 2, **conditions)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: referee.game("chess"), "unknown game 'chess'"),
        (lambda: referee.setup("tictactoe", names=["a"]), "tictactoe is played by 2 bots; 1 was named"),
        (lambda: referee.setup("tictactoe", flop=1), "options of tictactoe: there is no flop"),
        (lambda: referee.setup("tictactoe", map="x"), "map='x': tictactoe has no maps"),
        (lambda: referee.setup("aiarena21", map="none.txt"), "--map none.txt: there is no such file"),
        (lambda: played(games=0), "games=0: expected a number from 1 on"),
        (lambda: played(games=2.5), "games=2.5: expected an integer"),
        (lambda: referee.setup("tictactoe", seed=-1), "seed=-1: expected an unsigned integer of 64 bits, 0 to"),
        (lambda: played(seed=2**64), f"seed={2**64}: expected an unsigned integer of 64 bits"),
        (lambda: referee.setup("tictactoe", seed=1.5), "seed=1.5: expected an integer"),
        (lambda: referee.play("tictactoe", "@random"), "bots='@random': expected a list, with one bot for each seat"),
        (lambda: referee.play("tictactoe", ["@random", 3]), "bots[1]=3: expected a path, a name such as '@random', or"),
        (lambda: referee.play("tictactoe", None), "bots=None: expected a list, with one bot for each seat"),
        (lambda: played(options=5), "options=5: expected a mapping"),
        (lambda: played(time=3), "time=3: expected a TimeControl"),
        (lambda: played(limits={}), "limits={}: expected a Limits"),
        (lambda: played(encodings=["xml"]), "encodings=['xml']: expected a list of json and msgpack, or of one of"),
        (lambda: played(encodings="json"), "encodings='json': expected a list of"),
        (lambda: played(encodings=[]), "encodings=[]: expected a list of"),
        (lambda: played(watcher=[]), "watcher=[]: expected a function"),
        (lambda: played(time=referee.TimeControl(per_call_s=-1)), "time: per_call_s=-1: expected a number from 0 on"),
        (lambda: played(time=referee.TimeControl(answers=0)), "time: answers: expected a whole number from 1 on"),
        (lambda: played(limits=referee.Limits(memory_bytes="1G")), "limits: memory_bytes: expected a whole number"),
        (lambda: referee.read_replay("none"), "the replay none cannot be read: No such file"),
    ],
)
def test_wrong_arguments_are_usage_errors(call: object, words: str) -> None:
    assert callable(call)
    with pytest.raises(referee.UsageError) as failure:
        call()
    assert str(failure.value).startswith(words)


def test_an_exception_of_a_watcher_is_not_wrapped() -> None:
    with pytest.raises(ZeroDivisionError):
        played(watcher=lambda *_: 1 / 0)


@pytest.mark.trio
async def test_the_async_functions_raise_the_same_errors_as_the_others(tmp_path: Path) -> None:
    """Within a nursery too: an error is not a group."""
    (tmp_path / "broken").write_text("#!/no/such/interpreter\n")
    (tmp_path / "broken").chmod(0o755)
    async with trio.open_nursery():
        with pytest.raises(ZeroDivisionError):
            await referee.play_async("tictactoe", ["@random", "@random"], watcher=lambda *_: 1 / 0)
        with pytest.raises(referee.RunError, match="broken cannot be started"):
            await referee.play_async("tictactoe", ["@random", tmp_path / "broken"])
    with pytest.raises(referee.RunError, match="broken cannot be started"):
        await trio.to_thread.run_sync(referee.play, "tictactoe", ["@random", tmp_path / "broken"])


def test_a_scope_that_is_cancelled_ends_a_match_without_an_error() -> None:
    async def main() -> bool:
        with trio.CancelScope() as scope:
            await referee.play_async("tictactoe", ["@random", "@random"], watcher=lambda *_: scope.cancel())
        return scope.cancelled_caught

    assert trio.run(main)


BUILDS = """
import sys, trio, referee
print("begins", flush=True)
try:
    if sys.argv[1] == "play":
        referee.play("tictactoe", ["@random", "slow"])
    else:
        trio.run(referee.play_async, "tictactoe", ["@random", "slow"])
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.slow
@pytest.mark.parametrize("function", ["play", "play_async"])
def test_an_interrupt_ends_a_build(function: str, tmp_path: Path) -> None:
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "bot.py").write_text("")
    (tmp_path / "slow" / "bot.toml").write_text('build = "sleep 200"\nrun = ["python3", "bot.py"]\n')
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-c", BUILDS, function]
    with subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 60
        while not sleepers(process.pid):
            assert time.monotonic() < until and process.poll() is None
            time.sleep(0.05)
        below = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    assert said == "begins\ninterrupted\n"
    _, alive = psutil.wait_procs(below, timeout=20)
    assert not alive


def test_an_unexpected_answer_is_an_error() -> None:
    state, dice = referee.new("tictactoe"), referee.Dice(1)
    with pytest.raises(ValueError, match=r"^an answer from seat 1, but awaited are \[0\]$"):
        state.check(1, None)
    while state.awaited:
        state.apply({seat: state.sample(seat, dice) for seat in state.awaited})
    for call in (lambda: state.apply({}), lambda: state.check(0, None)):
        with pytest.raises(ValueError, match=r"but awaited are none: the match is over$"):
            call()


def test_asyncio_plays_in_a_thread() -> None:
    async def main() -> referee.Verdict:
        return await asyncio.to_thread(referee.play, "tictactoe", ["@random", "@random"], seed=11)

    with ThreadPoolExecutor(1) as elsewhere:  # tests with a browser may leave a running event loop in this thread
        assert elsewhere.submit(asyncio.run, main()).result().seed == 11


@pytest.mark.parametrize("name", referee.game_names())
def test_positions_and_views_can_be_pickled_and_copied(name: str) -> None:
    state, dice = referee.new(name, seed=1), referee.Dice(1)
    for _ in range(4):
        state.apply({seat: state.sample(seat, dice) for seat in state.awaited})
    for again in (pickle.loads(pickle.dumps(state)), copy.deepcopy(state)):
        assert again.key() == state.key()
        assert str(again) == str(state)
        for seat in (None, *range(len(state.setup.names))):
            view = state.view(seat)
            assert msgspec.json.encode(copy.deepcopy(view)) == msgspec.json.encode(view)
            assert msgspec.json.encode(pickle.loads(pickle.dumps(view))) == msgspec.json.encode(view)
            assert msgspec.json.encode(again.view(seat)) == msgspec.json.encode(view)
