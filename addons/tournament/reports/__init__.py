"""What people read about a tournament: standings, pages and gate reports."""
