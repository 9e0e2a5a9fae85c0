"""Closes its input and lives on."""

#: kind = "crash"
#: detail = "closed its standard input"

greet()
asked = call()
os.close(0)
answer(asked, cell('NW'))
signal.pause()
