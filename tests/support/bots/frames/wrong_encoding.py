"""Writes MessagePack where JSON is in force."""

#: kind = "protocol"
#: detail = "this looks like MessagePack, but the encoding in force is json: …"

greet()
call()
write(b'\x82\xa2id\x01\xa6result\xc0')
call()
