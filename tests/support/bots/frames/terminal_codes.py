"""Prints what a terminal would obey."""

#: kind = "protocol"
#: detail = 'wrote "\x1b]0;title\x07\x9b2J\u202e" to standard output; print debugging to standard error'

greet(name='\x1b[31mred\x7f', version='\x9b1\u202e')
call()
os.write(2, '\x1b[2J\x9b\u202e'.encode() + b'\xff\n')
write('\x1b]0;title\x07\x9b2J\u202e\n'.encode())
call()
