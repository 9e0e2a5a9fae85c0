"""The dice never change, since old replays depend on these numbers."""

from collections import Counter

import pytest

from referee.games.dice import Dice, ScriptedDice, derive_seed

PUBLISHED = [  # SplitMix64 with seed 1234567
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
]


class Scripted(Dice):
    """Dice whose next bits are written down."""

    __slots__ = ("script",)

    def __init__(self, *script: int) -> None:
        super().__init__(0)
        self.script = list(script)

    def bits(self) -> int:
        return self.script.pop(0)


def test_bits_are_the_published_numbers_of_splitmix64() -> None:
    dice = Dice(1234567)
    assert [dice.bits() for _ in PUBLISHED] == PUBLISHED


def test_a_seed_counts_by_its_low_64_bits() -> None:
    assert Dice(1234567 + (1 << 64)).bits() == PUBLISHED[0]
    assert Dice(-1).bits() == Dice((1 << 64) - 1).bits()


def test_choices_of_a_seed_never_change_between_versions() -> None:
    dice = Dice(2024)
    assert [dice.below(10) for _ in range(12)] == [1, 2, 1, 5, 8, 9, 1, 4, 8, 5, 5, 5]
    items = list("abcdefgh")
    Dice(2024).shuffle(items)
    assert "".join(items) == "ehbcgdaf"
    assert Dice(2024).sample(range(40), 5) == [33, 27, 37, 4, 11]


def test_below_rejects_numbers_that_would_favour_small_results() -> None:
    last_fair = (1 << 64) - 1 - (1 << 64) % 3
    assert Scripted(last_fair).below(3) == 2
    assert Scripted(last_fair + 1, 7).below(3) == 1, "2**64-1 is thrown away; then comes 7"
    assert Scripted((1 << 64) - 1).below(1 << 64) == (1 << 64) - 1
    assert Scripted((1 << 64) - 1).below(1) == 0


def test_below_is_fair() -> None:
    dice = Dice(3)
    count = Counter(dice.below(6) for _ in range(60_000))
    assert set(count) == set(range(6))
    assert all(9_600 < times < 10_400 for times in count.values())  # 4 standard deviations are 365


@pytest.mark.parametrize("n", [0, -1, (1 << 64) + 1])
def test_below_refuses_ranges_that_it_cannot_draw_from(n: int) -> None:
    with pytest.raises(ValueError, match="below"):
        Dice(1).below(n)


def test_nothing_can_be_chosen_from_nothing() -> None:
    with pytest.raises(ValueError, match="below"):
        Dice(1).choice([])
    with pytest.raises(ValueError, match="cannot draw 3 of 2"):
        Dice(1).sample([1, 2], 3)


def test_a_sample_holds_different_positions_and_leaves_its_source_alone() -> None:
    source = list(range(40))
    drawn = Dice(5).sample(source, 11)
    assert len(set(drawn)) == 11
    assert source == list(range(40))
    assert sorted(Dice(5).sample(source, 40)) == source


def test_a_shuffle_reaches_every_order_equally_often() -> None:
    dice, count = Dice(8), Counter[str]()
    for _ in range(24_000):
        items = list("abcd")
        dice.shuffle(items)
        count["".join(items)] += 1
    assert len(count) == 24
    assert all(870 < times < 1_130 for times in count.values())  # 4 standard deviations are 124


def test_a_copy_is_independent_of_its_original() -> None:
    dice = Dice(9)
    twin = dice.copy()
    ahead = [twin.bits() for _ in range(3)]
    assert [dice.bits() for _ in range(3)] == ahead


def test_derived_seeds_never_change_between_versions() -> None:
    assert derive_seed(4711) == 2828725802380470
    assert derive_seed(4711, "layout", 0, 1) == 4745314929317712
    assert derive_seed(4711, 1) != derive_seed(4711, 11) != derive_seed(47111)


def test_derived_seeds_stay_exact_as_doubles() -> None:
    for seed in range(2_000):
        derived = derive_seed(seed, "seat", 1)
        assert 0 <= derived < 1 << 53
        assert int(float(derived)) == derived


# Dice for tests.


def test_scripted_dice_give_their_outcomes_and_log_each_draw() -> None:
    dice = ScriptedDice({"coin": [1, 0], "cell": ["b"], "deck": [["x", "z"]], "batch": [{"a": 1}]})
    assert (dice.below(2, "coin"), dice.below(2, "coin")) == (1, 0)
    assert dice.choice("abc", "cell") == "b"
    assert dice.sample(["x", "y", "z"], 2, "deck") == ["x", "z"]
    assert dice.roll(lambda real: real.bits(), "batch") == {"a": 1}
    assert dice.drawn == [
        ("coin", range(2)),
        ("coin", range(2)),
        ("cell", "abc"),
        ("deck", ("x", "y", "z")),
        ("batch", None),
    ]


def test_scripted_dice_draw_at_random_without_an_outcome() -> None:
    one, other = ScriptedDice(), ScriptedDice({"cell": []})
    items = list(range(20))
    one.shuffle(items, "deck")
    assert sorted(items) == list(range(20)) != items
    assert 0 <= one.below(6, "die") < 6
    assert other.choice("abc", "cell") in "abc"
    assert one.fork("layout") is one, "what a fork draws is noted too"
    assert type(one.copy()) is Dice


def test_a_script_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the script has 7 for 'coin'; expected one of \[0, 1\]"):
        ScriptedDice({"coin": [7]}).below(2, "coin")
    with pytest.raises(ValueError, match="expected 2 of"):
        ScriptedDice({"deck": [["x"]]}).sample(["x", "y"], 2, "deck")


def test_a_fork_takes_nothing_from_the_stream_and_follows_from_its_seed() -> None:
    dice = Dice(11)
    fork = dice.fork("layout", 0, 1)
    assert dice.state == Dice(11).state
    assert fork.bits() == Dice(derive_seed(11, "layout", 0, 1)).bits()
