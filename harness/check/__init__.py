"""`referee check`: whether a bot may be handed in. `checks` tries the `rules`, which `findings` describes."""
