"""Wins or defends if one token does, else plays as near to the middle as it can."""


def completes(board, column, mark, config):
    rows = [row for row in range(config.rows) if board[row * config.columns + column] == 0]
    filled = list(board)
    filled[rows[-1] * config.columns + column] = mark
    for step in ((0, 1), (1, 0), (1, 1), (1, -1)):
        length = 1
        for sign in (1, -1):
            row, at = rows[-1] + sign * step[0], column + sign * step[1]
            while 0 <= row < config.rows and 0 <= at < config.columns and filled[row * config.columns + at] == mark:
                length, row, at = length + 1, row + sign * step[0], at + sign * step[1]
        if length >= config.inarow:
            return True
    return False


def agent(observation, configuration):
    board, columns = observation.board, configuration.columns
    free = sorted((c for c in range(columns) if board[c] == 0), key=lambda c: abs(2 * c - columns + 1))
    for mark in (observation.mark, 3 - observation.mark):
        for column in free:
            if completes(board, column, mark, configuration):
                return column
    return free[0]
