"""Runs engines of other protocols as bots: UCI and CECP at chess, GTP at Go, UGI at any game of OpenSpiel.

`run.py` is the program. The engine is its child, and speaks its own protocol over pipes.
"""
