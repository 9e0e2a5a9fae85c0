"""A ladder at a commit: settings, runners, bots, and the chain of its entries, all read from git's objects."""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from os.path import splitext
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.addons.ladder import records
from referee.addons.ladder.beacon import Beacon, beacon_of
from referee.addons.ladder.chain import Chain, Result, Stage
from referee.addons.ladder.draw import BotVersion, DrawnGame, new_games, sampled
from referee.addons.ladder.records import BOTS, ENTRIES, RUNNERS, SETTINGS, Batch, Claim, Runner, Settings, StageKind
from referee.addons.tournament.intake.objects import FOLDER, Repository, TreeEntry
from referee.addons.wasm.kind import MODULE
from referee.harness.common import toml
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.kept_rules import RULES, kept_rules
from referee.harness.common.known_games import find_game
from referee.harness.match.rule_options import options as rule_options
from referee.harness.programs.bot_file import MAX_BYTES, BotFile
from referee.harness.programs.build import BOT_FILE
from referee.harness.programs.zip_archive import USER_BYTES
from referee.protocol.errors import UNDECODABLE

ADDED = "A"
"""The status of a file that a merge has added."""
MOST_SMALL = 64 << 10
"""The most bytes of a file that is no batch."""
BEACON_LINE = "Beacon"
"""The trailer of a merge commit with 32 random bytes."""


class Strike(Struct, frozen=True, forbid_unknown_fields=True):
    """The proof that a batch of modules lies: anybody can play the game again."""

    strike: int
    """The version of the format."""
    batch: str
    """The hash of the batch that lies."""
    game: int
    """The place of the game in it, from 0 on."""
    said: str
    """Its line in the batch."""
    played: str
    """Its line as it is when it is played."""


class Merge(Struct, frozen=True):
    """A commit of the ladder's branch that changes entries or runners."""

    commit: str
    at: int
    """Its time, in seconds since 1970."""
    luck: bytes
    """Its random bytes; empty without them."""
    changes: tuple[tuple[str, str], ...]
    """Status and path of each file."""

    @property
    def has_entries(self) -> bool:
        """Whether it changes more than runners."""
        return any(path.split("/")[0] in ENTRIES for _, path in self.changes)


class Fields:
    """The lists of bots by the id of their folder in git, which are all in the history of a ladder."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._known: dict[str, tuple[BotVersion, ...]] = {"": ()}
        self._versions: dict[str, tuple[bool, bool]] = {}

    def load(self, ids: Iterable[str]) -> None:
        """Reads lists of bots that are not known yet, all at once."""
        new = sorted({*ids} - self._known.keys())
        if not new:
            return
        folders = [
            [each for each in entries if each.mode == FOLDER and records.NAME.fullmatch(each.path)]
            for entries in self._repository.folder_entries(new)
        ]
        unknown = sorted({each.id for entries in folders for each in entries} - self._versions.keys())
        files = self._repository.find((f"{id}:{BOT_FILE}" for id in unknown), MAX_BYTES)
        for id, (_, content) in zip(unknown, files, strict=True):
            bot = None if content is None else bot_file(content)
            self._versions[id] = bot is not None and is_module(bot), bot is not None and can_repeat(bot)
        for id, entries in zip(new, folders, strict=True):
            known = [(each, *self._versions[each.id]) for each in entries]
            self._known[id] = tuple(
                BotVersion(each.path, each.id, module) for each, module, repeats in known if repeats
            )

    def bots(self, id: str) -> tuple[BotVersion, ...]:
        """Returns the bots of a folder by name: those whose games can be repeated."""
        self.load([id])
        return self._known[id]


def is_module(bot: BotFile) -> bool:
    """Whether a bot is a module, equal on every machine. One that each machine builds is not."""
    return bot.run[:1] != [] and splitext(bot.run[0])[1] == MODULE.suffix and bot.build is None


def can_repeat(bot: BotFile) -> bool:
    """Whether everybody who plays a game of this bot sees the same answers."""
    return is_module(bot) or bot.deterministic


def bot_file(content: bytes) -> BotFile | None:
    """Reads a `bot.toml`; None if it is wrong."""
    try:
        return msgspec.convert(toml.parsed(content.decode("utf-8-sig")), BotFile)
    except (ValueError, msgspec.ValidationError):
        return None


class Ladder:
    """A ladder at a commit. UsageError if a file of it is wrong."""

    def __init__(
        self, repository: Repository, commit: str, fields: Fields | None = None, has_network: bool = False
    ) -> None:
        """`has_network`: fetch rounds of the beacon that no entry has yet, for somebody who plays."""
        self.repository, self.commit = repository, commit
        self.has_network = has_network
        self.fields = fields or Fields(repository)
        self.settings_id, self.bots_id = (
            repository.id_of(commit, SETTINGS),
            repository.id_of(commit, BOTS),
        )
        if not self.settings_id:
            raise UsageError(f"{repository.folder}: {commit[:12]} holds no ladder: there is no {SETTINGS}")
        self.settings: Settings = records.read_settings(next(repository.read([self.settings_id], MOST_SMALL)))
        self._rules = {self.settings_id: self.settings}
        self.open_rules()
        self.game = find_game(self.settings.game)
        self.seats = seats_of(self.settings)

    def open_rules(self) -> None:
        """Finds the game by the ladder's copy of its rules from now on, if they are a program. It starts nothing."""
        hash, path = self.settings.rules, f"{RULES}/{self.settings.rules}.zip"
        if not hash:
            return
        with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
            copy = Path(scratch, "rules.zip")
            if not kept_rules().is_here(hash):
                copy.write_bytes(next(self.repository.read([f"{self.commit}:{path}"], USER_BYTES)))
            found = kept_rules().opened(copy, hash)
        if found.name != self.settings.game:
            raise UsageError(f"{path} has the rules of {found.name}; {SETTINGS} names {self.settings.game}")

    def check_rules(self) -> None:
        """UsageError if this machine cannot play by the settings: another version of the game, or wrong options."""
        if why := self.other_version(self.settings):
            raise UsageError(why)
        try:
            rule_options(self.game, self.settings.options, self.seats)
        except UsageError as error:
            raise UsageError(f"{SETTINGS}: {error}") from error

    def other_version(self, rules: Settings) -> str:
        """Returns why this machine cannot play games of these settings again; empty if it has the game's version.

        An honest runner would look wrong.
        """
        if rules.rules != self.settings.rules:
            return f"{SETTINGS}: the games are played by rules of {rules.game} that the ladder has no more"
        if rules.version in (None, self.game.version):
            return ""
        return (
            f"{SETTINGS}: the games are played by version {rules.version} of {rules.game}, and this referee has "
            f"version {self.game.version}; install the referee that the ladder's workflows install"
        )

    @cached_property
    def entries(self) -> list[TreeEntry]:
        """The files of runners, claims, seals, batches, strikes and checkpoints."""
        return self.repository.entries(self.commit, *(f"{each}/" for each in (RUNNERS, *ENTRIES)))

    def files(self, folder: str, most: int | None = MOST_SMALL) -> Iterator[tuple[TreeEntry, bytes]]:
        """Yields the files of a folder with their contents. `most`: bytes of each."""
        files = [each for each in self.entries if each.path.startswith(f"{folder}/")]
        ids = (each.id for each in files)
        yield from zip(
            files, self.repository.read(ids) if most is None else self.repository.read(ids, most), strict=True
        )

    @cached_property
    def runners(self) -> dict[str, Runner]:
        """The runners by name."""
        found = {}
        for file, content in self.files(RUNNERS):
            name = file.path.removeprefix(f"{RUNNERS}/").removesuffix(".toml")
            if not records.NAME.fullmatch(name):
                raise UsageError(f"{file.path}: expected {RUNNERS}/NAME.toml")
            found[name] = records.read_runner(content, file.path)
        return found

    @property
    def bots(self) -> tuple[BotVersion, ...]:
        """Those that take part now."""
        return self.fields.bots(self.bots_id)

    @cached_property
    def beacon(self) -> Beacon:
        """Where its randomness comes from."""
        return beacon_of(self.settings.beacon, [(each.at, each.luck) for each in self.merges if each.has_entries])

    @cached_property
    def chain(self) -> Chain:
        """The entries."""
        times = {path: merge.at for merge in self.merges for status, path in merge.changes if status == ADDED}
        chain = Chain(self.beacon, lambda claim: self.rules_of(claim.rules), self.is_sealed, self._fetch)
        claims = [records.read_claim(content, file.path)[:2] for file, content in self.files(records.CLAIMS)]
        for claim, signed in sorted(claims, key=lambda each: (each[0].runner, each[0].number)):
            at = times.get(records.claim_path(claim.runner, claim.number), 0)
            chain.add_claim(records.hash_of(signed), claim, at)
        for file, content in self.files(records.SEALS):
            chain.add_seal(records.read_seal(content, file.path)[0], times.get(file.path, 0))
        for file, batch in self.batches():
            chain.add_result(Result(batch.hash, batch.head, file.id, times.get(file.path, 0)))
        for owner, at in self._new_runners():
            chain.add_activity(owner, at)
        for path, (owner, _) in self.strikes.items():
            chain.add_strike(owner, times.get(path, 0))
        chain.now = max((merge.at for merge in self.merges), default=0)
        return chain

    def _new_runners(self) -> Iterator[tuple[str, int]]:
        """Yields who got a runner, and when, from the whole history.

        Otherwise a maintainer could change who was drawn, by runners that are removed, or added with an older date. A
        runner counts after all entries that were merged before it.
        """
        last, found = 0, list[tuple[str, int]]()
        for merge in self.merges:
            changed = [path for status, path in merge.changes if path.startswith(f"{RUNNERS}/") and status != "D"]
            found += [(f"{merge.commit}:{path}", max(merge.at, last + 1)) for path in changed]
            if merge.has_entries:
                last = max(last, merge.at)
        files = self.repository.find((name for name, _ in found), MOST_SMALL)
        for (name, at), (_, content) in zip(found, files, strict=True):
            with suppress(UsageError):  # a maintainer's mistake, corrected later
                yield records.same_owner(records.read_runner(content or b"", name).owner), at

    def batches(self) -> Iterator[tuple[TreeEntry, Batch]]:
        """Yields all batches with their files."""
        for file, content in self.files(records.GAMES, None):
            yield file, records.read_batch(content, file.path)

    def lines_of(self, hash: str) -> dict[str, tuple[bytes, ...]]:
        """Returns the lines of a claim's batches by owner."""
        results = self.chain.results.get(hash, {})
        contents = self.repository.read(each.blob for each in results.values())
        return dict(zip(results, map(records.batch_lines, contents), strict=True))

    @cached_property
    def strikes(self) -> dict[str, tuple[str, Strike | Batch]]:
        """The strikes by path, with the owner who has lied: a wrong game, or an opening that is not what was sealed."""
        wrong = [(file, content) for file, content in self.files(records.STRIKES, None)]
        by_hash = {batch.hash: batch.head.owner for _, batch in self.batches()} if wrong else {}
        found: dict[str, tuple[str, Strike | Batch]] = {}
        for file, content in wrong:
            if file.path.endswith(".txt"):
                batch = records.read_batch(content, file.path)
                found[file.path] = batch.head.owner, batch
            else:
                strike = read_strike(content, file.path)
                if strike.batch in by_hash:
                    found[file.path] = by_hash[strike.batch], strike
        return found

    def is_sealed(self, claim: Claim) -> bool:
        """Whether the games of a claim are sealed: native programs take part."""
        return not all(bot.is_module for bot in self.fields.bots(claim.bots))

    # The games of a claim.

    def _fetch(self, round: int) -> bytes | None:
        if self.beacon.names_rounds and not self.has_network:
            return None
        with suppress(RunError):
            return self.beacon.fetch(round)
        return None

    def games_of(self, hash: str, now: int | None = None) -> tuple[tuple[BotVersion, ...], list[DrawnGame]]:
        """Returns the bots, and the games of a claim. UsageError if their round is not known."""
        chain, claim = self.chain, self.chain.claims[hash]
        round = chain.first_round(hash)
        signature = chain.signature_of(chain.known(hash), 0, round, chain.now if now is None else now)
        if signature is None:
            raise UsageError(
                f"round {round} of the beacon, which draws the games of claim {hash[:12]}, is not known yet"
            )
        return self.games_by(hash, claim, signature)

    def games_by(self, hash: str, claim: Claim, signature: bytes) -> tuple[tuple[BotVersion, ...], list[DrawnGame]]:
        """Returns the bots, and the games of a claim that a signature draws."""
        bots = self.fields.bots(claim.bots)
        return bots, new_games(signature, hash, claim.games, len(bots), seats_of(self.rules_of(claim.rules)))

    def places(self, hash: str, stage: Stage) -> list[int]:
        """Returns the places of the games that a stage is about."""
        claim = self.chain.claims[hash]
        if stage.kind is StageKind.SAMPLE:
            return sampled(stage.signatures[-1], hash, claim.games, self.rules_of(claim.rules).whole)
        return [*range(claim.games)]

    def rules_of(self, id: str) -> Settings:
        """Returns the settings of a claim, which may be older than those of the commit."""
        if id not in self._rules:
            self._rules[id] = records.read_settings(next(self.repository.read([id], MOST_SMALL)))
        return self._rules[id]

    # The history.

    @cached_property
    def history(self) -> list[str]:
        """The commits of the ladder's branch, newest first. What a merge has brought beside them is no part of it."""
        return self.repository.text("rev-list", "--first-parent", self.commit).split()

    @cached_property
    def merges(self) -> list[Merge]:
        """The commits of the ladder's branch that change entries or runners, in order."""
        self.repository.need_history()
        words = ("log", "--first-parent", "-m", "--no-renames", "--reverse", "--name-status", "-z")
        form = f"--format=%x01%H %ct %(trailers:key={BEACON_LINE},valueonly,separator=%x20)"
        text = self.repository.run(*words, form, self.commit, "--", *ENTRIES, RUNNERS, most=1 << 30).decode()
        found = []
        for part in text.split("\1")[1:]:
            first, *rest = [word.strip("\n") for word in part.split("\0") if word.strip("\n")]
            commit, at, luck = first.split(" ", 2)
            changes = tuple(zip(rest[::2], rest[1::2], strict=True))
            found.append(Merge(commit, int(at), bytes.fromhex(luck) if records.HASH.fullmatch(luck) else b"", changes))
        return found


def seats_of(settings: Settings) -> int:
    """Returns how many bots play a game. UsageError if the game is not played by so many."""
    seats = find_game(settings.game).seats
    if settings.seats is not None and settings.seats not in seats:
        raise UsageError(f"{SETTINGS}: seats is {settings.seats}; {settings.game} takes {' or '.join(map(str, seats))}")
    return settings.seats or seats.start


def read_strike(content: bytes, path: str) -> Strike:
    """Reads a strike. UsageError if it is none."""
    try:
        strike = msgspec.json.decode(content, type=Strike)
    except UNDECODABLE as error:
        raise UsageError(f"{path}: {error}; write it with `referee ladder verify --play`") from error
    if strike.strike != records.FORMAT or not records.HASH.fullmatch(strike.batch) or path != strike_path(strike.batch):
        raise UsageError(f"{path}: expected {records.STRIKES}/HASH.json with the hash of a batch")
    if strike.game < 0:
        raise UsageError(f"{path}: game is {strike.game}; expected its place in the batch, from 0 on")
    return strike


def strike_path(batch: str) -> str:
    """Returns the place of a strike against a batch of modules."""
    return f"{records.STRIKES}/{batch}.json"


def opening_path(claim: Claim, runner: str) -> str:
    """Returns the place of an opening that is not what was sealed."""
    return f"{records.STRIKES}/{claim.runner}/{claim.number:06}/{runner}.txt"
