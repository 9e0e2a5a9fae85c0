"""The Python kit's names for members of the original's objects, which its functions read and write."""

from operator import attrgetter


def kit_name(name):
    """Returns a property that is the attribute `name`."""
    return property(attrgetter(name), lambda self, value: setattr(self, name, value))
