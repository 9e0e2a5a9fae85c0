from .helper import choose
print("hello")
def start(): pass
def play(state):
    return choose(state)
def end(victory): print("end", victory)
