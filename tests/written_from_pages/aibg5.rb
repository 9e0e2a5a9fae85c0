require "json"

# Shoots at an asteroid or a player in line beside it, else moves to an empty cell beside it, never back the way it came.
$stdout.sync = true
NEIGHBOURS = [[1, 0], [0, 1], [-1, 1], [-1, 0], [0, -1], [1, -1]]

def action(params)
  state = params["gameState"]
  me = state["player#{params["playerIdx"]}"]
  others = (1..4).filter_map { |number| state["player#{number}"] }.map { |player| [player["q"], player["r"]] }
  cells = state["map"]["tiles"].flatten.to_h { |tile| [[tile["q"], tile["r"]], tile] }
  around = NEIGHBOURS.map { |q, r| [me["q"] + q, me["r"] + r] }.select { |at| cells[at] }
  target = around.find { |at| others.include?(at) || cells[at]["entity"]["type"] == "ASTEROID" }
  return "attack,#{target.join(",")}" if target
  open = around.select { |at| %w[EMPTY HEALTH EXPERIENCE].include?(cells[at]["entity"]["type"]) && cells[at]["tileType"] == "NORMAL" }
  goal = (open - [$before]).first || open.first
  $before = [me["q"], me["r"]]
  goal ? "move,#{goal.join(",")}" : "attack,0,0"
end

STDIN.each_line do |line|
  message = JSON.parse(line)
  result = nil
  case message["method"]
  when "initialize"
    $before = nil
    result = { name: "ruby aibg5", reuse: true }
  when "doAction"
    result = { action: action(message["params"]) }
  when "exit"
    break
  end
  puts JSON.generate({ jsonrpc: "2.0", id: message["id"], result: result }) if message.key?("id")
end
