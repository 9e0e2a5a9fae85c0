"""Matches over HTTP, for clients that were written for the original competitions: the Arena's and AIBG's.

A client is a seat of an ordinary match (`referee.harness.seats.seat`): the engine, the clock, the rulings, the record
and the verdict are those of every other. Here stand the requests that it speaks with, and nothing of the rules. All of
it needs the extra `referee[web]`.
"""
