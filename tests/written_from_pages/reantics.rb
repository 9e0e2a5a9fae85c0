require "json"

# Places its pieces, lets its first worker or soldier walk where it can, and ends the turn. Every state is in our own frame: we are at y 0-3.
$stdout.sync = true

def placement(state)
  used = state["inventories"].flat_map { |inventory| inventory["constrs"].map { |constr| constr["coords"] } }
  rows = state["phase"] == 1 ? (0..3) : (6..9)
  free = rows.flat_map { |y| (0..9).map { |x| [x, y] } } - used
  free.first(state["phase"] == 1 ? 11 : 2)
end

STDIN.each_line do |line|
  message = JSON.parse(line)
  params = message["params"]
  result = nil
  case message["method"]
  when "initialize"
    result = { name: "ruby reantics", reuse: true }
  when "getPlacement"
    result = placement(params["currentState"])
  when "getMove"
    state = params["currentState"]
    own = state["inventories"][state["whoseTurn"]]
    taken = state["inventories"].flat_map { |inventory| inventory["ants"].map { |ant| ant["coords"] } }
    worker = own["ants"].find { |ant| ant["type"] == 1 && !ant["hasMoved"] }
    x, y = worker && worker["coords"]
    step = worker && [[x, y + 1], [x + 1, y], [x - 1, y], [x, y - 1]].find { |at| at.all? { |c| c.between?(0, 9) } && !taken.include?(at) }
    result = step ? { moveType: 0, coordList: [[x, y], step], buildType: nil } : { moveType: 2, coordList: nil, buildType: nil }
  when "getAttack"
    result = params["enemyLocations"].first
  when "exit"
    break
  end
  puts JSON.generate({ jsonrpc: "2.0", id: message["id"], result: result }) if message.key?("id")
end
