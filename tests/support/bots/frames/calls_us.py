"""Asks us something."""

#: kind = "protocol"
#: detail = "a request; a bot sends nothing but answers: …"

greet()
call()
write(b'{"jsonrpc":"2.0","id":1,"method":"getState","params":{}}\n')
call()
