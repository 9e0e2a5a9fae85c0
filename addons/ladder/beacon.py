"""Randomness that nobody chooses: the rounds of a public beacon, each with a signature that anybody can check.

The default is drand's quicknet (https://docs.drand.love): a round every 3 s, signed by a threshold of organisations.
Nobody knows a signature before its round. Nothing here asks the network except for `fetch`.
"""

import bisect
import hashlib
import os
import urllib.request
from collections.abc import Sequence
from functools import cache, lru_cache
from http.client import HTTPException
from importlib import import_module
from typing import Any, Literal, Protocol

import msgspec
from msgspec import Struct

from referee.addons.ladder.keys import signature_is_right
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.installed import extra_command
from referee.protocol.errors import UNDECODABLE

BLS, ED25519, MERGE = "bls-unchained-g1-rfc9380", "ed25519", "merge"
"""The schemes: drand's, one for a beacon of your own, and random bytes in merge commits."""
DOMAIN = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"
KEY_BYTES = {BLS: 96, ED25519: 32}
QUICKNET = (
    "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451"
    "0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
)
QUICKNET_CHAIN = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"
FETCH_S, MOST_ANSWER = 10.0, 10_000
MOST_PERIOD_S = 3600
MINUTE_S = 60
RECENT = 1 << 10
WEIGHT_BYTES = 16


class BeaconSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The table `beacon` of `ladder.toml`."""

    scheme: str = BLS
    key: str = QUICKNET
    """The public key, in hexadecimal digits."""
    genesis: int = 1_692_803_367
    """The time of round 1, in seconds since 1970."""
    period: int = 3
    """Seconds from a round to the next."""
    addresses: tuple[str, ...] = tuple(
        f"https://{host}/{QUICKNET_CHAIN}" for host in ("api.drand.sh", "api2.drand.sh", "drand.cloudflare.com")
    )
    """Where rounds can be fetched: ADDRESS/public/ROUND."""

    def problem(self) -> str:
        """Returns what is wrong with it; empty if nothing is."""
        if self.scheme not in KEY_BYTES:
            return f'beacon has the scheme {self.scheme[:40]!a}; expected {" or ".join(KEY_BYTES)}, or beacon = "merge"'
        try:
            size = len(bytes.fromhex(self.key))
        except ValueError:
            size = 0
        if size != KEY_BYTES[self.scheme]:
            return f"beacon has no key of {KEY_BYTES[self.scheme]} bytes in hexadecimal digits; copy its public key"
        if not 1 <= self.period <= MOST_PERIOD_S or not 0 <= self.genesis < 1 << 40:
            return f"beacon: expected a period of 1 to {MOST_PERIOD_S} s, and the genesis in seconds since 1970"
        if wrong := [each for each in self.addresses if not each.startswith(("https://", "http://"))]:
            return f"beacon has the address {wrong[0][:80]!a}; expected https://…"
        return ""


class Beacon(Protocol):
    """Where a ladder's randomness comes from."""

    names_rounds: bool
    """Whether a claim names its round; otherwise the round is that of the claim's merge."""

    def round_at(self, at: float) -> int:
        """Returns the first round that is out at this time or later, in seconds since 1970."""

    def time_of(self, round: int) -> int:
        """Returns when a round is out, in seconds since 1970."""

    def is_signature(self, round: int, signature: bytes) -> bool:
        """Returns whether this is the signature of a round."""

    def wrong(self, rounds: Sequence[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
        """Returns those that are not signatures of their rounds. Many are checked at once, which is faster."""

    def fetch(self, round: int) -> bytes:
        """Returns the signature of a round that is out. RunError if it cannot be had."""


def next_round(beacon: Beacon, at: int, ahead: int) -> int:
    """Returns the round that draws for something that happened at a time: at least `ahead` seconds later.

    It is the same for all that happens within a minute.
    """
    if not beacon.names_rounds:
        return at
    step = max(1, min(MINUTE_S, ahead))
    return beacon.round_at(-(-(at + ahead) // step) * step)


class SignedBeacon:
    """A beacon that signs the numbers of its rounds."""

    names_rounds = True

    def __init__(self, settings: BeaconSettings) -> None:
        self.settings = settings

    def round_at(self, at: float) -> int:
        """See `Beacon`."""
        return max(1, 1 + int(-(-(at - self.settings.genesis) // self.settings.period)))

    def time_of(self, round: int) -> int:
        """See `Beacon`."""
        return self.settings.genesis + (round - 1) * self.settings.period

    def is_signature(self, round: int, signature: bytes) -> bool:
        """See `Beacon`."""
        return _are_right(self.settings.scheme, self.settings.key, [(round, signature)])

    def wrong(self, rounds: Sequence[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
        """See `Beacon`."""
        if _are_right(self.settings.scheme, self.settings.key, rounds):
            return []
        return [each for each in rounds if not self.is_signature(*each)]

    def fetch(self, round: int) -> bytes:
        """See `Beacon`."""
        return _fetched(self.settings, round)


class _Told(Struct):
    """The answer of a beacon's server."""

    signature: str


@lru_cache(RECENT)
def _fetched(settings: BeaconSettings, round: int) -> bytes:
    why = "ladder.toml names no addresses of the beacon"
    for address in settings.addresses:
        place = f"{address}/public/{round}"
        try:
            with urllib.request.urlopen(place, timeout=FETCH_S) as answer:
                told = msgspec.json.decode(answer.read(MOST_ANSWER), type=_Told)
            signature = bytes.fromhex(told.signature)
        except (OSError, ValueError, HTTPException, *UNDECODABLE) as error:
            why = f"{place}: {error}"
            continue
        if _are_right(settings.scheme, settings.key, [(round, signature)]):
            return signature
        why = f"{place}: its signature is not one of the beacon that ladder.toml names"
    raise RunError(f"round {round} of the beacon cannot be had: {why}; repeat the command later")


def message(scheme: str, round: int) -> bytes:
    """Returns what a beacon signs of a round."""
    number = round.to_bytes(8, "big")
    return hashlib.sha256(number).digest() if scheme == BLS else b"referee beacon\n" + number


def _are_right(scheme: str, key: str, rounds: Sequence[tuple[int, bytes]]) -> bool:
    """Returns whether all of these are signatures of their rounds.

    With BLS, one equation says it for all: a sum of the signatures with random weights is the same sum of what was
    signed, times the secret key. A wrong signature passes with a chance of 1 in 2^128.
    """
    if not all(0 < round < 1 << 63 for round, _ in rounds):
        return False
    if scheme == ED25519:
        public = bytes.fromhex(key)
        return all(
            len(signature) == 64 and signature_is_right(public, message(scheme, round), signature)
            for round, signature in rounds
        )
    bls = bls_library()
    try:
        points, generator_and_key = [], [bls.G2Point(), _public_point(key)]
        for _, signature in rounds:
            points.append(bls.G1Point.from_compressed_bytes(signature))
    except ValueError:
        return False
    hashed = [bls.G1Point.hash_to_curve(message(scheme, round), DOMAIN) for round, _ in rounds]
    weights = [bls.Scalar.from_be_bytes_mod_order(os.urandom(WEIGHT_BYTES)) for _ in rounds]
    sums = [bls.G1Point.multiexp_unchecked(each, weights) for each in (points, hashed)]
    return bool(bls.GT.pairing_check([sums[0], -sums[1]], generator_and_key))


@cache
def _public_point(key: str) -> Any:
    return bls_library().G2Point.from_compressed_bytes(bytes.fromhex(key))


def bls_library() -> Any:
    """Returns the library for BLS signatures. UsageError if it is not installed."""
    try:
        return import_module("py_arkworks_bls12381")
    except ImportError as error:
        raise UsageError(
            f"this ladder's beacon needs the extra `ladder`; to install it: {extra_command('ladder')}"
        ) from error


class MergeBeacon:
    """Random bytes in the merge commits: for ladders without network, whose maintainers are trusted not to choose."""

    names_rounds = False

    def __init__(self, merges: Sequence[tuple[int, bytes]]) -> None:
        """`merges`: the times of merge commits, which ascend, with their random bytes."""
        self._times, self._bytes = [at for at, _ in merges], [each for _, each in merges]

    def round_at(self, at: float) -> int:
        """See `Beacon`: a round is a time."""
        return int(at)

    def time_of(self, round: int) -> int:
        """See `Beacon`."""
        return round

    def is_signature(self, round: int, signature: bytes) -> bool:
        """See `Beacon`."""
        place = bisect.bisect_right(self._times, round)
        return place > 0 and len(signature) == 32 and signature == self._bytes[place - 1]

    def wrong(self, rounds: Sequence[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
        """See `Beacon`."""
        return [each for each in rounds if not self.is_signature(*each)]

    def fetch(self, round: int) -> bytes:
        """See `Beacon`: the bytes of the newest merge up to that time."""
        place = bisect.bisect_right(self._times, round)
        if place == 0 or len(self._bytes[place - 1]) != 32:
            raise RunError(
                "the merge commit has no line `Beacon:` with 32 random bytes; merge with `check-change --merge`"
            )
        return self._bytes[place - 1]


def beacon_of(settings: "BeaconSettings | Literal['merge']", merges: Sequence[tuple[int, bytes]]) -> Beacon:
    """Returns the beacon that `ladder.toml` names. `merges`: as in `MergeBeacon`."""
    return SignedBeacon(settings) if isinstance(settings, BeaconSettings) else MergeBeacon(merges)
