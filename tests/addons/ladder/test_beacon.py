"""The beacon: which round is at a time, whether a signature is its, how it is fetched, and what it draws."""

import base64
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import permutations
from pathlib import Path

import msgspec
import pytest
from ladders import BEACON_KEY, START, signature
from needs import needs

from referee.addons.ladder.beacon import (
    BLS,
    DOMAIN,
    ED25519,
    BeaconSettings,
    MergeBeacon,
    SignedBeacon,
    bls_library,
    message,
    next_round,
)
from referee.addons.ladder.draw import drawn_owners, new_games, sampled
from referee.addons.ladder.records import Claim, hash_of, line_of
from referee.addons.web.addresses import reachable
from referee.harness.common.errors import RunError

OWN = BeaconSettings(scheme=ED25519, key=BEACON_KEY.raw.hex(), genesis=START - 1000, period=3, addresses=())
QUICKNET_1000 = bytes.fromhex(
    "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39"
)
"""Of https://docs.drand.love: the signature of round 1000 of quicknet. Its hash is the published randomness."""

FIELD = int("1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab", 16)
"""The coordinates of BLS12-381 are numbers below this one."""
ORDER = (1 << 252) + 27742317777372353535851937790883648493
"""Of the group of ed25519: a signature's second half is a number below this one."""


@needs("py_arkworks_bls12381")
def test_a_round_of_drands_quicknet_is_checked_without_network() -> None:
    beacon = SignedBeacon(BeaconSettings())
    assert sha256(QUICKNET_1000).hexdigest() == "fe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd"
    assert beacon.is_signature(1000, QUICKNET_1000)
    for round, wrong in (
        (1001, QUICKNET_1000),
        (1000, QUICKNET_1000[:-1] + b"\0"),
        (1000, QUICKNET_1000[:-1]),
        (1000, QUICKNET_1000 + b"\0"),
        (1000, bytes(48)),
        (1000, b"\xc0" + bytes(47)),  # the point at infinity
        (0, QUICKNET_1000),
        (1 << 64, QUICKNET_1000),
    ):
        assert not beacon.is_signature(round, wrong)


@needs("py_arkworks_bls12381")
def test_a_round_of_another_chain_with_the_same_scheme_is_refused() -> None:
    bls = bls_library()
    secret = bls.Scalar.from_be_bytes_mod_order(sha256(b"another chain").digest())
    key = (bls.G2Point() * secret).to_compressed_bytes()
    made = (bls.G1Point.hash_to_curve(message(BLS, 7), DOMAIN) * secret).to_compressed_bytes()
    assert SignedBeacon(BeaconSettings(key=bytes(key).hex())).is_signature(7, bytes(made))
    assert not SignedBeacon(BeaconSettings()).is_signature(7, bytes(made))


@needs("py_arkworks_bls12381")
def test_of_many_rounds_that_are_checked_at_once_the_wrong_ones_are_named() -> None:
    bls = bls_library()
    secret = bls.Scalar.from_be_bytes_mod_order(sha256(b"a chain").digest())
    beacon = SignedBeacon(BeaconSettings(key=bytes((bls.G2Point() * secret).to_compressed_bytes()).hex()))
    points = [bls.G1Point.hash_to_curve(message(BLS, round), DOMAIN) * secret for round in range(1, 9)]
    right = [(round, bytes(point.to_compressed_bytes())) for round, point in enumerate(points, 1)]
    assert beacon.wrong([]) == beacon.wrong(right) == []
    # The sum of both is right, if nobody weighs them.
    shift = bls.G1Point.hash_to_curve(b"shift", DOMAIN)
    pair = [
        (1, bytes((points[0] + shift).to_compressed_bytes())),
        (2, bytes((points[1] - shift).to_compressed_bytes())),
    ]
    assert beacon.wrong([*pair, *right[2:]]) == pair
    for wrong in ((3, right[3][1]), (3, b""), (0, right[0][1]), (1 << 63, right[0][1])):
        assert beacon.wrong([*right, wrong]) == [wrong]
    assert SignedBeacon(OWN).wrong([(5, signature(5)), (6, signature(5))]) == [(6, signature(5))]


@needs("py_arkworks_bls12381")
def test_a_signature_has_one_form() -> None:
    """With two forms of a round's signature, a runner could choose between two draws."""
    bls = bls_library()
    secret = bls.Scalar.from_be_bytes_mod_order(sha256(b"a chain").digest())
    beacon = SignedBeacon(BeaconSettings(key=bytes((bls.G2Point() * secret).to_compressed_bytes()).hex()))
    found = 0
    for round in range(1, 40):
        point = bls.G1Point.hash_to_curve(message(BLS, round), DOMAIN) * secret
        right = bytes(point.to_compressed_bytes())
        flags, x = right[0] & 0xE0, int.from_bytes(right, "big") & ((1 << 381) - 1)
        assert beacon.is_signature(round, right)
        assert not beacon.is_signature(round, bytes([right[0] ^ 0x20]) + right[1:])  # the other root
        if (other := x + FIELD) < 1 << 381:
            found += 1
            assert not beacon.is_signature(round, bytes([other >> 376 | flags]) + other.to_bytes(48, "big")[1:])
    assert found
    right = signature(5)
    other = int.from_bytes(right[32:], "little") + ORDER
    assert not SignedBeacon(OWN).is_signature(5, right[:32] + other.to_bytes(32, "little"))


def test_a_beacon_of_its_own_key_signs_each_round() -> None:
    beacon = SignedBeacon(OWN)
    assert beacon.is_signature(5, signature(5)) and not beacon.is_signature(6, signature(5))
    other = msgspec.structs.replace(OWN, key=sha256(b"x").hexdigest())
    assert not SignedBeacon(other).is_signature(5, signature(5))


@pytest.mark.parametrize("settings", [OWN, BeaconSettings()], ids=["own", "quicknet"])
def test_the_round_of_a_time_is_the_first_that_is_out_then_or_later(settings: BeaconSettings) -> None:
    beacon = SignedBeacon(settings)
    assert beacon.time_of(1) == settings.genesis and beacon.round_at(0) == 1
    for at in (START, START + 0.5, START + 1, START + 2, START + 3):
        round = beacon.round_at(at)
        assert beacon.time_of(round) >= at > beacon.time_of(round - 1)


def test_all_claims_of_a_minute_name_one_round_which_is_ahead() -> None:
    beacon, minute = SignedBeacon(OWN), START // 60 * 60
    rounds = {next_round(beacon, minute + second, 300) for second in range(1, 61)}
    assert len(rounds) == 1 and beacon.time_of(rounds.pop()) >= minute + 360
    for ahead in (1, 5, 300):
        assert all(beacon.time_of(next_round(beacon, at, ahead)) >= at + ahead for at in range(START, START + 100))


def test_a_ladder_without_network_draws_from_the_bytes_of_the_newest_merge() -> None:
    beacon = MergeBeacon([(10, b"a" * 32), (20, b"b" * 32), (30, b"")])
    assert [beacon.fetch(at)[:1] for at in (10, 19, 20, 29)] == [b"a", b"a", b"b", b"b"]
    assert beacon.is_signature(15, b"a" * 32) and not beacon.is_signature(15, b"b" * 32)
    for at in (9, 30):
        with pytest.raises(RunError, match="no line `Beacon:` with 32 random bytes"):
            beacon.fetch(at)
        assert not beacon.is_signature(at, b"")


@pytest.fixture
def answers() -> Iterator[Callable[[bytes], str]]:
    """Returns what serves an answer at an address."""
    servers = []

    def serve(content: bytes) -> str:
        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}"

    yield serve
    for server, thread in servers:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_round_is_fetched_from_the_first_address_that_tells_the_truth(answers: Callable[[bytes], str]) -> None:
    def told(round: int) -> bytes:
        return json.dumps({"round": round, "signature": signature(round).hex()}).encode()

    lies = [b"", b"\xff", b"[]", b'{"signature":1}', b'{"signature":"zz"}', told(1), b"[" * 100_000, b"x" * 100_000]
    addresses = [*("http://127.0.0.1:1", "http://no.such.host.invalid"), *map(answers, lies)]
    liar = SignedBeacon(msgspec.structs.replace(OWN, addresses=tuple(addresses)))
    with pytest.raises(RunError, match=r"round 9 of the beacon cannot be had: http.*; repeat the command later"):
        liar.fetch(9)
    assert SignedBeacon(msgspec.structs.replace(OWN, addresses=(*addresses, answers(told(9))))).fetch(9) == signature(9)


# Draws.

TRIES = 100_000
BYTES = bytes(range(64))


def claims(field: str) -> list[Claim]:
    """Returns claims that differ in what their runner may choose."""
    base = Claim(2, "laptop", "ann", 1, "a" * 40, "b" * 40, 8, START, 1000)
    kinds: dict[str, Callable[[int], object]] = {
        "at": lambda n: START + n,
        "number": lambda n: n + 1,
        "runner": lambda n: f"r{n}",
        "bots": lambda n: f"{n:040x}",
    }
    of = kinds[field]
    return [msgspec.structs.replace(base, **{field: of(number)}) for number in range(TRIES)]


def is_uniform(counts: "dict[object, int]", kinds: int) -> bool:
    """Whether the p of χ² is between 0.001 and 0.999. Wilson and Hilferty's cube root makes it normal."""
    expected = sum(counts.values()) / kinds
    square = sum((count - expected) ** 2 for count in counts.values()) / expected
    square += (kinds - len(counts)) * expected
    free = kinds - 1
    z = ((square / free) ** (1 / 3) - (1 - 2 / (9 * free))) / (2 / (9 * free)) ** 0.5
    return bool(abs(z) < 3.09)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("field", ["at", "number", "runner", "bots"])
def test_draws_are_uniform_over_a_hundred_thousand_tries_of_what_a_claim_may_choose(field: str) -> None:
    """The round is not known while a claim can be changed, so that no try is better than another."""
    pairs: dict[object, int] = {}
    seeds, owners, places = dict[object, int](), dict[object, int](), dict[object, int]()
    names = [f"owner{number}" for number in range(10)]
    for claim in claims(field):
        hash = hash_of(line_of(claim) + b"\n")
        game = new_games(BYTES, hash, 2, 20, 2)[0]
        (owner,) = drawn_owners(BYTES, hash, names, 1)
        for counts, what in (
            (pairs, game.bots),
            (seeds, game.seed % 256),
            (owners, owner),
            (places, sampled(BYTES, hash, 50, 1)[0]),
        ):
            counts[what] = counts.get(what, 0) + 1
    assert is_uniform(pairs, len([*permutations(range(20), 2)]))
    assert is_uniform(seeds, 256) and is_uniform(owners, 10) and is_uniform(places, 50)


BINDS = {"127.0.0.1": "127.0.0.1", "0.0.0.0": reachable("0.0.0.0")}
"""By the host to listen at, the host under which others ask."""
if socket.has_dualstack_ipv6():
    BINDS |= {"[::]": reachable("::"), "[::1]": "[::1]"}


@pytest.mark.slow
@pytest.mark.parametrize(("bind", "host"), BINDS.items())
def test_a_beacon_of_your_own_serves_no_round_before_its_time(tmp_path: Path, bind: str, host: str) -> None:
    words = ["ladder", "beacon", str(tmp_path / "b.toml"), "--key", str(tmp_path / "key"), "--bind", f"{bind}:0"]
    command = [sys.executable, "-m", "referee.harness.cli.main", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None and f"Serving rounds at http://{host}:" in server.stdout.readline()
        try:
            settings = msgspec.toml.decode((tmp_path / "b.toml").read_bytes())["beacon"]
            beacon = SignedBeacon(msgspec.convert(settings, BeaconSettings))
            assert beacon.is_signature(1, beacon.fetch(1))
            with pytest.raises(RunError, match="404"):
                beacon.fetch(999_999_999)
        finally:
            server.terminate()
    assert settings["addresses"][0].startswith(f"http://{host}:")
    (tmp_path / "key").write_bytes(base64.b64encode(os.urandom(32)))
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "does not fit" in " ".join(done.stderr.split())
