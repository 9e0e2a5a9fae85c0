"""Names of the C bindings. C has one name space, so every name of a game's header begins with the game's name."""

import re

from referee.tools.kits.shapes import Many, Maybe, OneOf, Pair, Ref, Scalar, Type

SCALARS = {"int": "int", "float": "double", "bool": "bool", "str": "const char*", "any": "const referee_value*"}
NAMES = {"int": "int", "float": "float", "bool": "bool", "str": "text", "any": "any"}
TEXTS = "referee_text_list"
"""The only list type that `wire.h` declares."""


class Names:
    """The names of a game's types, functions and constants."""

    def __init__(self, game: str) -> None:
        self.game = game

    def of(self, name: str) -> str:
        """A type or a function: `CoordList` is `reantics_coord_list`."""
        return f"{self.game}_{snake(name)}"

    def constant(self, name: str) -> str:
        return f"{self.game}_{snake(name)}".upper()

    def type(self, shape: Type) -> str:
        """The declared type of a variable."""
        match shape:
            case Scalar(kind, None):
                return SCALARS[kind]
            case Scalar(choice=choice) if choice is not None:
                return self.of(choice.name)
            case Pair(name=name) | Ref(name=name) | OneOf(name=name):
                return self.of(name)
            case Many(Scalar("str", None)):
                return TEXTS
            case Many(item):
                return self.of(f"{shape_name(item, lengths=False)}_list")
            case Maybe(Many() as item):
                return self.type(item)
            case Maybe(item) if is_pointer(item):
                return self.type(item)
            case Maybe(Ref(name=name) | OneOf(name=name)):
                return f"const {self.of(name)}*"
            case Maybe(Scalar(choice=None)):
                return f"referee_{shape_name(shape)}"
        return self.of(shape_name(shape))

    def reader(self, shape: Type) -> str:
        return self._function("read", shape)

    def writer(self, shape: Type) -> str:
        """A pointer is NULL when absent, so a value that may be absent has the writer of one that may not."""
        match shape:
            case Maybe(item) if is_pointer(item):
                return self._function("write", item)
        return self._function("write", shape)

    def _function(self, verb: str, shape: Type) -> str:
        match shape:
            case Scalar(choice=None) | Maybe(Scalar(choice=None)):
                return f"referee_{verb}_{shape_name(shape)}"
        return self.of(f"{verb}_{shape_name(shape)}")

    def new_list(self, shape: Many) -> str:
        """The function that makes an empty list."""
        return self.of(f"new_{shape_name(shape, lengths=False)}")


def is_pointer(shape: Type) -> bool:
    """Whether a value of that shape is a pointer: a text or any JSON value."""
    return isinstance(shape, Scalar) and shape.choice is None and shape.kind in ("str", "any")


def snake(name: str) -> str:
    """`getMove` as `get_move`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def shape_name(shape: Type, lengths: bool = True) -> str:
    """The end of a name such as `read_name`. Without `lengths`, a list of fixed length has the name of any list."""
    match shape:
        case Scalar(kind, choice):
            return NAMES[kind] if choice is None else snake(choice.name)
        case Many(item, length):
            return f"{shape_name(item, lengths)}_list{length if length and lengths else ''}"
        case Maybe(item):
            return f"maybe_{shape_name(item, lengths)}"
        case _:
            return snake(shape.name)
