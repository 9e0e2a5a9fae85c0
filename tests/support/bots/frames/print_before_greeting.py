"""Prints a banner first."""

#: kind = "protocol"
#: method = "initialize"
#: detail = 'wrote "Bot 1.0 ready" to standard output; print debugging to standard error'

write(b'Bot 1.0 ready\n')
greet()
call()
