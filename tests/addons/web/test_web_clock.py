"""The clock of the web process leaves out the time in which that process read nothing."""

import asyncio
import socket
import time

from browsers import in_a_loop

from referee.addons.web.server.connection import ClientConnection, Connections
from referee.addons.web.server.limits import RequestLimits
from referee.addons.web.server.web_clock import STALL_AFTER_S, OwnClock

HELD_UP_S = 0.5


def test_a_request_that_waited_while_the_process_did_not_run_came_before_that() -> None:
    told = list[float]()

    async def held_up() -> float:
        clock = OwnClock(0.0, told.append)
        clock.run()
        ours, theirs = socket.socketpair()
        connection = ClientConnection(Connections(RequestLimits(), clock))
        connection.inner = asyncio.Protocol()  # type: ignore[assignment]
        beats = asyncio.ensure_future(clock.beat_on())
        await asyncio.get_running_loop().create_connection(lambda: connection, sock=ours)
        before, told[:] = clock.now(), []
        theirs.sendall(b"GET / HTTP/1.1\r\n")
        time.sleep(HELD_UP_S)  # as if the machine gave the process no core
        while not connection.read_at:
            await asyncio.sleep(0)
        beats.cancel()
        theirs.close()
        connection.transport.abort()
        return connection.read_at - before

    assert in_a_loop(held_up()) < 2 * STALL_AFTER_S
    assert told, "the gap was not told"
