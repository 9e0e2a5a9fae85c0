"""Plays scheduled games: a runner, and workers on this machine or on a Dask cluster."""
