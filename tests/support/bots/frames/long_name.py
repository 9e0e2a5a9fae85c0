"""Has a name of 100 KiB."""

#: kind = "crash"
#: detail = "exited with code 1 before answering"

greet(name='n' * 100_000, version='v' * 100_000)
sys.exit(1)
