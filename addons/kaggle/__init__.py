"""Runs agents of Kaggle's simulation competitions, which `kaggle_environments` calls there.

`run.py` is the program. It needs only the Python kit, so that any interpreter can run it, for example one with numpy.
"""
