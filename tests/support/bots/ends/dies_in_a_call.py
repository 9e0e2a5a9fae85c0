"""Dies in its first call, with a word."""

#: kind = "crash"
#: detail = "ended by itself, exit code 1"
#: last_words = "no idea what to do"

greet()
call()
print("no idea what to do", file=sys.stderr)
sys.exit(1)
