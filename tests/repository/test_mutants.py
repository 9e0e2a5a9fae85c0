"""Mutants: which small changes of the code does no test notice?"""

import ast
from pathlib import Path

import pytest

from referee.tools import mutants
from referee.tools.generated import ROOT

FILES = ("games/dice.py", "harness/match/turn.py", "addons/tournament/statistics/rating.py")
SOURCE = """
def better(mine, best):
    if mine > best and not mine.ended:
        count(mine)
        return mine
    return [each + 1 for each in best]
"""
CHANGES = {
    ("mine > best", " >= "),
    ("mine > best and not mine.ended", " or "),
    ("mine > best and not mine.ended", "(not (mine > best and not mine.ended))"),
    ("not mine.ended", "(mine.ended)"),
    ("count(mine)", "pass"),
    ("return mine", "return None"),
    ("return [each + 1 for each in best]", "return None"),
    ("each + 1", " - "),
    ("1", "2"),
}


def test_comparisons_conditions_operators_numbers_results_and_calls_are_changed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SOURCE)
    assert {(site.mutant.was, site.mutant.now) for site in mutants.sites(tmp_path, ["a.py"])} == CHANGES


def test_a_mutant_is_found_again_after_lines_have_moved(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SOURCE)
    drawn = [site.mutant for site in mutants.sites(tmp_path, ["a.py"])]
    (tmp_path / "a.py").write_text(f"import os\n\n{SOURCE}\n".replace("        count(mine)\n", ""))
    places = mutants.found(tmp_path, drawn)
    assert {each.was for each in drawn if each.name not in places} == {"count(mine)"}
    moved = (tmp_path / "a.py").read_text()
    assert mutants.changed_by(moved.encode(), places[drawn[0].name]).decode() != moved


@pytest.mark.parametrize("file", FILES)
def test_marked_and_changed_sources_are_python(file: str) -> None:
    places = [site for site in mutants.sites(ROOT, [file]) if site.statement]
    source = (ROOT / file).read_bytes()
    texts = {mutants.changed_by(source, site) for site in places}
    assert len(texts) == len(places) > 10 and source not in texts
    for text in texts:
        ast.parse(text)
    ast.parse(mutants.marked(source.decode(), {site.statement: [number] for number, site in enumerate(places)}))
