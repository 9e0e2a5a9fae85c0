"""Writes a file without end."""

#: kind = "files"
#: detail = "wrote a file of more than 8.0 MiB, which is the limit"
#: [limits]
#: file_bytes = 8388608

signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
greet()
call()
file = open(os.environ['HOME'] + '/large', 'wb')
while True:
    file.write(b'x' * (1 << 20))
