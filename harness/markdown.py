"""Text in Markdown: bots choose their names."""

MEANT = r"\`*_{}[]<>()#+-.!|@~&"
"""The letters that Markdown, or GitHub's, may take for more than themselves."""


def escaped(text: str) -> str:
    """`text` as Markdown shows it letter by letter, in one line and in one cell of a table."""
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return "".join("\\" + letter if letter in MEANT else letter for letter in text)
