"""Prints where answers belong."""

#: kind = "protocol"
#: detail = 'wrote "x = 5" to standard output; print debugging to standard error'

greet()
call()
write(b'x = 5\n')
call()
