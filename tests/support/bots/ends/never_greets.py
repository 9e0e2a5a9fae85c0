"""Does not get through its start-up."""

#: kind = "timeout"
#: method = "initialize"
#: detail = "no answer within 0.8 s…"
#: granted_s = 0.8
#: [limits]
#: startup_s = 0.8

signal.pause()
