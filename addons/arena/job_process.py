"""A further process that plays the Arena's battles.

`python -m referee.addons.arena.job_process CONTROL` takes a socket on which links to web processes come, and
reads its `Job` from standard input.
"""

import socket
import sys

import msgspec
import trio

from referee.addons.arena.arena_routes import app
from referee.addons.arena.arena_seat import Terms
from referee.addons.arena.jobs import Job
from referee.addons.arena.runs import Arena
from referee.addons.web.server.link import open_lent_link
from referee.addons.web.serving.http import Gate, few_collections
from referee.addons.web.serving.match_host import open_match_host


async def play(control: socket.socket, job: Job) -> None:
    """Plays battles until the server ends."""
    terms = Terms(job.compat)
    async with open_match_host(job.seed) as host:
        arena = Arena(host, terms, job.settings(), job.shard)
        async with open_lent_link(Gate(app(arena), job.names), control) as link:
            terms.now, terms.latest = link.clock.now, link.latest
            with few_collections():
                await link.ended()


if __name__ == "__main__":
    trio.run(play, socket.socket(fileno=int(sys.argv[1])), msgspec.json.decode(sys.stdin.buffer.read(), type=Job))
