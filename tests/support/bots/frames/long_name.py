"""Has a name of 100 KiB."""

#: kind = "crash"
#: detail = "ended by itself, exit code 1"

greet(name='n' * 100_000, version='v' * 100_000)
sys.exit(1)
