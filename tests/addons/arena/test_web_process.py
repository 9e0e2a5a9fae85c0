"""The web process and the process with the matches: either may be killed or stopped, and no client pays for that."""

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import requests
import trio
from arena_servers import Server
from serving import next_web_process, served, web_process
from teams import Team, lines, team

from referee.addons.arena.arena_routes import open_arena
from referee.addons.arena.runs import Settings
from referee.addons.web.serving.match_host import MatchHost
from referee.games.game import TimeControl
from referee.harness.match.verdict import Verdict

pytestmark = [pytest.mark.slow]
in_thread = trio.to_thread.run_sync
CASE = "BASE_AI_FIRST"
OUTAGE_S = 2.0


class Client:
    """A client of one battle of Quoridor, who walks to and fro."""

    def __init__(self, url: str, ident: str) -> None:
        self.url, self.ident = f"{url}/quoridor", ident
        self.events: queue.Queue[Any] = queue.Queue()
        self.clock = 0
        self.listen()

    def listen(self) -> None:
        """Opens a stream, whose events go into the queue; None is its end."""

        def read() -> None:
            try:
                for line in lines(f"{self.url}/start/{self.ident}"):
                    self.events.put(json.loads(line))
            except requests.RequestException:
                pass
            self.events.put(None)

        threading.Thread(target=read, daemon=True).start()

    def next(self) -> Any:
        return self.events.get(timeout=30)

    def until_turn(self, me: str) -> list[Any]:
        """Returns the events up to the next move of the other side."""
        heard = []
        while not heard or (heard[-1] is not None and heard[-1].get("player") in (None, me)):
            heard.append(self.next())
        return heard

    def move(self, square: str) -> requests.Response:
        answer = requests.post(f"{self.url}/play/{self.ident}", json={"action": "move", "position": square}, timeout=30)
        self.clock = answer.json().get("clock", self.clock)
        return answer


def order(url: str, team_url: str) -> str:
    """Orders a battle for a team that does nothing, and returns its id."""
    server = Server(url)
    server.team = Team(team_url)
    (battle,) = server.order(CASE, game="quoridor")
    return battle


@pytest.fixture
async def arena() -> AsyncIterator[str]:
    async with open_arena("127.0.0.1:0", Settings(seed=5)) as (address, _):
        yield f"http://{address}"


@pytest.mark.trio
async def test_a_battle_goes_on_when_the_web_process_was_killed(arena: str, monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts: list[Verdict] = []
    play = MatchHost.play

    async def noted(self: MatchHost, *args: Any) -> Verdict:
        verdicts.append(await play(self, *args))
        return verdicts[-1]

    monkeypatch.setattr(MatchHost, "play", noted)
    with team(lambda url, battle: None, lambda: "") as idle:
        ident = await in_thread(order, arena, idle.url)
        client = await in_thread(Client, arena, ident)
        me = (await in_thread(client.next))["youAre"]
        await in_thread(client.until_turn, me)
        squares = ["e8", "e9"] if me == "second" else ["e2", "e1"]
        assert (await in_thread(client.move, squares[0])).status_code == 200
        heard = await in_thread(client.until_turn, me)
        assert [event["player"] == me for event in heard] == [True, False]
        before = client.clock
        killed = web_process(os.getpid())
        killed.kill()
        following = await next_web_process(killed)
        following.suspend()  # before it is ready
        assert await in_thread(client.next) is None
        await trio.sleep(OUTAGE_S)
        following.resume()
        await in_thread(client.listen)
        assert await in_thread(client.next) == {"youAre": me, "id": ident}
        assert (await in_thread(client.move, squares[1])).status_code == 200, "the second stream ended the battle"
        assert (await in_thread(client.until_turn, me))[0]["player"] == me, "the stream goes on where it ended"
        elapsed_s = (before + 2000 - client.clock) / 1000
        assert elapsed_s < OUTAGE_S, "the client paid for the time in which it could not be heard"
        await in_thread(client.move, "a1")  # ends the battle
        while await in_thread(client.next) is not None:
            pass
        with trio.fail_after(20):
            while not verdicts:
                await trio.sleep(0.02)
    assert verdicts[0].away_s > OUTAGE_S, "the verdict does not say that the clocks stood"


@pytest.mark.trio
async def test_no_program_inherits_the_link(arena: str) -> None:
    def sockets(pid: int | str) -> set[str]:
        links = (os.readlink(each) for each in Path(f"/proc/{pid}/fd").iterdir() if each.is_symlink())
        return {link for link in links if link.startswith("socket:")}

    ours = sockets("self")
    assert ours
    argv = [sys.executable, "-c", "import time; print(flush=True); time.sleep(20)"]
    with subprocess.Popen(argv, close_fds=False, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        inherited = sockets(child.pid) & ours
        child.kill()
    assert not inherited


def test_clients_hear_that_the_process_with_the_matches_was_killed(tmp_path: Path) -> None:
    with served(cwd=tmp_path) as (url, process), team(lambda url, battle: None, lambda: "") as idle:
        client = Client(url, order(url, idle.url))
        me = client.next()["youAre"]
        client.until_turn(me)
        web = web_process(process.pid)
        process.kill()
        assert "error" in client.next()
        assert client.next() is None
        web.wait(10)


@pytest.mark.trio
async def test_a_move_in_time_counts_although_the_matches_were_busy_meanwhile() -> None:
    async with open_arena("127.0.0.1:0", Settings(seed=5)) as (address, arena):
        short = TimeControl(initial_s=3.0, increment_s=0.0)
        arena.games["quoridor"] = msgspec.structs.replace(arena.games["quoridor"], time=short)
        with team(lambda url, battle: None, lambda: "") as idle:
            client = Client(f"http://{address}", await in_thread(order, f"http://{address}", idle.url))
            me = (await in_thread(client.next))["youAre"]
            await in_thread(client.until_turn, me)
            answers: list[int] = []

            def think_and_move() -> None:
                time.sleep(0.5)
                answers.append(client.move("e8").status_code)

            threading.Thread(target=think_and_move).start()
            time.sleep(3.5)  # nothing runs in this loop
            heard = await in_thread(client.until_turn, me)
    assert answers == [200]
    assert heard[0] == {"player": me, "action": "move", "position": "e8"}
    assert heard[1]["player"] != me, "the move came in time, and the battle was ended"
    assert client.clock > 0, "the client was charged for our stop"


def test_a_server_ends_with_its_web_process(tmp_path: Path) -> None:
    with served(cwd=tmp_path) as (url, process):
        web = web_process(process.pid)
        with requests.get(f"{url}/", timeout=10) as answer:
            assert answer.status_code == 200
        process.terminate()
        assert process.wait(10) is not None
        web.wait(10)
        with pytest.raises(requests.ConnectionError):
            requests.get(f"{url}/", timeout=2)
