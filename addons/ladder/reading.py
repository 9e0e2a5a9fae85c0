"""A ladder at a commit: settings, runners, bots, and the chain of claims and batches, all read from git's objects."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.addons.ladder.chain import Chain, Nature, Natures, Result
from referee.addons.ladder.draw import BotVersion, DrawnGame, is_of_modules, new_games, sampled
from referee.addons.ladder.records import (
    BOTS,
    CLAIMS,
    GAMES,
    HASH,
    NAME,
    RUNNERS,
    SETTINGS,
    STRIKES,
    Batch,
    Claim,
    Part,
    Runner,
    Settings,
    hash_of,
    read_batch,
    read_claim,
    read_runner,
    read_settings,
)
from referee.addons.tournament.intake.objects import FOLDER, Repository, TreeEntry
from referee.addons.wasm.kind import MODULE
from referee.harness.common import toml
from referee.harness.common.errors import UsageError
from referee.harness.common.kept_rules import RULES, kept_rules
from referee.harness.common.known_games import find_game
from referee.harness.match.rule_options import options as rule_options
from referee.harness.programs.bot_file import MAX_BYTES, BotFile
from referee.harness.programs.build import BOT_FILE
from referee.harness.programs.zip_archive import USER_BYTES
from referee.protocol.errors import UNDECODABLE

ADDED = "A"
"""The status of a file that a merge has added."""
RECENT = 64
"""The claims whose games are kept. Those of a year would take hundreds of megabytes."""
MOST_SMALL = 64 << 10
"""The most bytes of a file that is no batch."""


class Strike(Struct, frozen=True, forbid_unknown_fields=True):
    """The proof that a runner has lied: anybody can play the game again."""

    strike: int
    """The version of the format."""
    claim: str
    """The hash of the claim whose batch lies."""
    game: int
    """The place of the game in it, from 0 on."""
    said: str
    """Its line in the batch."""
    played: str
    """Ranks, turns and course as they are when it is played."""


class Fields:
    """The lists of bots by the id of their folder in git, which are all in the history of a ladder."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._known: dict[str, tuple[BotVersion, ...]] = {"": ()}
        self._versions: dict[str, tuple[bool, bool, str, str]] = {}

    def load(self, ids: Iterable[str]) -> None:
        """Reads lists of bots that are not known yet, all at once."""
        new = sorted({*ids} - self._known.keys())
        if not new:
            return
        folders = [
            [each for each in entries if each.mode == FOLDER and NAME.fullmatch(each.path)]
            for entries in self._repository.folder_entries(new)
        ]
        unknown = sorted({each.id for entries in folders for each in entries} - self._versions.keys())
        files = self._repository.find((f"{id}:{BOT_FILE}" for id in unknown), MAX_BYTES)
        for id, (_, content) in zip(unknown, files, strict=True):
            bot = None if content is None else bot_file(content)
            module = bot is not None and is_module(bot)
            deterministic = module or (bot is not None and bot.deterministic)
            git, commit = ("", "") if bot is None else (bot.git or "", bot.commit or "")
            self._versions[id] = (module, deterministic, git, commit)
        for id, entries in zip(new, folders, strict=True):
            self._known[id] = tuple(BotVersion(each.path, each.id, *self._versions[each.id]) for each in entries)

    def bots(self, id: str) -> tuple[BotVersion, ...]:
        """Returns the bots of a folder by name."""
        self.load([id])
        return self._known[id]


def is_module(bot: BotFile) -> bool:
    """Whether a bot is a module, equal on every machine. One that each machine builds is not."""
    return bot.run[:1] != [] and bot.run[0].endswith(MODULE.suffix or "") and bot.build is None


def bot_file(content: bytes) -> BotFile | None:
    """Reads a `bot.toml`; None if it is wrong."""
    try:
        return msgspec.convert(toml.parsed(content.decode("utf-8-sig")), BotFile)
    except (ValueError, msgspec.ValidationError):
        return None


class Ladder:
    """A ladder at a commit. UsageError if a file of it is wrong."""

    def __init__(self, repository: Repository, commit: str, fields: Fields | None = None) -> None:
        self.repository, self.commit = repository, commit
        self.fields = fields or Fields(repository)
        self.settings_id, self.bots_id = repository.id_of(commit, SETTINGS), repository.id_of(commit, BOTS)
        if not self.settings_id:
            raise UsageError(f"{repository.folder}: {commit[:12]} holds no ladder: there is no {SETTINGS}")
        self.settings: Settings = read_settings(next(repository.read([self.settings_id], MOST_SMALL)))
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
        """The files of runners, claims, batches and strikes."""
        paths = (f"{each}/" for each in (RUNNERS, CLAIMS, GAMES, STRIKES))
        return self.repository.entries(self.commit, *paths)

    @cached_property
    def runners(self) -> dict[str, Runner]:
        """The runners by name."""
        files = [each for each in self.entries if each.path.startswith(f"{RUNNERS}/")]
        contents = self.repository.read((each.id for each in files), MOST_SMALL)
        found = {}
        for file, content in zip(files, contents, strict=True):
            name = file.path.removeprefix(f"{RUNNERS}/").removesuffix(".toml")
            if not NAME.fullmatch(name):
                raise UsageError(f"{file.path}: expected {RUNNERS}/NAME.toml")
            found[name] = read_runner(content, file.path)
        return found

    @property
    def bots(self) -> tuple[BotVersion, ...]:
        """Those that take part now."""
        return self.fields.bots(self.bots_id)

    @cached_property
    def chain(self) -> Chain:
        """The claims and batches."""
        return Chain(dict(self._claims()), {each.head.claim: each for each in self._results()})

    def _claims(self) -> Iterator[tuple[str, Claim]]:
        files = [each for each in self.entries if each.path.startswith(f"{CLAIMS}/")]
        contents = self.repository.read((each.id for each in files), MOST_SMALL)
        for file, content in zip(files, contents, strict=True):
            claim, signed, _ = read_claim(content, file.path)
            yield hash_of(signed), claim

    def _results(self) -> Iterator[Result]:
        for file, batch in self.batches():
            yield Result(batch.hash, batch.head, file.id)

    def batches(self) -> Iterator[tuple[TreeEntry, Batch]]:
        """Yields all batches with their files."""
        files = [each for each in self.entries if each.path.startswith(f"{GAMES}/")]
        contents = self.repository.read(each.id for each in files)
        for file, content in zip(files, contents, strict=True):
            yield file, read_batch(content, file.path)

    @cached_property
    def strikes(self) -> dict[str, Strike]:
        """The strikes by claim."""
        files = [each for each in self.entries if each.path.startswith(f"{STRIKES}/")]
        contents = self.repository.read((each.id for each in files), MOST_SMALL)
        return {
            strike.claim: strike
            for file, content in zip(files, contents, strict=True)
            for strike in [read_strike(content, file.path)]
        }

    @cached_property
    def struck(self) -> frozenset[str]:
        """The claims of runners that have lied: their batches count only where others have confirmed them."""
        claims = self.chain.claims
        liars = {claims[hash].runner for hash in self.strikes if hash in claims}
        return frozenset(hash for runner in liars for hash in self.chain.of_runner[runner])

    # The games of a claim.

    def games_of(self, claim: Claim) -> tuple[tuple[BotVersion, ...], list[int], list[DrawnGame]]:
        """Returns the bots, and the games of a claim with their places among the new games that were drawn.

        UsageError if the claim of these new games is missing.
        """
        origin = claim if claim.part is Part.NEW else self.chain.claims.get(claim.of)
        if origin is None:
            raise UsageError(f"claim {claim.of[:12]} is missing, whose games {claim.runner} has played")
        bots = self.fields.bots(origin.bots)
        games = self._new_games(origin, len(bots), seats_of(self.rules_of(origin.rules)))
        places = list(range(len(games)))
        if claim.part is Part.SAMPLE:
            of_modules = [place for place in places if is_of_modules(games[place], bots)]
            places = sampled(claim, of_modules, self.rules_of(claim.rules).whole)
        return bots, places, [games[place] for place in places]

    @cached_property
    def _new_games(self) -> Callable[[Claim, int, int], list[DrawnGame]]:
        return lru_cache(RECENT)(new_games)  # a batch, its witness's and its draw come soon after each other

    def rules_of(self, id: str) -> Settings:
        """Returns the settings of a claim, which may be older than those of the commit."""
        if id not in self._rules:
            self._rules[id] = read_settings(next(self.repository.read([id], MOST_SMALL)))
        return self._rules[id]

    @cached_property
    def _rules(self) -> dict[str, Settings]:
        return {self.settings_id: self.settings}

    def natures_at(self, bots_id: str) -> Natures:
        """Returns what says how the games of a claim are checked, for somebody who sees these bots."""
        present = {bot.version for bot in self.fields.bots(bots_id)}

        def nature(claim: Claim) -> Nature:
            known, fetched = self._nature(claim)
            return known if fetched <= present else msgspec.structs.replace(known, is_gone=True)

        return nature

    def _nature(self, claim: Claim) -> tuple[Nature, frozenset[str]]:
        """Returns how the games of a claim are checked, and the versions of other repositories that play in them."""
        known = self._natures.get(claim)
        if known is None:
            bots, _, games = self.games_of(claim)
            modules = sum(is_of_modules(game, bots) for game in games)
            played = [bots[place] for place in {place for game in games for place in game.bots}]
            nature = Nature(modules < len(games), all(bot.deterministic for bot in played), modules)
            known = self._natures[claim] = nature, frozenset(bot.version for bot in played if bot.git)
        return known

    @cached_property
    def _natures(self) -> dict[Claim, tuple[Nature, frozenset[str]]]:
        return {}

    # The history.

    def merges(self) -> list[list[tuple[str, str]]]:
        """Returns for each merge its changes of claims, batches and strikes, in order: status and path."""
        self.repository.need_history()
        words = ("log", "--first-parent", "-m", "--no-renames", "--reverse", "--name-status", "--format=%x01", "-z")
        text = self.repository.text(*words, self.commit, "--", CLAIMS, GAMES, STRIKES)
        found = []
        for part in text.split("\1")[1:]:
            words_of = [word.strip("\n") for word in part.split("\0") if word.strip("\n")]
            found.append(list(zip(words_of[::2], words_of[1::2], strict=True)))
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
    if not HASH.fullmatch(strike.claim) or path != strike_path(strike.claim) or strike.game < 0:
        raise UsageError(f"{path}: expected {STRIKES}/HASH.json with the hash of a claim")
    return strike


def claim_of_strike(path: str) -> str:
    """Returns the hash of the claim that a strike is about; something else if the path is no strike's."""
    return path.removeprefix(f"{STRIKES}/").removesuffix(".json")


def strike_path(claim: str) -> str:
    """Returns the place of a strike."""
    return f"{STRIKES}/{claim}.json"
