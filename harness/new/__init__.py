"""`referee new`: a bot to begin with."""
