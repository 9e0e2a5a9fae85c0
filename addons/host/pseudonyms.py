"""Pseudonyms: names under which the public and other teams see a team. Organisers and exports have the real ones."""

import secrets
from collections.abc import Container, Sequence

from msgspec import Struct

from referee.addons.host.store import Store, audit
from referee.harness.common.errors import UsageError

SETTING = "pseudonyms"
"""The setting that says so; it is 1."""
COLOURS = (
    *("Amber", "Azure", "Beige", "Black", "Blue", "Bronze", "Brown", "Copper", "Coral", "Cream", "Crimson", "Cyan"),
    *("Emerald", "Golden", "Green", "Grey", "Indigo", "Ivory", "Jade", "Lavender", "Lilac", "Lime", "Magenta"),
    *("Maroon", "Mint", "Navy", "Ochre", "Olive", "Orange", "Pearl", "Pink", "Plum", "Purple", "Red", "Ruby"),
    *("Sapphire", "Scarlet", "Silver", "Teal", "Turquoise", "Violet", "White", "Yellow"),
)
ANIMALS = (
    *("Badger", "Bat", "Bear", "Beaver", "Bee", "Bison", "Camel", "Cat", "Cheetah", "Cobra", "Crab", "Crane", "Crow"),
    *("Deer", "Dolphin", "Dove", "Duck", "Eagle", "Eel", "Elk", "Falcon", "Ferret", "Finch", "Fox", "Frog", "Gecko"),
    *("Goose", "Hare", "Hawk", "Heron", "Ibex", "Jaguar", "Koala", "Lemur", "Lion", "Lizard", "Llama", "Lynx"),
    *("Magpie", "Mole", "Moose", "Moth", "Newt", "Orca", "Otter", "Owl", "Panda", "Parrot", "Puffin", "Puma"),
    *("Rabbit", "Raven", "Robin", "Salmon", "Seal", "Shark", "Sloth", "Snail", "Sparrow", "Squid", "Stork", "Swan"),
    *("Tapir", "Tiger", "Toad", "Trout", "Turtle", "Viper", "Walrus", "Wasp", "Whale", "Wolf", "Yak", "Zebra"),
)
DRAWS = 50
"""How often a pair of words is drawn before a number follows it."""


class _Named(Struct, frozen=True):
    name: str
    alias: str


def are_used(store: Store) -> bool:
    """Tells whether new teams get pseudonyms."""
    return store.setting(SETTING) is not None


def use(store: Store) -> None:
    """Gives pseudonyms to teams from now on. UsageError if a team has none, since the public knows its name."""
    with store.writing() as database:
        shown = database.execute("SELECT name FROM team WHERE alias = '' LIMIT 1").fetchone()
        if shown is not None:
            raise UsageError(f"--pseudonyms: the public knows the team {shown[0]!r} already; begin a new contest")
        if not are_used(store):
            database.execute("INSERT INTO setting (name, value) VALUES (?, '1')", (SETTING,))
            audit(database, "the referee", "pseudonyms", "all teams")


def drawn(taken: Container[str]) -> str:
    """Returns a pseudonym that is not taken. It says nothing about the team, nor when it joined."""
    for number in range(10 * DRAWS):
        name = f"{secrets.choice(COLOURS)} {secrets.choice(ANIMALS)}"
        name += f" {secrets.randbelow(900) + 100}" if number >= DRAWS else ""
        if name.casefold() not in taken:
            return name
    raise UsageError("no further pseudonym was found")


def real_names(store: Store) -> dict[str, str]:
    """Returns the names of teams by the names of their bots."""
    found: Sequence[_Named] = store.rows(_Named, "SELECT name, alias FROM team")
    return {each.alias or each.name: each.name for each in found}
