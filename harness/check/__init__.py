"""`referee check`: whether a bot may be handed in. `course` runs the rules that stand in `findings`."""
