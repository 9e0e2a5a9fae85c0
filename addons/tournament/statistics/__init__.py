"""Ratings, and how certain they are."""
