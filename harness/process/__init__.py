"""One running bot process: its pipes, its standard error, its limits and what it uses."""
