"""Runs bots that were written for the original competitions, unmodified: `run.py` is the program, a file or folder a
game what it needs. It stands on the Python kit alone, so that any interpreter can run it, one with numpy for example.
"""
