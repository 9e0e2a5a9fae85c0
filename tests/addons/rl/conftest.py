"""No warnings of the packages for training."""

import warnings
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """PettingZoo and Gymnasium warn of spaces that are dicts and of observations without bounds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
