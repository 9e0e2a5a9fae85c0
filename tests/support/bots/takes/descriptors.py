"""Opens files until it may no more."""

#: kind = "crash"
#: detail = "ended by itself, exit code 24"

greet()
call()
try:
    while True:
        os.open('/dev/null', os.O_RDONLY)
except OSError as error:
    sys.exit(error.errno)
