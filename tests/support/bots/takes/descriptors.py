"""Opens files until it may no more."""

#: kind = "crash"
#: detail = "exited with code 24 before answering"

greet()
call()
try:
    while True:
        os.open('/dev/null', os.O_RDONLY)
except OSError as error:
    sys.exit(error.errno)
