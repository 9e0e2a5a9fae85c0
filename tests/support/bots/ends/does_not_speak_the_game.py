"""Refuses the game."""

#: kind = "error"
#: method = "initialize"
#: detail = "answered error -32000: only chess"

write(frame(call()['id'], error={'code': -32000, 'message': 'only chess'}))
call()
