"""Values that both seats are shown are encoded once, and read like any others."""

from typing import Any

import msgspec
import pytest
from msgspec import UNSET, Struct, UnsetType

from referee.games import registry
from referee.games.contract import Method, Setup
from referee.games.dice import Dice
from referee.games.game import Game
from referee.harness.seats.notice_cache import NoticeCache
from referee.protocol.connection import Connection
from referee.protocol.messages import Encoding, Initialize, Limits

SHARING = [name for name in registry.names() if any(method.shared for method in registry.game(name).methods.values())]


def speaking(encoding: Encoding) -> Connection:
    wire = Connection(1 << 20)
    wire.initialize(Initialize(1, "rounds", {}, 0, ("a", "b"), tuple(Encoding), Limits(10_000), 0))
    wire.receive(b'{"id":0,"result":{"encoding":"%s"}}\n' % encoding.encode())
    assert wire.handshake() is not None
    assert wire.encoding is encoding
    return wire


def read(data: bytes, encoding: Encoding) -> Any:
    return (msgspec.json if encoding is Encoding.JSON else msgspec.msgpack).decode(data)


def after(game: Game, turns: int, seed: int = 5) -> Any:
    dice = Dice(seed)
    state = game.new(Setup(seed, ("a", "b", "c", "d")[: game.seats.start], game.options()))
    for _ in range(turns):
        if state.awaited:
            state.apply({player: state.sample(player, dice) for player in state.awaited})
    return state


def test_there_are_games_that_share() -> None:
    assert "aiarena21" in SHARING


@pytest.mark.parametrize("name", SHARING)
@pytest.mark.parametrize("encoding", list(Encoding))
def test_the_bytes_read_as_the_parameters_do(name: str, encoding: Encoding) -> None:
    shared, wire = NoticeCache(), speaking(encoding)
    for turns in (0, 1, 2, 70, 130):
        for call in after(registry.game(name), turns).calls():
            whole = read(wire.encode(call.params), encoding)
            assert read(wire.encode(shared.params(call.method, call.params, wire)), encoding) == whole


@pytest.mark.parametrize("name", SHARING)
def test_seats_that_are_asked_at_once_share_one_piece_of_bytes_an_encoding(name: str) -> None:
    shared, state = NoticeCache(), after(registry.game(name), 0)
    while len(state.calls()) < 2:
        dice = Dice(1)
        state.apply({player: state.sample(player, dice) for player in state.awaited})
    first, second, *_ = state.calls()
    text, packed = speaking(Encoding.JSON), speaking(Encoding.MSGPACK)
    one, two = (shared.params(call.method, call.params, text) for call in (first, second))
    three = shared.params(first.method, first.params, packed)
    for member in first.method.shared:
        assert one[member] is two[member]
        assert three[member] is not one[member]


class Shown(Struct, rename="camel"):
    """One member that is renamed on the wire, and one that may be absent."""

    the_board: Any
    extra: int | UnsetType = UNSET


def test_another_object_is_encoded_anew_and_names_and_absent_members_stay_what_they_are() -> None:
    method, shared, wire = Method("m", Shown, None, "", shared=("the_board",)), NoticeCache(), speaking(Encoding.JSON)
    board = [1]
    assert wire.encode(shared.params(method, Shown(board), wire)) == b'{"theBoard":[1]}'
    assert wire.encode(shared.params(method, Shown([2], 3), wire)) == b'{"theBoard":[2],"extra":3}'
    assert wire.encode(shared.params(method, Shown(board), wire)) == b'{"theBoard":[1]}'
