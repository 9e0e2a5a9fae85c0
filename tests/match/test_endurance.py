"""Many matches in one process leave it as it was."""

import gc
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from statistics import mode

import msgspec
import psutil
import pytest
from needs import needs
from scripted import Arena

from referee.harness.isolation.plan import OFF
from referee.harness.match.match import play
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant
from referee.harness.seats.roster import open_roster

pytestmark = pytest.mark.alone

MATCHES = 240
WARM_UP = 60
FAULTY_EVERY = 20
GROWTH_BYTES = 6 << 20

C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Plays the left column from seat 0, loses from seat 1. Arguments: whether it may be used again; how it fails. */
int main(int argc, char **argv) {
    static char line[1 << 16];
    const char *cells[2][3] = {{"NW", "W", "SW"}, {"C", "E", "S"}};
    const char *reuse = argv[1], *fault = argv[2];
    int seat = 0, answered = 0;
    while (fgets(line, sizeof line, stdin)) {
        if (strstr(line, "\"method\":\"exit\"")) break;
        if (!strstr(line, "\"id\":") || strstr(line, "\"method\":\"event\"")) continue;
        int id = atoi(strstr(line, "\"id\":") + 5);
        if (strstr(line, "\"method\":\"initialize\"")) {
            seat = atoi(strstr(line, "\"seat\":") + 7);
            answered = 0;
            printf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"reuse\":%s}}\n", id, reuse);
        } else if (answered == 1 && !strcmp(fault, "crash")) {
            fprintf(stderr, "lost the thread\n");
            abort();
        } else if (answered == 1 && !strcmp(fault, "print")) {
            printf("hello\n");
        } else {
            printf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"action\":\"putSymbol\",\"position\":\"%s\"}}\n", id,
                   cells[seat][answered++]);
        }
        fflush(stdout);
    }
    return 0;
}
"""


def census() -> tuple[int, int, int]:
    """Open descriptors, threads and children of this process."""
    gc.collect()
    return len(os.listdir("/proc/self/fd")), threading.active_count(), len(psutil.Process().children(recursive=True))


def resident_bytes() -> int:
    gc.collect()
    size: int = psutil.Process().memory_info().rss
    return size


def pairings(program: Path) -> Sequence[tuple[Entrant, Entrant]]:
    """With reused bots, with fresh ones, with one of each, and with a bot that fails."""

    def bot(name: str, *args: str) -> Entrant:
        return Entrant(name, (str(program), *args), program.parent)

    again, fresh = bot("again", "true", "none"), bot("fresh", "false", "none")
    sound = [(again, again), (fresh, again), (again, fresh), (fresh, fresh)]
    faulty = [(again, bot("crash", "true", "crash")), (bot("print", "false", "print"), again)]
    return [
        faulty[number // FAULTY_EVERY % 2] if number % FAULTY_EVERY == FAULTY_EVERY - 1 else sound[number % 4]
        for number in range(MATCHES)
    ]


@pytest.mark.slow
@pytest.mark.trio
@needs("gcc")
async def test_many_matches_leave_descriptors_threads_children_and_memory_where_they_were(arena: Arena) -> None:
    (arena.folder / "bot.c").write_text(C)
    program = Path(entrant(str(arena.folder / "bot.c")).argv[0])
    plan = pairings(program)
    before = census()
    faults = 0
    warm = 0
    descriptors, threads = [], set()
    async with open_roster(Limits(isolation=OFF)) as roster:
        for number, bots in enumerate(plan):
            verdict = await play(arena.match(*bots, seed=number), roster)
            faults += len(verdict.faults)
            assert verdict.turns == (3 if verdict.faults and verdict.faults[0].player == 0 else 5 - len(verdict.faults))
            descriptors.append(len(os.listdir("/proc/self/fd")))
            threads.add(threading.active_count())
            if number == WARM_UP:
                warm = resident_bytes()
        grown = resident_bytes() - warm
    assert faults == MATCHES // FAULTY_EVERY
    assert grown < GROWTH_BYTES, f"{grown / (1 << 20):.1f} MiB more than after {WARM_UP} matches"
    usual = mode(descriptors)
    assert usual <= min(descriptors[:WARM_UP]) + 4, "two for each bot whose processes are being read"
    assert max(descriptors) <= usual + 2, "what a thread reads just then"
    assert mode(descriptors[-WARM_UP:]) == usual
    assert max(threads) <= before[1] + 7, "those that trio keeps for what takes long"
    assert census()[::2] == before[::2], "trio keeps an idle thread for some seconds"
    assert arena.alive() == []
    assert not list(arena.folder.glob("referee-*"))


@pytest.mark.trio
async def test_the_scratch_folder_of_an_ended_bot_goes_with_it(arena: Arena) -> None:
    """A run of many matches must not fill the disk."""
    bots = [arena.bot("open(os.environ['HOME'] + '/x', 'w').write('y'); sys.exit(1)", name=name) for name in "ab"]
    async with open_roster(Limits(isolation=OFF)) as roster:
        for _ in range(3):
            await play(msgspec.structs.replace(arena.match(*bots), replay=None), roster)
        assert list(arena.folder.glob("referee-*/*")) == []
