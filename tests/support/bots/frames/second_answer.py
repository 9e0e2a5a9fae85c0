"""Answers twice."""

#: kind = "protocol"
#: detail = "a second answer to call 1: …"

greet()
asked = call()
write(frame(asked['id'], result=cell('NW')) * 2)
call()
