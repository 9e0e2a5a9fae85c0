"""The fairness certificate: its bound holds for games of which the truth is known, simulated and real."""

import random
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from pathlib import Path

import msgspec
import pytest
from contests import burners, drawing_bot, games, table, tournament
from msgspec import Struct
from scipy.stats import binomtest

from referee.addons.tournament.formats.games import ScheduledGame
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Entry, Plan, identified
from referee.addons.tournament.reports import standings
from referee.addons.tournament.reports.fairness import Fairness
from referee.addons.tournament.statistics.proportion import upper_bound
from referee.addons.tournament.store import ledger
from referee.addons.tournament.store.reader import Book
from referee.harness.process import core_locks
from referee.harness.process.machine_effects import MachineEffects, StealMeter, machine_effects, stolen_ticks

LIMIT_S = 0.1
CALLS = 6
SLICE_S = 0.003
"""How long the kernel lets a program run before another gets the core."""
BLIND_S = 0.005
"""Core waits are not measured at the beginning of a call."""
MOST_AWAITED = 3
"""An answer is awaited for this many limits after its own, if there was core wait."""
TICK_S = 0.01
STEADY = MachineEffects(core_wait=True, steal=True, smt=False, turbo=False)


class Load(Struct, frozen=True):
    """What other programs do to a core: spells of load, which come and go by chance."""

    matches: int
    """How many are simulated: enough for 30 that load changes. The longer its spells, the dearer they are."""
    idle_s: float
    """The mean time between two spells."""
    spell_s: float
    rivals: int
    """Programs that share the core during a spell."""
    steals: bool = False
    """The host takes the core: no core wait shows it, but the count of stolen ticks does."""


LOADS = {
    "none": Load(500, 1e9, 0.001, 1),
    "rare blips": Load(1000, 2.0, 0.004, 1),
    "bursts": Load(1000, 3.0, 0.5, 2),
    "always one other program": Load(200, 0.01, 5.0, 1),
    "a busy host": Load(1500, 1.0, 0.05, 1, steals=True),
}


def spells(load: Load, luck: random.Random, length_s: float) -> list[tuple[float, float]]:
    """Returns the times in which the bot does not run although it could, from a random moment on."""
    now, away = luck.expovariate(1 / load.idle_s), []
    while now < length_s:
        end = now + luck.expovariate(1 / load.spell_s)
        while now < end:
            away.append((now, now + load.rivals * SLICE_S))
            now += (load.rivals + 1) * SLICE_S
        now += luck.expovariate(1 / load.idle_s)
    return away


def waited(away: Sequence[tuple[float, float]], start_s: float, end_s: float) -> float:
    """Returns how much of an interval falls into these times."""
    first = max(0, bisect_left(away, (start_s, 0.0)) - 1)
    touching = takewhile(lambda spell: spell[0] < end_s, islice(away, first, None))
    return sum(max(0.0, min(end, end_s) - max(start, start_s)) for start, end in touching)


def answered_at(away: Sequence[tuple[float, float]], start_s: float, needed_s: float) -> float:
    """Returns how long after the start of a call a bot has run for as long as it needs."""
    end_s = needed_s
    while (short_s := needed_s - (end_s - waited(away, start_s, start_s + end_s))) > 1e-9:
        end_s += short_s
    return end_s


def awaited(load: Load, away: Sequence[tuple[float, float]], start_s: float) -> tuple[float, float]:
    """Returns how long an answer is awaited, and the core wait that is seen meanwhile."""
    end_s, seen_s = LIMIT_S, 0.0
    while not load.steals:
        seen_s = waited(away, start_s + BLIND_S, start_s + end_s)
        later_s = LIMIT_S + min(seen_s, MOST_AWAITED * LIMIT_S)
        if seen_s < LIMIT_S / 100 or later_s <= end_s + 1e-6:
            break
        end_s = later_s
    return end_s, seen_s


def simulated(load: Load, seed: int) -> Iterator[tuple[ledger.Line, bool]]:
    """Yields each match as its ledger line, and whether load changed its course."""
    luck = random.Random(seed)
    plan = plan_of_two()
    keys = Keys(plan)
    for number in range(load.matches):
        seats = (0, 1) if number % 2 == 0 else (1, 0)
        at, changed, faults, waits, spent = 0.0, False, [], [0.0, 0.0], [0.0, 0.0]
        away = spells(load, luck, 2 * CALLS * LIMIT_S * (1 + MOST_AWAITED))
        for call in range(2 * CALLS):
            seat = call % 2
            needed_s = luck.lognormvariate(-3.6, 0.5)  # 27 ms; one call in 200 needs more than the limit
            end_s, seen_s = awaited(load, away, at)
            ready_s = answered_at(away, at, needed_s)
            late = ready_s > LIMIT_S
            changed |= late and needed_s <= LIMIT_S
            if ready_s <= end_s:
                took_s, wait_s = ready_s, 0.0 if load.steals else waited(away, at + BLIND_S, at + ready_s)
            else:  # the time after the limit made up for core wait before it
                took_s, wait_s = LIMIT_S, max(0.0, LIMIT_S - (end_s - seen_s))
            waits[seat] += wait_s
            spent[seat] += took_s
            if late:
                took, wait = round(took_s * 1e6), round(wait_s * 1e6)
                fault = ledger.Fault(seat, "timeout", "", noise=ready_s <= end_s, took=took, wait=wait)
                faults.append(fault)
            at += min(ready_s, end_s)
        stolen_s = TICK_S * round(waited(away, 0.0, at) / TICK_S + luck.uniform(-0.5, 0.5)) if load.steals else 0.0
        faults = [msgspec.structs.replace(each, wait=each.wait + round(stolen_s * 1e6)) for each in faults]
        scheduled = ScheduledGame(seats, number // 2)
        shares = [int(100 * min(1.0, (wait + stolen_s) / all)) for wait, all in zip(waits, spent, strict=True)]
        line = ledger.Line(
            k=keys.key(scheduled),
            b=tuple(keys.idents[bot] for bot in seats),
            s=number,
            r=luck.choice([(1, 2), (2, 1), (1, 1)]),
            p=(0.0, 0.0),
            a=f"{number + 1:x}",
            at=float(number + 1),
            f=tuple(faults),
            d=tuple(shares) if any(shares) else (),
            o=None if number else STEADY,
        )
        yield line, changed


def plan_of_two() -> Plan:
    return Plan("tictactoe", "round-robin", 1, identified([Entry(name, "", name * 64, "@random") for name in "ab"]))


def certified(lines: Sequence[bytes]) -> Fairness:
    book = Book()
    book.add_lines(b"\n".join(lines))
    return standings.standings(plan_of_two(), book, chances=False).fairness


@pytest.mark.parametrize("name", LOADS)
def test_every_match_that_load_changed_counts_as_decided_by_the_machine(name: str) -> None:
    """Of each match it is known whether load changed it. One in fifty may be missed.

    If the host steals, it is one in twenty: the kernel counts stolen time in steps of 10 ms.
    """
    played = list(simulated(LOADS[name], seed=7))
    lines = [msgspec.json.encode(line) for line, _ in played]
    changed = [line for line, (_, is_changed) in zip(lines, played, strict=True) if is_changed]
    found = certified(lines)
    assert found.games == len(lines) and found.most == upper_bound(found.decided, len(lines))
    assert certified(changed).decided >= (0.95 if LOADS[name].steals else 0.98) * len(changed)
    assert len(changed) / len(lines) <= found.most
    if name == "none":
        assert (len(changed), found.decided, found.slowed) == (0, 0, 0) and found.most < 0.006
    elif name != "rare blips":
        assert len(changed) >= 25 and found.decided <= 2 * len(changed), "the count is not of all matches"


def test_the_upper_bound_is_clopper_and_pearsons() -> None:
    for count, total in ((0, 1), (0, 40), (2, 100), (1, 40), (39, 40), (40, 40), (3, 4000), (250_000, 1_000_000)):
        exact = binomtest(count, total, alternative="less").proportion_ci(0.95, "exact").high
        assert upper_bound(count, total) == pytest.approx(exact, rel=1e-9), (count, total)
    assert upper_bound(0, 0) == 1


def a_line(number: int, **more: object) -> bytes:
    plan = plan_of_two()
    keys, scheduled = Keys(plan), ScheduledGame((0, 1), number)
    known = {"b": keys.idents, "s": 1, "r": (1, 2), "p": (1.0, 0.0), "at": float(number + 1)}
    return msgspec.json.encode(ledger.Line(k=keys.key(scheduled), **(known | more)))  # type: ignore[arg-type]


def late(wait: int, **more: object) -> tuple[ledger.Fault, ...]:
    return (ledger.Fault(0, "timeout", "", took=100_000, wait=wait, **more),)  # type: ignore[arg-type]


def test_a_time_out_counts_if_the_bot_lacked_more_than_a_tenth_of_its_time_or_was_found_to_be_slowed() -> None:
    assert certified([a_line(0, o=STEADY, f=late(10_000))]).decided == 0
    assert certified([a_line(0, o=STEADY, f=late(10_001))]).decided == 1
    assert certified([a_line(0, o=STEADY, f=late(1200, noise=True))]).decided == 1
    assert certified([a_line(0, o=STEADY, f=(ledger.Fault(0, "illegal", ""),), d=(5, 0))]).decided == 0
    assert certified([a_line(0, o=STEADY, f=(), m=(3, 0), n=(1, 0))]).decided == 1, "faults that are not listed"
    assert certified([a_line(0, o=STEADY, d=(9, 0)), a_line(1, d=(0, 10))]).slowed == 1


def test_the_sentence_says_what_was_counted_and_what_was_not() -> None:
    none = certified([a_line(number, o=STEADY) for number in range(40)])
    assert none.text == "The machine decided none of 40 games; with 95 % confidence, the rate is at most 7.2 %"
    shaky = msgspec.structs.replace(STEADY, turbo=True, smt=True)
    some = certified([a_line(0, o=shaky, f=late(50_000)), a_line(1, d=(0, 10)), a_line(2, void=True)])
    assert some.text.startswith("The machine may have decided 1 of 2 games; ")
    assert "It slowed a bot by a tenth or more in 1 other game. 1 game was played again because of it" in some.text
    computed = certified([a_line(0, o=shaky, f=late(0, ran=50_000)), a_line(1, f=late(0, ran=49_999))])
    assert (computed.decided, computed.computed) == (0, 1)
    assert computed.text.endswith(" share a core (SMT); a bot that computed was late in 1 other game")
    assert "computed" not in certified([a_line(0, o=STEADY, f=late(0, ran=50_000))]).text
    assert some.text.endswith("Not measured: the clock speed (turbo) and threads that share a core (SMT)")
    for unknown in ([a_line(0)], [a_line(0, o=MachineEffects())]):
        assert "decided none of 1 game, as far as it was measured; " in certified(unknown).text
    assert certified([]).text == "" and certified([a_line(0, o=STEADY, forfeit=True)]).text == ""


def test_what_a_machine_shows_is_read_from_the_kernel(tmp_path: Path) -> None:
    assert machine_effects(tmp_path).smt is machine_effects(tmp_path).turbo is None
    for file, text in (("smt/active", "1\n"), ("cpufreq/boost", "0\n")):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    assert (machine_effects(tmp_path).smt, machine_effects(tmp_path).turbo) == (True, False)
    (tmp_path / "intel_pstate").mkdir()
    (tmp_path / "intel_pstate" / "no_turbo").write_text("0\n")
    assert machine_effects(tmp_path).turbo is True
    stat = tmp_path / "stat"
    stat.write_text("cpu  1 1 1 1 1 1 1 999 0 0\n" + "".join(f"cpu{n} 1 1 1 1 1 1 1 7 0 0\n" for n in range(1024)))
    assert (stolen_ticks(stat) or 0) % 7 == 0 and stolen_ticks(stat) != 999
    assert stolen_ticks(tmp_path / "missing") is None and StealMeter().read() >= 0


NEEDS = """
plain = choose
def choose():
    until = time.thread_time() + 0.02
    while time.thread_time() < until: pass
    return plain()
"""
"""Every call takes 20 ms of CPU time."""


@pytest.mark.slow
@pytest.mark.alone
def test_the_stated_rate_holds_in_a_real_run_under_load(tmp_path: Path) -> None:
    """The truth is known: every call needs 20 of 45 ms, so that each time-out is the machine's."""
    bots = [drawing_bot(tmp_path, name, salt, f"import time\n{NEEDS}") for name, salt in (("ann", 1), ("bob", 2))]
    words = ["--game", "tictactoe", *bots, "--games", "8", "--seed", "3", "--jobs", "1", "--call-time", "45ms"]
    with burners(min(core_locks.physical())[0], 2):
        shown = tournament(tmp_path, *words, "--limit", "startup=60s", "--ledger", tmp_path / "t")
    assert "with 95 % confidence, the rate is at most" in " ".join(shown.split())
    late = sum(any(fault.kind == "timeout" for fault in line.f) for line in games(tmp_path / "t").values())
    found = table(tmp_path / "t")["fairness"]
    assert found["games"] == 8 and found["measured"]
    assert late > 0 and late <= found["decided"] and late / 8 <= found["most"]
