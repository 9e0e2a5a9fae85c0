"""Answers half a character."""

#: kind = "protocol"

greet()
write(b'{"jsonrpc":"2.0","id":%d,"result":"\xc3"}\n' % call()['id'])
call()
