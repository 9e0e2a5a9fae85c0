from referee_kit.count_down import LiarsCountdownBot, Plan, run


class First(LiarsCountdownBot):
    def take(self, left):
        return left % 4 or 1

    def plan(self, *_):
        return Plan([])

    def say(self, what):
        return what


run(First)
