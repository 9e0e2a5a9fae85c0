"""Fills its scratch folder with files."""

#: kind = "crash"
#: detail = "ended by itself, exit code 6"

greet()
put('NW')
call()
for number in range(2000):
    open(f"{os.environ['HOME']}/{number}", 'w').close()
os._exit(6)
