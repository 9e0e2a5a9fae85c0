"""`referee mcp`, used by a client of another implementation: `mcp` from PyPI."""

import json
import os
import random
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, chdir, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio
import msgspec
import psutil
import pytest
import trio
import trio.testing
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from model_service import serving
from scripted import PREAMBLE

from referee.addons.mcp import checks, matches
from referee.addons.mcp.allowed import Allowed
from referee.addons.mcp.checks import Checked, Wanted
from referee.addons.mcp.cli import mcp as command
from referee.addons.mcp.matches import Conditions
from referee.addons.mcp.serve import serve
from referee.addons.mcp.shapes import ListMatches, Matches
from referee.addons.mcp.tools import TOOLS, Tool
from referee.games import registry
from referee.harness.cli.main import main
from referee.harness.common.errors import UsageError
from referee.harness.common.installed import extra_command
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import positions, verify

pytestmark = [pytest.mark.trio, pytest.mark.slow]

COMMAND = (sys.executable, "-m", "referee.harness.cli.main")
SHORT = {"aiarena21": {"turns": 10}, "quoridor": {"max_turns": 10}, "reantics": {"draw_after": 40}}


class Assistant:
    """A client that calls tools by their names."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Returns the structured result, which the client has checked against the tool's schema."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        return result.structured_content

    async def refused(self, tool: str, **arguments: Any) -> str:
        """Returns the message of a call that fails."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error
        return str(result.content[0].text)  # type: ignore[union-attr]

    async def finish(self, position: Any, seed: int = 0) -> Any:
        """Plays random legal answers until the match is over, and returns the last position."""
        luck, match = random.Random(seed), position["match"]
        while position["ended"] is None:
            assert position["your_turn"]
            legal = await self.call("legal", match=match, limit=20)
            position = await self.call("answer", match=match, answer=luck.choice(legal["answers"])["answer"])
        return position


@asynccontextmanager
async def connected(folder: Path, *options: str, mode: str = "auto") -> AsyncIterator[Assistant]:
    """Connects a client to a server in this process, which works in that folder."""
    with trio.fail_after(240), chdir(folder):
        async with Client(direct(conditions(*options)), mode=mode) as client:  # type: ignore[arg-type]
            yield Assistant(client)


@asynccontextmanager
async def started(folder: Path, *options: str, mode: str = "auto") -> AsyncIterator[Assistant]:
    """Starts the server in that folder, as an assistant does."""
    server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], "mcp", *options], cwd=folder)
    with trio.fail_after(60):
        async with Client(stdio_client(server), mode=mode) as client:  # type: ignore[arg-type]
            yield Assistant(client)


def conditions(*options: str) -> Conditions:
    """Returns what the command makes of its options."""
    made: list[Conditions] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(command, "run", lambda serve, read, write, conditions: made.append(conditions))
        assert main(["mcp", *options]) == 0
    return made[0]


@asynccontextmanager
async def direct(conditions: Conditions) -> AsyncIterator[Any]:
    """Runs a server, and yields the streams of its client."""
    to_client, from_server = anyio.create_memory_object_stream[Any](100)
    to_server, from_client = anyio.create_memory_object_stream[Any](100)

    async def read() -> bytes:
        try:
            message = (await from_client.receive()).message
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            return b""
        return bytes(message.model_dump_json(by_alias=True, exclude_unset=True).encode()) + b"\n"

    async def write(data: bytes) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await to_client.send(SessionMessage(jsonrpc_message_adapter.validate_json(data, by_name=False)))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve, read, write, conditions)
        yield from_server, to_server
        await to_server.aclose()


def bot(folder: Path, body: str) -> str:
    """Writes a bot and returns its spec."""
    (folder / "bot.py").write_text(PREAMBLE + body)
    return "bot.py"


# Whole matches.


async def test_a_client_plays_a_whole_match_in_each_game(tmp_path: Path) -> None:
    async with connected(tmp_path) as assistant:
        assert {tool.name for tool in (await assistant.client.list_tools()).tools} == set(TOOLS)
        for line in (await assistant.call("list_games"))["games"]:
            await play_a_match(assistant, tmp_path, line["game"], line["seats"][0])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_starts_the_server_in_both_eras_of_the_protocol(tmp_path: Path, mode: str) -> None:
    """Without the handshake, and with it."""
    async with started(tmp_path, mode=mode) as assistant:
        await play_a_match(assistant, tmp_path, "tictactoe", 2)


async def play_a_match(assistant: Assistant, folder: Path, name: str, seats: int) -> None:
    """Plays the last seat of a match, and checks its result and its replay."""
    options = SHORT.get(name, {**registry.game(name).short})
    position = await assistant.call("new_match", game=name, seat=seats - 1, seed=7, options=options)
    assert (position["seat"], len(position["names"])) == (seats - 1, seats)
    position = await assistant.finish(position)
    result = await assistant.call("result", match=position["match"])
    assert (result["ended"], result["seed"], result["faults"]) == (position["ended"], 7, [])
    assert verify(Replay(folder / result["replay"])) is not None
    replay = await assistant.call("replay", match=position["match"], count=1)
    assert (replay["verified"], replay["lines"][0]["game"]) == (True, name)


async def test_several_matches_go_on_at_once(tmp_path: Path) -> None:
    async with connected(tmp_path, "--replay", "none") as assistant:
        first = await assistant.call("new_match", game="connectfour", opponents=["@advanced"])
        second = await assistant.call("new_match", game="tictactoe", seat=1)
        ended: list[str] = []

        async def finish(position: Any) -> None:
            ended.append((await assistant.finish(position))["match"])

        async with trio.open_nursery() as nursery:
            nursery.start_soon(finish, first)
            nursery.start_soon(finish, second)
        assert sorted(ended) == ["connectfour-1", "tictactoe-1"]
        message = await assistant.refused("replay", match="tictactoe-1")
        assert message == "no replays are kept: `referee mcp` was started with --replay none"
    assert list(tmp_path.iterdir()) == []


async def test_no_more_than_a_few_matches_run_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matches, "MAX_RUNNING", 3)
    async with connected(tmp_path, "--replay", "none") as assistant:
        for _ in range(3):
            await assistant.call("new_match", game="tictactoe")
        message = await assistant.refused("new_match", game="tictactoe")
        assert message == "3 matches are running; finish or resign one first"
        await assistant.call("resign", match="tictactoe-3")
        await assistant.call("new_match", game="tictactoe")


# What a client sees.


async def test_games_and_rules_are_explained(tmp_path: Path) -> None:
    async with connected(tmp_path) as assistant:
        found = await assistant.call("list_games", game="aiarena21")
        assert [line["game"] for line in found["games"]] == ["aiarena21"]
        assert "@greedy" in found["games"][0]["opponents"]
        assert "1" in found["maps"]
        assert found["schema"]["$defs"]["Options"]["properties"]["turns"]["default"] == 100
        listed = (await assistant.call("rules", game="connectfour"))["sections"]
        assert "A3 End" in listed
        section = await assistant.call("rules", game="connectfour", section="A3")
        assert section["title"] == "A3 End"
        assert "four equal tokens" in section["text"]
        assert "have no section 'Z9'" in await assistant.refused("rules", game="connectfour", section="Z9")
        assert "there are aiarena21, " in await assistant.refused("rules", game="go")
    assert list(tmp_path.iterdir()) == [], "a folder for replays is made with the first match"


async def test_families_of_games_are_listed(tmp_path: Path) -> None:
    async with connected(tmp_path) as assistant:
        (family,) = (await assistant.call("list_games"))["families"]
        assert family["family"] == "openspiel"
        if find_spec("pyspiel") is None:
            assert (family["games"], family["missing"]) == ([], extra_command("openspiel"))
        else:
            assert "openspiel:kuhn_poker" in family["games"] and family["missing"] == ""
            lines = {each["game"]: each for each in (await assistant.call("list_games", game="openspiel"))["games"]}
            assert lines["openspiel:kuhn_poker"]["description"] == "sequential, imperfect, with luck"


# Checks.


async def test_a_client_checks_its_bot_and_learns_what_to_fix(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import sys\nprint('no JSON', file=sys.stderr)\nsys.exit(3)\n")
    async with connected(tmp_path, "--replay", "none") as assistant:
        found = await assistant.call("check", bot="broken.py", game="tictactoe", only=["starts"])
        assert (found["over"], found["passed"], found["verdict"]) == (True, False, "refused")
        failed = next(each for each in found["rules"] if each["status"] == "failed")
        assert failed["rule"] == "starts" and "answer the first line" in failed["advice"]
        assert failed["findings"][0]["last_words"] == ["no JSON"]
        assert failed["findings"][0]["again"].startswith("referee check broken.py --game tictactoe")
        random_bot = await assistant.call("check", bot="@random", game="tictactoe", only=["every-seat"])
        assert random_bot["passed"]
        assert "no such rule: 'wins'" in await assistant.refused(
            "check", bot="@random", game="tictactoe", only=["wins"]
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.py"]


async def test_a_client_checks_only_programs_in_the_servers_folder(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "bot.py"
    inside.mkdir()
    outside.write_text("import pathlib\npathlib.Path('started').touch()\n")
    (inside / "link.py").symlink_to(outside)
    with serving() as service:
        added = ("--bot", f"Gpt=llm:--url {service.url} m", "--bot", f"mine={outside}")
        async with connected(inside, "--replay", "none", *added) as assistant:
            for spec in ("../bot.py", str(outside), "link.py", "x=../bot.py", "~/bot.py"):
                message = await assistant.refused("check", bot=spec, game="tictactoe")
                assert "the folder of this server" in message, spec
            for spec in (f"llm:--url {service.url} m", "cmd:sh -c id", "uci:sh", "Gpt", "--junit", "human"):
                message = await assistant.refused("check", bot=spec, game="tictactoe")
                assert "expected" in message or "programs" in message or "no bot at" in message, spec
            message = await assistant.refused("check", bot="@random", game="aiarena21", map=str(outside))
            assert "the folder of this server" in message
            assert (await assistant.call("check", bot="mine", game="tictactoe", only=["starts"]))["over"]
        assert service.requests == []


async def test_one_check_goes_on_while_the_client_does_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "WAIT_S", 0.01)
    going_on, begun = trio.Event(), list[str]()

    async def check(wanted: Wanted, spec: str, options: Any, tried: Any) -> Checked:
        begun.append(spec)
        await going_on.wait()
        return Checked(True, True, "passed", [])

    wanted = Wanted("a.py", registry.game("tictactoe"), 1, None, {}, frozenset())
    other = msgspec.structs.replace(wanted, seed=2)
    async with trio.open_nursery() as nursery:
        table = checks.Checks(check, nursery)
        assert not (await table.result(wanted, "a.py", {})).over
        with pytest.raises(UsageError, match=r"a check is running: a\.py at tictactoe"):
            await table.result(other, "a.py", {})
        going_on.set()
        await trio.testing.wait_all_tasks_blocked()
        assert (await table.result(wanted, "a.py", {})).passed
        assert begun == ["a.py"]


async def test_a_position_has_the_board_the_call_and_what_happened(tmp_path: Path) -> None:
    async with connected(tmp_path) as assistant:
        position = await assistant.call("new_match", game="connectfour", opponents=["@baseline"], options={"rows": 4})
        assert position["board"] == [*["......."] * 4, "ABCDEFG"]
        assert position["names"] == ["assistant", "@baseline"]
        assert position["asked"]["function"] == "play"
        assert position["asked"]["rules"] == "connectfour.md, A4"
        assert position["asked"]["answer_schema"]["$defs"]["Action"]["properties"]["column"]["enum"] == list("ABCDEFG")
        position = await assistant.call("answer", match="connectfour-1", words="to D")
        assert position["board"][3] == "Y..R..."
        assert [event["words"] for event in position["events"]] == ["🔴 to D", "🟡 to A"]
        seen = await assistant.call("position", match="connectfour-1", view=True)
        assert seen["view"]["board"] == "." * 21 + "Y..R..."
        assert seen["asked"].pop("answer_schema")["$defs"], "a client that asks for the position gets it again"
        assert {**seen, "view": None} == position


async def test_the_schema_of_an_answer_is_not_repeated_with_each_turn(tmp_path: Path) -> None:
    async with connected(tmp_path) as assistant:
        position = await assistant.call("new_match", game="connectfour")
        assert "answer_schema" in position["asked"]
        for column in "AB":
            position = await assistant.call("answer", match="connectfour-1", words=f"to {column}")
            assert "answer_schema" not in position["asked"]


async def test_a_seat_does_not_see_what_is_hidden_from_it(tmp_path: Path) -> None:
    async with connected(tmp_path) as assistant:
        await assistant.call("new_match", game="cardgame")
        view = (await assistant.call("position", match="cardgame-1", view=True))["view"]
        result = await assistant.call("result", match="cardgame-1")
        assert (result["over"], result["seed"], result["replay"]) == (False, None, None)
        assert "what your seat may not see" in await assistant.refused("replay", match="cardgame-1")
        replay = (await assistant.call("resign", match="cardgame-1"))["replay"]
    own, whole = [], []
    for _, state, _ in positions(Replay(tmp_path / replay)):
        own.append(msgspec.json.decode(msgspec.json.encode(state.view(0))))
        whole.append(msgspec.json.decode(msgspec.json.encode(state.view(None))))
    assert view in own
    assert view not in whole


async def test_legal_answers_can_be_searched_and_are_drawn_where_there_are_too_many(tmp_path: Path) -> None:
    async with connected(tmp_path) as assistant:
        await assistant.call("new_match", game="quoridor")
        legal = await assistant.call("legal", match="quoridor-1", words="e2")
        assert {"answer": {"action": "move", "position": "e2"}, "words": "first to e2"} in legal["answers"]
        assert all("e2" in answer["words"] for answer in legal["answers"])
        few = await assistant.call("legal", match="quoridor-1", limit=2)
        assert (few["complete"], len(few["answers"])) == (False, 2)
        await assistant.call("new_match", game="reantics")
        drawn = await assistant.call("legal", match="reantics-1")
        assert (drawn["complete"], len(drawn["answers"])) == (False, 5)


# Wrong answers and arguments.


async def test_an_illegal_answer_is_refused_and_asked_again(tmp_path: Path) -> None:
    async with connected(tmp_path) as assistant:
        await assistant.call("new_match", game="tictactoe")
        taken = {"action": "putSymbol", "position": "XX"}
        message = await assistant.refused("answer", match="tictactoe-1", answer=taken)
        assert message == "not legal: XX is not a valid position; answer again, `legal` lists what is"
        assert "names no legal answer" in await assistant.refused("answer", match="tictactoe-1", words="everywhere")
        assert await assistant.refused("answer", match="tictactoe-1") == "expected either answer or words"
        position = await assistant.finish(await assistant.call("position", match="tictactoe-1"))
        assert (await assistant.call("result", match=position["match"]))["faults"] == []
        assert await assistant.refused("answer", match="tictactoe-1", words="C") == (
            "tictactoe-1 is over; `result` shows how it ended"
        )


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("position", {"match": "tictactoe-1"}, "there is no match 'tictactoe-1'; there are none yet: new_match starts one"),
    ("new_match", {}, "missing required field `game`"),
    ("new_match", {"game": "chess"}, "chess"),
    ("new_match", {"game": "tictactoe", "opponents": ["@random"] * 2}, "tictactoe is played by 2 bots; 3 were named"),
    ("new_match", {"game": "tictactoe", "seat": 2}, "seat=2: expected a seat from 0 to 1"),
    ("new_match", {"game": "tictactoe", "seed": -1}, "at `$.seed`"),
    ("new_match", {"game": "tictactoe", "opponents": ["human"]}, "human: the other seats are for programs"),
    ("new_match", {"game": "tictactoe", "opponents": ["nothing.py"]}, "no bot at 'nothing.py'"),
    ("new_match", {"game": "tictactoe", "options": {"size": 4}}, "there is no size; there are flip, opening"),
    ("new_match", {"game": "connectfour", "options": {"inarow": 9}}, "inarow=9 does not fit"),
    ("new_match", {"game": "tictactoe", "map": "1"}, "there is no such file"),
    ("new_match", {"game": "tictactoe", "opponents": ["http://127.0.0.1:1"]}, "expected @NAME or a path"),
    ("position", {"game": "tictactoe"}, "unknown field"),
    ("legal", {"match": "x", "limit": 0}, "at `$.limit`"),
]


async def test_wrong_arguments_are_explained(tmp_path: Path) -> None:
    async with connected(tmp_path, "--replay", "none") as assistant:
        for tool, arguments, message in WRONG:
            assert message in await assistant.refused(tool, **arguments), arguments


async def test_an_unknown_tool_is_an_error_of_the_protocol(tmp_path: Path) -> None:
    async with connected(tmp_path) as assistant:
        with pytest.raises(MCPError, match="Unknown tool: win"):
            await assistant.client.call_tool("win", {})


# Programs at the other seats.


async def test_a_fault_of_a_program_is_in_the_result(tmp_path: Path) -> None:
    opponent = bot(tmp_path, "greet(); call(); sys.stderr.write('lost my way\\n'); sys.exit(3)")
    async with connected(tmp_path) as assistant:
        await assistant.call("new_match", game="tictactoe", opponents=[f"mine={opponent}"])
        position = await assistant.call("answer", match="tictactoe-1", words="C")
        assert position["ended"]["headline"] == "assistant wins: the table was flipped after mine's fault: crashed"
        (fault,) = (await assistant.call("result", match="tictactoe-1"))["faults"]
        assert (fault["name"], fault["kind"], fault["last_words"]) == ("mine", "crash", ["lost my way"])
        assert (tmp_path / fault["bundle"]).is_dir()


async def test_a_program_that_cannot_be_started_fails_the_match_and_not_the_server(tmp_path: Path) -> None:
    script = tmp_path / "broken"
    script.write_text("#!/nothing/like/it\n")
    script.chmod(0o755)
    async with connected(tmp_path, "--replay", "none") as assistant:
        message = await assistant.refused("new_match", game="tictactoe", opponents=[str(script)])
        assert "broken cannot be started" in message
        assert "broken cannot be started" in await assistant.refused("position", match="tictactoe-1")
        await assistant.call("new_match", game="tictactoe")


async def test_opponents_play_under_the_limits_of_the_command_line(tmp_path: Path) -> None:
    opponent = bot(tmp_path, "greet(); call(); time.sleep(50)")
    async with connected(tmp_path, "--call-time", "200ms", "--replay", "games") as assistant:
        await assistant.call("new_match", game="tictactoe", opponents=[f"mine={opponent}"])
        position = await assistant.call("answer", match="tictactoe-1", words="C")
        assert position["ended"]["reason"].startswith("FLIPPED: ")
        result = await assistant.call("result", match="tictactoe-1")
        assert result["faults"][0]["kind"] == "timeout"
        assert result["replay"] == "games/tictactoe-1.jsonl"
        assert result["again"].startswith("referee --game tictactoe --call-time 200ms --seed ")
        assert result["again"].endswith(f"assistant=human mine={opponent}")


async def test_a_client_may_resign_and_may_stop_waiting(tmp_path: Path) -> None:
    opponent = bot(tmp_path, "greet(); call(); time.sleep(50)")
    async with connected(tmp_path) as assistant:
        await assistant.call("new_match", game="tictactoe", opponents=[opponent])
        with trio.move_on_after(0.5):
            await assistant.call("answer", match="tictactoe-1", words="C")
        position = await assistant.call("position", match="tictactoe-1")
        assert (position["your_turn"], position["ended"], position["board"][1]) == (False, None, ".O.")
        assert "it is not your turn" in await assistant.refused("legal", match="tictactoe-1")
        assert (await assistant.call("result", match="tictactoe-1"))["over"] is False
        await assistant.call("new_match", game="tictactoe")
        result = await assistant.call("resign", match="tictactoe-2")
        assert result["ended"]["ranks"] == [2, 1]
        assert verify(Replay(tmp_path / result["replay"])) is not None


async def test_everything_ends_when_the_client_goes(tmp_path: Path) -> None:
    opponent = bot(tmp_path, "greet(); call(); time.sleep(50)")
    before = set(psutil.Process().children(recursive=True))  # such as a browser of other tests
    async with started(tmp_path) as assistant:
        await assistant.call("new_match", game="tictactoe", opponents=[opponent])
        begun = [child for child in psutil.Process().children(recursive=True) if child not in before]
        living = [child for child in begun if child.status() != psutil.STATUS_ZOMBIE]
        assert any("bot.py" in " ".join(child.cmdline()) for child in living)
    _, alive = psutil.wait_procs(begun, timeout=5)
    assert alive == []
    (replay,) = tmp_path.glob("replays/*/*.jsonl")
    assert Replay(replay).ending is not None
    assert Replay(replay).ending.result is None  # type: ignore[union-attr]


# What a client may name.


async def test_a_client_names_no_bot_that_opens_a_connection_or_runs_a_command(tmp_path: Path) -> None:
    """`llm:` with --url and --key-from would send any environment variable to any address."""
    with serving() as service:
        url = f"--url {service.url}"
        kinds = [f"llm:{url} --key-from HOME m", f"Gpt=llm:{url} m", service.url, "cmd:sh -c id", "uci:sh", "oci:a.tar"]
        async with connected(tmp_path, "--replay", "none") as assistant:
            for spec in [
                *kinds,
                "kaggle:a.py",
                "original:--python /bin/sh a.py",
                "script:a.txt",
                "https://example.org",
            ]:
                message = await assistant.refused("new_match", game="tictactoe", opponents=[spec])
                assert "expected @NAME or a path" in message, spec
        assert service.requests == []


async def test_a_client_plays_against_the_bots_that_the_user_added(tmp_path: Path) -> None:
    with serving() as service:
        added = ("--bot", f"Gpt=llm:--url {service.url} m", "--bot", "cmd:sh -c true")
        async with connected(tmp_path, "--replay", "none", *added) as assistant:
            assert (await assistant.call("matches"))["bots"] == ["Gpt", "cmd:sh -c true"]
            position = await assistant.call("new_match", game="tictactoe", opponents=["Gpt"])
            assert position["names"] == ["assistant", "Gpt"]
            assert (await assistant.finish(position))["ended"] is not None
        assert service.requests


async def test_a_client_names_no_file_outside_the_servers_folder(tmp_path: Path) -> None:
    inside, secret = tmp_path / "inside", tmp_path / "secret.txt"
    inside.mkdir()
    secret.write_text("a secret")
    (tmp_path / "bot.py").write_text("a secret")
    (inside / "link.py").symlink_to(tmp_path / "bot.py")
    (inside / "link.txt").symlink_to(secret)
    async with connected(inside, "--replay", "none") as assistant:
        for path in (str(tmp_path / "bot.py"), "../bot.py", "link.py", "~/bot.py", "x=../bot.py", "/bin/sh"):
            message = await assistant.refused("new_match", game="tictactoe", opponents=[path])
            assert "the folder of this server" in message, path
        for path in (str(secret), "../secret.txt", "link.txt", "/dev/zero", "/dev/stdin"):
            message = await assistant.refused("new_match", game="aiarena21", opponents=["@random"], map=path)
            assert "the folder of this server" in message, path


async def test_a_file_that_is_endless_huge_or_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "folder").mkdir()
    with (tmp_path / "huge.txt").open("wb") as file:
        file.truncate(1 << 40)
    (tmp_path / "huge.txt").rename(tmp_path / "huge.wasm")
    (tmp_path / "huge.txt").symlink_to("huge.wasm")
    wrong = {"pipe.txt": "neither a file nor", "folder": "is a folder", "huge.txt": "more than 4 MiB", "a\0": "no path"}
    async with connected(tmp_path, "--replay", "none") as assistant:
        for path, message in wrong.items():
            assert message in await assistant.refused("new_match", game="aiarena21", map=path), path
        for path in ("pipe.py", "a\0b", "x" * 5000, "huge.wasm"):
            assert await assistant.refused("new_match", game="tictactoe", opponents=[path])


# Hostile lines.


MALFORMED: list[Any] = [
    {"method": "tools/call", "params": {"name": []}},
    {"method": "tools/call", "params": {"name": {}}},
    {"method": "tools/call", "params": {"name": "new_match", "arguments": {"game": "aiarena21", "map": "\0"}}},
    {"method": "tools/call", "params": {"name": "new_match", "arguments": []}},
    {"method": "tools/call", "params": {"name": "rules", "arguments": {"game": "\0", "section": "\0"}}},
    {"method": "tools/call", "params": {"name": "position", "arguments": {"match": "x" * 100_000}}},
    {"method": "tools/call", "params": {"name": "new_match", "arguments": {"game": "tictactoe", "seed": 10**400}}},
]


async def test_no_line_of_a_client_ends_the_server(tmp_path: Path) -> None:
    lines: list[Any] = [
        {"id": "a", "method": "initialize", "params": {"protocolVersion": "2025-11-25"}},
        *({"method": "notifications/cancelled", "params": {"requestId": each}} for each in ([], {}, None, 1.5)),
        *({"id": number, **message} for number, message in enumerate(MALFORMED)),
    ]
    sent = [json.dumps({"jsonrpc": "2.0", **line}).encode() for line in lines]
    sent += [b'{"jsonrpc":"2.0","id":"d","method":"' + b"x" * (5 << 20) + b'"}', b"\xff", b"[" * 100_000]
    sent += [b'{"jsonrpc":"2.0","id":"b","method":"ping"}', b""]
    done = await trio.run_process(
        [*COMMAND, "mcp", "--replay", "none"], stdin=b"\n".join(sent), capture_stdout=True, cwd=tmp_path
    )
    received = [msgspec.json.decode(line) for line in done.stdout.splitlines()]
    assert {message["id"] for message in received} == {"a", "b", None, *range(len(MALFORMED))}
    assert "a line of more than 4 MiB" in str(received)


async def test_an_error_of_ours_is_a_response_and_the_server_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(matches: Any, asked: Any) -> Any:
        raise ZeroDivisionError("a bug")

    monkeypatch.setitem(TOOLS, "broken", Tool("broken", ListMatches, Matches, broken))
    asked = [("initialize", {"protocolVersion": "2025-11-25"}), ("tools/call", {"name": "broken"}), ("ping", {})]
    lines = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(asked)
    ]
    chunks, written = [msgspec.json.encode(line) + b"\n" for line in lines], bytearray()

    async def read() -> bytes:
        await trio.sleep(0.01)
        return chunks.pop(0) if chunks else b""

    async def write(data: bytes) -> None:
        written.extend(data)

    await serve(read, write, Conditions(Allowed(tmp_path)))
    responses = {each["id"]: each for each in map(msgspec.json.decode, written.splitlines())}
    assert responses[1]["error"] == {"code": -32603, "message": "broken failed: ZeroDivisionError: a bug"}
    assert responses[2]["result"] == {}
    assert "ZeroDivisionError" in caplog.text, "the log has the traceback"


# The list of matches.


async def test_matches_are_listed_and_old_ones_that_are_over_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matches, "MAX_ENDED", 2)
    async with connected(tmp_path, "--replay", "none") as assistant:
        await assistant.call("new_match", game="quoridor")
        for number in range(5):
            await assistant.call("new_match", game="tictactoe")
            await assistant.call("resign", match=f"tictactoe-{number + 1}")
        await assistant.call("new_match", game="tictactoe", seat=1)
        lines = (await assistant.call("matches"))["matches"]
        assert lines[0] == {"match": "quoridor-1", "game": "quoridor", "seat": 0, "your_turn": True, "over": False}
        assert [line["over"] for line in lines] == [False, True, True, False]
        assert lines[-1]["match"] == "tictactoe-6", "no name is used twice"
        assert "there is no match 'tictactoe-1'" in await assistant.refused("position", match="tictactoe-1")


async def test_requests_are_answered_although_the_client_writes_no_more(tmp_path: Path) -> None:
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        [{"jsonrpc": "2.0", "id": number, "method": method} for number, method in ((2, "ping"), (3, "tools/list"))],
        {"jsonrpc": "2.0", "id": 4, "method": "tools/list"},
    ]
    sent = b"\n".join(map(msgspec.json.encode, lines)) + b"\n"
    done = await trio.run_process([*COMMAND, "mcp"], stdin=sent, capture_stdout=True, capture_stderr=True, cwd=tmp_path)
    received = {str(message): message for message in map(msgspec.json.decode, done.stdout.splitlines())}
    batch = next(message for message in received.values() if isinstance(message, list))
    assert sorted(response["id"] for response in batch) == [2, 3]
    assert sorted(message["id"] for message in received.values() if isinstance(message, dict)) == [1, 4]
    assert done.stderr == b""
