"""Answers an error that would fill a terminal and turn its writing round."""

#: kind = "error"
#: detail = "answered error 1: a…"

greet()
write(frame(call()['id'], error={'code': 1, 'message': 'a\nb\x1b[2J\u202e' * 999}))
call()
