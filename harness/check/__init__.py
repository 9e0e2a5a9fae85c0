"""`referee check`: whether a bot may be handed in. `harness.check.course` runs the rules that stand in `findings`."""
