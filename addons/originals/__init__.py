"""Runs unmodified bots of the original competitions.

`run.py` is the program; a module per game translates. They need only the Python kit, so that any interpreter can run
them, for example one with numpy.
"""
