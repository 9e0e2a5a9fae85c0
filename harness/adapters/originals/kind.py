"""Bots of the original competitions as a kind of player."""

from referee.harness.programs.kinds import Kind

KINDS = (
    Kind(
        name="original bot",
        plural="bots of original competitions",
        place=70,
        prefixes=("original:",),
        help="original:PATH (a bot of the game's original competition)",
        rows=(
            ("an agent of an original competition", "`'Complex Food Gatherer.py'`"),
            ("an agent that Referee does not recognise", "`original:'--folder data agent.py'`"),
        ),
        parse="referee.harness.adapters.originals.spec:parse",
        recognise="referee.harness.adapters.originals.spec:recognise",
        bot_file="referee.harness.adapters.originals.spec:parse_bot_file",
        shown="referee.harness.adapters.originals.command:shown",
        in_a_copy="referee.harness.adapters.originals.command:working_in_a_copy",
        modules="referee.harness.adapters.originals.spec:modules",
        paths="referee.harness.adapters.originals.spec:paths",
    ),
)
