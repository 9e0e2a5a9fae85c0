"""Fills its standard error."""

#: kind = "crash"
#: detail = "exited with code 5 before answering"
#: last_words = "the last word"
#: [limits]
#: stderr_bytes = 100000

greet()
call()
for _ in range(64):
    os.write(2, b'y' * 65535 + b'\n')
os.write(2, b'the last word\n')
sys.exit(5)
