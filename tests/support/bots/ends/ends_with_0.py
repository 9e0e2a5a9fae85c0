"""Ends as if all were well, while the match goes on."""

#: kind = "crash"
#: detail = "exited with code 0 before answering"

greet()
put('NW')
