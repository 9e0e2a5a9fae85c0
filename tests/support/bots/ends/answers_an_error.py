"""Answers an error."""

#: kind = "error"
#: detail = "answered error -32603: IndexError: 9; data: [1]"

greet()
write(frame(call()['id'], error={'code': -32603, 'message': 'IndexError: 9', 'data': [1]}))
call()
