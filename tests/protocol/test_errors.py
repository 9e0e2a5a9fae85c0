"""How messages quote a bad frame: one printable line, of bounded length."""

import pytest

from referee.protocol.errors import stray_print
from referee.protocol.text import SHOWN_CHARACTERS, counted, listed, mebibytes, quote


@pytest.mark.parametrize(
    ("frame", "shown"),
    [
        (b"x = 5\n", "x = 5"),
        (b"a\tb\x1b[0m\r\n", "a\\tb\\x1b[0m"),
        ("größer ┻━┻ 😀".encode(), "größer ┻━┻ 😀"),
        ("\u202egnp.exe".encode(), "\\u202egnp.exe"),
        (b"caf\xe9", "caf\\xe9"),
        (b"\x83\xa7json\xff", "0x83a76a736f6eff"),
        (b"", ""),
        (b"\r\n", "\\r\\n"),
    ],
)
def test_a_frame_is_shown_as_text_where_it_is_text(frame: bytes, shown: str) -> None:
    assert quote(frame) == shown


@pytest.mark.parametrize("length", [SHOWN_CHARACTERS - 1, SHOWN_CHARACTERS, SHOWN_CHARACTERS + 1, 1 << 20])
@pytest.mark.parametrize("character", ["x", "é", "━", "😀"])
def test_a_long_frame_is_cut_at_two_hundred_characters(length: int, character: str) -> None:
    shown = quote((character * length).encode())
    assert shown == character * min(length, SHOWN_CHARACTERS) + ("…" if length > SHOWN_CHARACTERS else "")


def test_a_stray_print_tells_its_author_where_to_print() -> None:
    wanted = 'wrote "x = 5" to standard output; print debugging to standard error'
    assert str(stray_print(b"x = 5\n")) == wanted


def test_sizes_and_counts_are_words() -> None:
    assert mebibytes(3 << 19) == "1.5 MiB" and mebibytes(0) == "0.0 MiB"
    assert [counted(number, "fault") for number in (0, 1, 2000)] == ["0 faults", "1 fault", "2,000 faults"]
    assert counted(2, "match", "matches") == "2 matches"


@pytest.mark.parametrize(
    ("names", "text"), [("", ""), ("a", "a"), ("ab", "a and b"), ("abcde", "a, b, c, d and e"), ("a" * 1005, "1,000")]
)
def test_a_sentence_lists_a_few_names_and_the_number_of_the_others(names: str, text: str) -> None:
    said = listed(list(names))
    assert said == (text if len(names) < 6 else f"a, a, a, a, a and {text} more")
