"""Answers half of a pair."""

#: kind = "protocol"
#: detail = "a lone surrogate: …"

greet()
write(b'{"jsonrpc":"2.0","id":%d,"result":"\\ud800"}\n' % call()['id'])
call()
