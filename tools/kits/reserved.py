"""Refuses names that are words of a language. The author of a game may know another language only."""

import keyword
from collections.abc import Iterator

from referee.tools.kits.shapes import Binding

_C = """
    auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    bool true false
    """
_RESERVED = {  # the emitters of Go and Rust write such a name in another way
    "c": _C,
    "cpp": _C
    + """
    alignas alignof and and_eq asm bitand bitor catch char8_t char16_t char32_t class co_await co_return co_yield
    compl concept consteval constexpr constinit const_cast decltype delete dynamic_cast explicit export friend
    mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public reinterpret_cast
    requires static_assert static_cast template this thread_local throw try typeid typename using virtual wchar_t
    xor xor_eq
    """,
    "java": """
    abstract assert boolean break byte case catch char class const continue default do double else enum extends
    final finally float for goto if implements import instanceof int interface long native new package private
    protected public return short static strictfp super switch synchronized this throw throws transient try void
    volatile while true false null
    """,
    "javascript": """
    arguments await break case catch class const continue debugger default delete do else enum eval export extends
    false finally for function if implements import in instanceof interface let new null package private protected
    public return static super switch this throw true try typeof var void while with yield
    """,
    "python": " ".join(("self", *keyword.kwlist)),
    "rust": "crate self super Self",
}


def check_names(game: Binding, language: str) -> None:
    """Raises ValueError for a name that no program in this language can use."""
    reserved = set(_RESERVED.get(language, "").split())
    for kind, name in _names(game, language):
        if name in reserved:
            raise ValueError(f"{name}, the name of a {kind}, is a reserved word of {language}; choose another")


def _names(game: Binding, language: str) -> Iterator[tuple[str, str]]:
    is_free = language == "javascript"  # functions and members may have any name
    for function in game.functions:
        if not is_free:
            yield "function", function.name
        for field in () if function.is_event else function.params:
            yield "parameter", field.name
    for record in game.records:
        for field in () if is_free else record.fields:
            yield "member", field.name
