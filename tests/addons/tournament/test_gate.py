"""The gate: what it decides, in which order it counts, how often it errs, what it tells."""

import math
import random
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest

from referee.addons.tournament.gate import Decision, Game, Gate, Report, Terms, Unit, checked
from referee.addons.tournament.reports.gate_report import junit, lines, markdown, sentence, warnings
from referee.addons.tournament.statistics.score import Sample, expected, llr
from referee.harness.common.errors import UsageError

ACCEPTED, REJECTED, INCONCLUSIVE = Decision.ACCEPTED, Decision.REJECTED, Decision.INCONCLUSIVE


def seed_group(*outcomes: float, content: int = 0) -> list[Game]:
    """Returns a game pair by the new bot's points in each game: 1, ½ or 0."""
    games = []
    for seat, outcome in enumerate(outcomes):
        ranks = {1.0: (1, 2), 0.5: (1, 1), 0.0: (2, 1)}[outcome]
        games.append(Game(seat, ranks[:: 1 - 2 * seat], content and content + seat))
    return games


BETTER, WORSE, EQUAL = (
    [seed_group(*each) for each in pairs] for pairs in (((1, 1), (1, 0.5)), ((0, 0), (0, 0.5)), ((1, 0),))
)


def decided(gate: Gate, groups: Sequence[Sequence[Game]]) -> Decision | None:
    for number, games in enumerate(groups):
        if gate.add(number, games) is not None:
            break
    return gate.decision


def finished(terms: Terms, groups: Sequence[Sequence[Game]], names: tuple[str, str] = ("new", "old")) -> Report:
    gate = Gate(terms, 2)
    decided(gate, groups)
    gate.give_up()
    return gate.report("Tic-tac-toe", names, seed=7, played=gate.so_far.games + 6, duration_s=61.5)


# Decisions.


def test_a_bot_that_wins_is_accepted_and_one_that_loses_rejected() -> None:
    assert decided(Gate(Terms(), 2), BETTER * 100) is ACCEPTED
    assert decided(Gate(Terms(), 2), WORSE * 100) is REJECTED


def test_a_copy_of_the_old_bot_is_rejected_without_any_spread() -> None:
    gate = Gate(Terms(), 2)
    assert decided(gate, EQUAL * 100) is REJECTED
    assert gate.so_far.seed_groups == 40  # 32 / 36 of the ratio's bound; at -0.09 a seed group


def test_the_ratio_is_looked_at_every_eight_seed_groups() -> None:
    gate = Gate(Terms(low=0, high=200), 2)
    decided(gate, [seed_group(1, 1)] * 7)
    assert (gate.so_far.seed_groups, gate.so_far.llr, gate.decision) == (7, 0, None)
    assert decided(gate, [seed_group(1, 1)] * 8) is ACCEPTED


def test_the_ratio_is_that_of_the_pentanomial() -> None:
    gate = Gate(Terms(low=-5, high=5), 2)
    pairs = ((1, 1), (1, 0.5), (0.5, 0.5), (0, 0.5), (1, 0), (0, 0))
    decided(gate, [seed_group(*pair) for pair in pairs] * 4)
    assert gate.so_far.counts == [4, 4, 8, 4, 4]
    assert gate.so_far.llr == pytest.approx(llr(Sample((4, 4, 8, 4, 4)), -5, 5))


def test_the_limit_of_games_ends_a_gate_after_a_last_look() -> None:
    gate = Gate(Terms(max_games=21), 2)
    assert decided(gate, [seed_group(1, 0.5), seed_group(0.5, 0)] * 20) is INCONCLUSIVE
    assert (gate.so_far.games, gate.so_far.llr != 0) == (20, True)


def test_the_end_of_the_time_decides_nothing() -> None:
    assert finished(Terms(), EQUAL).decision is INCONCLUSIVE
    assert finished(Terms(), [seed_group(1, 1)] * 100).decision is ACCEPTED


# Repeats.


def test_a_seed_group_counts_once_and_the_same_games_again_and_again_prove_nothing() -> None:
    gate = Gate(Terms(), 2)
    assert decided(gate, [seed_group(1, 1, content=7)] * 1000) is INCONCLUSIVE
    run = gate.report("Four in a row", ("new", "old"), seed=7, played=130, duration_s=0)
    assert (run.seed_groups, run.repeats, sum(run.counts), run.different) == (65, 64, 1, 2)
    assert run.nothing_new
    assert sentence(run).endswith("not proven within 130 games, and further games only repeat these")


def test_repeats_change_no_evidence() -> None:
    luck = random.Random(3)
    groups = [seed_group(luck.choice((1, 0.5, 0)), 0.5, content=10 * number + 1) for number in range(60)]
    once, often = Gate(Terms(), 2), Gate(Terms(), 2)
    decided(once, groups)
    decided(often, [again for group in groups for again in [group] * luck.randrange(1, 5)])
    assert (often.so_far.counts, often.so_far.llr) == (once.so_far.counts, once.so_far.llr)
    assert often.so_far.repeats == often.so_far.seed_groups - 60 > 60 and once.so_far.llr != 0


def test_seed_groups_that_share_only_some_games_or_whose_course_is_unknown_are_no_repeats() -> None:
    gate = Gate(Terms(), 2)
    one, two = seed_group(1, 1, content=7), seed_group(1, 1, content=90)
    decided(gate, [one, [one[0], two[1]], seed_group(1, 1), seed_group(1, 1)])
    assert (gate.so_far.seed_groups, gate.so_far.repeats, sum(gate.so_far.counts)) == (4, 0, 4)


# Order.


def test_the_order_of_arrival_changes_nothing() -> None:
    luck = random.Random(1)
    groups = [seed_group(luck.choice((1, 1, 0.5, 0)), luck.choice((1, 0.5, 0))) for _ in range(300)]
    ends = []
    for shuffled in (False, True):
        gate, order = Gate(Terms(high=60), 2), list(enumerate(groups))
        for start in range(0, len(order), 20):  # as from workers: nobody is far ahead
            part = order[start : start + 20]
            for number, games in luck.sample(part, 20) if shuffled else part:
                if gate.decision is None:
                    gate.add(number, games)
        ends.append((gate.decision, gate.so_far.seed_groups, gate.so_far.counts, gate.so_far.llr))
    assert ends[0] == ends[1]
    assert ends[0][0] is ACCEPTED


def test_seed_groups_after_a_gap_wait_and_those_after_the_decision_do_not_count() -> None:
    gate = Gate(Terms(high=200), 2)
    for number in range(1, 12):
        assert gate.add(number, seed_group(1, 1)) is None
    assert gate.so_far.seed_groups == 0
    assert gate.add(0, seed_group(1, 1)) is ACCEPTED
    gate.add(12, seed_group(0, 0))
    assert (gate.so_far.seed_groups, gate.so_far.games, gate.decision) == (8, 16, ACCEPTED)


# More seats.


def test_with_four_seats_the_new_bot_is_compared_with_three_old_ones() -> None:
    gate = Gate(Terms(), 4)
    rows = [Game(0, (1, 2, 3, 4)), Game(1, (2, 1, 3, 4)), Game(2, (2, 3, 1, 4))]
    gate.add(0, [*rows, Game(3, (1, 2, 3, 3))])  # behind two, level with one
    so_far = gate.so_far
    assert (so_far.ahead, so_far.level, so_far.behind) == (9, 1, 2)
    assert (len(so_far.counts), so_far.counts.index(1)) == (25, 19)
    strength = gate.report("Four in a row", ("new", "old"), seed=7, played=4, duration_s=0).strength
    assert strength is not None and strength.score == pytest.approx(19 / 24)


# How often it errs.


def decisions(terms: Terms, difference: float, draws: float, shared: float, runs: int, wrong: Decision) -> int:
    """Returns how many gates of a bot that is better by `difference` Elo decide so.

    In the share `shared` of seed groups both games end alike.
    """
    luck, found = random.Random(runs), 0
    win = expected(difference) - draws / 2
    chances = (win, draws, 1 - win - draws)
    assert min(chances) >= 0
    for _ in range(runs):
        gate, number = Gate(terms, 2), 0
        while gate.decision is None:
            first, second = luck.choices((1, 0.5, 0), chances, k=2)
            gate.add(number, seed_group(first, first if luck.random() < shared else second))
            number += 1
        assert gate.decision is not INCONCLUSIVE
        found += gate.decision is wrong
    return found


EXACT, NORMALISED = Terms(low=0, high=60), Terms(Unit.NELO, low=0, high=90)


@pytest.mark.parametrize(
    ("terms", "difference", "wrong"), [(EXACT, 0, ACCEPTED), (EXACT, 60, REJECTED), (NORMALISED, 0, ACCEPTED)]
)
def test_at_most_one_gate_in_twenty_errs(terms: Terms, difference: float, wrong: Decision) -> None:
    """With few and many draws, without and with luck shared in seed groups.

    With bad luck, 16 wrong gates of 200 are still one in twenty.
    """
    few, many = (decisions(terms, difference, *each, 100, wrong) for each in ((0.1, 0.0), (0.6, 0.5)))
    assert few + many <= 16


@pytest.mark.parametrize("terms", [EXACT, NORMALISED])
def test_a_much_better_bot_is_always_accepted_and_a_worse_one_always_rejected(terms: Terms) -> None:
    assert decisions(terms, 200, 0.2, 0, runs=10, wrong=ACCEPTED) == 10
    assert decisions(terms, -200, 0.2, 0, runs=10, wrong=REJECTED) == 10


# Terms.


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        (Terms(low=30, high=0), "--elo 30 0: expected the lower bound first"),
        (Terms(low=0, high=math.inf), "--elo 0 inf: expected finite bounds"),
        (Terms(low=0, high=10_000), "--elo 0 10000: expected bounds from -3000 to 3000"),
        (Terms(Unit.NELO, -1e300, 0), "--nelo -1e+300 0: expected bounds"),
        (Terms(low=math.nan), "--elo nan 30: expected the lower bound first"),
        (Terms(alpha=0), "--alpha 0: expected a chance above 0 and below 0.5"),
        (Terms(beta=0.5), "--beta 0.5: expected a chance above 0 and below 0.5"),
        (Terms(max_games=1), "--max-games 1: expected at least 2"),
        (Terms(max_minutes=0), "--max-minutes 0: expected a time above 0"),
    ],
)
def test_impossible_terms_are_refused_with_the_expected_values(terms: Terms, words: str) -> None:
    with pytest.raises(UsageError) as error:
        checked(terms, 2)
    assert str(error.value).startswith(words)


def test_terms_at_their_limits_are_accepted() -> None:
    for terms in (Terms(max_games=2), Terms(alpha=0.49), Terms(max_minutes=None)):
        assert checked(terms, 2) is terms


@pytest.mark.parametrize("unit", [Unit.ELO, Unit.NELO])
@pytest.mark.parametrize("bounds", [(0, 3000), (-3000, 3000), (0, 1e-300)])
def test_a_gate_works_with_all_bounds_that_it_accepts(bounds: tuple[float, float], unit: Unit) -> None:
    terms = Terms(unit, *bounds)
    for outcomes in ((1, 1), (0, 0), (0.5, 0.5), (1, 0.5)):
        gate = Gate(checked(terms, 2), 2)
        decided(gate, [seed_group(*outcomes)] * 16)
        assert math.isfinite(gate.so_far.llr)


# What it tells.


def test_the_report_has_the_lines_of_chess_engine_testers() -> None:
    groups = [seed_group(1, 1, content=4), seed_group(1, 0, content=2), seed_group(0.5, 0.5)] * 4
    run = msgspec.structs.replace(finished(Terms(low=0, high=5), groups), faults_old=3)
    assert lines(run) == [
        "Elo   | 58.5 [-46.0, 174.9] (95 %) few",
        "nElo  | 109.9 [-86.7, 306.4] (95 %)",
        "LOS   | 86.33 %",
        f"Gate  | LLR {run.llr:.2f} (-2.94, 2.94) [0, 5] elo inconclusive",
        "Games | 24: W 12 L 4 D 8, 12 different; faults new 0, old 3",
        "Penta | [0, 0, 5, 0, 1]",
    ]


def test_the_report_warns_of_repeats_and_faults() -> None:
    run = finished(Terms(), [seed_group(1, 0, content=2)] * 10)
    assert warnings(run)[0].startswith("only 2 of 20 games are different")
    run = msgspec.structs.replace(run, different=18, faults_new=2)
    assert warnings(run) == ["faults count as the rules say: 2 of new, 0 of old"]


def test_markdown_begins_with_the_outcome_in_a_sentence() -> None:
    groups = EQUAL * 35 + [*[seed_group(1, 1)] * 4, seed_group(0, 0)] * 3
    undecided = finished(Terms(max_games=100), groups)
    assert undecided.decision is INCONCLUSIVE and undecided.strength is not None
    elo = undecided.strength.elo
    assert markdown(undecided).startswith(
        f"Probably better: {elo.value:+.0f} Elo, 95 % between {elo.low:+.0f} and {elo.high:+.0f}; "
        "not proven within 100 games.\n\n### "
    )
    assert sentence(finished(Terms(), [seed_group(0, 0)] * 200)).startswith("Worse: -∞ Elo, 95 % between -∞ and ")
    assert sentence(finished(Terms(), [])) == "Undecided: no game counts"


MAY_BE_WEAKER = Terms(low=-20.0, high=0.0)


@pytest.mark.parametrize(
    ("terms", "groups", "decision", "begins"),
    [
        (MAY_BE_WEAKER, EQUAL * 400, ACCEPTED, "Not worse: +0 Elo"),
        (MAY_BE_WEAKER, [*EQUAL * 30, seed_group(0, 0.5)] * 40, ACCEPTED, "Not worse: -"),
        (MAY_BE_WEAKER, BETTER * 100, ACCEPTED, "Better: +"),
        (Terms(), BETTER * 100, ACCEPTED, "Better: +"),
        (Terms(), WORSE * 100, REJECTED, "Worse: -"),
        (Terms(), EQUAL * 100, REJECTED, "Not better: +0 Elo"),
    ],
)
def test_the_sentence_says_no_more_than_the_games_prove(
    terms: Terms, groups: list[list[Game]], decision: Decision, begins: str
) -> None:
    run = finished(terms, groups)
    assert run.decision is decision and sentence(run).startswith(begins)


def test_markdown_escapes_names() -> None:
    text = markdown(finished(Terms(), [seed_group(1, 1)] * 8, names=("a*b*\n```\n# <b>@you", "old")))
    head = text.splitlines()[2]
    assert head == r"### a\*b\* \`\`\` \# \<b\>\@you against old at Tic\-tac\-toe: inconclusive"
    assert text.count("```\n") == 2


@pytest.mark.parametrize(
    ("groups", "failures", "skipped"),
    [([seed_group(1, 1)] * 200, 0, 0), ([seed_group(0, 0)] * 200, 1, 0), (EQUAL, 0, 1)],
)
def test_junit_fails_for_a_rejected_bot_and_skips_an_inconclusive_gate(
    groups: list[list[Game]], failures: int, skipped: int
) -> None:
    root = ElementTree.fromstring(junit(finished(Terms(), groups, names=("a\x00<b>", "old"))))
    ((case,),) = (suite,) = root
    assert (root.get("failures"), suite.get("skipped")) == (str(failures), str(skipped))
    assert (len(case.findall("failure")), len(case.findall("skipped"))) == (failures, skipped)
    assert case.get("name") == "a\\x00<b> against old"


def test_json_has_all_figures() -> None:
    run: Any = msgspec.json.decode(msgspec.json.encode(finished(Terms(), [seed_group(1, 1)] * 200)))
    assert run["decision"] == "accepted"
    assert run["strength"]["elo"]["high"] is None  # infinite
    assert run["surplus"] == 6
    assert run["counts"] == [0, 0, 0, 0, run["seed_groups"]]


# The machine.


def by_machine(games: Sequence[Game]) -> list[Game]:
    return [msgspec.structs.replace(game, by_machine=True) for game in games]


def test_a_gate_is_inconclusive_when_the_machine_may_have_decided_more_than_one_game_in_twenty() -> None:
    report = finished(Terms(), [seed_group(1, 1), by_machine(seed_group(1, 0.5))] * 100)
    assert report.decision is INCONCLUSIVE
    share = f"the machine may have decided {report.by_machine} of {report.games} games"
    assert share in sentence(report) and "more than 5%" in sentence(report)
    case = ElementTree.fromstring(junit(report)).find(".//skipped")
    assert case is not None and str(case.get("message")).endswith("the machine was busy")


def test_a_gate_plays_on_while_the_share_of_the_machine_may_still_fall() -> None:
    gate = Gate(Terms(), 2)
    assert decided(gate, [by_machine(seed_group(1, 1)), *BETTER * 100]) is ACCEPTED
    assert gate.so_far.by_machine == 2 and gate.so_far.games >= 40
