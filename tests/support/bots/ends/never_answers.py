"""Never answers."""

#: kind = "timeout"
#: detail = "no answer within 0.3 s"
#: call_s = 0.3

greet()
put('NW')
call()
signal.pause()
