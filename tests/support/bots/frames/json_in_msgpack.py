"""Chooses MessagePack and writes JSON."""

#: kind = "protocol"
#: detail = "this looks like JSON, but the encoding in force is msgpack: …"

greet(encoding='msgpack')
os.read(0, 1)
write(frame(1, result=cell('NW')))
signal.pause()
