"""Draws a column, and later returns None too (column 0 to Kaggle) and what Kaggle refuses."""

import random

choices = random.choices


class Lucky:
    def __call__(self, obs, config):
        print("step", obs["step"])
        free = [column for column, sign in enumerate(obs["board"][: config["columns"]]) if sign == 0]
        if obs["step"] > 4:
            return random.choice([None, True, 7, -1, *free * 3])
        return choices(free)[0]


my_agent = Lucky()
