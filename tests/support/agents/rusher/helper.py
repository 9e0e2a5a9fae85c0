def choose(state):
    for i, m in enumerate(state['player_target']):
        if i and m['can_attack']:
            return (3, (i, 0))
    for i, c in enumerate(state['player_hand']):
        if c['cost'] <= state['player_mana'] and c['type'] == 'minion' and len(state['player_target']) < 8:
            return (1, (i, None))
    return (4, None)
