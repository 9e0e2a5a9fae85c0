"""Has children burn it that nobody waits for."""

#: kind = "cpu"
#: granted_s = 3.0
#: [limits]
#: cpu_s = 0.5

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
greet()
call()
while True:
    if os.fork() == 0:
        while time.process_time() < 0.15:
            pass
        os._exit(0)
    time.sleep(0.16)
