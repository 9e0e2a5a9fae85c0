"""Makes positions of AI Arena 21 from views."""

from referee.games.aiarena21.board import Fruit, batch_of, new_items, points_of
from referee.games.aiarena21.fruit import heat_distance, heatmap
from referee.games.aiarena21.rules import AIArena21
from referee.games.aiarena21.types import View
from referee.games.contract import Setup


def position(setup: Setup, view: View) -> AIArena21:
    """Returns the position of a full view. ValueError if its map is not the setup's."""
    state = AIArena21(setup)
    ground = state.ground
    if tuple(view.game_map.cells) != tuple(ground.map.cells):
        raise ValueError("the view is of another map than the setup's")
    state.turn = view.turn
    state.score = [player.score for player in view.players]
    state.cells = [row * ground.cols + col for row, col in (player.location for player in view.players)]
    first, second = view.spawns
    state.spawns = (first[0] * ground.cols + first[1], second[0] * ground.cols + second[1])
    state.bike_turns, state.portal_gun_turns = list(view.bike_turns), list(view.portal_gun_turns)
    piles = tuple(map(tuple, view.items))
    state.fruit = Fruit(piles, tuple([tuple(map(points_of, row)) for row in piles]))
    state.incoming, state.deployed = batch_of(ground, view.incoming), batch_of(ground, view.deployed)
    state.new_items = new_items(ground, state.deployed) if state.deployed else ground.no_items
    state.heat = heatmap(ground, state.incoming, heat_distance(view.turn))
    state.last_auction, state.auctions, state.bids = view.last_auction, view.auctions, view.bids
    for count in view.faults:
        state.faults[count.player][count.kind] = count.count
    state.resume(view.standing)
    state.in_opening = state.opening_turn()
    return state
