"""Ends as if all were well, while the match goes on."""

#: kind = "crash"
#: detail = "ended by itself, exit code 0"

greet()
put('NW')
