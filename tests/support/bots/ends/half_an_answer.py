"""Ends in the middle of an answer."""

#: kind = "protocol"
#: detail = "standard output was closed in the middle of a frame: …"

greet()
put('NW')
write(frame(call()['id'], result=cell('W'))[:20])
os._exit(0)
