"""The command line: argv to one call, what is printed, exit codes. Nothing else in the harness reads argv or prints."""
