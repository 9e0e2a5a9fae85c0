"""Closes its output and lives on."""

#: kind = "crash"
#: detail = "closed its standard output"

greet()
put('NW')
call()
os.close(1)
signal.pause()
