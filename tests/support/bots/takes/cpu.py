"""Burns CPU time."""

#: kind = "cpu"
#: granted_s = 1.0
#: [limits]
#: cpu_s = 0.3

greet()
call()
while True:
    pass
