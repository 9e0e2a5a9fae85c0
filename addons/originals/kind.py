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
        parse="referee.addons.originals.spec:parse",
        recognise="referee.addons.originals.spec:recognise",
        bot_file="referee.addons.originals.spec:parse_bot_file",
        shown="referee.addons.originals.command:shown",
        in_a_copy="referee.addons.originals.command:working_in_a_copy",
        modules="referee.addons.originals.spec:modules",
        paths="referee.addons.originals.spec:paths",
    ),
)
