"""Fills its scratch folder with files."""

#: kind = "crash"
#: detail = "exited with code 6 before answering"

greet()
put('NW')
call()
for number in range(2000):
    open(f"{os.environ['HOME']}/{number}", 'w').close()
os._exit(6)
