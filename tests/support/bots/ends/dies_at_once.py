"""Dies before it has read anything."""

#: kind = "crash"
#: detail = "ended by itself, exit code 3"
#: method = "initialize"

sys.exit(3)
