"""Takes every right away from its scratch folder."""

#: kind = "crash"
#: detail = "exited with code 6 before answering"

greet()
put('NW')
call()
home = os.environ['HOME']
os.makedirs(home + '/a/b')
os.chmod(home + '/a', 0)
os.mkfifo(home + '/pipe')
os.symlink('/', home + '/root')
os.chmod(home, 0)
os._exit(6)
