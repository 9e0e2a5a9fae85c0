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
        parse="referee.harness.adapters.engines.spec:parse",
        paths="referee.harness.adapters.engines.spec:paths",
        shown="referee.harness.adapters.engines.command:shown",
        inner="referee.harness.adapters.engines.command:engine_in",
    ),
)
