"""One running bot: its process, its pipes, its standard error, its limits and its usage."""
