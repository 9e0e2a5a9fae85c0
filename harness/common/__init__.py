"""What every room of the harness uses: errors, paths, files, and the games that are known."""
