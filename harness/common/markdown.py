"""Escaping for Markdown, since bots choose their names."""

SPECIAL = r"\`*_{}[]<>()#+-.!|@~&"
"""The characters that may have a meaning in Markdown, or in GitHub's."""


def escaped(text: str) -> str:
    """Returns `text` so that Markdown shows it as it is, on one line and in one table cell."""
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return "".join("\\" + letter if letter in SPECIAL else letter for letter in text)
