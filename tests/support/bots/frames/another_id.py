"""Answers with an id of its own."""

#: kind = "protocol"
#: detail = "an answer with id 7, but the open call has id 1: …"

greet()
call()
write(frame(7, result=cell('NW')))
call()
