"""Container images as a kind of player."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from referee.games.contract import Player
from referee.harness.isolation.plan import Isolation
from referee.harness.programs.entrant import Entrant, Parsed
from referee.harness.programs.kinds import Kind

if TYPE_CHECKING:
    from referee.harness.programs.build_process import BuildContext
    from referee.harness.replay.reader import Replay


class ContainerImage(Kind):
    """`oci:IMAGE.tar`."""

    name, plural, place = "container image", "container images", 100
    prefixes, names_file, archives = ("oci:",), True, (".tar",)
    help = "oci:IMAGE.tar (a container image)"
    rows = (("a container image, as `docker save` writes it", "`oci:team.tar`"),)
    travels = travels_whole = True

    def parse(self, spec: str, game: str | None) -> Parsed:
        from referee.addons.images.image import parse

        return parse(spec, game)

    def recognise(self, path: Path, game: str | None) -> Parsed | None:
        from referee.addons.images.image import recognise

        return recognise(path, game)

    def identified(self, spec: str) -> tuple[Path, str]:
        from referee.addons.images.image import path_of, unpack_verified

        return path_of(spec), unpack_verified(spec, Isolation())

    def unpacked(self, name: str, ident: str) -> Entrant | None:
        from referee.addons.images.image import image_entrant, unpacked_image

        found = unpacked_image(ident)
        return None if found is None else image_entrant(name, found)

    def unpack(self, archive: Path, isolation: Isolation) -> None:
        from referee.addons.images.image import PREFIX, unpack

        unpack(f"{PREFIX}{archive}", isolation)

    def made(self, command: Sequence[str], folder: str) -> bool:
        from referee.addons.images.image import unpacked_at

        return bool(folder) and unpacked_at(Path(folder)) is not None

    def recorded(
        self, replay: "Replay", player: Player, command: Sequence[str], folder: str, context: "BuildContext"
    ) -> Entrant | None:
        from referee.addons.images.image import image_entrant, unpacked_at

        unpacked = unpacked_at(Path(folder))
        return None if unpacked is None else image_entrant(replay.header.setup.names[player], unpacked)


IMAGE = ContainerImage()
