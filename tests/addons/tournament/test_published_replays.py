"""A replay as a bot's author gets it."""

import json
from pathlib import Path

from referee.addons.tournament.reports.readers import published


def test_a_published_replay_has_what_is_the_authors_and_no_path_of_the_machine() -> None:
    home = str(Path.home() / "cup")
    seat = {"command": [f"{home}/bot"], "stderr": f"{home}/match.seat0.stderr"}
    faults = [{"player": player, "last_words": [f'File "{home}/bot.py"'], "said": []} for player in (0, 1)]
    header = {"commands": [seat["command"]] * 2, "folders": [home] * 2}
    ending = {"seats": [seat] * 2, "faults": [{**fault, "bundle": f"{home}/fault1"} for fault in faults]}
    replay = published(f'{json.dumps(header)}\n{{"turn":1}}\n{json.dumps(ending)}\n'.encode(), 0)
    first, turn, last = map(json.loads, replay.splitlines())
    assert str(Path.home()) not in replay.decode() and turn == {"turn": 1}
    assert first["commands"] == [["~/cup/bot"], []]
    assert [each["last_words"] for each in last["faults"]] == [['File "~/cup/bot.py"'], []]
