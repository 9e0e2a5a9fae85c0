"""OpenSpiel's bots as built-in opponents: ordinary programs, which `python -m` starts."""
