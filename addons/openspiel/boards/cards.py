"""Games of cards, dice, coins and goods: what each player has, in rows."""

import re
from collections.abc import Callable, Iterable, Sequence

from referee.addons.openspiel.boards.grids import dice
from referee.games.board import Cell, Part, Piece, Row, Shape, text_board

SUITS = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}
BACK = Piece("back")
GOODS: dict[str, Shape] = {"Book": "book", "Hat": "hat", "Basketball": "ball"}


def card(rank: str, suit: str = "") -> Piece:
    """Returns a card; T is 10."""
    sign = SUITS.get(suit.upper(), suit)
    return Piece("card", None, ("10" if rank == "T" else rank) + sign, "red" if sign in "♥♦" and sign else "black")


def row(title: str, pieces: Iterable[Piece], seat: int | None = None) -> Row:
    """Returns a row of pieces, each on a cell of its own."""
    return Row(title=title, seat=seat, cells=tuple([Cell("", (piece,)) for piece in pieces]))


def coins(amounts: Iterable[str], title: str = "chips") -> Row:
    """Returns what each seat has."""
    return row(title, [Piece("coin", seat, amount) for seat, amount in enumerate(amounts)])


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[1] if found else ""


def _kuhn(text: str) -> list[Part]:
    ranks = "JQKA23456789"
    if seen := re.fullmatch(r"(\d)(\d+)", text):  # a seat's: its card and what each has paid
        return [row("your card", [card(ranks[int(seen[1])])]), coins(seen[2], "paid")]
    cards = [int(each) for each in text.split() if each.isdigit()]
    bets = "".join(each for each in text.split() if not each.isdigit())
    parts: list[Part] = [row("cards", [Piece("card", seat, ranks[each]) for seat, each in enumerate(cards)])]
    return parts + ([row("moves", [Piece("letter", at % 2, each) for at, each in enumerate(bets)])] if bets else [])


def _leduc_card(number: str) -> Piece:
    return card("JQKA"[int(number) // 2], "SH"[int(number) % 2]) if int(number) >= 0 else BACK


def _leduc(text: str) -> list[Part]:
    cards = _first(r"player_0[^)]*\): ([-\d ]+)\nRound", text).split()
    private, public = _first(r"\[Private: (-?\d+)\]", text), _first(r"\[Public: (-?\d+)\]", text)
    money, pot = _first(r"Money[^:]*: ([-\d ]+)", text).split(), _first(r"Pot: (\d+)", text)
    if private:
        parts = [row("your card", [_leduc_card(private)]), row("on the table", [_leduc_card(public or "-1")])]
    else:
        held = [
            Piece("card", seat, each.text, each.colour)
            for seat, each in enumerate(map(_leduc_card, cards[1:]))
            if each is not BACK
        ]
        parts = [row("cards", held), row("on the table", [_leduc_card(cards[0])])]
    rounds = re.findall(r"Round \d sequence: (.*)", text)
    moves = [f"round {at}: {moves}" for at, moves in enumerate(rounds, 1) if moves]
    made: list[Part] = [*parts, coins(money, "money"), row("pot", [Piece("coin", None, pot)])]
    return made + ([*text_board("\n".join(moves)).parts] if moves else [])


CARD = re.compile(r"([2-9TJQKA])([shdc])")


def _cards(text: str) -> list[Piece]:
    return [card(rank, suit) for rank, suit in CARD.findall(text)]


def _texas(text: str) -> list[Part]:
    if "[Private:" in text:
        hands = [row("your cards", _cards(_first(r"\[Private: ([^\]]*)", text)))]
        table, money = _first(r"\[Public: ([^\]]*)", text), _first(r"\[Money: ([\d ]+)\]", text).split()
        paid, pot = _first(r"\[PlayerContribution: ([\d ]+)\]", text).split(), _first(r"\[Pot: (\d+)\]", text)
        more = [coins(money, "money"), row("pot", [Piece("coin", None, pot)])]
    else:
        hands = [row(f"seat {seat}", _cards(held), int(seat)) for seat, held in re.findall(r"P(\d) Cards: (.*)", text)]
        table, paid = _first(r"BoardCards (.*)", text), re.findall(r"P\d: (\d+)", _first(r"Spent: \[(.*)\]", text))
        more = []
    return [*hands, row("on the table", _cards(table) or [BACK]), coins(paid, "paid"), *more]


def _liars_dice(text: str) -> list[Part]:
    words = text.split()
    rolled = [word for word in words if word.isdigit()]
    bids = [word for word in words if "-" in word and word != "-1"]
    end = [word for word in words if word == "Liar"]
    if "chance" in words or not rolled:
        raise ValueError("the dice are not thrown")
    shown = (
        [dice(points, seat, f"seat {seat}") for seat, points in enumerate(rolled)]
        if len(rolled) > 1
        else [dice(rolled[0], None, "your dice")]
    )
    said = [Piece("letter", at % 2, bid.replace("-", "×")) for at, bid in enumerate(bids[-12:])]
    return [*shown, *([row("bids", [*said, *(Piece("letter", None, each) for each in end)])] if said else [])]


def _goods(text: str) -> list[Piece]:
    return [Piece(GOODS.get(name, "box"), None, count) for name, count in re.findall(r"(\w+): (\d+)", text)]


def _bargaining(text: str) -> list[Part]:
    parts: list[Part] = [row("pool", _goods(_first(r"Pool: (.*)", text)))]
    parts += [
        row(f"worth to seat {seat}", _goods(each), int(seat)) for seat, each in re.findall(r"P(\d) vals: (.*)", text)
    ]
    parts += [row("worth to you", _goods(each)) for each in re.findall(r"My values: (.*)", text)]
    offers = re.findall(r"P(\d) offers: Offer: (.*)", text)[-4:]
    return parts + [row(f"offer of seat {seat}", _goods(each), int(seat)) for seat, each in offers]


def _blotto(text: str) -> list[Part]:
    sent = re.findall(r"P(\d) action: \[([\d,]+)\]", text)
    return [
        row(f"seat {seat}", [Piece("shield", int(seat), each) for each in sent.split(",")], int(seat))
        for seat, sent in sent
    ]


def _goofspiel(text: str) -> list[Part]:
    parts: list[Part] = []
    for seat, hand in re.findall(r"P(\d+) hand: ([\d ]*)", text):
        cells = tuple([Cell(f"{seat}:{each}", (Piece("card", int(seat), each),)) for each in hand.split()])
        parts.append(Row(title=f"seat {seat}", seat=int(seat), cells=cells))
    sequence = (
        _first(r"Point card sequence: ([\d ]*)", text).split() or _first(r"Current point card: (\d+)", text).split()
    )
    points = _first(r"Points: ([-\d ]*)", text).split()
    parts.insert(1, row("point cards", [Piece("card", None, each) for each in sequence[-8:]]))
    return [*parts, coins(points, "points")] if parts[1:] else []


def _yacht(text: str) -> list[Part]:
    points = _first(r"Dice: ([\d ]+)", text).split()
    rest = text.partition("\nRoll")[2]
    return [dice("".join(points).replace("0", "")), *text_board(f"Roll{rest}").parts]


def _pig(text: str) -> list[Part]:
    scores, total = _first(r"Scores: ([\d ]+)", text).split(), _first(r"Turn total: (\d+)", text)
    return [coins(scores, "scores"), row("this turn", [Piece("coin", None, total)])]


def _cribbage(text: str) -> Sequence[Part]:
    upper = text.replace("10", "T")
    found = re.findall(r"(Crib|Starter|(?:P\d )?Hand|Played cards): +(.*)", upper)
    if not found:
        raise ValueError("no cards")
    rows = [
        row(title.lower(), [card(rank, suit) for rank, suit in re.findall(r"([2-9TJQKA])([SHDC])", held)])
        for title, held in found
    ]
    return [each for each in rows if each.cells] + [coins(_first(r"Scores: ([\d ]+)", text).split(), "scores")]


MAKERS: dict[str, Callable[[str], Sequence[Part]]] = {
    "kuhn_poker": _kuhn,
    "leduc_poker": _leduc,
    "repeated_leduc_poker": _leduc,
    "universal_poker": _texas,
    **dict.fromkeys(("liars_dice", "liars_dice_ir"), _liars_dice),
    "bargaining": _bargaining,
    "blotto": _blotto,
    "goofspiel": _goofspiel,
    "yacht": _yacht,
    "pig": _pig,
    "cribbage": _cribbage,
}
