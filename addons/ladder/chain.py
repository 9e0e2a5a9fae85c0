"""The chain of claims and batches, and what follows from it: who has to play what.

Each entry names the entries before it that no other one names, so that the last ones cover all others, in whatever
order they were merged. Everything here is a pure function of the entries.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from hashlib import sha256

from msgspec import Struct

from referee.addons.ladder.records import MOST_TIPS, Claim, Head, Part, Settings, batch_path, claim_path

DAY_S, HOUR_S = 86_400, 3_600


class Result(Struct, frozen=True):
    """A batch, as the chain needs it."""

    hash: str
    head: Head
    blob: str
    """The id of its file in git."""


class Nature(Struct, frozen=True):
    """What decides how the games of a claim are checked."""

    native: bool
    """A native program plays in one of them."""
    deterministic: bool
    """All programs say that they give the same answers again."""
    modules: int
    """How many games only modules play."""
    is_gone: bool = False
    """A bot of another repository plays in one of them, which has left the ladder in this version."""


Natures = Callable[[Claim], Nature]


class Chain:
    """The entries of a ladder, or those that one of them knew."""

    def __init__(self, claims: Mapping[str, Claim], results: Mapping[str, Result]) -> None:
        """`claims`: by hash. `results`: batches by the hash of their claim."""
        self.claims: dict[str, Claim] = {}
        self.results: dict[str, Result] = {}
        self._after: dict[str, tuple[str, ...]] = {}
        self._named: set[str] = set()
        self._tips: set[str] = set()
        self._heads: dict[str, Head] = {}
        self.tasks: dict[str, list[str]] = {}
        """By claim of new games, the claims to play them again and for samples."""
        self.of_runner: dict[str, list[str]] = {}
        """By runner, its claims in order."""
        self._unfulfilled: dict[str, dict[str, None]] = {}
        """By runner, its claims without a batch."""
        self._unsettled: dict[tuple[int, int], set[str]] = {}
        """By the settings that matter, the claims of new games that somebody may still have to play again."""
        self.now = 0
        for hash, claim in sorted(claims.items(), key=lambda each: (each[1].number, each[0])):
            self.add_claim(hash, claim)
        for each in results.values():
            self.add_result(each)

    def add_claim(self, hash: str, claim: Claim) -> None:
        """Adds a claim. Those of a runner come in their order."""
        self.claims[hash] = claim
        self.of_runner.setdefault(claim.runner, []).append(hash)
        if hash not in self.results:
            self._unfulfilled.setdefault(claim.runner, {})[hash] = None
        if claim.of:
            self.tasks.setdefault(claim.of, []).append(hash)
        elif claim.part is Part.NEW:
            for unsettled in self._unsettled.values():
                unsettled.add(hash)
        self._add(hash, claim.after, claim.at)

    def add_result(self, result: Result) -> None:
        """Adds a batch."""
        head = result.head
        self.results[head.claim], self._heads[result.hash] = result, head
        self._unfulfilled.get(head.runner, {}).pop(head.claim, None)
        self._add(result.hash, (*head.after, head.claim), head.at)

    def _add(self, hash: str, after: tuple[str, ...], at: int) -> None:
        self._after[hash] = after
        self._named.update(after)
        self._tips.difference_update(after)
        if hash not in self._named:
            self._tips.add(hash)
        self.now = max(self.now, at)

    def __len__(self) -> int:
        return len(self._after)

    def __contains__(self, hash: str) -> bool:
        return hash in self._after

    def path(self, hash: str) -> str:
        """Returns the path of an entry's file."""
        claim = self.claims.get(hash)
        if claim is not None:
            return claim_path(claim.runner, claim.number)
        head = self._heads[hash]
        return batch_path(head.runner, head.number)

    def claim_of(self, hash: str) -> str:
        """Returns the hash of a batch's claim."""
        return self._heads[hash].claim

    @property
    def hashes(self) -> Set[str]:
        """Those of all entries."""
        return self._after.keys()

    def tips(self) -> tuple[str, ...]:
        """Returns the hashes of entries that no other one names: the head of the chain."""
        return tuple(sorted(self._tips)[:MOST_TIPS])

    def before(self, after: Iterable[str]) -> set[str]:
        """Returns the hashes of these entries and of all before them. Raises KeyError if one is missing."""
        found: set[str] = set()
        waiting = [*after]
        while waiting:
            hash = waiting.pop()
            if hash not in found:
                waiting += self._after[hash]
                found.add(hash)
        return found

    def part(self, hashes: Set[str]) -> "Chain":
        """Returns the chain of these entries alone."""
        if len(hashes) == len(self._after):
            return self
        claims = {hash: claim for hash, claim in self.claims.items() if hash in hashes}
        return Chain(claims, {of: each for of, each in self.results.items() if each.hash in hashes})

    def after(self, hash: str) -> tuple[str, ...]:
        """Returns the hashes of the entries that an entry names."""
        return self._after[hash]

    def missing(self) -> Iterator[str]:
        """Yields the hashes that an entry names and that are not there."""
        for after in self._after.values():
            for hash in after:
                if hash not in self._after:
                    yield hash

    # Claims.

    def is_open(self, hash: str, settings: Settings) -> bool:
        """Whether a claim has no batch yet and its time is not over."""
        return hash not in self.results and not self.is_lapsed(hash, settings)

    def is_lapsed(self, hash: str, settings: Settings) -> bool:
        """Whether a claim has no batch, and its time is over by the newest entry's clock."""
        return hash not in self.results and self.now > self.deadline(hash, settings)

    def deadline(self, hash: str, settings: Settings) -> int:
        """Returns until when the games of a claim may be handed in, in seconds since 1970."""
        return self.claims[hash].at + round(settings.claim_hours * HOUR_S)

    def refusal(self, runner: str, settings: Settings) -> str:
        """Returns why a runner may not claim now; empty if it may."""
        own = self._unfulfilled.get(runner, {})
        waiting = [self.claims[hash] for hash in own if self.is_open(hash, settings)]
        if len(waiting) >= settings.open_claims:
            numbers = ", ".join(str(claim.number) for claim in waiting)
            return f"runner {runner} has claim {numbers} open; hand in its games first, with `referee ladder play`"
        since = self.now - settings.lapse_days * DAY_S
        lapsed = [self.claims[hash] for hash in own if self.is_lapsed(hash, settings) and self.claims[hash].at > since]
        if len(lapsed) >= settings.lapses:
            return (
                f"runner {runner} let {len(lapsed)} claims lapse within {settings.lapse_days:g} days: it may claim "
                "again when they are older"
            )
        return ""

    # What has to be played again.

    def needs(self, owner: str, settings: Settings, natures: Natures, struck: Set[str] = frozenset()) -> list["Need"]:
        """Returns what somebody else than the players of the games has to play, oldest first.

        `struck`: the claims whose batches a strike has taken out of the table.
        """
        found = []
        rules = (settings.witnesses, settings.whole)
        if rules not in self._unsettled:
            self._unsettled[rules] = {hash for hash, claim in self.claims.items() if claim.part is Part.NEW}
        unsettled = self._unsettled[rules]
        for hash in [*unsettled, *({self.claims[each].of or each for each in struck} - unsettled)]:
            claim = self.claims.get(hash)
            if claim is None:
                continue
            nature = natures(claim)
            if self._is_settled(hash, settings, nature):
                unsettled.discard(hash)
            if not nature.is_gone and (part := self._need(hash, owner, settings, nature, struck)):
                found.append((claim.at, hash, part))
        return [Need(hash, part) for _, hash, part in sorted(found)]

    def _is_settled(self, hash: str, settings: Settings, nature: Nature) -> bool:
        """Whether nobody has to play these games again, whatever is handed in later, unless a runner is struck."""
        played = {self.claims[each].owner for each in self._with_tasks(hash, Part.AGAIN) if each in self.results}
        return bool(played) and not self._lacks(hash, settings, nature, played, set(), False)

    def _with_tasks(self, hash: str, part: Part) -> tuple[str, ...]:
        """Returns a claim of new games, with the claims of a part that are about them."""
        return hash, *(each for each in self.tasks.get(hash, ()) if self.claims[each].part is part)

    def _need(self, hash: str, owner: str, settings: Settings, nature: Nature, struck: Set[str]) -> Part | None:
        again = self._with_tasks(hash, Part.AGAIN)
        played = {self.claims[each].owner for each in again if each in self.results and each not in struck}
        busy = {self.claims[each].owner for each in again if self.is_open(each, settings)}
        if owner in played | busy or (hash in struck and owner == self.claims[hash].owner):
            return None
        if not played:
            return Part.AGAIN if not busy else None
        samples = self._with_tasks(hash, Part.SAMPLE)[1:]
        return self._lacks(hash, settings, nature, played, busy, any(self.is_open(each, settings) for each in samples))

    def _lacks(
        self, hash: str, settings: Settings, nature: Nature, played: Set[str], busy: Set[str], sampling: bool
    ) -> Part | None:
        """Returns what these games need that some owners have played."""
        if nature.native and len(played | busy) < self._witnesses(hash, settings, nature, played):
            return Part.AGAIN
        sampled = sampling or any(each in self.results for each in self._with_tasks(hash, Part.SAMPLE)[1:])
        return Part.SAMPLE if nature.modules > settings.whole and not sampled else None

    def _witnesses(self, hash: str, settings: Settings, nature: Nature, played: Set[str]) -> int:
        """Returns how many owners should play these games: one more while deterministic programs' witnesses differ."""
        if not nature.deterministic or len(played) < settings.witnesses or settings.witnesses == 1:
            return settings.witnesses
        by_course: dict[str, set[str]] = {}
        for each in self._with_tasks(hash, Part.AGAIN):
            if each in self.results:
                by_course.setdefault(self.results[each].head.courses, set()).add(self.claims[each].owner)
        agreeing = max(map(len, by_course.values()))
        return settings.witnesses if agreeing >= settings.witnesses else min(len(played) + 1, 2 * settings.witnesses)


class Need(Struct, frozen=True):
    """Games that somebody else has to play."""

    of: str
    """The claim of the new games."""
    part: Part


def in_order(chain: Chain, hashes: Sequence[str]) -> Iterator[str]:
    """Yields entries that one merge has added, each after those that it names."""
    waiting = dict.fromkeys(hashes)
    while waiting:
        free = [hash for hash in waiting if not waiting.keys() & {*chain.after(hash)}] or [*waiting]
        for hash in free:
            del waiting[hash]
            yield hash


def digest(after: Iterable[str], runner: str, number: int, what: str) -> bytes:
    """Returns 32 bytes that follow from the head of the chain, a runner and the number of its claim."""
    return sha256("\n".join(["referee ladder", *after, runner, str(number), what]).encode()).digest()
