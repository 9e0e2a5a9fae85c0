"""A submission that a judge runs, as a kind of player."""

from referee.harness.programs.kinds import Kind


class Judged(Kind):
    """Its answers come through the judge's pipes. No user can name it."""

    name, plural, place = "judged submission", "judged submissions", 940
    absent = "a submission of a judge plays in its validator alone"
    has_process = in_series = False


JUDGED = Judged()
