"""Answers the next call too."""

#: kind = "protocol"
#: detail = "an answer with id 2, but no call is open: …"

greet()
n = call()['id']
write(frame(n, result=cell('NW')) + frame(n + 1, result=cell('W')))
call()
