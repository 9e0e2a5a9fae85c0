"""Ends in the middle of its greeting."""

#: kind = "protocol"
#: method = "initialize"
#: detail = "standard output was closed in the middle of a frame: …"

write(frame(call()['id'], result={}).strip())
os._exit(0)
