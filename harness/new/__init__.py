"""`referee new`: writes a first bot."""
