"""Language models at a seat: the program that asks them, and the relay that connects it to their service."""
