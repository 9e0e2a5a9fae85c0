"""Which games a claim is about: a pure function of the head of the chain, the runner and the number of its claim."""

from collections.abc import Set
from hashlib import shake_256

from msgspec import Struct

from referee.addons.ladder.chain import Chain, Natures, Need, digest
from referee.addons.ladder.records import Claim, Settings
from referee.addons.tournament.formats.designs import rows, seated
from referee.harness.common.errors import UsageError

WORD_BYTES = 8
SEED_BITS = 32


class BotVersion(Struct, frozen=True):
    """A version of a bot."""

    name: str
    version: str
    """The id of its folder in git."""
    is_module: bool
    deterministic: bool
    git: str = ""
    """The address of the repository with its files; empty if they are in its folder."""
    commit: str = ""
    """Of that repository."""

    @property
    def label(self) -> str:
        """Its name in replays, which says the version."""
        return f"{self.name}@{self.version[:10]}"


class DrawnGame(Struct, frozen=True, gc=False):
    """A game to play."""

    bots: tuple[int, ...]
    """Places on the list of bots, by seat."""
    seed: int
    group: int
    """The seed group: its games have the same bots and seed, with other seats."""


def due(
    chain: Chain, runner: str, owner: str, settings: Settings, natures: Natures, struck: Set[str] = frozenset()
) -> Need | None:
    """Returns what the runner's next claim has to be about; None = new games.

    Nobody chooses: of what has to be played again, the head of the chain draws one.
    """
    needs = chain.needs(owner, settings, natures, struck)
    if not needs:
        return None
    number = len(chain.of_runner.get(runner, ())) + 1
    drawn = digest(chain.tips(), runner, number, "what")
    return needs[int.from_bytes(drawn[:WORD_BYTES], "big") % len(needs)]


def new_games(claim: Claim, bots: int, seats: int) -> list[DrawnGame]:
    """Returns the games of a claim of new games. UsageError if there are too few bots for one."""
    if bots < seats:
        raise UsageError(f"the ladder has {bots} bots; a game takes {seats}: enter another with `referee ladder enter`")
    row_count = len(rows(seats))
    count = claim.games // row_count
    seed = digest(claim.after, claim.runner, claim.number, f"games\n{claim.bots}\n{claim.rules}")
    luck = shake_256(seed).digest(WORD_BYTES * (seats + 1) * count)
    words = [int.from_bytes(luck[at : at + WORD_BYTES], "big") for at in range(0, len(luck), WORD_BYTES)]
    games = []
    for group in range(count):
        at = group * (seats + 1)
        line_up = _distinct(words[at : at + seats], bots)
        seed_of = words[at + seats] >> (8 * WORD_BYTES - SEED_BITS)
        games += [DrawnGame(seated(line_up, group, row), seed_of, group) for row in range(row_count)]
    return games


def _distinct(words: list[int], bots: int) -> tuple[int, ...]:
    """Returns different places, as if drawn from a hat."""
    drawn: list[int] = []
    for count, word in enumerate(words):
        place = word % (bots - count)
        for taken in sorted(drawn):
            place += place >= taken
        drawn.append(place)
    return tuple(drawn)


def sampled(claim: Claim, of_modules: list[int], most: int) -> list[int]:
    """Returns the places of the games to check, drawn from the head that the checker saw: after they were handed in."""
    chosen: list[int] = []
    seed = digest(claim.after, claim.runner, claim.number, f"sample\n{claim.of}")
    luck = shake_256(seed).digest(WORD_BYTES * most)
    left = list(of_modules)
    for at in range(0, len(luck), WORD_BYTES):
        if left:
            chosen.append(left.pop(int.from_bytes(luck[at : at + WORD_BYTES], "big") % len(left)))
    return sorted(chosen)


def is_of_modules(game: DrawnGame, bots: tuple[BotVersion, ...]) -> bool:
    """Whether only modules play."""
    return all(bots[place].is_module for place in game.bots)
