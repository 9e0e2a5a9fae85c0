"""Every frame of protocol/vectors is judged as its file says, however its bytes arrive."""

import msgspec
import pytest
from conformance import frame_bytes, same
from vectors import CLOCK, FEEDS, PLAIN, cases, encodings, fed, joined, load, names, prepared, wanted

from referee.protocol.connection import NEED_DATA, BotConnection, Connection, Notification, Request
from referee.protocol.errors import RemoteProtocolError
from referee.protocol.messages import Encoding, Initialize

FRAMES_OF_BOTS = cases("frames", "bot")
ANSWERS = [(name, encoding) for name, encoding in FRAMES_OF_BOTS if load(name)["open"] is not None]
OFF_TURN = [case for case in FRAMES_OF_BOTS if case not in ANSWERS]
FAULTS = cases("faults", "bot")


@pytest.mark.parametrize(("name", "encoding"), ANSWERS)
@pytest.mark.parametrize("feed", FEEDS)
def test_a_good_answer_has_its_meaning(name: str, encoding: Encoding, feed: str) -> None:
    verdict = load(name)["verdict"]
    referee, result = fed(load(name), encoding, feed)
    if "hello" in verdict:
        assert msgspec.to_builtins(result) == verdict["hello"]
        assert referee.encoding == verdict["hello"]["encoding"]
    else:
        assert same(msgspec.to_builtins(result), msgspec.to_builtins(wanted(verdict)))
    assert referee.late == verdict.get("late", 0)


@pytest.mark.parametrize(("name", "encoding"), OFF_TURN)
@pytest.mark.parametrize("feed", ["whole", "byte by byte"])
def test_what_may_come_off_turn_is_dropped(name: str, encoding: Encoding, feed: str) -> None:
    referee, result = fed(load(name), encoding, feed)
    assert result is None
    assert referee.late == load(name)["verdict"]["late"]


@pytest.mark.parametrize(("name", "encoding"), FRAMES_OF_BOTS)
def test_whatever_follows_is_out_of_turn(name: str, encoding: Encoding) -> None:
    with pytest.raises(RemoteProtocolError):
        fed(load(name), encoding, "with trailing bytes")[0].check_silence()


@pytest.mark.parametrize(("name", "encoding"), FRAMES_OF_BOTS)
def test_after_a_good_frame_alone_the_bot_is_not_out_of_turn(name: str, encoding: Encoding) -> None:
    referee, _ = fed(load(name), encoding, "whole")
    referee.check_silence()


@pytest.mark.parametrize(("name", "encoding"), FAULTS)
@pytest.mark.parametrize("feed", FEEDS)
def test_a_bad_frame_is_a_fault_in_plain_words(name: str, encoding: Encoding, feed: str) -> None:
    vector = load(name)
    if feed == "byte by byte" and vector["open"] is None:
        vector["fault"] = []  # its first byte is a fault already, whatever would follow
    with pytest.raises(RemoteProtocolError) as caught:
        fed(vector, encoding, feed)
    said = str(caught.value)
    assert said.isprintable()
    assert len(said) < 400
    for words in vector["fault"]:
        assert words in said


@pytest.mark.parametrize(("name", "encoding"), FAULTS)
def test_a_fault_is_final(name: str, encoding: Encoding) -> None:
    vector = load(name)
    referee = prepared(vector, encoding)
    referee.receive(frame_bytes(vector["frame"], encoding))
    if vector.get("end"):
        referee.receive(b"")
    ask = {None: referee.check_silence, 0: referee.handshake}.get(vector["open"], lambda: referee.answer(PLAIN))
    with pytest.raises(RemoteProtocolError) as first:
        ask()
    referee.receive(b'\n{"id":1,"result":7}\n')
    with pytest.raises(RemoteProtocolError) as second:
        ask()
    assert str(first.value) == str(second.value)


@pytest.mark.parametrize("name", [name for name in names("frames") if load(name)["from"] == "referee"])
def test_the_referee_writes_exactly_the_vectors_frame(name: str) -> None:
    vector = load(name)
    message = vector["message"]
    for encoding in encodings(vector):
        assert _written(message, encoding) == frame_bytes(vector["frame"], encoding)


def _written(message: dict[str, object], encoding: Encoding) -> bytes:
    if message["method"] == "initialize":
        params = msgspec.convert(message["params"], Initialize)
        if message["id"] == 0:
            return Connection().initialize(params)
        return joined(encoding)[0].initialize(params)
    referee, _ = joined(encoding)
    if message["method"] == "exit":
        return referee.exit()
    params = dict(message["params"])  # type: ignore[call-overload]
    clock = msgspec.convert(params.pop("clock", None), type(CLOCK) | None)
    encoded = referee.encode(params)
    if clock is None:
        return referee.notify(str(message["method"]), encoded)
    return referee.call(str(message["method"]), encoded, clock)


@pytest.mark.parametrize(("name", "encoding"), cases("frames", "referee"))
@pytest.mark.parametrize("feed", FEEDS)
def test_the_bots_end_reads_what_the_referee_writes(name: str, encoding: Encoding, feed: str) -> None:
    vector = load(name)
    bot = joined(encoding)[1] if vector["message"].get("id") != 0 else BotConnection()
    data = frame_bytes(vector["frame"], encoding)
    if feed == "byte by byte":
        for byte in data[:-1]:
            bot.receive(bytes([byte]))
            assert bot.next_message() is NEED_DATA
        bot.receive(data[-1:])
    else:
        bot.receive(data + (data[:5] if feed == "with trailing bytes" else b""))
    message = {"params": {}, **vector["message"]}
    kind = Request if "id" in message else Notification
    assert bot.next_message() == msgspec.convert(message, kind)
    assert bot.next_message() is NEED_DATA
