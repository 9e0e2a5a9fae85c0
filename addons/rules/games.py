"""From a folder with a `game.toml` to a game."""

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from referee.addons.rules import game_file
from referee.addons.rules.board_file import DeclaredBoard, clicks_of
from referee.addons.rules.game_file import GameFile, PresentationTable, read_game_file
from referee.addons.rules.json_types import JsonTypes
from referee.addons.rules.position import Saved
from referee.addons.rules.program import RulesProgram
from referee.addons.rules.source import GAME_FILE, installed_folder
from referee.addons.rules.state import ProgramState
from referee.games.contract import Method, Standing
from referee.games.game import Game, Presentation, Score
from referee.games.registry import families, packaged_names
from referee.harness.common.errors import UsageError
from referee.harness.common.paths import REPLAYS, TOURNAMENTS
from referee.harness.common.type_errors import in_words
from referee.harness.isolation.visible_paths import is_inside
from referee.harness.programs import bot_file, build_cache
from referee.harness.programs.archive import BotArchive, real_paths
from referee.harness.programs.bot_file import BotFile
from referee.harness.programs.build_process import BuildContext
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.zip_archive import USER_BYTES
from referee.harness.replay.lines import plain


def program(game: Game) -> RulesProgram:
    """Returns the program with the rules of a game."""
    kind: Any = game.new
    rules: RulesProgram = kind.RULES
    return rules


def is_program(game: Game) -> bool:
    """Returns whether the rules of a game are a program."""
    return isinstance(game.new, type) and issubclass(game.new, ProgramState)


def load(folder: Path, shown: str) -> Game:
    """Returns the game of a folder, given by its real path. UsageError that says what is wrong with it.

    Starts and builds nothing. `shown`: how the user names the folder.
    """
    file, place = read_game_file(folder, shown), f"{shown}/{GAME_FILE}"
    if file.name in {*packaged_names(), *families()}:
        raise UsageError(f"{place}: name is {file.name!r}, which is the name of another game; choose another")
    types = JsonTypes(folder, f"referee_rules_{file.name}_{sha256(str(folder).encode()).hexdigest()[:8]}", place)
    methods = _methods(file, types, place)
    views = _views(file, types)
    name = file.name
    rules = RulesProgram(name, file.version, lambda: entrant(file, folder, shown))
    kind = type(
        "FolderState",
        (ProgramState,),
        {
            "METHODS": methods,
            "RULES": rules,
            "GAME": name,
            "FOLDER": folder,
            "FULL_VIEW": views[0],
            "SEAT_VIEW": views[1],
            "UNTYPED": views[1] if file.view is None and file.seat_view is None else None,
        },
    )
    return Game(
        name=name,
        title=file.title or name,
        seats=range(file.seats[0], file.seats[1] + 1),
        methods=methods,
        options=_options(file, types, place),
        time=game_file.time_control(file.time, place),
        new=kind,
        view=views[0],
        seat_view=views[1],
        rebuild=kind.rebuilt,  # type: ignore[attr-defined]
        doc=file.doc or file.title or name,
        constants={key: tuple(value) if isinstance(value, list) else value for key, value in file.constants.items()},
        fresh=file.fresh,
        vary=file.vary,
        short=file.short,
        presentation=_presentation(file, place),
        rules_page=file.rules_page,
        prompt=file.prompt,
        painter=file.painter,
        starters=file.starters,
        opponents={each: str(folder / path) for each, path in file.opponents.items()},
        version=file.version,
        stderr_to=rules.stderr_to,
        sha256=files_of(file, folder, shown).identity,
    )


def _methods(file: GameFile, types: JsonTypes, place: str) -> dict[str, Method]:
    methods: dict[str, Method] = {}
    for name, table in file.methods.items():
        where, title = f"methods.{name}", name[0].upper() + name[1:]
        methods[name] = Method(
            name,
            _params(table.params, types, f"{where}.params", title, f"Parameters of `{name}`: none."),
            type(None) if table.result is None else types.of(table.result, f"{where}.result", f"{title}Answer"),
            table.doc,
            accepts=None if table.accepts is None else types.of(table.accepts, f"{where}.accepts", f"{title}Accepted"),
            time_s=game_file.seconds(table.time, f"{place}: {where}.time"),
            rules=table.rules,
        )
    for name, notice in file.notices.items():
        where, title = f"notices.{name}", name[0].upper() + name[1:]
        params = _params(notice.params, types, f"{where}.params", title, f"Parameters of `{name}`: none.")
        methods[name] = Method(name, params, None, notice.doc, viewers=notice.viewers)
    return methods


def _params(value: Any, types: JsonTypes, where: str, title: str, doc: str) -> type:
    name = f"{title}Params"
    if value is None:
        return types.struct(name, [], doc, forbid_unknown_fields=True)
    params = types.record(value, where, name)
    if any(field.encode_name == "clock" for field in msgspec.structs.fields(params)):
        raise types.wrong(where, "no parameter may be called clock: the referee adds one")
    return params


def _options(file: GameFile, types: JsonTypes, place: str) -> type:
    """Returns the type of the options. UsageError for a default that its own schema refuses."""
    game_file.defaults(file.options, place)
    schema = {
        "type": "object",
        "title": "Options",
        "description": f"Options of {file.title or file.name}.",
        "properties": file.options,
        "additionalProperties": False,
    }
    options = types.record(schema, "options", "Options")
    given = {name: each["default"] for name, each in file.options.items()}
    for which, values in (("the defaults", {}), ("vary", file.vary), ("short", file.short)):
        try:
            made: Any = msgspec.convert({**given, **values}, options)
        except msgspec.ValidationError as error:
            raise UsageError(f"{place}: {which} do not fit the options: {in_words(error, options)}") from error
        try:
            json.dumps(msgspec.to_builtins(made), allow_nan=False)
        except ValueError as error:
            raise UsageError(f"{place}: {which} have a value that JSON does not have, such as nan") from error
    return options


def _views(file: GameFile, types: JsonTypes) -> tuple[type[Struct], type[Struct]]:
    """Returns the types of the whole view and of a seat's view."""
    if file.view is None:
        own = types.struct("View", [("position", Any)], "The whole position.")
    else:
        own = types.record(file.view, "view", "View")
    fields = [(each.name, each.type, *_default_of(each)) for each in msgspec.structs.fields(own)]
    renamed = {each.name: each.encode_name for each in msgspec.structs.fields(own)}
    if clash := {"saved", "standing"} & set(renamed.values()):
        raise UsageError(f"view: {min(clash)} is a member that the referee adds; rename it")
    members = [*fields, ("saved", Saved), ("standing", Standing)]
    whole = types.struct("FullView", members, "The whole position.", kw_only=True, rename=renamed)
    if file.seat_view is not None:
        return whole, types.record(file.seat_view, "seat_view", "SeatView")
    return whole, own


def _default_of(field: msgspec.structs.FieldInfo) -> tuple[Any, ...]:
    if field.default is not msgspec.NODEFAULT:
        return (field.default,)
    if field.default_factory is not msgspec.NODEFAULT:
        return (msgspec.field(default_factory=field.default_factory),)
    return ()


def _presentation(file: GameFile, place: str) -> Presentation:
    table = file.presentation
    if strange := set(table.secret) - file.methods.keys():
        raise UsageError(f"{place}: presentation.secret: there is no method {min(strange)}")
    if any(set(sign) - _plain_signs(sign) for sign in table.signs):
        raise UsageError(f"{place}: presentation.signs: expected the sign of each seat's pieces, such as X")
    score = None
    if (counted := table.score) is not None:
        score = Score(counted.unit, counted.meaning, _scores, counted.fewest)
    return Presentation(
        frame=table.frame,
        legend=table.legend,
        endings={reason: _without_fields(words) for reason, words in table.endings.items()},
        secret=frozenset(table.secret),
        signs=tuple(map(_escaped, table.signs)),
        losing=frozenset(table.losing),
        score=score,
        **_board(table),
    )


def _board(table: PresentationTable) -> dict[str, Any]:
    """Returns what draws the declared board, and what clicks on it mean; nothing if none is declared."""
    if not table.board:
        return {}
    return {
        "board": DeclaredBoard(table.board),
        "clicks": lambda state, player, answer: clicks_of(table.clicks, plain(answer)),
    }


def _scores(state: Any) -> tuple[float, ...]:
    scores: tuple[float, ...] = state.standings()
    return scores


def _plain_signs(sign: str) -> set[str]:
    return {letter for letter in sign if letter.isprintable()}


def _escaped(sign: str) -> str:
    """Returns a regular expression for one of these letters: a stranger's own could take forever."""
    return "[" + "".join(f"\\{letter}" if letter in "\\]^-[" else letter for letter in sign) + "]"


def _without_fields(words: str) -> str:
    """Returns words for a result in which only the known fields are replaced."""
    for field in ("winner", "loser", "scores", "detail"):
        words = words.replace("{" + field + "}", f"\0{field}\1")
    return words.replace("{", "{{").replace("}", "}}").replace("\0", "{").replace("\1", "}")


def as_bot(file: GameFile) -> BotFile:
    """Returns how the program is built and run, as if it were a bot."""
    name = f"the rules of {file.name}"
    exclude = [*file.exclude, str(REPLAYS), str(TOURNAMENTS)]  # what is played in the game's own folder goes there
    return BotFile(run=file.run, name=name, build=file.build, bundle=file.bundle, exclude=exclude)


def files_of(file: GameFile, folder: Path, shown: str, private: list[str] | None = None) -> BotArchive:
    """Returns the files of a rules program. UsageError if it has files that it cannot have.

    Secrets and caches are left out, and added to `private`. Without that list, those of a copy count: the hash of an
    older copy may have them.
    """
    if private is None and not is_copy(folder):
        private = []
    return as_bot(file).files(folder, shown, (), GAME_FILE, USER_BYTES, private=private)


def is_copy(folder: Path) -> bool:
    """Whether the folder of a game is installed, or unpacked from a copy."""
    return is_inside(os.path.realpath(folder), real_paths(build_cache.root(), installed_folder()))


def entrant(file: GameFile, folder: Path, shown: str) -> Entrant:
    """Builds a rules program and returns what is started. RunError if that fails."""
    bot = as_bot(file)
    built = bot_file.build_bot(bot, folder, shown, BuildContext(name=bot.name), GAME_FILE)
    return Entrant(bot.name or file.name, built.argv, built.cwd, built.kind, named=built.named)
