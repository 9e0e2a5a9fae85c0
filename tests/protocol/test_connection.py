"""The two ends of the wire, joined back to back."""

import sys
from types import FrameType
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from vectors import CLOCK, PLAIN, initialize, joined

from referee.protocol.codec import MAX_DEPTH, codec
from referee.protocol.connection import NEED_DATA, AnswerDecoder, BotConnection, Connection, Notification, Request
from referee.protocol.errors import LocalProtocolError, RemoteProtocolError
from referee.protocol.messages import Clock, Encoding, ErrorObject, Hello

ENCODINGS = list(Encoding)
BOTH = pytest.mark.parametrize("encoding", ENCODINGS)

texts = st.text(st.characters(exclude_categories=["Cs"]))
numbers = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
)


class Move(Struct, frozen=True):
    moveType: int
    coordList: tuple[tuple[int, int], ...] = ()


def asked(encoding: Encoding, calls: int = 1) -> tuple[Connection, BotConnection]:
    """Both ends, after so many calls; the last is open, the others were given up."""
    referee, bot = joined(encoding)
    for number in range(calls):
        if number:
            referee.give_up()
        bot.receive(referee.call("getMove", referee.encode({"phase": 3}), CLOCK))
        bot.next_message()
    return referee, bot


@BOTH
def test_a_bot_is_silent_if_it_has_sent_nothing_since_its_greeting(encoding: Encoding) -> None:
    referee, _ = joined(encoding)
    assert not referee.silent, "nothing was asked"
    referee, bot = asked(encoding, calls=2)
    assert referee.silent
    frame = bot.respond(2, {"moveType": 0})
    referee.receive(frame[:-1])
    assert not referee.silent, "half an answer"
    referee.receive(frame[-1:])
    assert referee.answer(AnswerDecoder(Any)) == {"moveType": 0}
    referee.call("getMove", referee.encode({}), CLOCK)
    assert not referee.silent, "it has answered once"


@BOTH
def test_a_greeting_that_is_answered_with_the_same_bytes_means_the_same(encoding: Encoding) -> None:
    referee, bot = joined(encoding)
    other = "another answer, which must not be taken for the one before"
    for number, name in enumerate([None, None, "bot", "bot", other, None], 1):
        bot.receive(referee.initialize(initialize()))
        bot.next_message()
        result = {"encoding": encoding} if name is None else {"encoding": encoding, "name": name}
        referee.receive(bot.respond(number, result))
        assert referee.handshake() == Hello(encoding=encoding, name=name)


# What is said arrives as it was said


@given(value=values, chunk=st.integers(1, 20), looks=st.booleans(), encoding=st.sampled_from(ENCODINGS))
def test_a_whole_frame_is_seen_when_it_is_there_and_to_look_for_it_changes_nothing(
    value: Any, chunk: int, looks: bool, encoding: Encoding
) -> None:
    referee, bot = asked(encoding)
    frame = bot.respond(1, value)
    for start in range(0, len(frame), chunk):
        piece = frame[start : start + chunk]
        referee.receive(piece)
        if looks:
            assert referee.has_whole_frame is (start + chunk >= len(frame))
        if start + chunk < len(frame):
            assert referee.answer(PLAIN) is NEED_DATA
    assert referee.answer(PLAIN) == value
    assert not referee.has_whole_frame


@given(value=values, chunk=st.integers(1, 20), encoding=st.sampled_from(ENCODINGS))
def test_every_plain_value_goes_there_and_back_in_any_pieces(value: Any, chunk: int, encoding: Encoding) -> None:
    referee, bot = joined(encoding)
    frame = referee.call("echo", referee.encode({"value": value}), CLOCK)
    for at in range(0, len(frame), chunk):
        bot.receive(frame[at : at + chunk])
    request = bot.next_message()
    assert isinstance(request, Request)
    assert request.params == {"value": value, "clock": {"call_ms": 1000, "remaining_ms": None, "last_ms": 3}}
    frame = bot.respond(request.id, request.params["value"])
    answer: Any = NEED_DATA
    for at in range(0, len(frame), chunk):
        assert answer is NEED_DATA
        referee.receive(frame[at : at + chunk])
        answer = referee.answer(PLAIN)
    assert repr(answer) == repr(value)  # 1, 1.0 and true are equal, but not the same
    referee.check_silence()


@BOTH
@pytest.mark.parametrize("members", [0, 1, 14, 15, 16, 255, 65534, 65535, 65536])
def test_the_clock_is_added_to_params_of_any_size(members: int, encoding: Encoding) -> None:
    referee, bot = joined(encoding)
    params = {f"p{i}": i for i in range(members)}
    bot.receive(referee.call("play", referee.encode(params), Clock(None, 250, None)))
    request = bot.next_message()
    assert isinstance(request, Request)
    assert request.params == {**params, "clock": {"call_ms": None, "remaining_ms": 250, "last_ms": None}}


@BOTH
def test_notifications_and_a_call_in_one_write_arrive_in_order(encoding: Encoding) -> None:
    referee, bot = joined(encoding)
    event = referee.encode({"player": "O"})
    bot.receive(
        referee.notify("event", event) + referee.notify("event", event) + referee.call("play", b"{}", CLOCK)
        if encoding is Encoding.JSON
        else referee.notify("event", event) * 2 + referee.call("play", b"\x80", CLOCK)
    )
    assert bot.next_message() == Notification("event", {"player": "O"})
    assert bot.next_message() == Notification("event", {"player": "O"})
    assert isinstance(bot.next_message(), Request)
    assert bot.next_message() is NEED_DATA


@BOTH
def test_an_error_arrives_with_its_message_and_data(encoding: Encoding) -> None:
    referee, bot = asked(encoding)
    referee.receive(bot.fail(1, -32000, "no way out", {"at": [0, 3]}))
    assert referee.answer(PLAIN) == ErrorObject(-32000, "no way out", {"at": [0, 3]})


# Typed answers


@BOTH
def test_a_result_that_fits_comes_in_its_type(encoding: Encoding) -> None:
    referee, bot = asked(encoding)
    referee.receive(bot.respond(1, {"moveType": 0, "coordList": [[0, 3], [0, 4]], "unknown": {"a": [1]}}))
    assert referee.answer(AnswerDecoder(Move)) == Move(0, ((0, 3), (0, 4)))


@BOTH
@pytest.mark.parametrize("result", [{"moveType": 1.0}, {"moveType": True}, {"moveType": "1"}, {}, [], None, 2**63])
def test_a_result_that_does_not_fit_comes_as_plain_values_for_the_rules_to_judge(
    encoding: Encoding, result: Any
) -> None:
    referee, bot = asked(encoding)
    referee.receive(bot.respond(1, result))
    assert repr(referee.answer(AnswerDecoder(Move))) == repr(result)


@BOTH
def test_the_type_does_not_depend_on_the_length_of_the_frame(encoding: Encoding) -> None:
    decoder = AnswerDecoder(dict[str, UUID])
    name = "12345678-1234-5678-1234-567812345678"
    for members in (1, 100):
        referee, bot = asked(encoding)
        referee.receive(bot.respond(1, {str(i): name for i in range(members)}))
        assert referee.answer(decoder) == {str(i): UUID(name) for i in range(members)}


@given(data=st.binary(max_size=60) | st.builds(bytes, st.lists(st.sampled_from(b'{}[]",:01.eE-nulid\x81\xa1\n'))))
def test_no_bytes_whatever_raise_anything_but_a_protocol_error(data: bytes) -> None:
    for encoding in ENCODINGS:
        referee, _ = asked(encoding)
        for piece in (data, b""):
            referee.receive(piece)
            try:
                referee.answer(PLAIN)
            except RemoteProtocolError as error:
                assert str(error).isprintable()
                break
            except LocalProtocolError:
                break  # it was an answer


@given(value=values, odd=st.sampled_from([b"", b"\xff", b"\xc4\x01a", b"\x81\x01\x02", b"1e999", b"9" * 20]))
def test_the_quick_look_takes_nothing_that_the_careful_one_refuses(value: Any, odd: bytes) -> None:
    for encoding in ENCODINGS:
        wire = codec(encoding)
        head = wire.frame({"id": 1, "result": 0})
        written = wire.encode(value) + odd
        data = head.replace(b"0}", written + b"}") if encoding is Encoding.JSON else head[:-1] + written
        quick = wire.quick(data)
        if quick is not None and len(data) <= MAX_DEPTH:
            assert repr(wire.decode(data)["result"]) == repr(quick.result)


# Late answers


@BOTH
def test_a_late_answer_is_dropped_and_counted_before_the_awaited_one(encoding: Encoding) -> None:
    referee, bot = asked(encoding, calls=3)
    referee.receive(bot.respond(1, "first") + bot.respond(2, "second"))
    assert referee.answer(PLAIN) is NEED_DATA
    assert referee.late == 2
    referee.receive(bot.respond(3, "third"))
    assert referee.answer(PLAIN) == "third"
    referee.check_silence()


@BOTH
def test_half_a_late_answer_is_no_fault_and_its_rest_may_come_during_the_next_call(encoding: Encoding) -> None:
    referee, bot = asked(encoding)
    referee.give_up()
    late = bot.respond(1, "late")
    referee.receive(late[:9])
    referee.check_silence()
    bot.receive(referee.call("getMove", referee.encode({}), CLOCK))
    bot.next_message()
    referee.receive(late[9:] + bot.respond(2, "good"))
    assert referee.answer(PLAIN) == "good"
    assert referee.late == 1


@BOTH
def test_late_answers_do_not_excuse_an_endless_one(encoding: Encoding) -> None:
    referee, bot = joined(encoding, max_frame_bytes=100)
    bot.receive(referee.call("getMove", referee.encode({}), CLOCK))
    bot.next_message()
    referee.give_up()
    referee.receive(bot.respond(1, "x" * 200)[:150])
    with pytest.raises(RemoteProtocolError, match="more than 100 bytes"):
        referee.check_silence()


# The size of a frame


@BOTH
@pytest.mark.parametrize("over", [-1, 0, 1])
@pytest.mark.parametrize("limit", [100, 1 << 20])
def test_a_frame_may_be_as_long_as_the_limit_and_no_longer(encoding: Encoding, limit: int, over: int) -> None:
    referee, bot = joined(encoding, limit)
    bot.receive(referee.call("echo", referee.encode({}), CLOCK))
    bot.next_message()
    shorter = codec(encoding).encode({"jsonrpc": "2.0", "id": 1, "result": "x" * (limit - 60)})
    text = "x" * (limit - 60 + limit - len(shorter) + over)
    frame = bot.respond(1, text)
    assert len(frame.rstrip(b"\n")) == limit + over
    for at in range(0, len(frame), 1 << 16):
        referee.receive(frame[at : at + (1 << 16)])
    if over <= 0:
        assert referee.answer(PLAIN) == text
    else:
        with pytest.raises(RemoteProtocolError, match=f"more than {limit} bytes"):
            referee.answer(PLAIN)


@pytest.mark.parametrize("lines", [b"\n", b" \n", b"\t\r\n\n", b" " * 998 + b"\n"])
def test_a_flood_of_blank_lines_costs_a_few_calls_a_piece(lines: bytes) -> None:
    referee, bot = asked(Encoding.JSON)
    piece, calls = lines * (65536 // len(lines)), 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    for _ in range(20):
        sys.setprofile(count)
        referee.receive(piece)
        assert referee.answer(PLAIN) is NEED_DATA
        sys.setprofile(None)
    assert calls < 20 * 50
    referee.receive(bot.respond(1, {"moveType": 1}))
    assert referee.answer(PLAIN) == {"moveType": 1}


def test_a_blank_line_beyond_the_limit_is_too_long() -> None:
    referee, _ = joined(Encoding.JSON, 2000)
    referee.call("echo", referee.encode({}), CLOCK)
    referee.receive(b" \n" + b" " * 2001 + b"\n")
    with pytest.raises(RemoteProtocolError, match="more than 2000 bytes"):
        referee.answer(PLAIN)


@BOTH
def test_an_announced_size_reserves_no_memory(encoding: Encoding) -> None:
    """200,000 arrays that each announce a million elements: refused while they arrive, before anything is built."""
    referee, _ = joined(encoding)
    referee.call("echo", referee.encode({}), CLOCK)
    referee.receive(b"\x82\xa2id\x01\xa6result" + b"\xdd\x00\x0f\xff\xff" * 200_000)
    with pytest.raises(RemoteProtocolError, match=r"nested too deep|looks like MessagePack"):
        referee.answer(PLAIN)


# The handshake and the next match


def test_the_bot_takes_the_first_offered_encoding_that_it_speaks() -> None:
    assert BotConnection().choose_encoding(["msgpack", "json"]) is Encoding.MSGPACK
    assert BotConnection().choose_encoding(["cbor", "json", "msgpack"]) is Encoding.JSON
    assert BotConnection().choose_encoding(["msgpack", "json"], [Encoding.JSON]) is Encoding.JSON
    assert BotConnection().choose_encoding(["cbor"]) is Encoding.JSON


@BOTH
@pytest.mark.parametrize("named", [True, False])
def test_another_match_keeps_the_encoding_whether_the_bot_names_it_or_not(encoding: Encoding, named: bool) -> None:
    referee, bot = joined(encoding)
    bot.receive(referee.initialize(initialize()))
    request = bot.next_message()
    assert isinstance(request, Request)
    assert request.params["encodings"] == [encoding]
    referee.receive(bot.respond(request.id, {"encoding": encoding, "reuse": True} if named else {}))
    assert referee.handshake() == Hello(encoding=encoding, reuse=named)
    bot.receive(referee.call("play", referee.encode({}), CLOCK))
    assert isinstance(bot.next_message(), Request)


@BOTH
def test_another_match_cannot_change_the_encoding(encoding: Encoding) -> None:
    referee, bot = joined(encoding)
    bot.receive(referee.initialize(initialize()))
    bot.next_message()
    other = next(each for each in Encoding if each is not encoding)
    referee.receive(bot.respond(1, {"encoding": other}))
    with pytest.raises(RemoteProtocolError, match=f'chose the encoding "{other}", but offered were: {encoding}'):
        referee.handshake()


def test_bytes_after_the_handshake_belong_to_the_chosen_encoding() -> None:
    referee = Connection()
    referee.initialize(initialize())
    referee.receive(b'{"id":0,"result":{"encoding":"msgpack"}}\n\x82\xa2id\x00\xa6result\xc0')
    assert isinstance(referee.handshake(), Hello)
    with pytest.raises(RemoteProtocolError, match="a second answer to call 0"):
        referee.check_silence()


def test_a_frame_is_never_read_in_the_wrong_encoding_while_the_handshake_is_open() -> None:
    referee = Connection()
    referee.initialize(initialize())
    for byte in b'{"id":0,"result":{}}':
        referee.receive(bytes([byte]))
        assert referee.handshake() is None
    referee.receive(b"\n")
    assert referee.handshake() == Hello()


# The end of the stream


@BOTH
def test_the_end_of_the_output_is_seen_beside_the_missing_answer(encoding: Encoding) -> None:
    referee, _ = asked(encoding)
    referee.receive(b"")
    assert referee.closed
    assert referee.answer(PLAIN) is NEED_DATA


@BOTH
def test_an_answer_before_the_end_of_the_output_counts(encoding: Encoding) -> None:
    referee, bot = asked(encoding)
    referee.receive(bot.respond(1, "bye"))
    referee.receive(b"")
    assert referee.answer(PLAIN) == "bye"


# Our own mistakes are exceptions of another kind


def test_a_call_while_one_is_open_is_our_bug() -> None:
    referee, _ = asked(Encoding.JSON)
    for broken_rule in (
        lambda: referee.call("play", b"{}", CLOCK),
        lambda: referee.initialize(initialize()),
        referee.check_silence,
        referee.handshake,
    ):
        with pytest.raises(LocalProtocolError):
            broken_rule()


def test_an_answer_that_nobody_asked_for_is_our_bug() -> None:
    referee, _ = joined(Encoding.JSON)
    for broken_rule in (lambda: referee.answer(PLAIN), referee.give_up, referee.handshake):
        with pytest.raises(LocalProtocolError):
            broken_rule()


def test_a_call_before_the_handshake_is_our_bug() -> None:
    referee = Connection()
    with pytest.raises(LocalProtocolError, match="play before the answer to initialize"):
        referee.call("play", b"{}", CLOCK)
    referee.initialize(initialize())
    with pytest.raises(LocalProtocolError, match="event before the answer to initialize"):
        referee.notify("event", b"{}")
    with pytest.raises(LocalProtocolError):
        referee.answer(PLAIN)
    referee.give_up()
    with pytest.raises(LocalProtocolError, match="plays no match"):
        referee.initialize(initialize())


def test_a_call_after_a_fault_is_our_bug() -> None:
    referee, _ = asked(Encoding.JSON)
    referee.receive(b"x = 5\n")
    with pytest.raises(RemoteProtocolError):
        referee.answer(PLAIN)
    referee.give_up()
    with pytest.raises(LocalProtocolError, match='wrote "x = 5"'):
        referee.call("play", b"{}", CLOCK)


@BOTH
@pytest.mark.parametrize("params", [[1], 7, "text", None])
def test_params_that_are_no_object_are_our_bug(encoding: Encoding, params: Any) -> None:
    referee, _ = joined(encoding)
    with pytest.raises(LocalProtocolError, match="the params are no"):
        referee.call("play", referee.encode(params), CLOCK)


def test_an_answer_to_a_request_that_is_not_open_is_a_bug_of_the_bots_end() -> None:
    _, bot = asked(Encoding.JSON)
    bot.respond(1, None)
    with pytest.raises(LocalProtocolError):
        bot.respond(1, None)
    with pytest.raises(LocalProtocolError):
        bot.fail(2, 1, "no such call")


def test_the_bots_end_refuses_what_is_no_message() -> None:
    for line in (b"hello\n", b"[]\n", b'{"id":1}\n', b'{"id":"1","method":"play"}\n', b'{"method":7}\n'):
        bot = BotConnection()
        bot.receive(line)
        with pytest.raises(RemoteProtocolError):
            bot.next_message()
