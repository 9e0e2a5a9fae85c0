"""Engines of other protocols as a kind of player."""

from referee.harness.programs.kinds import Kind

KINDS = (
    Kind(
        name="engine",
        plural="engines",
        place=60,
        prefixes=("uci:", "ugi:", "gtp:", "cecp:"),
        help="uci:ENGINE, ugi:, gtp: or cecp: (engines)",
        rows=(("an engine that speaks UCI, UGI, GTP or CECP", "`uci:stockfish`, `gtp:'gnugo --mode gtp'`"),),
        parse="referee.addons.engines.spec:parse",
        paths="referee.addons.engines.spec:paths",
        shown="referee.addons.engines.command:shown",
        inner="referee.addons.engines.command:engine_in",
    ),
)
