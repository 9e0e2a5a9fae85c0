"""Answers NaN."""

#: kind = "protocol"
#: detail = "NaN and Infinity are not allowed: …"

greet()
write(b'{"jsonrpc":"2.0","id":%d,"result":NaN}\n' % call()['id'])
call()
