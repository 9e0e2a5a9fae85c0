"""The wire without a referee: frames in both encodings, what can be sent, the clock, the answers of a bot."""

import json
import os
import random
import socket
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from referee_kit.wire import Bot, Clock, Frames, Server, choose, clock, encoded, maybe, optional, plain

NUMBERS = [0, 1, -1, 200, -100, 60_000, 2**32 - 1, 2**63 - 1, -(2**63), 2**64 - 1, 0.1, -1.5, 1e300]
TEXTS = ["", "a" * 31, "b" * 32, "c" * 300, "(╯°□°)╯︵ ┻━┻", "\u2028\u0085", '"\\\n']
EVERY_VALUE: list[Any] = [None, True, False, *NUMBERS, *TEXTS, [], [1] * 16, [[1, [2]]], {}, {"key": {"nested": [{}]}}]
MESSAGES: list[Any] = [{"method": "one"}, {"method": "two", "params": {"all": EVERY_VALUE}}, {"method": "three"}]


@pytest.fixture(params=["json", "msgpack"])
def encoding(request: pytest.FixtureRequest) -> str:
    """Every encoding in turn; MessagePack where its package is installed."""
    if request.param == "msgpack":
        pytest.importorskip("msgpack")
    return str(request.param)


def read(stream: bytes, size: int, encoding: str = "json") -> list[Any]:
    """Every message of a stream that arrives in pieces of this size."""
    ours, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)  # a read gives one piece
    frames = Frames(ours.detach())
    frames.encoding = encoding
    referee = threading.Thread(target=send, args=(theirs, stream, size), daemon=True)
    referee.start()
    messages = list(iter(frames.next, None))
    referee.join()
    return messages


def send(end: socket.socket, stream: bytes, size: int) -> None:
    with end:
        for at in range(0, len(stream), size):
            end.send(stream[at : at + size])


# Frames.


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_messages_are_read_however_their_bytes_arrive(encoding: str, size: int) -> None:
    assert read(b"".join(encoded(message, encoding) for message in MESSAGES), size, encoding) == MESSAGES


def test_a_message_that_is_longer_than_the_buffer_is_read(encoding: str) -> None:
    large = {"method": "large", "params": {"list": [*range(70_000)], "text": "x" * 200_000}}
    assert read(encoded(large, encoding), 4096, encoding) == [large]


def test_only_a_line_feed_ends_a_line_and_blank_lines_are_passed_over() -> None:
    stream = '\n\r\n{"a":"\u2028\u0085"}\r\n  \n{"b":1}\n'.encode()
    assert read(stream, 3) == [{"a": "\u2028\u0085"}, {"b": 1}]


def test_the_encoding_changes_between_two_frames_that_came_in_one_piece() -> None:
    pytest.importorskip("msgpack")
    reading, writing = os.pipe()
    os.write(writing, encoded({"a": 1}, "json") + encoded({"b": 2}, "msgpack"))
    os.close(writing)
    frames = Frames(reading)
    assert frames.next() == {"a": 1}
    frames.encoding = "msgpack"
    assert frames.next() == {"b": 2}
    assert frames.next() is None


def test_bytes_that_are_no_frame_are_an_error() -> None:
    with pytest.raises(ValueError):
        read(b"hello\n", 4096)


def test_the_first_offered_encoding_that_is_spoken_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose(["cbor", "json", "msgpack"]) == "json"
    with pytest.raises(RuntimeError, match="no common encoding: offered were \\['cbor'\\]"):
        choose(["cbor"])
    monkeypatch.setitem(sys.modules, "msgpack", None)  # as on a machine that does not have it
    assert choose(["msgpack", "json"]) == "json"


def test_messagepack_is_chosen_where_its_package_is_installed() -> None:
    pytest.importorskip("msgpack")
    assert choose(["msgpack", "json"]) == "msgpack"


# What can be sent.


class Whole:
    """A whole number of another library."""

    def __index__(self) -> int:
        return 7


class Record:
    def to_json(self) -> dict[str, Any]:
        return {"at": (1, Whole())}


def test_records_and_whole_numbers_of_other_libraries_are_sent_as_plain_values() -> None:
    assert plain([Record(), Whole(), (1, 2)]) == [{"at": [1, 7]}, 7, [1, 2]]
    assert plain(EVERY_VALUE) == EVERY_VALUE


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1}, b"bytes", object()])
def test_what_json_cannot_say_is_not_sent(value: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        plain([value])


def test_half_a_character_becomes_a_question_mark(encoding: str) -> None:
    assert plain("\ud800!") == "?!"
    assert read(encoded({"message": "\ud800!"}, encoding), 4096, encoding) == [{"message": "?!"}]


# What is read.


def test_the_clock_shows_no_limit_as_none() -> None:
    shown = {"call_ms": 1000, "remaining_ms": None, "last_ms": 12, "newer": 1}
    assert clock(shown) == Clock(call_ms=1000, remaining_ms=None, last_ms=12)
    assert clock({"answers_left": 40}) == Clock(answers_left=40)
    assert clock({}) == Clock(None, None, None, None)


def test_an_optional_member_of_another_type_counts_as_absent() -> None:
    members = {"winner": "X", "player": 5, "id": None}
    assert optional(members, "winner", str) == "X"
    assert [optional(members, name, str) for name in ("player", "id", "youAre")] == [None, None, None]


def test_a_member_that_may_be_null_is_read_only_if_it_is_there() -> None:
    assert [maybe({"board": [1, 2], "ant": None}, name, len) for name in ("board", "ant", "constr")] == [2, None, None]


# The answers of a bot.


class Odd(Bot):
    """A bot in trouble."""

    game = "odd"

    def __init__(self) -> None:
        if self.match.seat == 7:
            raise ValueError("no seat 7")
        self.heard: list[str] = []
        self.luck = random.random()

    def call(self, method: str, params: dict[str, Any]) -> Any:
        if method == "tell":
            return [params, self.match.seat, self.clock.call_ms, self.heard]
        if method == "luck":
            return self.luck
        if method == "silent":
            raise ValueError
        if method == "fail":
            raise ValueError("in its own words")
        return super().call(method, params)

    def notice(self, method: str, params: dict[str, Any]) -> None:
        self.heard.append(method)
        raise ValueError("nobody is told")


class Talk:
    """A served bot and the referee's ends of its pipes."""

    def __init__(self) -> None:
        reading, self.to_bot = os.pipe()
        from_bot, writing = os.pipe()
        self.answers = Frames(from_bot)
        server = Server(Odd, "Odd", "2.1", Frames(reading), writing)
        self.server = threading.Thread(target=server.serve, daemon=True)
        self.encoding = "json"
        self.server.start()

    def tell(self, method: str, id: int | None = None, **params: Any) -> None:
        numbered = {} if id is None else {"id": id}
        os.write(
            self.to_bot, encoded({"jsonrpc": "2.0", **numbered, "method": method, "params": params}, self.encoding)
        )

    def ask(self, method: str, id: int = 1, **params: Any) -> Any:
        """The answer without its id, which must be ours."""
        self.tell(method, id, **params)
        answer = self.answers.next()
        assert answer is not None
        assert (answer.pop("jsonrpc"), answer.pop("id")) == ("2.0", id)
        return answer

    def begin(self, encoding: str, **params: Any) -> Any:
        answer = self.ask("initialize", 0, protocol=1, game="odd", encodings=[encoding], **params)
        self.encoding = self.answers.encoding = encoding
        return answer


@pytest.fixture
def talk() -> Iterator[Talk]:
    talk = Talk()
    yield talk
    os.close(talk.to_bot)  # if only now, that is how a referee goes away
    talk.server.join(5)
    assert not talk.server.is_alive()


def test_the_first_answer_is_json_and_the_chosen_encoding_holds_from_the_next_frame_on(
    talk: Talk, encoding: str
) -> None:
    hello = talk.begin(encoding, seat=1)
    assert hello == {"result": {"name": "Odd", "version": "2.1", "encoding": encoding, "reuse": True}}
    assert talk.ask("tell", 2**40, a=[1, None]) == {"result": [{"a": [1, None]}, 1, None, []]}


def test_the_clock_is_taken_out_of_the_params(talk: Talk, encoding: str) -> None:
    talk.begin(encoding)
    assert talk.ask("tell", a=1, clock={"call_ms": 250})["result"] == [{"a": 1}, 0, 250, []]
    assert talk.ask("tell", a=1)["result"] == [{"a": 1}, 0, None, []]


def test_a_bot_in_trouble_goes_on_serving(talk: Talk, encoding: str, capsys: pytest.CaptureFixture[str]) -> None:
    talk.begin(encoding)
    assert talk.ask("fail") == {"error": {"code": -32000, "message": "in its own words"}}
    assert talk.ask("silent") == {"error": {"code": -32000, "message": "ValueError"}}
    assert talk.ask("surprise") == {"error": {"code": -32601, "message": "unknown method surprise"}}
    talk.tell("youAre")
    assert talk.ask("tell")["result"][3] == ["youAre"]  # and no frame answered the notification
    assert capsys.readouterr().err.count("Traceback") == 3  # an unknown method needs none


def test_a_call_before_the_match_and_a_match_of_another_game_are_refused(
    talk: Talk, capsys: pytest.CaptureFixture[str]
) -> None:
    assert talk.ask("tell")["error"]["message"] == "tell came before initialize"
    assert talk.ask("initialize", game="even")["error"]["message"] == "this bot plays odd, not even"
    assert talk.ask("initialize", game="odd", protocol=2)["error"]["message"] == (
        "the referee speaks protocol 2, this bot 1"
    )
    refused = talk.ask("initialize", game="odd", seat=7, encodings=["msgpack", "json"])
    assert refused["error"]["message"] == "no seat 7"  # and the encoding is still JSON
    assert "result" in talk.begin("json")


def test_each_match_has_a_fresh_bot_and_the_seed_repeats_its_luck(talk: Talk, encoding: str) -> None:
    draws = []
    for seed in (7, 7, 8):
        talk.begin(encoding, seed=seed)
        draws.append(talk.ask("luck")["result"])
    assert draws[0] == draws[1] != draws[2]


def test_exit_ends_the_serving(talk: Talk, encoding: str) -> None:
    talk.begin(encoding)
    talk.tell("exit")
    talk.server.join(5)
    assert not talk.server.is_alive()


def test_an_answer_is_one_line_of_json_in_utf8() -> None:
    line = encoded({"result": "(╯°□°)╯︵ ┻━┻\n"}, "json")
    assert line == '{"result":"(╯°□°)╯︵ ┻━┻\\n"}\n'.encode()
    assert json.loads(line) == {"result": "(╯°□°)╯︵ ┻━┻\n"}
