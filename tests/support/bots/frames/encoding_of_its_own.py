"""Chooses an encoding that nobody offered."""

#: kind = "protocol"
#: method = "initialize"
#: detail = 'chose the encoding "xml", but offered were: …'

greet(encoding='xml')
signal.pause()
