"""Dies in its first call, with a word."""

#: kind = "crash"
#: detail = "exited with code 1 before answering"
#: last_words = "no idea what to do"

greet()
call()
print("no idea what to do", file=sys.stderr)
sys.exit(1)
