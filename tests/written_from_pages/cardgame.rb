require "json"

# Places what it can pay for, attacks the hero with all that may attack, uses the hero power once a turn.
$stdout.sync = true
HERO_POWER, PLACE_MINION, _PLAY_SPELL, ATTACK, END_TURN = *0..4

def action(state)
  mana, own = state["player_mana"], state["player_target"]
  card = state["player_hand"].index { |each| each["type"] == "minion" && each["cost"] <= mana }
  return [PLACE_MINION, [card]] if card && own.size - 1 < 7
  attacker = own.index { |each| each["type"] == "minion" && each["can_attack"] }
  return [ATTACK, [attacker, 0]] if attacker
  if mana >= 2 && !$powered
    $powered = true
    return [HERO_POWER, nil]
  end
  $powered = false
  [END_TURN, nil]
end

STDIN.each_line do |line|
  message = JSON.parse(line)
  result = nil
  case message["method"]
  when "initialize"
    $powered = false
    result = { name: "ruby cardgame" }
  when "play"
    result = action(message["params"]["state"])
  when "exit"
    break
  end
  puts JSON.generate({ jsonrpc: "2.0", id: message["id"], result: result }) if message.key?("id")
end
