"""What makes the checked-in files that follow from the types of the games."""
