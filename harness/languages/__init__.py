"""The languages of bots, one file each, and the programs and packages that they need."""
