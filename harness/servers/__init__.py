"""Matches over HTTP for clients that were written for the original competitions: the Arena's and AIBG's.

A client is a seat of an ordinary match (`referee.harness.seats.seat`), with the same engine, clock, replay and verdict.
This package contains only the requests, and the Arena's test run. All but that needs the extra `web`.
"""
