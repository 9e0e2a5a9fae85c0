"""Dies before it has read anything."""

#: kind = "crash"
#: detail = "exited with code 3 before answering"
#: method = "initialize"

sys.exit(3)
