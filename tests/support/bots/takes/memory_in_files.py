"""Hides it in files without names."""

#: kind = ["memory", "files", "crash"]
#: needs = "hidden"
#: [limits]
#: memory_bytes = 67108864
#: file_bytes = 16777216

greet()
call()
held = []
for _ in range(12):
    held.append(os.memfd_create('hidden'))
    for _ in range(15):
        os.write(held[-1], os.urandom(1 << 20))
signal.pause()
