"""Answers lists within lists, deeper than any stack."""

#: kind = "protocol"
#: detail = "nested deeper than …"

greet()
write(b'{"id":%d,"result":' % call()['id'] + b'[' * 200_000 + b']' * 200_000 + b'}\n')
call()
