"""Fills its standard error."""

#: kind = "crash"
#: detail = "ended by itself, exit code 5"
#: last_words = "the last word"
#: [limits]
#: stderr_bytes = 100000

greet()
call()
for _ in range(64):
    os.write(2, b'y' * 65535 + b'\n')
os.write(2, b'the last word\n')
sys.exit(5)
