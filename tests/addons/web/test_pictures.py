"""The pictures in README and docs show today's viewer: `python -m referee.tools.pictures` takes them."""

import re

from referee.games import registry
from referee.tools.pictures import FILM, FOLDER, ROOT

KIB = 1024


def test_pictures_are_small() -> None:
    for path in FOLDER.iterdir():
        assert path.stat().st_size <= (600 if path.name == FILM[1] else 150) * KIB, path.name


def test_every_game_has_its_picture_in_the_readme_which_names_it() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    shown = dict(re.findall(r"!\[([^\]]*)\]\(docs/images/(\w+)\.png\)", text))
    named = {file: words for words, file in shown.items()}
    for game in registry.own_names():
        title = registry.game(game).title.lower().removeprefix("the ")
        assert title in named[game].lower()
    assert f"docs/images/{FILM[1]}" in text
