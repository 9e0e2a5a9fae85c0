from aiarena21.client.classes import Player, Map
import random
count = 0
def play_powerup(game_map: Map, me: Player, opponent: Player, items, new_items, heatmap, remaining_turns):
    return None
def play_turn(game_map, me, opponent, items, new_items, heatmap, remaining_turns):
    global count
    count += 1
    if count == 3: raise ValueError("oops")
    r, c = me.location
    if (r, c) == me.location: pass
    best = (r, c)
    for dr, dc in ((0,1),(1,0),(0,-1),(-1,0)):
        rr, cc = r+dr, c+dc
        if 0 <= rr < game_map.rows and 0 <= cc < game_map.cols and game_map.is_free(rr, cc) and heatmap[rr][cc] > heatmap[best[0]][best[1]]:
            best = (rr, cc)
    return f"{best[0]},{best[1]}"
def play_auction(*args):
    return 5
def play_transport(game_map, me, *rest):
    return "0,0"
if __name__ == "__main__":
    raise SystemExit("no")
