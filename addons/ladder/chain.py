"""The entries of a ladder, and what follows from them: which owner has to do what for which claim, and until when.

Everything is a pure function of the entries, the times of their merges and the signatures of the beacon. A later entry
never changes an earlier stage.
"""

import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence, Set

from msgspec import Struct

from referee.addons.ladder import draw
from referee.addons.ladder.beacon import Beacon, next_round
from referee.addons.ladder.records import MOST_STAGES, Claim, Head, Seal, Settings, StageKind

DAY_S, HOUR_S = 86_400, 3_600


class Sealed(Struct, frozen=True):
    """A seal, as the chain needs it."""

    seal: Seal
    at: int
    """When it was merged, in seconds since 1970."""


class Result(Struct, frozen=True):
    """A batch, as the chain needs it."""

    hash: str
    head: Head
    blob: str
    """The id of its file in git."""
    at: int


class Stage(Struct, frozen=True):
    """What some owners have to do for a claim, until when."""

    kind: StageKind
    begin: int
    due: int
    owners: tuple[str, ...]
    signatures: tuple[bytes, ...]
    """Those of the claim's draws so far, this one's last."""
    rounds: tuple[int, ...]
    """Their rounds."""
    end: int | None = None
    """When all had done it, or when it was due; None while it goes on."""
    is_drawn: bool = True
    """False while nobody knows the signature that draws the other owners."""


class Chain:
    """The entries of a ladder."""

    def __init__(
        self,
        beacon: Beacon,
        rules_of: Callable[[Claim], Settings],
        is_sealed: Callable[[Claim], bool],
        fetch: Callable[[int], bytes | None] = lambda round: None,
    ) -> None:
        """`is_sealed`: whether native programs take part. `fetch`: the signature of a round that no entry has."""
        self.beacon, self.rules_of, self.is_sealed, self.fetch = beacon, rules_of, is_sealed, fetch
        self.claims: dict[str, Claim] = {}
        self.merged: dict[str, int] = {}
        """By claim, when it was merged."""
        self.seals: dict[str, dict[str, Sealed]] = {}
        """By claim and owner."""
        self.results: dict[str, dict[str, Result]] = {}
        self.of_runner: dict[str, list[str]] = {}
        """By runner, its claims in order."""
        self.struck: dict[str, int] = {}
        """By owner who has lied, since when that is known."""
        self.now = 0
        """When the newest entry was merged."""
        self._signatures: dict[str, tuple[bytes, ...]] = {}
        self._active: dict[str, list[int]] = {}
        self._ended: dict[str, list[Stage]] = {}
        """The stages of claims that wait for nothing, up to now."""

    # Adds entries.

    def add_claim(self, hash: str, claim: Claim, at: int) -> None:
        """Adds a claim. Those of a runner come in their order."""
        self.claims[hash], self.merged[hash] = claim, at
        self.of_runner.setdefault(claim.runner, []).append(hash)
        self.add_activity(claim.owner, at)

    def add_seal(self, seal: Seal, at: int) -> None:
        """Adds a seal."""
        self.seals.setdefault(seal.claim, {}).setdefault(seal.owner, Sealed(seal, at))
        self.learn(seal.claim, tuple(map(bytes.fromhex, seal.signatures)))
        self.add_activity(seal.owner, at)

    def add_result(self, result: Result) -> None:
        """Adds a batch."""
        self.results.setdefault(result.head.claim, {}).setdefault(result.head.owner, result)
        self.learn(result.head.claim, tuple(map(bytes.fromhex, result.head.signatures)))
        self.add_activity(result.head.owner, result.at)

    def add_strike(self, owner: str, at: int) -> None:
        """Says that an owner has lied."""
        self.struck[owner] = min(at, self.struck.get(owner, at))
        self.now = max(self.now, at)
        self._ended.clear()

    def add_activity(self, owner: str, at: int) -> None:
        """Says that an owner has handed something in, or got a runner."""
        bisect.insort(self._active.setdefault(owner, []), at)
        self.now = max(self.now, at)
        self._ended.clear()

    def learn(self, claim: str, signatures: tuple[bytes, ...]) -> None:
        """Says the signatures of a claim's draws, which somebody has checked."""
        if len(signatures) > len(self.known(claim)):
            self._signatures[claim] = signatures

    # What the claims draw.

    def first_round(self, hash: str) -> int:
        """Returns the round that draws the games of a claim."""
        return self.claims[hash].round or self.merged[hash]

    def signature_of(self, known: tuple[bytes, ...], number: int, round: int, now: int) -> bytes | None:
        """Returns the signature of a draw, which is known or can be fetched; None if it is not out."""
        if number < len(known):
            return known[number]
        return self.fetch(round) if self.beacon.time_of(round) <= now else None

    def known(self, hash: str) -> tuple[bytes, ...]:
        """Returns the signatures of a claim's draws that entries have."""
        return self._signatures.get(hash, ())

    def stages(self, hash: str, now: int, signatures: tuple[bytes, ...] = ()) -> list[Stage]:
        """Returns the stages of a claim up to a time. Only the last one may go on.

        `signatures`: those of its draws, if no entry has them yet.
        """
        if now == self.now and hash in self._ended:
            return self._ended[hash]
        stages = [*_Course(self, hash, now, max(self.known(hash), signatures, key=len)).stages()]
        if now == self.now and stages[-1].end is not None:
            self._ended[hash] = stages
        return stages

    def active(self, begin: int, since: float) -> list[str]:
        """Returns the owners who handed something in after `since` and up to `begin`, sorted; none that was struck."""
        return sorted(
            owner
            for owner, times in self._active.items()
            if bisect.bisect_right(times, begin) > bisect.bisect_right(times, since)
            and not self.is_struck(owner, begin)
        )

    def next_activity(self, begin: int, without: Set[str]) -> int | None:
        """Returns when another owner hands something in for the first time after `begin`."""
        later = (
            times[place]
            for owner, times in self._active.items()
            if owner not in without and not self.is_struck(owner, begin)
            for place in [bisect.bisect_right(times, begin)]
            if place < len(times)
        )
        return min(later, default=None)

    def is_struck(self, owner: str, at: int) -> bool:
        """Whether it was known at a time that an owner has lied."""
        return owner in self.struck and self.struck[owner] <= at

    # Owners.

    def done(self, hash: str, kind: StageKind, owner: str) -> int | None:
        """Returns when an owner has done what a stage asks for; None = not yet."""
        entries: Mapping[str, Sealed | Result] = (self.seals if kind is StageKind.SEAL else self.results).get(hash, {})
        return entries[owner].at if owner in entries else None

    def task(self, hash: str, owner: str, now: int) -> Stage | None:
        """Returns what an owner has to do for a claim now; None = nothing."""
        last = self.stages(hash, now)[-1:]
        going_on = [stage for stage in last if stage.end is None and now <= stage.due and owner in stage.owners]
        return next((stage for stage in going_on if self.done(hash, stage.kind, owner) is None), None)

    def closed(self, hash: str) -> int:
        """Returns until when a claim is open for its runner: until it has handed in, or until that was due."""
        claim, rules = self.claims[hash], self.rules_of(self.claims[hash])
        kind, hours = (
            (StageKind.SEAL, rules.seal_hours) if self.is_sealed(claim) else (StageKind.PLAY, rules.claim_hours)
        )
        due = self.beacon.time_of(self.first_round(hash)) + round(hours * HOUR_S)
        done = self.done(hash, kind, claim.owner)
        return due if done is None else min(done, due)

    def lapses(self, owner: str, now: int) -> list[int]:
        """Returns when an owner let a claim lapse, or did not open a seal, until a time."""
        found = []
        for hash, claim in self.claims.items():
            if claim.owner == owner or owner in self.seals.get(hash, {}):
                found += [stage.due for stage in self.missed(hash, owner, now)]
        return sorted(found)

    def missed(self, hash: str, owner: str, now: int) -> Iterator[Stage]:
        """Yields what an owner has not done in time for a claim, until a time."""
        for number, stage in enumerate(self.stages(hash, now)):
            is_own = stage.kind is StageKind.OPEN or (number == 0 and owner == self.claims[hash].owner)
            if is_own and owner in stage.owners and stage.due < now:
                done = self.done(hash, stage.kind, owner)
                if done is None or done > stage.due:
                    yield stage

    def refusal(self, runner: str, owner: str, settings: Settings, now: int, lapses: Sequence[int]) -> str:
        """Returns why a runner may not claim at a time; empty if it may. `lapses`: those of its owner."""
        if self.is_struck(owner, now):
            return f"{owner} has lied, and its runners may not claim; ask a maintainer"
        own = [hash for hash in self.of_runner.get(runner, ()) if self.merged[hash] < now]
        waiting = [self.claims[hash].number for hash in own if self.closed(hash) >= now]
        if len(waiting) >= settings.open_claims:
            numbers = ", ".join(map(str, waiting))
            return f"runner {runner} has claim {numbers} open; hand in its games first, with `referee ladder play`"
        since = now - settings.lapse_days * DAY_S
        lapsed = sum(since < due < now for due in lapses)
        if lapsed >= settings.lapses:
            return (
                f"{owner} let {lapsed} claims or seals lapse within {settings.lapse_days:g} days, and may claim again "
                "when they are older"
            )
        return ""


class _Course:
    """Follows what happened with a claim, from its merge on."""

    def __init__(self, chain: Chain, hash: str, now: int, known: tuple[bytes, ...]) -> None:
        self.chain, self.hash, self.now, self.known = chain, hash, now, known
        self.claim, self.begin = chain.claims[hash], chain.merged[hash]
        self.rules = chain.rules_of(self.claim)
        self.used: set[str] = set()
        self.rounds: tuple[int, ...] = ()
        self.signatures: tuple[bytes, ...] = ()
        self.players: set[str] = set()
        self.samplers: set[str] = set()
        self.stopped = False

    def stages(self) -> Iterator[Stage]:
        is_sealed = self.chain.is_sealed(self.claim)
        while not self.stopped and len(self.rounds) < MOST_STAGES:
            need = self._need_of_sealed() if is_sealed else self._need_of_modules()
            if need:
                yield from self._sealing(need) if is_sealed else self._playing()
                continue
            struck = [at for each in self.used if (at := self.chain.struck.get(each, 0)) > self.begin]
            if not struck or min(struck) > self.now:
                return
            self.begin = min(struck)

    def _results(self, owners: Set[str]) -> dict[str, str]:
        """Returns what owners who have handed in, and are not struck, say of all games."""
        results = self.chain.results.get(self.hash, {})
        return {
            owner: results[owner].head.courses
            for owner in owners
            if owner in results and results[owner].at <= self.begin and not self.chain.is_struck(owner, self.begin)
        }

    def _need_of_sealed(self) -> int:
        """Returns how many more owners have to play."""
        said = list(self._results(self.players).values())
        most = max((said.count(each) for each in said), default=0)
        return 0 if len(said) >= 2 * self.rules.witnesses else max(0, self.rules.witnesses - most)

    def _need_of_modules(self) -> int:
        if not self._results(self.players):
            return 1
        return int(self.claim.games > self.rules.whole and not self._results(self.samplers))

    def _playing(self) -> Iterator[Stage]:
        """Yields a stage in which one owner plays games of modules, all or a sample."""
        kind = StageKind.SAMPLE if self._results(self.players) else StageKind.PLAY
        stage = self._drawn(kind, 1, self.rules.claim_hours)
        if stage is not None:
            (self.players if kind is StageKind.PLAY else self.samplers).update(stage.owners)
            yield stage

    def _sealing(self, need: int) -> Iterator[Stage]:
        """Yields stages until as many owners as are needed have sealed, and the one in which they open."""
        sealed: set[str] = set()
        while len(sealed) < need and len(self.rounds) < MOST_STAGES:
            stage = self._drawn(StageKind.SEAL, need - len(sealed), self.rules.seal_hours)
            if stage is not None:
                yield stage
            if stage is None or self.stopped:
                return
            seals = self.chain.seals.get(self.hash, {})
            sealed |= {each for each in stage.owners if each in seals and seals[each].at <= stage.due}
        self.players |= sealed
        if sealed:
            due = self._due(self.begin, self.rules.seal_hours)
            yield self._ended(StageKind.OPEN, self.begin, due, tuple(sorted(sealed)))

    def _drawn(self, kind: StageKind, count: int, hours: float) -> Stage | None:
        """Returns a stage with owners who are drawn; None if there is nobody to draw yet."""
        own = () if self.rounds else (self.claim.owner,)
        pool = self._pool()
        if not own and not pool:
            later = self.chain.next_activity(self.begin, self.used)
            if later is None or later > self.now:
                self.stopped = True
                return None
            self.begin = later
            pool = self._pool()
        beacon = self.chain.beacon
        round = next_round(beacon, self.begin, self.rules.ahead) if self.rounds else self.chain.first_round(self.hash)
        signature = self.chain.signature_of(self.known, len(self.rounds), round, self.now)
        self.rounds += (round,)
        self.signatures += () if signature is None else (signature,)
        due = self._due(beacon.time_of(round), hours)
        self.used |= {*own}
        pool = [each for each in pool if each not in own]
        if signature is None:
            self.stopped = True
            is_drawn = len(own) == count or not pool
            return Stage(kind, self.begin, due, own, self.signatures, self.rounds, None, is_drawn)
        owners = own + draw.drawn_owners(signature, self.hash, pool, count - len(own))
        self.used |= {*owners}
        return self._ended(kind, self.begin, due, owners)

    def _pool(self) -> list[str]:
        active = self.chain.active(self.begin, self.begin - self.rules.active_days * DAY_S)
        return [each for each in active if each not in self.used]

    def _due(self, start: int, hours: float) -> int:
        return start + round(hours * HOUR_S)

    def _ended(self, kind: StageKind, begin: int, due: int, owners: tuple[str, ...]) -> Stage:
        """Returns a stage with its end, at which the next one begins."""
        done = [self.chain.done(self.hash, kind, owner) for owner in owners]
        if kind is StageKind.OPEN:  # who opened something else has been struck
            done = [at or self.chain.struck.get(owner) for owner, at in zip(owners, done, strict=True)]
        times = [at for at in done if at is not None and at <= min(due, self.now)]
        end = max(times) if len(times) == len(owners) else due if due < self.now else None
        if end is None:
            self.stopped = True
        else:
            self.begin = max(self.begin, end)
        return Stage(kind, begin, due, owners, self.signatures, self.rounds, end)
