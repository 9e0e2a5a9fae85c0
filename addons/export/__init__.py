"""`referee export`: packages for other systems."""
