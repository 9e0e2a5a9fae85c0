"""Which games a tournament consists of: round robin, Swiss, ladder, groups and the others."""
